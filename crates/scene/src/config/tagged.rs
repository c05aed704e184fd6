//! Tables whose `kind` says which keys they have.
//!
//! Serde's own tagged enums buffer the table and lose the place of every value in it. Here the `kind` is read first and
//! then the rest as the type it stands for.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{Deserialize, Deserializer, IgnoredAny};
use std::borrow::Cow;
use std::marker::PhantomData;

/// Stands for a `T` in a table that serde reads; the `T` itself is read separately.
#[derive(Debug)]
pub(crate) struct Tagged<T>(PhantomData<T>);

impl<'de, T> Deserialize<'de> for Tagged<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(deserializer).map(|_| Self(PhantomData))
    }
}

impl<T: JsonSchema> JsonSchema for Tagged<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

/// Adds `kind` to the schema of the other keys.
pub(crate) fn with_kind(mut schema: Schema, kind: &str, about: &str) -> Schema {
    let object = schema.ensure_object();
    let properties = object
        .entry("properties")
        .or_insert_with(|| serde_json::Value::Object(serde_json::Map::new()));
    if let Some(properties) = properties.as_object_mut() {
        let tag = serde_json::json!({ "const": kind, "description": about });
        properties.insert("kind".to_owned(), tag);
    }
    let required = object.entry("required").or_insert_with(|| serde_json::Value::Array(Vec::new()));
    if let Some(required) = required.as_array_mut() {
        required.insert(0, "kind".into());
    }
    object.insert("additionalProperties".to_owned(), false.into());
    schema
}

/// An enum whose variants are read from the tables of that `kind`.
macro_rules! tagged {
    (
        $(#[$meta:meta])*
        pub(crate) enum $name:ident {
            $( $(#[doc = $about:literal])* $kind:literal => $variant:ident($keys:ty) ),* $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug)]
        pub(crate) enum $name {
            $( $(#[doc = $about])* $variant($keys) ),*
        }

        impl $name {
            /// All kinds.
            pub(crate) const KINDS: &[&str] = &[$($kind),*];

            /// Reads a table: its `kind`, then the keys of that kind. `also` names keys that are read elsewhere.
            pub(crate) fn read(
                mut section: $crate::section::Section<'_>,
                also: &[&str],
                problems: &mut $crate::section::Problems<'_>,
            ) -> Option<(Self, String)> {
                let Some(value) = section.take("kind") else {
                    let message = format!("{} lacks `kind`", section.what);
                    let known = $crate::suggest::help("", Self::KINDS.iter().copied());
                    problems.error_help(&section.span, message, known);
                    return None;
                };
                let read = match value.get_ref().as_str() {
                    $( Some($kind) => section.read_beside(also, problems).map($name::$variant), )*
                    Some(other) => {
                        let message = format!("unknown kind `{other}` in {}", section.what);
                        let known = $crate::suggest::help(other, Self::KINDS.iter().copied());
                        problems.error_help(&value.span(), message, known);
                        None
                    }
                    None => {
                        let found = $crate::section::kind_of(value.get_ref());
                        let message = format!("`kind` must be a text, found {found}");
                        problems.error(&value.span(), message);
                        None
                    }
                };
                let kind = value.get_ref().as_str().unwrap_or_default().to_owned();
                read.map(|read| (read, kind))
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).trim_end_matches("Config").into()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let kinds = [$( {
                    let about = [$($about),*].concat();
                    let keys = <$keys>::json_schema(generator);
                    serde_json::Value::from($crate::config::with_kind(keys, $kind, about.trim()))
                } ),*];
                schemars::json_schema!({ "oneOf": kinds })
            }
        }
    };
}
pub(crate) use tagged;
