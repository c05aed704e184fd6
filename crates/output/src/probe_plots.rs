//! All probes of one run, or of several overlaid, as one SVG of small plots.

use std::fmt::Write as _;

use crate::body::Phase;
use crate::curves::{Curves, curves, split_unit};
use crate::error::{OutputError, Result};
use crate::plot::{Plot, Series};
use crate::table::Table;

/// Probes of a run.
#[derive(Clone, Copy, Debug)]
pub struct ProbeRun<'a> {
    /// Its name in legends.
    pub name: &'a str,
    /// Its probes.
    pub table: &'a Table,
}

/// A value that a probe should keep.
#[derive(Clone, Debug, PartialEq)]
pub struct ProbeLimit {
    /// Column of the probe.
    pub column: String,
    /// First and last time that counts, in seconds; may be infinite.
    pub window: [f64; 2],
    /// The value, in the unit of the column.
    pub value: f64,
}

/// Size of one plot in pixels.
const SIZE: (u32, u32) = (560, 280);
/// Plots in a row.
const ACROSS: u32 = 2;
/// Curves keep the least and the greatest value of this many pieces.
const PIECES: usize = 500;

/// The plots, one for each probe of the first run; of the other runs those that have it are overlaid.
///
/// # Errors
/// When there is nothing to draw.
pub fn probe_plots(
    title: &str,
    runs: &[ProbeRun<'_>],
    phases: &[Phase],
    limits: &[ProbeLimit],
) -> Result<String> {
    let groups = runs.first().map_or_else(Vec::new, |run| curves(run.table));
    if groups.is_empty() || runs.iter().all(|run| run.table.rows.is_empty()) {
        return Err(OutputError::Plot("there are no probes to draw".to_owned()));
    }
    let (wide, tall) = SIZE;
    let rows = (groups.len() as u32).div_ceil(ACROSS);
    let (width, height) = (wide * ACROSS, 40 + tall * rows);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\">\n<rect width=\"100%\" height=\"100%\" fill=\"#FFFFFF\"/>\n\
         <text x=\"16\" y=\"26\" font-family=\"sans-serif\" font-size=\"18\">{}</text>\n",
        escape(title)
    );
    for (i, group) in (0..).zip(&groups) {
        let (x, y) = (i % ACROSS * wide, 40 + i / ACROSS * tall);
        let text = plot(group, runs, phases, limits).svg()?;
        let inner = text.replacen("<svg ", &format!("<svg x=\"{x}\" y=\"{y}\" "), 1);
        let _ = writeln!(svg, "{inner}");
    }
    Ok(svg + "</svg>\n")
}

fn plot(group: &Curves, runs: &[ProbeRun<'_>], phases: &[Phase], limits: &[ProbeLimit]) -> Plot {
    let factor = group.shown.0;
    let mut series = Vec::new();
    for run in runs {
        for (column, label) in group.columns.iter().zip(&group.labels) {
            let name = &runs[0].table.columns[*column];
            let Some(c) = run.table.columns.iter().position(|other| other == name) else {
                continue;
            };
            let of_run = if runs.len() > 1 { run.name } else { "" };
            let name =
                [of_run, label].iter().filter(|s| !s.is_empty()).copied().collect::<Vec<_>>();
            let points = run.table.rows.iter().map(|row| (row[0], row[c] * factor));
            series.push(Series {
                name: name.join(" "),
                points: thinned(&points.collect::<Vec<_>>()),
                colour: None,
            });
        }
    }
    let times = || runs.iter().flat_map(|run| run.table.column(0));
    let (first, last) =
        times().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), t| (a.min(t), b.max(t)));
    // The same limit on many columns is one line.
    let mut lines: Vec<[(f64, f64); 2]> = Vec::new();
    let of_group =
        |l: &&ProbeLimit| group.columns.iter().any(|c| runs[0].table.columns[*c] == l.column);
    for limit in limits.iter().filter(of_group) {
        let [from, to] = limit.window.map(|t| t.clamp(first, last));
        // At one moment: a short line about it.
        let half = if from == to { 0.01 * (last - first) } else { 0.0 };
        let line = [(from - half, limit.value * factor), (to + half, limit.value * factor)];
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    // Legends of many curves would hide them.
    if series.len() > 8 {
        for s in &mut series {
            s.name.clear();
        }
    }
    let (name, unit) = (group.name.clone(), &group.shown.1);
    Plot {
        title: name,
        y_label: unit.clone(),
        size: SIZE,
        series,
        verticals: phases.iter().map(|phase| phase.start).filter(|t| *t > first).collect(),
        limits: lines,
        ..Plot::default()
    }
}

/// The same curve to the eye with fewer points: of each piece the least and the greatest value, in their order.
pub(crate) fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    if points.len() <= 2 * PIECES {
        return points.to_vec();
    }
    let mut kept = Vec::with_capacity(2 * PIECES + 2);
    for piece in points.chunks(points.len().div_ceil(PIECES)) {
        if piece.iter().any(|(_, y)| !y.is_finite()) {
            kept.extend_from_slice(piece);
            continue;
        }
        let by_value = |a: &&(f64, f64), b: &&(f64, f64)| a.1.total_cmp(&b.1);
        let ends = [piece.iter().min_by(by_value), piece.iter().max_by(by_value)];
        let mut ends: Vec<(f64, f64)> = ends.into_iter().flatten().copied().collect();
        ends.sort_by(|a, b| a.0.total_cmp(&b.0));
        ends.dedup();
        kept.extend(ends);
    }
    kept
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Columns of a table by their names without units.
pub fn column_named(table: &Table, name: &str) -> Option<usize> {
    table.columns.iter().position(|column| split_unit(column).0 == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(count: usize, shift: f64) -> Table {
        let columns = ["time [s]", "gap [m]", "z.0 [m]", "z.1 [m]"].map(str::to_owned).to_vec();
        let row = |k: usize| {
            let t = k as f64 * 0.01;
            vec![t, 0.01 + shift, t.sin(), if k == 3 { f64::NAN } else { t.cos() }]
        };
        Table { columns, rows: (0..count).map(row).collect() }
    }

    #[test]
    fn runs_are_overlaid() {
        let (a, mut b) = (table(50, 0.0), table(70, 0.002));
        b.columns[3] = "other [m]".to_owned();
        let runs = [ProbeRun { name: "ipc", table: &a }, ProbeRun { name: "vbd", table: &b }];
        let limit =
            ProbeLimit { column: "gap [m]".to_owned(), window: [0.1, f64::INFINITY], value: 0.011 };
        let phases =
            [Phase { start: 0.0, name: "a".into() }, Phase { start: 0.2, name: "b".into() }];
        let svg = probe_plots("a < b", &runs, &phases, &[limit]).unwrap();
        assert!(svg.contains("a &lt; b") && svg.contains("ipc") && svg.contains("vbd"));
        assert_eq!(svg.matches("<svg ").count(), 1 + 2);
        assert_eq!(svg.matches("stroke=\"#B02030\"").count(), 1);
        let gap = plot(&curves(&a)[0], &runs, &[], &[]);
        assert_eq!((gap.series.len(), gap.series[1].points[0].1), (2, 12.0));
        let z = plot(&curves(&a)[1], &runs, &[], &[]);
        let names: Vec<&str> = z.series.iter().map(|s| &*s.name).collect();
        assert_eq!(names, ["ipc 0", "ipc 1", "vbd 0"], "the second run has no z.1");
        assert!(probe_plots("", &[], &[], &[]).is_err());
    }

    #[test]
    fn long_curves_keep_their_extremes() {
        let mut points: Vec<(f64, f64)> =
            (0..100_000).map(|k| (f64::from(k), (f64::from(k) * 0.1).sin())).collect();
        points[77_777].1 = 9.0;
        let kept = thinned(&points);
        assert!(kept.len() <= 2 * PIECES && kept.contains(&(77_777.0, 9.0)));
        assert!(kept.is_sorted_by(|a, b| a.0 < b.0));
    }
}
