use super::*;
use glam::DVec3;
use gusset_energy::check::Check;
use gusset_energy::{Term, Vec3, fixture};
use gusset_mesh::{Role, World};

/// An octagon of radius 1 and a single point far above it.
fn world() -> World {
    let corner = |k: i32| DVec3::from_angle_z(f64::from(k) * std::f64::consts::FRAC_PI_4);
    let octagon: Vec<DVec3> = (0..8).map(corner).collect();
    World::new(vec![
        fixture::body("neck", Role::Points, &octagon, &[]),
        fixture::body("hook", Role::Points, &[DVec3::Z * 3.0], &[]),
    ])
}

trait FromAngle {
    fn from_angle_z(angle: f64) -> Self;
}

impl FromAngle for DVec3 {
    fn from_angle_z(angle: f64) -> Self {
        Self::new(angle.cos(), angle.sin(), 0.0)
    }
}

fn build(keys: &str) -> Result<Box<dyn Term>, String> {
    let world = world();
    fixture::build::<Tie>(keys, &fixture::site(&world))
        .map(|mut terms| terms.remove(0))
        .map_err(|error| error.to_string())
}

#[test]
fn derivatives_of_stretched_and_slack_threads() {
    let at = |gap: f64| {
        let x = [Vec3::zero(), Vec3::new(gap, 0.0, 0.0)];
        At { x, x_start: x, v_start: x, dt: 0.01 }
    };
    Check::<Tie, 2>::new(|random| {
        (random.at(1.0), Thread { stiffness: 250.0, length: random.within(0.0, 2.0), push: 1.0 })
    })
    .internal()
    .rest(at(0.5), Thread { stiffness: 250.0, length: 0.5, push: 1.0 })
    .formula(|at, p| {
        let r = at.x[1] - at.x[0];
        let (d, along) = (r.norm(), r.normalized().outer(r.normalized()));
        let sideways = (Mat3::identity() - along) * (1.0 - p.length / d).max(0.0);
        let block = (along + sideways) * p.stiffness;
        let mut out = Blocks::zero();
        out.hessian = [[block, -block], [-block, block]];
        out
    })
    .run();
}

#[test]
fn derivatives_of_threads_that_may_hang_slack() {
    // Lengths apart from the distance, where the second derivative jumps.
    Check::<Tie, 2>::new(|random| {
        let at = random.at(1.0);
        let d = (at.x[1] - at.x[0]).norm();
        let factor = if random.within(0.0, 1.0) < 0.5 { 0.5 } else { 1.5 };
        (at, Thread { stiffness: 250.0, length: d * factor, push: 0.0 })
    })
    .internal()
    .formula(|at, p| {
        let r = at.x[1] - at.x[0];
        let (d, along) = (r.norm(), r.normalized().outer(r.normalized()));
        let pulls = if p.length < d { 1.0 } else { 0.0 };
        let sideways = (Mat3::identity() - along) * (1.0 - p.length / d).max(0.0);
        let block = (along * pulls + sideways) * p.stiffness;
        let mut out = Blocks::zero();
        out.hessian = [[block, -block], [-block, block]];
        out
    })
    .run();
}

#[test]
fn a_slack_thread_pulls_but_does_not_push() {
    let force = |length: f64| {
        let tie = build(&format!("pairs = [[0, 4]]\nlength = {length}\nslack = true")).unwrap();
        let start = world().gather(|body| &body.start);
        fixture::forces(&*tie, &start, &start, 0.01).1[0].x
    };
    assert!((force(1.5) + 125.0).abs() < 1e-12);
    assert_eq!(force(2.5), 0.0);
}

#[test]
fn ends_in_one_place_give_finite_blocks() {
    let x = [Vec3::new(0.1, 0.2, 0.3); 2];
    let at = At { x, x_start: x, v_start: x, dt: 0.01 };
    for length in [0.0, 0.1] {
        let mut out = Blocks::zero();
        Tie::closed_form(&at, &Thread { stiffness: 250.0, length, push: 1.0 }, &mut out);
        assert!(out.gradient.iter().all(|g| g.norm() == 0.0));
        let expected = if length == 0.0 { 250.0 } else { 0.0 };
        assert_eq!(out.hessian[0][0], Mat3::identity() * expected);
    }
}

#[test]
fn rings_are_tied_along_and_across() {
    let pairs = |keys: &str| build(keys).unwrap().stencils().to_vec();
    let ring = |rest: &str| format!("around = [{{ ring = {{ range = [0, 7] }}, {rest} }}]");
    assert_eq!(pairs(&ring("step = 2, every = 2")), [0, 2, 2, 4, 4, 6, 6, 0]);
    assert_eq!(pairs(&ring("step = 2, first = 1, every = 2")), [1, 3, 3, 5, 5, 7, 7, 1]);
    assert_eq!(pairs(&ring("step = 4")), [0, 4, 1, 5, 2, 6, 3, 7]);
    assert_eq!(pairs("across = [{ from = [0, 1], to = [4, 3] }]"), [0, 4, 1, 3]);
    assert_eq!(pairs("pairs = [[2, 0]]\nother = 'hook'"), [2, 8]);
}

#[test]
fn threads_shorten_on_time() {
    let length = |keys: &str, t: f64| {
        let mut tie = build(keys).unwrap();
        tie.at_time(t);
        tie.params().0[1]
    };
    let diameter = "pairs = [[0, 4]]\n";
    assert!((length(diameter, 0.0) - 2.0).abs() < 1e-15);
    let factor =
        format!("{diameter}shorten = [{{ time = 1, factor = 1 }}, {{ time = 2, factor = 0.5 }}]");
    assert!((length(&factor, 1.5) - 1.5).abs() < 1e-15);
    let keyed = format!(
        "{diameter}shorten = [{{ time = 1, length = 1 }}, {{ time = 2, length = '36 mm' }}]"
    );
    assert!((length(&keyed, 9.0) - 0.036).abs() < 1e-15);
    assert_eq!(length(&format!("{diameter}length = 0.25"), 0.0), 0.25);

    let mut tie = build(&format!("{diameter}length = 0\nfrom = 1\nrelease = 2")).unwrap();
    let start = world().gather(|body| &body.start);
    let mut force = |t: f64| {
        tie.at_time(t);
        fixture::forces(&*tie, &start, &start, 0.01).1[0].x
    };
    assert_eq!(force(1.0), 0.0);
    assert!((force(1.5) + 500.0).abs() < 1e-12);
    assert_eq!(force(2.1), 0.0);
}

#[test]
fn mistakes_are_named() {
    let error = |keys: &str| build(keys).err().unwrap();
    assert!(error("").contains("no thread is tied"));
    assert!(error("pairs = [[0, 0]]").contains("ties `neck` vertex 0 to itself"));
    assert!(error("pairs = [[0, 8]]").contains("`neck` has 8 vertices"));
    assert!(error("pairs = [[0, 1]]\nother = 'hook'").contains("`hook` has 1 vertices"));
    assert!(error("pairs = [[0, 1]]\nother = 'hood'").contains("no body `hood`"));
    assert!(error("around = [{ ring = 'all', step = 8 }]").contains("step lies between 1 and 7"));
    assert!(error("pairs = [[0, 1]]\nshorten = [{ time = 0 }]").contains("all have a `length`"));
}
