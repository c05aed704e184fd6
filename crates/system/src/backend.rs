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

/// How linear systems are solved, and why so.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearChoice {
    /// How the CPU solves those that the backend leaves to it.
    pub on_cpu: Method,
    /// The solver in words: "sparse Cholesky on the CPU".
    pub name: String,
    /// Why it is this one.
    pub why: String,
}

/// Free vertices up to which the CPU's dense factorisation is as fast as the sparse one.
const DENSE_VERTICES: usize = 24;

impl LinearChoice {
    /// The CPU solves all systems of `free` vertices.
    pub fn on_cpu(wanted: Method, free: usize) -> Self {
        let (on_cpu, why) = match wanted {
            Method::Auto if free <= DENSE_VERTICES => (Method::Dense, "auto: a small system"),
            Method::Auto => (Method::Cholesky, "auto"),
            other => (other, "as asked for"),
        };
        let name = match on_cpu {
            Method::Dense => "dense Cholesky on the CPU",
            Method::Pcg { .. } => "conjugate gradients on the CPU",
            Method::Cholesky | Method::Auto => "sparse Cholesky on the CPU",
        };
        Self { on_cpu, name: name.to_owned(), why: why.to_owned() }
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

    /// How the systems of `free` vertices will be solved, by whom and why; asked before anything else.
    fn use_method(&mut self, wanted: Method, free: usize) -> LinearChoice {
        LinearChoice::on_cpu(wanted, free)
    }

    /// Solves the system that was assembled last, as [`LinearSolver::solve`](crate::LinearSolver::solve) does; `None` where
    /// that is for the CPU to do.
    fn solve(
        &mut self,
        system: &mut System,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cpu_takes_the_dense_factor_for_a_handful_of_vertices() {
        let chosen = |wanted, free| LinearChoice::on_cpu(wanted, free).on_cpu;
        assert_eq!(chosen(Method::Auto, DENSE_VERTICES), Method::Dense);
        assert_eq!(chosen(Method::Auto, DENSE_VERTICES + 1), Method::Cholesky);
        assert_eq!(chosen(Method::Cholesky, 1), Method::Cholesky);
        let asked = LinearChoice::on_cpu(Method::Dense, 1000);
        assert_eq!(
            (asked.name.as_str(), asked.why.as_str()),
            ("dense Cholesky on the CPU", "as asked for")
        );
    }
}
