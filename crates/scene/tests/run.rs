//! Every scene runs for a few steps, and the small reference scenes show what they are for.

use gusset_builtin as _;
use gusset_scene::{Measured, Scene, load};
use gusset_solve::{Solver, State, StepRecord};
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes")
}

fn scene(name: &str, overrides: &[&str]) -> Scene {
    let overrides: Vec<String> = overrides.iter().map(|s| (*s).to_owned()).collect();
    load(&folder().join(name), &overrides).unwrap_or_else(|error| panic!("{error}"))
}

/// Runs up to `steps` steps; states with probes and certificates.
fn run(scene: Scene, steps: u64) -> Vec<(State, Vec<f64>, StepRecord)> {
    let (probes, mut state) = (scene.probes, scene.state);
    let steps = steps.min(scene.steps);
    let dt = scene.settings.dt;
    let mut solver = Solver::new(scene.model, scene.settings).expect("a scene that can run");
    solver.check_start(&state).unwrap_or_else(|error| panic!("{error}"));
    (0..steps)
        .map(|_| {
            let mut next = State::default();
            let record = solver.step(&state, &mut next).unwrap_or_else(|error| panic!("{error}"));
            let mut row = Vec::new();
            let measured = Measured {
                x: &next.x,
                v: &next.v,
                energies: &record.energies,
                terms: &solver.model().terms,
                step: (&state.x, &state.v, dt),
                ..Measured::default()
            };
            probes.measure(&measured, &mut row);
            state = next;
            assert_eq!(row.len(), probes.columns().len());
            (state.clone(), row, record)
        })
        .collect()
}

#[test]
fn every_scene_runs_two_steps() {
    for name in [
        "bag/smoke.toml",
        "bench/drape-32.toml",
        "bench/drape-64.toml",
        "demo/cube-on-cloth.toml",
        "demo/drape.toml",
        "demo/pile.toml",
        "demo/twist.toml",
        "reference/ball-wall.toml",
    ] {
        let states = run(scene(name, &[]), 2);
        assert_eq!(states.len(), 2, "{name}");
        assert!(states[1].0.x.iter().all(|x| x.is_finite()), "{name}");
    }
}

#[test]
fn vertex_and_edge_stay_apart() {
    for name in ["reference/vt.toml", "reference/ee.toml"] {
        let states = run(scene(name, &[]), 12);
        assert_eq!(states.len(), 12);
        let gaps: Vec<f64> =
            states.iter().filter_map(|s| Some(s.2.smallest_gap.as_ref()?.gap)).collect();
        assert!(!gaps.is_empty(), "{name}: nothing came close");
        // The gap is what the midsurface distance has above min_gap, 30 um.
        assert!(gaps.iter().all(|gap| *gap > 0.0), "{name}: {gaps:?}");
        let single = |x: f64| f64::from(x as f32) == x;
        assert!(states[11].0.x.iter().all(|x| single(x.x) && single(x.y) && single(x.z)));
    }
}

#[test]
fn the_crease_opens() {
    let states = run(scene("reference/ee.toml", &[]), 12);
    let angles: Vec<f64> = states.iter().map(|s| s.1[1]).collect();
    assert!(angles[0] > -14.036 && angles[0] < -13.0, "{angles:?}");
    assert!(angles.windows(2).all(|a| a[1] > a[0]), "{angles:?}");
    assert!(angles[11] > -9.0 && angles[11] < 0.0, "{angles:?}");
}

#[test]
fn a_step_stops_short_of_crossing() {
    for name in ["reference/cross-vt.toml", "reference/cross-ee.toml"] {
        let states = run(scene(name, &[]), 1);
        let alpha = states[0].2.step_bounds[0];
        assert!((alpha - 0.447_75).abs() < 1e-9, "{name}: {alpha}");
    }
}

#[test]
fn invalid_starts_name_both_objects() {
    for (name, first, second) in [
        ("reference/overlap-start.toml", "`upper` vertex 0", "`lower` triangle 0"),
        ("reference/edge-through-face.toml", "`needle` triangle 0", "`sheet` triangle 0"),
    ] {
        let scene = scene(name, &[]);
        let mut solver = Solver::new(scene.model, scene.settings).unwrap();
        let error = solver.check_start(&scene.state).unwrap_err().to_string();
        assert!(error.contains(first) && error.contains(second), "{error}");
    }
}

#[test]
fn ball_and_wall_gives_the_article_s_rows() {
    // Speed, overrides, furthest position beyond the front face, largest Newton count: rows of the article's table.
    for (speed, law, gap, newton) in [
        (1, ["contact.law=barrier", "contact.stiffness=1e4"], -0.000_166_390_073_762_512_36, 8),
        (1, ["contact.law=penalty", "contact.stiffness=1e6"], 6.930_693_069_306_937e-5, 5),
    ] {
        let velocity = format!("body.ball.velocity=[{speed}, 0, 0]");
        let states = run(scene("reference/ball-wall.toml", &[&velocity, law[0], law[1]]), 80);
        let furthest = states.iter().map(|s| s.1[0]).fold(f64::NEG_INFINITY, f64::max) - 0.503;
        assert!((furthest - gap).abs() < 1e-9, "{law:?}: {furthest}");
        assert_eq!(states.iter().map(|s| s.2.iterations).max(), Some(newton), "{law:?}");
    }
}
