//! Columns of probes as curves: which belong together, and the unit in which they read well.

use crate::table::Table;

/// Columns that share a plot.
#[derive(Clone, Debug, PartialEq)]
pub struct Curves {
    /// What they show, without a unit.
    pub name: String,
    /// Unit of the numbers in the table; empty where there is none.
    pub unit: String,
    /// Unit in which the values read well, and the factor to it.
    pub shown: (f64, String),
    /// Columns of the table.
    pub columns: Vec<usize>,
    /// What tells them apart, one each: `x`, `3`; empty for a single column.
    pub labels: Vec<String>,
}

impl Curves {
    /// The name with the unit in which values are shown.
    pub fn title(&self) -> String {
        if self.shown.1.is_empty() {
            self.name.clone()
        } else {
            format!("{} [{}]", self.name, self.shown.1)
        }
    }
}

/// All columns but the time, put together by name: `force.x [N]`, `force.y [N]`, `force.z [N]` are one plot, and of
/// `balls.0.x [m]`, `balls.1.x [m]` and so on there is one for each axis.
pub fn curves(table: &Table) -> Vec<Curves> {
    let mut all: Vec<Curves> = Vec::new();
    for (c, column) in table.columns.iter().enumerate().skip(1) {
        let (name, unit) = split_unit(column);
        let (stem, label) = split_label(name);
        match all.iter_mut().find(|group| group.name == stem && group.unit == unit) {
            Some(group) if !label.is_empty() => {
                group.columns.push(c);
                group.labels.push(label);
            }
            _ => all.push(Curves {
                name: stem,
                unit: unit.to_owned(),
                shown: (1.0, unit.to_owned()),
                columns: vec![c],
                labels: vec![label],
            }),
        }
    }
    for group in &mut all {
        if group.columns.len() == 1 {
            // Alone, it keeps its whole name.
            let column = &table.columns[group.columns[0]];
            split_unit(column).0.clone_into(&mut group.name);
            group.labels = vec![String::new()];
        }
        let values = group.columns.iter().flat_map(|c| table.column(*c));
        let most = values.map(f64::abs).filter(|v| v.is_finite()).fold(0.0, f64::max);
        group.shown = readable(&group.unit, most);
    }
    all
}

/// `gap [m]` as `gap` and `m`.
pub fn split_unit(column: &str) -> (&str, &str) {
    let parts = column.strip_suffix(']').and_then(|text| text.rsplit_once(" ["));
    parts.unwrap_or((column, ""))
}

/// `balls.3.x` as `balls x` and `3`; `force.x` as `force` and `x`.
fn split_label(name: &str) -> (String, String) {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    match name.rsplit_once('.') {
        Some((stem, last)) if number(last) => (stem.to_owned(), last.to_owned()),
        Some((before, last)) if !last.contains(' ') => match before.rsplit_once('.') {
            Some((stem, k)) if number(k) => (format!("{stem} {last}"), k.to_owned()),
            _ => (before.to_owned(), last.to_owned()),
        },
        _ => (name.to_owned(), String::new()),
    }
}

/// The factor and unit with which values up to `most` read well.
pub fn readable(unit: &str, most: f64) -> (f64, String) {
    let small = most > 0.0 && most < 1.0;
    let (factor, prefix) = match unit {
        "m" | "m/s" if small => (1e3, "m"),
        // Ratios and counts.
        "1" => return (1.0, String::new()),
        "N" | "J" if most > 0.0 && most < 1e-3 => (1e6, "u"),
        "N" | "J" if most > 0.0 && most < 0.1 => (1e3, "m"),
        _ => (1.0, ""),
    };
    (factor, format!("{prefix}{unit}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_that_belong_together_share_a_plot() {
        let columns = [
            "time [s]",
            "gap [m]",
            "force.x [N]",
            "force.y [N]",
            "force.z [N]",
            "balls.0.x [m]",
            "balls.0.z [m]",
            "balls.1.x [m]",
            "balls.1.z [m]",
            "heights.0 [m]",
            "heights.4 [m]",
            "v1.2 of it",
            "lonely.x [N]",
        ];
        let mut row: Vec<f64> = (0..columns.len()).map(|c| c as f64).collect();
        row[1] = 2e-5;
        let table = Table { columns: columns.map(str::to_owned).to_vec(), rows: vec![row] };
        let found = curves(&table);
        let text: Vec<String> = found
            .iter()
            .map(|g| format!("{}: {:?} {}", g.title(), g.columns, g.labels.join("/")))
            .collect();
        assert_eq!(
            text,
            [
                "gap [mm]: [1] ",
                "force [N]: [2, 3, 4] x/y/z",
                "balls x [m]: [5, 7] 0/1",
                "balls z [m]: [6, 8] 0/1",
                "heights [m]: [9, 10] 0/4",
                "v1.2 of it: [11] ",
                "lonely.x [N]: [12] ",
            ]
        );
        assert_eq!(found[0].shown.0, 1e3);
    }

    #[test]
    fn units_read_well() {
        for (unit, most, wanted) in [
            ("m", 0.03, "mm"),
            ("m", 3.0, "m"),
            ("m", 0.0, "m"),
            ("N", 0.02, "mN"),
            ("J", 3e-5, "uJ"),
            ("1", 0.5, ""),
            ("deg", 0.1, "deg"),
            ("", 0.1, ""),
            ("m/s", 0.2, "mm/s"),
        ] {
            assert_eq!(readable(unit, most).1, wanted, "{unit} {most}");
        }
    }
}
