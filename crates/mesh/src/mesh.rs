//! Geometry with named groups.

use std::collections::BTreeMap;

use glam::DVec3;

/// Vertices, elements and named groups of vertices.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// Vertex positions [m].
    pub positions: Vec<DVec3>,
    /// Triangles, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Tetrahedra of positive volume `(x1-x0).((x2-x0)x(x3-x0))/6`.
    pub tets: Vec<[u32; 4]>,
    /// Vertex selections by name, each sorted.
    pub groups: BTreeMap<String, Vec<u32>>,
}
