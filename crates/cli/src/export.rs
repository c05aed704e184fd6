//! `gusset export`: the frames of a run for other programs.

use crate::arguments::{ExportArguments, FormatName};
use crate::console::{Console, count};
use crate::failure::{Exit, Outcome};
use gusset_output::{ExportFormat, ExportOptions, RunReader, export};

/// Writes the frames.
pub(crate) fn command(arguments: &ExportArguments, console: &mut Console<'_>) -> Outcome {
    let (format, name) = match arguments.format {
        FormatName::Vtk => (ExportFormat::Vtk, "vtk"),
        FormatName::Ply => (ExportFormat::Ply, "ply"),
        FormatName::Obj => (ExportFormat::Obj, "obj"),
    };
    let reader = RunReader::open(&arguments.run)?;
    let dir = arguments.out.clone().unwrap_or_else(|| arguments.run.join(format!("export-{name}")));
    let options =
        ExportOptions { format, stride: arguments.every as usize, ..ExportOptions::default() };
    let files = export(&reader, &dir, &options)?;
    console.message(format_args!(
        "wrote {} to {}",
        count(files.len() as u64, "file"),
        dir.display()
    ));
    if let Some(first) = files.first() {
        console.line(first.display());
    }
    Ok(Exit::Done)
}
