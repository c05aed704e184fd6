//! `gusset export`: the frames of a run for other programs.

use crate::arguments::{ExportArguments, FormatName};
use crate::console::{Console, count};
use crate::failure::{Exit, Outcome};
use gusset_output::{ExportFormat, ExportOptions, RunReader, export, glb_stride};

/// Writes the frames.
pub(crate) fn command(arguments: &ExportArguments, console: &mut Console<'_>) -> Outcome {
    let (format, name) = match arguments.format {
        FormatName::Vtk => (ExportFormat::Vtk, "vtk"),
        FormatName::Ply => (ExportFormat::Ply, "ply"),
        FormatName::Obj => (ExportFormat::Obj, "obj"),
        FormatName::Glb => (ExportFormat::Glb, "glb"),
        FormatName::Usd => (ExportFormat::Usd, "usd"),
        FormatName::Npy => (ExportFormat::Npy, "npy"),
    };
    let reader = RunReader::open(&arguments.run)?;
    let dir = arguments.out.clone().unwrap_or_else(|| arguments.run.join(format!("export-{name}")));
    let frames = reader.frame_count();
    let stride = match arguments.every {
        Some(every) => every as usize,
        None if format == ExportFormat::Glb => glb_stride(frames),
        None => 1,
    };
    if format == ExportFormat::Glb && stride > 1 && arguments.every.is_none() {
        console.message(format_args!(
            "one frame in {stride} of {frames}: every frame of a .glb is a shape of its own; --every writes others, \
             --format usd all"
        ));
    }
    let precision = reader.info().precision;
    let options = ExportOptions { format, stride, precision, ..ExportOptions::default() };
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
