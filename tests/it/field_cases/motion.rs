//! Free motion, rest shapes, precision.

use crate::play::{G, Play, forces, read, refused, surface, term};
use glam::{DQuat, DVec3, dvec3};
use gusset_energy::StepState;

/// What a fall of n steps by backward Euler comes to.
fn drop(h: f64, n: f64) -> f64 {
    G * h * h * n * (n + 1.0) / 2.0
}

#[test]
fn a11_an_open_sheet_falls_as_one() {
    let x = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 0.0, 1.0], [0.0, 0.0, 1.0]];
    let mut play = Play::read(&format!(
        "dt = 0.01\nduration = 0.5\ngravity = [0, -9.81, 0]\n[solver]\ntolerance = 1e-10\n{}\
         [[energy]]\nkind = \"hinge\"\nbody = \"sheet\"\nstiffness = 1\n\
         [[energy]]\nkind = \"neo-hookean\"\nbody = \"sheet\"\nmu = 1000\nlambda = 1000\n",
        surface("sheet", &x, &[[0, 1, 2], [0, 2, 3]], "material = { area_density = 0.2 }")
    ));
    assert_eq!(term(&play.solver.model().terms, "hinge").count(), 1);
    play.steps(50);
    assert!((drop(0.01, 50.0) - 1.250_775).abs() < 1e-12);
    for (now, start) in play.x("sheet").iter().zip(x.map(DVec3::from_array)) {
        assert!(now.distance(start - dvec3(0.0, 1.250_775, 0.0)) < 1e-9, "{now}");
    }
    for [a, b] in [[0, 1], [1, 2], [2, 3], [3, 0], [0, 2]] {
        let length = |x: &[DVec3]| x[a].distance(x[b]);
        let rest = length(&x.map(DVec3::from_array));
        assert!((length(play.x("sheet")) - rest).abs() < 1e-9);
    }
}

/// Two triangles folded by an angle about the x axis; 0 is flat.
fn fold(angle: f64) -> [DVec3; 4] {
    [DVec3::ZERO, DVec3::X, dvec3(0.5, 0.0, 1.0), dvec3(0.5, angle.sin(), -angle.cos())]
}

#[test]
fn a12_any_rest_angle_is_at_rest() {
    let k = 1.0;
    for (angle, wing) in [
        (0.5, [0.5, 0.479_425_538_604_203, -0.877_582_561_890_372_8]),
        (-0.5, [0.5, -0.479_425_538_604_203, -0.877_582_561_890_372_8]),
        (2.8, [0.5, 0.334_988_150_155_905_1, 0.942_222_340_668_658_1]),
        (-2.8, [0.5, -0.334_988_150_155_905_1, 0.942_222_340_668_658_1]),
        (3.1, [0.5, 0.041_580_662_433_290_49, 0.999_135_150_273_279_5]),
        (-3.1, [0.5, -0.041_580_662_433_290_49, 0.999_135_150_273_279_5]),
    ] {
        let x = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.5, 0.0, 1.0], wing];
        assert!(DVec3::from_array(wing).distance(fold(angle)[3]) < 1e-14);
        let mut play = Play::read(&format!(
            "dt = 0.01\nduration = 0.5\ngravity = [0, 0, 0]\n[solver]\ntolerance = 1e-13\n{}\
             [[energy]]\nkind = \"hinge\"\nbody = \"fold\"\nstiffness = {k}\nrest = \"reference\"\n",
            surface("fold", &x, &[[0, 1, 2], [1, 0, 3]], "material = { area_density = 1.0 }")
        ));
        let rest = x.map(DVec3::from_array);
        let hinge = term(&play.solver.model().terms, "hinge");
        let (energy, force) = forces(hinge, &rest);
        assert!(energy < 1e-24 * k, "{angle}: {energy}");
        assert!(force.iter().all(|f| f.length() <= 1e-12 * k), "{angle}: {force:?}");

        // A little more or less of it costs the same and is pushed back.
        let turned = |by: f64| {
            let mut x = rest;
            x[3] = DQuat::from_rotation_x(-by) * x[3];
            x
        };
        let both = [0.01, -0.01].map(|by| {
            let x = turned(by);
            let (energy, force) = forces(hinge, &x);
            let outward = (x[3] - rest[3]).normalize();
            assert!(force[3].dot(outward) < -0.009 * k, "{angle} {by}: {force:?}");
            check_by_differences(hinge, &x);
            energy
        });
        assert!((both[0] / both[1] - 1.0).abs() < 0.01, "{angle}: {both:?}");
        assert!((both[0] / (0.5 * k * 1e-4) - 1.0).abs() < 1e-6, "{angle}: {both:?}");

        play.step();
        for (now, start) in play.x("fold").iter().zip(rest) {
            assert!(now.distance(start) < 1e-12, "{angle}: {now}");
        }
    }
}

/// Forces against central differences of the energy.
fn check_by_differences(term: &dyn gusset_energy::Term, x: &[DVec3; 4]) {
    let force = forces(term, x).1;
    let energy = |x: &[DVec3; 4]| {
        let mut out = Vec::new();
        let still = [DVec3::ZERO; 4];
        term.energy(&StepState { x, x_start: x, v_start: &still, dt: 0.01 }, &mut out);
        out.iter().sum::<f64>()
    };
    let largest = force.iter().map(|f| f.abs().max_element()).fold(0.0, f64::max);
    let h = 1e-6;
    for v in 0..4 {
        for axis in 0..3 {
            let moved = |by: f64| {
                let mut x = *x;
                x[v][axis] += by;
                energy(&x)
            };
            let difference = -(moved(h) - moved(-h)) / (2.0 * h);
            assert!((difference - force[v][axis]).abs() < 1e-6 * largest, "{v} {axis}");
        }
    }
}

/// Damping of the elements themselves has no kind here; `drag` is against the air by definition.
#[test]
fn a13_free_fall_goes_straight_down() {
    for kind in ["neo-hookean", "stvk"] {
        let mut play = Play::read(&format!(
            r#"
            dt = 0.01
            duration = 0.5
            gravity = [0, -9.81, 0]
            [solver]
            tolerance = 1e-10
            [[body]]
            name = "cloth"
            shape = {{ kind = "grid", size = [0.4, 0.4], cells = [4, 4] }}
            rotate = [{{ axis = [1, 0, 0], angle = 30 }}, {{ axis = [0, 0, 1], angle = 20 }}]
            material = {{ area_density = 0.2 }}
            [[energy]]
            kind = "{kind}"
            body = "cloth"
            mu = 1e4
            lambda = 1e4
            "#
        ));
        let start = play.state.x.clone();
        play.steps(50);
        for (now, start) in play.state.x.iter().zip(start) {
            let way = *now - start;
            assert!((way.y + 1.250_775).abs() < 1e-6, "{kind}: {way}");
            assert!(way.x.abs() < 1e-8 && way.z.abs() < 1e-8, "{kind}: {way}");
        }
        let (mut momentum, mut mass) = (DVec3::ZERO, 0.0);
        for (v, m) in play.state.v.iter().zip(&play.solver.model().world.bodies[0].mass) {
            momentum += *v * *m;
            mass += m;
        }
        assert!((momentum / mass).distance(dvec3(0.0, -4.905, 0.0)) < 1e-8, "{kind}");
    }
}

/// A sheet 0.1 mm above a triangle, 5 km from the origin.
fn far(storage: &str) -> String {
    let lower = [[4999.0, 5000.0, 4999.0], [5001.0, 5000.0, 4999.0], [5000.0, 5000.0, 5001.0]];
    let upper = lower
        .map(|[x, _, z]| [5000.0 + 0.1 * (x - 5000.0), 5000.0001, 5000.0 + 0.1 * (z - 5000.0)]);
    format!(
        "dt = 0.01\nduration = 0.1\ngravity = [0, 0, 0]\n[contact]\ndhat = 0.0005\nstiffness = 1\n\
         [solver]\nstorage = \"{storage}\"\n{}{}",
        surface("lower", &lower, &[[0, 1, 2]], "role = \"obstacle\""),
        surface("upper", &upper, &[[0, 1, 2]], "material = { area_density = 0.2 }")
    )
}

#[test]
fn a26_far_from_the_origin() {
    let mut play = Play::read(&far("f64"));
    let gap = play.gap().gap;
    assert!((gap / 0.000_100_000_000_202_271_62 - 1.0).abs() < 1e-9, "{gap}");
    let active = play.step().active;
    assert!(active >= 3, "contact acts");
    assert!(play.x("upper").iter().all(|x| x.y > 5000.0001), "and pushes");
    play.assert_sound();

    // Single precision has steps of 0.49 mm there.
    let said = refused(&far("f32"));
    assert!(said.contains("4.883e-4") && said.contains("f64"), "{said}");
}

#[test]
fn a29_a_heavy_particle_far_away() {
    let text = |more: &str| {
        format!(
            "dt = 0.01\nduration = 0.1\ngravity = [0, -9.81, 0]\n{}\
             [[energy]]\nkind = \"neo-hookean\"\nbody = \"triangle\"\nmu = 1e3\nlambda = 1e3\n{more}",
            surface(
                "triangle",
                &[[0.0, 0.0, 0.0], [0.1, 0.0, 0.0], [0.05, -0.086_602_540_378_443_86, 0.0]],
                &[[0, 1, 2]],
                "material = { area_density = 0.2 }\nfixed = [0, 1]"
            )
        )
    };
    let mut alone = Play::new(read(&text("")));
    let mut both = Play::new(read(&text(
        "[[body]]\nname = \"weight\"\nvertex_mass = 1e6\n\
         shape = { kind = \"points\", positions = [[1000, 1e5, 0]] }\n",
    )));
    for _ in 0..10 {
        alone.step();
        let record = both.step();
        assert!(record.iterations < 50, "{}", record.iterations);
        for (a, b) in alone.x("triangle").iter().zip(both.x("triangle")) {
            assert!(a.distance(*b) < 1e-9, "{a} {b}");
        }
    }
    let fallen = 1e5 - both.x("weight")[0].y;
    assert!((fallen - drop(0.01, 10.0)).abs() < 1e-9, "{fallen}");
}
