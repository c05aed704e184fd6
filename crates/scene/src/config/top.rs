//! The keys at the top of a scene file.

use crate::defaults;
use gusset_units::{Acceleration, Time, Units};
use schemars::JsonSchema;
use serde::Deserialize;

/// The keys at the top of a scene file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Top {
    /// What the scene is, for reports and pictures; the file's name where absent.
    pub(crate) title: Option<String>,
    /// Another scene file of the same folder that this one changes: its keys and tables count where this file doesn't give
    /// its own. Tables in lists are the same where their `name` is, or their `kind` and `body`; a table of another `kind`
    /// takes the place of the other one's.
    #[expect(dead_code, reason = "read before the rest, which it brings; here for its schema")]
    pub(crate) base: Option<String>,
    /// Units of the bare numbers in this file: "SI" (metre, kilogram, second; the default), "CGS" (centimetre, gram,
    /// second; also "cm-g-s"), or a table like { length = "mm", mass = "g", time = "s" }. A number may always carry its own unit:
    /// "30 um".
    #[serde(default)]
    #[schemars(extend("default" = "SI"))]
    #[expect(
        dead_code,
        reason = "read before the rest, which it is needed for; here for its schema"
    )]
    pub(crate) units: Units,
    /// Length of a time step.
    pub(crate) dt: Time,
    /// Simulated time; the run has duration / dt steps.
    pub(crate) duration: Time,
    /// Acceleration of gravity; 9.81 m/s^2 downward along z where absent.
    #[serde(default = "defaults::gravity")]
    pub(crate) gravity: [Acceleration; 3],
}
