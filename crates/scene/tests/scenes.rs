//! Every file under `scenes/` loads, and the numbers in it are the ones that were meant.

use gusset_builtin as _;
use gusset_mesh::{Mobility, Role};
use gusset_scene::{Scene, load};
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes")
}

fn scene(name: &str) -> Scene {
    load(&folder().join(name), &[]).unwrap_or_else(|error| panic!("{error}"))
}

fn files(folder: &Path, all: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("the folder of the scenes") {
        let path = entry.expect("a readable folder").path();
        if path.is_dir() {
            files(&path, all);
        } else if path.extension().is_some_and(|e| e == "toml") && !path.ends_with("report.toml") {
            all.push(path);
        }
    }
}

#[test]
fn every_scene_loads_and_says_how_to_run_it() {
    let mut all = Vec::new();
    files(&folder(), &mut all);
    all.sort();
    assert!(all.len() >= 16, "only {} scenes", all.len());
    for path in all {
        let scene = load(&path, &[]).unwrap_or_else(|error| panic!("{error}"));
        assert!(scene.steps > 0 && scene.model.world.vertex_count() > 0);
        let text = std::fs::read_to_string(&path).unwrap();
        let relative = path.strip_prefix(folder()).unwrap().display().to_string();
        assert!(text.starts_with("# "), "{relative} begins with a comment");
        assert!(text.contains(&format!("gusset run scenes/{relative}")), "{relative}");
        assert!(text.contains("\ndt = "), "{relative}: dt stands on a line of its own");
        if text.contains("\nbase = ") {
            // What it stands on is written out.
            let again = gusset_scene::read("again", &scene.resolved, Path::new("."), &[]).unwrap();
            assert_eq!((again.resolved, again.steps), (scene.resolved, scene.steps), "{relative}");
        } else {
            assert_eq!(scene.resolved, text, "{relative}: nothing was overridden");
        }
    }
}

#[test]
fn drape_is_as_the_peers_ran_it() {
    for n in [32_usize, 64, 128, 256] {
        let scene = scene(&format!("bench/drape-{n}.toml"));
        let [cloth, ball, floor] = &scene.model.world.bodies[..] else { panic!() };
        assert_eq!(cloth.vertex_count(), (n + 1) * (n + 1));
        assert_eq!((ball.vertex_count(), floor.vertex_count()), (642, 17 * 17));
        let corner = cloth.start[0];
        let (c, s) = (0.1_f64.cos(), 0.1_f64.sin());
        assert!((corner.x - (-0.5 * c + 0.5 * s)).abs() < 1e-15);
        assert!((corner.y - (-0.5 * s - 0.5 * c)).abs() < 1e-15);
        assert_eq!(corner.z, 0.157);
        assert!((cloth.mass.iter().sum::<f64>() - 0.2).abs() < 1e-12);
        let (mu, lambda) = cloth.material.lame_plane_stress().unwrap();
        assert!((mu - 1e4).abs() < 1e-8 && (lambda - 20_000.0 / 3.0).abs() < 1e-8);
        assert!(ball.start.iter().all(|x| (x.length() - 0.15).abs() < 1e-15));
        assert!(floor.start.iter().all(|x| x.z == -0.35));
        assert_eq!((scene.steps, scene.settings.dt, scene.settings.tolerance), (100, 0.01, 1e-5));
        let contact = scene.model.contact.unwrap();
        assert_eq!((contact.parameters.dhat, contact.min_gap), (0.003, 0.0));
        let kinds: Vec<&str> = scene.model.terms.iter().map(|t| t.kind()).collect();
        assert_eq!(kinds[..3], ["inertia", "neo-hookean", "hinge"]);
        assert!(kinds.contains(&"barrier") && kinds.contains(&"friction"));
    }
}

#[test]
fn the_bag_has_the_counts_of_the_article() {
    let scene = scene("bag/smoke.toml");
    let world = &scene.model.world;
    assert_eq!(world.vertex_count(), 622);
    let film = world.body("film").unwrap();
    assert_eq!((film.vertex_count(), film.triangles.len()), (481, 928));
    assert!((film.mass.iter().sum::<f64>() * 1e3 - 2.194).abs() < 1e-3);
    let spheres = world.body("spheres").unwrap();
    assert!((spheres.mass.iter().sum::<f64>() * 1e3 - 77.0).abs() < 0.1);
    let held = world.gather(|b| &b.mobility).iter().filter(|m| **m == Mobility::Fixed).count();
    assert_eq!(held, 134);
    assert!(scene.warnings.is_empty(), "{}", scene.warnings[0]);
}

#[test]
fn crossing_scenes_move_twelve_millimetres() {
    for name in ["reference/cross-vt.toml", "reference/cross-ee.toml"] {
        let scene = scene(name);
        let film = scene.model.world.body("film").unwrap();
        let step = film.velocity[0].z * scene.settings.dt;
        assert!((step + 0.012).abs() < 1e-17, "{step}");
        assert!((scene.model.contact.unwrap().min_gap - 30e-6).abs() < 1e-20);
    }
}

#[test]
fn ball_and_wall_is_the_article_s() {
    let scene = scene("reference/ball-wall.toml");
    assert_eq!(scene.model.world.body("wall").unwrap().role, Role::Slab);
    assert_eq!(scene.state.x.len(), 1);
    assert_eq!(scene.steps, 80);
    assert_eq!(scene.settings.max_iterations, 59);
    assert!(scene.settings.stop_before_update && scene.settings.accept_exhausted);
}

#[test]
fn a_written_back_scene_is_the_same_scene() {
    let overrides = [
        "solver.tolerance_speed=1e-5".to_owned(),
        "body.cloth.shape.cells=[8, 8]".to_owned(),
        "contact.stiffness=12.5".to_owned(),
    ];
    let path = folder().join("bench/drape-32.toml");
    let first = load(&path, &overrides).unwrap();
    assert_eq!(first.model.world.body("cloth").unwrap().vertex_count(), 81);
    assert!((first.settings.tolerance - 1e-7).abs() < 1e-20);
    let again = gusset_scene::read("again.toml", &first.resolved, Path::new("/"), &[]).unwrap();
    assert_eq!(again.state, first.state);
    assert_eq!(again.settings, first.settings);
    assert_eq!(again.model.contact, first.model.contact);
    assert_eq!(again.resolved, first.resolved);
}

#[test]
fn mesh_files_are_found_beside_the_scene_and_scaled() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("t.obj"), "v 0 0 0\nv 20 0 0\nv 0 10 0\nf 1 2 3\n").unwrap();
    let path = folder.path().join("scene.toml");
    let text = "units = { length = 'mm' }\ndt = 0.01\nduration = 1\n[[body]]\nname = 'a'\n\
                shape = { kind = 'file', path = 't.obj' }\nscale = [1, 2, 1]\n\
                rotate = { axis = [0, 0, 1], angle = 90 }\ntranslate = ['1 m', 0, 0]\n\
                material = { area_density = '2 kg/m^2' }\n";
    std::fs::write(&path, text).unwrap();
    let scene = load(&path, &[]).unwrap();
    let body = &scene.model.world.bodies[0];
    for (found, wanted) in
        body.start.iter().zip([[1.0, 0.0, 0.0], [1.0, 0.02, 0.0], [0.98, 0.0, 0.0]])
    {
        assert!(found.distance(wanted.into()) < 1e-15, "{found}");
    }
    assert!((body.mass.iter().sum::<f64>() - 2.0 * 0.5 * 0.02 * 0.02).abs() < 1e-18);
    // Read from elsewhere, the written copy still finds the mesh.
    let again =
        gusset_scene::read("again.toml", &scene.resolved, Path::new("/nowhere"), &[]).unwrap();
    assert_eq!(again.state, scene.state);
    // Reading wrote nothing.
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
}

/// Walks a schema and lists the keys without a description, in them or in what they refer to.
fn undescribed(
    value: &serde_json::Value,
    root: &serde_json::Value,
    path: &str,
    found: &mut Vec<String>,
) {
    match value {
        serde_json::Value::Object(object) => {
            if let Some(properties) = object.get("properties").and_then(|p| p.as_object()) {
                for (key, property) in properties {
                    let target = property["$ref"]
                        .as_str()
                        .and_then(|r| root.pointer(&r[1..].replace("%20", " ")));
                    let described = |v: &serde_json::Value| v["description"].is_string();
                    if !described(property) && !target.is_some_and(described) {
                        found.push(format!("{path}.{key}"));
                    }
                }
            }
            for (key, inner) in object {
                undescribed(inner, root, &format!("{path}.{key}"), found);
            }
        }
        serde_json::Value::Array(list) => {
            for (k, inner) in list.iter().enumerate() {
                undescribed(inner, root, &format!("{path}[{k}]"), found);
            }
        }
        _ => {}
    }
}

#[test]
fn every_key_of_the_schema_has_a_description() {
    let schema = gusset_scene::schema(gusset_energy::registry());
    let mut found = Vec::new();
    undescribed(&schema, &schema, "", &mut found);
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn every_reference_of_the_schema_leads_somewhere() {
    fn walk(value: &serde_json::Value, root: &serde_json::Value) {
        if let Some(reference) = value.get("$ref").and_then(|r| r.as_str()) {
            assert!(root.pointer(&reference[1..].replace("%20", " ")).is_some(), "{reference}");
        }
        match value {
            serde_json::Value::Object(object) => object.values().for_each(|v| walk(v, root)),
            serde_json::Value::Array(list) => list.iter().for_each(|v| walk(v, root)),
            _ => {}
        }
    }
    let schema = gusset_scene::schema(gusset_energy::registry());
    walk(&schema, &schema);
    let kinds = schema["properties"]["energy"]["items"]["oneOf"].as_array().unwrap();
    assert_eq!(kinds.len(), gusset_energy::registry().names().count());
}
