//! `[solver]` with `kind = "vbd"`.

use super::solver::Phase;
use crate::defaults;
use gusset_units::{Damping, Length, Velocity};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Vertex block descent: a fixed number of sweeps a step. Of `[contact]` it takes `dhat` as the margin at which forces
/// begin, `min_gap`, `stiffness`, `friction` and `friction_speed`; it has contact laws of its own.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DescentConfig {
    /// Sweeps over all vertices a step; 10 where absent.
    pub(crate) iterations: Option<u32>,
    /// The sweeps end early once no coordinate moves by more than this. They never do where neither this nor
    /// `tolerance_speed` is given.
    pub(crate) tolerance: Option<Length>,
    /// The same as a speed, to be multiplied with dt.
    pub(crate) tolerance_speed: Option<Velocity>,
    /// Where the sweeps begin: "inertial" (with all of gravity; default of penalty-dat and with `compat`, as in the article)
    /// or "adaptive" (with the share of it that a vertex followed in the step before, so that what rests begins at rest;
    /// default of alm-dat).
    pub(crate) start: Option<StartName>,
    /// What penalty-dat does with motion that a plane stops: "scale" shortens all motion of the vertex (default, as in the
    /// article); "slide" lets it go on along the plane, so that films pressed together don't stick.
    pub(crate) truncation: Option<TruncationName>,
    /// Factor on the step of every vertex; 1 where absent. 0.7 to 0.9 leaves less force in stacks of many layers.
    pub(crate) step_ratio: Option<f64>,
    /// What keeps surfaces apart: "penalty-dat" (default: penalty forces, every motion truncated at planes) or
    /// "alm-dat" (rows with multipliers, trial positions committed in rounds).
    #[serde(default)]
    pub(crate) contact: ContactName,
    /// Pairs are looked for this much further than `dhat`; half of `dhat` where absent. Half of both together, times
    /// `relaxation`, is how far a vertex may go from a search.
    pub(crate) gap: Option<Length>,
    /// Damping of closing motion within the margin; none where absent.
    #[serde(default)]
    pub(crate) damping: Damping,
    /// Share of the way to a plane that a vertex may go, between 0 and 1; 0.85 where absent.
    pub(crate) relaxation: Option<f64>,
    /// Pairs closer than so many edges on the mesh exert no force; 2 where absent.
    pub(crate) rings: Option<u32>,
    /// Defaults as in the solver of the article on resting contact, with its known failures: pairs within `rings` may
    /// also pass through each other, and alm-dat has a path-length budget of fixed reach, spent once a step. false where
    /// absent.
    #[serde(default)]
    pub(crate) compat: bool,
    /// When penalty-dat looks for pairs: "pre-post-init" (default: at the start and after the inertial start),
    /// "pre-init" (at the start) or "iterations" (at the start, and every `detection_interval` iterations).
    pub(crate) schedule: Option<ScheduleName>,
    /// Iterations from one search to the next, with `schedule = "iterations"`.
    pub(crate) detection_interval: Option<u32>,
    /// Settings of alm-dat.
    pub(crate) alm: Option<AlmConfig>,
    /// Stretches of the task that have names: [[solver.phase]]. Tolerances in them are those of Newton's method.
    #[serde(default)]
    pub(crate) phase: Vec<Phase>,
}

/// Where sweeps begin.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum StartName {
    /// By what the vertex did before.
    Adaptive,
    /// As if nothing was in the way.
    Inertial,
}

/// What becomes of motion that a plane stops.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum TruncationName {
    /// All of a vertex's motion is shortened.
    Scale,
    /// What goes against the plane is shortened, the rest goes on along it.
    Slide,
}

/// What keeps surfaces apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ContactName {
    /// Penalty forces with divide and truncate.
    #[default]
    PenaltyDat,
    /// Rows of an augmented Lagrangian with divide and truncate.
    AlmDat,
}

/// When pairs are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ScheduleName {
    /// At the start of the step.
    PreInit,
    /// At the start of the step and after the inertial start.
    PrePostInit,
    /// At the start of the step and during the iterations.
    Iterations,
}

/// How far alm-dat lets a vertex go from a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum BudgetName {
    /// Anywhere in a ball.
    Ball,
    /// Along a path of limited length, as in the article.
    PathLength,
}

/// Settings of alm-dat; what is absent is as `compat` says.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AlmConfig {
    /// Iterations from one round of commits to the next; 1 where absent, 0 for none.
    pub(crate) interval: Option<u32>,
    /// Rounds after the iterations; 1 where absent.
    pub(crate) rounds: Option<u32>,
    /// More rounds for as long as they help; true where absent, false with `compat`.
    pub(crate) auto_rounds: Option<bool>,
    /// "ball" (default) or "path-length" (default with `compat`).
    pub(crate) budget: Option<BudgetName>,
    /// A search reaches as far as the step wants to go; true where absent, false with `compat`.
    pub(crate) adaptive_reach: Option<bool>,
    /// Pairs are looked for again where the budget cut motion short; true where absent, false with `compat`.
    pub(crate) redetect: Option<bool>,
    /// Factor on the stiffness of the multiplier updates; 1 where absent.
    pub(crate) support: Option<f64>,
    /// Share of normal multipliers that the next step starts with; 0.999 where absent.
    pub(crate) normal_memory: Option<f64>,
    /// The same for friction; 1 where absent: less, and what friction holds creeps.
    pub(crate) tangential_memory: Option<f64>,
}

impl DescentConfig {
    /// Sweeps of a step.
    pub(crate) fn sweeps(&self) -> u32 {
        self.iterations.unwrap_or(defaults::SWEEPS)
    }
}
