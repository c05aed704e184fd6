//! What is thrown at what.

use gusset_energy::BuildError;
use gusset_solve::{SolverError, StartError, StepError};
use thiserror::Error;

/// Most steps of a throw: what memory holds easily.
const MAX_STEPS: u32 = 10_000_000;

/// Time that a throw lasts when nobody says how many steps (s).
const DURATION: f64 = 0.8;

/// How the wall resists.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// `k p^2 / 2` for a ball that is `p` below the nearest face.
    Penalty {
        /// k (N/m).
        stiffness: f64,
    },
    /// `-kappa (d - dhat)^2 ln(d / dhat)` for a ball that is `d` in front of the wall.
    Barrier {
        /// kappa (N/m).
        stiffness: f64,
        /// Distance at which the barrier sets in (m).
        dhat: f64,
    },
}

/// The wall, an infinite slab.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wall {
    /// Where its front face is (m); the ball starts at 0.
    pub face: f64,
    /// From the front face to the back face (m).
    pub thickness: f64,
}

/// One throw.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Throw {
    /// How the wall resists.
    pub method: Method,
    /// Speed toward the wall (m/s).
    pub speed: f64,
    /// Length of a step (s).
    pub dt: f64,
    /// Mass of the ball (kg).
    pub mass: f64,
    /// The wall.
    pub wall: Wall,
    /// Steps after which the ball counts as stopped.
    pub steps: u32,
}

/// Why there is no result.
#[derive(Debug, Error)]
pub enum ThrowError {
    /// A number that describes no throw.
    #[error("`{option}` is {found}; {wanted}")]
    Input {
        /// The option of the command line.
        option: &'static str,
        /// Its value.
        found: f64,
        /// What would be right.
        wanted: String,
    },
    /// The energies can't be built.
    #[error("the energy `{kind}` can't be built: {error}")]
    Build {
        /// Kind of the energy.
        kind: &'static str,
        /// Why.
        error: BuildError,
    },
    /// The model can't be solved.
    #[error(transparent)]
    Solver(#[from] SolverError),
    /// The start is invalid.
    #[error(transparent)]
    Start(#[from] StartError),
    /// A step failed.
    #[error(transparent)]
    Step(#[from] StepError),
}

impl ThrowError {
    /// Whether another command line would mend it.
    pub fn is_input(&self) -> bool {
        matches!(self, Self::Input { .. })
    }
}

/// Steps of length `dt` (s) that cover 0.8 s.
pub fn steps_allowed(dt: f64) -> Result<u32, ThrowError> {
    positive("--h", dt, "s")?;
    let steps = (DURATION / dt).round();
    if steps > f64::from(MAX_STEPS) {
        return Err(ThrowError::Input {
            option: "--h",
            found: dt,
            wanted: format!(
                "0.8 s would take {steps:.3e} steps of it, and the most is {MAX_STEPS}: take a longer step or give `--steps`"
            ),
        });
    }
    Ok(steps.max(1.0) as u32)
}

impl Throw {
    /// Whether the numbers describe a throw.
    pub fn check(&self) -> Result<(), ThrowError> {
        positive("--v0", self.speed, "m/s")?;
        positive("--h", self.dt, "s")?;
        positive("--mass", self.mass, "kg")?;
        positive("--wall", self.wall.face, "m")?;
        positive("--thickness", self.wall.thickness, "m")?;
        match self.method {
            Method::Penalty { stiffness } => positive("--k", stiffness, "N/m")?,
            Method::Barrier { stiffness, dhat } => {
                positive("--kappa", stiffness, "N/m")?;
                positive("--dhat", dhat, "m")?;
            }
        }
        if self.steps == 0 || self.steps > MAX_STEPS {
            return Err(ThrowError::Input {
                option: "--steps",
                found: f64::from(self.steps),
                wanted: format!("it must be from 1 to {MAX_STEPS}"),
            });
        }
        Ok(())
    }

    /// Half the wall over the way of one free step: below 1, a penalty may let the ball through however stiff it is.
    pub fn penalty_margin(&self) -> f64 {
        0.5 * self.wall.thickness / (self.speed * self.dt)
    }
}

fn positive(option: &'static str, found: f64, unit: &str) -> Result<(), ThrowError> {
    if found > 0.0 && found.is_finite() {
        return Ok(());
    }
    let wanted = format!("it must be a positive number of {unit}");
    Err(ThrowError::Input { option, found, wanted })
}
