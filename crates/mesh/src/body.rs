//! Bodies of a scene and the world they make up.

use std::collections::BTreeMap;

use glam::DVec3;

use crate::{Material, Topology};

/// What a body is made of, and so which arrays of it are filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// A film: triangles with thickness.
    Film,
    /// A solid: tetrahedra, and the triangles of its surface.
    Solid,
    /// Spheres: one vertex each, with a radius, that moves but doesn't turn.
    Spheres,
    /// Fixed or kinematic triangles.
    Obstacle,
    /// An infinite slab: no vertices, a [`SlabShape`].
    Slab,
    /// Free particles without radius, which touch nothing but slabs.
    Points,
}

/// Who decides where a vertex goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mobility {
    /// The solver.
    #[default]
    Free,
    /// Nobody: it stays.
    Fixed,
    /// The timeline.
    Kinematic,
}

/// An infinite plate with a front face and a back face.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlabShape {
    /// A point of the front face (m).
    pub point: DVec3,
    /// Unit normal, out of the front face; the material is behind it.
    pub normal: DVec3,
    /// Distance from the front face to the back face (m).
    pub thickness: f64,
}

/// A body as arrays. Indices in it are local: 0 is its own first vertex.
#[derive(Clone, Debug)]
pub struct Body {
    /// Unique name, as in the scene.
    pub name: String,
    /// What it is made of.
    pub role: Role,
    /// World index of its vertex 0.
    pub first: u32,
    /// Stress-free positions (m).
    pub rest: Vec<DVec3>,
    /// Positions at the start (m).
    pub start: Vec<DVec3>,
    /// Velocities at the start (m/s).
    pub velocity: Vec<DVec3>,
    /// Mass of each vertex (kg).
    pub mass: Vec<f64>,
    /// Radius of each sphere (m); empty for other roles.
    pub radius: Vec<f64>,
    /// Who moves each vertex.
    pub mobility: Vec<Mobility>,
    /// Triangles: of the film or obstacle, or the surface of the solid.
    pub triangles: Vec<[u32; 3]>,
    /// Tetrahedra of a solid.
    pub tets: Vec<[u32; 4]>,
    /// Edges and hinges of the triangles.
    pub topology: Topology,
    /// Vertex selections by name.
    pub groups: BTreeMap<String, Vec<u32>>,
    /// Elastic constants and densities.
    pub material: Material,
    /// Shape of a slab; `None` for other roles.
    pub slab: Option<SlabShape>,
}

impl Body {
    /// How many vertices it has.
    pub fn vertex_count(&self) -> usize {
        self.start.len()
    }

    /// Its world indices.
    pub fn range(&self) -> std::ops::Range<usize> {
        let first = self.first as usize;
        first..first + self.vertex_count()
    }

    /// Its triangles with world indices.
    pub fn world_triangles(&self) -> impl ExactSizeIterator<Item = [u32; 3]> + '_ {
        self.triangles.iter().map(|t| t.map(|v| v + self.first))
    }

    /// Its edges with world indices.
    pub fn world_edges(&self) -> impl ExactSizeIterator<Item = [u32; 2]> + '_ {
        self.topology.edges.iter().map(|e| e.map(|v| v + self.first))
    }
}

/// All bodies of a scene; their vertices stand one after the other in the world's arrays.
#[derive(Clone, Debug, Default)]
pub struct World {
    /// The bodies, by rising [`Body::first`].
    pub bodies: Vec<Body>,
}

impl World {
    /// Puts bodies one after the other: sets each [`Body::first`].
    pub fn new(mut bodies: Vec<Body>) -> Self {
        let mut first = 0;
        for body in &mut bodies {
            body.first = first;
            first += body.vertex_count() as u32;
        }
        Self { bodies }
    }

    /// How many vertices all bodies have.
    pub fn vertex_count(&self) -> usize {
        self.bodies.iter().map(Body::vertex_count).sum()
    }

    /// The body of this name.
    pub fn body(&self, name: &str) -> Option<&Body> {
        self.bodies.iter().find(|body| body.name == name)
    }

    /// The body that a world vertex belongs to, as an index into `bodies`.
    pub fn index_of(&self, vertex: u32) -> Option<usize> {
        let after = self.bodies.partition_point(|body| body.first <= vertex);
        // A body without vertices shares its `first` with the next one, so look backwards.
        (0..after).rev().find(|&i| self.bodies[i].range().contains(&(vertex as usize)))
    }

    /// The body that a world vertex belongs to.
    pub fn body_of(&self, vertex: u32) -> Option<&Body> {
        self.index_of(vertex).map(|i| &self.bodies[i])
    }

    /// A world vertex in words, for messages: `` `cloth` vertex 12 ``.
    pub fn describe(&self, vertex: u32) -> String {
        match self.body_of(vertex) {
            Some(body) => {
                let what = if body.role == Role::Spheres { "sphere" } else { "vertex" };
                format!("`{}` {what} {}", body.name, vertex - body.first)
            }
            None => format!("vertex {vertex} of no body"),
        }
    }

    /// One array over all vertices, from the same array of each body.
    pub fn gather<T: Clone>(&self, of: impl Fn(&Body) -> &[T]) -> Vec<T> {
        self.bodies.iter().flat_map(|body| of(body).iter().cloned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(name: &str, role: Role, count: usize) -> Body {
        Body {
            name: name.to_owned(),
            role,
            first: 0,
            rest: vec![DVec3::ZERO; count],
            start: vec![DVec3::ZERO; count],
            velocity: vec![DVec3::ZERO; count],
            mass: vec![1.0; count],
            radius: Vec::new(),
            mobility: vec![Mobility::Free; count],
            triangles: Vec::new(),
            tets: Vec::new(),
            topology: Topology::default(),
            groups: BTreeMap::new(),
            material: Material::default(),
            slab: None,
        }
    }

    #[test]
    fn vertices_are_described_by_body_and_local_index() {
        let world = World::new(vec![
            body("cloth", Role::Film, 13),
            body("wall", Role::Slab, 0),
            body("balls", Role::Spheres, 2),
        ]);
        assert_eq!(world.vertex_count(), 15);
        assert_eq!(world.describe(12), "`cloth` vertex 12");
        assert_eq!(world.describe(13), "`balls` sphere 0");
        assert_eq!(world.describe(15), "vertex 15 of no body");
        assert_eq!(world.body("wall").unwrap().first, 13);
        assert_eq!(world.gather(|b| &b.mass).len(), 15);
    }
}
