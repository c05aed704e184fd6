use super::*;
use gusset_energy::check::Check;
use gusset_energy::fixture;
use gusset_energy::{StepState, Term};
use gusset_mesh::{Role, World};

fn particles(mass: &[f64]) -> World {
    let positions: Vec<DVec3> = (0..mass.len()).map(|i| DVec3::X * i as f64).collect();
    let mut body = fixture::body("dust", Role::Points, &positions, &[]);
    body.mass = mass.to_vec();
    World::new(vec![body])
}

/// Minimiser of one particle's energy: the only energy is quadratic with Hessian `m/dt^2`.
fn fall(term: &dyn Term, steps: usize, dt: f64) -> f64 {
    let (mut x, mut v) = (DVec3::ZERO, DVec3::ZERO);
    for _ in 0..steps {
        let mut local = gusset_energy::Local::default();
        let state = StepState { x: &[x], x_start: &[x], v_start: &[v], dt };
        local.eval(term, &state, gusset_energy::Want::Hessian);
        let next = x - DVec3::from_slice(&local.gradient) / local.hessian[0];
        (x, v) = (next, (next - x) / dt);
    }
    x.y
}

#[test]
fn derivatives() {
    Check::<Inertia, 1>::new(|random| {
        let (gravity, force) = (random.vector(10.0), random.vector(1.0));
        (random.at(0.1), Particle { mass: random.within(0.1, 2.0), gravity, force })
    })
    .run();
}

#[test]
fn free_fall_is_that_of_implicit_euler() {
    // drop = g dt^2 n (n + 1) / 2
    let world = particles(&[0.3]);
    let site = Site { gravity: DVec3::NEG_Y * 9.81, ..fixture::site(&world) };
    let terms = fixture::build::<Inertia>("", &site).unwrap();
    assert!((fall(&*terms[0], 50, 0.01) + 1.250_775).abs() < 1e-12);
}

#[test]
fn gravity_sets_in_when_it_is_told_to() {
    let world = particles(&[1.0, 1.0]);
    let site = Site { gravity: DVec3::NEG_Y * 10.0, ..fixture::site(&world) };
    let mut terms = fixture::build::<Inertia>("gravity_from = [0, '500 ms']", &site).unwrap();
    let still = [DVec3::ZERO; 2];
    let mut falls = |t: f64| {
        terms[0].at_time(t);
        fixture::forces(&*terms[0], &still, &still, 0.1).1.map_y()
    };
    assert_eq!(falls(0.5), [-10.0, 0.0]);
    assert_eq!(falls(0.6), [-10.0, -10.0]);
}

trait MapY {
    fn map_y(self) -> Vec<f64>;
}

impl MapY for Vec<DVec3> {
    fn map_y(self) -> Vec<f64> {
        self.into_iter().map(|f| f.y).collect()
    }
}

#[test]
fn forces_add_up() {
    let world = particles(&[2.0, 2.0]);
    let keys = "force = [0, 1, 0]\nloads = [{ vertices = [1], force = [0, '2 N', 0] }]";
    let terms = fixture::build::<Inertia>(keys, &fixture::site(&world)).unwrap();
    let still = [DVec3::ZERO; 2];
    assert_eq!(fixture::forces(&*terms[0], &still, &still, 0.1).1.map_y(), [1.0, 3.0]);
}

#[test]
fn only_free_vertices_need_mass() {
    let mut world = particles(&[1.0, 0.0]);
    let error = fixture::build::<Inertia>("", &fixture::site(&world)).err().unwrap().to_string();
    assert!(error.contains("`dust` vertex 1 is free and has a mass of 0 kg"), "{error}");
    world.bodies[0].mobility[1] = Mobility::Fixed;
    let terms = fixture::build::<Inertia>("", &fixture::site(&world)).unwrap();
    assert_eq!(terms[0].stencils(), [0]);
}
