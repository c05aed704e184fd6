//! What follows from a list of triangles: edges, hinges, boundary, adjacency.

use crate::{MeshError, Problem};

/// In [`Topology::edge_faces`]: no second face, the edge is a boundary edge.
pub const NO_FACE: u32 = u32::MAX;

/// An interior edge with its two faces.
///
/// With opposite vertices a and b and the shared edge from c to d, the faces are (a, c, d) and
/// (b, d, c): the normals `(c-a)x(d-a)` and `(d-b)x(c-b)` agree on a flat, consistently oriented
/// mesh, where the angle `atan2((n1 x n2).e/|e|, n1.n2)` with `e = d-c` is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hinge {
    /// The vertices opposite the edge: a of the face with the lower index, b of the other.
    pub opposite: [u32; 2],
    /// The shared edge from c to d, directed as in the face with the lower index.
    pub edge: [u32; 2],
}

impl Hinge {
    /// The four vertices in the order (a, b, c, d).
    pub fn vertices(&self) -> [u32; 4] {
        let ([a, b], [c, d]) = (self.opposite, self.edge);
        [a, b, c, d]
    }
}

/// A list of indices for each vertex, stored flat.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Adjacency {
    offsets: Vec<u32>,
    items: Vec<u32>,
}

impl Adjacency {
    /// The items of a vertex, in rising order.
    pub fn of(&self, vertex: u32) -> &[u32] {
        let v = vertex as usize;
        &self.items[self.offsets[v] as usize..self.offsets[v + 1] as usize]
    }

    /// Item `i` belongs to each of the vertices of `elements[i]`.
    fn of_elements<const N: usize>(vertex_count: u32, elements: &[[u32; N]]) -> Self {
        let mut offsets = vec![0u32; vertex_count as usize + 1];
        for &v in elements.iter().flatten() {
            offsets[v as usize + 1] += 1;
        }
        for v in 1..offsets.len() {
            offsets[v] += offsets[v - 1];
        }
        let mut next = offsets.clone();
        let mut items = vec![0u32; elements.len() * N];
        for (i, element) in elements.iter().enumerate() {
            for &v in element {
                items[next[v as usize] as usize] = i as u32;
                next[v as usize] += 1;
            }
        }
        Self { offsets, items }
    }
}

/// Edges, hinges, boundary and adjacency of a triangle mesh.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topology {
    /// Every edge once, as a sorted pair; the list is sorted.
    pub edges: Vec<[u32; 2]>,
    /// The one or two triangles at each edge, lower index first; [`NO_FACE`] on the boundary.
    pub edge_faces: Vec<[u32; 2]>,
    /// One hinge for each interior edge, in the order of the edges.
    pub hinges: Vec<Hinge>,
    /// The edges with one face, as sorted pairs in the order of the edges.
    pub boundary_edges: Vec<[u32; 2]>,
    /// The triangles at each vertex.
    pub vertex_triangles: Adjacency,
    /// The edges at each vertex, as indices into `edges`.
    pub vertex_edges: Adjacency,
}

/// One side of a triangle: sorted vertices first, so that sorting brings common sides together.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Side {
    low: u32,
    high: u32,
    face: u32,
    /// Which side of the face: from its corner `k` to corner `k + 1`.
    k: u32,
}

impl Topology {
    /// Builds the topology of `triangles` over `vertex_count` vertices.
    ///
    /// # Errors
    /// All combinatorial defects: an index out of range or repeated, duplicate faces, edges with
    /// more than two faces, inconsistent winding. Vertices without a triangle are allowed.
    pub fn new(vertex_count: u32, triangles: &[[u32; 3]]) -> Result<Self, MeshError> {
        let mut problems = check_indices("triangle", vertex_count, triangles);
        if !problems.is_empty() {
            return Err(MeshError { problems });
        }
        duplicate_faces(triangles, &mut problems);

        let mut sides = Vec::with_capacity(3 * triangles.len());
        for (face, t) in triangles.iter().enumerate() {
            for k in 0..3 {
                let (p, q) = (t[k], t[(k + 1) % 3]);
                sides.push(Side { low: p.min(q), high: p.max(q), face: face as u32, k: k as u32 });
            }
        }
        sides.sort_unstable();

        let mut topology = Self::default();
        for group in sides.chunk_by(|a, b| (a.low, a.high) == (b.low, b.high)) {
            let edge = [group[0].low, group[0].high];
            topology.edges.push(edge);
            match *group {
                [side] => {
                    topology.boundary_edges.push(edge);
                    topology.edge_faces.push([side.face, NO_FACE]);
                }
                [first, second] => {
                    topology.edge_faces.push([first.face, second.face]);
                    let ends = |s: Side| {
                        let t = triangles[s.face as usize];
                        let k = s.k as usize;
                        [t[k], t[(k + 1) % 3], t[(k + 2) % 3]]
                    };
                    let ([c, d, a], [start, _, b]) = (ends(first), ends(second));
                    if start == c {
                        let faces = [first.face, second.face];
                        problems.push(Problem::Winding { edge: [c, d], faces });
                    }
                    topology.hinges.push(Hinge { opposite: [a, b], edge: [c, d] });
                }
                _ => {
                    let faces = group.iter().map(|s| s.face).collect();
                    problems.push(Problem::CrowdedEdge { edge, faces });
                }
            }
        }
        // The same face twice has three edges in the wrong direction; one message is enough.
        let duplicates: Vec<[u32; 2]> = problems
            .iter()
            .filter_map(|p| match p {
                Problem::DuplicateFace { first, second } => Some([*first, *second]),
                _ => None,
            })
            .collect();
        problems
            .retain(|p| !matches!(p, Problem::Winding { faces, .. } if duplicates.contains(faces)));
        MeshError::unless_empty(problems)?;

        topology.vertex_triangles = Adjacency::of_elements(vertex_count, triangles);
        topology.vertex_edges = Adjacency::of_elements(vertex_count, &topology.edges);
        Ok(topology)
    }

    /// Vertices minus edges plus faces, over the vertices that have a triangle: 2 for a sphere,
    /// 1 for a disc, 0 for a cylinder without ends.
    pub fn euler_characteristic(&self, triangles: &[[u32; 3]]) -> i64 {
        let mut used: Vec<u32> = triangles.as_flattened().to_vec();
        used.sort_unstable();
        used.dedup();
        // Counts fit in 32 bits, see `MAX_ELEMENTS`.
        let signed = |count: usize| i64::from(count as u32);
        signed(used.len()) - signed(self.edges.len()) + signed(triangles.len())
    }

    /// Whether every edge has two faces.
    pub fn is_closed(&self) -> bool {
        self.boundary_edges.is_empty()
    }
}

/// Indices that are out of range or repeated within an element.
pub(crate) fn check_indices<const N: usize>(
    element: &'static str,
    count: u32,
    elements: &[[u32; N]],
) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (index, vertices) in elements.iter().enumerate() {
        let index = index as u32;
        for (k, &vertex) in vertices.iter().enumerate() {
            if vertex >= count {
                problems.push(Problem::IndexOutOfRange { element, index, vertex, count });
            } else if vertices[..k].contains(&vertex) {
                problems.push(Problem::RepeatedIndex { element, index, vertex });
            }
        }
    }
    problems
}

fn duplicate_faces(triangles: &[[u32; 3]], problems: &mut Vec<Problem>) {
    let mut faces: Vec<([u32; 3], u32)> = triangles
        .iter()
        .enumerate()
        .map(|(i, &t)| {
            let mut key = t;
            key.sort_unstable();
            (key, i as u32)
        })
        .collect();
    faces.sort_unstable();
    for pair in faces.windows(2) {
        if pair[0].0 == pair[1].0 {
            problems.push(Problem::DuplicateFace { first: pair[0].1, second: pair[1].1 });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_quad_has_one_hinge_and_four_boundary_edges() {
        let t = Topology::new(4, &[[0, 1, 2], [0, 2, 3]]).unwrap();
        assert_eq!(t.edges, [[0, 1], [0, 2], [0, 3], [1, 2], [2, 3]]);
        assert_eq!(t.boundary_edges, [[0, 1], [0, 3], [1, 2], [2, 3]]);
        assert_eq!(t.hinges, [Hinge { opposite: [1, 3], edge: [2, 0] }]);
        assert_eq!(t.edge_faces[1], [0, 1]);
        assert_eq!(t.vertex_triangles.of(0), [0, 1]);
        assert_eq!(t.vertex_triangles.of(1), [0]);
        assert_eq!(t.vertex_edges.of(3), [2, 4]);
        assert_eq!(t.euler_characteristic(&[[0, 1, 2], [0, 2, 3]]), 1);
    }

    #[test]
    fn hinges_are_directed_as_in_their_faces() {
        let mesh = crate::generate::icosphere(1.0, 2).unwrap();
        let has_face = |face: [u32; 3]| {
            let [a, b, c] = face;
            mesh.triangles.iter().any(|&t| t == face || t == [b, c, a] || t == [c, a, b])
        };
        let topology = mesh.topology().unwrap();
        assert_eq!(topology.hinges.len(), 3 * mesh.triangles.len() / 2);
        for (hinge, faces) in topology.hinges.iter().zip(&topology.edge_faces) {
            let [a, b, c, d] = hinge.vertices();
            assert!(has_face([a, c, d]) && has_face([b, d, c]), "{hinge:?}");
            assert!(faces[0] < faces[1]);
            assert!(mesh.triangles[faces[0] as usize].contains(&a));
        }
    }

    #[test]
    fn duplicate_face_names_both_triangles_once() {
        let error = Topology::new(3, &[[0, 1, 2], [1, 2, 0]]).unwrap_err();
        assert_eq!(error.to_string(), "triangles 0 and 1 are the same face");
    }

    #[test]
    fn third_face_at_an_edge_names_edge_and_faces() {
        let error = Topology::new(5, &[[0, 1, 2], [0, 1, 3], [1, 0, 4]]).unwrap_err();
        assert_eq!(error.problems, [Problem::CrowdedEdge { edge: [0, 1], faces: vec![0, 1, 2] }]);
        assert!(error.to_string().contains("triangles 0, 1, 2"));
    }

    #[test]
    fn inconsistent_winding_names_both_triangles() {
        let error = Topology::new(4, &[[0, 1, 2], [0, 3, 2]]).unwrap_err();
        assert_eq!(error.problems, [Problem::Winding { edge: [2, 0], faces: [0, 1] }]);
    }

    #[test]
    fn all_bad_indices_are_reported() {
        let error = Topology::new(3, &[[0, 1, 7], [1, 1, 2], [9, 9, 9]]).unwrap_err();
        assert_eq!(error.problems.len(), 5);
        assert!(error.to_string().starts_with("triangle 0 names vertex 7, but there are 3"));
    }
}
