//! The solver that a scene asks for.

use crate::Scene;
use gusset_solve::{Backends, Model, Settings, Solver, SolverError, Stepper};
use gusset_vbd::Descent;

impl Scene {
    /// The solver that the scene asks for, with its model, on the CPU.
    pub fn into_stepper(self) -> Result<Box<dyn Stepper>, SolverError> {
        stepper(self.model, self.settings, self.descent)
    }
}

/// Block descent where a scene has settings for it, else the global Newton solver.
pub fn stepper(
    model: Model,
    settings: Settings,
    descent: Option<gusset_vbd::Settings>,
) -> Result<Box<dyn Stepper>, SolverError> {
    stepper_on(model, settings, descent, Backends::default())
}

/// The same, with the Newton solver on other backends than the CPU's; block descent runs on the CPU.
pub fn stepper_on(
    model: Model,
    settings: Settings,
    descent: Option<gusset_vbd::Settings>,
    backends: Backends,
) -> Result<Box<dyn Stepper>, SolverError> {
    match descent {
        Some(descent) => Ok(Box::new(Descent::new(model, descent))),
        None => Ok(Box::new(Solver::with_backends(model, settings, backends)?)),
    }
}
