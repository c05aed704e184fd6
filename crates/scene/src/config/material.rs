//! Materials by physical constants.

use gusset_mesh::Material;
use gusset_units::{AreaDensity, Density, Length, Number, Pressure, Units};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, Visitor};
use std::borrow::Cow;
use std::fmt;

/// Constants of a material. Give those that are known; an energy that needs another one says so.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MaterialConfig {
    /// Young's modulus, E.
    pub(crate) young: Option<Pressure>,
    /// Poisson's ratio, nu: above -1 and below 0.5.
    pub(crate) poisson: Option<Number>,
    /// Thickness of a film, h.
    pub(crate) thickness: Option<Length>,
    /// Mass per volume.
    pub(crate) density: Option<Density>,
    /// Mass per area of a film; density times thickness where absent.
    pub(crate) area_density: Option<AreaDensity>,
}

/// A material that bodies name.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NamedMaterial {
    /// Name by which bodies refer to it.
    pub(crate) name: String,
    /// Young's modulus, E.
    pub(crate) young: Option<Pressure>,
    /// Poisson's ratio, nu: above -1 and below 0.5.
    pub(crate) poisson: Option<Number>,
    /// Thickness of a film, h.
    pub(crate) thickness: Option<Length>,
    /// Mass per volume.
    pub(crate) density: Option<Density>,
    /// Mass per area of a film; density times thickness where absent.
    pub(crate) area_density: Option<AreaDensity>,
}

impl NamedMaterial {
    /// Its constants.
    pub(crate) fn constants(&self) -> MaterialConfig {
        MaterialConfig {
            young: self.young,
            poisson: self.poisson,
            thickness: self.thickness,
            density: self.density,
            area_density: self.area_density,
        }
    }
}

impl MaterialConfig {
    /// The constants in SI.
    pub(crate) fn si(&self, units: &Units) -> Material {
        Material {
            young: self.young.map(|v| v.si(units)),
            poisson: self.poisson.map(|v| v.si(units)),
            thickness: self.thickness.map(|v| v.si(units)),
            density: self.density.map(|v| v.si(units)),
            area_density: self.area_density.map(|v| v.si(units)),
        }
    }

    /// What makes no physical sense, by key.
    pub(crate) fn senseless(&self) -> Vec<(&'static str, String)> {
        let si = self.si(&Units::SI);
        let positive = [
            ("young", si.young),
            ("thickness", si.thickness),
            ("density", si.density),
            ("area_density", si.area_density),
        ];
        let mut found: Vec<(&'static str, String)> = positive
            .into_iter()
            .filter_map(|(key, value)| Some((key, value.filter(|v| *v <= 0.0)?)))
            .map(|(key, value)| (key, format!("`{key}` is {value}; it must be above 0")))
            .collect();
        if let Some(nu) = si.poisson.filter(|nu| *nu <= -1.0 || *nu >= 0.5) {
            found
                .push(("poisson", format!("`poisson` is {nu}; it must be above -1 and below 0.5")));
        }
        found
    }
}

/// The material of a body.
#[derive(Clone, Debug)]
pub(crate) enum MaterialRef {
    /// By name.
    Named(String),
    /// In place.
    Inline(MaterialConfig),
}

struct RefVisitor;

impl<'de> Visitor<'de> for RefVisitor {
    type Value = MaterialRef;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a `[[material]]`, or a table of constants")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<MaterialRef, E> {
        Ok(MaterialRef::Named(name.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<MaterialRef, A::Error> {
        MaterialConfig::deserialize(de::value::MapAccessDeserializer::new(map))
            .map(MaterialRef::Inline)
    }
}

impl<'de> Deserialize<'de> for MaterialRef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RefVisitor)
    }
}

impl JsonSchema for MaterialRef {
    fn schema_name() -> Cow<'static, str> {
        "MaterialRef".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let inline = generator.subschema_for::<MaterialConfig>();
        json_schema!({
            "description": "The name of a [[material]], or a table of constants.",
            "oneOf": [{ "type": "string" }, inline],
        })
    }
}
