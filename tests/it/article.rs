//! The article's comparison of its two backends, by the commands that `shaders/README.md` gives: both sides stop far below what
//! is compared, so that stopping is not what is compared.

#![allow(clippy::print_stderr, reason = "distances are worth seeing")]

use crate::play::scenes;
use crate::tool::{Bench, gusset, skip};
use serde_json::Value;
use std::path::Path;

/// Positions may be so far apart (m).
const WITHIN: &str = "2e-7";
/// A position tolerance of 1 nm.
const TOLERANCE: &str = "solver.tolerance=\"1 nm\"";
/// Solved on the device to a residual of 1e-10.
const ON_DEVICE: [&str; 2] = ["solver.linear=\"pcg\"", "solver.pcg_tolerance=1e-10"];

/// Whether there is a device to compare.
fn device() -> bool {
    let listed = gusset(&["devices", "--json"]).done().json();
    let usable = |d: &Value| d["usable"] == true;
    let found = listed["devices"].as_array().unwrap().iter().any(usable);
    if !found {
        let required = std::env::var_os("GUSSET_REQUIRE_VULKAN").is_some();
        assert!(!required, "a Vulkan device is required here: {listed}");
        skip(&format!("no Vulkan device, so nothing was compared ({})", listed["none_because"]));
    }
    found
}

/// Runs some steps of a scene on a backend; the folder.
fn run(bench: &Bench, scene: &str, backend: &str, name: &str, steps: &str, set: &[&str]) -> String {
    let (path, out) = (scenes().join(scene).display().to_string(), bench.text(name));
    let mut args = vec!["run", &path, "--backend", backend, "--steps", steps, "--out", &out];
    args.extend(["--no-view", "--set", TOLERANCE]);
    args.extend(set.iter().flat_map(|key| ["--set", key]));
    gusset(&args).done();
    out
}

/// Compares two runs; `compare` fails where they are too far apart.
fn compare(what: &str, cpu: &str, gpu: &str, residual: f64) {
    let json = gusset(&["compare", cpu, gpu, "--within", WITHIN, "--json"]).done().json();
    let rows = json["rows"].as_array().unwrap();
    let residuals = rows.iter().find(|row| row["what"] == "largest linear residual").unwrap();
    let worst = residuals["values"][1].as_f64().unwrap();
    let apart = json["positions"]["distance"].as_f64().unwrap();
    eprintln!("{what}: {apart:.1e} m apart, linear residual {worst:.1e}");
    assert!(worst < residual, "{what}: linear residual {worst:e}");
}

#[test]
fn vertex_on_triangle_and_edge_on_edge() {
    if !device() {
        return;
    }
    let bench = Bench::new();
    for name in ["vt", "ee"] {
        let scene = format!("reference/{name}.toml");
        let cpu = run(&bench, &scene, "cpu", &format!("{name}-cpu"), "6", &[]);
        for (way, set) in [("direct", &[][..]), ("pcg", &ON_DEVICE)] {
            let gpu = run(&bench, &scene, "vulkan", &format!("{name}-{way}"), "6", set);
            compare(&format!("{name}, {way}"), &cpu, &gpu, 1e-7);
        }
    }
}

/// Dimensions of an array on disk.
fn shape(path: &Path) -> String {
    let bytes = std::fs::read(path).unwrap();
    let header = String::from_utf8_lossy(&bytes[10..128]).into_owned();
    let (_, rest) = header.split_once("'shape': ").unwrap();
    rest.split_inclusive(')').next().unwrap().to_owned()
}

#[test]
fn two_steps_of_the_bag() {
    if !device() {
        return;
    }
    let bench = Bench::new();
    let cpu = run(&bench, "bag/smoke.toml", "cpu", "cpu", "2", &[]);
    for (way, set) in [("direct", &[][..]), ("pcg", &ON_DEVICE)] {
        let gpu = run(&bench, "bag/smoke.toml", "vulkan", way, "2", set);
        for (file, dimensions) in [
            ("film.npy", "(3, 481, 3)"),
            ("spheres.npy", "(3, 7, 3)"),
            ("film-faces.npy", "(928, 3)"),
        ] {
            assert_eq!(shape(&Path::new(&gpu).join(file)), dimensions, "{file}");
        }
        compare(&format!("bag, {way}"), &cpu, &gpu, 1.001e-10);
    }
}
