//! `gusset check`: intersections in a scene before its run, or in every frame of a run folder.

use crate::arguments::CheckArguments;
use crate::bodies;
use crate::console::{Console, count, metres};
use crate::failure::{Exit, Failure, Outcome};
use crate::load;
use glam::DVec3;
use gusset_contact::{
    CollisionMesh, IntersectionCheck, IntersectionReport, intersections, smallest_gap,
};
use gusset_output::{RunReader, Source as _};
use gusset_solve::{Solver, State};
use serde::Serialize;
use std::path::Path;

/// Frames with intersections that are described.
const FRAMES_SHOWN: usize = 3;
/// Findings described for each.
const PAIRS_SHOWN: usize = 8;

/// Checks a scene or a run.
pub(crate) fn command(arguments: &CheckArguments, console: &mut Console<'_>) -> Outcome {
    let path = &arguments.path;
    let report = if path.is_dir() {
        if !arguments.overrides.set.is_empty() {
            return Err(Failure::bad_input(
                "`--set` changes scenes; a run folder is checked as it is",
            ));
        }
        run(path, console)?
    } else {
        scene(arguments, console)?
    };
    if console.wants_json() {
        console.object(&report);
    } else {
        console.say(report.text());
    }
    Ok(if report.clean() { Exit::Done } else { Exit::Failed })
}

/// What was found. Distances are those between surfaces: films count as their midsurfaces, spheres with their radii.
#[derive(Debug, Serialize)]
struct Report {
    /// What was checked.
    path: String,
    vertices: usize,
    /// Frames looked at; 1 for a scene.
    frames: usize,
    intersecting_frames: usize,
    /// Intersecting pairs and positions that are no numbers, over all frames.
    findings: usize,
    /// Smallest distance between two surfaces (m); null where there are no two.
    min_gap: Option<f64>,
    min_gap_pair: Option<String>,
    /// Frame and time of it.
    min_gap_frame: Option<usize>,
    min_gap_time: Option<f64>,
    /// The first frames with findings.
    intersections: Vec<Intersecting>,
    /// Why the scene can't start, beside intersections.
    refused: Option<String>,
}

#[derive(Debug, Serialize)]
struct Intersecting {
    frame: usize,
    time: f64,
    /// In words, the first few.
    pairs: Vec<String>,
}

impl Report {
    fn new(path: &Path, vertices: usize) -> Self {
        Self {
            path: path.display().to_string(),
            vertices,
            frames: 0,
            intersecting_frames: 0,
            findings: 0,
            min_gap: None,
            min_gap_pair: None,
            min_gap_frame: None,
            min_gap_time: None,
            intersections: Vec::new(),
            refused: None,
        }
    }

    fn clean(&self) -> bool {
        self.intersecting_frames == 0 && self.refused.is_none()
    }

    /// Looks at one frame. `mesh` has no offset.
    fn look(&mut self, mesh: &CollisionMesh, x: &[DVec3], frame: usize, time: f64) {
        let found: IntersectionReport = intersections(mesh, x, &IntersectionCheck::default());
        self.frames += 1;
        if !found.is_clean() {
            self.intersecting_frames += 1;
            self.findings += found.pairs.len() + found.not_finite.len();
            if self.intersections.len() < FRAMES_SHOWN {
                let pairs = found.describe(mesh, PAIRS_SHOWN).lines().map(str::to_owned).collect();
                self.intersections.push(Intersecting { frame, time, pairs });
            }
        }
        // Distances between what is not anywhere mean nothing.
        if !found.not_finite.is_empty() {
            return;
        }
        if let Some(gap) = smallest_gap(mesh, x)
            && self.min_gap.is_none_or(|least| gap.gap < least)
        {
            self.min_gap = Some(gap.gap);
            self.min_gap_pair = Some(mesh.describe(gap.pair));
            self.min_gap_frame = Some(frame);
            self.min_gap_time = Some(time);
        }
    }

    fn text(&self) -> String {
        let mut lines = Vec::new();
        for frame in &self.intersections {
            lines.push(format!("frame {} (t = {:.6} s):", frame.frame, frame.time));
            lines.extend(frame.pairs.iter().map(|pair| format!("  {pair}")));
        }
        let hidden = self.intersecting_frames.saturating_sub(self.intersections.len());
        if hidden > 0 {
            lines.push(format!("and {} more", count(hidden as u64, "frame")));
        }
        lines.extend(self.refused.clone());
        let frames = count(self.frames as u64, "frame");
        lines.push(match self.intersecting_frames {
            0 => format!("{frames}, nothing intersects"),
            n => format!("{frames}, {n} with intersections"),
        });
        if let (Some(gap), Some(pair)) = (self.min_gap, &self.min_gap_pair) {
            let when = match (self.frames, self.min_gap_frame, self.min_gap_time) {
                (2.., Some(frame), Some(time)) => format!(", frame {frame} (t = {time:.6} s)"),
                _ => String::new(),
            };
            lines.push(format!("smallest distance: {} between {pair}{when}", metres(gap)));
        }
        lines.join("\n")
    }
}

fn scene(arguments: &CheckArguments, console: &mut Console<'_>) -> Result<Report, Failure> {
    let scene = load::scene(&arguments.path, &arguments.overrides, console)?;
    let State { x, .. } = &scene.state;
    let mut report = Report::new(&arguments.path, x.len());
    report.look(&CollisionMesh::from_world(&scene.model.world, 0.0), x, 0, 0.0);
    let state = scene.state;
    let mut solver = Solver::new(scene.model, scene.settings)?;
    // Intersections are in the report already, unless the scene has no contact; then they are no reason to refuse it.
    if let Err(error) = solver.check_start(&state)
        && report.intersecting_frames == 0
    {
        report.refused = Some(error.to_string());
    }
    Ok(report)
}

/// A verdict on a run that lost frames would be no verdict: its certificates tell how many there were.
fn all_frames_are_there(reader: &RunReader) -> Result<(), Failure> {
    let last = reader.steps()?.last().and_then(|step| step.get("step")?.as_u64()).unwrap_or(0);
    let promised = last / u64::from(reader.info().frame_interval.max(1)) + 1;
    let found = reader.frame_count() as u64;
    // A kill may come between a certificate and its frame.
    if found + 1 < promised {
        return Err(Failure::bad_input(format_args!(
            "{} has {found} frames, but its {last} steps made {promised}: frames are cut off, so \
             nothing can be said of the run; run it again, or `--resume` it",
            reader.dir().display()
        )));
    }
    Ok(())
}

fn run(path: &Path, console: &mut Console<'_>) -> Result<Report, Failure> {
    let reader = RunReader::open(path)?;
    if reader.frame_count() == 0 {
        return Err(Failure::bad_input(format_args!(
            "the run has no frame yet: {}",
            path.display()
        )));
    }
    all_frames_are_there(&reader)?;
    let mesh = bodies::collision_mesh(reader.bodies());
    let mut report = Report::new(path, mesh.movable.len());
    let bar = console.bar(reader.frame_count() as u64, "{bar:30.cyan} frame {pos}/{len}  {msg}");
    for (frame, time) in reader.times().iter().enumerate() {
        let x = bodies::flat(&reader.frame(frame)?);
        report.look(&mesh, &x, frame, *time);
        if report.intersecting_frames > 0 {
            bar.set_message(format!("{} with intersections", report.intersecting_frames));
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(report)
}
