//! Writes what a run leaves: frames, certificates, probes, checkpoints.

use super::observe::Observer;
use super::resume::as_many_vertices;
use super::summary::Totals;
use super::targets::{Verdict, judge, limits};
use crate::bodies;
use crate::console::Console;
use crate::failure::{Failure, write_file};
use glam::DVec3;
use gusset_energy::StepState;
use gusset_output::{
    Checkpoint, ProbeLimit, ProbeRun, RunInfo, RunReader, RunWriter, Source as _, probe_plots,
};
use gusset_scene::{Measured, OutputPlan, Precision, Probes};
use gusset_solve::{Model, State, StepRecord, Stepper};
use serde_json::Value;
use std::ops::Range;
use std::path::{Path, PathBuf};
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
    pub(super) fn info(&self, model: &Model) -> RunInfo {
        RunInfo {
            scene: self.title.to_owned(),
            dt: self.dt,
            frame_interval: u32::try_from(self.output.every).unwrap_or(u32::MAX),
            precision: match self.output.precision {
                Precision::F32 => gusset_output::Precision::F32,
                Precision::F64 => gusset_output::Precision::F64,
            },
            checkpoint_interval: self.output.checkpoint_every,
            phases: self
                .phases
                .iter()
                .map(|p| gusset_output::Phase { name: p.name.clone(), start: p.start })
                .collect(),
            restarts: Vec::new(),
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
        solver: &dyn Stepper,
        force: bool,
    ) -> Result<Self, Failure> {
        let writer = RunWriter::create(out, &plan.info(solver.model()), plan.resolved, force)?;
        let mut recorder = Self::new(writer, plan, probes, solver);
        if !recorder.probes.list.is_empty() {
            recorder.writer.write_probes_header(&head(&recorder.probes))?;
        }
        recorder.frame(start)?;
        recorder.measure(start, start, &[], solver)?;
        recorder.checkpoint(start, solver)?;
        Ok(recorder)
    }

    /// Continues the run in `out`, which is one of this scene: see [`super::resume`].
    pub(super) fn resume(
        out: &Path,
        plan: &Plan<'_>,
        start: &State,
        probes: Probes,
        solver: &mut dyn Stepper,
        totals: &mut Totals,
    ) -> Result<(Self, State), Failure> {
        let (writer, checkpoint) = RunWriter::resume(out)?;
        for record in RunReader::open(out)?.steps()? {
            totals.add_stored(&record);
        }
        let Checkpoint { step, x, v, extra, .. } = checkpoint;
        as_many_vertices(&x, start, out)?;
        solver.recall(&extra).map_err(|error| {
            Failure::bad_input(format_args!(
                "what the checkpoint remembers of the solver can't be used: {error}; start again with --force: {}",
                out.display()
            ))
        })?;
        let mut recorder = Self::new(writer, plan, probes, &*solver);
        recorder.saved = (Some(step), Instant::now());
        recorder.late_probes(step)?;
        Ok((recorder, State { x, v, step }))
    }

    fn new(writer: RunWriter, plan: &Plan<'_>, probes: Probes, solver: &dyn Stepper) -> Self {
        let model = solver.model();
        let observed =
            probes.want_gaps() || probes.want_contact_force() || probes.want_intersections();
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

    /// Of probes that the run did not have so far, nothing is known up to `step`.
    fn late_probes(&mut self, step: u64) -> Result<(), Failure> {
        if self.probes.list.is_empty() || self.writer.has_probes() {
            return Ok(());
        }
        let columns = head(&self.probes);
        self.writer.write_probes_header(&columns)?;
        for k in 0..=step {
            self.row.clear();
            self.row.push(k as f64 * self.dt);
            self.row.resize(columns.len(), f64::NAN);
            self.writer.write_probes(&self.row)?;
        }
        Ok(())
    }

    /// Frames so far.
    pub(super) fn frames(&self) -> u64 {
        self.writer.frames()
    }

    /// After the step from `before` to `state`.
    pub(super) fn step(
        &mut self,
        state: &State,
        before: &State,
        record: &StepRecord,
        solver: &dyn Stepper,
    ) -> Result<(), Failure> {
        self.writer.write_step(record)?;
        self.measure(state, before, &record.energies, solver)?;
        if state.step.is_multiple_of(self.output.every) {
            self.frame(state)?;
        }
        let due = state.step.is_multiple_of(self.output.checkpoint_every);
        if due || self.saved.1.elapsed() >= CHECKPOINT_AGE {
            self.checkpoint(state, solver)?;
        }
        Ok(())
    }

    /// Leaves a checkpoint of the last state and what the run amounts to, and closes the folder.
    pub(super) fn finish(
        mut self,
        state: &State,
        solver: &dyn Stepper,
        summary: Value,
    ) -> Result<(), Failure> {
        if self.saved.0 != Some(state.step) {
            self.checkpoint(state, solver)?;
        }
        Ok(self.writer.finish(Some(summary))?)
    }

    /// What the probes were to reach, judged by what stands in the folder.
    pub(super) fn judge(&self) -> Vec<Verdict> {
        if self.probes.list.iter().all(|probe| probe.targets.is_empty()) {
            return Vec::new();
        }
        // A run of no steps has written nothing yet.
        let table = RunReader::open(self.writer.dir()).and_then(|reader| reader.probes());
        judge(&self.probes, &table.ok().flatten().unwrap_or_default())
    }

    /// Limits to be drawn with the curves of the probes.
    pub(super) fn limits(&self) -> Vec<ProbeLimit> {
        limits(&self.probes)
    }

    fn frame(&mut self, state: &State) -> Result<(), Failure> {
        let positions: Vec<&[DVec3]> = self.ranges.iter().map(|r| &state.x[r.clone()]).collect();
        Ok(self.writer.write_frame(&positions, state.step as f64 * self.dt)?)
    }

    /// What the probes have measured last, without the time.
    pub(super) fn measured(&self) -> &[f64] {
        self.row.get(1..).unwrap_or_default()
    }

    fn measure(
        &mut self,
        state: &State,
        before: &State,
        energies: &[(String, f64)],
        solver: &dyn Stepper,
    ) -> Result<(), Failure> {
        if self.probes.list.is_empty() {
            return Ok(());
        }
        let model = solver.model();
        let (mut gaps, mut contact_force, mut intersections) = (Vec::new(), Vec::new(), None);
        if let Some(observer) = &mut self.observer {
            if self.probes.want_gaps() {
                gaps = observer.gaps(&state.x);
            }
            if self.probes.want_contact_force() {
                let (x_start, v_start) = (&before.x[..], &before.v[..]);
                let step = StepState { x: &state.x, x_start, v_start, dt: self.dt };
                contact_force = solver
                    .contact_forces(before, state)
                    .unwrap_or_else(|| observer.forces(model, &step));
            }
            if self.probes.want_intersections() {
                intersections = Some(observer.intersections(&state.x));
            }
        }
        let measured = Measured {
            x: &state.x,
            v: &state.v,
            gaps: &gaps,
            energies,
            contact_force: &contact_force,
            intersections,
            terms: &model.terms,
            step: (&before.x, &before.v, self.dt),
        };
        self.row.clear();
        self.row.push(state.step as f64 * self.dt);
        self.probes.measure(&measured, &mut self.row);
        Ok(self.writer.write_probes(&self.row)?)
    }

    fn checkpoint(&mut self, state: &State, solver: &dyn Stepper) -> Result<(), Failure> {
        self.writer.write_checkpoint(&Checkpoint {
            step: state.step,
            time: state.step as f64 * self.dt,
            x: state.x.clone(),
            v: state.v.clone(),
            extra: solver.memory(),
        })?;
        self.saved = (Some(state.step), Instant::now());
        Ok(())
    }
}

/// Draws the curves of all probes into `probes.svg`, where there are any.
pub(super) fn plots(
    out: &Path,
    limits: &[ProbeLimit],
    console: &mut Console<'_>,
) -> Option<PathBuf> {
    let path = out.join("probes.svg");
    let draw = || -> Result<bool, Failure> {
        let reader = RunReader::open(out)?;
        let Some(table) = reader.probes()?.filter(|table| table.columns.len() > 1) else {
            return Ok(false);
        };
        let run = ProbeRun { name: "", table: &table };
        let svg = probe_plots(reader.title(), &[run], reader.phases(), limits)?;
        write_file(&path, svg.as_bytes())?;
        Ok(true)
    };
    match draw() {
        Ok(drawn) => drawn.then_some(path),
        // The run is what counts.
        Err(error) => {
            console.message(format_args!("warning: no plots: {}", error.message));
            None
        }
    }
}

/// Head of `probes.csv`; empty without probes.
pub(super) fn head(probes: &Probes) -> Vec<String> {
    if probes.list.is_empty() {
        return Vec::new();
    }
    let columns = probes.columns().into_iter().map(|c| c.to_string());
    std::iter::once("time [s]".to_owned()).chain(columns).collect()
}
