//! `gusset compare`: the probes of two runs side by side, and how far apart their positions are.

mod positions;

use crate::arguments::CompareArguments;
use crate::check;
use crate::console::{Console, metres};
use crate::failure::{Exit, Failure, Outcome, write_file};
use crate::run::short;
use gusset_output::{
    ProbeRun, RunReader, Source as _, Table, column_named, probe_plots, readable, split_unit,
};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Compares two runs.
pub(crate) fn command(arguments: &CompareArguments, console: &mut Console<'_>) -> Outcome {
    let mut runs = [Run::open(&arguments.first)?, Run::open(&arguments.second)?];
    distinct(&mut runs);
    if arguments.within.is_some_and(|within| within.is_nan() || within < 0.0) {
        return Err(Failure::bad_input("`--within` must be a number of metres, 0 or more"));
    }
    let probes = probes(&runs, &arguments.probe)?;
    let times = times(&runs, arguments)?;
    for (run, other) in [(0, 1), (1, 0)] {
        let only: Vec<&str> = (runs[run].names())
            .filter(|name| column_named(&runs[other].table, name).is_none())
            .collect();
        if !only.is_empty() && arguments.probe.is_empty() {
            let (name, only) = (&runs[run].name, only.join("`, `"));
            console.message(format_args!("only in `{name}`: `{only}`"));
        }
    }
    let rows = rows(&runs, &probes, &times, arguments.window, console)?;
    let svg = if probes.is_empty() { None } else { Some(draw(&runs, &probes, arguments)?) };
    let names = [runs[0].name.clone(), runs[1].name.clone()];
    let positions = positions::farthest(&runs)?;
    if let Err(why) = &positions {
        console.message(format_args!("positions were not compared: {why}"));
    }
    let positions = positions.ok();
    let near = arguments.within.is_none_or(|within| {
        let near = positions.as_ref().is_some_and(|p| p.distance <= within);
        if !near {
            console
                .message(format_args!("the runs are not within {} of each other", metres(within)));
        }
        near
    });
    if console.wants_json() {
        console.object(&Comparison { runs: names, rows, positions, svg });
    } else {
        let lines = if arguments.markdown { markdown(&names, &rows) } else { plain(&names, &rows) };
        for line in lines {
            console.line(line);
        }
        if let Some(positions) = &positions {
            console.line(positions.text());
        }
        if let Some(svg) = &svg {
            console.message(format_args!("curves: {}", svg.display()));
        }
    }
    Ok(if near { Exit::Done } else { Exit::Failed })
}

/// A run with what it measured.
struct Run {
    name: String,
    reader: RunReader,
    table: Table,
}

impl Run {
    fn open(path: &Path) -> Result<Self, Failure> {
        let reader = RunReader::open(path)?;
        let table = reader.probes()?.filter(|table| !table.rows.is_empty());
        // A run without probes still has positions; its times are those of its frames.
        let table = table.unwrap_or_else(|| Table {
            columns: vec!["time [s]".to_owned()],
            rows: reader.times().iter().map(|t| vec![*t]).collect(),
        });
        let folder = std::path::absolute(path).ok();
        let name = folder.as_deref().and_then(Path::file_name).unwrap_or(path.as_os_str());
        Ok(Self { name: name.to_string_lossy().into_owned(), reader, table })
    }

    /// Names of the probes' columns, without units.
    fn names(&self) -> impl Iterator<Item = &str> {
        self.table.columns.iter().skip(1).map(|column| split_unit(column).0)
    }

    /// Largest relative residual of a linear solve of the run; NaN where nothing was solved.
    fn linear_residual(&self) -> Result<f64, Failure> {
        let steps = self.reader.steps()?;
        let residuals = steps.iter().filter_map(|step| step["linear_residual"].as_f64());
        Ok(residuals.filter(|r| *r > 0.0).fold(f64::NAN, f64::max))
    }

    fn end(&self) -> f64 {
        self.table.rows.last().map_or(f64::NEG_INFINITY, |row| row[0])
    }

    fn begin(&self) -> f64 {
        self.table.rows.first().map_or(f64::INFINITY, |row| row[0])
    }

    /// A column at a time: the nearest row, which is half a step away at most.
    fn value(&self, column: usize, time: f64) -> f64 {
        let nearest =
            |a: &&Vec<f64>, b: &&Vec<f64>| (a[0] - time).abs().total_cmp(&(b[0] - time).abs());
        self.table.rows.iter().min_by(nearest).map_or(f64::NAN, |row| row[column])
    }

    /// Greatest minus least of a column over a time; NaN where nothing is known.
    fn range(&self, column: usize, from: f64, to: f64) -> f64 {
        let inside = |row: &&Vec<f64>| row[0] >= from - 1e-9 && row[0] <= to + 1e-9;
        let values = self.table.rows.iter().filter(inside).map(|row| row[column]);
        let known = values.filter(|value| !value.is_nan());
        let (low, high) =
            known.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
        if low <= high { high - low } else { f64::NAN }
    }
}

/// Names that tell the runs apart.
fn distinct(runs: &mut [Run; 2]) {
    if runs[0].name == runs[1].name {
        for run in runs {
            run.name = run.reader.dir().display().to_string();
        }
    }
}

/// A probe that both runs have: its name, unit and column in each.
struct Shared {
    name: String,
    unit: String,
    columns: [usize; 2],
}

/// The probes that are compared.
fn probes(runs: &[Run; 2], wanted: &[String]) -> Result<Vec<Shared>, Failure> {
    // A probe may have several columns: `force` asks for `force.x`, `force.y` and `force.z`.
    let asked = |name: &str, wanted: &str| {
        name == wanted || name.strip_prefix(wanted).is_some_and(|rest| rest.starts_with('.'))
    };
    for name in wanted {
        for run in runs {
            if !run.names().any(|column| asked(column, name)) {
                let known: Vec<&str> = run.names().collect();
                return Err(Failure::bad_input(format_args!(
                    "run `{}` has no probe `{name}`; it has `{}`",
                    run.name,
                    known.join("`, `")
                )));
            }
        }
    }
    let mut shared = Vec::new();
    for (c, column) in runs[0].table.columns.iter().enumerate().skip(1) {
        let (name, unit) = split_unit(column);
        if !wanted.is_empty() && !wanted.iter().any(|wanted| asked(name, wanted)) {
            continue;
        }
        let Some(other) = column_named(&runs[1].table, name) else { continue };
        let other_unit = split_unit(&runs[1].table.columns[other]).1;
        if other_unit != unit {
            return Err(Failure::bad_input(format_args!(
                "probe `{name}` is in {unit} in run `{}` and in {other_unit} in run `{}`",
                runs[0].name, runs[1].name
            )));
        }
        shared.push(Shared { name: name.to_owned(), unit: unit.to_owned(), columns: [c, other] });
    }
    if shared.is_empty() && runs.iter().all(|run| run.names().next().is_some()) {
        let list = |run: &Run| run.names().collect::<Vec<_>>().join("`, `");
        return Err(Failure::bad_input(format_args!(
            "the runs have no probe in common: `{}` has `{}`, `{}` has `{}`",
            runs[0].name,
            list(&runs[0]),
            runs[1].name,
            list(&runs[1])
        )));
    }
    Ok(shared)
}

/// The times at which values are compared, which both runs have reached.
fn times(runs: &[Run; 2], arguments: &CompareArguments) -> Result<Vec<f64>, Failure> {
    if !(arguments.window > 0.0 && arguments.window.is_finite()) {
        return Err(Failure::bad_input(format_args!(
            "`--window {}` must be a number of seconds above 0",
            arguments.window
        )));
    }
    let begin = runs[0].begin().max(runs[1].begin());
    let end = runs[0].end().min(runs[1].end());
    if begin > end {
        return Err(Failure::bad_input(format_args!(
            "the runs have no time in common: `{}` goes from {} s to {} s, `{}` from {} s to {} s",
            runs[0].name,
            runs[0].begin(),
            runs[0].end(),
            runs[1].name,
            runs[1].begin(),
            runs[1].end()
        )));
    }
    for time in &arguments.at {
        for run in runs {
            let step = run.reader.info().dt;
            if !(*time >= run.begin() - 0.5 * step && *time <= run.end() + 0.5 * step) {
                return Err(Failure::bad_input(format_args!(
                    "run `{}` has nothing at {time} s; it goes from {} s to {} s",
                    run.name,
                    run.begin(),
                    run.end()
                )));
            }
        }
    }
    Ok(if arguments.at.is_empty() { vec![end] } else { arguments.at.clone() })
}

/// A line of the table.
#[derive(Debug, Serialize)]
struct Row {
    /// What is compared.
    what: String,
    /// SI unit; empty for counts and ratios.
    unit: String,
    /// Of either run; null where not known.
    values: [Option<f64>; 2],
    /// As it is printed.
    shown: [String; 2],
}

fn row(what: String, unit: &str, values: [f64; 2]) -> Row {
    let most = values.iter().map(|v| v.abs()).filter(|v| v.is_finite()).fold(0.0, f64::max);
    let (factor, shown_unit) = readable(unit, most);
    let known = values.map(|v| v.is_finite().then_some(v));
    let shown = known.map(|v| {
        v.map_or("-".to_owned(), |v| {
            format!("{} {shown_unit}", short(v * factor)).trim_end().to_owned()
        })
    });
    Row { what, unit: unit.to_owned(), values: known, shown }
}

fn rows(
    runs: &[Run; 2],
    probes: &[Shared],
    times: &[f64],
    window: f64,
    console: &Console<'_>,
) -> Result<Vec<Row>, Failure> {
    let mut rows = Vec::new();
    for time in times {
        for Shared { name, unit, columns } in probes {
            let value = |run: usize| runs[run].value(columns[run], *time);
            rows.push(row(format!("{name} at {} s", short(*time)), unit, [value(0), value(1)]));
        }
    }
    let to = times.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let from = (to - window).max(runs[0].begin()).max(runs[1].begin());
    let span = format!("{} to {} s", short(from), short(to));
    for Shared { name, unit, columns } in probes {
        let range = |run: usize| runs[run].range(columns[run], from, to);
        rows.push(row(format!("range of {name}, {span}"), unit, [range(0), range(1)]));
    }
    let residuals = [runs[0].linear_residual()?, runs[1].linear_residual()?];
    if residuals.iter().any(|r| r.is_finite()) {
        rows.push(row("largest linear residual".to_owned(), "", residuals));
    }
    let mut counts = Vec::new();
    for run in runs {
        let looks = check::frames(&run.reader, console)?;
        counts.push((looks.iter().filter(|look| look.findings > 0).count(), looks.len()));
    }
    rows.push(Row {
        what: "frames with intersections / frames".to_owned(),
        unit: String::new(),
        values: [Some(counts[0].0 as f64), Some(counts[1].0 as f64)],
        shown: [0, 1].map(|run| format!("{} / {}", counts[run].0, counts[run].1)),
    });
    Ok(rows)
}

/// Draws the curves of both runs over each other.
fn draw(
    runs: &[Run; 2],
    probes: &[Shared],
    arguments: &CompareArguments,
) -> Result<PathBuf, Failure> {
    let path = arguments.svg.clone().unwrap_or_else(|| {
        let folder = std::path::absolute(&arguments.second).ok();
        let name = folder.as_deref().and_then(Path::file_name).unwrap_or("other".as_ref());
        arguments.first.join(format!("compare-{}.svg", name.to_string_lossy()))
    });
    // Only what is compared is drawn.
    let columns: Vec<usize> =
        std::iter::once(0).chain(probes.iter().map(|p| p.columns[0])).collect();
    let pick = |row: &Vec<f64>| columns.iter().map(|c| row[*c]).collect();
    let first = Table {
        columns: columns.iter().map(|c| runs[0].table.columns[*c].clone()).collect(),
        rows: runs[0].table.rows.iter().map(pick).collect(),
    };
    let overlaid = [
        ProbeRun { name: &runs[0].name, table: &first },
        ProbeRun { name: &runs[1].name, table: &runs[1].table },
    ];
    let title = format!("{} and {}", runs[0].name, runs[1].name);
    let svg = probe_plots(&title, &overlaid, runs[0].reader.phases(), &[])?;
    write_file(&path, svg.as_bytes())?;
    Ok(path)
}

/// What `--json` prints.
#[derive(Debug, Serialize)]
struct Comparison {
    runs: [String; 2],
    rows: Vec<Row>,
    /// How far apart they are; null where their meshes or times differ.
    positions: Option<positions::Farthest>,
    /// Where the curves are; null without probes.
    svg: Option<PathBuf>,
}

fn markdown(names: &[String; 2], rows: &[Row]) -> Vec<String> {
    let cell = |text: &str| text.replace('|', "\\|");
    let mut lines = vec![
        format!("| Measurement | {} | {} |", cell(&names[0]), cell(&names[1])),
        "|---|---:|---:|".to_owned(),
    ];
    lines.extend(
        rows.iter()
            .map(|row| format!("| {} | {} | {} |", cell(&row.what), row.shown[0], row.shown[1])),
    );
    lines
}

fn plain(names: &[String; 2], rows: &[Row]) -> Vec<String> {
    let length = |text: &str| text.chars().count();
    let what = rows.iter().map(|row| length(&row.what)).max().unwrap_or(0).max("measurement".len());
    let wide: Vec<usize> = (0..2)
        .map(|i| {
            rows.iter().map(|row| length(&row.shown[i])).max().unwrap_or(0).max(length(&names[i]))
        })
        .collect();
    let (a, b) = (wide[0], wide[1]);
    let line = |text: &str, [x, y]: [&str; 2]| format!("{text:what$}  {x:>a$}  {y:>b$}");
    let head = line("measurement", [&names[0], &names[1]]);
    let rows = rows.iter().map(|row| line(&row.what, [&row.shown[0], &row.shown[1]]));
    std::iter::once(head).chain(rows).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_line_up() {
        let rows = [
            row("neck width x at 8.45 s".to_owned(), "m", [0.038_45, 0.031_04]),
            row("a|b".to_owned(), "", [f64::NAN, 3.0]),
        ];
        let names = ["ipc".to_owned(), "vbd".to_owned()];
        assert_eq!(
            markdown(&names, &rows)[2..],
            ["| neck width x at 8.45 s | 38.45 mm | 31.04 mm |", "| a\\|b | - | 3 |"]
        );
        let plain = plain(&names, &rows);
        assert_eq!(plain[1], "neck width x at 8.45 s  38.45 mm  31.04 mm");
        assert!(plain.iter().all(|line| line.len() == plain[0].len()), "{plain:?}");
    }
}
