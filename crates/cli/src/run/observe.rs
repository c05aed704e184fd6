//! What probes want to know beyond positions: gaps between bodies and contact forces.

use glam::DVec3;
use gusset_contact::{Candidates, CollisionMesh, IntersectionCheck, Search, intersections};
use gusset_energy::{Contacts, Lagged, Local, RowKind, StepState, Want};
use gusset_mesh::World;
use gusset_scene::BodyGap;
use gusset_solve::Model;
use std::collections::BTreeMap;

/// Gaps are known up to this many `dhat`.
const REACH: f64 = 4.0;

/// Finds contact rows after a step, apart from those of the solver.
pub(super) struct Observer {
    mesh: CollisionMesh,
    candidates: Candidates,
    contacts: Contacts,
    lagged: Lagged,
    dhat: f64,
    skin: f64,
    /// Body of each world vertex, and of each slab.
    body_of: Vec<u32>,
    slab_body: Vec<u32>,
}

impl Observer {
    /// For a model with contact.
    pub(super) fn new(model: &Model) -> Option<Self> {
        let contact = model.contact?;
        let mesh = CollisionMesh::from_world(&model.world, contact.min_gap);
        let (body_of, slab_body) = owners(&model.world);
        Some(Self {
            candidates: Candidates::new(&mesh),
            contacts: Contacts::default(),
            lagged: Lagged::default(),
            dhat: contact.parameters.dhat,
            skin: contact.skin,
            mesh,
            body_of,
            slab_body,
        })
    }

    /// Rows with a gap below `reach`; none where the positions are not finite.
    fn find(&mut self, x: &[DVec3], reach: f64) {
        self.contacts.rows.clear();
        self.contacts.slabs.clear();
        let covered = self.candidates.dhat() == reach && self.candidates.covers(x, x);
        let known = covered
            || self.candidates.query(&self.mesh, x, x, self.skin, reach, usize::MAX).is_ok();
        if known {
            self.candidates.rows(&self.mesh, x, reach, &mut self.contacts);
        }
    }

    /// Smallest gap of each pair of bodies that are near each other.
    pub(super) fn gaps(&mut self, x: &[DVec3]) -> Vec<BodyGap> {
        self.find(x, REACH * self.dhat);
        let mut smallest: BTreeMap<[u32; 2], f64> = BTreeMap::new();
        let mut note = |a: u32, b: u32, gap: f64| {
            let entry = smallest.entry([a.min(b), a.max(b)]).or_insert(f64::INFINITY);
            *entry = entry.min(gap);
        };
        for row in &self.contacts.rows {
            let second = if row.kind == RowKind::EdgeEdge { 2 } else { 1 };
            let [a, b] = [0, second].map(|k| self.body_of[row.vertices[k] as usize]);
            note(a, b, row.gap);
        }
        for row in &self.contacts.slabs {
            note(self.body_of[row.vertex as usize], self.slab_body[row.slab as usize], row.gap);
        }
        smallest.into_iter().map(|(bodies, gap)| BodyGap { bodies, gap }).collect()
    }

    /// Pairs of primitives that intersect, by the checker that shares nothing with the solver.
    pub(super) fn intersections(&self, x: &[DVec3]) -> usize {
        let check = IntersectionCheck { search: Search::Sweep, fixed: false };
        intersections(&self.mesh, x, &check).pairs.len()
    }

    /// Contact force on each world vertex (N) at the end of a step: normal forces, and the friction that the step has
    /// met.
    pub(super) fn forces(&mut self, model: &Model, step: &StepState<'_>) -> Vec<DVec3> {
        let x = step.x;
        self.find(x, self.dhat);
        self.lagged.normal_force.clear();
        self.lagged.normal_force.resize(self.contacts.rows.len(), 0.0);
        self.lagged.slab_normal_force.clear();
        self.lagged.slab_normal_force.resize(self.contacts.slabs.len(), 0.0);
        for term in &model.terms {
            term.publish(&self.contacts, &mut self.lagged);
        }
        let mut forces = vec![DVec3::ZERO; x.len()];
        for (row, force) in self.contacts.rows.iter().zip(&self.lagged.normal_force) {
            for (vertex, weight) in row.vertices.iter().zip(row.weights) {
                forces[*vertex as usize] += row.normal * (weight * force);
            }
        }
        for (row, force) in self.contacts.slabs.iter().zip(&self.lagged.slab_normal_force) {
            forces[row.vertex as usize] += row.normal * *force;
        }
        let mut local = Local::default();
        for term in model.terms.iter().filter(|term| term.kind().starts_with("friction")) {
            local.eval(&**term, step, Want::Gradient);
            let gradients = local.gradient.as_chunks::<3>().0;
            for (vertex, gradient) in term.stencils().iter().zip(gradients) {
                forces[*vertex as usize] -= DVec3::from_array(*gradient);
            }
        }
        forces
    }
}

fn owners(world: &World) -> (Vec<u32>, Vec<u32>) {
    let (mut body_of, mut slab_body) = (Vec::new(), Vec::new());
    for (i, body) in (0..).zip(&world.bodies) {
        body_of.extend(std::iter::repeat_n(i, body.vertex_count()));
        if body.slab.is_some() {
            slab_body.push(i);
        }
    }
    (body_of, slab_body)
}
