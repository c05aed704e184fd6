//! A scene that changes another one: `base` names its file.

use crate::document;
use crate::section::{Problems, Value, kind_of};
use crate::source::Sources;
use std::path::Path;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

/// Scenes under one another at most.
const DEEPEST: usize = 8;

/// The texts that a scene stands on, nearest first.
#[derive(Default)]
pub(crate) struct Bases {
    /// Where each begins in the sources, and the text.
    texts: Vec<(usize, String)>,
    /// Why there are no more of them, though the last one names another.
    broken: Option<String>,
}

impl Bases {
    /// Reads them; `text` is the scene's own.
    pub(crate) fn read(name: &str, text: &str, folder: &Path, sources: &mut Sources) -> Self {
        let mut bases = Self::default();
        let mut names = vec![Path::new(name).file_name().unwrap_or_default().to_owned()];
        let mut next = base_of(text);
        while let Some(base) = next {
            if Path::new(&base).file_name() != Some(base.as_ref()) {
                bases.broken =
                    Some(format!("`{base}` is no file name; a base is in the scene's folder"));
                break;
            }
            if names.iter().any(|name| *name == *base) || names.len() > DEEPEST {
                bases.broken = Some(format!("`{base}` stands on this scene itself"));
                break;
            }
            let path = folder.join(&base);
            match std::fs::read_to_string(&path) {
                Ok(text) => {
                    let begin = sources.push(path.display().to_string(), &text);
                    next = base_of(&text);
                    names.push(base.into());
                    bases.texts.push((begin, text));
                }
                Err(error) => {
                    bases.broken = Some(format!("{} can't be read: {error}", path.display()));
                    break;
                }
            }
        }
        bases
    }

    /// Puts what they say under `root`. Says whether there was anything.
    pub(crate) fn merge<'i>(&'i self, root: &mut DeTable<'i>, problems: &mut Problems<'_>) -> bool {
        let mut asks = take_base(root, problems);
        for (begin, text) in &self.texts {
            let mut base = document::parse(text, *begin, problems);
            asks = take_base(&mut base, problems);
            under(root, base);
        }
        if let (Some(message), Some(asks)) = (&self.broken, asks) {
            problems.error(&asks.span(), format!("`base`: {message}"));
        }
        !self.texts.is_empty()
    }
}

/// The base that a text names, if it can be read.
fn base_of(text: &str) -> Option<String> {
    let (table, _) = DeTable::parse_recoverable(text);
    Some(table.get_ref().get("base")?.get_ref().as_str()?.to_owned())
}

fn take_base<'i>(table: &mut DeTable<'i>, problems: &mut Problems<'_>) -> Option<Value<'i>> {
    let value = table.remove("base")?;
    if value.get_ref().as_str().is_none() {
        let message = format!("`base` must be a text, found {}", kind_of(value.get_ref()));
        problems.error(&value.span(), message);
    }
    Some(value)
}

/// Fills `top` up with what it lacks of `base`.
fn under<'i>(top: &mut DeTable<'i>, base: DeTable<'i>) {
    for (key, value) in base {
        let Some(own) = top.get_mut(key.get_ref().as_ref()) else {
            top.insert(key, value);
            continue;
        };
        match (own.get_mut(), value.into_inner()) {
            (DeValue::Table(own), DeValue::Table(base)) if of_one_kind(own, &base) => {
                under(own, base);
            }
            (DeValue::Array(own), DeValue::Array(base))
                if tables(own.iter()) && tables(base.iter()) =>
            {
                let mut merged: Vec<Value<'i>> = base.into_iter().collect();
                for entry in std::mem::replace(own, DeArray::new()) {
                    change(&mut merged, entry);
                }
                *own = merged.into_iter().collect();
            }
            // What stands here counts.
            _ => {}
        }
    }
}

/// Changes the table in a list that is the same as `entry`, or adds it.
fn change<'i>(list: &mut Vec<Value<'i>>, entry: Value<'i>) {
    let DeValue::Table(wanted) = entry.get_ref() else { return };
    let same = list.iter().position(|value| {
        value.get_ref().as_table().is_some_and(|table| {
            match (text(table, "name"), text(wanted, "name")) {
                (None, None) => {
                    let keys = ["kind", "body"].map(|key| text(wanted, key));
                    keys.iter().any(Option::is_some)
                        && keys == ["kind", "body"].map(|key| text(table, key))
                }
                (a, b) => a == b,
            }
        })
    });
    let Some(place) = same else {
        list.push(entry);
        return;
    };
    let span = entry.span();
    let old = std::mem::replace(&mut list[place], entry);
    let (DeValue::Table(top), DeValue::Table(base)) = (list[place].get_mut(), old.into_inner())
    else {
        return;
    };
    if of_one_kind(top, &base) {
        under(top, base);
    }
    let table = std::mem::take(top);
    list[place] = Spanned::new(span, DeValue::Table(table));
}

/// Whether a table changes another one, rather than taking its place.
fn of_one_kind(top: &DeTable<'_>, base: &DeTable<'_>) -> bool {
    text(top, "kind").is_none() || text(top, "kind") == text(base, "kind")
}

fn tables<'a, 'i: 'a>(mut list: impl Iterator<Item = &'a Value<'i>>) -> bool {
    list.all(|value| value.get_ref().is_table())
}

fn text<'a>(table: &'a DeTable<'_>, key: &str) -> Option<&'a str> {
    table.get(key)?.get_ref().as_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(top: &str, base: &str) -> toml::Table {
        let mut root = DeTable::parse(top).unwrap().into_inner();
        under(&mut root, DeTable::parse(base).unwrap().into_inner());
        document::plain(&root)
    }

    #[test]
    fn what_stands_in_a_scene_counts_before_its_base() {
        let base = "dt = 1\nduration = 2\n[solver]\ntolerance = 3\n[contact]\ndhat = 4\nskin = 5\n\
                    [[energy]]\nkind = 'hinge'\nbody = 'a'\nbending = 6\n[[energy]]\nkind = 'drag'\nbody = 'a'\n\
                    [[probe]]\nname = 'p'\nkind = 'speed'\n";
        let top = "dt = 7\n[solver]\nkind = 'vbd'\n[contact]\ndhat = 8\n[[energy]]\nkind = 'hinge'\nbody = 'a'\n\
                   damping = 9\n[[energy]]\nkind = 'hinge'\nbody = 'b'\n[[probe]]\nname = 'p'\nbody = 'a'\n";
        let wanted = "dt = 7\nduration = 2\n[solver]\nkind = 'vbd'\n[contact]\ndhat = 8\nskin = 5\n\
                      [[energy]]\nkind = 'hinge'\nbody = 'a'\nbending = 6\ndamping = 9\n\
                      [[energy]]\nkind = 'drag'\nbody = 'a'\n[[energy]]\nkind = 'hinge'\nbody = 'b'\n\
                      [[probe]]\nname = 'p'\nkind = 'speed'\nbody = 'a'\n";
        assert_eq!(merged(top, base), wanted.parse::<toml::Table>().unwrap());
    }
}
