//! A number with a dimension in its type.

use std::{borrow::Cow, fmt, str::FromStr};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::{
    UnitError, Units,
    parse::{self, Dimension},
};

/// A number as a file writes it, of dimension mass^`M` length^`L` time^`T`.
///
/// A bare number is in the scene's units; a text carries its own unit and means the same in any
/// scene. Both are read by `Deserialize`; [`si`](Self::si) turns either into SI. Fractions are
/// allowed in texts (`"1/240 s"`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantity<const M: i8, const L: i8, const T: i8> {
    value: f64,
    /// Whether `value` is SI already, because it had its own unit.
    is_si: bool,
}

/// A plain number (also a ratio or an angle in radian).
pub type Number = Quantity<0, 0, 0>;
/// Metre.
pub type Length = Quantity<0, 1, 0>;
/// Square metre.
pub type Area = Quantity<0, 2, 0>;
/// Cubic metre.
pub type Volume = Quantity<0, 3, 0>;
/// Kilogram.
pub type Mass = Quantity<1, 0, 0>;
/// Second.
pub type Time = Quantity<0, 0, 1>;
/// Metre per second.
pub type Velocity = Quantity<0, 1, -1>;
/// Metre per second squared.
pub type Acceleration = Quantity<0, 1, -2>;
/// Newton.
pub type Force = Quantity<1, 1, -2>;
/// Newton per metre: a spring, a contact barrier, the stretching stiffness of a film.
pub type Stiffness = Quantity<1, 0, -2>;
/// Newton per metre, of a spring between two points.
pub type SpringConstant = Stiffness;
/// Newton metre: the bending stiffness of a film.
pub type Bending = Quantity<1, 2, -2>;
/// Joule.
pub type Energy = Quantity<1, 2, -2>;
/// Pascal: also a modulus of elasticity.
pub type Pressure = Quantity<1, -1, -2>;
/// Kilogram per cubic metre.
pub type Density = Quantity<1, -3, 0>;
/// Kilogram per square metre.
pub type AreaDensity = Quantity<1, -2, 0>;
/// One per second.
pub type Rate = Quantity<0, 0, -1>;
/// Newton second per metre: of a contact, of the stretching of a film.
pub type Damping = Quantity<1, 0, -1>;
/// Newton second: damping of bending, per length of an edge.
pub type BendingDamping = Quantity<1, 1, -1>;
/// Pascal second.
pub type Viscosity = Quantity<1, -1, -1>;

impl<const M: i8, const L: i8, const T: i8> Default for Quantity<M, L, T> {
    fn default() -> Self {
        Self::new_si(0.0)
    }
}

impl<const M: i8, const L: i8, const T: i8> Quantity<M, L, T> {
    const DIMENSION: Dimension = [M, L, T];

    /// A value in SI.
    pub const fn new_si(value: f64) -> Self {
        Self { value, is_si: true }
    }

    /// A bare number, in the units of the scene that it stands in.
    pub const fn written(value: f64) -> Self {
        Self { value, is_si: false }
    }

    /// The value in SI; `units` are those of the scene.
    pub fn si(self, units: &Units) -> f64 {
        if self.is_si { self.value } else { units.to_si(self.value, M, L, T) }
    }

    /// Each of several values in SI.
    pub fn si_all<const N: usize>(values: [Self; N], units: &Units) -> [f64; N] {
        values.map(|value| value.si(units))
    }

    /// The SI unit of this dimension, such as `N/m`; `1` for plain numbers.
    pub fn unit_name() -> Cow<'static, str> {
        unit_name(Self::DIMENSION)
    }

    /// A text that would be accepted, for error messages.
    fn example() -> String {
        if Self::DIMENSION == [0; 3] {
            "0.5".to_owned()
        } else {
            format!("3 {}", Self::unit_name())
        }
    }
}

/// SI units with a name, by exponents of mass, length and time.
const NAMED: &[(Dimension, &str)] = &[
    ([0, 0, 0], "1"),
    ([0, 1, 0], "m"),
    ([0, 2, 0], "m^2"),
    ([0, 3, 0], "m^3"),
    ([1, 0, 0], "kg"),
    ([0, 0, 1], "s"),
    ([0, 1, -1], "m/s"),
    ([0, 1, -2], "m/s^2"),
    ([1, 1, -2], "N"),
    ([1, 0, -2], "N/m"),
    ([1, 2, -2], "N m"),
    ([1, -1, -2], "Pa"),
    ([1, -3, 0], "kg/m^3"),
    ([1, -2, 0], "kg/m^2"),
    ([0, 0, -1], "1/s"),
    ([0, -1, 0], "1/m"),
    ([1, 0, -1], "N s/m"),
    ([1, 1, -1], "N s"),
    ([1, -1, -1], "Pa s"),
];

fn unit_name(dimension: Dimension) -> Cow<'static, str> {
    if let Some((_, name)) = NAMED.iter().find(|(d, _)| *d == dimension) {
        return Cow::Borrowed(name);
    }
    let factors: Vec<String> = ["kg", "m", "s"]
        .into_iter()
        .zip(dimension)
        .filter(|&(_, exponent)| exponent != 0)
        .map(|(symbol, exponent)| match exponent {
            1 => symbol.to_owned(),
            _ => format!("{symbol}^{exponent}"),
        })
        .collect();
    Cow::Owned(factors.join(" "))
}

impl<const M: i8, const L: i8, const T: i8> FromStr for Quantity<M, L, T> {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let trimmed = text.trim();
        let (number, rest) = parse::number(trimmed).ok_or_else(|| UnitError::NoNumber {
            text: text.to_owned(),
            example: Self::example(),
        })?;
        let unit = parse::unit(rest)
            .map_err(|symbol| UnitError::UnknownUnit { symbol, text: text.to_owned() })?;
        if unit.dimension != Self::DIMENSION {
            let found = unit_name(unit.dimension);
            return Err(UnitError::Dimension {
                text: text.to_owned(),
                expected: Self::unit_name().into_owned(),
                found: if found == "1" { "a plain number".to_owned() } else { found.into_owned() },
            });
        }
        let value = unit.read(&number);
        if !value.is_finite() {
            return Err(UnitError::NotFinite { text: text.to_owned() });
        }
        Ok(Self::new_si(value))
    }
}

impl<const M: i8, const L: i8, const T: i8> fmt::Display for Quantity<M, L, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)?;
        if self.is_si && Self::DIMENSION != [0; 3] {
            write!(f, " {}", Self::unit_name())?;
        }
        Ok(())
    }
}

impl<const M: i8, const L: i8, const T: i8> Serialize for Quantity<M, L, T> {
    /// A bare number if it was written as one, else a text with the SI unit.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.is_si && Self::DIMENSION != [0; 3] {
            serializer.collect_str(self)
        } else {
            serializer.serialize_f64(self.value)
        }
    }
}

impl<'de, const M: i8, const L: i8, const T: i8> Deserialize<'de> for Quantity<M, L, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(QuantityVisitor)
    }
}

struct QuantityVisitor<const M: i8, const L: i8, const T: i8>;

impl<const M: i8, const L: i8, const T: i8> de::Visitor<'_> for QuantityVisitor<M, L, T> {
    type Value = Quantity<M, L, T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if Self::Value::DIMENSION == [0; 3] {
            return f.write_str("a number");
        }
        write!(
            f,
            "a number in the scene's units, or a text with a unit of the dimension of {} (like \"{}\")",
            Self::Value::unit_name(),
            Self::Value::example()
        )
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Self::Value, E> {
        if value.is_finite() {
            Ok(Quantity::written(value))
        } else {
            Err(E::custom(format!("`{value}` is not a finite number")))
        }
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Self::Value, E> {
        self.visit_f64(value as f64)
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Self::Value, E> {
        self.visit_f64(value as f64)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        text.parse().map_err(E::custom)
    }
}

impl<const M: i8, const L: i8, const T: i8> JsonSchema for Quantity<M, L, T> {
    // Inlined so that a field's own description stands beside its unit.
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Quantity in {}", Self::unit_name()).into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let unit = Self::unit_name();
        if Self::DIMENSION == [0; 3] {
            return json_schema!({
                "type": ["number", "string"],
                "description": "A plain number, or a text like \"5 %\" or \"30 deg\".",
                "unit": unit,
            });
        }
        let about = format!(
            "A number in the scene's units, or a text with its own unit, like \"{}\"; SI unit {unit}.",
            Self::example()
        );
        json_schema!({ "type": ["number", "string"], "description": about, "unit": unit })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn reads_the_units_of_the_articles() {
        let si = Units::SI;
        assert_eq!("30 um".parse::<Length>().unwrap().si(&si), 30e-6);
        assert_eq!("0.030 mm".parse::<Length>().unwrap().si(&si), 30e-6);
        assert_eq!("315 MPa".parse::<Pressure>().unwrap().si(&si), 315e6);
        assert_eq!("925 kg/m^3".parse::<Density>().unwrap().si(&si), 925.0);
        assert_eq!("0.02 g/cm^2".parse::<AreaDensity>().unwrap().si(&si), 0.2);
        assert_eq!("-12 1/s".parse::<Rate>().unwrap().si(&si), -12.0);
        assert_eq!("1/240 s".parse::<Time>().unwrap().si(&si), 1.0 / 240.0);
        assert_eq!("1e4 dyn/cm".parse::<Stiffness>().unwrap().si(&si), 10.0);
        assert_eq!("35 %".parse::<Number>().unwrap().si(&si), 0.35);
        assert_eq!("180 deg".parse::<Number>().unwrap().si(&si), std::f64::consts::PI);
    }

    #[test]
    fn wrong_dimension_says_what_is_expected() {
        let error = "30 MPa".parse::<Stiffness>().unwrap_err().to_string();
        assert!(error.contains("expected a quantity in N/m, found Pa"), "{error}");
        let error = "30".parse::<Length>().unwrap_err().to_string();
        assert!(error.contains("found a plain number"), "{error}");
        let error = "3 furlong".parse::<Length>().unwrap_err().to_string();
        assert!(error.contains("unknown unit `furlong`"), "{error}");
        let error = "soft".parse::<Length>().unwrap_err().to_string();
        assert!(error.contains("\"3 m\""), "{error}");
        assert!("1/0 m".parse::<Length>().is_err());
        assert!("1e999 m".parse::<Length>().is_err());
        let error = "3 kg^2 s".parse::<Length>().unwrap_err().to_string();
        assert!(error.contains("found kg^2 s"), "{error}");
    }

    #[test]
    fn bare_numbers_take_the_units_of_the_scene() {
        #[derive(Deserialize)]
        struct Film {
            thickness: Length,
            stiffness: Stiffness,
            gravity: [Acceleration; 3],
        }
        let film: Film =
            toml::from_str("thickness = '30 um'\nstiffness = 10_000\ngravity = [0, 0, -981.0]")
                .unwrap();
        assert_eq!(film.thickness.si(&Units::CGS), 30e-6);
        assert_eq!(film.stiffness.si(&Units::CGS), 10.0);
        assert_eq!(Acceleration::si_all(film.gravity, &Units::CGS), [0.0, 0.0, -9.81]);
    }

    #[test]
    fn errors_of_a_file_point_at_the_value() {
        #[derive(Deserialize)]
        #[allow(dead_code, reason = "only its errors are looked at")]
        struct Film {
            thickness: Length,
        }
        for (text, wanted) in [
            ("thickness = true", "a number in the scene's units"),
            ("thickness = inf", "not a finite number"),
            ("thickness = '3 kg'", "expected a quantity in m, found kg"),
        ] {
            let error = toml::from_str::<Film>(text).err().unwrap();
            assert!(error.to_string().contains(wanted), "{error}");
            assert_eq!(error.span().unwrap().start, 12, "{error}");
        }
    }

    #[test]
    fn schema_carries_unit_and_description() {
        #[derive(JsonSchema)]
        #[allow(dead_code, reason = "only its schema is looked at")]
        struct Film {
            /// Thickness of the film.
            thickness: Length,
            k: Stiffness,
        }
        let schema = serde_json::to_value(schemars::schema_for!(Film)).unwrap();
        assert_eq!(schema["properties"]["thickness"]["unit"], "m");
        assert_eq!(schema["properties"]["thickness"]["description"], "Thickness of the film.");
        assert_eq!(schema["properties"]["k"]["unit"], "N/m");
        assert!(schema["properties"]["k"]["description"].as_str().unwrap().contains("N/m"));
    }

    #[test]
    fn composes_names_of_unnamed_units() {
        assert_eq!(Quantity::<1, -2, -1>::unit_name(), "kg m^-2 s^-1");
        assert_eq!(SpringConstant::unit_name(), "N/m");
    }

    proptest! {
        #[test]
        fn written_quantities_read_back(value in -1e12..1e12f64) {
            for quantity in [Stiffness::new_si(value), Stiffness::written(value)] {
                let text = toml::to_string(&BTreeMap::from([("k", quantity)])).unwrap();
                let read: BTreeMap<String, Stiffness> = toml::from_str(&text).unwrap();
                prop_assert_eq!(read["k"], quantity);
            }
        }

        #[test]
        fn any_text_is_read_or_refused(text in "\\PC*") {
            let _ = text.parse::<Density>();
        }
    }
}
