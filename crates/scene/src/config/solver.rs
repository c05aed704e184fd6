//! `[solver]`.

use crate::defaults;
use gusset_units::{Length, Time, Velocity};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How each step is solved. Every key has a default.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SolverConfig {
    /// Newton's method has converged once its correction moves no coordinate by more than this. dt times
    /// `tolerance_speed` where absent.
    pub(crate) tolerance: Option<Length>,
    /// The same as a speed, to be multiplied with dt; 1 mm/s where neither is given, which can't be seen.
    pub(crate) tolerance_speed: Option<Velocity>,
    /// Stretches of the task that have names, or tolerances of their own: [[solver.phase]].
    #[serde(default)]
    pub(crate) phase: Vec<Phase>,
    /// Most Newton iterations a step; 150 where absent (3 to 15 are usual).
    #[serde(default = "defaults::max_iterations")]
    pub(crate) max_iterations: u32,
    /// When a step along the direction is accepted: "armijo" (default: the energy falls by 1e-4 of what the slope
    /// promises) or "decrease" (it falls at all).
    #[serde(default)]
    pub(crate) line_search: LineSearchName,
    /// Which second derivatives give the direction: "adaptive" (default: near the solution the exact ones, which
    /// converge faster where a film is compressed) or "projected" (always the positive semi-definite ones, as in the
    /// bag article).
    #[serde(default)]
    pub(crate) curvature: CurvatureName,
    /// Most halvings of a step along the direction; 48 where absent, down to the last bit of a position.
    #[serde(default = "defaults::max_halvings")]
    pub(crate) max_halvings: u32,
    /// A step that fails is tried again as 2, 4, ... 2^n shorter ones; n is 7 where absent.
    #[serde(default = "defaults::subdivisions")]
    pub(crate) subdivisions: u32,
    /// How accepted positions are kept: "f64" (default) or "f32" (rounded, with every gap checked again; as in the
    /// bag article).
    #[serde(default)]
    pub(crate) storage: StorageName,
    /// Linear solver: "auto" (default: by size and backend, which the run says in one line), "cholesky" (sparse, on the CPU
    /// whoever assembles), "dense" or "pcg" (both where the terms are evaluated).
    #[serde(default)]
    pub(crate) linear: Linear,
    /// Relative residual at which "pcg" stops; 1e-8 where absent, exact enough not to cost Newton iterations.
    pub(crate) pcg_tolerance: Option<f64>,
    /// Most iterations of "pcg"; 2000 where absent.
    pub(crate) pcg_iterations: Option<u32>,
    /// Where terms are evaluated: "auto" (default), "cpu" or "vulkan".
    #[serde(default)]
    pub(crate) backend: Backend,
    /// A correction below the tolerance ends the step without being applied, as in the ball-and-wall article. false
    /// where absent.
    #[serde(default)]
    pub(crate) stop_before_update: bool,
    /// A step whose iterations run out is accepted as it is, as in the ball-and-wall article. false where absent:
    /// it is tried again in parts.
    #[serde(default)]
    pub(crate) accept_exhausted: bool,
}

impl Default for SolverConfig {
    fn default() -> Self {
        Self {
            tolerance: None,
            tolerance_speed: None,
            phase: Vec::new(),
            max_iterations: defaults::max_iterations(),
            line_search: LineSearchName::default(),
            curvature: CurvatureName::default(),
            max_halvings: defaults::max_halvings(),
            subdivisions: defaults::subdivisions(),
            storage: StorageName::default(),
            linear: Linear::default(),
            pcg_tolerance: None,
            pcg_iterations: None,
            backend: Backend::default(),
            stop_before_update: false,
            accept_exhausted: false,
        }
    }
}

/// A stretch of the task, until the next one begins.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Phase {
    /// Start of its first step.
    pub(crate) from: Time,
    /// What it is called in summaries, views and messages.
    pub(crate) name: Option<String>,
    /// Largest correction of a coordinate that is still made; as before where absent.
    pub(crate) tolerance: Option<Length>,
}

/// When a step along the direction is accepted.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum LineSearchName {
    /// Enough decrease for the slope.
    #[default]
    Armijo,
    /// Any decrease.
    Decrease,
}

/// Which second derivatives give the direction.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum CurvatureName {
    /// Exact ones near the solution.
    #[default]
    Adaptive,
    /// Positive semi-definite ones of each element.
    Projected,
}

/// How accepted positions are kept.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum StorageName {
    /// As they are.
    #[default]
    F64,
    /// Rounded to single precision and checked again.
    F32,
}

/// Linear solver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Linear {
    /// Whichever is fastest for the size.
    #[default]
    Auto,
    /// Sparse Cholesky factorisation.
    Cholesky,
    /// Dense Cholesky factorisation.
    Dense,
    /// Conjugate gradients.
    Pcg,
}

/// Where terms are evaluated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Backend {
    /// On a graphics processor where there is one and the scene is large enough to gain from it, else on the CPU.
    #[default]
    Auto,
    /// On the CPU.
    Cpu,
    /// On a Vulkan device.
    Vulkan,
}
