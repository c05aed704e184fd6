//! A scene file as TOML with places, and the overrides of the command line on top.

use crate::section::{Problems, Value, kind_of};
use crate::source::Sources;
use crate::suggest;
use std::borrow::Cow;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// What messages call the command line.
pub(crate) const COMMAND_LINE: &str = "<command line>";

/// Syntax errors that are shown at most.
const SHOWN: usize = 6;

/// Parses a file, of which `sources` holds a copy that begins at `begin`.
pub(crate) fn parse<'i>(text: &'i str, begin: usize, problems: &mut Problems<'_>) -> DeTable<'i> {
    let (table, mut errors) = DeTable::parse_recoverable(text);
    errors.sort_by_key(|e| e.span().map_or(0, |span| span.start));
    // What follows a mistake on its line, and after it in an open bracket, is mostly its echo.
    let mut last_line = None;
    let mut shown = 0;
    for error in &errors {
        let span = error.span().unwrap_or(0..0);
        let line = text.get(..span.start).map(|before| before.matches('\n').count());
        if line != last_line && shown < SHOWN {
            problems.error(&(span.start + begin..span.end + begin), error.message());
            shown += 1;
        }
        last_line = line;
    }
    if begin == 0 {
        return table.into_inner();
    }
    let span = table.span();
    match shifted(Spanned::new(span, DeValue::Table(table.into_inner())), begin).into_inner() {
        DeValue::Table(table) => table,
        _ => DeTable::new(),
    }
}

/// Sets one key of the parsed file. `text` is `path=value` and begins at `begin` in the sources; the path's parts are
/// keys, or for a list of tables an index or the `name` or `kind` of one of them.
pub(crate) fn apply<'i>(
    root: &mut DeTable<'i>,
    text: &'i str,
    begin: usize,
    problems: &mut Problems<'_>,
) {
    let Some((path, value)) = text.split_once('=') else {
        let all = begin..begin + text.len();
        problems.error_help(
            &all,
            format!("`{text}` sets nothing"),
            "write `key=value`, like `solver.tolerance=1e-6` or `body.cloth.translate=[0, 0, 1]`"
                .to_owned(),
        );
        return;
    };
    let at = begin + path.len() + 1;
    let end = begin + text.len();
    let value = match DeValue::parse(value) {
        Ok(parsed) => shifted(parsed, at),
        // A text needs no quotes on a command line.
        Err(_) => Spanned::new(at..end, DeValue::String(Cow::Borrowed(value.trim()))),
    };
    let mut parts = Vec::new();
    let mut from = begin;
    for part in path.split('.') {
        parts.push(Spanned::new(from..from + part.len(), part.trim()));
        from += part.len() + 1;
    }
    if let Err((span, message, help)) = set(root, &parts, value) {
        problems.error_help(&span, message, help);
    }
}

type Refusal = (Range<usize>, String, Option<String>);

fn set<'i>(
    table: &mut DeTable<'i>,
    parts: &[Spanned<&'i str>],
    value: Value<'i>,
) -> Result<(), Refusal> {
    let Some((first, rest)) = parts.split_first() else { return Ok(()) };
    let key = Spanned::new(first.span(), Cow::Borrowed(*first.get_ref()));
    if first.get_ref().is_empty() {
        return Err((first.span(), "a part of the path is empty".to_owned(), None));
    }
    if rest.is_empty() {
        table.remove(key.get_ref().as_ref()); // the old key would keep its old place
        table.insert(key, value);
        return Ok(());
    }
    let entry = table
        .entry(key)
        .or_insert_with(|| Spanned::new(first.span(), DeValue::Table(DeTable::new())));
    match entry.get_mut() {
        DeValue::Table(inner) => set(inner, rest, value),
        DeValue::Array(list) => {
            let wanted = &rest[0];
            let names: Vec<Vec<String>> = list.iter().map(|v| names_of(v.get_ref())).collect();
            let index = pick(&names, wanted.get_ref()).ok_or_else(|| {
                let what = first.get_ref();
                let known: Vec<&str> = names.iter().flatten().map(String::as_str).collect();
                (
                    wanted.span(),
                    format!("no single `{what}` is called `{}`", wanted.get_ref()),
                    suggest::help(wanted.get_ref(), known)
                        .or_else(|| Some("give its index, counted from 0".to_owned())),
                )
            })?;
            let Some(element) = list.get_mut(index) else { return Ok(()) };
            if rest.len() == 1 {
                *element = value;
                return Ok(());
            }
            match element.get_mut() {
                DeValue::Table(inner) => set(inner, &rest[1..], value),
                other => Err(not_a_table(wanted, other)),
            }
        }
        other => Err(not_a_table(first, other)),
    }
}

fn not_a_table(part: &Spanned<&str>, found: &DeValue<'_>) -> Refusal {
    let message = format!("`{}` is {}, it has no keys", part.get_ref(), kind_of(found));
    (part.span(), message, None)
}

fn names_of(element: &DeValue<'_>) -> Vec<String> {
    let text = |key: &str| element.as_table()?.get(key)?.get_ref().as_str().map(str::to_owned);
    [text("name"), text("kind")].into_iter().flatten().collect()
}

/// The one element that is called so, or has that index.
fn pick(names: &[Vec<String>], wanted: &str) -> Option<usize> {
    if let Ok(index) = wanted.parse::<usize>() {
        return (index < names.len()).then_some(index);
    }
    let mut called = (0..names.len()).filter(|&i| names[i].iter().any(|n| n == wanted));
    let first = called.next()?;
    called.next().is_none().then_some(first)
}

/// The same value `by` bytes further on.
fn shifted(value: Value<'_>, by: usize) -> Value<'_> {
    let move_span = |span: Range<usize>| span.start + by..span.end + by;
    let span = move_span(value.span());
    let inner = match value.into_inner() {
        DeValue::Array(mut list) => {
            for element in list.iter_mut() {
                let old = std::mem::replace(element, Spanned::new(0..0, DeValue::Boolean(false)));
                *element = shifted(old, by);
            }
            DeValue::Array(list)
        }
        DeValue::Table(table) => DeValue::Table(
            table
                .into_iter()
                .map(|(key, value)| {
                    let key_span = move_span(key.span());
                    (Spanned::new(key_span, key.into_inner()), shifted(value, by))
                })
                .collect(),
        ),
        plain => plain,
    };
    Spanned::new(span, inner)
}

/// The document without places, to be written back.
pub(crate) fn plain(table: &DeTable<'_>) -> toml::Table {
    table
        .iter()
        .map(|(key, value)| (key.get_ref().to_string(), plain_value(value.get_ref())))
        .collect()
}

fn plain_value(value: &DeValue<'_>) -> toml::Value {
    match value {
        DeValue::String(text) => toml::Value::String(text.to_string()),
        DeValue::Integer(n) => match i64::from_str_radix(n.as_str(), n.radix()) {
            Ok(n) => toml::Value::Integer(n),
            Err(_) => toml::Value::String(n.to_string()),
        },
        DeValue::Float(n) => match n.as_str().parse() {
            Ok(n) => toml::Value::Float(n),
            Err(_) => toml::Value::String(n.to_string()),
        },
        DeValue::Boolean(b) => toml::Value::Boolean(*b),
        DeValue::Datetime(d) => toml::Value::Datetime(*d),
        DeValue::Array(list) => {
            list.iter().map(|v| plain_value(v.get_ref())).collect::<Vec<_>>().into()
        }
        DeValue::Table(table) => toml::Value::Table(plain(table)),
    }
}

/// Copies the texts of the overrides behind the scene file's; returns where each begins.
pub(crate) fn add_overrides(sources: &mut Sources, overrides: &[String]) -> Vec<usize> {
    overrides.iter().map(|text| sources.push(COMMAND_LINE, text)).collect()
}
