//! A time step by vertex block descent.

use crate::colouring::Colouring;
use crate::detection::{Detection, Detector, Need};
use crate::law::Law;
use crate::local::{Largest, Sweep};
use crate::memory::Memory;
use crate::settings::{Method, Settings, Start};
use crate::start;
use crate::truncation::{Cuts, Truncation};
use crate::{alm, penalty, reaction};
use glam::DVec3;
use gusset_contact::{CollisionMesh, IntersectionCheck, QueryError, intersections};
use gusset_energy::{Contacts, StepState, Term};
use gusset_mesh::Mobility;
use gusset_solve::{
    DescentRecord, Failure, Model, PairReport, RanOn, StartError, State, StepError, StepRecord,
    Stepper, Times,
};
use std::time::Instant;

/// Steps a model by descent of one vertex after another: those of one colour at a time, each to the minimum of what acts on
/// it.
pub struct Descent {
    model: Model,
    settings: Settings,
    /// kg; 0 for what is not free.
    mass: Vec<f64>,
    /// Smallest rest edge that may move (m).
    shortest_edge: f64,
    colouring: Colouring,
    kinematic: Vec<u32>,
    all: Vec<u32>,
    contact: Option<ContactParts>,
    sweep: Sweep,
    scratch: Vec<DVec3>,
    memory: Memory,
}

/// What only contact needs.
struct ContactParts {
    detector: Detector,
    detection: Detection,
    truncation: Truncation,
    cuts: Cuts,
}

/// Why a step can't be made.
pub(crate) enum Trouble {
    /// A position is infinite or no number.
    NotFinite(u32),
}

impl From<QueryError> for Trouble {
    fn from(error: QueryError) -> Self {
        match error {
            QueryError::NotFinite { vertex } => Self::NotFinite(vertex),
            QueryError::TooMany { limit } => {
                unreachable!("more than {limit} pairs, without a limit")
            }
        }
    }
}

/// What a step works with; apart from `self`, so that a colour can be read while buffers are written.
pub(crate) struct Parts<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) law: Law,
    pub(crate) terms: &'a [Box<dyn Term>],
    pub(crate) colouring: &'a Colouring,
    pub(crate) kinematic: &'a [u32],
    pub(crate) all: &'a [u32],
    pub(crate) mass: &'a [f64],
    pub(crate) shortest_edge: f64,
    pub(crate) detector: Option<&'a mut Detector>,
    pub(crate) detection: &'a mut Detection,
    pub(crate) truncation: &'a mut Truncation,
    pub(crate) cuts: &'a mut Cuts,
    pub(crate) sweep: &'a mut Sweep,
    pub(crate) scratch: &'a mut Vec<DVec3>,
    pub(crate) record: DescentRecord,
    pub(crate) directions: Vec<f64>,
    pub(crate) seconds: Times,
}

impl Parts<'_> {
    /// Finds pairs at `x`.
    pub(crate) fn detect(
        &mut self,
        x: &[DVec3],
        toward: &[DVec3],
        reach: f64,
    ) -> Result<(), Trouble> {
        self.detect_for(x, toward, reach, Need::everything(reach))
    }

    /// Finds pairs at `x`, for now those that are needed.
    pub(crate) fn detect_for(
        &mut self,
        x: &[DVec3],
        toward: &[DVec3],
        reach: f64,
        need: Need,
    ) -> Result<(), Trouble> {
        let begin = Instant::now();
        let Some(detector) = &mut self.detector else { return Ok(()) };
        detector.detect_for(x, toward, reach, need, self.detection)?;
        self.record.detections += 1;
        self.record.unseparated += self.detection.unseparated;
        self.seconds.candidates += begin.elapsed().as_secs_f64();
        Ok(())
    }

    /// Truncates the displacements since the last detection, after those of one colour or of all have changed.
    /// Says whether others have been cut too.
    pub(crate) fn truncate(
        &mut self,
        budget: f64,
        colour: Option<usize>,
        u: &mut [DVec3],
    ) -> Result<bool, Trouble> {
        let changed = colour.map_or(self.all, |colour| &self.colouring.colours[colour]);
        self.complete(changed, u)?;
        let begin = Instant::now();
        let relaxation = self.settings.contact.relaxation;
        let cut =
            self.truncation.truncate(self.detection, relaxation, budget, changed, u, self.cuts);
        self.seconds.step_bound += begin.elapsed().as_secs_f64();
        Ok(cut)
    }

    /// Lists all pairs where one of the vertices `changed` has gone further than those listed allow.
    fn complete(&mut self, changed: &[u32], u: &[DVec3]) -> Result<(), Trouble> {
        let way = self.detection.way;
        let beyond = |v: &u32| u[*v as usize].length_squared() > way * way;
        if way.is_finite()
            && changed.iter().any(beyond)
            && let Some(detector) = &mut self.detector
        {
            let begin = Instant::now();
            detector.complete(self.detection)?;
            self.seconds.candidates += begin.elapsed().as_secs_f64();
        }
        Ok(())
    }

    /// Moves kinematic vertices as far towards their targets `y` as planes and budget allow.
    pub(crate) fn follow_timeline(
        &mut self,
        u: &mut [DVec3],
        x: &mut [DVec3],
        y: &[DVec3],
        budget: f64,
    ) -> Result<Largest, Trouble> {
        if self.kinematic.is_empty() {
            return Ok(Largest::default());
        }
        for &v in self.kinematic {
            u[v as usize] = y[v as usize] - self.detection.reference[v as usize];
        }
        self.complete(self.kinematic, u)?;
        let relaxation = self.settings.contact.relaxation;
        self.truncation.truncate(self.detection, relaxation, budget, self.kinematic, u, self.cuts);
        let before = self.kinematic.iter().map(|&v| x[v as usize]).collect::<Vec<_>>();
        self.put(u, x);
        let moved = self.kinematic.iter().zip(before).map(|(&v, x_before)| {
            let step = (x[v as usize] - x_before).abs().max_element();
            Largest { force: 0.0, step }
        });
        Ok(moved.fold(Largest::default(), Largest::max))
    }

    /// Positions from the displacements since the last detection.
    pub(crate) fn put(&self, u: &[DVec3], x: &mut [DVec3]) {
        for ((x, reference), u) in x.iter_mut().zip(&self.detection.reference).zip(u) {
            *x = *reference + *u;
        }
    }

    /// Notes an iteration; says whether it was the last.
    pub(crate) fn iterated(&mut self, largest: Largest) -> bool {
        self.record.residuals.push(largest.force);
        self.directions.push(largest.step);
        largest.step <= self.settings.tolerance
    }
}

impl Descent {
    /// Prepares a model for stepping.
    pub fn new(model: Model, settings: Settings) -> Self {
        let mobility: Vec<Mobility> = model.world.gather(|b| &b.mobility);
        let free: Vec<bool> = mobility.iter().map(|m| *m == Mobility::Free).collect();
        let mut mass: Vec<f64> = model.world.gather(|b| &b.mass);
        for (mass, free) in mass.iter_mut().zip(&free) {
            *mass = if *free { *mass } else { 0.0 };
        }
        let start = model.world.gather(|b| &b.start);
        let low = start.iter().copied().fold(DVec3::INFINITY, DVec3::min);
        let high = start.iter().copied().fold(DVec3::NEG_INFINITY, DVec3::max);
        let extent = (high - low).max_element().max(f64::MIN_POSITIVE);
        let rule = settings.contact;
        let contact = model.contact.map(|contact| ContactParts {
            detector: Detector::new(
                CollisionMesh::from_world(&model.world, contact.min_gap),
                rule.rings,
                rule.filter_truncation,
                extent,
            ),
            detection: Detection::default(),
            truncation: Truncation::new(rule.slide),
            cuts: Cuts::default(),
        });
        Self {
            colouring: Colouring::new(&free, &model.terms),
            kinematic: model.prescribed.iter().flat_map(|p| p.vertices.clone()).collect(),
            all: (0..mobility.len() as u32)
                .filter(|&v| mobility[v as usize] != Mobility::Fixed)
                .collect(),
            shortest_edge: shortest_edge(&model),
            contact,
            sweep: Sweep::default(),
            scratch: Vec::new(),
            memory: Memory::default(),
            mass,
            model,
            settings,
        }
    }

    /// The colours that vertices are visited in.
    pub fn colouring(&self) -> &Colouring {
        &self.colouring
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    fn law(&self) -> Law {
        let contact = self.model.contact.map(|c| c.parameters);
        let get =
            |of: fn(&gusset_energy::ContactParameters) -> f64| contact.as_ref().map_or(0.0, of);
        Law {
            margin: get(|c| c.dhat),
            stiffness: get(|c| c.stiffness),
            damping: self.settings.contact.damping,
            friction: get(|c| c.friction),
            slip: get(|c| c.friction_speed) * self.settings.dt,
            dt: self.settings.dt,
        }
    }

    /// Where the sweeps begin, and where the timeline wants its vertices.
    fn target(&mut self, state: &State, t: f64) -> Vec<DVec3> {
        let dt = self.settings.dt;
        let at = StepState { x: &state.x, x_start: &state.x, v_start: &state.v, dt };
        let mut y = state.x.clone();
        start::inertial(&self.colouring, &self.model.terms, &at, &mut y);
        if self.settings.start == Start::Adaptive && self.memory.v_before.len() == y.len() {
            start::adapt(&at, &self.memory.v_before, &mut y);
        }
        // Elements may not like the whole way.
        let dx: Vec<DVec3> = y.iter().zip(&state.x).map(|(y, x)| *y - *x).collect();
        let fraction =
            self.model.terms.iter().map(|term| term.max_step(&state.x, &dx)).fold(1.0, f64::min);
        if fraction < 1.0 {
            for ((y, x), dx) in y.iter_mut().zip(&state.x).zip(&dx) {
                *y = *x + *dx * fraction;
            }
        }
        for motion in &self.model.prescribed {
            for (&v, start) in motion.vertices.iter().zip(&motion.start) {
                y[v as usize] = motion.path.at(t, *start);
            }
        }
        y
    }

    fn advance(&mut self, state: &State, record: &mut StepRecord) -> Result<Vec<DVec3>, Trouble> {
        let y = self.target(state, record.time);
        let law = self.law();
        let (mut none, mut no_truncation, mut no_cuts) =
            (Detection::default(), Truncation::default(), Cuts::default());
        let contact = self.contact.as_mut();
        let (detector, detection, truncation, cuts) = match contact {
            Some(c) => (Some(&mut c.detector), &mut c.detection, &mut c.truncation, &mut c.cuts),
            None => (None, &mut none, &mut no_truncation, &mut no_cuts),
        };
        cuts.clear(state.x.len());
        let touching = detector.is_some();
        let mut parts = Parts {
            settings: &self.settings,
            law,
            terms: &self.model.terms,
            colouring: &self.colouring,
            kinematic: &self.kinematic,
            all: &self.all,
            mass: &self.mass,
            shortest_edge: self.shortest_edge,
            detector,
            detection,
            truncation,
            cuts,
            sweep: &mut self.sweep,
            scratch: &mut self.scratch,
            record: DescentRecord::default(),
            directions: Vec::new(),
            seconds: Times::default(),
        };
        let mut x = state.x.clone();
        let rule = self.settings.contact;
        if touching {
            match rule.method {
                Method::Penalty { schedule } => {
                    penalty::step(&mut parts, &rule, schedule, &state.x, &state.v, &y, &mut x)?;
                }
                Method::Alm(alm) => {
                    let memory = &mut self.memory.multipliers;
                    alm::step(&mut parts, &rule, &alm, memory, &state.x, &state.v, &y, &mut x)?;
                }
            }
        } else {
            penalty::free_step(&mut parts, &state.x, &state.v, &y, &mut x);
        }
        parts.record.rows =
            parts.detection.contacts.rows.len() + parts.detection.contacts.slabs.len();
        parts.record.acting = parts.detection.acts.iter().filter(|acts| **acts).count()
            + parts.detection.contacts.slabs.len();
        parts.record.clipped = parts.cuts.clipped.iter().filter(|c| **c).count();
        parts.record.truncated = parts.cuts.truncated.iter().filter(|c| **c).count();
        record.iterations = parts.directions.len() as u32;
        record.gradient = parts.record.residuals.last().copied().unwrap_or(0.0);
        record.directions = parts.directions;
        record.candidates = parts.record.rows;
        record.active = parts.record.acting;
        record.seconds = parts.seconds;
        record.descent = Some(Box::new(parts.record));
        if let Some(v) = x.iter().position(|x| !x.is_finite()) {
            return Err(Trouble::NotFinite(v as u32));
        }
        Ok(x)
    }
}

/// Smallest rest edge of what may move (m); infinite where there is none.
fn shortest_edge(model: &Model) -> f64 {
    let mut shortest = f64::INFINITY;
    for body in &model.world.bodies {
        for [a, b] in body.topology.edges.iter().map(|e| e.map(|v| v as usize)) {
            if body.mobility[a] == Mobility::Free || body.mobility[b] == Mobility::Free {
                shortest = shortest.min(body.rest[a].distance(body.rest[b]));
            }
        }
    }
    shortest
}

impl Stepper for Descent {
    fn model(&self) -> &Model {
        &self.model
    }

    fn check_start(&mut self, state: &State) -> Result<(), StartError> {
        let world = &self.model.world;
        for (what, values) in [("position", &state.x), ("velocity", &state.v)] {
            if let Some(v) = values.iter().position(|value| !value.is_finite()) {
                let who = world.describe(v as u32);
                return Err(StartError::NotFinite(format!("the {what} of {who} is not finite")));
            }
        }
        let Some(contact) = &mut self.contact else { return Ok(()) };
        let mesh = &contact.detector.mesh;
        let report = intersections(mesh, &state.x, &IntersectionCheck::default());
        if !report.pairs.is_empty() {
            let pairs = report.pairs.iter().map(|p| mesh.describe(*p)).collect();
            return Err(StartError::Intersecting { pairs });
        }
        let reach = self.model.contact.map_or(0.0, |c| c.parameters.dhat);
        let found = contact.detector.detect(&state.x, &state.x, reach, &mut contact.detection);
        found.map_err(|e| StartError::NotFinite(e.to_string()))?;
        match smallest(&contact.detector.mesh, &contact.detection.contacts) {
            Some(report) if report.gap <= 0.0 => Err(StartError::Gap(report)),
            _ => Ok(()),
        }
    }

    fn step(&mut self, state: &State, out: &mut State) -> Result<StepRecord, StepError> {
        let begin = Instant::now();
        let dt = self.settings.dt;
        let from = state.step as f64 * dt;
        let mut record = StepRecord {
            step: state.step + 1,
            time: (state.step + 1) as f64 * dt,
            ran_on: RanOn {
                terms: "cpu".to_owned(),
                contact: Some("cpu".to_owned()),
                linear: None,
            },
            ..StepRecord::default()
        };
        for term in &mut self.model.terms {
            term.at_time(record.time);
            term.begin(&StepState { x: &state.x, x_start: &state.x, v_start: &state.v, dt });
        }
        let remembered = self.memory.clone();
        let x = self.advance(state, &mut record).map_err(|trouble| {
            self.memory = remembered;
            let Trouble::NotFinite(vertex) = trouble;
            StepError {
                step: record.step,
                from,
                time: record.time,
                retries: 0,
                depth: 0,
                failure: Failure::Position(self.model.world.describe(vertex)),
                worst: None,
            }
        })?;
        if let Some(contact) = &self.contact {
            record.smallest_gap = smallest(&contact.detector.mesh, &contact.detection.contacts);
        }
        if self.settings.record_energies {
            let at = StepState { x: &x, x_start: &state.x, v_start: &state.v, dt };
            let mut each = Vec::new();
            for term in &self.model.terms {
                term.energy(&at, &mut each);
                record.energies.push((term.label().to_owned(), each.iter().sum()));
            }
        }
        let v = x.iter().zip(&state.x).map(|(new, old)| (*new - *old) / dt).collect();
        if self.settings.start == Start::Adaptive {
            self.memory.v_before.clone_from(&state.v);
        }
        record.seconds.total = begin.elapsed().as_secs_f64();
        *out = State { x, v, step: state.step + 1 };
        Ok(record)
    }

    fn contact_forces(&self, before: &State, after: &State) -> Option<Vec<DVec3>> {
        let Some(contact) = &self.contact else { return Some(vec![DVec3::ZERO; after.x.len()]) };
        let dt = self.settings.dt;
        let at = StepState { x: &after.x, x_start: &before.x, v_start: &before.v, dt };
        let (detection, law) = (&contact.detection, self.law());
        if detection.reference.len() != after.x.len() {
            return None;
        }
        Some(match self.settings.contact.method {
            Method::Penalty { .. } => reaction::of_penalties(detection, &law, &at),
            Method::Alm(_) => {
                reaction::of_multipliers(detection, &law, &self.memory.multipliers, &at)
            }
        })
    }

    fn memory(&self) -> Vec<u8> {
        self.memory.to_bytes()
    }

    fn recall(&mut self, memory: &[u8]) -> Result<(), String> {
        self.memory = Memory::from_bytes(memory, self.mass.len())?;
        Ok(())
    }
}

/// The row with the smallest gap.
fn smallest(mesh: &CollisionMesh, contacts: &Contacts) -> Option<PairReport> {
    let rows = contacts.rows.iter().map(|row| (row.gap, gusset_contact::Pair::from(row)));
    let slabs = contacts.slabs.iter().map(|row| (row.gap, gusset_contact::Pair::from(row)));
    let least = rows.chain(slabs).min_by(|a, b| a.0.total_cmp(&b.0));
    least.map(|(gap, pair)| PairReport { pair: mesh.describe(pair), gap })
}
