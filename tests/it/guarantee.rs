//! Nothing ever intersects, whatever solves it and on however many threads.

use crate::play::{Play, load, read};
use glam::DVec3;
use gusset_contact::Search;
use gusset_scene::Scene;
use gusset_solve::{Solver, State, StepError};
use rayon::ThreadPoolBuilder;

/// A sheet whose free end is carried over and laid onto the other end.
fn fold(cells: u32, more: &str) -> String {
    format!(
        r#"
        dt = 0.01
        duration = 1
        [contact]
        dhat = 0.004
        friction = 0.2
        [solver]
        {more}
        [[body]]
        name = "sheet"
        shape = {{ kind = "grid", size = [0.4, 0.2], cells = [{cells}, {half}] }}
        material = {{ young = 1e5, poisson = 0.3, thickness = 5e-4, area_density = 0.2 }}
        fixed = "left"
        [[body.moves]]
        vertices = "right"
        interpolation = "smooth"
        axis = [0, 1, 0]
        keys = [{{ time = 0 }}, {{ time = 0.5, rotate = -178, translate = [0, 0, 0.006] }}]
        [[body]]
        name = "table"
        role = "obstacle"
        shape = {{ kind = "grid", size = [1, 1], cells = [4, 4] }}
        translate = [0, 0, -0.006]
        [[energy]]
        kind = "neo-hookean"
        body = "sheet"
        [[energy]]
        kind = "hinge"
        body = "sheet"
        bending = 2e-6
        "#,
        half = cells / 2
    )
}

/// Runs a scene and has the independent checker judge every accepted state.
#[track_caller]
fn watch(scene: Scene, steps: usize) -> Play {
    let mut play = Play::new(scene);
    let mut touched = false;
    for step in 0..steps {
        touched |= play.step().active > 0;
        play.assert_sound();
        if step % 8 == 0 {
            let [sweep, all] =
                [Search::Sweep, Search::BruteForce].map(|search| play.intersections(search));
            assert_eq!(sweep, all);
        }
    }
    assert!(touched, "nothing came near anything");
    play
}

#[test]
fn a_drape() {
    let play = watch(load("bench/drape-32.toml", &[]), 60);
    let lowest = play.x("cloth").iter().map(|x| x.z).fold(f64::INFINITY, f64::min);
    assert!(lowest < -0.1, "it hangs: {lowest}");
}

#[test]
fn a_sheet_folded_onto_itself() {
    let play = watch(read(&fold(16, "")), 60);
    // Its layers lie on one another: vertices that are far apart in it are close in space.
    let rest = &play.solver.model().world.bodies[0].rest;
    let x = play.x("sheet");
    let layered = (0..x.len())
        .any(|i| (0..i).any(|j| rest[i].distance(rest[j]) > 0.2 && x[i].distance(x[j]) < 0.02));
    assert!(layered);
}

#[test]
fn a_pile_of_sheets_and_balls() {
    watch(load("demo/pile.toml", &[]), 24);
}

#[test]
fn a_plate_whose_target_is_to_touch_pushes_instead() {
    // The first step's target is the very top of the block, a gap of 0.
    let scene = r#"
        dt = 0.01
        duration = 1
        [contact]
        dhat = 0.003
        [[body]]
        name = "block"
        shape = { kind = "box", size = [0.12, 0.12, 0.12], cells = [2, 2, 2] }
        material = { young = 2e4, poisson = 0.4, density = 100 }
        [[body]]
        name = "plate"
        role = "obstacle"
        shape = { kind = "grid", size = [0.5, 0.5], cells = [4, 4] }
        translate = [0.06, 0.06, 0.13]
        [[body.moves]]
        velocity = [0, 0, -1]
        [[energy]]
        kind = "tet-neo-hookean"
        body = "block"
    "#;
    let play = watch(read(scene), 4);
    let height = play.x("plate")[0].z;
    assert!((height - 0.09).abs() < 1e-12, "it goes where it is to go: {height}");
}

#[test]
fn a_tube_twisted_shut() {
    watch(load("demo/twist.toml", &["body.tube.shape.cells=[16, 14]", "contact.dhat=0.004"]), 60);
}

fn on_threads(count: usize, scene: &(dyn Fn() -> Scene + Sync), steps: usize) -> State {
    let pool = ThreadPoolBuilder::new().num_threads(count).build().unwrap();
    pool.install(|| {
        let mut play = Play::new(scene());
        play.steps(steps);
        play.state
    })
}

#[test]
fn one_and_two_threads_give_the_same_bits() {
    let scenes: [(&(dyn Fn() -> Scene + Sync), usize); 3] = [
        (&|| read(&fold(16, "")), 45),
        (&|| load("bench/drape-32.toml", &[]), 15),
        (&|| load("demo/pile.toml", &[]), 8),
    ];
    for (scene, steps) in scenes {
        let one = on_threads(1, scene, steps);
        for threads in [2, 3] {
            let other = on_threads(threads, scene, steps);
            let bits = |s: &State| -> Vec<u64> {
                s.x.iter().chain(&s.v).flat_map(DVec3::to_array).map(f64::to_bits).collect()
            };
            assert!(bits(&one) == bits(&other), "{threads} threads differ");
        }
    }
}

/// A small cloth falls askew on a ball, solved to the last bits.
fn cloth_on_ball(solver: &str) -> String {
    format!(
        r#"
        dt = 0.01
        duration = 1
        [contact]
        dhat = 0.004
        friction = 0.3
        [solver]
        tolerance = 1e-9
        {solver}
        [[body]]
        name = "cloth"
        shape = {{ kind = "grid", size = [0.3, 0.3], cells = [7, 7] }}
        rotate = {{ axis = [0.1, 0.2, 1], angle = 25 }}
        translate = [0.01, 0.02, 0.15]
        material = {{ young = 1e5, poisson = 0.3, thickness = 1e-3, area_density = 0.2 }}
        [[body]]
        name = "ball"
        shape = {{ kind = "icosphere", radius = 0.1, subdivisions = 2 }}
        [[energy]]
        kind = "neo-hookean"
        body = "cloth"
        [[energy]]
        kind = "hinge"
        body = "cloth"
        stiffness = 1e-5
        "#
    )
}

#[test]
fn sparse_dense_and_iterative_solvers_agree() {
    let run = |solver: &str| {
        let mut play = Play::read(&cloth_on_ball(solver));
        let mut states = Vec::new();
        for _ in 0..30 {
            play.step();
            states.push(play.state.x.clone());
        }
        let residual = play.records.iter().map(|r| r.linear_residual).fold(0.0, f64::max);
        assert!(residual < 1e-10, "{solver}: {residual}");
        assert!(play.records.iter().any(|r| r.active > 0));
        states
    };
    let sparse = run("linear = \"cholesky\"");
    for other in ["linear = \"dense\"", "linear = \"pcg\"\npcg_tolerance = 1e-11"] {
        for (step, (a, b)) in (1..).zip(sparse.iter().zip(run(other))) {
            let apart = a.iter().zip(b).map(|(a, b)| a.distance(b)).fold(0.0, f64::max);
            // Each step is right to its tolerance, and steps pass errors on.
            assert!(apart < f64::from(step) * 1e-8, "{other}, step {step}: {apart}");
        }
    }
}

#[test]
fn both_step_bounds_are_safe() {
    for rule in ["separating-normal", "accd"] {
        let rule = format!("contact.step_bound={rule}");
        watch(load("bench/drape-32.toml", &[&rule, "body.cloth.shape.cells=[16, 16]"]), 60);
        watch(load("demo/pile.toml", &[&rule, "solver.tolerance_speed=0.01"]), 12);
    }
}

#[test]
fn single_precision_keeps_every_gap() {
    let play = watch(read(&fold(12, "storage = \"f32\"")), 60);
    let single = |x: f64| f64::from(x as f32) == x;
    assert!(play.state.x.iter().flat_map(DVec3::to_array).all(single));
}

/// A sheet that falls flat on a table, every edge parallel to one of the table's, with other keys of `[contact]`.
fn flat_on_flat(more: &str) -> Scene {
    read(&format!(
        r#"
        dt = 0.01
        duration = 1
        [contact]
        dhat = 0.005
        stiffness = 1000
        {more}
        [solver]
        tolerance = 1e-9
        max_iterations = 40
        subdivisions = 0
        [[body]]
        name = "sheet"
        shape = {{ kind = "grid", size = [0.4, 0.4], cells = [4, 4] }}
        translate = [0, 0, 0.004]
        material = {{ young = 1e6, poisson = 0.3, thickness = 1e-3, area_density = 0.2 }}
        [[body]]
        name = "table"
        shape = {{ kind = "grid", size = [1, 1], cells = [10, 10] }}
        role = "obstacle"
        [[energy]]
        kind = "neo-hookean"
        body = "sheet"
        [[energy]]
        kind = "hinge"
        body = "sheet"
        "#
    ))
}

#[test]
fn edges_parallel_to_edges_are_no_obstacle_to_newton() {
    let steps = |mut scene: Scene| {
        // Apart from the exact alignment that no real sheet has, so that the kink is crossed.
        scene.state.x[3].z += 1e-4;
        let mut solver = Solver::new(scene.model, scene.settings).unwrap();
        let (mut state, mut next) = (scene.state, State::default());
        for _ in 0..20 {
            solver.step(&state, &mut next)?;
            std::mem::swap(&mut state, &mut next);
        }
        Ok::<(), StepError>(())
    };
    steps(flat_on_flat("")).unwrap();
    // Without the fading of such pairs Newton's method hangs on the kink of their distance.
    let error = steps(flat_on_flat("mollify = false")).unwrap_err();
    assert!(error.to_string().contains("did not converge"), "{error}");
}
