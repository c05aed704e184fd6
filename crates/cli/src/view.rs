//! `gusset view`: pictures and pages of a run.

use crate::arguments::ViewArguments;
use crate::colour::colour;
use crate::console::Console;
use crate::failure::{Exit, Failure, Outcome};
use crate::gaps::VertexGaps;
use gusset_output::{
    HtmlOptions, PictureOptions, RunReader, Source as _, contact_sheet, phase_ends, picture,
    spread, write_html,
};
use std::path::{Path, PathBuf};

/// Makes what was asked for.
pub(crate) fn command(arguments: &ViewArguments, console: &mut Console<'_>) -> Outcome {
    let reader = RunReader::open(&arguments.run)?;
    if reader.frame_count() == 0 {
        return Err(Failure::bad_input(format_args!(
            "the run has no frame yet: {}",
            arguments.run.display()
        )));
    }
    if let Some(path) = &arguments.png {
        draw(&reader, arguments, path)?;
        console.line(path.display());
    }
    if arguments.html.is_some() || arguments.png.is_none() {
        let path = arguments.html.clone().unwrap_or_else(|| arguments.run.join("view.html"));
        write_page(&reader, &path, console)?;
        console.line(path.display());
    }
    Ok(Exit::Done)
}

/// Writes the page that plays a run, into its folder.
pub(crate) fn page(run: &Path, console: &mut Console<'_>) -> Result<PathBuf, Failure> {
    let path = run.join("view.html");
    write_page(&RunReader::open(run)?, &path, console)?;
    Ok(path)
}

fn write_page(reader: &RunReader, path: &Path, console: &mut Console<'_>) -> Result<(), Failure> {
    let probes = reader.probes()?;
    let mut gaps = VertexGaps::new(reader.bodies(), &reader.frame(0)?);
    let options =
        HtmlOptions { gap_range: gaps.as_ref().map(|g| g.reach), ..HtmlOptions::default() };
    let frames = reader.frame_count() as u64;
    let bar = console.bar(frames, "{bar:30.cyan} view: frame {pos}/{len}");
    let mut of_frame = |k: usize, frame: &[Vec<glam::DVec3>]| {
        bar.set_position(k as u64);
        Ok(gaps.as_mut().map_or_else(Vec::new, |gaps| gaps.of(frame)))
    };
    let written = write_html(reader, probes.as_ref(), Some(&mut of_frame), &options, path);
    bar.finish_and_clear();
    let report = written?;
    if report.stride > 1 {
        let (shown, stride) = (report.frames, report.stride);
        console.message(format_args!(
            "view: {shown} of {frames} frames, one in {stride}, to keep the page small"
        ));
    }
    Ok(())
}

fn draw(reader: &RunReader, arguments: &ViewArguments, path: &Path) -> Result<(), Failure> {
    let one = arguments.frame.is_some() || arguments.time.is_some();
    let phases = if one { Vec::new() } else { phase_ends(reader) };
    let frames = match arguments.sheet {
        Some(count) => spread(reader.frame_count(), usize::from(count)),
        None if phases.is_empty() => vec![one_frame(reader, arguments.frame, arguments.time)?],
        None => phases,
    };
    let sheet = arguments.sheet.is_some() || frames.len() > 1;
    let options = options(reader, arguments, &frames, sheet)?;
    let image = if sheet {
        contact_sheet(reader, &frames, 0, &options)?
    } else {
        picture(reader, frames[0], &options)?
    };
    Ok(image.save_png(path)?)
}

/// The frame that was asked for; the last one where nothing was.
fn one_frame(
    reader: &RunReader,
    frame: Option<usize>,
    time: Option<f64>,
) -> Result<usize, Failure> {
    let times = reader.times();
    let last = times.len() - 1;
    match (frame, time) {
        (Some(k), _) if k > last => Err(Failure::bad_input(format_args!(
            "there is no frame {k}; the run has frames 0 to {last}"
        ))),
        (Some(k), _) => Ok(k),
        (None, Some(t)) => {
            let (first, end) = (times[0], times[last]);
            let half = if last > 0 { 0.5 * (end - first) / last as f64 } else { f64::INFINITY };
            if !(t >= first - half && t <= end + half) {
                return Err(Failure::bad_input(format_args!(
                    "there is no frame at {t} s; the run goes from {first} s to {end} s"
                )));
            }
            let nearest =
                (0..=last).min_by(|&a, &b| (times[a] - t).abs().total_cmp(&(times[b] - t).abs()));
            Ok(nearest.unwrap_or(last))
        }
        (None, None) => Ok(last),
    }
}

fn options(
    reader: &RunReader,
    arguments: &ViewArguments,
    frames: &[usize],
    sheet: bool,
) -> Result<PictureOptions, Failure> {
    let mut options = PictureOptions {
        colour: colour(reader, arguments.color, frames)?,
        dark: arguments.dark,
        hide: arguments.hide.clone(),
        ..PictureOptions::default()
    };
    if sheet {
        (options.width, options.height, options.samples) = (480, 320, 2);
    }
    if let Some(width) = arguments.width {
        options.width = usize::from(width);
    }
    if let Some(height) = arguments.height {
        options.height = usize::from(height);
    }
    for (name, value, to) in [
        ("azimuth", arguments.azimuth, &mut options.orbit.azimuth),
        ("elevation", arguments.elevation, &mut options.orbit.elevation),
        ("zoom", arguments.zoom, &mut options.orbit.zoom),
    ] {
        if let Some(value) = value {
            if !value.is_finite() || (name == "zoom" && value <= 0.0) {
                let sign = if name == "zoom" { " above 0" } else { "" };
                let message = format!("`--{name} {value}` must be a finite number{sign}");
                return Err(Failure::bad_input(message));
            }
            *to = value;
        }
    }
    for name in &arguments.hide {
        if !reader.bodies().iter().any(|b| b.name == *name) {
            let known: Vec<String> =
                reader.bodies().iter().map(|b| format!("`{}`", b.name)).collect();
            return Err(Failure::bad_input(format_args!(
                "there is no body `{name}` to hide; the run has {}",
                known.join(", ")
            )));
        }
    }
    Ok(options)
}
