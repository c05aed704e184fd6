//! One table of a scene file, read key by key against the schema of its type, so that all its mistakes come at once.

use crate::diagnostic::{Diagnostic, Severity};
use crate::source::Sources;
use crate::suggest;
use schemars::{JsonSchema, Schema};
use serde::de::{DeserializeOwned, IntoDeserializer as _};
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

/// A value with its place.
pub(crate) type Value<'i> = Spanned<DeValue<'i>>;

/// What has been found wrong so far.
pub(crate) struct Problems<'s> {
    sources: &'s Sources,
    list: Vec<(usize, Diagnostic)>,
}

impl<'s> Problems<'s> {
    pub(crate) fn new(sources: &'s Sources) -> Self {
        Self { sources, list: Vec::new() }
    }

    fn push(
        &mut self,
        severity: Severity,
        span: &Range<usize>,
        message: String,
        help: Option<String>,
    ) {
        let (source, local) = self.sources.locate(span);
        let diagnostic = Diagnostic { severity, message, source, span: Some(local), help };
        self.list.push((span.start, diagnostic));
    }

    pub(crate) fn error(&mut self, span: &Range<usize>, message: impl Into<String>) {
        self.push(Severity::Error, span, message.into(), None);
    }

    pub(crate) fn error_help(
        &mut self,
        span: &Range<usize>,
        message: impl Into<String>,
        help: impl Into<Option<String>>,
    ) {
        self.push(Severity::Error, span, message.into(), help.into());
    }

    pub(crate) fn warn(
        &mut self,
        span: &Range<usize>,
        message: impl Into<String>,
        help: impl Into<Option<String>>,
    ) {
        self.push(Severity::Warning, span, message.into(), help.into());
    }

    /// Number of errors.
    pub(crate) fn errors(&self) -> usize {
        self.list.iter().filter(|(_, d)| d.severity == Severity::Error).count()
    }

    /// All of them in the order of the file, nothing said twice.
    pub(crate) fn into_diagnostics(mut self) -> Vec<Diagnostic> {
        self.list.sort_by_key(|(start, _)| *start);
        let mut all: Vec<Diagnostic> = self.list.into_iter().map(|(_, d)| d).collect();
        all.dedup_by(|a, b| a.message == b.message && a.span == b.span && a.source == b.source);
        all
    }
}

/// A table of the file that is being read.
#[derive(Clone, Debug)]
pub(crate) struct Section<'i> {
    /// Its entries; those that have a reader of their own are taken out first.
    pub(crate) table: DeTable<'i>,
    /// Its header, or the braces of an inline table.
    pub(crate) span: Range<usize>,
    /// What messages call it: "[solver]", "[[body]] `cloth`".
    pub(crate) what: String,
}

impl<'i> Section<'i> {
    /// The table in `value`; an error where it is something else.
    pub(crate) fn new(value: Value<'i>, what: String, problems: &mut Problems<'_>) -> Option<Self> {
        let span = value.span();
        match value.into_inner() {
            DeValue::Table(table) => Some(Self { table, span, what }),
            other => {
                let found = kind_of(&other);
                problems.error(&span, format!("{what} must be a table, found {found}"));
                None
            }
        }
    }

    /// Takes an entry out.
    pub(crate) fn take(&mut self, key: &str) -> Option<Value<'i>> {
        self.table.remove(key)
    }

    /// Takes a text out; an error where the entry is something else.
    pub(crate) fn take_text(
        &mut self,
        key: &str,
        problems: &mut Problems<'_>,
    ) -> Option<Spanned<String>> {
        let value = self.take(key)?;
        if let Some(text) = value.get_ref().as_str() {
            return Some(Spanned::new(value.span(), text.to_owned()));
        }
        let found = kind_of(value.get_ref());
        problems.error(&value.span(), format!("`{key}` must be a text, found {found}"));
        None
    }

    /// Place of a key's value; of the table where the key is absent.
    pub(crate) fn span_of(&self, key: &str) -> Range<usize> {
        self.table.get(key).map_or_else(|| self.span.clone(), Spanned::span)
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// Puts an entry back that had to be taken out to be read on its own.
    pub(crate) fn put(&mut self, key: &'static str, value: Value<'i>) {
        self.table.insert(Spanned::new(value.span(), key.into()), value);
    }

    /// The keys' deserializer.
    pub(crate) fn deserializer(&self, table: DeTable<'i>) -> ValueDeserializer<'i> {
        Spanned::new(self.span.clone(), DeValue::Table(table)).into_deserializer()
    }

    /// Reads the table as a `T`. All unknown keys, missing keys and unreadable values become problems.
    pub(crate) fn read<T: DeserializeOwned + JsonSchema>(
        &self,
        problems: &mut Problems<'_>,
    ) -> Option<T> {
        self.read_beside(&[], problems)
    }

    /// The same where the table has other keys too, which have been taken out.
    pub(crate) fn read_beside<T: DeserializeOwned + JsonSchema>(
        &self,
        also: &[&str],
        problems: &mut Problems<'_>,
    ) -> Option<T> {
        let (read, clean) = self.read_what_can_be(also, problems);
        read.filter(|_| clean)
    }

    /// The same, but what can't be read counts as absent where that is allowed: for tables whose other values can be
    /// checked without it.
    pub(crate) fn read_partly<T: DeserializeOwned + JsonSchema>(
        &self,
        problems: &mut Problems<'_>,
    ) -> Option<T> {
        self.read_what_can_be(&[], problems).0
    }

    fn read_what_can_be<T: DeserializeOwned + JsonSchema>(
        &self,
        also: &[&str],
        problems: &mut Problems<'_>,
    ) -> (Option<T>, bool) {
        let (mut table, mut clean) = self.known_keys(&schemars::schema_for!(T), also, problems);
        loop {
            match T::deserialize(self.deserializer(table.clone())) {
                Ok(read) => return (Some(read), clean),
                Err(error) => {
                    let guilty = self.report(&error, clean, &mut table, problems);
                    clean = false;
                    if !guilty {
                        return (None, false);
                    }
                }
            }
        }
    }

    /// The entries that `schema` knows, and whether none was unknown or missing; those that are become problems.
    /// `also` names keys that are read elsewhere.
    pub(crate) fn known_keys(
        &self,
        schema: &Schema,
        also: &[&str],
        problems: &mut Problems<'_>,
    ) -> (DeTable<'i>, bool) {
        let mut table = self.table.clone();
        let Some(properties) = schema.get("properties").and_then(|p| p.as_object()) else {
            // A type without keys of its own still has a schema that says so.
            let closed = schema.get("additionalProperties").is_some_and(|v| v == false);
            let complete = !closed || table.is_empty();
            if !complete {
                for key in self.table.keys() {
                    self.unknown_key(key, also.iter().copied(), problems);
                }
                table.clear();
            }
            return (table, complete);
        };
        let mut complete = true;
        for key in self.table.keys() {
            if !properties.contains_key(key.get_ref().as_ref()) {
                let known = properties.keys().map(String::as_str).chain(also.iter().copied());
                self.unknown_key(key, known, problems);
                table.remove(key.get_ref().as_ref());
                complete = false;
            }
        }
        let required = schema.get("required").and_then(|r| r.as_array());
        for key in required.into_iter().flatten().filter_map(|k| k.as_str()) {
            if !self.table.contains_key(key) {
                let about = properties
                    .get(key)
                    .and_then(|p| p.get("description"))
                    .and_then(|d| d.as_str())
                    .map(|d| format!("`{key}`: {}", d.replace('\n', " ")));
                let message = format!("{} lacks `{key}`", self.what);
                problems.error_help(&self.span, message, about);
                complete = false;
            }
        }
        (table, complete)
    }

    fn unknown_key<'a>(
        &self,
        key: &Spanned<toml::de::DeString<'_>>,
        known: impl IntoIterator<Item = &'a str>,
        problems: &mut Problems<'_>,
    ) {
        let found = key.get_ref().as_ref();
        let message = format!("unknown key `{found}` in {}", self.what);
        problems.error_help(&key.span(), message, suggest::help(found, known));
    }

    /// Records why a table doesn't deserialise and takes the entry that is to blame out of `table`, so that the rest
    /// can be tried. False where no entry is to blame: then it is said only if nothing else was (`clean`), as keys that
    /// were taken out are missing.
    pub(crate) fn report(
        &self,
        error: &toml::de::Error,
        clean: bool,
        table: &mut DeTable<'i>,
        problems: &mut Problems<'_>,
    ) -> bool {
        let span = error.span().unwrap_or_else(|| self.span.clone());
        let guilty = table
            .iter()
            .filter(|_| span != self.span)
            .find(|(key, value)| within(&span, &key.span()) || holds(value, &span))
            .map(|(key, _)| key.get_ref().as_ref().to_owned());
        if guilty.is_some() || clean {
            let (message, help) = say(error.message(), guilty.as_deref());
            problems.error_help(&span, message, help);
        }
        guilty.is_some_and(|key| table.remove(key.as_str()).is_some())
    }
}

fn within(inner: &Range<usize>, outer: &Range<usize>) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

/// Whether a value, or one inside it, has this place. A table with a header spans only that header.
fn holds(value: &Value<'_>, span: &Range<usize>) -> bool {
    within(span, &value.span())
        || match value.get_ref() {
            DeValue::Table(table) => {
                table.iter().any(|(key, value)| within(span, &key.span()) || holds(value, span))
            }
            DeValue::Array(array) => array.iter().any(|value| holds(value, span)),
            _ => false,
        }
}

/// What a value is, for messages.
pub(crate) fn kind_of(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) | DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

/// A deserialiser's message in the words of a scene file, and what to do about it.
pub(crate) fn say(message: &str, key: Option<&str>) -> (String, Option<String>) {
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let named = key.map_or_else(String::new, |key| format!("`{key}`: "));
    if let Some(found) = quoted.first() {
        let known = || suggest::help(found, quoted[1..].iter().copied());
        if message.starts_with("unknown variant") {
            return (format!("{named}`{found}` is not one of its values"), known());
        }
        if message.starts_with("unknown field") {
            return (format!("{named}unknown key `{found}`"), known());
        }
        if message.starts_with("missing field") {
            return (format!("{named}lacks `{found}`"), None);
        }
        if message.starts_with("duplicate field") {
            return (format!("{named}`{found}` is given twice"), None);
        }
    }
    let stripped = ["invalid type: ", "invalid value: ", "invalid "]
        .into_iter()
        .find_map(|prefix| message.strip_prefix(prefix)?.split_once(", expected "));
    let Some((found, expected)) = stripped else {
        return (format!("{named}{message}"), None);
    };
    let expected = match expected {
        "f64" | "f32" => "a number",
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number, 0 or more",
        "i32" | "i64" | "isize" => "a whole number",
        "a string" => "a text",
        "a boolean" => "true or false",
        "a sequence" => "a list",
        "a map" => "a table",
        other if other.starts_with("struct ") => "a table",
        other => other,
    };
    let expected = expected
        .strip_prefix("an array of length ")
        .map_or_else(|| expected.to_owned(), |length| format!("a list of {length}"));
    let found = match found.split_once(' ') {
        Some(("length", count)) => format!("one of {count}"),
        Some(("integer" | "floating", rest)) => {
            rest.strip_prefix("point ").unwrap_or(rest).to_owned()
        }
        Some(("string", rest)) => format!("the text {rest}"),
        Some(("boolean", rest)) => rest.to_owned(),
        _ => match found {
            "map" => "a table".to_owned(),
            "sequence" => "a list".to_owned(),
            other => other.to_owned(),
        },
    };
    (format!("{named}expected {expected}, found {found}"), None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_speak_of_scene_files() {
        for (message, wanted) in [
            (
                "invalid type: string \"soft\", expected f64",
                "`k`: expected a number, found the text \"soft\"",
            ),
            (
                "invalid value: integer `-3`, expected u32",
                "`k`: expected a whole number, 0 or more, found `-3`",
            ),
            (
                "invalid type: floating point `1.5`, expected u32",
                "`k`: expected a whole number, 0 or more, found `1.5`",
            ),
            (
                "invalid length 2, expected an array of length 3",
                "`k`: expected a list of 3, found one of 2",
            ),
            ("missing field `time`", "`k`: lacks `time`"),
            ("`inf` is not a finite number", "`k`: `inf` is not a finite number"),
        ] {
            assert_eq!(say(message, Some("k")).0, wanted);
        }
        let (message, help) =
            say("unknown variant `log`, expected `stable` or `logg`", Some("law"));
        assert_eq!(message, "`law`: `log` is not one of its values");
        assert_eq!(help.unwrap(), "did you mean `logg`? (known: `stable`, `logg`)");
    }
}
