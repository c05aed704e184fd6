//! A value for all runs of a section, or one for each.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer, IntoDeserializer as _};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

/// A value for all runs of a section, or one for each.
#[derive(Clone, Debug)]
pub(crate) enum PerRun<T> {
    /// The same for all.
    All(T),
    /// By name of the run.
    Each(BTreeMap<String, T>),
}

impl<T> PerRun<T> {
    /// That of a run, where it has one.
    pub(crate) fn of(&self, run: &str) -> Option<&T> {
        match self {
            Self::All(value) => Some(value),
            Self::Each(values) => values.get(run),
        }
    }

    /// The runs that are named.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let each = match self {
            Self::All(_) => None,
            Self::Each(values) => Some(values),
        };
        each.into_iter().flat_map(|values| values.keys().map(String::as_str))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for PerRun<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PerRunVisitor(PhantomData))
    }
}

struct PerRunVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> de::Visitor<'de> for PerRunVisitor<T> {
    type Value = PerRun<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value, or a table with one for each run")
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Self::Value, E> {
        T::deserialize(value.into_deserializer()).map(PerRun::All)
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Self::Value, E> {
        T::deserialize(value.into_deserializer()).map(PerRun::All)
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Self::Value, E> {
        T::deserialize(value.into_deserializer()).map(PerRun::All)
    }

    fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        BTreeMap::deserialize(de::value::MapAccessDeserializer::new(map)).map(PerRun::Each)
    }
}

impl<T: JsonSchema> JsonSchema for PerRun<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("{} for each run", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let one = generator.subschema_for::<T>();
        let each = json_schema!({ "type": "object", "additionalProperties": one });
        json_schema!({ "anyOf": [one, each] })
    }
}
