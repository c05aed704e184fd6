//! Probe curves: a table of numbers over time, stored as CSV.

use crate::error::{OutputError, Result};

/// Named columns of numbers; the first is the time in seconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Column names.
    pub columns: Vec<String>,
    /// Rows, each as long as `columns`.
    pub rows: Vec<Vec<f64>>,
}

impl Table {
    /// Column `c`.
    pub fn column(&self, c: usize) -> impl Iterator<Item = f64> + '_ {
        self.rows.iter().map(move |row| row[c])
    }

    /// Reads CSV. A last line without its line end is a torn write and ignored.
    pub fn parse(text: &str) -> Result<Table> {
        let whole = &text[..text.rfind('\n').map_or(0, |end| end + 1)];
        let mut lines = whole.lines();
        let columns: Vec<String> =
            lines.next().map(|l| l.split(',').map(unquote).collect()).unwrap_or_default();
        let mut rows = Vec::new();
        for (i, line) in lines.enumerate() {
            let row: Option<Vec<f64>> = line.split(',').map(|cell| cell.parse().ok()).collect();
            match row {
                Some(row) if row.len() == columns.len() => rows.push(row),
                _ => {
                    let (line_number, count) = (i + 2, columns.len());
                    return Err(OutputError::Shape(format!(
                        "line {line_number} is `{line}`; {count} numbers are needed"
                    )));
                }
            }
        }
        Ok(Table { columns, rows })
    }
}

/// The header line for these columns. Commas and line ends can't stand in a name and become spaces.
pub(crate) fn header_line(columns: &[impl AsRef<str>]) -> String {
    let names: Vec<String> =
        columns.iter().map(|c| c.as_ref().replace([',', '\n', '\r', '"'], " ")).collect();
    names.join(",") + "\n"
}

/// One line of numbers, each with as many digits as bring back the same bits.
pub(crate) fn row_line(row: &[f64]) -> String {
    let cells: Vec<String> = row.iter().map(|x| format!("{x:?}")).collect();
    cells.join(",") + "\n"
}

fn unquote(cell: &str) -> String {
    cell.trim().trim_matches('"').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_to_the_bit() {
        let rows = vec![vec![0.0, 1.0 / 3.0, -1e-308], vec![1e300, f64::INFINITY, 0.1 + 0.2]];
        let mut text = header_line(&["time [s]", "gap [mm]", "a,b"]);
        for row in &rows {
            text += &row_line(row);
        }
        let table = Table::parse(&(text.clone() + "0.3,0.1")).unwrap();
        assert_eq!(table.columns, ["time [s]", "gap [mm]", "a b"]);
        assert_eq!(table.rows, rows);
        assert!(Table::parse("a,b\n1\n").unwrap_err().to_string().contains("line 2"));
        assert!(Table::parse(&row_line(&[f64::NAN])).unwrap().rows.is_empty());
        assert_eq!(Table::parse("").unwrap(), Table::default());
    }
}
