//! Who evaluates the terms.

use crate::assembly::{AssemblyError, System};
use crate::solver::{Method, Solution, SolveError};
use crate::sum::Compensated;
use gusset_energy::{StepState, Term, Want};
use std::collections::BTreeMap;

/// What a backend has to tell about a step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BackendReport {
    /// Seconds by kernel or kind of transfer.
    pub seconds: BTreeMap<String, f64>,
    /// Anything a reader should know: that the CPU has taken over, say.
    pub notes: Vec<String>,
}

impl BackendReport {
    /// Counts the times of some work.
    pub fn add_all(&mut self, times: impl IntoIterator<Item = (impl AsRef<str>, f64)>) {
        for (kernel, seconds) in times {
            self.add(kernel.as_ref(), seconds);
        }
    }

    /// Counts some time to a kernel.
    pub fn add(&mut self, kernel: &str, seconds: f64) {
        match self.seconds.get_mut(kernel) {
            Some(sum) => *sum += seconds,
            None => {
                self.seconds.insert(kernel.to_owned(), seconds);
            }
        }
    }
}

/// Evaluates terms: the CPU here, a GPU elsewhere.
pub trait Backend: Send {
    /// For the step record and messages.
    fn name(&self) -> String;

    /// Fills the system at `at`; see [`System::assemble`] for `near`.
    fn assemble(
        &mut self,
        terms: &[Box<dyn Term>],
        at: &StepState<'_>,
        want: Want,
        near: &mut dyn FnMut() -> Vec<[u32; 4]>,
        system: &mut System,
    ) -> Result<(), AssemblyError>;

    /// Energy of each term (J).
    fn energies(
        &mut self,
        terms: &[Box<dyn Term>],
        at: &StepState<'_>,
        out: &mut Vec<Compensated>,
    ) -> Result<(), AssemblyError>;

    /// How systems will be solved; told once, before anything else.
    fn use_method(&mut self, method: Method) {
        let _ = method;
    }

    /// Solves the system that was assembled last, as [`LinearSolver::solve`](crate::LinearSolver::solve) does; `None` where
    /// that is for the CPU to do.
    fn solve(
        &mut self,
        system: &System,
        direction: &mut Vec<f64>,
    ) -> Option<Result<Solution, SolveError>> {
        let _ = (system, direction);
        None
    }

    /// What there is to tell since the last time it was asked.
    fn report(&mut self) -> BackendReport {
        BackendReport::default()
    }
}

/// Evaluates on the CPU, with every core; needs nothing installed.
#[derive(Debug, Default)]
pub struct CpuBackend {
    per_stencil: Vec<f64>,
}

impl Backend for CpuBackend {
    fn name(&self) -> String {
        format!("cpu ({} threads)", rayon::current_num_threads())
    }

    fn assemble(
        &mut self,
        terms: &[Box<dyn Term>],
        at: &StepState<'_>,
        want: Want,
        near: &mut dyn FnMut() -> Vec<[u32; 4]>,
        system: &mut System,
    ) -> Result<(), AssemblyError> {
        system.assemble(terms, at, want, near)
    }

    fn energies(
        &mut self,
        terms: &[Box<dyn Term>],
        at: &StepState<'_>,
        out: &mut Vec<Compensated>,
    ) -> Result<(), AssemblyError> {
        out.clear();
        for term in terms {
            term.energy(at, &mut self.per_stencil);
            out.push(Compensated::of(&self.per_stencil));
        }
        Ok(())
    }
}
