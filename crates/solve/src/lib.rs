//! The time step: a global Newton solver over the sum of all terms, with contact kept out of reach of intersection.
//!
//! One step minimises the incremental potential (bag article, section 2; Li et al. 2020, *Incremental Potential Contact*)
//!
//! ```text
//! Phi(x) = sum_i m_i |x_i - y_i|^2 / (2 dt^2) + E_membrane + E_bending + E_barrier + E_friction + ...
//! ```
//!
//! [`Solver::step`] reads one [`State`] and writes another; on failure the other is untouched.

mod backends;
mod collision;
mod kinematic;
mod model;
mod newton;
mod record;
mod settings;
mod solver;
mod start;
mod stepper;

pub use backends::Backends;
pub use collision::{ContactSettings, StepBoundMethod};
pub use model::{Model, Prescribed, State};
pub use record::{DescentRecord, Failure, PairReport, RanOn, StepError, StepRecord, Times};
pub use settings::{Curvature, LineSearch, Settings, Storage};
pub use solver::{Solver, SolverError};
pub use start::StartError;
pub use stepper::Stepper;
