//! `gusset report`: the scenes of a folder, run where they have not been, in one page.

mod jobs;
mod measure;
mod page;
mod series;
mod table;

use crate::arguments::ReportArguments;
use crate::console::{Console, bytes};
use crate::failure::{Exit, Failure, Outcome};
use crate::{load, run};
use measure::Measured;
use std::path::{Path, PathBuf};

/// Runs what is missing and writes the page.
pub(crate) fn command(arguments: &ReportArguments, console: &mut Console<'_>) -> Outcome {
    let report = gusset_scene::load_report(&arguments.path)
        .map_err(|error| load::refusal(&error, console.colour()))?;
    load::warnings(&report.warnings, console);
    let output = output(arguments);
    if let Some(folder) = output.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(|error| {
            Failure::failed(format_args!("cannot make {}: {error}", folder.display()))
        })?;
    }
    run::watch();
    let failures = jobs::run_missing(&report, arguments, console);
    if run::requested() {
        return Err(Failure::failed(
            "stopped; the same command goes on where this one was, and writes the page at its end",
        ));
    }
    let mut measured = Vec::with_capacity(report.scenes.len());
    for scene in &report.scenes {
        measured.push(Measured::open(&arguments.runs.join(&scene.folder), console)?);
    }
    let tables = table::tables(&report, &measured)?;
    let size = page::write(&report, &measured, &tables, &output)?;
    if console.wants_json() {
        console.object(&table::Tables { sections: tables, page: output.clone() });
    } else {
        for line in tables.iter().flat_map(|table| table.lines(&report.reference)) {
            console.line(line);
        }
        console.line(format_args!("report: {} ({})", output.display(), bytes(size as u64)));
    }
    for failure in &failures {
        console.message(failure);
    }
    let runs = report.scenes.iter().zip(&measured).filter(|(_, run)| run.is_none());
    let missing: Vec<&str> = runs.map(|(scene, _)| scene.folder.as_str()).collect();
    if !missing.is_empty() {
        let (names, place) = (missing.join("`, `"), arguments.runs.display());
        console.message(format_args!("error: without a frame in {place}: `{names}`"));
    }
    Ok(if failures.is_empty() && missing.is_empty() { Exit::Done } else { Exit::Failed })
}

/// Where the page goes.
fn output(arguments: &ReportArguments) -> PathBuf {
    arguments.output.clone().unwrap_or_else(|| {
        let path = std::path::absolute(&arguments.path).unwrap_or_else(|_| arguments.path.clone());
        let folder = if path.is_dir() { Some(&*path) } else { path.parent() };
        let name = folder.and_then(Path::file_name).unwrap_or("report".as_ref());
        arguments.runs.join(Path::new(name).with_extension("html"))
    })
}
