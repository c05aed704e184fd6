//! The step without contact: free fall, agreement with the global solver, energies of one's own.

use crate::play::{Play, load, read};
use glam::DVec3;

/// Free fall of a cloth that is only stretched or damped keeps its shape and drifts nowhere (case A13).
#[test]
fn free_fall_is_straight_whatever_the_damping() {
    for damping in ["0", "0.001", "1"] {
        for kind in ["newton", "vbd"] {
            let mut play = Play::read(&format!(
                "dt = 0.01\nduration = 1\ngravity = [0, -9.81, 0]\n[solver]\nkind = \"{kind}\"\n\
                 {}[[body]]\nname = \"cloth\"\nshape = {{ kind = \"grid\", size = [0.4, 0.4], cells = [4, 4] }}\n\
                 rotate = [{{ axis = [1, 0, 0], angle = 30 }}, {{ axis = [0, 0, 1], angle = 20 }}]\n\
                 material = {{ area_density = 0.2 }}\n\
                 [[energy]]\nkind = \"neo-hookean\"\nbody = \"cloth\"\nmu = 1e4\nlambda = 1e4\n\
                 law = \"stable\"\ndamping = {damping}\n",
                if kind == "newton" { "tolerance = 1e-9\n" } else { "" }
            ));
            let start = play.state.x.clone();
            play.steps(50);
            for (x, start) in play.state.x.iter().zip(&start) {
                let way = *x - *start;
                assert!((way.y + 1.250_775).abs() < 1e-6, "{kind} {damping}: {way}");
                assert!(way.x.abs() < 1e-8 && way.z.abs() < 1e-8, "{kind} {damping}: {way}");
            }
            let mean: DVec3 = play.state.v.iter().sum::<DVec3>() / play.state.v.len() as f64;
            assert!((mean.y + 4.905).abs() < 1e-6);
        }
    }
}

/// A hanging cloth after many sweeps is where the global solver has it.
fn hanging(solver: &str) -> String {
    format!(
        "dt = 0.005\nduration = 1\n[solver]\n{solver}\n\
         [[body]]\nname = \"cloth\"\nshape = {{ kind = \"grid\", size = [0.5, 0.5], cells = [6, 6] }}\n\
         fixed = \"top\"\nmaterial = {{ area_density = 0.2 }}\nvelocity = [0, 0, 0.3]\n\
         [[energy]]\nkind = \"neo-hookean\"\nbody = \"cloth\"\nmu = 100\nlambda = 100\nlaw = \"stable\"\n\
         [[energy]]\nkind = \"hinge\"\nbody = \"cloth\"\nper_length = 0.01\ndamping = 1e-4\n"
    )
}

#[test]
fn many_sweeps_reach_the_minimum_of_the_global_solver() {
    let mut newton = Play::read(&hanging("tolerance = 1e-11"));
    newton.steps(10);
    let mut worst = Vec::new();
    for sweeps in [5, 50, 2000] {
        let mut descent = Play::read(&hanging(&format!(
            "kind = \"vbd\"\niterations = {sweeps}\ntolerance = 1e-13"
        )));
        descent.steps(10);
        let off = descent.state.x.iter().zip(&newton.state.x).map(|(a, b)| a.distance(*b));
        worst.push(off.fold(0.0, f64::max));
        let residuals = &descent.records[0].descent.as_ref().unwrap().residuals;
        assert!(residuals.last() < residuals.first(), "{residuals:?}");
    }
    assert!(worst[0] > worst[1] && worst[1] > worst[2], "{worst:?}");
    assert!(worst[2] < 1e-8, "{worst:?}");
}

#[test]
fn a_residual_below_the_tolerance_ends_the_sweeps() {
    let mut play = Play::read(&hanging("kind = \"vbd\"\niterations = 5000\ntolerance = 1e-6"));
    let record = play.step();
    assert!(record.iterations < 5000 && record.iterations > 5, "{}", record.iterations);
    assert!(*record.directions.last().unwrap() <= 1e-6);
    assert_eq!(record.directions.len(), record.iterations as usize);
}

/// Momentum: with many sweeps internal forces change none of it; with few, little.
#[test]
fn internal_forces_keep_the_momentum() {
    let text = |sweeps: u32| {
        format!(
            "dt = 0.002\nduration = 1\ngravity = [0, 0, 0]\n[solver]\nkind = \"vbd\"\niterations = {sweeps}\n\
             [[body]]\nname = \"cloth\"\nshape = {{ kind = \"grid\", size = [0.5, 0.5], cells = [6, 6] }}\n\
             scale = [1.05, 1, 1]\nmaterial = {{ area_density = 0.2 }}\nvelocity = [1, 0.5, -0.3]\n\
             angular_velocity = [3, 2, 1]\n\
             [[energy]]\nkind = \"neo-hookean\"\nbody = \"cloth\"\nmu = 100\nlambda = 100\nlaw = \"stable\"\ndamping = 0.01\n\
             [[energy]]\nkind = \"hinge\"\nbody = \"cloth\"\nper_length = 0.1\n"
        )
    };
    let error = |sweeps: u32| {
        let scene = read(&text(sweeps));
        let mass: Vec<f64> = scene.model.world.gather(|b| &b.mass);
        let mut play = Play::new(scene);
        let momentum = |v: &[DVec3]| mass.iter().zip(v).map(|(m, v)| *m * *v).sum::<DVec3>();
        let before = momentum(&play.state.v);
        play.steps(20);
        (momentum(&play.state.v) - before).length() / before.length()
    };
    assert!(error(5) < 1e-2);
    assert!(error(1000) < 1e-9, "{}", error(1000));
}

/// Other laws of films and solids reach the global solver's minimum too.
#[test]
fn other_laws_reach_the_same_minimum() {
    let film = |energy: &str| {
        format!(
            "[[body]]\nname = \"body\"\nshape = {{ kind = \"grid\", size = [0.4, 0.4], cells = [4, 4] }}\n\
             fixed = \"top\"\nmaterial = {{ area_density = 0.2 }}\nvelocity = [0, 0, 0.2]\n\
             [[energy]]\nkind = \"hinge\"\nbody = \"body\"\nper_length = 0.01\n{energy}"
        )
    };
    let solid = "[[body]]\nname = \"body\"\nshape = { kind = \"box\", size = [0.3, 0.1, 0.1], cells = [3, 1, 1] }\n\
                 fixed = \"left\"\nmaterial = { density = 100 }\nvelocity = [0, 0, 0.2]\n\
                 [[energy]]\nkind = \"tet-neo-hookean\"\nbody = \"body\"\nmu = 2e3\nlambda = 2e3\n";
    let stvk = "[[energy]]\nkind = \"stvk\"\nbody = \"body\"\nmu = 100\nlambda = 100\n";
    for bodies in [film(stvk), film(&stvk.replace("stvk", "neo-hookean")), solid.to_owned()] {
        let run = |solver: &str| {
            let mut play =
                Play::read(&format!("dt = 0.005\nduration = 1\n[solver]\n{solver}\n{bodies}"));
            play.steps(6);
            play.state.x
        };
        let newton = run("tolerance = 1e-11");
        let descent = run("kind = \"vbd\"\niterations = 3000\ntolerance = 1e-13");
        let off = descent.iter().zip(&newton).map(|(a, b)| a.distance(*b));
        let off = off.fold(0.0, f64::max);
        assert!(off < 1e-7, "{off:e} in\n{bodies}");
    }
}

/// The step certificate falls from sweep to sweep; a motion of the whole body that was lost comes back only slowly, vertex by
/// vertex.
#[test]
fn sweeps_converge_fast_for_short_waves_and_slowly_for_long_ones() {
    let residuals = |sweeps: u32| {
        let mut play = Play::read(&hanging(&format!("kind = \"vbd\"\niterations = {sweeps}")));
        play.step().descent.as_ref().unwrap().residuals.clone()
    };
    let all = residuals(200);
    assert_eq!(all.len(), 200);
    // The same sweeps, however many follow.
    assert_eq!(all[..20], residuals(20)[..]);
    assert!(all.windows(2).all(|r| r[1] <= 1.05 * r[0] + 1e-12), "{all:?}");
    let fall = |from: usize, to: usize| (all[from] / all[to]).log10() / (to - from) as f64;
    assert!(all[199] < 1e-3 * all[0], "{:e} of {:e}", all[199], all[0]);
    assert!(fall(0, 5) > 2.0 * fall(100, 199), "{} and {}", fall(0, 5), fall(100, 199));
}

/// An energy that only its author's crate knows works under block descent unchanged.
#[test]
fn the_template_energy_works() {
    let text = |solver: &str| {
        format!(
            "dt = 0.005\nduration = 1\n[solver]\n{solver}\n\
             [[body]]\nname = \"net\"\nshape = {{ kind = \"grid\", size = [0.5, 0.5], cells = [5, 5] }}\n\
             fixed = \"left\"\nmaterial = {{ area_density = 0.2 }}\n\
             [[energy]]\nkind = \"spring\"\nbody = \"net\"\nstiffness = 50\n"
        )
    };
    let mut newton = Play::read(&text("tolerance = 1e-11"));
    let mut descent = Play::read(&text("kind = \"vbd\"\niterations = 3000\ntolerance = 1e-13"));
    newton.steps(10);
    descent.steps(10);
    let off = descent.state.x.iter().zip(&newton.state.x).map(|(a, b)| a.distance(*b));
    assert!(off.fold(0.0, f64::max) < 1e-7);
    assert!(descent.state.x.iter().any(|x| x.z < -1e-3), "it sags");
}

/// One particle on a spring, faster than its budget: the path-length budget locks it at the budget's speed, the ball lets
/// the spring turn it around.
#[test]
fn the_lock_of_one_particle() {
    let speeds = |budget: &str| -> Vec<f64> {
        let mut play = Play::new(load(&format!("rest-on-contact/lock-{budget}.toml"), &[]));
        (0..200)
            .map(|_| {
                play.step();
                100.0 * play.state.v[0].length()
            })
            .collect()
    };
    let (ball, path) = (speeds("ball"), speeds("path-length"));
    assert!(path[..6].iter().all(|v| (v - 76.5).abs() < 1e-9), "{:?}", &path[..6]);
    assert!(path.iter().filter(|v| (*v - 76.5).abs() < 1e-9).count() > 100);
    for (found, expected) in ball.iter().zip([76.5, 66.6, 53.0, 36.8, 19.3, 1.7]) {
        assert!((found - expected).abs() < 0.06, "{:?}", &ball[..6]);
    }
    assert!(*ball.last().unwrap() < 0.1, "it comes to rest");
}

#[test]
fn scenes_of_descent_load() {
    for name in ["stack-penalty", "stack-alm", "fold-a-alm-compat"] {
        let scene = load(&format!("rest-on-contact/{name}.toml"), &[]);
        assert_eq!(scene.descent.unwrap().iterations, 5);
        // CGS to SI
        assert!((scene.model.contact.unwrap().parameters.dhat - 0.002).abs() < 1e-15);
    }
}
