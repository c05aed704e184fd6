//! The page of a report: what was measured, put into plots, tables and sentences.

use super::measure::{Measured, inside};
use super::series::columns;
use super::table::{SectionTable, head};
use crate::console::metres;
use crate::failure::Failure;
use crate::run::short;
use gusset_output::{
    Cell, Mark, Plot, ReportRun, ReportSection, ReportTable, Series, Source, write_report,
};
use gusset_scene::{Report, ReportCurve, ReportSection as Planned, ReportedRun};
use serde_json::Value;
use std::path::Path;

/// Size of a plot (pixels).
const SIZE: (u32, u32) = (640, 330);

/// Writes the page; returns its size in bytes.
pub(super) fn write(
    report: &Report,
    measured: &[Option<Measured>],
    tables: &[SectionTable],
    path: &Path,
) -> Result<usize, Failure> {
    let mut sections = Vec::with_capacity(report.sections.len());
    for (section, table) in report.sections.iter().zip(tables) {
        sections.push(of_section(section, table, measured, &report.reference)?);
    }
    let end = format!(
        "Gusset {}. Crossings are looked for by a checker that shares nothing with the solvers, in every saved frame.",
        env!("CARGO_PKG_VERSION")
    );
    let page = gusset_output::Report {
        title: report.title.clone(),
        about: report.about.clone(),
        sections,
        end,
    };
    Ok(write_report(&page, path)?)
}

fn of_section<'a>(
    section: &Planned,
    table: &SectionTable,
    measured: &'a [Option<Measured>],
    reference: &str,
) -> Result<ReportSection<'a>, Failure> {
    let run_of = |run: &ReportedRun| measured[run.scene].as_ref();
    let runs = section.runs.iter().map(|run| ReportRun {
        name: run.name.clone(),
        source: run_of(run).map(|run| &run.reader as &dyn Source),
        note: run.about.clone(),
    });
    let mut plots = Vec::with_capacity(section.curves.len());
    for curve in &section.curves {
        plots.extend(plot(curve, section, measured)?);
    }
    let mut page_tables = Vec::new();
    if !table.numbers.is_empty() {
        page_tables.push(of_numbers(table, reference));
    }
    page_tables.push(of_runs(section, measured));
    page_tables.extend(of_targets(section, measured));
    let failed = section.runs.iter().filter_map(|run| {
        let why = run_of(run)?.failed()?.lines().next()?;
        Some(format!("{}: the run could not go on: {why}", run.name))
    });
    let said = table.numbers.iter().filter_map(|line| line.sentence(reference));
    Ok(ReportSection {
        title: section.title.clone(),
        about: section.about.clone(),
        runs: runs.collect(),
        view: section.view,
        plots,
        tables: page_tables,
        remarks: failed.chain(said).collect(),
    })
}

/// A plot; `None` where no run has anything to show.
fn plot(
    curve: &ReportCurve,
    section: &Planned,
    measured: &[Option<Measured>],
) -> Result<Option<Plot>, Failure> {
    let alone = section.runs.len() == 1;
    let mut all = Vec::new();
    for (place, run) in curve.runs.iter().map(|k| (*k, &section.runs[*k])) {
        let Some(measured) = &measured[run.scene] else { continue };
        let mut named = false;
        for series in &curve.series {
            for column in columns(series, measured)? {
                let points = column.points.into_iter().filter(|(t, _)| inside(*t, curve.window));
                let points = points.map(|(t, value)| (t, value * curve.unit.factor)).collect();
                // Of several runs the colour tells which, and one entry of the legend is enough.
                let (name, colour) = match (alone, named) {
                    (true, _) => (column.label, None),
                    (false, false) => (run.name.clone(), Some(place)),
                    (false, true) => (String::new(), Some(place)),
                };
                named = true;
                all.push(Series { name, points, colour });
            }
        }
    }
    if all.iter().all(|series: &Series| series.points.is_empty()) {
        return Ok(None);
    }
    if alone && all.len() > 8 {
        for series in &mut all {
            series.name.clear();
        }
    }
    Ok(Some(Plot {
        title: curve.title.clone(),
        y_label: curve.unit.name.clone(),
        log: curve.log,
        size: SIZE,
        series: all,
        ..Plot::default()
    }))
}

fn of_numbers(table: &SectionTable, reference: &str) -> ReportTable {
    let lines = &table.numbers;
    let mut rows = Vec::with_capacity(lines.len());
    for (k, line) in lines.iter().enumerate() {
        let cells = line.cells();
        let mut row = Vec::with_capacity(cells.len());
        if k == 0 || lines[k - 1].number != line.number {
            let same = lines[k..].iter().take_while(|other| other.number == line.number).count();
            row.push(Cell { text: cells[0].clone(), rows: same, mark: None });
        }
        row.extend(cells[1..].iter().map(Cell::new));
        if let Some(last) = row.last_mut() {
            last.mark = line.good.map(|good| if good { Mark::Good } else { Mark::Bad });
        }
        rows.push(row);
    }
    ReportTable { caption: "Numbers".to_owned(), head: head(reference).to_vec(), rows }
}

/// What each run took, and whether anything crossed.
fn of_runs(section: &Planned, measured: &[Option<Measured>]) -> ReportTable {
    let head = [
        "run",
        "steps",
        "time a step",
        "iterations a step",
        "frames with crossings",
        "crossing pairs: joined by an edge, others",
        "smallest distance",
        "clipped, most in a step",
        "pairs without a plane",
    ];
    let row = |run: &ReportedRun| {
        let Some(measured) = &measured[run.scene] else {
            let text = [&*run.name, "not run", "", "", "", "", "", "", ""];
            return text.map(Cell::new).to_vec();
        };
        let count = measured.steps.len();
        let sum = |of: &dyn Fn(&Value) -> Option<f64>| -> f64 {
            measured.steps.iter().filter_map(of).sum::<f64>() / count.max(1) as f64
        };
        let seconds = sum(&|step| step.get("seconds")?.get("total")?.as_f64());
        let iterations = sum(&|step| step.get("iterations")?.as_f64());
        let most = |key: &str| {
            let of = |step: &Value| step.get("descent")?.get(key)?.as_u64();
            measured.steps.iter().filter_map(of).max().map_or(String::new(), |n| n.to_string())
        };
        let crossing = measured.looks.iter().filter(|look| look.findings > 0).count();
        let all: usize = measured.looks.iter().map(|look| look.findings).sum();
        let near: usize = measured.looks.iter().map(|look| look.near).sum();
        let gaps = measured.looks.iter().filter_map(|look| look.gap.as_ref().map(|gap| gap.0));
        let mut cells = [
            run.name.clone(),
            count.to_string(),
            format!("{} ms", short(seconds * 1e3)),
            short(iterations),
            format!("{crossing} / {}", measured.looks.len()),
            if all == 0 { String::new() } else { format!("{near}, {}", all - near) },
            gaps.min_by(f64::total_cmp).map_or("-".to_owned(), metres),
            most("clipped"),
            most("unseparated"),
        ]
        .map(Cell::new)
        .to_vec();
        cells[4].mark = Some(if crossing == 0 { Mark::Good } else { Mark::Bad });
        cells
    };
    ReportTable {
        caption: "Runs".to_owned(),
        head: head.map(str::to_owned).to_vec(),
        rows: section.runs.iter().map(row).collect(),
    }
}

/// What the scenes themselves want of their probes.
fn of_targets(section: &Planned, measured: &[Option<Measured>]) -> Option<ReportTable> {
    let mut rows = Vec::new();
    for run in &section.runs {
        let Some(measured) = &measured[run.scene] else { continue };
        let targets = measured.reader.summary().and_then(|s| s.get("targets")?.as_array());
        for target in targets.into_iter().flatten() {
            let text = |key: &str| target.get(key).and_then(Value::as_str).unwrap_or_default();
            let number = |key: &str| target.get(key).and_then(Value::as_f64);
            let shown = |key: &str| number(key).map_or(String::new(), short);
            let met = target.get("met").and_then(Value::as_bool);
            let unit = if text("unit") == "1" { "" } else { text("unit") };
            let what = match text("statistic") {
                "value" => text("probe").to_owned(),
                statistic => format!("{statistic} of {}", text("probe")),
            };
            let mut row = [
                run.name.clone(),
                what,
                number("value").map_or("-".to_owned(), |v| format!("{} {unit}", short(v))),
                shown("at_least"),
                shown("at_most"),
                match met {
                    Some(true) => "met".to_owned(),
                    Some(false) => "MISSED".to_owned(),
                    None => "not reached".to_owned(),
                },
            ]
            .map(Cell::new)
            .to_vec();
            row[5].mark = met.map(|met| if met { Mark::Good } else { Mark::Bad });
            rows.push(row);
        }
    }
    let head = ["run", "target", "found", "at least", "at most", ""];
    (!rows.is_empty()).then(|| ReportTable {
        caption: "Targets of the scenes".to_owned(),
        head: head.map(str::to_owned).to_vec(),
        rows,
    })
}
