//! Writes what a run leaves: frames, certificates, probes, checkpoints.

use super::observe::Observer;
use super::summary::Totals;
use crate::bodies;
use crate::failure::Failure;
use glam::DVec3;
use gusset_output::{Checkpoint, RunInfo, RunReader, RunWriter, Source as _};
use gusset_scene::{Measured, OutputPlan, Precision, Probes};
use gusset_solve::{Model, Solver, State, StepRecord};
use std::ops::Range;
use std::path::Path;
use std::time::{Duration, Instant};

/// A checkpoint is written at least this often, however long steps take.
const CHECKPOINT_AGE: Duration = Duration::from_mins(1);

/// What the scene says about its run folder.
pub(super) struct Plan<'a> {
    pub(super) title: &'a str,
    pub(super) dt: f64,
    pub(super) output: OutputPlan,
    pub(super) phases: &'a [gusset_scene::Phase],
    pub(super) colours: &'a [Option<[u8; 3]>],
    pub(super) resolved: &'a str,
}

impl Plan<'_> {
    fn info(&self, model: &Model) -> RunInfo {
        RunInfo {
            scene: self.title.to_owned(),
            dt: self.dt,
            frame_interval: u32::try_from(self.output.every).unwrap_or(u32::MAX),
            precision: match self.output.precision {
                Precision::F32 => gusset_output::Precision::F32,
                Precision::F64 => gusset_output::Precision::F64,
            },
            phases: self
                .phases
                .iter()
                .map(|p| gusset_output::Phase { name: p.name.clone(), start: p.start })
                .collect(),
            bodies: bodies::infos(&model.world, self.colours),
        }
    }
}

/// Writes what a run leaves.
pub(super) struct Recorder {
    writer: RunWriter,
    probes: Probes,
    observer: Option<Observer>,
    row: Vec<f64>,
    ranges: Vec<Range<usize>>,
    output: OutputPlan,
    dt: f64,
    /// Step of the last checkpoint, and when it was written.
    saved: (Option<u64>, Instant),
}

impl Recorder {
    /// A new run; the folder appears with the first step.
    pub(super) fn create(
        out: &Path,
        plan: &Plan<'_>,
        start: &State,
        probes: Probes,
        solver: &Solver,
        force: bool,
    ) -> Result<Self, Failure> {
        let writer = RunWriter::create(out, &plan.info(solver.model()), plan.resolved, force)?;
        let mut recorder = Self::new(writer, plan, probes, solver);
        if !recorder.probes.list.is_empty() {
            let columns = recorder.probes.columns().into_iter().map(|c| c.to_string());
            let header: Vec<String> =
                std::iter::once("time [s]".to_owned()).chain(columns).collect();
            recorder.writer.write_probes_header(&header)?;
        }
        recorder.frame(start)?;
        recorder.measure(start, &[], solver.model())?;
        recorder.checkpoint(start)?;
        Ok(recorder)
    }

    /// Continues the run in `out`, if it is one of this scene.
    pub(super) fn resume(
        out: &Path,
        plan: &Plan<'_>,
        start: &State,
        probes: Probes,
        solver: &Solver,
        scene_path: &Path,
        totals: &mut Totals,
    ) -> Result<(Self, State), Failure> {
        same_scene(out, plan, start, solver, scene_path)?;
        let (writer, checkpoint) = RunWriter::resume(out)?;
        for record in RunReader::open(out)?.steps()? {
            totals.add_stored(&record);
        }
        let Checkpoint { step, x, v, .. } = checkpoint;
        let wanted = start.x.len();
        if x.len() != wanted {
            return Err(Failure::bad_input(format_args!(
                "the checkpoint has {} vertices and the scene {wanted}; start again with --force: {}",
                x.len(),
                out.display()
            )));
        }
        let mut recorder = Self::new(writer, plan, probes, solver);
        recorder.saved = (Some(step), Instant::now());
        Ok((recorder, State { x, v, step }))
    }

    fn new(writer: RunWriter, plan: &Plan<'_>, probes: Probes, solver: &Solver) -> Self {
        let model = solver.model();
        let observed = probes.want_gaps() || probes.want_contact_force();
        Self {
            writer,
            observer: if observed { Observer::new(model) } else { None },
            probes,
            row: Vec::new(),
            ranges: model.world.bodies.iter().map(gusset_mesh::Body::range).collect(),
            output: plan.output,
            dt: plan.dt,
            saved: (None, Instant::now()),
        }
    }

    /// Frames so far.
    pub(super) fn frames(&self) -> u64 {
        self.writer.frames()
    }

    /// After a step.
    pub(super) fn step(
        &mut self,
        state: &State,
        record: &StepRecord,
        model: &Model,
    ) -> Result<(), Failure> {
        self.writer.write_step(record)?;
        self.measure(state, &record.energies, model)?;
        if state.step.is_multiple_of(self.output.every) {
            self.frame(state)?;
        }
        let due = state.step.is_multiple_of(self.output.checkpoint_every);
        if due || self.saved.1.elapsed() >= CHECKPOINT_AGE {
            self.checkpoint(state)?;
        }
        Ok(())
    }

    /// Leaves a checkpoint of the last state and closes the folder.
    pub(super) fn finish(mut self, state: &State) -> Result<(), Failure> {
        if self.saved.0 != Some(state.step) {
            self.checkpoint(state)?;
        }
        Ok(self.writer.finish()?)
    }

    fn frame(&mut self, state: &State) -> Result<(), Failure> {
        let positions: Vec<&[DVec3]> = self.ranges.iter().map(|r| &state.x[r.clone()]).collect();
        Ok(self.writer.write_frame(&positions, state.step as f64 * self.dt)?)
    }

    fn measure(
        &mut self,
        state: &State,
        energies: &[(String, f64)],
        model: &Model,
    ) -> Result<(), Failure> {
        if self.probes.list.is_empty() {
            return Ok(());
        }
        let (mut gaps, mut contact_force) = (Vec::new(), Vec::new());
        if let Some(observer) = &mut self.observer {
            if self.probes.want_gaps() {
                gaps = observer.gaps(&state.x);
            }
            if self.probes.want_contact_force() {
                contact_force = observer.forces(model, &state.x);
            }
        }
        let measured = Measured {
            x: &state.x,
            v: &state.v,
            gaps: &gaps,
            energies,
            contact_force: &contact_force,
        };
        self.row.clear();
        self.row.push(state.step as f64 * self.dt);
        self.probes.measure(&measured, &mut self.row);
        Ok(self.writer.write_probes(&self.row)?)
    }

    fn checkpoint(&mut self, state: &State) -> Result<(), Failure> {
        self.writer.write_checkpoint(&Checkpoint {
            step: state.step,
            time: state.step as f64 * self.dt,
            x: state.x.clone(),
            v: state.v.clone(),
            extra: Vec::new(),
        })?;
        self.saved = (Some(state.step), Instant::now());
        Ok(())
    }
}

/// Refuses to continue a run with another scene.
fn same_scene(
    out: &Path,
    plan: &Plan<'_>,
    start: &State,
    solver: &Solver,
    scene_path: &Path,
) -> Result<(), Failure> {
    let reader = RunReader::open(out)?;
    let path = reader.scene_path();
    let stored = std::fs::read_to_string(&path).map_err(|error| {
        Failure::failed(format_args!("cannot read {}: {error}", path.display()))
    })?;
    let differs = |what: &str| {
        Failure::bad_input(format_args!(
            "the scene is not the one that the run was started with: {what}\n\
             scene: {}\nrun: {}\n\
             give the scene and --set values of the first start, or start again with --force, or continue with \
             the run's own scene: gusset run {} --resume",
            scene_path.display(),
            out.display(),
            out.display()
        ))
    };
    if let Some(what) = first_difference(&stored, plan.resolved) {
        return Err(differs(&what));
    }
    // The text may be the same and a mesh file another.
    let (info, now) = (reader.info(), plan.info(solver.model()));
    let changed = info.bodies.iter().zip(&now.bodies).find(|(old, new)| old != new);
    if let Some((old, _)) = changed {
        return Err(differs(&format!("body `{}` has changed, a mesh file perhaps", old.name)));
    }
    if info.precision == gusset_output::Precision::F64 && reader.frame_count() > 0 {
        let first = reader.frame(0)?;
        for (body, positions) in solver.model().world.bodies.iter().zip(&first) {
            if start.x[body.range()] != positions[..] {
                let what =
                    format!("the start of body `{}` has changed, a mesh file perhaps", body.name);
                return Err(differs(&what));
            }
        }
    }
    Ok(())
}

/// The first line in which two texts differ, in words.
fn first_difference(stored: &str, now: &str) -> Option<String> {
    if stored == now {
        return None;
    }
    let (mut old, mut new) = (stored.lines(), now.lines());
    for number in 1.. {
        match (old.next(), new.next()) {
            (None, None) => break,
            (a, b) if a == b => {}
            (a, b) => {
                let quote =
                    |line: Option<&str>| line.map_or("nothing".to_owned(), |l| format!("`{l}`"));
                return Some(format!("line {number} was {} and is {}", quote(a), quote(b)));
            }
        }
    }
    Some("the line ends differ".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_is_named() {
        assert_eq!(first_difference("a\nb\n", "a\nb\n"), None);
        let found = first_difference("dt = 1\nx = 2\n", "dt = 1\nx = 3\n").unwrap();
        assert_eq!(found, "line 2 was `x = 2` and is `x = 3`");
        let found = first_difference("a\n", "a\nb\n").unwrap();
        assert_eq!(found, "line 2 was nothing and is `b`");
        assert!(first_difference("a\n", "a\r\n").is_some());
    }
}
