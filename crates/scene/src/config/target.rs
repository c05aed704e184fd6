//! `target` of a `[[probe]]`, `[[require]]`: what a scene is to reach.

use super::Axis;
use gusset_energy::Selection;
use gusset_units::{Length, Time};
use schemars::JsonSchema;
use serde::Deserialize;

/// A number in the scene's units of what is measured, or a text with its own unit: "40 mm".
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Amount {
    /// In the scene's units.
    Number(f64),
    /// With its own unit.
    Text(String),
}

/// What of a probe's values counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum StatisticName {
    /// Each of them.
    #[default]
    Value,
    /// Greatest minus least over the time, of each column.
    Range,
    /// Greatest distance from where it was at the beginning of the time, of each three columns.
    Displacement,
}

/// What a probe is to reach: at a time or over a stretch of it, at least or at most. It is judged at the end of a run.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TargetConfig {
    /// The time that counts.
    pub(crate) at: Option<Time>,
    /// Beginning of the time that counts, in place of `at`; the start where absent.
    pub(crate) from: Option<Time>,
    /// End of the time that counts; the last step where absent.
    pub(crate) to: Option<Time>,
    /// What of the values counts: "value" (default), "range" or "displacement".
    #[serde(default)]
    pub(crate) statistic: StatisticName,
    /// Least value that is right.
    pub(crate) at_least: Option<Amount>,
    /// Greatest value that is right.
    pub(crate) at_most: Option<Amount>,
}

/// A condition without which a run doesn't go on: of a probe, or of a film whose columns are to rise.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RequireConfig {
    /// What messages call it.
    pub(crate) name: String,
    /// When it must hold: at the end of the step that ends then.
    pub(crate) at: Time,
    /// A probe that has limits.
    pub(crate) probe: Option<String>,
    /// Least value of each of the probe's columns.
    pub(crate) at_least: Option<Amount>,
    /// Greatest value of each of the probe's columns.
    pub(crate) at_most: Option<Amount>,
    /// In place of `probe`: the body of `rising`.
    pub(crate) body: Option<String>,
    /// Selections one above the other. Their first vertices form a column, their second ones the next, and so on; each
    /// column must rise from one selection to the next.
    #[serde(default)]
    pub(crate) rising: Vec<Selection>,
    /// Along which coordinate columns rise; "z" where absent.
    pub(crate) axis: Option<Axis>,
    /// By how much they must rise from one selection to the next at least; at all where absent.
    pub(crate) by: Option<Length>,
}
