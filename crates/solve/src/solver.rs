//! One time step, whole or in halves.

use crate::backends::Backends;
use crate::collision::Collision;
use crate::kinematic::{Pull, targets};
use crate::model::{Model, State};
use crate::newton::{Buffers, Interval, Newton, Progress};
use crate::record::{Failure, PairReport, RanOn, StepError, StepRecord, Times, add};
use crate::settings::{Settings, Storage};
use glam::DVec3;
use gusset_energy::{Contacts, Lagged};
use gusset_mesh::Mobility;
use gusset_system::{Backend, LinearChoice, LinearSolver, System};
use std::time::Instant;
use thiserror::Error;

/// Updates of the multipliers before blocked motion counts as impossible.
const MULTIPLIER_UPDATES: u32 = 12;

/// Why a model can't be solved at all.
#[derive(Debug, Error)]
pub enum SolverError {
    /// A free vertex would have no mass and no energy.
    #[error("{0}")]
    Model(String),
}

/// Steps a model. Owns what is worth keeping between steps: pattern, factorisation, candidates, buffers; none of it
/// changes a result.
pub struct Solver {
    model: Model,
    settings: Settings,
    mobility: Vec<Mobility>,
    collision: Option<Collision>,
    /// Kinematic vertices fixed.
    system: System,
    /// Kinematic vertices free; made when it is first needed.
    moving: Option<System>,
    pull: Pull,
    linear: LinearSolver,
    linear_moving: LinearSolver,
    choice: LinearChoice,
    backend: Box<dyn Backend>,
    fallback: bool,
    /// What the next step record is to tell.
    notes: Vec<String>,
    buffers: Buffers,
    lagged: Lagged,
}

impl Solver {
    /// Prepares a model for stepping on the CPU.
    pub fn new(model: Model, settings: Settings) -> Result<Self, SolverError> {
        Self::with_backends(model, settings, Backends::default())
    }

    /// Prepares a model for stepping on other backends than the CPU's.
    pub fn with_backends(
        model: Model,
        settings: Settings,
        backends: Backends,
    ) -> Result<Self, SolverError> {
        let Backends { terms: mut backend, contact, fallback } = backends;
        let mobility = model.mobility();
        let free = mobility.iter().filter(|m| **m == Mobility::Free).count();
        let choice = backend.use_method(settings.linear, free);
        let held: Vec<bool> = mobility.iter().map(|m| *m != Mobility::Free).collect();
        let collision =
            model.contact.map(|settings| Collision::new(&model.world, settings, contact));
        Ok(Self {
            system: System::new(&held, &model.terms),
            moving: None,
            pull: Pull::new(&model.prescribed),
            linear: LinearSolver::new(choice.on_cpu),
            linear_moving: LinearSolver::new(choice.on_cpu),
            choice,
            backend,
            fallback,
            notes: Vec::new(),
            buffers: Buffers::default(),
            lagged: Lagged::default(),
            mobility,
            collision,
            model,
            settings,
        })
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    pub(crate) fn collision_mut(&mut self) -> Option<&mut Collision> {
        self.collision.as_mut()
    }

    /// How linear systems are solved, and why so.
    pub fn linear_choice(&self) -> &LinearChoice {
        &self.choice
    }

    /// Who does what from here on.
    fn ran_on(&self) -> RanOn {
        RanOn {
            terms: self.backend.name(),
            contact: self.collision.as_ref().map(|c| c.detection.name()),
            linear: Some(self.choice.name.clone()),
        }
    }

    /// After a device's failure: puts the CPU in its place, where that is allowed; says whether it has.
    pub(crate) fn take_over(&mut self, failure: &Failure) -> bool {
        let Failure::Device(why) = failure else { return false };
        if !self.fallback {
            return false;
        }
        let name = self.backend.name();
        self.notes.push(format!("{name} failed, and the CPU has taken over: {why}"));
        let Backends { mut terms, contact, fallback } = Backends::default();
        self.choice = terms.use_method(self.settings.linear, self.system.pattern.len());
        self.linear = LinearSolver::new(self.choice.on_cpu);
        self.linear_moving = LinearSolver::new(self.choice.on_cpu);
        (self.backend, self.fallback) = (terms, fallback);
        if let Some(collision) = &mut self.collision {
            collision.detection = contact;
            collision.forget();
        }
        true
    }

    /// Makes one step from `state` into `out`, which is written only on success.
    pub fn step(&mut self, state: &State, out: &mut State) -> Result<StepRecord, StepError> {
        let begin = Instant::now();
        let mut record = self.new_record(state);
        let mut advanced = self.advance_whole(state, &mut record);
        if advanced.as_ref().is_err_and(|failure| self.take_over(failure)) {
            // What the device has done of this step is dropped: from the last accepted state the CPU does all of it.
            record = self.new_record(state);
            advanced = self.advance_whole(state, &mut record);
        }
        match advanced {
            Ok((x, v)) => {
                record.seconds.total = begin.elapsed().as_secs_f64();
                *out = State { x, v, step: state.step + 1 };
                Ok(record)
            }
            Err(failure) => Err(StepError {
                step: record.step,
                from: state.step as f64 * self.settings.dt,
                time: record.time,
                retries: record.retries.saturating_sub(1),
                depth: record.depth,
                worst: self.closest(&state.x).map(Box::new),
                failure,
            }),
        }
    }

    fn new_record(&self, state: &State) -> StepRecord {
        StepRecord {
            step: state.step + 1,
            time: (state.step + 1) as f64 * self.settings.dt,
            ..StepRecord::default()
        }
    }

    /// The whole step, in halves where it must be.
    fn advance_whole(
        &mut self,
        state: &State,
        record: &mut StepRecord,
    ) -> Result<(Vec<DVec3>, Vec<DVec3>), Failure> {
        if let Some(collision) = &mut self.collision {
            collision.forget();
        }
        let dt = self.settings.dt;
        let span = Span { from: state.step as f64 * dt, parts: 1, part: 0, dt };
        record.ran_on = self.ran_on();
        let advanced = self.advance(&state.x, &state.v, span, 0, record);
        let report = self.backend.report();
        record.kernels = report.seconds;
        record.notes = std::mem::take(&mut self.notes);
        record.notes.extend(report.notes);
        advanced
    }

    /// Attempts a span; on a failure that shorter steps may mend, its two halves.
    fn advance(
        &mut self,
        x: &[DVec3],
        v: &[DVec3],
        span: Span,
        depth: u32,
        record: &mut StepRecord,
    ) -> Result<(Vec<DVec3>, Vec<DVec3>), Failure> {
        let done = record.iterations;
        let failure = match self.attempt(x, v, span, record) {
            Ok(next) => return Ok(next),
            Err(failure) => failure,
        };
        record.wasted_iterations += record.iterations - done;
        record.iterations = done;
        record.retries += 1;
        record.failures.push(format!("{} s: {failure}", span.end()));
        if !failure.may_retry() || depth == self.settings.max_subdivisions {
            return Err(failure);
        }
        record.depth = record.depth.max(depth + 1);
        let [first, second] = span.halves();
        let (x, v) = self.advance(x, v, first, depth + 1, record)?;
        self.advance(&x, &v, second, depth + 1, record)
    }

    /// One attempt at a span.
    fn attempt(
        &mut self,
        x_start: &[DVec3],
        v_start: &[DVec3],
        span: Span,
        record: &mut StepRecord,
    ) -> Result<(Vec<DVec3>, Vec<DVec3>), Failure> {
        let t = span.end();
        let dt = span.length();
        for term in &mut self.model.terms {
            term.at_time(t);
        }
        self.take_lag(x_start, &mut record.seconds)?;
        let interval = Interval { x_start, v_start, dt, tolerance: self.settings.tolerance_at(t) };
        let mut x = x_start.to_vec();
        targets(&self.model.prescribed, t, &mut self.pull.target);
        if !self.try_arrive(&mut x, record)? {
            self.push_through(&interval, &mut x, record)?;
        }
        self.minimise(&interval, &mut x, record)?;
        if self.settings.storage == Storage::F32 {
            for p in &mut x {
                *p = p.as_vec3().as_dvec3();
            }
        }
        self.accept(&x, record)?;
        let v = x.iter().zip(x_start).map(|(new, old)| (*new - *old) / dt).collect();
        Ok((x, v))
    }

    /// Rows at the start of the step: they must be feasible; they give normal forces to friction and the pattern.
    fn take_lag(&mut self, x: &[DVec3], times: &mut Times) -> Result<(), Failure> {
        let mut near = Vec::new();
        if let Some(collision) = &mut self.collision {
            let smallest = collision.rows_anywhere(x, times)?;
            if let Some(lost) = collision.lost(smallest) {
                return Err(lost);
            }
            near = collision.near(x)?;
        }
        let none = Contacts::default();
        let contacts = self.collision.as_ref().map_or(&none, |c| &c.contacts);
        self.lagged.normal_force.clear();
        self.lagged.normal_force.resize(contacts.rows.len(), 0.0);
        self.lagged.slab_normal_force.clear();
        self.lagged.slab_normal_force.resize(contacts.slabs.len(), 0.0);
        for term in &self.model.terms {
            term.publish(contacts, &mut self.lagged);
        }
        for term in &mut self.model.terms {
            term.lag(contacts, &self.lagged);
            term.refresh(contacts);
        }
        let begin = Instant::now();
        self.system.reset_pattern(&self.model.terms, &near);
        add(&mut times.assembly, begin.elapsed());
        Ok(())
    }

    /// Moves kinematic vertices to their targets if the straight way there is free.
    fn try_arrive(&mut self, x: &mut [DVec3], record: &mut StepRecord) -> Result<bool, Failure> {
        if self.pull.vertices.is_empty() {
            return Ok(true);
        }
        let mut way = self.pull.way(x);
        let free = self.model.terms.iter().all(|term| term.max_step(x, &way) >= 1.0);
        let free = free
            && match &mut self.collision {
                Some(collision) => {
                    // As every step does, this one leaves a share of each gap: no line search would undo a touch.
                    let slack = collision.settings.slack;
                    for d in &mut way {
                        *d /= slack;
                    }
                    collision.bound(x, &way, &mut record.seconds)?.0 >= 1.0
                }
                None => true,
            };
        if free {
            self.pull.arrive(x);
        }
        Ok(free)
    }

    /// Blocked motion: frees the kinematic vertices and pulls them until the rest of their way is free.
    fn push_through(
        &mut self,
        interval: &Interval<'_>,
        x: &mut Vec<DVec3>,
        record: &mut StepRecord,
    ) -> Result<(), Failure> {
        let fixed: Vec<bool> = self.mobility.iter().map(|m| *m == Mobility::Fixed).collect();
        let terms = &self.model.terms;
        let near = self.collision.as_mut().map(|c| c.near(interval.x_start)).transpose()?;
        let near = near.unwrap_or_default();
        let moving = self.moving.get_or_insert_with(|| System::new(&fixed, terms));
        moving.reset_pattern(terms, &near);
        self.pull.multiplier.fill(DVec3::ZERO);
        self.pull.stiffness = self.pull_stiffness(interval.dt);
        let mut updates = 0;
        let mut begun = false;
        for _ in 0..self.settings.max_iterations {
            let mut pull = std::mem::take(&mut self.pull);
            let mut newton = self.newton(true, Some(&pull));
            if !begun {
                if let Err(failure) = newton.begin(interval, x, record) {
                    self.pull = pull;
                    return Err(failure);
                }
                begun = true;
            }
            let progress = newton.iterate(interval, x, record);
            if let Ok(Progress::Converged) = progress {
                // As far as this pull goes: pull harder, by first-order multipliers and a stiffer spring.
                pull.update_multipliers(x);
                pull.stiffness *= 2.0;
                updates += 1;
                begun = false;
            }
            self.pull = pull;
            progress?;
            record.blocked_motion_iterations += 1;
            if self.try_arrive(x, record)? {
                return Ok(());
            }
            if updates == MULTIPLIER_UPDATES {
                break;
            }
        }
        Err(self.blocked(x, &mut record.seconds))
    }

    /// Stiff beside everything that the pulled vertices may push: the largest mass on the scale of the step, and contact.
    fn pull_stiffness(&self, dt: f64) -> f64 {
        let mass = self.model.world.bodies.iter().flat_map(|b| &b.mass).fold(0.0, |a, m| m.max(a));
        let contact = self.model.contact.map_or(0.0, |c| c.parameters.stiffness);
        100.0 * (mass / (dt * dt)).max(contact).max(f64::MIN_POSITIVE)
    }

    fn blocked(&mut self, x: &[DVec3], times: &mut Times) -> Failure {
        let (remaining, k) = self.pull.remaining(x);
        let pair = self.collision.as_mut().and_then(|collision| {
            let smallest = collision.rows_anywhere(x, times).ok().flatten()?;
            Some(collision.report(smallest))
        });
        let who = self.model.world.describe(self.pull.vertices[k]);
        Failure::Blocked { who, remaining, pair }
    }

    /// Newton with the kinematic vertices fixed.
    fn minimise(
        &mut self,
        interval: &Interval<'_>,
        x: &mut Vec<DVec3>,
        record: &mut StepRecord,
    ) -> Result<(), Failure> {
        let (most, accept) = (self.settings.max_iterations, self.settings.accept_exhausted);
        let mut newton = self.newton(false, None);
        newton.begin(interval, x, record)?;
        for _ in 0..most {
            if newton.iterate(interval, x, record)? == Progress::Converged {
                record.energies = newton.energies();
                return Ok(());
            }
        }
        if accept {
            record.energies = newton.energies();
            return Ok(());
        }
        Err(Failure::Iterations {
            iterations: most,
            direction: record.directions.last().copied().unwrap_or(f64::NAN),
            tolerance: interval.tolerance,
        })
    }

    fn newton<'s>(&'s mut self, moving: bool, pull: Option<&'s Pull>) -> Newton<'s> {
        let (system, linear) = if moving {
            let system = self.moving.as_mut().expect("made before it is used");
            (system, &mut self.linear_moving)
        } else {
            (&mut self.system, &mut self.linear)
        };
        Newton {
            terms: &mut self.model.terms,
            collision: self.collision.as_mut(),
            system,
            linear,
            backend: self.backend.as_mut(),
            settings: &self.settings,
            pull,
            buffers: &mut self.buffers,
        }
    }

    /// Last check of accepted positions, after rounding: finite, every gap positive.
    fn accept(&mut self, x: &[DVec3], record: &mut StepRecord) -> Result<(), Failure> {
        if let Some(v) = x.iter().position(|p| !p.is_finite()) {
            return Err(Failure::Position(self.model.world.describe(v as u32)));
        }
        if let Some(collision) = &mut self.collision {
            let smallest = collision.rows_anywhere(x, &mut record.seconds)?;
            if let Some(lost) = collision.lost(smallest) {
                return Err(lost);
            }
            record.smallest_gap = smallest.map(|gap| collision.report(gap));
            record.active = collision.contacts.rows.len() + collision.contacts.slabs.len();
            record.candidates = collision.candidate_count();
        }
        Ok(())
    }

    fn closest(&mut self, x: &[DVec3]) -> Option<PairReport> {
        let collision = self.collision.as_mut()?;
        let smallest = collision.rows_anywhere(x, &mut Times::default()).ok().flatten()?;
        Some(collision.report(smallest))
    }
}

/// Part of a step: `part` of `parts` equal ones, from time `from`. Whole numbers, so that two halves end exactly where
/// the whole does.
#[derive(Clone, Copy)]
struct Span {
    from: f64,
    parts: u32,
    part: u32,
    dt: f64,
}

impl Span {
    fn length(self) -> f64 {
        self.dt / f64::from(self.parts)
    }

    fn end(self) -> f64 {
        self.from + self.dt * (f64::from(self.part + 1) / f64::from(self.parts))
    }

    fn halves(self) -> [Self; 2] {
        let half = Self { parts: 2 * self.parts, part: 2 * self.part, ..self };
        [half, Self { part: half.part + 1, ..half }]
    }
}
