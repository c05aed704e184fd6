//! Angles: degrees, unless they say otherwise.

use gusset_units::{Number, Units};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer, Visitor};
use std::borrow::Cow;
use std::fmt;

/// An angle in radian; a bare number in a file is degrees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Angle {
    /// In radian.
    pub(crate) radians: f64,
}

struct AngleVisitor;

impl Visitor<'_> for AngleVisitor {
    type Value = Angle;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an angle in degrees, or a text like \"0.1 rad\"")
    }

    fn visit_f64<E: de::Error>(self, degrees: f64) -> Result<Angle, E> {
        if degrees.is_finite() {
            Ok(Angle { radians: degrees.to_radians() })
        } else {
            Err(E::custom(format!("`{degrees}` is not a finite number")))
        }
    }

    fn visit_i64<E: de::Error>(self, degrees: i64) -> Result<Angle, E> {
        self.visit_f64(degrees as f64)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Angle, E> {
        let unit = text.trim().ends_with("rad") || text.trim().ends_with("deg");
        match text.parse::<Number>() {
            Ok(number) if unit => Ok(Angle { radians: number.si(&Units::SI) }),
            _ => {
                Err(E::custom(format!("`{text}` is not an angle: write \"30 deg\" or \"0.1 rad\"")))
            }
        }
    }
}

impl<'de> Deserialize<'de> for Angle {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AngleVisitor)
    }
}

impl JsonSchema for Angle {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Angle".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": ["number", "string"],
            "description": "An angle in degrees, or a text like \"0.1 rad\".",
            "unit": "deg",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn degrees_unless_radians_are_said() {
        let read = |text: &str| {
            toml::from_str::<std::collections::BTreeMap<String, Angle>>(&format!("a = {text}"))
                .map(|map| map["a"].radians)
        };
        assert_eq!(read("180").unwrap(), std::f64::consts::PI);
        assert_eq!(read("'0.1 rad'").unwrap(), 0.1);
        assert_eq!(read("'-90 deg'").unwrap(), -std::f64::consts::FRAC_PI_2);
        for bad in ["'0.1'", "'3 m'", "inf", "true"] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
