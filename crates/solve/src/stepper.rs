//! What every solver offers to those who run it.

use crate::model::{Model, State};
use crate::record::{StepError, StepRecord};
use crate::solver::Solver;
use crate::start::StartError;
use glam::DVec3;

/// Makes time steps of a model: the global Newton solver, or block descent.
pub trait Stepper {
    /// The model.
    fn model(&self) -> &Model;

    /// Checks a start before the first step.
    fn check_start(&mut self, state: &State) -> Result<(), StartError>;

    /// Makes one step from `state` into `out`, which is written only on success.
    fn step(&mut self, state: &State, out: &mut State) -> Result<StepRecord, StepError>;

    /// The linear solver in one line, and why it is this one; absent where there is none.
    fn linear(&self) -> Option<String> {
        None
    }

    /// Contact force on each vertex (N) at the end of the step from `before` to `after`, which is the last one made, where
    /// this solver has contact of its own; `None` where the terms of the model have it.
    fn contact_forces(&self, before: &State, after: &State) -> Option<Vec<DVec3>> {
        let _ = (before, after);
        None
    }

    /// What the next step depends on beside the state, for checkpoints; nothing where a step depends on the state alone.
    fn memory(&self) -> Vec<u8> {
        Vec::new()
    }

    /// Takes back what [`Stepper::memory`] gave.
    ///
    /// # Errors
    /// In words, where the bytes are not what this solver wrote.
    fn recall(&mut self, memory: &[u8]) -> Result<(), String> {
        if memory.is_empty() { Ok(()) } else { Err("it belongs to another solver".to_owned()) }
    }
}

impl Stepper for Solver {
    fn model(&self) -> &Model {
        Self::model(self)
    }

    fn check_start(&mut self, state: &State) -> Result<(), StartError> {
        Self::check_start(self, state)
    }

    fn linear(&self) -> Option<String> {
        let choice = self.linear_choice();
        Some(format!("{} ({})", choice.name, choice.why))
    }

    fn step(&mut self, state: &State, out: &mut State) -> Result<StepRecord, StepError> {
        Self::step(self, state, out)
    }
}
