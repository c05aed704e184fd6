//! What an author checks of a new energy.

use glam::DVec3;
use gusset_energy::check::Check;
use gusset_energy::{Fields, fixture};
use gusset_mesh::{Role, World};
use gusset_template::{Edge, Spring};

#[test]
fn derivatives() {
    Check::<Spring, 2>::new(|random| {
        let (rest, stiffness) = (random.within(0.5, 1.5), 10.0);
        (random.at(1.0), Edge::read(&[rest, stiffness], &mut 0))
    })
    .internal()
    .run();
}

#[test]
fn one_spring_per_edge() {
    let triangle = [DVec3::ZERO, DVec3::X, DVec3::Y];
    let world = World::new(vec![fixture::body("net", Role::Film, &triangle, &[[0, 1, 2]])]);
    let terms = fixture::build::<Spring>("stiffness = '3 N'", &fixture::site(&world)).unwrap();
    assert_eq!(terms[0].count(), 3);
    let twice = triangle.map(|p| p * 2.0);
    let (energy, _) = fixture::forces(&*terms[0], &triangle, &twice, 0.01);
    assert!((energy - 1.5 * (2.0 + 2.0_f64.sqrt())).abs() < 1e-12);
}
