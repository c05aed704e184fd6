//! What the registry holds, and how well each kind describes itself.

use gusset_energy::registry;
use serde_json::Value;

#[test]
fn the_registry_holds_what_is_linked() {
    let names: Vec<&str> = registry().names().collect();
    let expected = [
        "barrier",
        "drag",
        "friction",
        "hinge",
        "inertia",
        "neo-hookean",
        "penalty",
        "spring",
        "stvk",
        "support",
        "tet-neo-hookean",
        "tie",
    ];
    assert_eq!(names, expected, "a kind that isn't linked is missing without a word");
    for kind in registry().iter() {
        let package = if kind.name == "spring" { "template" } else { kind.name };
        assert_eq!(kind.package, format!("gusset-{package}"));
        let about = kind.about;
        assert!(about.len() > 20 && !about.ends_with('.'), "{}: {about}", kind.name);
    }
}

/// What a property is, in place or where it refers to.
fn resolve<'a>(property: &'a Value, root: &'a Value) -> &'a Value {
    match property["$ref"].as_str() {
        Some(reference) => root.pointer(&reference[1..].replace("%20", " ")).unwrap(),
        None => property,
    }
}

/// All ways of saying a value: itself, or each of its alternatives, or what a list holds.
fn alternatives<'a>(value: &'a Value, root: &'a Value, out: &mut Vec<&'a Value>) {
    let value = resolve(value, root);
    let mut inner = false;
    for key in ["anyOf", "oneOf", "allOf"] {
        for one in value[key].as_array().into_iter().flatten() {
            inner = true;
            alternatives(one, root, out);
        }
    }
    if let Some(items) = value.get("items") {
        inner = true;
        alternatives(items, root, out);
    }
    for one in value["prefixItems"].as_array().into_iter().flatten() {
        inner = true;
        alternatives(one, root, out);
    }
    if !inner {
        out.push(value);
    }
}

/// Numbers that are what they are in any units: a ratio, degrees, a direction.
const PLAIN: [&str; 3] = ["factor", "rotate", "axis"];

/// Notes every field of `object` without a description, and every quantity without a unit.
fn walk(object: &Value, root: &Value, path: &str, depth: u32, found: &mut Vec<String>) {
    let properties = object["properties"].as_object();
    for (key, property) in properties.into_iter().flatten() {
        let path = format!("{path}.{key}");
        let described =
            [property, resolve(property, root)].iter().any(|v| v["description"].is_string());
        if !described {
            found.push(format!("{path} has no description"));
        }
        let mut ways = Vec::new();
        alternatives(property, root, &mut ways);
        for way in ways {
            let is = |t: &str| {
                way["type"] == t
                    || way["type"].as_array().is_some_and(|all| all.contains(&t.into()))
            };
            let anything = way["type"].is_null() && way.get("const").is_none();
            let united = way["unit"].is_string() || property["unit"].is_string();
            if (is("number") || anything) && !united && !PLAIN.contains(&key.as_str()) {
                found.push(format!("{path} has no unit: {way}"));
            }
            if is("object") && depth < 4 {
                walk(way, root, &path, depth + 1, found);
            }
        }
    }
}

#[test]
fn every_key_is_described_and_every_quantity_has_its_unit() {
    let mut found = Vec::new();
    for kind in registry().iter() {
        let schema = (kind.schema)().to_value();
        assert!(schema["description"].is_string(), "{} says nothing of itself", kind.name);
        assert_eq!(schema["additionalProperties"], false, "{} takes any key", kind.name);
        walk(&schema, &schema, kind.name, 0, &mut found);
    }
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn the_schema_of_scenes_knows_all_kinds() {
    let schema = gusset_scene::schema(registry());
    let text = schema.to_string();
    for kind in registry().names() {
        assert!(text.contains(&format!("\"const\":\"{kind}\"")), "{kind}");
    }
}
