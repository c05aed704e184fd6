//! Numbers of the bag article's small reference scenes.

use crate::play::{Play, load, scenes};
use crate::tool::{Bench, gusset};
use glam::DVec3;
use gusset_cli::Exit;
use gusset_contact::Search;

#[test]
fn crossing_motion_is_stopped_at_the_published_fraction() {
    for name in ["cross-vt", "cross-ee"] {
        for rule in ["separating-normal", "accd"] {
            let rule = format!("contact.step_bound={rule}");
            let mut play = Play::new(load(&format!("reference/{name}.toml"), &[&rule]));
            let alpha = play.step().step_bounds[0];
            assert!((alpha - 0.447_75).abs() < 1e-9, "{name} {rule}: {alpha}");
            play.assert_sound();
        }
    }
}

#[test]
fn a_vertex_and_an_edge_stay_30_micrometres_apart() {
    for name in ["vt", "ee"] {
        let mut play = Play::new(load(&format!("reference/{name}.toml"), &[]));
        let min_gap = play.mesh.min_gap;
        let reach = play.solver.model().contact.unwrap().parameters.dhat + min_gap;
        assert!((min_gap - 30e-6).abs() < 1e-18);
        let mut smallest = f64::INFINITY;
        for _ in 0..12 {
            play.step();
            let distance = play.gap().gap + min_gap;
            assert!(distance > 30e-6, "{name}: {distance}");
            smallest = smallest.min(distance);
            let single = |x: f64| f64::from(x as f32) == x;
            assert!(play.state.x.iter().flat_map(DVec3::to_array).all(single), "{name}");
            for search in [Search::Sweep, Search::BruteForce] {
                assert!(play.intersections(search).is_clean());
            }
        }
        assert!(smallest < reach, "{name}: they never came near: {smallest}");
    }
}

#[test]
fn the_crease_relaxes() {
    let mut play = Play::new(load("reference/ee.toml", &[]));
    let angle = |play: &Play| {
        let x = play.x("upper");
        let n = |a: usize, b: usize, c: usize| (x[b] - x[a]).cross(x[c] - x[a]).normalize();
        let (n1, n2) = (n(0, 1, 2), n(1, 0, 3));
        n1.cross(n2).dot((x[1] - x[0]).normalize()).atan2(n1.dot(n2)).to_degrees()
    };
    let start = angle(&play);
    assert!((start.abs() - 14.036).abs() < 1e-3, "{start}");
    let mut last = start;
    for _ in 0..12 {
        play.step();
        let now = angle(&play);
        assert!(now.abs() < last.abs() && now * start > 0.0, "{last} {now}");
        last = now;
    }
    // The article's own geometry comes to 7.229 degrees; it isn't published.
    assert!(last.abs() < 9.0, "{last}");
}

#[test]
fn rejected_starts_name_both_and_write_nothing() {
    for (name, first, second) in [
        ("overlap-start", "`upper` vertex 0", "`lower` triangle 0"),
        ("edge-through-face", "`needle` triangle 0", "`sheet` triangle 0"),
    ] {
        let bench = Bench::new();
        let out = bench.text("out");
        let scene = scenes().join(format!("reference/{name}.toml"));
        let scene = scene.to_str().unwrap();
        let said = gusset(&["run", scene, "--out", &out, "--json"]);
        assert_eq!(said.exit, Exit::BadInput, "{name}");
        let json = said.json();
        let error = json["error"].as_str().unwrap();
        assert!(error.contains(first) && error.contains(second), "{error}");
        assert!(!bench.path("out").exists(), "{name} wrote something");

        // The same through the library: the output state keeps what it held.
        let scene = load(&format!("reference/{name}.toml"), &[]);
        let mut solver = gusset_solve::Solver::new(scene.model, scene.settings).unwrap();
        let error = solver.check_start(&scene.state).unwrap_err().to_string();
        assert!(error.contains(first) && error.contains(second), "{error}");
        if name == "overlap-start" {
            let mut out = gusset_solve::State { step: 77, ..Default::default() };
            let before = out.clone();
            solver.step(&scene.state, &mut out).unwrap_err();
            assert_eq!(out, before);
        }
    }
}
