use super::*;
use glam::DVec3;
use gusset_energy::check::{Check, Random};
use gusset_energy::{Contacts, Lagged, Row, RowKind, SlabRow, fixture};
use gusset_mesh::{Role, SlabShape, World};

fn pair(random: &mut Random) -> Pair<f64> {
    let (b, c) = (random.within(0.0, 0.5), random.within(0.0, 0.5));
    let normal = random.vector(1.0).normalized();
    Pair { weights: [1.0, b + c - 1.0, -b, -c], normal, load: random.within(0.1, 5.0), speed: 1e-3 }
}

/// A state that has moved by about `slide` since the start of the step.
fn moved<const N: usize>(random: &mut Random, slide: f64) -> At<f64, N> {
    let mut at = random.at(0.02);
    at.x = at.x_start.map(|x| x + random.vector(slide));
    at
}

#[test]
fn derivatives_from_stick_to_slip() {
    // The smoothing length is 1e-5 m.
    for slide in [1e-6, 1e-5, 1e-3] {
        Check::<RowFriction, 4>::new(move |random| (moved(random, slide), pair(random))).run();
        Check::<SlabFriction, 1>::new(move |random| {
            let Pair { normal, load, speed, .. } = pair(random);
            (moved(random, slide), Face { normal, load, speed })
        })
        .run();
    }
}

#[test]
fn nothing_happens_without_sliding() {
    let mut random = Random::new(1);
    let p = pair(&mut random);
    let at = moved::<4>(&mut random, 0.0);
    assert_eq!(RowFriction::energy(&at, &p), 0.0);
    let mut blocks = Blocks::zero();
    RowFriction::closed_form(&at, &p, &mut blocks);
    assert!(blocks.gradient.iter().all(|g| g.norm() == 0.0));
    Check::<RowFriction, 4>::new(move |random| (moved(random, 1e-3), pair(random)))
        .degenerate(at, p)
        .run();
}

#[test]
fn tiny_sliding_keeps_its_digits() {
    let at = |slide: f64| {
        let x = [Vec3::new(slide, 0.0, 0.0)];
        At { x, x_start: [Vec3::zero()], v_start: [Vec3::zero()], dt: 0.01 }
    };
    let p = Face { normal: Vec3::new(0.0, 0.0, 1.0), load: 2.0, speed: 1e-3 };
    let eps = 1e-5;
    for slide in [1e-9, 1e-12, 1e-14] {
        let expected = p.load * slide * slide / (2.0 * eps);
        assert!((SlabFriction::energy(&at(slide), &p) / expected - 1.0).abs() < 1e-8);
    }
}

#[test]
fn force_reaches_the_coulomb_limit_and_creeps_below_it() {
    let p = Face { normal: Vec3::new(0.0, 0.0, 1.0), load: 0.6, speed: 1e-3 };
    let force = |speed: f64, dt: f64| {
        let x = [Vec3::new(speed * dt, 0.0, 0.0)];
        let at = At { x, x_start: [Vec3::zero()], v_start: [Vec3::zero()], dt };
        let mut blocks = Blocks::zero();
        SlabFriction::closed_form(&at, &p, &mut blocks);
        blocks.gradient[0].x
    };
    assert!((force(1.0, 0.01) / p.load - 1.0).abs() < 1e-6);
    // Half the limit is carried at friction_speed / sqrt(3), whatever the step.
    for dt in [0.01, 0.005] {
        assert!((force(1e-3 / 3.0_f64.sqrt(), dt) / p.load - 0.5).abs() < 1e-12);
    }
}

#[test]
fn loads_are_the_normal_forces_of_the_start() {
    let mut wall = fixture::body("wall", Role::Slab, &[], &[]);
    wall.slab = Some(SlabShape { point: DVec3::ZERO, normal: DVec3::Z, thickness: 1.0 });
    let dust = fixture::body("dust", Role::Points, &[DVec3::ZERO; 4], &[]);
    let world = World::new(vec![dust, wall]);
    let contact = ContactParameters {
        dhat: 1e-3,
        stiffness: 1e3,
        friction: 0.35,
        friction_speed: 1e-3,
        mollify: false,
    };
    let site = Site { body: None, contact: Some(contact), ..fixture::site(&world) };
    let mut terms = fixture::build::<Friction>("", &site).unwrap();
    let row = Row {
        vertices: [0, 1, 2, 3],
        weights: [1.0, -0.5, -0.25, -0.25],
        offset: 0.0,
        normal: DVec3::Z,
        gap: 1e-3,
        sine_squared: 1.0,
        kind: RowKind::VertexTriangle,
        primitives: [0, 0],
    };
    let slab = SlabRow { vertex: 2, normal: DVec3::Z, plane: 0.0, offset: 0.0, gap: 1e-3, slab: 0 };
    let contacts = Contacts { rows: vec![row; 2], slabs: vec![slab; 2] };
    let lagged = Lagged { normal_force: vec![0.0, 2.0], slab_normal_force: vec![4.0, 0.0] };
    let loads: Vec<f64> = terms
        .iter_mut()
        .map(|term| {
            term.lag(&contacts, &lagged);
            let (params, stride) = term.params();
            assert_eq!(term.count(), 1);
            params[stride - 2]
        })
        .collect();
    assert_eq!(loads, [0.7, 1.4]);

    let frictionless = ContactParameters { friction: 0.0, ..contact };
    let site = Site { contact: Some(frictionless), ..site };
    assert!(fixture::build::<Friction>("", &site).unwrap().is_empty());
    let sudden = ContactParameters { friction_speed: 0.0, ..contact };
    let site = Site { contact: Some(sudden), ..site };
    assert!(fixture::build::<Friction>("", &site).is_err());
}
