//! `[contact]`.

use crate::defaults;
use gusset_units::{Length, Number, Stiffness, Velocity};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{self, Deserializer, Visitor};
use std::borrow::Cow;
use std::fmt;

/// Contact between all bodies. Without this table nothing touches anything.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ContactConfig {
    /// Gap below which surfaces push each other apart. Take less than the smallest edge of the meshes: what is
    /// closer than this at rest is pushed apart from the start.
    pub(crate) dhat: Length,
    /// Distance of two surfaces (of their midsurfaces, for films) at which the gap is 0. No accepted state has a
    /// gap of 0 or less. 0 where absent.
    #[serde(default = "defaults::min_gap")]
    pub(crate) min_gap: Length,
    /// Stiffness of the barrier or penalty: a number, or "auto", which takes 10 times what a vertex of mean mass
    /// m needs against its inertia and weight: 10 m (1/dt^2 + |gravity|/dhat). Stiffer contact stands closer to
    /// `dhat` and needs more iterations.
    #[serde(default)]
    #[schemars(extend("default" = "auto"))]
    pub(crate) stiffness: StiffnessOrAuto,
    /// Coulomb coefficient; 0 (no friction) where absent.
    #[serde(default)]
    pub(crate) friction: Number,
    /// Sliding speed below which friction fades, so that it has a derivative; 1 mm/s where absent, the value of the
    /// bag article: slow against anything one sees. A body that friction should hold creeps: under a load F below
    /// the limit L at this speed times F/sqrt(L^2 - F^2).
    #[serde(default = "defaults::friction_speed")]
    pub(crate) friction_speed: Velocity,
    /// Candidate pairs are searched this much further than `dhat`, and kept until something has moved that far. A tenth
    /// of `dhat` where absent: a search costs about as much as looking at its pairs twice.
    pub(crate) skin: Option<Length>,
    /// Whether pairs of edges fade as these become parallel, where the distance between them has a kink that Newton's
    /// method can hang on; the ends of the edges then hold each other off. true where absent; false as in the bag
    /// article.
    #[serde(default = "yes")]
    pub(crate) mollify: bool,
    /// How far a step may go: "separating-normal" (default: cheap and never wrong) or "accd" (additive continuous
    /// collision detection: less cautious for pairs that slide or turn).
    #[serde(default)]
    pub(crate) step_bound: StepBound,
    /// Kind of energy that keeps surfaces apart: "barrier" (default: nothing ever intersects) or "penalty".
    #[serde(default = "barrier")]
    pub(crate) law: String,
}

fn yes() -> bool {
    true
}

fn barrier() -> String {
    "barrier".to_owned()
}

/// How far a step may go.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum StepBound {
    /// Half-space argument along the normal of each pair.
    #[default]
    SeparatingNormal,
    /// Additive continuous collision detection.
    Accd,
}

/// A stiffness, or one that follows from the masses.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum StiffnessOrAuto {
    /// From mass, dt, gravity and dhat.
    #[default]
    Auto,
    /// As given.
    Given(Stiffness),
}

struct StiffnessVisitor;

impl Visitor<'_> for StiffnessVisitor {
    type Value = StiffnessOrAuto;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a stiffness in N/m (a number in the scene's units or a text with its unit), or \"auto\"")
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<StiffnessOrAuto, E> {
        if value.is_finite() {
            Ok(StiffnessOrAuto::Given(Stiffness::written(value)))
        } else {
            Err(E::custom(format!("`{value}` is not a finite number")))
        }
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<StiffnessOrAuto, E> {
        self.visit_f64(value as f64)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<StiffnessOrAuto, E> {
        if text == "auto" {
            return Ok(StiffnessOrAuto::Auto);
        }
        text.parse().map(StiffnessOrAuto::Given).map_err(E::custom)
    }
}

impl<'de> Deserialize<'de> for StiffnessOrAuto {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StiffnessVisitor)
    }
}

impl JsonSchema for StiffnessOrAuto {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "StiffnessOrAuto".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": ["number", "string"],
            "description": "A stiffness, or \"auto\".",
            "unit": "N/m",
        })
    }
}
