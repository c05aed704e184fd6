use super::*;
use glam::DVec3;
use gusset_energy::check::Check;
use gusset_energy::{Row, RowKind, SlabRow, fixture};
use gusset_mesh::{Role, SlabShape, World};

#[test]
fn derivatives_inside_and_outside() {
    for (low, high) in [(0.2e-3, 0.9e-3), (1.1e-3, 2e-3)] {
        Check::<RowPenalty, 4>::new(move |random| {
            let weights = [1.0, -0.5, -0.2, -0.3];
            let mut at = random.at(1e-2);
            let foot = at.x[1] * 0.5 + at.x[2] * 0.2 + at.x[3] * 0.3;
            at.x[0] = foot + random.vector(1.0).normalized() * random.within(low, high);
            (at, Pair { weights, reach: 1e-3, stiffness: 1e4 })
        })
        .internal()
        .formula(|at, p| {
            let r = separation(&at.x, &p.weights);
            let (n, mut out) = (r.normalized(), Blocks::zero());
            for i in 0..4 {
                for j in 0..4 {
                    let k = if r.norm() < p.reach { p.stiffness } else { 0.0 };
                    out.hessian[i][j] = n.outer(n) * (k * p.weights[i] * p.weights[j]);
                }
            }
            out
        })
        .run();
        Check::<SlabPenalty, 1>::new(move |random| {
            let normal = random.vector(1.0).normalized();
            let mut at = random.at(0.1);
            let height = 0.3 - 1e-3 + random.within(low, high);
            at.x[0] = at.x[0] + normal * (height - normal.dot(at.x[0]));
            at.x_start[0] = at.x[0] + normal * 1e-3; // differences on the scale of the depth
            (at, Face { normal, plane: 0.3, stiffness: 1e4 })
        })
        .run();
    }
}

#[test]
fn acts_within_dhat_between_surfaces_and_behind_faces_at_slabs() {
    let mut wall = fixture::body("wall", Role::Slab, &[], &[]);
    wall.slab = Some(SlabShape { point: DVec3::ZERO, normal: DVec3::Z, thickness: 1.0 });
    let dust = fixture::body("dust", Role::Points, &[DVec3::ZERO; 4], &[]);
    let world = World::new(vec![dust, wall]);
    let contact = ContactParameters {
        dhat: 1e-3,
        stiffness: 1e4,
        friction: 0.0,
        friction_speed: 0.0,
        mollify: false,
    };
    let site = Site { body: None, contact: Some(contact), ..fixture::site(&world) };
    let mut terms = fixture::build::<Penalty>("", &site).unwrap();
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
        Contacts { rows: vec![row(2e-3), row(0.25e-3)], slabs: vec![slab(0.5e-3), slab(-2e-3)] };
    let mut lagged = Lagged::default();
    for term in &mut terms {
        term.refresh(&contacts);
        assert_eq!(term.count(), 1);
        term.publish(&contacts, &mut lagged);
    }
    assert_eq!(lagged.normal_force, [0.0, 7.5]);
    assert_eq!(lagged.slab_normal_force, [0.0, 20.0]);
    let x = [DVec3::NEG_Z * 2e-3; 4];
    let (energy, forces) = fixture::forces(&*terms[1], &x, &x, 0.01);
    assert!((energy - 0.02).abs() < 1e-15 && (forces[0].z - 20.0).abs() < 1e-12);
}
