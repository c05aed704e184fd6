//! A value for all, or one for each.

use crate::site::BuildError;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{self, IntoDeserializer, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

/// One value for all vertices of a selection, or a list with one for each.
#[derive(Clone, Debug, PartialEq)]
pub enum OneOrEach<T> {
    /// The same for all.
    One(T),
    /// One for each, in order.
    Each(Vec<T>),
}

impl<T> OneOrEach<T> {
    /// Converts every value.
    pub fn map<U>(self, mut f: impl FnMut(T) -> U) -> OneOrEach<U> {
        match self {
            Self::One(value) => OneOrEach::One(f(value)),
            Self::Each(values) => OneOrEach::Each(values.into_iter().map(f).collect()),
        }
    }
}

impl<T: Clone> OneOrEach<T> {
    /// One value for each of `count`; a list of another length is an error that points at `key`.
    pub fn each(self, count: usize, key: &'static str) -> Result<Vec<T>, BuildError> {
        match self {
            Self::One(value) => Ok(vec![value; count]),
            Self::Each(values) if values.len() == count => Ok(values),
            Self::Each(values) => Err(BuildError::value(
                key,
                format!("has {} values where {count} are needed, or one for all", values.len()),
            )),
        }
    }

    /// One value for each of `count`, a list being repeated; what was found where it doesn't come out even.
    pub fn cycled(self, count: usize) -> Result<Vec<T>, String> {
        match self {
            Self::One(value) => Ok(vec![value; count]),
            Self::Each(values) if !values.is_empty() && count.is_multiple_of(values.len()) => {
                Ok(values.iter().cycle().take(count).cloned().collect())
            }
            Self::Each(values) => {
                Err(format!("has {} values, which can't be repeated along {count}", values.len()))
            }
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OneOrEach<T> {
    fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader<T>(PhantomData<T>);
        // Single values are handed on, so that T's own errors ("expected a quantity in s") reach the reader.
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Reader<T> {
            type Value = OneOrEach<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("one value, or a list with one for each")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                T::deserialize(text.into_deserializer()).map(OneOrEach::One)
            }

            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Self::Value, E> {
                T::deserialize(value.into_deserializer()).map(OneOrEach::One)
            }

            fn visit_u64<E: de::Error>(self, value: u64) -> Result<Self::Value, E> {
                T::deserialize(value.into_deserializer()).map(OneOrEach::One)
            }

            fn visit_f64<E: de::Error>(self, value: f64) -> Result<Self::Value, E> {
                T::deserialize(value.into_deserializer()).map(OneOrEach::One)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut values = Vec::new();
                while let Some(value) = seq.next_element()? {
                    values.push(value);
                }
                Ok(OneOrEach::Each(values))
            }
        }
        deserializer.deserialize_any(Reader(PhantomData))
    }
}

impl<T: JsonSchema> JsonSchema for OneOrEach<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("OneOrEach_{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let value = generator.subschema_for::<T>();
        json_schema!({ "anyOf": [value, { "type": "array", "items": value }] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gusset_units::Time;
    use std::collections::BTreeMap;

    #[test]
    fn reads_one_or_each_and_keeps_the_error_of_the_value() {
        let read = |text: &str| toml::from_str::<BTreeMap<String, OneOrEach<Time>>>(text);
        assert_eq!(read("t = 2").unwrap()["t"], OneOrEach::One(Time::written(2.0)));
        assert_eq!(read("t = '1 ms'").unwrap()["t"], OneOrEach::One(Time::new_si(0.001)));
        let list = read("t = [0.5, '1 s']").unwrap()["t"].clone();
        assert_eq!(list, OneOrEach::Each(vec![Time::written(0.5), Time::new_si(1.0)]));
        assert!(list.clone().each(2, "t").is_ok());
        assert!(list.each(3, "t").unwrap_err().to_string().contains("2 values where 3 are needed"));
        let error = read("t = '1 kg'").unwrap_err().to_string();
        assert!(error.contains("expected a quantity in s, found kg"), "{error}");
    }
}
