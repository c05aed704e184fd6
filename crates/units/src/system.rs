//! The unit system of a scene.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de};

use crate::parse;

/// A system of units, as factors to SI.
///
/// In a file: `"SI"`, `"CGS"` (also `"cm-g-s"`), or a table that names its units, such as
/// `{ length = "mm", mass = "g", time = "s" }`, in which missing entries are SI.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Units {
    /// Metres in one unit of length.
    pub length: f64,
    /// Kilograms in one unit of mass.
    pub mass: f64,
    /// Seconds in one unit of time.
    pub time: f64,
}

impl Default for Units {
    fn default() -> Self {
        Self::SI
    }
}

impl Units {
    /// Metre, kilogram, second.
    pub const SI: Self = Self { length: 1.0, mass: 1.0, time: 1.0 };

    /// Centimetre, gram, second.
    pub const CGS: Self = Self { length: 0.01, mass: 0.001, time: 1.0 };

    /// A value of this system in SI; the exponents are those of its dimension.
    pub fn to_si(&self, value: f64, mass: i8, length: i8, time: i8) -> f64 {
        let (up, down) = self.ratio(mass, length, time);
        value * up / down
    }

    /// An SI value in this system; the exponents are those of its dimension.
    pub fn from_si(&self, value: f64, mass: i8, length: i8, time: i8) -> f64 {
        let (up, down) = self.ratio(mass, length, time);
        value * down / up
    }

    /// Numerator and denominator of the factor to SI. A factor below one is inverted first: a
    /// division by 100 rounds once, a multiplication by 0.01 twice.
    fn ratio(&self, mass: i8, length: i8, time: i8) -> (f64, f64) {
        let (mut up, mut down) = (1.0, 1.0);
        for (factor, exponent) in [(self.mass, mass), (self.length, length), (self.time, time)] {
            let (base, exponent) = if factor < 1.0 {
                (1.0 / factor, -i32::from(exponent))
            } else {
                (factor, i32::from(exponent))
            };
            let power = base.powi(exponent.abs());
            if exponent < 0 { down *= power } else { up *= power }
        }
        (up, down)
    }
}

/// The table form; also what the schema shows.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    length: Option<String>,
    mass: Option<String>,
    time: Option<String>,
}

impl<'de> Deserialize<'de> for Units {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UnitsVisitor)
    }
}

struct UnitsVisitor;

impl<'de> de::Visitor<'de> for UnitsVisitor {
    type Value = Units;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("\"SI\", \"CGS\" or a table of `length`, `mass` and `time` units")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Units, E> {
        match text.to_ascii_lowercase().as_str() {
            "si" => Ok(Units::SI),
            "cgs" | "cm-g-s" => Ok(Units::CGS),
            _ => Err(E::invalid_value(de::Unexpected::Str(text), &self)),
        }
    }

    fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<Units, A::Error> {
        let table = Table::deserialize(de::value::MapAccessDeserializer::new(map))?;
        let factor = |name: &str, text: &Option<String>, dimension: parse::Dimension| {
            let Some(text) = text else { return Ok(1.0) };
            match parse::unit(text) {
                Ok(unit) if unit.dimension == dimension => Ok(unit.to_si(1.0)),
                _ => Err(de::Error::custom(format!("`{text}` is not a unit of {name}"))),
            }
        };
        Ok(Units {
            length: factor("length", &table.length, [0, 1, 0])?,
            mass: factor("mass", &table.mass, [1, 0, 0])?,
            time: factor("time", &table.time, [0, 0, 1])?,
        })
    }
}

impl JsonSchema for Units {
    fn schema_name() -> Cow<'static, str> {
        "Units".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Units of the bare numbers in this file.",
            "anyOf": [
                { "enum": ["SI", "CGS", "cm-g-s"] },
                {
                    "type": "object",
                    "properties": {
                        "length": { "type": "string", "description": "Unit of length, like \"cm\"." },
                        "mass": { "type": "string", "description": "Unit of mass, like \"g\"." },
                        "time": { "type": "string", "description": "Unit of time, like \"s\"." },
                    },
                    "additionalProperties": false,
                },
            ],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct Scene {
        units: Units,
    }

    fn read(text: &str) -> Result<Units, String> {
        toml::from_str::<Scene>(text).map(|s| s.units).map_err(|e| e.to_string())
    }

    #[test]
    fn reads_names_and_tables() {
        assert_eq!(read("units = 'SI'"), Ok(Units::SI));
        assert_eq!(read("units = 'cgs'"), Ok(Units::CGS));
        assert_eq!(read("units = { length = 'cm', mass = 'g' }"), Ok(Units::CGS));
        assert!(read("units = 'imperial'").unwrap_err().contains("CGS"));
        assert!(read("units = { length = 'g' }").unwrap_err().contains("not a unit of length"));
        assert!(read("units = { lenght = 'cm' }").is_err());
    }

    #[test]
    fn cgs_stiffness_density_and_gravity() {
        let cgs = Units::CGS;
        assert_eq!(cgs.to_si(1e4, 1, 0, -2), 10.0); // dyn/cm to N/m
        assert_eq!(cgs.to_si(0.02, 1, -2, 0), 0.2); // g/cm^2 to kg/m^2
        assert_eq!(cgs.to_si(1e5, 1, -1, -2), 1e4); // dyn/cm^2 to Pa
        assert_eq!(cgs.to_si(-981.0, 0, 1, -2), -9.81);
        assert_eq!(cgs.from_si(-9.81, 0, 1, -2), -981.0);
    }
}
