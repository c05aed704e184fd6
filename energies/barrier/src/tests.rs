use super::*;
use glam::DVec3;
use gusset_energy::check::{Check, Random};
use gusset_energy::{Row, RowKind, SlabRow, fixture};
use gusset_mesh::{Role, SlabShape, World};

const DHAT: f64 = 1e-3;
const K: f64 = 1000.0;

/// Four points of which the two closest ones are about `distance` apart.
fn row(random: &mut Random, distance: f64) -> (At<f64, 4>, Pair<f64>) {
    let (b, c) = (random.within(0.1, 0.5), random.within(0.1, 0.4));
    let weights = [1.0, -(1.0 - b - c), -b, -c];
    let mut at = random.at(1e-2);
    let foot = at.x[1] * -weights[1] + at.x[2] * b + at.x[3] * c;
    let direction = random.vector(1.0).normalized();
    at.x[0] = foot + direction * distance;
    (at, Pair { weights, offset: 0.2e-3, dhat: DHAT, stiffness: K })
}

#[test]
fn derivatives() {
    Check::<RowBarrier, 4>::new(|random| {
        let gap = random.within(0.05e-3, 0.9e-3);
        row(random, 0.2e-3 + gap)
    })
    .internal()
    .formula(|at, p| {
        let r = separation(&at.x, &p.weights);
        let (n, gap) = (r.normalized(), r.norm() - p.offset);
        let mut out = Blocks::zero();
        for i in 0..4 {
            for j in 0..4 {
                let along = curvature(gap, p.dhat, p.stiffness) * p.weights[i] * p.weights[j];
                out.hessian[i][j] = n.outer(n) * along;
            }
        }
        out
    })
    .run();
    Check::<SlabBarrier, 1>::new(|random| {
        let normal = random.vector(1.0).normalized();
        let mut at = random.at(0.1);
        at.x[0] = at.x[0] - normal * normal.dot(at.x[0])
            + normal * (0.3 + random.within(0.05e-3, 0.9e-3));
        (at, Face { normal, plane: 0.3, offset: 0.0, dhat: DHAT, stiffness: K })
    })
    .run();
}

#[test]
fn values_at_half_the_distance_and_where_the_pieces_join() {
    let close = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-12;
    assert!(close(barrier(0.5 * DHAT, DHAT, 1.0) / DHAT.powi(2), 0.173_286_795_139_986_32));
    assert!(close(slope(0.5 * DHAT, DHAT, 1.0) / DHAT, -1.193_147_180_559_945_4));
    assert!(close(curvature(0.5 * DHAT, DHAT, 1.0), 6.386_294_361_119_891));
    for outside in [DHAT, 1.000_001 * DHAT, 1.0] {
        assert_eq!(barrier(outside, DHAT, 1.0), 0.0);
        assert_eq!((slope(outside, DHAT, 1.0), curvature(outside, DHAT, 1.0)), (0.0, 0.0));
    }
    let inside = 0.999_999 * DHAT;
    assert!((curvature(inside, DHAT, 1.0) / 6.0e-6 - 1.0).abs() < 1e-5);
    assert!((slope(inside, DHAT, 1.0) / (-3.0e-12 * DHAT) - 1.0).abs() < 1e-5);
}

#[test]
fn slope_and_curvature_are_derivatives() {
    for n in 1..200 {
        let x = 1e-4 * (0.999_f64 / 1e-4).powf(f64::from(n) / 200.0);
        // Fourth-order differences with a step well inside both ends of the interval.
        let h = 1e-3 * x.min(1.0 - x);
        let difference = |f: &dyn Fn(f64) -> f64| {
            (f(x - 2.0 * h) - 8.0 * f(x - h) + 8.0 * f(x + h) - f(x + 2.0 * h)) / (12.0 * h)
        };
        let first = difference(&|g| barrier(g, 1.0, 1.0));
        let second = difference(&|g| slope(g, 1.0, 1.0));
        assert!((first / slope(x, 1.0, 1.0) - 1.0).abs() < 1e-6, "B' at {x}: {first}");
        assert!((second / curvature(x, 1.0, 1.0) - 1.0).abs() < 1e-6, "B'' at {x}: {second}");
    }
}

#[test]
fn behind_the_surface_the_energy_is_infinite_and_not_nan() {
    for gap in [0.0, -1e-9, -1.0] {
        assert_eq!(barrier(gap, DHAT, K), f64::INFINITY);
    }
}

#[test]
fn forty_eight_layers_all_push() {
    // A particle above 48 parallel faces, 10 um apart, the first 0.5 mm below it.
    let sum: f64 = (0..48).map(|k| -slope(0.5e-3 + f64::from(k) * 1e-5, DHAT, 1.0)).sum();
    assert!((sum - 0.017_929_056_555_678_405).abs() < 1e-15);
}

#[test]
fn rows_closer_than_dhat_become_stencils_and_publish_their_force() {
    let mut wall = fixture::body("wall", Role::Slab, &[], &[]);
    wall.slab = Some(SlabShape { point: DVec3::ZERO, normal: DVec3::Z, thickness: 1.0 });
    let dust = fixture::body("dust", Role::Points, &[DVec3::ZERO; 4], &[]);
    let world = World::new(vec![dust, wall]);
    let parameters = ContactParameters {
        dhat: DHAT,
        stiffness: K,
        friction: 0.0,
        friction_speed: 0.0,
        mollify: false,
    };
    let site = Site { body: None, contact: Some(parameters), ..fixture::site(&world) };
    let mut terms = fixture::build::<Barrier>("", &site).unwrap();

    let row = |gap: f64| Row {
        vertices: [0, 1, 2, 3],
        weights: [1.0, -0.5, -0.25, -0.25],
        offset: 0.0,
        normal: DVec3::Z,
        gap,
        sine_squared: 1.0,
        kind: RowKind::VertexTriangle,
        primitives: [0, 0],
    };
    let slab =
        |gap: f64| SlabRow { vertex: 0, normal: DVec3::Z, plane: 0.0, offset: 0.0, gap, slab: 0 };
    let contacts =
        Contacts { rows: vec![row(2e-3), row(0.5e-3)], slabs: vec![slab(0.5e-3), slab(1e-3)] };
    let mut lagged = Lagged::default();
    for term in &mut terms {
        assert!(term.dynamic());
        term.refresh(&contacts);
        assert_eq!(term.count(), 1);
        term.publish(&contacts, &mut lagged);
    }
    let force = 1.193_147_180_559_945_4 * K * DHAT;
    for (found, expected) in
        [(&lagged.normal_force, [0.0, force]), (&lagged.slab_normal_force, [force, 0.0])]
    {
        assert!(found.iter().zip(expected).all(|(f, e)| (f - e).abs() < 1e-12), "{found:?}");
    }

    let without = fixture::build::<Barrier>("", &Site { contact: None, ..site });
    assert!(without.err().unwrap().to_string().contains("needs the scene to have a `[contact]`"));
}
