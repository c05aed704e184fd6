//! Who evaluates the terms.

use crate::assembly::{AssemblyError, System};
use crate::sum::Compensated;
use gusset_energy::{StepState, Term, Want};

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
    fn energies(&mut self, terms: &[Box<dyn Term>], at: &StepState<'_>, out: &mut Vec<Compensated>);
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
    ) {
        out.clear();
        for term in terms {
            term.energy(at, &mut self.per_stencil);
            out.push(Compensated::of(&self.per_stencil));
        }
    }
}
