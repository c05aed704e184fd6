//! `[output]`.

use crate::defaults;
use gusset_units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a run writes. Every key has a default.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OutputConfig {
    /// Steps from one frame to the next; 1 where absent, as steps are what a run is judged by.
    pub(crate) every: Option<u64>,
    /// Time from one frame to the next instead; must be a whole number of steps.
    pub(crate) interval: Option<Time>,
    /// Precision of the positions in frames: "f64" (default: frames are the states themselves) or "f32" (half the
    /// size).
    #[serde(default)]
    pub(crate) precision: Precision,
    /// Steps from one checkpoint to the next; 50 where absent.
    #[serde(default = "defaults::checkpoint_every")]
    pub(crate) checkpoint_every: u64,
}

impl Default for OutputConfig {
    fn default() -> Self {
        Self {
            every: None,
            interval: None,
            precision: Precision::default(),
            checkpoint_every: defaults::checkpoint_every(),
        }
    }
}

/// Precision of the positions in frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Precision {
    /// Double.
    #[default]
    F64,
    /// Single.
    F32,
}
