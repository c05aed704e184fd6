//! What is different between two scenes, key by key.

use toml::{Table, Value};

/// The differences in words, each with its path as `--set` names it: "`contact.friction` was 0.35 and is 0.4". Empty
/// where only comments and layout differ.
pub(super) fn changes(before: &str, now: &str) -> Vec<String> {
    if before == now {
        return Vec::new();
    }
    match (before.parse::<Table>(), now.parse::<Table>()) {
        (Ok(before), Ok(now)) => {
            let mut found = Vec::new();
            compare("", &Value::Table(before), &Value::Table(now), &mut found);
            found
        }
        _ => vec!["the text of the scene".to_owned()],
    }
}

fn compare(path: &str, before: &Value, now: &Value, found: &mut Vec<String>) {
    if before == now {
        return;
    }
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match (before, now) {
        (Value::Table(before), Value::Table(now)) => {
            for (key, value) in before {
                match now.get(key) {
                    Some(other) => compare(&below(key), value, other, found),
                    None => {
                        found.push(format!("`{}` is gone; it was {}", below(key), short(value)));
                    }
                }
            }
            for (key, value) in now.iter().filter(|(key, _)| !before.contains_key(*key)) {
                found.push(format!("`{}` is new: {}", below(key), short(value)));
            }
        }
        (Value::Array(before), Value::Array(now)) if tables(before) && tables(now) => {
            let (before, now) = (by_name(before, now), by_name(now, before));
            compare(path, &Value::Table(before), &Value::Table(now), found);
        }
        _ => found.push(format!("`{path}` was {} and is {}", short(before), short(now))),
    }
}

fn tables(list: &[Value]) -> bool {
    list.iter().all(Value::is_table)
}

/// A list of tables as a table: by `name`, else by `kind`, else by place, whichever is unique in this list and the other.
fn by_name(list: &[Value], other: &[Value]) -> Table {
    let names = |list: &[Value]| -> Option<Vec<String>> {
        let name = |table: &Value| {
            let text = table.get("name").or_else(|| table.get("kind"))?;
            text.as_str().map(str::to_owned)
        };
        let names: Vec<String> = list.iter().map(name).collect::<Option<_>>()?;
        let mut sorted = names.clone();
        sorted.sort();
        sorted.dedup();
        (sorted.len() == names.len()).then_some(names)
    };
    let keys = match (names(list), names(other)) {
        (Some(names), Some(_)) => names,
        _ => (0..list.len()).map(|i| i.to_string()).collect(),
    };
    keys.into_iter().zip(list.iter().cloned()).collect()
}

/// A value as in the file, cut where it is long.
fn short(value: &Value) -> String {
    const MOST: usize = 120;
    let text = value.to_string();
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{} ...", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_named_by_path() {
        let before = "dt = 0.1\n[contact]\nfriction = 0.3\n[[energy]]\nkind = \"hinge\"\n\
                      [[energy]]\nname = \"hold\"\nkind = \"support\"\nstiffness = \"20 N/m\"\n";
        let now = "# new\ndt = 0.1\n[contact]\nfriction = 0.4\nskin = 2\n\
                   [[energy]]\nname = \"hold\"\nkind = \"support\"\nstiffness = \"30 N/m\"\n";
        assert_eq!(
            changes(before, now),
            [
                "`contact.friction` was 0.3 and is 0.4",
                "`contact.skin` is new: 2",
                "`energy.hinge` is gone; it was { kind = \"hinge\" }",
                "`energy.hold.stiffness` was \"20 N/m\" and is \"30 N/m\"",
            ]
        );
        assert!(changes(before, &format!("# a comment\n{before}")).is_empty());
    }

    #[test]
    fn lists_without_names_are_compared_by_place() {
        let text = |x: f64| format!("[[solver.phase]]\nfrom = 1\n[[solver.phase]]\nfrom = {x:?}\n");
        assert_eq!(changes(&text(2.0), &text(3.0)), ["`solver.phase.1.from` was 2.0 and is 3.0"]);
    }
}
