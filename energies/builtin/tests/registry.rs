//! Linking the crate is enough to know its kinds.

use gusset_builtin as _;

#[test]
fn all_kinds_are_registered() {
    let names: Vec<&str> = gusset_energy::registry().names().collect();
    let expected = [
        "barrier",
        "drag",
        "friction",
        "hinge",
        "inertia",
        "neo-hookean",
        "penalty",
        "stvk",
        "support",
        "tet-neo-hookean",
        "tie",
    ];
    assert_eq!(names, expected);
}

#[test]
fn every_key_of_every_kind_is_documented() {
    for kind in gusset_energy::registry().iter() {
        assert!(!kind.about.is_empty());
        let schema = (kind.schema)();
        let keys = schema.get("properties").and_then(|p| p.as_object()).into_iter().flatten();
        for (key, schema) in keys {
            assert!(schema.get("description").is_some(), "`{key}` of `{}` has no text", kind.name);
        }
    }
}
