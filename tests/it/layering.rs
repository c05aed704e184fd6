//! The arrows of `ARCHITECTURE.md` against what cargo knows.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Which crates of `crates/` each of them may use, without the prefix `gusset-`.
const ARROWS: [(&str, &[&str]); 14] = [
    ("scalar", &[]),
    ("trace", &["scalar"]),
    ("units", &[]),
    ("mesh", &["units"]),
    ("energy", &["scalar", "trace", "units", "mesh"]),
    ("contact", &["energy", "mesh"]),
    ("system", &["energy", "mesh"]),
    ("gpu", &["trace", "energy", "system", "contact"]),
    ("solve", &["energy", "mesh", "contact", "system"]),
    ("vbd", &["energy", "mesh", "contact", "solve"]),
    ("output", &[]),
    ("scene", &["units", "mesh", "energy", "contact", "system", "solve", "vbd"]),
    (
        "cli",
        &["units", "mesh", "energy", "contact", "system", "gpu", "solve", "vbd", "output", "scene"],
    ),
    (
        "gusset",
        &[
            "scalar", "trace", "units", "mesh", "energy", "contact", "system", "solve", "vbd",
            "output", "scene", "cli",
        ],
    ),
];

/// What an energy may use, besides crates from outside.
const OF_ENERGIES: [&str; 4] = ["energy", "scalar", "mesh", "units"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// A package of the workspace.
struct Package {
    /// Folder that its folder is in, and its own: `crates`, `mesh`.
    place: (String, String),
    /// Names of the packages that it uses, by kind of use: normal and build together, and for tests alone.
    uses: BTreeSet<String>,
    tests_use: BTreeSet<String>,
}

fn packages() -> BTreeMap<String, Package> {
    let out = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1", "--offline"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let json: Value = serde_json::from_slice(&out.stdout).unwrap();
    let text = |v: &Value| v.as_str().unwrap().to_owned();
    let package = |p: &Value| {
        let folder = PathBuf::from(text(&p["manifest_path"])).parent().unwrap().to_owned();
        let name = |p: &Path| p.file_name().unwrap().to_str().unwrap().to_owned();
        let place = (name(folder.parent().unwrap()), name(&folder));
        let (mut uses, mut tests_use) = (BTreeSet::new(), BTreeSet::new());
        for dependency in p["dependencies"].as_array().unwrap() {
            let of = if dependency["kind"] == "dev" { &mut tests_use } else { &mut uses };
            of.insert(text(&dependency["name"]));
        }
        (text(&p["name"]), Package { place, uses, tests_use })
    };
    json["packages"].as_array().unwrap().iter().map(package).collect()
}

fn short(name: &str) -> &str {
    name.strip_prefix("gusset-").unwrap_or(name)
}

#[test]
fn arrows_point_one_way() {
    let packages = packages();
    let mut wrong = Vec::new();
    for (name, package) in packages.iter().filter(|p| p.1.place.0 == "crates") {
        assert_eq!(short(name), package.place.1, "the folder has the crate's name");
        let Some((_, may)) = ARROWS.iter().find(|a| a.0 == short(name)) else {
            wrong.push(format!("{name} is in no row of the arrows"));
            continue;
        };
        for used in package.uses.iter().filter(|used| packages.contains_key(*used)) {
            if !may.contains(&short(used)) {
                wrong.push(format!("{name} uses {used}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    for (name, may) in ARROWS {
        assert!(
            packages.contains_key(name) || packages.contains_key(&format!("gusset-{name}")),
            "there is no {name}"
        );
        let earlier = |used: &&str| {
            let place = |n: &str| ARROWS.iter().position(|a| a.0 == n);
            place(used) < place(name)
        };
        assert!(may.iter().all(earlier), "{name}: the table itself has a cycle");
    }
}

#[test]
fn energies_know_nothing_above_them() {
    let packages = packages();
    let energies: Vec<_> = packages.iter().filter(|p| p.1.place.0 == "energies").collect();
    assert!(energies.len() > 10);
    for (name, package) in &energies {
        // What gathers the others, and the author's crate with a tool of its own.
        let gathers = matches!(package.place.1.as_str(), "builtin" | "template");
        for used in package.uses.iter().filter(|used| packages.contains_key(*used)) {
            let allowed = OF_ENERGIES.contains(&short(used))
                || (gathers && packages[used].place.0 == "energies")
                || (package.place.1 == "template" && short(used) == "cli");
            assert!(allowed, "{name} uses {used}");
        }
        for used in package.tests_use.iter().filter(|used| packages.contains_key(*used)) {
            let allowed = OF_ENERGIES.contains(&short(used))
                || short(used) == "trace"
                || (gathers && packages[used].place.0 == "energies");
            assert!(allowed, "tests of {name} use {used}");
        }
    }
    // Nothing in crates/ uses an energy but in its tests.
    for (name, package) in packages.iter().filter(|p| p.1.place.0 == "crates") {
        let energy = |used: &&String| packages.get(*used).is_some_and(|p| p.place.0 == "energies");
        assert_eq!(package.uses.iter().find(energy), None, "{name}");
    }
    // Each kind that comes along is gathered.
    let builtin = &packages["gusset-builtin"];
    for (name, package) in &energies {
        if !matches!(package.place.1.as_str(), "builtin" | "template") {
            assert!(builtin.uses.contains(*name), "{name} is not in gusset-builtin");
        }
    }
}

/// Only one crate may talk to a GPU.
#[test]
fn no_gpu_but_in_its_crate() {
    for (name, package) in packages() {
        for used in package.uses.iter().chain(&package.tests_use) {
            let gpu = ["vulkan", "ash", "shaderc", "wgpu"].iter().any(|g| used.starts_with(g));
            assert!(!gpu || short(&name) == "gpu", "{name} uses {used}");
        }
    }
}

/// All Rust files of the checkout.
fn sources(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let name = entry.file_name().unwrap().to_str().unwrap();
        if entry.is_dir() {
            if !matches!(name, "target" | "node_modules") && !name.starts_with('.') {
                sources(&entry, out);
            }
        } else if entry.extension().is_some_and(|e| e == "rs") {
            out.push(entry);
        }
    }
}

#[test]
fn nothing_opts_out_of_safety() {
    let mut files = Vec::new();
    for folder in ["crates", "energies", "tools", "tests"] {
        sources(&root().join(folder), &mut files);
    }
    assert!(files.len() > 100, "{}", files.len());
    // Vulkan is a C interface, and wrapped in one place.
    files.retain(|file| !file.starts_with(root().join("crates/gpu/src/vulkan")));
    files.retain(|file| *file != root().join("crates/gpu/src/lib.rs"));
    // Put together, so that this file doesn't find itself.
    let word = ["un", "safe"].concat();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        for (k, line) in text.lines().enumerate() {
            let code = line.split("//").next().unwrap();
            let found = [format!("{word} "), format!("{word}{{"), format!("{word}_code")];
            let found = found.iter().any(|f| code.contains(f.as_str()));
            assert!(!found, "{}:{}: {line}", file.display(), k + 1);
        }
    }
}
