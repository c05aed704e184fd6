//! What is said of a run at its end, and of two runs side by side.

use crate::tool::{Bench, gusset};
use gusset_cli::Exit;

/// The bench's scene with named phases and targets.
fn judged(bench: &Bench) -> String {
    let text = std::fs::read_to_string(bench.scene()).unwrap();
    let text = text
        .replace(
            "name = \"lowest\"",
            "name = \"lowest\"\ntarget = [{ at_least = -0.2, from = 0.1 }, { at_least = 0.5, at = 0.4 }, { at_most = 1, at = 9 }]",
        )
        .replace("name = \"clearance\"", "name = \"clearance\"\ntarget = { at_least = 0 }")
        + "\n[[probe]]\nkind = \"intersections\"\nname = \"pairs\"\ntarget = { at_most = 0 }\n\
           [[solver.phase]]\nname = \"fall\"\nfrom = 0\ntolerance = 1e-5\n\
           [[solver.phase]]\nname = \"drape | hang\"\nfrom = 0.2\ntolerance = 1e-5\n";
    bench.write("judged.toml", &text)
}

#[test]
fn a_run_says_at_its_end_what_was_reached_and_what_each_phase_cost() {
    let bench = Bench::new();
    let (scene, out) = (judged(&bench), bench.text("out"));
    let said = gusset(&["run", &scene, "--out", &out, "--no-view"]).done();
    for part in [
        "drape | hang",
        "MISSED",
        "not reached",
        "at least -200 mm",
        "5 targets: 3 met, 1 missed, 1 not reached",
    ] {
        assert!(said.out.contains(part), "{part}: {}", said.out);
    }
    let record: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(bench.path("out/run.json")).unwrap())
            .unwrap();
    let summary = &record["summary"];
    let phases = summary["phases"].as_array().unwrap();
    assert_eq!(
        (phases.len(), &phases[0]["name"], &phases[1]["start"]),
        (2, &"fall".into(), &0.2.into())
    );
    assert_eq!((&phases[0]["steps"], &phases[1]["steps"]), (&20.into(), &20.into()));
    let sum = |key: &str| phases.iter().map(|p| p[key].as_u64().unwrap()).sum::<u64>();
    assert_eq!((sum("steps"), &summary["iterations"]), (40, &sum("iterations").into()));
    assert!(phases[1]["seconds"].as_f64().unwrap() > 0.0);
    let met: Vec<Option<bool>> =
        summary["targets"].as_array().unwrap().iter().map(|t| t["met"].as_bool()).collect();
    assert_eq!(met, [Some(true), Some(false), None, Some(true), Some(true)]);
    let svg = std::fs::read_to_string(bench.path("out/probes.svg")).unwrap();
    assert!(svg.contains("lowest") && svg.contains("on-ball"));

    // The same sums after a resume, and again after going back.
    for from in ["0.2", "0.1"] {
        let json = gusset(&["run", &scene, "--out", &out, "--no-view", "--from", from, "--json"]);
        let json = json.done().json();
        for (old, new) in phases.iter().zip(json["phases"].as_array().unwrap()) {
            for key in ["steps", "iterations", "most_iterations", "retries"] {
                assert_eq!(old[key], new[key], "{key}");
            }
        }
        assert_eq!(json["targets_met"], false);
    }

    // A sheet of the phases where there are some; one frame where it is asked for.
    let size = |args: &[&str]| {
        let png = bench.text("view.png");
        let small = ["--width", "80", "--height", "60", "--png", &png];
        gusset(&[&["view", &out], args, &small].concat()).done();
        let bytes = std::fs::read(&png).unwrap();
        let word = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
        (word(16), word(20))
    };
    let (width, height) = size(&["--color", "stretch"]);
    assert!(width > 160 && height < 120, "two tiles in a row: {width} x {height}");
    assert_eq!(size(&["--frame", "3", "--color", "stretch"]), (80, 60));
    assert!(size(&["--sheet", "3", "--color", "gap"]).0 > 160);
}

#[test]
fn two_runs_are_put_side_by_side() {
    let bench = Bench::new();
    let (scene, other) = (judged(&bench), bench.scene());
    let (a, b) = (bench.text("sticky"), bench.text("smooth"));
    gusset(&["run", &scene, "--out", &a, "--no-view"]).done();
    let less = ["--no-view", "--steps", "30", "--set", "contact.friction=0"];
    gusset(&[&["run", &other, "--out", &b][..], &less].concat()).done();

    let said = gusset(&["compare", &a, &b]).done();
    let lines: Vec<&str> = said.out.lines().collect();
    assert!(lines[0].contains("sticky") && lines[0].contains("smooth"), "{}", said.out);
    assert!(lines.iter().any(|l| l.starts_with("lowest at 0.3 s")), "{}", said.out);
    let frames = lines.iter().find(|l| l.starts_with("frames with intersections")).unwrap();
    assert!(frames.contains("0 / 41") && frames.contains("0 / 31"), "{}", said.out);
    assert!(lines.iter().any(|l| l.starts_with("largest linear residual")), "{}", said.out);
    let apart = lines.last().unwrap();
    assert!(apart.starts_with("positions: ") && apart.ends_with("over 31 frames"), "{apart}");
    assert!(said.messages.contains("only in `sticky`: `pairs`"), "{}", said.messages);
    let svg = std::fs::read_to_string(bench.path("sticky/compare-smooth.svg")).unwrap();
    assert!(svg.contains("sticky") && svg.contains("lowest") && !svg.contains(">pairs"));

    let svg = bench.text("curves.svg");
    let options =
        ["--at", "0.1", "--at", "0.3", "--window", "0.1", "--probe", "on-ball", "--svg", &svg];
    let json = gusset(&[&["compare", &a, &b, "--json"][..], &options].concat()).done().json();
    let rows = json["rows"].as_array().unwrap();
    assert_eq!(
        rows.len(),
        3 * 3 + 2,
        "three columns at two times, their ranges, linear residuals, and intersections"
    );
    let apart = json["positions"]["distance"].as_f64().unwrap();
    assert!(apart > 1e-9 && json["positions"]["same_bits"] == false, "{json}");
    assert!(json["positions"]["body"] == "cloth" && json["positions"]["frames"] == 31, "{json}");
    assert_eq!(rows[6]["what"], "range of on-ball.x, 0.2 to 0.3 s");
    let column = |run: &str, c: usize| -> Vec<f64> {
        let text = std::fs::read_to_string(bench.path(run).join("probes.csv")).unwrap();
        text.lines().skip(1).map(|l| l.split(',').nth(c).unwrap().parse().unwrap()).collect()
    };
    let (z, smooth) = (column("sticky", 5), column("smooth", 5));
    assert_eq!((&rows[2]["values"][0], &rows[5]["values"][1]), (&z[10].into(), &smooth[30].into()));
    let part = &z[20..=30];
    let range = part.iter().copied().fold(f64::MIN, f64::max)
        - part.iter().copied().fold(f64::MAX, f64::min);
    assert!((rows[8]["values"][0].as_f64().unwrap() - range).abs() <= 1e-15 * range);
    let table = gusset(&["compare", &a, &b, "--markdown", "--probe", "lowest"]).done().out;
    assert!(table.starts_with("| Measurement | sticky | smooth |\n|---|---:|---:|\n"), "{table}");

    // Runs that are further apart than allowed fail; a run and itself have the same bits.
    let within = |other: &str, limit: &str| gusset(&["compare", &a, other, "--within", limit]);
    assert_eq!(within(&b, &(0.5 * apart).to_string()).exit, Exit::Failed);
    assert_eq!(within(&b, &(2.0 * apart).to_string()).exit, Exit::Done);
    let same = within(&a, "0").done().out;
    assert!(same.ends_with("positions: the same bits in 41 frames\n"), "{same}");

    let refused = |args: &[&str]| {
        let said = gusset(&[&["compare"], args].concat());
        assert_eq!(said.exit, Exit::BadInput, "{}", said.messages);
        said.messages
    };
    let missing = refused(&[&a, &b, "--probe", "pairs"]);
    assert!(missing.contains("run `smooth` has no probe `pairs`"), "{missing}");
    let late = refused(&[&a, &b, "--at", "0.35"]);
    assert!(late.contains("run `smooth` has nothing at 0.35 s; it goes from 0 s to 0.3"), "{late}");
    assert!(refused(&[&a, &b, "--window", "0"]).contains("--window"));
    assert!(refused(&[&a, &b, "--within", "-1"]).contains("--within"));
    assert!(refused(&[&a, &bench.text("none")]).contains("no such folder"));
}

#[test]
fn the_check_lists_every_frame() {
    let bench = Bench::new();
    let (scene, out, csv) = (bench.scene(), bench.text("out"), bench.text("frames.csv"));
    gusset(&["run", &scene, "--out", &out, "--no-view"]).done();
    let json = gusset(&["check", &out, "--csv", &csv, "--json"]).done().json();
    let text = std::fs::read_to_string(&csv).unwrap();
    let rows: Vec<Vec<f64>> = text
        .lines()
        .skip(1)
        .map(|line| line.split(',').map(|n| n.parse().unwrap()).collect())
        .collect();
    assert_eq!(rows.len(), 41);
    assert!(rows.iter().enumerate().all(|(k, row)| row[0] == k as f64 && row[2] == 0.0));
    let least = rows.iter().map(|row| row[3]).fold(f64::MAX, f64::min);
    assert_eq!(json["min_gap"], least);
    assert_eq!(gusset(&["check", &scene, "--csv", &csv]).exit, Exit::BadInput);
}

#[test]
fn a_run_is_exported_for_other_programs() {
    let bench = Bench::new();
    let (scene, out) = (bench.scene(), bench.text("out"));
    gusset(&["run", &scene, "--out", &out, "--no-view"]).done();
    for (format, first) in [("glb", "run.glb"), ("usd", "run.usda"), ("npy", "film.npy")] {
        let said = gusset(&["export", &out, "--format", format]).done();
        assert!(
            said.out.trim().ends_with(first) && std::path::Path::new(said.out.trim()).is_file()
        );
    }
    // Frames are stored in double precision and exported so.
    let [ours, theirs] = ["out/cloth.npy", "out/export-npy/film.npy"]
        .map(|name| std::fs::read(bench.path(name)).unwrap());
    assert!(ours == theirs);
}
