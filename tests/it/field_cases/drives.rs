//! Obstacles that move as prescribed.

use crate::play::{Play, read, surface};
use crate::tool::{Bench, gusset};
use glam::dvec3;
use gusset_cli::Exit;
use gusset_solve::Solver;
use std::time::{Duration, Instant};

fn moving(velocity: [f64; 3]) -> String {
    format!("role = \"obstacle\"\nmoves = [{{ velocity = {velocity:?} }}]")
}

const PLATE: [[f64; 3]; 3] = [[-1.0, 0.0, -1.0], [1.0, 0.0, -1.0], [0.0, 0.0, 1.0]];

#[test]
fn a17_cloth_that_keeps_up_with_a_fast_body() {
    for iterations in [5, 20, 200] {
        for rule in ["separating-normal", "accd"] {
            let cloth = [[-0.1, 0.002, -0.1], [0.1, 0.002, -0.1], [0.0, 0.002, 0.1]];
            let mut play = Play::read(&format!(
                "dt = 0.016666666666666666\nduration = 0.02\ngravity = [0, 0, 0]\n[contact]\n\
                 dhat = 0.001\nstep_bound = \"{rule}\"\n[solver]\nmax_iterations = {iterations}\n{}{}\
                 [[energy]]\nkind = \"neo-hookean\"\nbody = \"cloth\"\nmu = 1e3\nlambda = 1e3\n",
                surface("body", &PLATE, &[[0, 1, 2]], &moving([3.0, 0.0, 0.0])),
                surface(
                    "cloth",
                    &cloth,
                    &[[0, 1, 2]],
                    "material = { area_density = 0.2 }\nvelocity = [3, 0, 0]"
                )
            ));
            let record = play.step();
            assert!(record.step_bounds.iter().all(|a| *a == 1.0), "{:?}", record.step_bounds);
            for (x, start) in play.x("cloth").iter().zip(cloth) {
                let way = *x - glam::DVec3::from_array(start);
                assert!((way.x - 0.05).abs() < 1e-6 && way.y.abs() < 1e-9, "{way}");
            }
            assert!(play.v("cloth").iter().all(|v| v.distance(dvec3(3.0, 0.0, 0.0)) < 1e-4));
            assert!((play.gap().gap - 0.002).abs() < 1e-9);
            assert!((play.x("body")[2].x - 0.05).abs() < 1e-15);
        }
    }
}

/// Two plates close on a sheet that is held: at 2 s there is no room left.
fn squeeze() -> String {
    let at = |y: f64| PLATE.map(|[x, _, z]| [x, y, z]);
    format!(
        "dt = 0.01\nduration = 3\n[contact]\ndhat = 0.001\n{}{}{}",
        surface("top", &at(0.01), &[[0, 1, 2]], &moving([0.0, -0.005, 0.0])),
        surface("bottom", &at(-0.01), &[[0, 1, 2]], &moving([0.0, 0.005, 0.0])),
        surface(
            "sheet",
            &[[-0.1, 0.0, -0.1], [0.1, 0.0, -0.1], [0.0, 0.0, 0.1]],
            &[[0, 1, 2]],
            "material = { area_density = 0.2 }\nfixed = true"
        )
    )
}

#[test]
fn a19_a_squeeze_without_a_way_out() {
    let bench = Bench::new();
    let (scene, out) = (bench.write("squeeze.toml", &squeeze()), bench.text("out"));
    let begin = Instant::now();
    let said = gusset(&["run", &scene, "--out", &out, "--no-view", "--json"]);
    assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
    assert_eq!(said.exit, Exit::Failed);
    let json = said.json();
    let error = json["error"].as_str().unwrap();
    assert!(error.contains("`sheet`"), "{error}");
    assert!(error.contains("`top`") || error.contains("`bottom`"), "{error}");
    let steps = json["steps"].as_u64().unwrap();
    assert!(steps > 150 && steps < 200, "the plates came close before they stuck: {steps}");
    assert!(error.contains("from t = 1.99"), "{error}");
    let check = gusset(&["check", &out, "--json"]).done().json();
    assert_eq!(check["frames"], steps + 1);
    assert!(check["min_gap"].as_f64().unwrap() > 0.0, "{check}");
}

#[test]
fn a19_a_free_sheet_is_pressed_and_then_refused() {
    // The sheet may move, but not away from both.
    let text = squeeze()
        .replace("fixed = true", "velocity = [0, 0, 0]")
        .replace("duration = 3", "gravity = [0, 0, 0]\nduration = 3");
    let scene = read(&text);
    let mut solver = Solver::new(scene.model, scene.settings).unwrap();
    let mut state = scene.state;
    let begin = Instant::now();
    let error = loop {
        let mut next = gusset_solve::State::default();
        match solver.step(&state, &mut next) {
            Ok(_) => state = next,
            Err(error) => break error,
        }
        assert!(state.step < 200, "no room is left at 2 s");
    };
    assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
    let said = error.to_string();
    assert!(
        said.contains("`sheet`") && (said.contains("`top`") || said.contains("`bottom`")),
        "{said}"
    );
}

#[test]
fn a21_a_fast_obstacle_takes_the_cloth_along() {
    for rule in ["separating-normal", "accd"] {
        let mut play = Play::read(&format!(
            "dt = 0.01\nduration = 0.03\ngravity = [0, 0, 0]\n[contact]\ndhat = 0.001\n\
             step_bound = \"{rule}\"\n{}{}\
             [[energy]]\nkind = \"neo-hookean\"\nbody = \"cloth\"\nmu = 1e4\nlambda = 1e4\n",
            surface(
                "obstacle",
                &[[0.0, -1.0, -1.0], [0.0, -1.0, 1.0], [0.0, 1.5, 0.0]],
                &[[0, 1, 2]],
                &moving([100.0, 0.0, 0.0])
            ),
            surface(
                "cloth",
                &[[0.5, -0.1, -0.1], [0.5, -0.1, 0.1], [0.5, 0.1, 0.0]],
                &[[0, 1, 2]],
                "material = { area_density = 0.2 }"
            )
        ));
        for step in 1..=3 {
            play.step();
            let wall = f64::from(step);
            assert!(play.x("obstacle").iter().all(|x| (x.x - wall).abs() < 1e-12), "{rule}");
            assert!(play.x("cloth").iter().all(|x| x.x > wall), "{rule}: {:?}", play.x("cloth"));
            play.assert_sound();
        }
    }
}
