//! `gusset check`: intersections in a scene before its run, or in every frame of a run folder.

use crate::arguments::CheckArguments;
use crate::bodies;
use crate::console::{Console, count, metres};
use crate::failure::{Exit, Failure, Outcome, write_file};
use crate::load;
use glam::DVec3;
use gusset_contact::{
    CollisionMesh, IntersectionCheck, IntersectionReport, Pair, PairKind, intersections,
    smallest_gap,
};
use gusset_output::{RunReader, Source as _};
use gusset_solve::State;
use rayon::prelude::*;
use serde::Serialize;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

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
        run(arguments, console)?
    } else if arguments.csv.is_some() {
        return Err(Failure::bad_input(
            "`--csv` lists the frames of a run folder; a scene has none",
        ));
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

    /// Adds what was found in a frame; frames come in order.
    fn add(&mut self, look: Look, frame: usize, time: f64) {
        self.frames += 1;
        if look.findings > 0 {
            self.intersecting_frames += 1;
            self.findings += look.findings;
            if self.intersections.len() < FRAMES_SHOWN {
                let pairs = look.pairs.lines().map(str::to_owned).collect();
                self.intersections.push(Intersecting { frame, time, pairs });
            }
        }
        if let Some((gap, pair)) = look.gap
            && self.min_gap.is_none_or(|least| gap < least)
        {
            self.min_gap = Some(gap);
            self.min_gap_pair = Some(pair);
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
    let mesh = CollisionMesh::from_world(&scene.model.world, 0.0);
    report.add(Look::at(&mesh, &Edges::new(&mesh), x), 0, 0.0);
    let state = scene.state;
    let mut solver = gusset_scene::stepper(scene.model, scene.settings, scene.descent)?;
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

/// What one frame shows.
pub(crate) struct Look {
    /// Intersecting pairs and positions that are no numbers.
    pub(crate) findings: usize,
    /// Those of them whose two triangles share a corner or are joined by an edge: block descent's `rings = 2` leaves these out.
    pub(crate) near: usize,
    /// The first few of them in words.
    pairs: String,
    /// Smallest distance between two surfaces (m), and whose it is; none where there are no two, or where something is not
    /// anywhere.
    pub(crate) gap: Option<(f64, String)>,
}

impl Look {
    /// `mesh` has no offset.
    fn at(mesh: &CollisionMesh, edges: &Edges, x: &[DVec3]) -> Self {
        let found: IntersectionReport = intersections(mesh, x, &IntersectionCheck::default());
        let pairs =
            if found.is_clean() { String::new() } else { found.describe(mesh, PAIRS_SHOWN) };
        // Distances between what is not anywhere mean nothing.
        let gap = if found.not_finite.is_empty() { smallest_gap(mesh, x) } else { None };
        Self {
            findings: found.pairs.len() + found.not_finite.len(),
            near: found.pairs.iter().filter(|pair| edges.join(mesh, **pair)).count(),
            pairs,
            gap: gap.map(|gap| (gap.gap, mesh.describe(gap.pair))),
        }
    }
}

/// The edges of a mesh, to be looked up.
struct Edges(Vec<[u32; 2]>);

impl Edges {
    fn new(mesh: &CollisionMesh) -> Self {
        let mut edges: Vec<[u32; 2]> =
            mesh.edges.iter().map(|[a, b]| [*a.min(b), *a.max(b)]).collect();
        edges.sort_unstable();
        Self(edges)
    }

    /// Whether two triangles share a corner or are joined by an edge.
    fn join(&self, mesh: &CollisionMesh, pair: Pair) -> bool {
        if pair.kind != PairKind::TriangleTriangle {
            return false;
        }
        let [a, b] = pair.primitives.map(|t| mesh.triangles[t as usize]);
        let joined = |a: u32, b: u32| a == b || self.0.binary_search(&[a.min(b), a.max(b)]).is_ok();
        a.iter().any(|a| b.iter().any(|b| joined(*a, *b)))
    }
}

/// Looks at all frames of a run, several at a time.
pub(crate) fn frames(reader: &RunReader, console: &Console<'_>) -> Result<Vec<Look>, Failure> {
    if reader.frame_count() == 0 {
        return Err(Failure::bad_input(format_args!(
            "the run has no frame yet: {}",
            reader.dir().display()
        )));
    }
    all_frames_are_there(reader)?;
    let mesh = bodies::collision_mesh(reader.bodies());
    let edges = Edges::new(&mesh);
    let count = reader.frame_count();
    let bar = console.bar(count as u64, "{bar:30.cyan} checking: frame {pos}/{len}  {msg}");
    let intersecting = AtomicUsize::new(0);
    let look = |frame: usize| -> Result<Look, Failure> {
        let look = Look::at(&mesh, &edges, &bodies::flat(&reader.frame(frame)?));
        if look.findings > 0 {
            let n = intersecting.fetch_add(1, Ordering::Relaxed) + 1;
            bar.set_message(format!("{n} with intersections"));
        }
        bar.inc(1);
        Ok(look)
    };
    let looks = (0..count).into_par_iter().map(look).collect();
    bar.finish_and_clear();
    looks
}

fn run(arguments: &CheckArguments, console: &Console<'_>) -> Result<Report, Failure> {
    let path = &arguments.path;
    let reader = RunReader::open(path)?;
    let vertices = reader.bodies().iter().map(|body| body.vertices).sum();
    let mut report = Report::new(path, vertices);
    let mut table = "frame,time [s],intersecting pairs,smallest distance [m]\n".to_owned();
    for (frame, look) in frames(&reader, console)?.into_iter().enumerate() {
        let time = reader.times()[frame];
        let gap = look.gap.as_ref().map_or(f64::NAN, |(gap, _)| *gap);
        let _ = writeln!(table, "{frame},{time:?},{},{gap:?}", look.findings);
        report.add(look, frame, time);
    }
    if let Some(path) = &arguments.csv {
        write_file(path, table.as_bytes())?;
    }
    Ok(report)
}
