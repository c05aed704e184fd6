//! `gusset energies`: the kinds that this program links, with their keys as the schema has them.

use crate::arguments::EnergiesArguments;
use crate::console::Console;
use crate::failure::{Exit, Failure, Outcome};
use gusset_energy::{Kind, registry};
use serde_json::{Value, json};

/// Width that descriptions are wrapped to.
const WIDTH: usize = 100;

/// Lists all kinds, or describes one.
pub(crate) fn command(arguments: &EnergiesArguments, console: &mut Console<'_>) -> Outcome {
    let kinds: Vec<&Kind> = match &arguments.kind {
        None => registry().iter().collect(),
        Some(name) => vec![registry().get(name).ok_or_else(|| unknown(name))?],
    };
    if console.wants_json() {
        let all: Vec<Value> = kinds.iter().map(|kind| object(kind)).collect();
        match &all[..] {
            [one] if arguments.kind.is_some() => console.object(one),
            all => console.object(&all),
        }
        return Ok(Exit::Done);
    }
    if arguments.kind.is_some() {
        console.say(describe(kinds[0]));
        return Ok(Exit::Done);
    }
    if kinds.is_empty() {
        console.message(
            "this program links no energies; link `gusset-builtin` or a crate of your own",
        );
    }
    for kind in &kinds {
        console.say(outline(kind));
    }
    console.message("one of them in full: gusset energies KIND");
    Ok(Exit::Done)
}

fn unknown(name: &str) -> Failure {
    let known: Vec<String> = registry().names().map(|n| format!("`{n}`")).collect();
    Failure::bad_input(format_args!(
        "there is no kind of energy `{name}`; this program links {}",
        if known.is_empty() { "none".to_owned() } else { known.join(", ") }
    ))
}

/// A key of a kind's table.
struct Key {
    name: String,
    /// What may stand there.
    values: String,
    /// SI unit; empty for plain numbers and for what is no number.
    unit: String,
    required: bool,
    default: Option<Value>,
    about: String,
    /// Keys of the tables that stand there.
    inner: Vec<Key>,
}

fn keys(kind: &Kind) -> Vec<Key> {
    let schema = Value::from((kind.schema)());
    keys_of(&schema, &schema, 0)
}

/// The keys of a schema of a table. Schemas that contain themselves end at a depth.
fn keys_of(schema: &Value, root: &Value, depth: usize) -> Vec<Key> {
    let Some(properties) = schema["properties"].as_object() else { return Vec::new() };
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let key = |(name, entry): (&String, &Value)| {
        let full = resolve(entry, root);
        let text =
            |key: &str| entry[key].as_str().or_else(|| full[key].as_str()).unwrap_or_default();
        let inner =
            if depth < 3 { keys_of(table_in(full, root), root, depth + 1) } else { Vec::new() };
        Key {
            name: name.clone(),
            values: values(full, root),
            unit: match unit(entry, root).or_else(|| unit(full, root)) {
                None | Some("1") => String::new(),
                Some(unit) => unit.to_owned(),
            },
            required: required.contains(&name.as_str()),
            default: entry.get("default").filter(|d| !d.is_null()).cloned(),
            about: text("description").split_whitespace().collect::<Vec<_>>().join(" "),
            inner,
        }
    };
    properties.iter().map(key).collect()
}

/// Follows references, and takes the part of a choice that is not null.
fn resolve<'s>(schema: &'s Value, root: &'s Value) -> &'s Value {
    let mut schema = schema;
    for _ in 0..8 {
        if let Some(path) = schema["$ref"].as_str().and_then(|r| r.strip_prefix('#')) {
            schema = root.pointer(&decoded(path)).unwrap_or(&Value::Null);
            continue;
        }
        let choices = schema["anyOf"].as_array().or_else(|| schema["oneOf"].as_array());
        let mut real = choices.into_iter().flatten().filter(|c| c["type"] != "null");
        match (real.next(), real.next()) {
            (Some(only), None) => schema = only,
            _ => break,
        }
    }
    schema
}

/// A reference without its percent signs.
fn decoded(path: &str) -> String {
    let mut parts = path.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        match part.get(..2).and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                bytes.extend_from_slice(&part.as_bytes()[2..]);
            }
            None => bytes.extend_from_slice(part.as_bytes()),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The unit of a number, of a list's numbers, or of the first choice that has one.
fn unit<'s>(schema: &'s Value, root: &'s Value) -> Option<&'s str> {
    if let Some(unit) = schema["unit"].as_str() {
        return Some(unit);
    }
    if schema["items"].is_object() {
        return unit(resolve(&schema["items"], root), root);
    }
    let choices = schema["anyOf"].as_array().or_else(|| schema["oneOf"].as_array());
    choices.into_iter().flatten().find_map(|choice| unit(resolve(choice, root), root))
}

/// The table that a value is, or that its items are.
fn table_in<'s>(schema: &'s Value, root: &'s Value) -> &'s Value {
    let items = resolve(&schema["items"], root);
    if items["properties"].is_object() { items } else { schema }
}

/// What may stand there, in words.
fn values(schema: &Value, root: &Value) -> String {
    let quote = |v: &Value| v.as_str().map_or_else(|| v.to_string(), |s| format!("\"{s}\""));
    if let Some(list) = schema["enum"].as_array() {
        return list.iter().map(quote).collect::<Vec<_>>().join(" | ");
    }
    if let Some(constant) = schema.get("const") {
        return quote(constant);
    }
    for choice in ["oneOf", "anyOf"] {
        if let Some(list) = schema[choice].as_array() {
            let mut words: Vec<String> = list
                .iter()
                .filter(|c| c["type"] != "null")
                .map(|c| values(resolve(c, root), root))
                .collect();
            words.dedup();
            return words.join(" | ");
        }
    }
    let types: Vec<&str> = match &schema["type"] {
        Value::String(one) => vec![one],
        Value::Array(all) => all.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let word = |name: &&str| match *name {
        "number" => Some("number".to_owned()),
        "integer" => Some("whole number".to_owned()),
        // A quantity may carry its unit; that goes without saying.
        "string" if types.contains(&"number") => None,
        "string" => Some("text".to_owned()),
        "boolean" => Some("true | false".to_owned()),
        "array" => {
            let item = values(resolve(&schema["items"], root), root);
            let count = schema["minItems"].as_u64().filter(|n| schema["maxItems"] == json!(n));
            let count = count.map_or_else(String::new, |n| format!("{n} "));
            Some(format!("list of {count}{}", if item.is_empty() { "values" } else { &item }))
        }
        "object" => Some("table".to_owned()),
        _ => None,
    };
    types.iter().filter_map(word).collect::<Vec<_>>().join(" | ")
}

impl Key {
    fn state(&self) -> String {
        match &self.default {
            _ if self.required => "required".to_owned(),
            Some(default) => format!("default {default}"),
            None => "optional".to_owned(),
        }
    }

    /// `stiffness: number [N/m], required`
    fn head(&self) -> String {
        let unit = if self.unit.is_empty() { String::new() } else { format!(" [{}]", self.unit) };
        format!("{}: {}{unit}, {}", self.name, self.values, self.state())
    }

    fn object(&self) -> Value {
        let mut object = json!({
            "name": self.name,
            "values": self.values,
            "unit": if self.unit.is_empty() { Value::Null } else { self.unit.as_str().into() },
            "required": self.required,
            "default": self.default,
            "about": self.about,
        });
        if !self.inner.is_empty() {
            object["keys"] = self.inner.iter().map(Self::object).collect();
        }
        object
    }

    fn describe(&self, indent: usize, lines: &mut Vec<String>) {
        let margin = " ".repeat(indent);
        lines.push(format!("{margin}{}", self.head()));
        let about = wrap(&self.about, WIDTH.saturating_sub(indent + 4));
        lines.extend(about.iter().map(|line| format!("{margin}    {line}")));
        for key in &self.inner {
            key.describe(indent + 4, lines);
        }
    }
}

fn object(kind: &Kind) -> Value {
    json!({
        "name": kind.name,
        "about": kind.about,
        "package": kind.package,
        "keys": keys(kind).iter().map(Key::object).collect::<Vec<_>>(),
    })
}

/// A kind and its keys, a line each.
fn outline(kind: &Kind) -> String {
    let mut lines = vec![format!("{} ({})", kind.name, kind.package), format!("  {}", kind.about)];
    lines.extend(keys(kind).iter().map(|key| format!("    {}", key.head())));
    lines.join("\n")
}

/// All about a kind.
fn describe(kind: &Kind) -> String {
    let mut lines = vec![
        format!("{}: {}", kind.name, kind.about),
        format!("package: {}", kind.package),
        String::new(),
        "[[energy]]".to_owned(),
        format!("kind = \"{}\"", kind.name),
    ];
    let keys = keys(kind);
    for key in &keys {
        key.describe(0, &mut lines);
    }
    if keys.is_empty() {
        lines.push("(no keys of its own)".to_owned());
    }
    lines.join("\n")
}

fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Vec<Key> {
        let schema = json!({
            "$defs": { "Law": { "oneOf": [
                { "const": "log", "description": "logarithm" },
                { "const": "cubic" },
            ] }, "Each in N/m": { "anyOf": [
                { "type": ["number", "string"], "unit": "N/m" },
                { "type": "array", "items": { "type": ["number", "string"], "unit": "N/m" } },
            ] }, "Frame": { "type": "object", "properties": { "time": { "type": "number", "unit": "s" } } } },
            "properties": {
                "each": { "$ref": "#/$defs/Each%20in%20N~1m" },
                "stiffness": { "type": ["number", "string"], "unit": "N/m", "description": "How\nstiff." },
                "law": { "$ref": "#/$defs/Law", "default": "log" },
                "frames": { "type": "array", "items": { "$ref": "#/$defs/Frame" } },
                "pivot": { "anyOf": [
                    { "type": "array", "items": { "type": "number" }, "minItems": 3, "maxItems": 3 },
                    { "type": "null" },
                ] },
                "ratio": { "type": "number", "unit": "1", "default": 0.5 },
            },
            "required": ["stiffness"],
        });
        keys_of(&schema, &schema, 0)
    }

    #[test]
    fn keys_are_said_in_words() {
        let heads: Vec<String> = sample().iter().map(Key::head).collect();
        assert_eq!(
            heads,
            [
                "each: number | list of number [N/m], optional",
                "stiffness: number [N/m], required",
                "law: \"log\" | \"cubic\", default \"log\"",
                "frames: list of table, optional",
                "pivot: list of 3 number, optional",
                "ratio: number, default 0.5",
            ]
        );
        let keys = sample();
        assert_eq!(keys[1].about, "How stiff.");
        assert_eq!(keys[3].inner[0].head(), "time: number [s], optional");
    }

    #[test]
    fn words_wrap() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("incomprehensible", 4), ["incomprehensible"]);
        assert!(wrap("", 9).is_empty());
    }
}
