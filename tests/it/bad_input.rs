//! Bad input is refused: exit code 2, the place and the way out named, nothing left behind.

use crate::tool::{Bench, gusset};
use gusset_cli::Exit;

/// A change to the cloth scene, and what the refusal says.
const SCENES: &[(&str, &str, &[&str])] = &[
    ("dt = 0.01", "dt = 0", &["dt", "above 0", "3:6"]),
    ("dt = 0.01", "dt = -1", &["dt", "above 0"]),
    ("dt = 0.01", "dt = nan", &["dt"]),
    ("dt = 0.01", "dt = ", &["toml:3"]),
    ("dt = 0.01", "", &["lacks `dt`"]),
    ("duration = 0.4", "duration = -1", &["duration", "0 or more"]),
    ("friction = 0.3", "fricton = 0.3", &["fricton", "did you mean `friction`"]),
    ("\"neo-hookean\"", "\"neohookean\"", &["neohookean", "neo-hookean"]),
    ("area_density = 0.2", "area_density = -0.2", &["area_density"]),
    ("young = 2.5e7", "young = \"2.5e7 kg\"", &["young", "Pa"]),
    ("cells = [12, 12]", "cells = [40000, 40000]", &["vertices"]),
    ("cells = [12, 12]", "cells = [0, 12]", &["cells"]),
    ("dhat = 3e-3", "dhat = 0", &["dhat", "above 0"]),
    ("body = \"cloth\"\n\n", "body = \"clth\"\n\n", &["clth", "did you mean `cloth`"]),
    ("translate = [0, 0, 0.105]", "translate = [0, 0, inf]", &["translate"]),
    (
        "{ kind = \"icosphere\", radius = 0.1, subdivisions = 2 }",
        "{ kind = \"file\", path = \"no-such.obj\" }",
        &["no-such.obj"],
    ),
];

#[test]
fn scenes_with_mistakes_are_refused() {
    for (from, to, parts) in SCENES {
        let bench = Bench::new();
        let text = std::fs::read_to_string(bench.scene()).unwrap();
        assert!(text.contains(from), "{from}");
        let scene = bench.write("bad.toml", &text.replacen(from, to, 1));
        let out = bench.text("out");
        let said = gusset(&["run", &scene, "--out", &out, "--json"]);
        assert_eq!(said.exit, Exit::BadInput, "{to}: {}", said.messages);
        for part in *parts {
            assert!(said.messages.contains(part), "{to}: no `{part}` in:\n{}", said.messages);
        }
        let json = said.json();
        assert!(json["error"].is_string(), "{json}");
        assert!(json["diagnostics"][0]["message"].is_string(), "{json}");
        assert!(!bench.path("out").exists(), "{to}");
    }
}

/// A mesh with a mistake, and what the refusal says.
const MESHES: &[(&str, &str, &[&str])] = &[
    ("area.obj", "v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n", &["area"]),
    (
        "twice.obj",
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 0\nv -1 0 0\nf 1 2 3\nf 4 3 5\n",
        &["vertices 0 and 3", "same"],
    ),
    (
        "edge.obj",
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 -1 0\nv 0 0 1\nf 1 2 3\nf 2 1 4\nf 1 2 5\n",
        &["edge"],
    ),
    ("nan.obj", "v 0 0 nan\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", &["nan.obj:1"]),
    ("index.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n", &["9"]),
];

#[test]
fn meshes_with_mistakes_are_refused() {
    for (name, mesh, parts) in MESHES {
        let bench = Bench::new();
        bench.write(name, mesh);
        let text = std::fs::read_to_string(bench.scene()).unwrap();
        let shape = "{ kind = \"grid\", size = [0.5, 0.5], cells = [12, 12] }";
        let file = format!("{{ kind = \"file\", path = \"{name}\" }}");
        let scene = bench.write("bad.toml", &text.replacen(shape, &file, 1));
        let said = gusset(&["run", &scene, "--out", &bench.text("out")]);
        assert_eq!(said.exit, Exit::BadInput, "{name}: {}", said.messages);
        for part in *parts {
            assert!(said.messages.contains(part), "{name}: no `{part}` in:\n{}", said.messages);
        }
        assert!(!bench.path("out").exists(), "{name}");
    }
}

#[test]
fn command_lines_with_mistakes_are_refused() {
    let bench = Bench::new();
    let (scene, folder) = (bench.scene(), bench.text(""));
    bench.write("file", "something");
    let cases: &[(&[&str], &str)] = &[
        (&[], "Usage"),
        (&["fly"], "fly"),
        (&["run"], "SCENE"),
        (&["run", "no-such.toml"], "no-such.toml"),
        (&["run", &folder], "is a folder"),
        (&["run", &scene, "--until", "-1"], "--until"),
        (&["run", &scene, "--until", "nan"], "--until"),
        (&["run", &scene, "--until", "1e300"], "--until"),
        (&["run", &scene, "--steps", "-3"], "-3"),
        (&["run", &scene, "--steps", "3", "--until", "1"], "--until"),
        (&["run", &scene, "--threads", "0"], "--threads"),
        (&["run", &scene, "--threads", "many"], "--threads"),
        (&["run", &scene, "--backend", "cuda"], "vulkan"),
        (&["run", &scene, "--backend", "cpu", "--device", "0"], "--backend vulkan"),
        (&["run", &scene, "--resume", "--force"], "--force"),
        (&["run", &scene, "--resume", "--out", "no-such-run"], "no such folder"),
        (&["run", &scene, "--out", &bench.text("file")], "it is a file"),
        (&["run", &scene, "--out", &folder], "not empty"),
        (&["run", &scene, "--out", &folder, "--force"], "no run"),
        (&["run", &scene, "--set", "dt"], "sets nothing"),
        (&["run", &scene, "--set", "solver.tolerence=1"], "tolerance"),
        (&["check", "no-such.toml"], "no-such.toml"),
        (&["check", &folder], "run.json"),
        (&["view", "no-such-run"], "no-such-run"),
        (&["view", &folder, "--frame", "1"], "--png"),
        (&["export", "no-such-run", "--format", "vtk"], "no-such-run"),
        (&["export", &folder, "--format", "fbx"], "vtk"),
        (&["bench", "no-such.toml"], "no-such.toml"),
        (&["bench"], "SCENES"),
        (&["energies", "none"], "none"),
        (&["new-energy", "Spring"], "lower-case"),
        (&["new-energy", "hinge"], "already"),
        (&["new-energy", "soft-net", "--root", &folder], "--root"),
    ];
    for (args, part) in cases {
        let said = gusset(args);
        assert_eq!(said.exit, Exit::BadInput, "{args:?}: {}{}", said.out, said.messages);
        assert!(said.messages.contains(part), "{args:?}: no `{part}` in:\n{}", said.messages);
        assert!(said.out.is_empty(), "{args:?}: {}", said.out);
    }
    let json = gusset(&["run", "no-such.toml", "--json"]).json();
    assert!(json["error"].as_str().unwrap().contains("no-such.toml"), "{json}");
    let json = gusset(&["run", "--json", "--threads", "0", &scene]).json();
    assert!(json["error"].as_str().unwrap().contains("--threads"), "{json}");
}
