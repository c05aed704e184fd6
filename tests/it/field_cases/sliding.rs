//! Friction: creep, and a restart in the middle of sliding.

use crate::play::{G, Play, surface};
use crate::tool::{Bench, assert_same_bits, gusset};

/// A triangle at rest on a plane, with gravity along `gravity`.
fn on_a_plane(head: &str, contact: &str, gravity: [f64; 3], more: &str) -> String {
    let plane = [[-40.0, 0.0, -40.0], [40.0, 0.0, -40.0], [0.0, 0.0, 60.0]];
    let sheet = [[-0.1, 0.0009, -0.1], [0.1, 0.0009, -0.1], [0.0, 0.0009, 0.1]];
    format!(
        "{head}\ngravity = {gravity:?}\n[contact]\ndhat = 0.001\nstiffness = 20\n{contact}\n\
         [solver]\ntolerance = 1e-10\n{}{}\
         [[energy]]\nkind = \"neo-hookean\"\nbody = \"cloth\"\nmu = 1e3\nlambda = 1e3\n",
        surface("plane", &plane, &[[0, 1, 2]], "role = \"obstacle\""),
        surface(
            "cloth",
            &sheet,
            &[[0, 1, 2]],
            &format!("material = {{ area_density = 0.2 }}\n{more}")
        )
    )
}

/// Slip in the second after the first one, on an incline.
fn slip(tan: f64, mu: f64, speed: f64, dt: f64) -> f64 {
    let cos = 1.0 / (1.0 + tan * tan).sqrt();
    let mut play = Play::read(&on_a_plane(
        &format!("dt = {dt}\nduration = 2"),
        &format!("friction = {mu}\nfriction_speed = {speed}"),
        [G * tan * cos, -G * cos, 0.0],
        "",
    ));
    let steps = (1.0 / dt).round() as usize;
    play.steps(steps);
    let before = play.x("cloth")[0];
    play.steps(steps);
    let way = play.x("cloth")[0] - before;
    assert!(way.z.abs() < 1e-9, "it turns: {way}");
    way.x
}

/// The load is below the limit, so nothing should move. Smoothed friction is 0 at rest, so something does, at the speed
/// where the smoothed force `load u/sqrt(u^2 + speed^2)` balances the pull `r load`: `speed r/sqrt(1 - r^2)`. (The other
/// usual smoothing, `2y - y^2`, creeps at `speed (1 - sqrt(1 - r))`.)
#[test]
fn a16_friction_creeps_as_its_law_says() {
    let (tan, mu, speed) = (0.3, 0.6, 1e-3);
    let expected = |speed: f64, mu: f64| {
        let r: f64 = tan / mu;
        speed * r / (1.0 - r * r).sqrt()
    };
    assert!((expected(speed, mu) - 0.000_577_350_269_189_625_8).abs() < 1e-15);
    for (mu, speed, dt) in
        [(mu, speed, 0.01), (mu, speed, 0.005), (mu, 0.5 * speed, 0.01), (2.0 * mu, speed, 0.01)]
    {
        let found = slip(tan, mu, speed, dt);
        let expected = expected(speed, mu);
        assert!((found / expected - 1.0).abs() < 0.05, "{mu} {speed} {dt}: {found} {expected}");
        assert!(found < speed, "slower than the smoothing's own speed");
    }
    // And a load above the limit slides away.
    assert!(slip(tan, 0.25, speed, 0.01) > 0.5);
}

#[test]
fn a16_the_manual_states_the_creep() {
    let friction = gusset(&["energies", "friction"]).done().out;
    let schema = gusset(&["schema"]).done().out;
    assert!(friction.contains("creep") || schema.contains("creep"), "{friction}");
}

#[test]
fn a27_a_restart_in_the_middle_of_sliding() {
    for mu in [0.1, 10.0] {
        let bench = Bench::new();
        let text = on_a_plane(
            "dt = 0.01\nduration = 1",
            &format!("friction = {mu}"),
            [0.0, -G, 0.0],
            "velocity = [1, 0, 0]",
        );
        let scene = bench.write("sliding.toml", &text);
        let run = |out: &str, more: &[&str]| {
            let args = ["run", &scene, "--out", out, "--no-view", "--threads", "1"];
            gusset(&[&args, more].concat()).done();
        };
        let whole = bench.text("whole");
        run(&whole, &[]);
        for from in ["37", "99"] {
            let pieces = bench.text(from);
            run(&pieces, &["--steps", from]);
            run(&pieces, &["--resume"]);
            assert_same_bits(&bench.path("whole"), &bench.path(from));
            let lines = std::fs::read_to_string(bench.path(from).join("steps.jsonl")).unwrap();
            assert_eq!(lines.lines().count(), 100, "numbering goes on");
        }
        // It did slide, and stopped sooner with more friction.
        let check = gusset(&["check", &whole, "--json"]).done().json();
        assert_eq!((&check["frames"], &check["intersecting_frames"]), (&101.into(), &0.into()));
    }
}
