//! Small worlds for the tests of energies: bodies made by hand, keys read from text.

use crate::kind::Energy;
use crate::site::{BuildError, Site, Terms};
use crate::term::{Local, StepState, Term, Want};
use glam::DVec3;
use gusset_mesh::{Body, Material, Mobility, Role, Topology, World};
use gusset_units::Units;
use std::collections::BTreeMap;

/// A body at rest in the given positions (m), of 1 kg a vertex, all free.
///
/// # Panics
/// If the triangles are no sound mesh.
pub fn body(name: &str, role: Role, positions: &[DVec3], triangles: &[[u32; 3]]) -> Body {
    let count = positions.len();
    Body {
        name: name.to_owned(),
        role,
        first: 0,
        rest: positions.to_vec(),
        start: positions.to_vec(),
        velocity: vec![DVec3::ZERO; count],
        mass: vec![1.0; count],
        radius: Vec::new(),
        mobility: vec![Mobility::Free; count],
        triangles: triangles.to_vec(),
        tets: Vec::new(),
        topology: Topology::new(count as u32, triangles).expect("a sound mesh"),
        groups: BTreeMap::new(),
        material: Material::default(),
        slab: None,
    }
}

/// Where an energy of the world's first body is built: SI, no gravity, no contact.
pub fn site(world: &World) -> Site<'_> {
    let body = world.bodies.first();
    Site {
        world,
        body,
        units: &Units::SI,
        gravity: DVec3::ZERO,
        contact: None,
        kind: "tested",
        name: None,
    }
}

/// Reads an energy's keys from TOML text and builds its terms.
pub fn build<E: Energy>(keys: &str, site: &Site<'_>) -> Result<Vec<Box<dyn Term>>, BuildError> {
    let mut terms = Terms::default();
    let energy: E = toml::from_str(keys).map_err(BuildError::Keys)?;
    energy.build(&Site { kind: E::KIND, ..*site }, &mut terms)?;
    Ok(terms.into_vec())
}

/// Energy (J) and forces (N) (minus the gradient) of a term on every vertex of a world that rests in `start` and is now
/// in `x`, in a step of `dt` (s).
pub fn forces(term: &dyn Term, start: &[DVec3], x: &[DVec3], dt: f64) -> (f64, Vec<DVec3>) {
    let still = vec![DVec3::ZERO; x.len()];
    let state = StepState { x, x_start: start, v_start: &still, dt };
    let (mut energy, mut local) = (Vec::new(), Local::default());
    term.energy(&state, &mut energy);
    local.eval(term, &state, Want::Gradient);
    let mut forces = still;
    for (&v, g) in term.stencils().iter().zip(local.gradient.chunks_exact(3)) {
        forces[v as usize] -= DVec3::from_slice(g);
    }
    (energy.iter().sum(), forces)
}
