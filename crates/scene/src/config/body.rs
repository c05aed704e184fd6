//! `[[body]]`.

use super::{Angle, MaterialRef, ShapeConfig, Tagged};
use crate::defaults;
use gusset_energy::{Interpolation, Key, OneOrEach, Selection};
use gusset_units::{Length, Mass, Rate, Time, Velocity};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;

/// A body: geometry, place, material, and what is prescribed of its motion.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BodyConfig {
    /// Unique name, by which energies, probes and messages refer to it.
    pub(crate) name: String,
    /// Geometry.
    #[expect(dead_code, reason = "read on its own; here for its presence and its schema")]
    pub(crate) shape: Tagged<ShapeConfig>,
    /// What it is made of: "film" (triangles with thickness), "solid" (tetrahedra), "obstacle" (triangles that are fixed
    /// or move as prescribed), "spheres", "points" or "slab". Follows from the shape where absent: open surfaces and
    /// files of triangles are films; bins, box surfaces and icospheres are obstacles.
    pub(crate) role: Option<RoleName>,
    /// Factor on the shape's coordinates, or one for each axis; applied first.
    pub(crate) scale: Option<Scale>,
    /// Rotation about the origin, { axis = [x, y, z], angle = degrees or "0.1 rad" }, or a list of these, applied in
    /// order; after `scale`.
    pub(crate) rotate: Option<Rotate>,
    /// Displacement; after `rotate`. None where absent.
    #[serde(default = "defaults::translate")]
    pub(crate) translate: [Length; 3],
    /// Folds a sheet in half at the start: what is right of its middle in x is reflected to the left and lifted along z.
    /// The stress-free shape stays flat.
    pub(crate) fold: Option<Fold>,
    /// Name of a [[material]] or a table of constants: `{ young, poisson, thickness, density, area_density }`.
    pub(crate) material: Option<MaterialRef>,
    /// Mass of the whole body, spread by area, volume or evenly over points; instead of a density.
    pub(crate) mass: Option<Mass>,
    /// Mass of every vertex; instead of a density.
    pub(crate) vertex_mass: Option<Mass>,
    /// Velocity at the start; at rest where absent.
    #[serde(default)]
    pub(crate) velocity: Option<[Velocity; 3]>,
    /// Angular velocity at the start about the centre of mass, in radian per time; none where absent.
    #[serde(default)]
    pub(crate) angular_velocity: Option<[Rate; 3]>,
    /// Vertices that stay where they are: true for all, or a selection. Obstacles are fixed where nothing moves them.
    pub(crate) fixed: Option<Fixed>,
    /// Gravity acts from this time on, or a list with a time for each vertex; from the start where absent.
    #[expect(dead_code, reason = "the inertia of the body reads it; here for its schema")]
    pub(crate) gravity_from: Option<OneOrEach<Time>>,
    /// Prescribed motion of vertices: [[body.moves]].
    #[serde(default)]
    pub(crate) moves: Vec<Move>,
    /// Colour in pictures, like "#c8553d"; chosen from a palette where absent.
    pub(crate) colour: Option<String>,
}

/// What a body is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum RoleName {
    /// Triangles with thickness.
    Film,
    /// Tetrahedra.
    Solid,
    /// Fixed or prescribed triangles.
    Obstacle,
    /// Spheres.
    Spheres,
    /// Particles without radius.
    Points,
    /// An infinite plate.
    Slab,
}

/// Prescribed motion of some vertices: rigid motion through keyframes, or a steady velocity. Vertices go towards their
/// target as far as contact lets them.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Move {
    /// Which vertices; all where absent.
    #[serde(default = "all")]
    pub(crate) vertices: Selection,
    /// Keyframes { time, translate, rotate }: displacement and angle (degrees) since the start, in order of time.
    pub(crate) keys: Option<Vec<Key>>,
    /// Between keyframes: "linear" (default), "smooth" (continuous velocity) or "minimum-jerk" (at rest at each).
    #[serde(default)]
    pub(crate) interpolation: Interpolation,
    /// Direction of the axis of `rotate`; needs no unit length.
    pub(crate) axis: Option<[f64; 3]>,
    /// A point on that axis; the origin where absent.
    pub(crate) pivot: Option<[Length; 3]>,
    /// Steady velocity from the start on; instead of keyframes.
    pub(crate) velocity: Option<[Velocity; 3]>,
}

/// A fold at the middle of a body.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fold {
    /// How far the reflected half is lifted along z.
    pub(crate) lift: Length,
    /// Where x is measured: "body" (default: before `rotate` and `translate`, so that the crease follows the mesh) or
    /// "world" (after them).
    #[serde(default)]
    pub(crate) frame: FoldFrame,
}

/// Where the x of a fold is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FoldFrame {
    /// Before the body is placed.
    #[default]
    Body,
    /// After it is placed.
    World,
}

/// Every vertex of the body.
pub(crate) fn all() -> Selection {
    Selection::All
}

/// A factor, or one for each axis.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale(pub(crate) [f64; 3]);

struct ScaleVisitor;

impl<'de> Visitor<'de> for ScaleVisitor {
    type Value = Scale;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a factor or a list of three")
    }

    fn visit_f64<E: de::Error>(self, factor: f64) -> Result<Scale, E> {
        Ok(Scale([factor; 3]))
    }

    fn visit_i64<E: de::Error>(self, factor: i64) -> Result<Scale, E> {
        Ok(Scale([factor as f64; 3]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Scale, A::Error> {
        Deserialize::deserialize(de::value::SeqAccessDeserializer::new(seq)).map(Scale)
    }
}

impl<'de> Deserialize<'de> for Scale {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ScaleVisitor)
    }
}

impl JsonSchema for Scale {
    fn schema_name() -> Cow<'static, str> {
        "Scale".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A factor, or one for each axis.",
            "oneOf": [
                { "type": "number" },
                { "type": "array", "items": { "type": "number" }, "minItems": 3, "maxItems": 3 },
            ],
        })
    }
}

/// A rotation about the origin.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rotation {
    /// Direction of the axis; needs no unit length.
    pub(crate) axis: [f64; 3],
    /// Angle in degrees, or a text like "0.1 rad".
    pub(crate) angle: Angle,
}

/// Rotations, applied in order.
#[derive(Clone, Debug)]
pub(crate) struct Rotate(pub(crate) Vec<Rotation>);

struct RotateVisitor;

impl<'de> Visitor<'de> for RotateVisitor {
    type Value = Rotate;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{ axis = [x, y, z], angle = degrees } or a list of these")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Rotate, A::Error> {
        Rotation::deserialize(de::value::MapAccessDeserializer::new(map)).map(|r| Rotate(vec![r]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Rotate, A::Error> {
        Deserialize::deserialize(de::value::SeqAccessDeserializer::new(seq)).map(Rotate)
    }
}

impl<'de> Deserialize<'de> for Rotate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RotateVisitor)
    }
}

impl JsonSchema for Rotate {
    fn schema_name() -> Cow<'static, str> {
        "Rotate".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let one = generator.subschema_for::<Rotation>();
        json_schema!({
            "description": "A rotation, or a list of rotations applied in order.",
            "oneOf": [one, { "type": "array", "items": one }],
        })
    }
}

/// Vertices that stay.
#[derive(Clone, Debug)]
pub(crate) enum Fixed {
    /// All of them, or none.
    All(bool),
    /// Some of them.
    Some(Selection),
}

struct FixedVisitor;

impl<'de> Visitor<'de> for FixedVisitor {
    type Value = Fixed;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("true, or a selection of vertices")
    }

    fn visit_bool<E: de::Error>(self, all: bool) -> Result<Fixed, E> {
        Ok(Fixed::All(all))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Fixed, E> {
        Selection::deserialize(de::value::StrDeserializer::new(text)).map(Fixed::Some)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Fixed, A::Error> {
        Selection::deserialize(de::value::SeqAccessDeserializer::new(seq)).map(Fixed::Some)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Fixed, A::Error> {
        Selection::deserialize(de::value::MapAccessDeserializer::new(map)).map(Fixed::Some)
    }
}

impl<'de> Deserialize<'de> for Fixed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FixedVisitor)
    }
}

impl JsonSchema for Fixed {
    fn schema_name() -> Cow<'static, str> {
        "Fixed".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let selection = generator.subschema_for::<Selection>();
        json_schema!({
            "description": "true for all vertices, or a selection.",
            "oneOf": [{ "type": "boolean" }, selection],
        })
    }
}

impl Scale {
    /// The factor that is not usable, if any.
    pub(crate) fn bad(&self) -> Option<f64> {
        self.0.into_iter().find(|s| !s.is_finite() || *s <= 0.0)
    }
}
