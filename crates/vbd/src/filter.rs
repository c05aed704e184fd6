//! Pairs that are close on the mesh: their distance says nothing about contact.

use gusset_contact::CollisionMesh;
use gusset_energy::{Row, RowKind};

/// For every vertex the vertices that are reached over fewer edges than the given number of rings.
#[derive(Clone, Debug, Default)]
pub(crate) struct Neighbourhood {
    start: Vec<u32>,
    /// Sorted, without the vertex itself.
    members: Vec<u32>,
}

impl Neighbourhood {
    /// Vertices within `rings - 1` edges of each other; none for fewer than two rings.
    pub(crate) fn new(mesh: &CollisionMesh, rings: u32) -> Self {
        let count = mesh.movable.len();
        let mut direct: Vec<Vec<u32>> = vec![Vec::new(); count];
        for &[a, b] in &mesh.edges {
            direct[a as usize].push(b);
            direct[b as usize].push(a);
        }
        let mut all = Self { start: vec![0], members: Vec::new() };
        let (mut ring, mut next) = (Vec::new(), Vec::new());
        for v in 0..count as u32 {
            let first = all.members.len();
            ring.clear();
            ring.push(v);
            for _ in 1..rings {
                next.clear();
                for &w in &ring {
                    for &u in &direct[w as usize] {
                        if u != v && !all.members[first..].contains(&u) {
                            all.members.push(u);
                            next.push(u);
                        }
                    }
                }
                std::mem::swap(&mut ring, &mut next);
            }
            all.members[first..].sort_unstable();
            all.start.push(all.members.len() as u32);
        }
        all
    }

    fn near(&self, a: u32, b: u32) -> bool {
        let v = a as usize;
        let members = &self.members[self.start[v] as usize..self.start[v + 1] as usize];
        a == b || members.binary_search(&b).is_ok()
    }

    /// Whether the two primitives of a row are close on the mesh.
    pub(crate) fn excludes(&self, row: &Row) -> bool {
        let [a, b, c, d] = row.vertices;
        match row.kind {
            RowKind::VertexTriangle => [b, c, d].iter().any(|&w| self.near(a, w)),
            RowKind::EdgeEdge => {
                [c, d].iter().any(|&w| self.near(a, w)) || [c, d].iter().any(|&w| self.near(b, w))
            }
            RowKind::SphereTriangle | RowKind::SphereSphere => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rings_count_edges() {
        // A strip of five vertices.
        let mut mesh = CollisionMesh::new(vec![true; 5], 0.0);
        mesh.add_surface("strip", 0, &[[0, 1, 2], [1, 3, 2], [2, 3, 4]]);
        let within = |rings: u32, a, b| Neighbourhood::new(&mesh, rings).near(a, b);
        assert!(!within(1, 0, 1) && within(2, 0, 1) && !within(2, 0, 3));
        assert!(within(3, 0, 3) && within(3, 0, 4));
        assert!(!within(2, 0, 4) && !within(2, 1, 4));
    }
}
