//! Who detects contact: the CPU here, a GPU elsewhere.

use glam::DVec3;
use gusset_energy::Contacts;
use thiserror::Error;

use crate::{
    Candidates, CollisionMesh, PairGap, QueryError, StepBound, StepRule, Sweep, step_bound,
};

/// Why contact can't be detected.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DetectionError {
    /// There are no candidates.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// The device that should have found it can't.
    #[error("{0}")]
    Device(String),
}

/// Detects contact: called once for all pairs, never for one.
///
/// One collision mesh is given to all calls. Whoever does it finds the same pairs in the same order, so that what is
/// computed from them has one order of summation.
pub trait Detection: Send {
    /// For the step record and messages.
    fn name(&self) -> String;

    /// Makes the candidates cover a sweep, as [`Candidates::query`] does.
    fn query(
        &mut self,
        mesh: &CollisionMesh,
        sweep: &Sweep<'_>,
        candidates: &mut Candidates,
    ) -> Result<(), DetectionError>;

    /// Active rows and the smallest gap among those of the mesh, as [`Candidates::rows`] gives them.
    fn rows(
        &mut self,
        mesh: &CollisionMesh,
        candidates: &Candidates,
        x: &[DVec3],
        dhat: f64,
        out: &mut Contacts,
    ) -> Result<Option<PairGap>, DetectionError>;

    /// How far all vertices may go, as [`step_bound`] has it.
    fn step_bound(
        &mut self,
        mesh: &CollisionMesh,
        candidates: &Candidates,
        x: &[DVec3],
        dx: &[DVec3],
        rule: &StepRule,
    ) -> Result<StepBound, DetectionError>;
}

/// Detects on the CPU, with every core.
#[derive(Clone, Copy, Debug, Default)]
pub struct CpuDetection;

impl Detection for CpuDetection {
    fn name(&self) -> String {
        "cpu".to_owned()
    }

    fn query(
        &mut self,
        mesh: &CollisionMesh,
        sweep: &Sweep<'_>,
        candidates: &mut Candidates,
    ) -> Result<(), DetectionError> {
        let Sweep { x, x_end, skin, dhat, limit } = *sweep;
        Ok(candidates.query(mesh, x, x_end, skin, dhat, limit)?)
    }

    fn rows(
        &mut self,
        mesh: &CollisionMesh,
        candidates: &Candidates,
        x: &[DVec3],
        dhat: f64,
        out: &mut Contacts,
    ) -> Result<Option<PairGap>, DetectionError> {
        Ok(candidates.rows(mesh, x, dhat, out))
    }

    fn step_bound(
        &mut self,
        mesh: &CollisionMesh,
        candidates: &Candidates,
        x: &[DVec3],
        dx: &[DVec3],
        rule: &StepRule,
    ) -> Result<StepBound, DetectionError> {
        Ok(step_bound(mesh, candidates, x, dx, rule))
    }
}
