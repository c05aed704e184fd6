//! Commands from end to end.

use crate::tool::{Bench, gusset};
use gusset_cli::Exit;
use std::io::Write;

#[test]
fn a_run_leaves_a_folder_that_every_command_reads() {
    let bench = Bench::new();
    let (scene, out) = (bench.scene(), bench.text("out"));
    let run = gusset(&["run", &scene, "--out", &out, "--json", "--threads", "2"]).done();
    let json = run.json();
    assert_eq!(
        (&json["steps"], &json["frames"], &json["retries"]),
        (&40.into(), &41.into(), &0.into())
    );
    assert!(json["iterations"].as_u64().unwrap() >= 40);
    let gap = json["smallest_gap"].as_f64().unwrap();
    assert!(gap > 0.0 && gap < 3e-3, "it lies on the ball: {gap}");
    for stage in [
        "candidates",
        "distances",
        "assembly",
        "factorisation",
        "solve",
        "step_bound",
        "line_search",
    ] {
        assert!(json["seconds"][stage].as_f64().unwrap() > 0.0, "{stage}");
    }
    assert_eq!((&json["threads"], &json["backend"]), (&2.into(), &"cpu".into()));
    assert!(std::path::Path::new(json["view"].as_str().unwrap()).is_file());

    let check = gusset(&["check", &out, "--json"]).done().json();
    assert_eq!((&check["frames"], &check["intersecting_frames"]), (&41.into(), &0.into()));
    assert!((check["min_gap"].as_f64().unwrap() - gap).abs() < 1e-9, "{check}");

    let probes = std::fs::read_to_string(bench.path("out/probes.csv")).unwrap();
    let lines: Vec<&str> = probes.lines().collect();
    assert_eq!(lines.len(), 42, "a head and a line for every state");
    assert!(
        lines[0].starts_with("time [s],lowest [m],clearance [m],on-ball.x [N]"),
        "{}",
        lines[0]
    );
    let last: Vec<f64> = lines[41].split(',').map(|n| n.parse().unwrap()).collect();
    assert!((last[0] - 0.4).abs() < 1e-12 && last[2] > 0.0);
    assert!(last[5] < 0.0, "the cloth presses the ball down");

    let png = bench.text("last.png");
    for colour in ["body", "speed", "gap", "height"] {
        gusset(&[
            "view", &out, "--png", &png, "--color", colour, "--width", "160", "--height", "100",
        ])
        .done();
        assert!(std::fs::read(&png).unwrap().starts_with(b"\x89PNG"));
    }
    gusset(&["view", &out, "--png", &png, "--time", "0.2", "--width", "160", "--height", "100"])
        .done();
    gusset(&["view", &out, "--png", &png, "--sheet", "4", "--width", "80", "--height", "60"])
        .done();
    let html = bench.text("page.html");
    gusset(&["view", &out, "--html", &html]).done();
    assert!(std::fs::read_to_string(&html).unwrap().contains("<html"));

    for format in ["vtk", "ply", "obj"] {
        let said = gusset(&["export", &out, "--format", format, "--every", "20"]).done();
        assert!(std::path::Path::new(said.out.trim()).is_file(), "{}", said.out);
    }
}

#[test]
fn a_run_that_lost_frames_gets_no_verdict() {
    let bench = Bench::new();
    let (scene, out) = (bench.scene(), bench.text("out"));
    gusset(&["run", &scene, "--out", &out, "--no-view"]).done();
    let path = bench.path("out/cloth.npy");
    let length = std::fs::metadata(&path).unwrap().len();
    std::fs::File::options().write(true).open(&path).unwrap().set_len(length / 2).unwrap();
    let check = gusset(&["check", &out]);
    assert_eq!(check.exit, Exit::BadInput);
    assert!(check.messages.contains("frames are cut off"), "{}", check.messages);
}

#[test]
fn nothing_is_overwritten_without_force() {
    let bench = Bench::new();
    let (scene, out) = (bench.scene(), bench.text("out"));
    let run = |more: &[&str]| {
        gusset(&[&["run", &scene, "--out", &out, "--no-view", "--steps", "2"], more].concat())
    };
    run(&[]).done();
    let refused = run(&[]);
    assert_eq!(refused.exit, Exit::BadInput);
    assert!(refused.messages.contains("--force") && refused.messages.contains("--resume"));
    run(&["--force"]).done();
}

#[test]
fn an_intersecting_start_is_refused_with_nothing_written() {
    let bench = Bench::new();
    let text = std::fs::read_to_string(bench.scene()).unwrap();
    let scene = bench.write("low.toml", &text.replace("0.105]", "0.05]"));
    let out = bench.text("out");
    let run = gusset(&["run", &scene, "--out", &out, "--json"]);
    assert_eq!(run.exit, Exit::BadInput);
    let error = run.json()["error"].as_str().unwrap().to_owned();
    assert!(error.contains("`cloth` triangle") && error.contains("`ball` triangle"), "{error}");
    assert!(!bench.path("out").exists());

    let check = gusset(&["check", &scene, "--json"]);
    assert_eq!(check.exit, Exit::Failed);
    assert_eq!(check.json()["intersecting_frames"], 1);
    let check = gusset(&["check", &bench.scene(), "--json"]).done().json();
    assert_eq!((&check["frames"], &check["intersecting_frames"]), (&1.into(), &0.into()));
}

#[test]
fn frames_with_intersections_are_found_without_the_scene() {
    let bench = Bench::new();
    let (scene, out) = (bench.scene(), bench.text("out"));
    gusset(&["run", &scene, "--out", &out, "--no-view", "--steps", "3"]).done();
    std::fs::remove_file(bench.path("out/scene.toml")).unwrap();
    gusset(&["check", &out]).done();
    // Push vertex 0 of the second frame through the rest of the cloth: to the other corner and below.
    let path = bench.path("out/cloth.npy");
    let mut bytes = std::fs::read(&path).unwrap();
    let head = bytes.len() - 4 * 169 * 24;
    let at = |frame: usize, vertex: usize| head + (frame * 169 + vertex) * 24;
    let (from, to) = (at(1, 84), at(1, 0));
    let mut point = bytes[from..from + 24].to_vec();
    let z = f64::from_le_bytes(point[16..].try_into().unwrap()) - 0.01;
    point[16..].copy_from_slice(&z.to_le_bytes());
    bytes[to..to + 24].copy_from_slice(&point);
    std::fs::write(&path, bytes).unwrap();
    let check = gusset(&["check", &out, "--json"]);
    assert_eq!(check.exit, Exit::Failed);
    let json = check.json();
    assert_eq!((&json["frames"], &json["intersecting_frames"]), (&4.into(), &1.into()), "{json}");
    assert_eq!(json["intersections"][0]["frame"], 1);
    let said = gusset(&["check", &out]).out;
    assert!(said.contains("`cloth` triangle") && said.contains("frame 1"), "{said}");
}

#[test]
fn energies_and_schema_know_what_is_linked() {
    let all = gusset(&["energies", "--json"]).done().json();
    let names: Vec<&str> =
        all.as_array().unwrap().iter().map(|k| k["name"].as_str().unwrap()).collect();
    for kind in ["inertia", "neo-hookean", "hinge", "barrier", "friction"] {
        assert!(names.contains(&kind), "{names:?}");
    }
    assert!(names.is_sorted());
    for name in names {
        let one = gusset(&["energies", name]).done().out;
        assert!(one.contains(&format!("kind = \"{name}\"")), "{one}");
        let one = gusset(&["energies", name, "--json"]).done().json();
        for key in one["keys"].as_array().unwrap() {
            for part in ["about", "values"] {
                assert!(!key[part].as_str().unwrap().is_empty(), "{name}: no {part} in {key}");
            }
        }
    }
    let unknown = gusset(&["energies", "henge"]);
    assert_eq!(unknown.exit, Exit::BadInput);
    assert!(unknown.messages.contains("`hinge`"));
    let schema = gusset(&["schema"]).done().json();
    assert!(schema["properties"]["body"].is_object() && schema["properties"]["energy"].is_object());
}

#[test]
fn the_bench_says_where_the_time_goes() {
    let bench = Bench::new();
    let scene = bench.scene();
    let text = std::fs::read_to_string(&scene).unwrap();
    let finer = bench.write("finer.toml", &text.replace("[12, 12]", "[16, 16]"));
    let said =
        gusset(&["bench", &scene, &finer, "--steps", "4", "--threads", "1", "--json"]).done();
    let json = said.json();
    assert!(json["exponent_step"].is_number() && json["threads"] == 1);
    for row in json["scenes"].as_array().unwrap() {
        assert_eq!(row["steps"], 4);
        assert!(row["step"]["median"].as_f64().unwrap() > 0.0);
        let stages = row["iteration_stages"].as_object().unwrap();
        let sum: f64 = stages.values().map(|v| v.as_f64().unwrap()).sum();
        assert!((sum / row["iteration_seconds"].as_f64().unwrap() - 1.0).abs() < 1e-6);
    }
}

#[test]
fn a_failing_step_keeps_what_was_before() {
    let bench = Bench::new();
    let text = std::fs::read_to_string(bench.scene()).unwrap();
    // One iteration is never enough, and shorter steps are forbidden.
    let scene = bench.write(
        "hard.toml",
        &format!("{text}\n[solver]\nmax_iterations = 3\nsubdivisions = 0\ntolerance = 1e-13\n"),
    );
    let out = bench.text("out");
    let said = gusset(&["run", &scene, "--out", &out, "--json"]);
    assert_eq!(said.exit, Exit::Failed, "{}", said.messages);
    let json = said.json();
    let error = json["error"].as_str().unwrap();
    assert!(error.contains("Newton did not converge"), "{error}");
    let steps = json["steps"].as_u64().unwrap();
    if steps > 0 {
        let check = gusset(&["check", &out, "--json"]).done().json();
        assert_eq!(check["frames"], steps + 1);
    } else {
        assert!(!bench.path("out").exists());
    }
}

#[test]
fn a_kind_of_ones_own_runs_in_a_scene() {
    let bench = Bench::new();
    let scene = bench.write("net.toml", NET);
    let out = bench.text("out");
    let json = gusset(&["run", &scene, "--out", &out, "--no-view", "--json"]).done().json();
    assert_eq!(json["steps"], 50);
    let steps = std::fs::read_to_string(bench.path("out/steps.jsonl")).unwrap();
    assert!(steps.contains("\"spring of `net`\""), "its energy is in the certificates");
    let misspelt = bench.write("bad.toml", &NET.replace("stiffness", "stifness"));
    let said = gusset(&["run", &misspelt]);
    assert_eq!(said.exit, Exit::BadInput);
    assert!(said.messages.contains("did you mean `stiffness`"), "{}", said.messages);
}

const NET: &str = r#"
dt = 0.01
duration = 0.5

[[body]]
name = "net"
shape = { kind = "grid", size = [1, 1], cells = [8, 8] }
material = { area_density = 0.2 }
fixed = "corners"

[[energy]]
kind = "spring"
body = "net"
stiffness = "50 N"
"#;

#[test]
fn a_new_energy_is_a_copy_of_the_template() {
    let bench = Bench::new();
    let checkout = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let files = ["Cargo.toml", "src/lib.rs", "src/main.rs", "tests/spring.rs", "scene.toml"]
        .map(|file| format!("energies/template/{file}"));
    for file in &files {
        let to = bench.path(file);
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::copy(checkout.join(file), to).unwrap();
    }
    let said = gusset(&["new-energy", "soft-net", "--root", &bench.text("")]).done();
    assert_eq!(said.out.lines().count(), files.len());
    for line in said.out.lines() {
        let text = std::fs::read_to_string(line).unwrap();
        for left in ["template", "Spring", "\"spring\""] {
            assert!(!text.contains(left), "{line} still has {left}:\n{text}");
        }
    }
    let again = gusset(&["new-energy", "soft-net", "--root", &bench.text("")]);
    assert_eq!(again.exit, Exit::BadInput);
    assert!(again.messages.contains("exists already"), "{}", again.messages);
}

/// A pipe whose reader has gone.
struct Closed;

impl Write for Closed {
    fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
        Err(std::io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Err(std::io::ErrorKind::BrokenPipe.into())
    }
}

#[test]
fn a_closed_pipe_is_no_failure() {
    for args in [&["gusset", "energies"][..], &["gusset", "schema"], &["gusset", "--help"]] {
        let exit = gusset_cli::main_with(args.iter().copied(), &mut Closed, &mut Closed);
        assert_eq!(exit, Exit::Done);
    }
}
