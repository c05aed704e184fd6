//! The global linear system: a block-sparse pattern, assembly in a fixed order, and the solvers.
//!
//! A [`System`] holds the gradient and the lower triangle of the Hessian over all *free* vertices; fixed ones have no
//! row at all, which is the same as a unit diagonal with a zero right-hand side. A [`Backend`] evaluates terms and fills
//! it; [`LinearSolver`] solves it.

mod assembly;
mod backend;
mod cholesky;
mod dense;
mod dissection;
mod pattern;
mod pcg;
mod solver;
mod sum;

pub use assembly::{AssemblyError, System};
pub use backend::{Backend, BackendReport, CpuBackend, LinearChoice};
pub use cholesky::SparseCholesky;
pub use dense::DenseCholesky;
pub use pattern::{FIXED, Pattern};
pub use pcg::ConjugateGradients;
pub use solver::{LinearSolver, Method, Solution, SolveError};
pub use sum::Compensated;
