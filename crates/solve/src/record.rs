//! The step certificate: why a step took what it took.

use gusset_system::{AssemblyError, SolveError};
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Duration;
use thiserror::Error;

/// Seconds spent by stage.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Times {
    /// Broad phase.
    pub candidates: f64,
    /// Closest features of candidates.
    pub distances: f64,
    /// Gradients, Hessians and the global system.
    pub assembly: f64,
    /// Ordering, symbolic and numeric factorisation.
    pub factorisation: f64,
    /// Triangular solves, or all of an iterative solve.
    pub solve: f64,
    /// Step bounds.
    pub step_bound: f64,
    /// Energies of trial positions.
    pub line_search: f64,
    /// The whole step.
    pub total: f64,
}

impl Times {
    /// Adds another step's times.
    pub fn add(&mut self, other: &Self) {
        self.candidates += other.candidates;
        self.distances += other.distances;
        self.assembly += other.assembly;
        self.factorisation += other.factorisation;
        self.solve += other.solve;
        self.step_bound += other.step_bound;
        self.line_search += other.line_search;
        self.total += other.total;
    }
}

pub(crate) fn add(to: &mut f64, time: Duration) {
    *to += time.as_secs_f64();
}

/// Who did what in a step: "cpu", or "vulkan" and the device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RanOn {
    /// Gradients, Hessians and energies.
    pub terms: String,
    /// Candidates, closest features and step bounds; absent without contact.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contact: Option<String>,
    /// The linear solver, and whose; absent for block descent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub linear: Option<String>,
}

/// A pair in words, with its gap.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PairReport {
    /// Both primitives and their objects: "`cloth` vertex 12 and `ball` triangle 7".
    pub pair: String,
    /// Gap (m).
    pub gap: f64,
}

impl std::fmt::Display for PairReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} (gap {:.4e} m)", self.pair, self.gap)
    }
}

/// What one step did.
#[derive(Clone, Debug, Default, Serialize)]
pub struct StepRecord {
    /// Number of the step, from 1.
    pub step: u64,
    /// Time at its end (s).
    pub time: f64,
    /// Iterations of accepted attempts: of Newton's method, or sweeps of block descent.
    pub iterations: u32,
    /// Iterations of attempts that were discarded.
    pub wasted_iterations: u32,
    /// Attempts that failed.
    pub retries: u32,
    /// Deepest subdivision used; 0 when the step went through whole.
    pub depth: u32,
    /// Exact Hessians that were indefinite, so that the projected ones took their place.
    pub indefinite: u32,
    /// Halvings of all line searches.
    pub halvings: u32,
    /// Extensions of all line searches, where the energy bends downwards.
    pub extensions: u32,
    /// Step bound of each iteration.
    pub step_bounds: Vec<f64>,
    /// Largest component of the direction, each iteration (m).
    pub directions: Vec<f64>,
    /// Largest component of the gradient at the last iteration (N).
    pub gradient: f64,
    /// Largest relative residual of the linear solves.
    pub linear_residual: f64,
    /// Candidate pairs at the end.
    pub candidates: usize,
    /// Rows closer than `dhat` at the end.
    pub active: usize,
    /// The smallest gap among them and who has it; nothing closer than `dhat`: absent.
    pub smallest_gap: Option<PairReport>,
    /// Energy of each term at the end: label and J.
    pub energies: Vec<(String, f64)>,
    /// Iterations that moved kinematic vertices which contact blocked.
    pub blocked_motion_iterations: u32,
    /// Why attempts failed, in order.
    pub failures: Vec<String>,
    /// What block descent adds; absent for Newton's method.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub descent: Option<Box<DescentRecord>>,
    /// Who did what.
    pub ran_on: RanOn,
    /// Time spent.
    pub seconds: Times,
    /// Seconds on the device, by kernel; empty on the CPU.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub kernels: BTreeMap<String, f64>,
    /// What else a reader should know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// What a step of block descent did, beside what every step does.
#[derive(Clone, Debug, Default, Serialize)]
pub struct DescentRecord {
    /// Largest force on a vertex when its turn came, each iteration (N).
    pub residuals: Vec<f64>,
    /// Vertices whose motion the budget cut short: at a search for pairs, or at the end of the step where motion within it is
    /// free.
    pub clipped: usize,
    /// Vertices whose motion a separating plane cut short.
    pub truncated: usize,
    /// Pairs that the last detection found within reach.
    pub rows: usize,
    /// Those of them that exert forces.
    pub acting: usize,
    /// Pairs that no plane separated at a detection; nothing holds these apart. 0 means full coverage.
    pub unseparated: usize,
    /// How far a vertex could go from a detection (m).
    pub budget: f64,
    /// Detections made.
    pub detections: u32,
    /// Rounds in which a trial position was committed as far as the planes allow.
    pub rounds: u32,
    /// Largest part of the trial motion that was not committed (m).
    pub uncommitted: f64,
}

/// Why one attempt at a step failed.
#[derive(Debug, Error)]
pub enum Failure {
    /// The line search found no decrease.
    #[error(
        "the line search found no decrease in {halvings} halvings (direction {direction:.3e} m)"
    )]
    LineSearch {
        /// Halvings tried.
        halvings: u32,
        /// Largest component of the direction (m).
        direction: f64,
    },
    /// Newton did not converge.
    #[error(
        "Newton did not converge in {iterations} iterations (direction {direction:.3e} m, tolerance {tolerance:.3e} m)"
    )]
    Iterations {
        /// Iterations made.
        iterations: u32,
        /// Largest component of the last direction (m).
        direction: f64,
        /// What it should be below (m).
        tolerance: f64,
    },
    /// A gap is not positive.
    #[error("a gap is lost: {0}")]
    GapLost(PairReport),
    /// Prescribed motion can't be completed.
    #[error(
        "the prescribed motion of {who} is blocked: {remaining:.3e} m of it are left{}",
        .pair.as_ref().map(|p| format!(", held by {p}")).unwrap_or_default()
    )]
    Blocked {
        /// The vertex that is farthest from its target.
        who: String,
        /// How far (m).
        remaining: f64,
        /// The pair that is closest.
        pair: Option<PairReport>,
    },
    /// A term is not finite.
    #[error(transparent)]
    NotFinite(AssemblyError),
    /// The linear system can't be solved.
    #[error(transparent)]
    Linear(SolveError),
    /// A device can't go on.
    #[error("{0}")]
    Device(String),
    /// A position is not finite.
    #[error("the position of {0} is not finite")]
    Position(String),
}

impl From<AssemblyError> for Failure {
    fn from(error: AssemblyError) -> Self {
        match error {
            AssemblyError::Device(why) => Self::Device(why),
            error @ AssemblyError::NotFinite { .. } => Self::NotFinite(error),
        }
    }
}

impl From<SolveError> for Failure {
    fn from(error: SolveError) -> Self {
        match error {
            SolveError::Device(why) => Self::Device(why),
            error => Self::Linear(error),
        }
    }
}

impl Failure {
    /// Whether shorter steps may help; the others are reported at once.
    pub(crate) fn may_retry(&self) -> bool {
        matches!(
            self,
            Self::LineSearch { .. }
                | Self::Iterations { .. }
                | Self::GapLost(_)
                | Self::Blocked { .. }
        )
    }
}

/// A step that could not be made; the state it started from is untouched.
#[derive(Debug, Error)]
#[error(
    "step {step}, from t = {from:.6} s to {time:.6} s, failed{}: {failure}{}",
    if *.retries > 0 { format!(" after {retries} retries down to 1/{} of the step", 1_u64 << .depth) } else { String::new() },
    .worst.as_ref().map(|w| format!("; closest pair: {w}")).unwrap_or_default()
)]
pub struct StepError {
    /// Number of the step, from 1.
    pub step: u64,
    /// Time it started from (s).
    pub from: f64,
    /// Time it would have reached (s).
    pub time: f64,
    /// Failed attempts before the last.
    pub retries: u32,
    /// Deepest subdivision tried.
    pub depth: u32,
    /// Why the last attempt failed.
    pub failure: Failure,
    /// The pair with the smallest gap at the start of the last attempt.
    pub worst: Option<Box<PairReport>>,
}
