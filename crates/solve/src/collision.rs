//! Contact as the solver uses it: candidates that cover the motion, rows, step bounds.

use crate::record::{Failure, PairReport, Times, add};
use glam::DVec3;
use gusset_contact::{
    Candidates, CollisionMesh, Detection, DetectionError, Pair, PairGap, QueryError, StepMethod,
    StepRule, Sweep,
};
use gusset_energy::{ContactParameters, Contacts};
use gusset_mesh::World;
use std::time::Instant;

pub use gusset_contact::StepMethod as StepBoundMethod;

/// Rows that are not active but may soon be: closer than this many `dhat`. Their blocks are in the pattern of the matrix,
/// so that it seldom has to grow within a step.
const NEAR: f64 = 1.25;

/// Candidate pairs per primitive above which a sweep counts as too long and is cut in half.
const CROWDED: usize = 200;

/// How contact works in a scene; lengths in m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactSettings {
    /// What contact terms read.
    pub parameters: ContactParameters,
    /// Distance that counts as touching for film and obstacle pairs.
    pub min_gap: f64,
    /// How far a vertex may move before candidates are looked for again.
    pub skin: f64,
    /// How far a step may go.
    pub step_bound: StepMethod,
    /// Share of a gap that one iteration may use up.
    pub slack: f64,
    /// Whether gaps must stay positive; a penalty lets particles into slabs.
    pub feasible: bool,
}

/// Candidates and rows of the positions at hand.
pub(crate) struct Collision {
    pub(crate) mesh: CollisionMesh,
    pub(crate) settings: ContactSettings,
    pub(crate) detection: Box<dyn Detection>,
    candidates: Candidates,
    pub(crate) contacts: Contacts,
    near: Contacts,
    rule: StepRule,
    limit: usize,
}

impl Collision {
    pub(crate) fn new(
        world: &World,
        settings: ContactSettings,
        detection: Box<dyn Detection>,
    ) -> Self {
        let mesh = CollisionMesh::from_world(world, settings.min_gap);
        let primitives =
            mesh.vertices.len() + mesh.edges.len() + mesh.triangles.len() + mesh.spheres.len();
        Self {
            detection,
            candidates: Candidates::new(&mesh),
            contacts: Contacts::default(),
            near: Contacts::default(),
            rule: StepRule {
                method: settings.step_bound,
                slack: settings.slack,
                slabs: settings.feasible,
                ..StepRule::default()
            },
            limit: CROWDED * primitives.max(1000),
            mesh,
            settings,
        }
    }

    /// Forgets the candidates. A step begins with this, so that nothing in it depends on the steps before: a list that
    /// happens to cover a sweep could spare it the cut that a fresh search would make.
    pub(crate) fn forget(&mut self) {
        self.candidates.forget();
    }

    fn reach(&self) -> f64 {
        NEAR * self.settings.parameters.dhat
    }

    /// Makes the candidates cover the way from `x` along `dx`. Returns the fraction of `dx` that they do cover: less than
    /// 1 where the whole sweep would meet too many pairs.
    fn cover(&mut self, x: &[DVec3], dx: &[DVec3], times: &mut Times) -> Result<f64, Failure> {
        let begin = Instant::now();
        let mut fraction = 1.0;
        let mut end: Vec<DVec3> = x.iter().zip(dx).map(|(x, d)| *x + *d).collect();
        let mut limit = self.limit;
        while !self.candidates.covers(x, &end) {
            match self.query(x, &end, limit) {
                Ok(()) => {}
                Err(DetectionError::Query(QueryError::TooMany { .. })) if fraction > 1e-3 => {
                    fraction *= 0.5;
                    for ((end, x), d) in end.iter_mut().zip(x).zip(dx) {
                        *end = *x + *d * fraction;
                    }
                }
                // Not the sweep but the scene is crowded: there is no limit to what is there.
                Err(DetectionError::Query(QueryError::TooMany { .. })) => limit = usize::MAX,
                Err(error) => return Err(failure(&self.mesh, error)),
            }
        }
        add(&mut times.candidates, begin.elapsed());
        Ok(fraction)
    }

    fn query(&mut self, x: &[DVec3], x_end: &[DVec3], limit: usize) -> Result<(), DetectionError> {
        let sweep = Sweep { x, x_end, skin: self.settings.skin, dhat: self.reach(), limit };
        self.detection.query(&self.mesh, &sweep, &mut self.candidates)
    }

    /// Finds the rows at `x`, which the candidates already cover on the way of a step, and returns the smallest gap.
    pub(crate) fn rows(
        &mut self,
        x: &[DVec3],
        times: &mut Times,
    ) -> Result<Option<PairGap>, Failure> {
        let begin = Instant::now();
        let dhat = self.settings.parameters.dhat;
        let (candidates, contacts) = (&self.candidates, &mut self.contacts);
        let smallest = self
            .detection
            .rows(&self.mesh, candidates, x, dhat, contacts)
            .map_err(|error| failure(&self.mesh, error))?;
        // Those of slabs count as well. A gap that is no number counts as smallest.
        let slabs = self.contacts.slabs.iter();
        let slabs = slabs.map(|row| PairGap { gap: row.gap, pair: row.into() });
        let smallest = slabs.fold(smallest, |least, gap| match least {
            Some(least) if least.gap <= gap.gap => Some(least),
            _ => Some(gap),
        });
        add(&mut times.distances, begin.elapsed());
        Ok(smallest)
    }

    /// Finds the rows at `x`, wherever that is.
    pub(crate) fn rows_anywhere(
        &mut self,
        x: &[DVec3],
        times: &mut Times,
    ) -> Result<Option<PairGap>, Failure> {
        let begin = Instant::now();
        if !self.candidates.covers(x, x) {
            // What is there has no limit; only sweeps have one.
            self.query(x, x, usize::MAX).map_err(|error| failure(&self.mesh, error))?;
        }
        add(&mut times.candidates, begin.elapsed());
        self.rows(x, times)
    }

    /// Stencils that act at `x` or may soon.
    pub(crate) fn near(&mut self, x: &[DVec3]) -> Result<Vec<[u32; 4]>, Failure> {
        let (reach, near) = (self.reach(), &mut self.near);
        self.detection
            .rows(&self.mesh, &self.candidates, x, reach, near)
            .map_err(|error| failure(&self.mesh, error))?;
        Ok(self.near.rows.iter().map(|row| row.vertices).collect())
    }

    /// Largest fraction of `dx` that keeps every gap positive, with candidates that cover it.
    pub(crate) fn bound(
        &mut self,
        x: &[DVec3],
        dx: &[DVec3],
        times: &mut Times,
    ) -> Result<(f64, Option<Pair>), Failure> {
        let covered = self.cover(x, dx, times)?;
        let begin = Instant::now();
        let part: Vec<DVec3>;
        let mut way = dx;
        if covered < 1.0 {
            part = dx.iter().map(|d| *d * covered).collect();
            way = &part;
        }
        let bound = self
            .detection
            .step_bound(&self.mesh, &self.candidates, x, way, &self.rule)
            .map_err(|error| failure(&self.mesh, error))?;
        add(&mut times.step_bound, begin.elapsed());
        Ok((if covered < 1.0 { bound.alpha * covered } else { bound.alpha }, bound.limiting))
    }

    pub(crate) fn candidate_count(&self) -> usize {
        self.candidates.len()
    }

    pub(crate) fn report(&self, gap: PairGap) -> PairReport {
        PairReport { pair: self.mesh.describe(gap.pair), gap: gap.gap }
    }

    /// The smallest gap that must be positive and is not.
    #[allow(clippy::neg_cmp_op_on_partial_ord, reason = "a gap that is no number is lost as well")]
    pub(crate) fn lost(&self, smallest: Option<PairGap>) -> Option<Failure> {
        let gap = smallest.filter(|g| self.settings.feasible && !(g.gap > 0.0))?;
        Some(Failure::GapLost(self.report(gap)))
    }
}

fn failure(mesh: &CollisionMesh, error: DetectionError) -> Failure {
    match error {
        DetectionError::Query(QueryError::NotFinite { vertex }) => {
            Failure::Position(mesh.describe_vertex(vertex))
        }
        DetectionError::Query(QueryError::TooMany { limit }) => {
            unreachable!("more than {limit} pairs, without a limit")
        }
        DetectionError::Device(why) => Failure::Device(why),
    }
}
