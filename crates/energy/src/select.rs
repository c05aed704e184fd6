//! Vertex selections of scene files.

use crate::site::BuildError;
use gusset_mesh::Body;
use gusset_units::{Length, Units};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{self, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// Some vertices of a body: `"all"`, a group's name, a list of names or indices, `{ range = [first, last], every = step }` or
/// `{ box = [[x, y, z], [x, y, z]] }` on the start positions.
#[derive(Clone, Debug, PartialEq)]
pub enum Selection {
    /// Every vertex.
    All,
    /// Union of named groups and single indices, in the order given, each vertex once.
    List(Vec<Item>),
    /// First to last index, both included, in steps of the third number.
    Range(u32, u32, u32),
    /// Start positions inside an axis-aligned box, faces included; bounds in the scene's units.
    Box([Length; 3], [Length; 3]),
}

/// A member of [`Selection::List`].
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// A group's name.
    Group(String),
    /// A vertex index.
    Vertex(u32),
}

impl Selection {
    /// Indices within `body`, in order. Errors name the selection's mistake and the nearest group.
    pub fn resolve(
        &self,
        body: &Body,
        units: &Units,
        key: &'static str,
    ) -> Result<Vec<u32>, BuildError> {
        let count = body.rest.len() as u32;
        let chosen: Vec<u32> = match self {
            Self::All => (0..count).collect(),
            Self::Range(first, last, every) if first <= last && *every > 0 => {
                (*first..=*last).step_by(*every as usize).collect()
            }
            Self::Range(_, _, 0) => {
                return Err(BuildError::value(key, "`every` is 0; 1 takes every vertex"));
            }
            Self::Range(first, last, _) => {
                return Err(BuildError::value(
                    key,
                    format!("the range [{first}, {last}] is empty; give the smaller index first"),
                ));
            }
            Self::Box(low, high) => {
                let (low, high) = (low.map(|v| v.si(units)), high.map(|v| v.si(units)));
                (0..count)
                    .filter(|&v| {
                        let p = body.start[v as usize];
                        (0..3).all(|c| low[c] <= p[c] && p[c] <= high[c])
                    })
                    .collect()
            }
            Self::List(items) => {
                let mut seen = vec![false; count as usize];
                let mut chosen = Vec::new();
                for item in items {
                    let members = match item {
                        Item::Vertex(v) => std::slice::from_ref(v),
                        Item::Group(name) => body
                            .groups
                            .get(name)
                            .ok_or_else(|| BuildError::value(key, no_group(body, name)))?,
                    };
                    for &v in members {
                        match seen.get_mut(v as usize) {
                            Some(seen) if !*seen => {
                                *seen = true;
                                chosen.push(v);
                            }
                            _ if v >= count => chosen.push(v), // reported below
                            _ => {}
                        }
                    }
                }
                chosen
            }
        };
        if let Some(bad) = chosen.iter().find(|v| **v >= count) {
            return Err(BuildError::value(
                key,
                format!("vertex {bad} does not exist: `{}` has {count} vertices", body.name),
            ));
        }
        if chosen.is_empty() {
            return Err(BuildError::value(key, format!("selects no vertex of `{}`", body.name)));
        }
        Ok(chosen)
    }
}

fn no_group(body: &Body, name: &str) -> String {
    let names: Vec<&str> = body.groups.keys().map(String::as_str).collect();
    if names.is_empty() {
        return format!(
            "`{}` has no group `{name}` (it has none at all); use \"all\", indices, a range or a box",
            body.name
        );
    }
    let shown = if names.len() > 12 {
        format!("{}, ... ({} in all)", names[..12].join(", "), names.len())
    } else {
        names.join(", ")
    };
    format!("`{}` has no group `{name}`; it has: {shown}", body.name)
}

impl<'de> Deserialize<'de> for Selection {
    fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Selection;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    "\"all\", a group's name, a list of names or indices, { range = [first, last], every = step } or { box = [[x, y, z], [x, y, z]] }",
                )
            }

            fn visit_str<E: de::Error>(self, name: &str) -> Result<Selection, E> {
                Ok(if name == "all" {
                    Selection::All
                } else {
                    Selection::List(vec![Item::Group(name.to_owned())])
                })
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Selection, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = seq.next_element()? {
                    items.push(item);
                }
                Ok(Selection::List(items))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Selection, A::Error> {
                let (mut range, mut every, mut within) = (None, None, None);
                while let Some(key) = map.next_key::<String>()? {
                    match key.as_str() {
                        "range" => range = Some(map.next_value::<[u32; 2]>()?),
                        "every" => every = Some(map.next_value::<u32>()?),
                        "box" => within = Some(map.next_value::<[[Length; 3]; 2]>()?),
                        other => {
                            return Err(de::Error::custom(format!(
                                "unknown selection `{other}`, expected `range` or `box`"
                            )));
                        }
                    }
                }
                let selection = match (range, every, within) {
                    (Some([first, last]), every, None) => {
                        Selection::Range(first, last, every.unwrap_or(1))
                    }
                    (None, None, Some([low, high])) => Selection::Box(low, high),
                    _ => {
                        return Err(de::Error::custom(
                            "a selection is a `range` (and `every`) or a `box`",
                        ));
                    }
                };
                Ok(selection)
            }
        }
        deserializer.deserialize_any(Reader)
    }
}

impl<'de> Deserialize<'de> for Item {
    fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl Visitor<'_> for Reader {
            type Value = Item;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a vertex index or a group's name")
            }

            fn visit_str<E: de::Error>(self, name: &str) -> Result<Item, E> {
                Ok(Item::Group(name.to_owned()))
            }

            fn visit_i64<E: de::Error>(self, index: i64) -> Result<Item, E> {
                u32::try_from(index)
                    .map(Item::Vertex)
                    .map_err(|_| E::custom(format!("{index} is not a vertex index")))
            }

            fn visit_u64<E: de::Error>(self, index: u64) -> Result<Item, E> {
                u32::try_from(index)
                    .map(Item::Vertex)
                    .map_err(|_| E::custom(format!("{index} is not a vertex index")))
            }
        }
        deserializer.deserialize_any(Reader)
    }
}

impl JsonSchema for Selection {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Selection".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let length = generator.subschema_for::<Length>();
        json_schema!({
            "description": "Some vertices of a body: \"all\", a group's name, a list of names or indices, { range = [first, last], every = step } or { box = [[x, y, z], [x, y, z]] } on the start positions.",
            "oneOf": [
                { "type": "string" },
                { "type": "array", "items": { "oneOf": [{ "type": "string" }, { "type": "integer", "minimum": 0 }] } },
                { "type": "object", "additionalProperties": false, "required": ["range"],
                  "properties": { "range": { "description": "First and last index.", "type": "array", "items": { "type": "integer", "minimum": 0 }, "minItems": 2, "maxItems": 2 },
                                  "every": { "description": "Step from one index to the next; 1 where absent.", "type": "integer", "minimum": 1 } } },
                { "type": "object", "additionalProperties": false, "required": ["box"],
                  "properties": { "box": { "description": "Corners of an axis-aligned box, faces included.", "type": "array", "minItems": 2, "maxItems": 2,
                      "items": { "type": "array", "items": length, "minItems": 3, "maxItems": 3 } } } },
            ]
        })
    }
}
