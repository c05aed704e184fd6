use super::*;
use glam::{DQuat, DVec3};
use gusset_energy::check::Check;
use gusset_energy::{Mat3, fixture};
use gusset_mesh::{Role, World};

/// Edge along x from the origin, one wing ahead in z and one behind.
const EDGE: [Vec3<f64>; 2] = [Vec3::new(0.0, 0.0, 0.0), Vec3::new(1.0, 0.0, 0.0)];
const WING: Vec3<f64> = Vec3::new(0.5, 0.0, 1.0);

/// A hinge folded by an angle: 0 is flat.
fn folded(fold: f64) -> At<f64, 4> {
    let x = [WING, Vec3::new(0.5, fold.sin(), -fold.cos()), EDGE[0], EDGE[1]];
    At { x, x_start: x, v_start: [Vec3::zero(); 4], dt: 0.01 }
}

fn rest(angle: f64) -> Edge<f64> {
    Edge { stiffness: 2.0, rest_cos: angle.cos(), rest_sin: angle.sin() }
}

/// Fold of the state as the element sees it.
fn fold(at: &At<f64, 4>) -> f64 {
    let [a, b, c, d] = at.x;
    let [sin, cos] = angle(d - c, (c - a).cross(d - a), (d - b).cross(c - b));
    sin.atan2(cos)
}

fn gradient(at: &At<f64, 4>, p: &Edge<f64>) -> [Vec3<f64>; 4] {
    let mut blocks = Blocks::zero();
    Hinge::closed_form(at, p, &mut blocks);
    blocks.gradient
}

#[test]
fn derivatives() {
    Check::<Hinge, 4>::new(|random| {
        let p = rest(random.within(-3.0, 3.0));
        let wings = [[0.5, 0.0, 1.0], [0.5, 0.3, -0.9], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]];
        (random.near(wings, 0.3), p)
    })
    .internal()
    .rest(folded(0.7), rest(fold(&folded(0.7))))
    .rest(folded(0.0), rest(0.0))
    .formula(|at, p| {
        // k g g^T with g from a unit stiffness at a unit angle away from rest
        let here = fold(at);
        let g = gradient(at, &Edge { stiffness: 1.0, ..rest(here - 1.0) });
        let mut out = Blocks::zero();
        for i in 0..4 {
            for j in 0..4 {
                out.hessian[i][j] = g[i].outer(g[j]) * p.stiffness;
            }
        }
        out
    })
    .run();
}

#[test]
fn folds_near_half_a_turn_rest_where_they_are_and_are_driven_back() {
    // A rest angle kept in [0, 2 pi) against an angle in (-pi, pi] would pull with 2 pi k.
    let cases = [
        (0.5, [0.479_425_538_604_203, -0.877_582_561_890_372_8]),
        (-0.5, [-0.479_425_538_604_203, -0.877_582_561_890_372_8]),
        (2.8, [0.334_988_150_155_905_1, 0.942_222_340_668_658_1]),
        (-2.8, [-0.334_988_150_155_905_1, 0.942_222_340_668_658_1]),
        (3.1, [0.041_580_662_433_290_49, 0.999_135_150_273_279_5]),
        (-3.1, [-0.041_580_662_433_290_49, 0.999_135_150_273_279_5]),
    ];
    for (angle, [y, z]) in cases {
        let at = folded(angle);
        assert!((at.x[1].y - y).abs() < 1e-15 && (at.x[1].z - z).abs() < 1e-15, "{:?}", at.x[1]);
        let p = rest(fold(&at));
        assert!(Hinge::energy(&at, &p) < 1e-30 * p.stiffness);
        assert!(gradient(&at, &p).iter().all(|g| g.norm() <= 1e-12 * p.stiffness));

        // Turned further by 0.01 rad either way: the same energy, and a force against the turn.
        let [up, down] = [0.01, -0.01].map(|turn| {
            let turned = folded(angle + turn);
            let along = Vec3::new(0.0, (angle + turn).cos(), (angle + turn).sin()) * turn.signum();
            assert!(
                gradient(&turned, &p)[1].dot(along) > 0.0,
                "no restoring force at {angle} + {turn}"
            );
            Hinge::energy(&turned, &p)
        });
        assert!((up / down - 1.0).abs() < 0.01, "{up} and {down} at {angle}");
        assert!((up / (0.5 * p.stiffness * 1e-4) - 1.0).abs() < 1e-9);
    }
}

#[test]
fn an_open_mesh_has_no_hinge_at_its_boundary() {
    let square =
        [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]].map(|[x, z]| DVec3::new(x, 0.0, z));
    let world =
        World::new(vec![fixture::body("cloth", Role::Film, &square, &[[0, 1, 2], [0, 2, 3]])]);
    let body = &world.bodies[0];
    assert_eq!((body.topology.edges.len(), body.topology.boundary_edges.len()), (5, 4));
    let terms = fixture::build::<Hinge>("bending = 1.0", &fixture::site(&world)).unwrap();
    assert_eq!(terms[0].count(), 1);
    let hinge = terms[0].stencils();
    assert_eq!([hinge[0], hinge[1]].map(|v| v.min(3)), [1, 3]);
    assert_eq!([hinge[2].min(hinge[3]), hinge[2].max(hinge[3])], [0, 2]);
    let (_, forces) = fixture::forces(&*terms[0], &square, &square, 0.01);
    assert!(forces.iter().all(|f| f.length() < 1e-12));
}

/// A sheet of nx by ny cells of right-angled (`lean = 0`) or equilateral (`lean = 1/2`) triangles of side 1.
fn sheet(nx: u32, ny: u32, lean: f64) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let height = (1.0 - lean * lean).sqrt();
    let positions = (0..=ny)
        .flat_map(|j| {
            (0..=nx).map(move |i| (f64::from(i) + lean * f64::from(j), f64::from(j) * height))
        })
        .map(|(x, y)| DVec3::new(x, y, 0.0))
        .collect();
    let v = |i: u32, j: u32| j * (nx + 1) + i;
    let triangles = (0..ny)
        .flat_map(|j| (0..nx).map(move |i| (i, j)))
        .flat_map(|(i, j)| {
            let (p, q, r, t) = (v(i, j), v(i + 1, j), v(i + 1, j + 1), v(i, j + 1));
            if lean > 0.0 { [[p, q, t], [q, r, t]] } else { [[p, q, r], [p, r, t]] }
        })
        .collect();
    (positions, triangles)
}

/// Energy of a sheet rolled on a cylinder, over the `1/2 D kappa^2` an area of a plate. The cylinder's curvature runs at
/// the angle `turn` to the x axis.
fn rolled(keys: &str, lean: f64, turn: f64) -> f64 {
    let (flat, triangles) = sheet(60, 60, lean);
    let world = World::new(vec![fixture::body("sheet", Role::Film, &flat, &triangles)]);
    let terms =
        fixture::build::<Hinge>(&format!("bending = 1.0\n{keys}"), &fixture::site(&world)).unwrap();
    let kappa = 1e-2;
    let spin = DQuat::from_rotation_z(-turn);
    let bent: Vec<DVec3> = flat
        .iter()
        .map(|p| {
            let q = spin * *p;
            DVec3::new((kappa * q.x).sin() / kappa, q.y, (1.0 - (kappa * q.x).cos()) / kappa)
        })
        .collect();
    let (energy, _) = fixture::forces(&*terms[0], &flat, &bent, 0.01);
    energy / (0.5 * kappa * kappa * gusset_mesh::measure::total_area(&flat, &triangles))
}

#[test]
fn the_consistent_law_bends_cylinders_like_a_plate() {
    // Edges on the rim of the sheet have no hinge: 60 cells leave that at 2 %.
    for turn in [0.0, 0.2, 0.5, 1.0, 1.5] {
        let ratio = rolled("law = 'consistent'", 0.5, turn);
        assert!((ratio - 1.0).abs() < 0.03, "equilateral, {turn}: {ratio}");
        let ratio = rolled("law = 'article'", 0.5, turn);
        assert!((ratio - 6.0).abs() < 0.2, "equilateral, {turn}: {ratio}");
    }
    for (turn, expected) in [(0.0, 1.0), (90.0, 1.0), (45.0, 3.0), (-45.0, 1.0)] {
        let ratio = rolled("law = 'consistent'", 0.0, f64::to_radians(turn));
        assert!((ratio - expected).abs() < 0.03 * expected, "right-angled, {turn}: {ratio}");
    }
}

#[test]
fn stiffness_from_the_material_or_one_key() {
    let square = [DVec3::ZERO, DVec3::X, DVec3::new(1.0, 1.0, 0.0), DVec3::Y];
    let mut body = fixture::body("film", Role::Film, &square, &[[0, 1, 2], [0, 2, 3]]);
    body.material.young = Some(315e6);
    body.material.poisson = Some(0.45);
    body.material.thickness = Some(30e-6);
    let world = World::new(vec![body]);
    let stiffness = |keys: &str| {
        fixture::build::<Hinge>(keys, &fixture::site(&world)).map(|terms| terms[0].params().0[0])
    };
    // k = 6 D l^2/A with l^2 = 2, A = 1
    assert!((stiffness("").unwrap() - 12.0 * 8.887_15e-7).abs() < 1e-11);
    assert!((stiffness("law = 'consistent'").unwrap() - 2.0 * 8.887_15e-7).abs() < 1e-11);
    assert_eq!(stiffness("stiffness = 3").unwrap(), 3.0);
    assert!((stiffness("per_length = 3").unwrap() - 3.0 * 2.0_f64.sqrt()).abs() < 1e-15);
    assert!(
        stiffness("stiffness = 3\nbending = 1").unwrap_err().to_string().contains("takes one of")
    );
    assert!(stiffness("stiffness = -1").unwrap_err().to_string().contains("must be 0 or more"));
}

#[test]
fn reference_rest_angles_are_those_of_the_rest_shape() {
    let roof = [DVec3::ZERO, DVec3::X, DVec3::new(0.5, 0.4, 1.0), DVec3::new(0.5, 0.4, -1.0)];
    let world = World::new(vec![fixture::body("roof", Role::Film, &roof, &[[0, 1, 2], [1, 0, 3]])]);
    for (rest, still) in [("reference", true), ("flat", false)] {
        let keys = format!("bending = 1\nrest = '{rest}'");
        let terms = fixture::build::<Hinge>(&keys, &fixture::site(&world)).unwrap();
        let (energy, _) = fixture::forces(&*terms[0], &roof, &roof, 0.01);
        assert_eq!(energy < 1e-30, still, "{rest}: {energy}");
    }
}

#[test]
fn a_collapsed_face_does_not_poison_the_assembled_blocks() {
    let mut blocks = Blocks::<4>::zero();
    Hinge::closed_form(&folded(0.3), &rest(0.0), &mut blocks);
    assert!(blocks.hessian.iter().flatten().all(|b: &Mat3<f64>| b.norm_squared().is_finite()));
}

#[test]
fn damping_resists_turning_and_nothing_else() {
    let wings = [[0.5, 0.0, 1.0], [0.5, 0.3, -0.9], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]];
    let start = folded(0.4);
    let damped = |stiffness: f64, angle: f64| {
        let Edge { stiffness, rest_cos, rest_sin } = Edge { stiffness, ..rest(angle) };
        DampedEdge { elastic: [stiffness, rest_cos, rest_sin], damping: 3.0 }
    };
    Check::<DampedHinge, 4>::new(move |random| {
        let mut at = random.near(wings, 0.3);
        at.x_start = random.near(wings, 0.3).x;
        (at, damped(2.0, random.within(-1.0, 1.0)))
    })
    .internal()
    .rest(start, damped(2.0, fold(&start)))
    .formula(|at, p| {
        // (k + c/dt) g g^T with g from a unit stiffness at a unit angle away from rest
        let here = fold(at);
        let g = gradient(at, &Edge { stiffness: 1.0, ..rest(here - 1.0) });
        let mut out = Blocks::zero();
        for i in 0..4 {
            for j in 0..4 {
                out.hessian[i][j] = g[i].outer(g[j]) * (p.elastic[0] + p.damping / at.dt);
            }
        }
        out
    })
    .run();
    let mut turned = folded(0.5);
    turned.x_start = start.x;
    let mut out = Blocks::zero();
    DampedHinge::closed_form(&turned, &damped(0.0, 0.0), &mut out);
    let unit = gradient(&turned, &Edge { stiffness: 1.0, ..rest(fold(&turned) - 1.0) });
    let rate = (fold(&turned) - fold(&start)) / turned.dt;
    for (g, unit) in out.gradient.iter().zip(unit) {
        assert!((*g - unit * (3.0 * rate)).norm() < 1e-12 * g.norm());
    }
}
