//! Geometry with named groups.

use std::collections::BTreeMap;

use glam::{DQuat, DVec3};

use crate::{
    MAX_ELEMENTS, MAX_VERTICES, MeshError, Problem, Topology, measure, topology::check_indices,
};

/// Vertices, elements and named groups of vertices.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// Vertex positions (m).
    pub positions: Vec<DVec3>,
    /// Triangles, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Tetrahedra of positive volume `(x1-x0).((x2-x0)x(x3-x0))/6`.
    pub tets: Vec<[u32; 4]>,
    /// Vertex selections by name, each sorted.
    pub groups: BTreeMap<String, Vec<u32>>,
}

impl Mesh {
    /// A triangle mesh from its arrays, checked by [`check`](Self::check).
    pub fn from_triangles(
        positions: Vec<DVec3>,
        triangles: Vec<[u32; 3]>,
    ) -> Result<Self, MeshError> {
        let mesh = Self { positions, triangles, ..Self::default() };
        mesh.check()?;
        Ok(mesh)
    }

    /// A tetrahedral mesh from its arrays, checked by [`check`](Self::check); its triangles are
    /// the surface.
    pub fn from_tets(positions: Vec<DVec3>, tets: Vec<[u32; 4]>) -> Result<Self, MeshError> {
        let mut mesh = Self { positions, tets, ..Self::default() };
        mesh.check()?;
        mesh.triangles = crate::surface(&mesh.tets);
        Ok(mesh)
    }

    /// Rotates about the origin, then translates.
    #[must_use]
    pub fn placed(mut self, rotation: DQuat, translation: DVec3) -> Self {
        for p in &mut self.positions {
            *p = rotation * *p + translation;
        }
        self
    }

    /// Edges, hinges and boundary of the triangles.
    pub fn topology(&self) -> Result<Topology, MeshError> {
        Topology::new(self.positions.len() as u32, &self.triangles)
    }

    /// Everything that makes a mesh unusable, whatever it is used for.
    ///
    /// # Errors
    /// All of: too large, coordinates that are not finite, indices out of range or repeated,
    /// triangles without area, tetrahedra without or with negative volume, duplicate faces, edges
    /// with more than two faces, inconsistent winding, and vertices that no element uses (unless
    /// the mesh has no elements at all). Coincident vertices are another question:
    /// [`check_coincident`](Self::check_coincident).
    pub fn check(&self) -> Result<(), MeshError> {
        check_size("vertices", self.positions.len() as u64, MAX_VERTICES)?;
        check_size("triangles", self.triangles.len() as u64, MAX_ELEMENTS)?;
        check_size("tets", self.tets.len() as u64, MAX_ELEMENTS)?;
        let count = self.positions.len() as u32;

        let mut problems: Vec<Problem> = self
            .positions
            .iter()
            .enumerate()
            .filter(|(_, p)| !p.is_finite())
            .map(|(i, &position)| Problem::NonFinite { vertex: i as u32, position })
            .collect();
        let bad_tets = check_indices("tet", count, &self.tets);
        let tets_readable = bad_tets.is_empty();
        problems.extend(bad_tets);
        match self.topology() {
            Ok(_) => {}
            Err(error) => problems.extend(error.problems),
        }
        let readable = tets_readable
            && !problems.iter().any(|p| {
                matches!(p, Problem::IndexOutOfRange { .. } | Problem::RepeatedIndex { .. })
            });
        if readable {
            self.check_shapes(&mut problems);
            self.check_referenced(&mut problems);
        }
        MeshError::unless_empty(problems)
    }

    /// Vertices that have exactly the same position, with the first of each such set.
    ///
    /// # Errors
    /// One problem for each vertex that stands where an earlier one stands.
    pub fn check_coincident(&self) -> Result<(), MeshError> {
        // Adding 0.0 makes -0.0 and 0.0 the same key.
        let key = |v: u32| (self.positions[v as usize] + DVec3::ZERO).to_array();
        let before = |a: u32, b: u32| {
            let (a, b) = (key(a), key(b));
            a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])).then(a[2].total_cmp(&b[2]))
        };
        let mut order: Vec<u32> = (0..self.positions.len() as u32).collect();
        order.sort_by(|&a, &b| before(a, b)); // stable: the lowest index of a set comes first
        let mut problems = Vec::new();
        for set in order.chunk_by(|&a, &b| before(a, b).is_eq()) {
            for &second in &set[1..] {
                let position = self.positions[second as usize];
                problems.push(Problem::CoincidentVertices { first: set[0], second, position });
            }
        }
        MeshError::unless_empty(problems)
    }

    fn check_shapes(&self, problems: &mut Vec<Problem>) {
        // Relative to the element's size: what rounding leaves of a shape without extent.
        const FLAT: f64 = 1e-12;
        for (i, &t) in self.triangles.iter().enumerate() {
            let [a, b, c] = t.map(|v| self.positions[v as usize]);
            let longest = (b - a).length_squared().max((c - b).length_squared());
            let longest = longest.max((a - c).length_squared());
            if 2.0 * measure::area([a, b, c]) <= FLAT * longest {
                let pairs = [[0, 1], [1, 2], [0, 2]].map(|p| p.map(|k| t[k]));
                let coincident = pairs
                    .into_iter()
                    .find(|p| self.positions[p[0] as usize] == self.positions[p[1] as usize]);
                problems.push(Problem::DegenerateTriangle { triangle: i as u32, coincident });
            }
        }
        for (i, &vertices) in self.tets.iter().enumerate() {
            let x = vertices.map(|v| self.positions[v as usize]);
            let volume = measure::volume(x);
            let longest = (1..4).map(|k| (x[k] - x[0]).length()).fold(0.0, f64::max);
            if 6.0 * volume.abs() <= FLAT * longest.powi(3) {
                problems.push(Problem::FlatTet { tet: i as u32, volume });
            } else if volume < 0.0 {
                problems.push(Problem::InvertedTet { tet: i as u32, vertices, volume });
            }
        }
    }

    fn check_referenced(&self, problems: &mut Vec<Problem>) {
        if self.triangles.is_empty() && self.tets.is_empty() {
            return;
        }
        let mut used = vec![false; self.positions.len()];
        for &v in self.triangles.as_flattened().iter().chain(self.tets.as_flattened()) {
            used[v as usize] = true;
        }
        problems.extend(
            used.iter()
                .enumerate()
                .filter(|(_, used)| !**used)
                .map(|(i, _)| Problem::Unreferenced { vertex: i as u32 }),
        );
    }
}

/// Refuses a count before anything of that size is allocated.
pub(crate) fn check_size(what: &'static str, count: u64, limit: u64) -> Result<(), MeshError> {
    if count <= limit { Ok(()) } else { Err(Problem::TooLarge { what, count, limit }.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(list: &[[f64; 3]]) -> Vec<DVec3> {
        list.iter().copied().map(DVec3::from_array).collect()
    }

    #[test]
    fn coincident_corners_make_a_degenerate_triangle() {
        // The triangle of dimforge/parry#76.
        let positions = points(&[
            [2.276_999_95, -7.900_000_1, 16.318_000_8],
            [-0.569_999_993, -8.100_000_38, 16.607_000_4],
            [-0.569_999_993, -8.100_000_38, 16.607_000_4],
        ]);
        let error = Mesh::from_triangles(positions, vec![[0, 1, 2]]).unwrap_err();
        assert_eq!(error.to_string(), "triangle 0 is degenerate: vertices 1 and 2 coincide");
    }

    #[test]
    fn corners_on_a_line_make_a_degenerate_triangle() {
        let positions = points(&[[0.1, 0.1, 0.1], [0.2, 0.2, 0.2], [0.7, 0.7, 0.7]]);
        let error = Mesh::from_triangles(positions, vec![[0, 1, 2]]).unwrap_err();
        assert!(error.to_string().contains("on one line"), "{error}");
    }

    #[test]
    fn loose_vertex_is_named() {
        // newton-physics/newton#3451
        let positions =
            points(&[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [2.0, 2.0, 0.0]]);
        let error = Mesh::from_triangles(positions, vec![[0, 1, 2]]).unwrap_err();
        assert_eq!(error.problems, [Problem::Unreferenced { vertex: 3 }]);
    }

    #[test]
    fn inverted_tet_is_named_with_its_volume_and_the_repair() {
        // GEOS-DEV/GEOS#2154
        let positions = points(&[
            [-0.1275, -0.125_174_08, -0.107],
            [-0.139_923_35, -0.132_543_33, -0.107],
            [-0.140_159_45, -0.115, -0.116_707_27],
            [-0.140_484_67, -0.122_876_81, -0.107],
        ]);
        let error = Mesh::from_tets(positions.clone(), vec![[0, 1, 2, 3]]).unwrap_err();
        let Problem::InvertedTet { tet: 0, volume, .. } = error.problems[0] else {
            panic!("{error}")
        };
        assert!((volume / -2.009_842_827_855_833_4e-7 - 1.0).abs() < 1e-12, "{volume}");
        assert!(error.to_string().contains("for example (0 1 3 2)"), "{error}");
        let mesh = Mesh::from_tets(positions, vec![[0, 1, 3, 2]]).unwrap();
        assert_eq!(mesh.triangles.len(), 4);
    }

    #[test]
    fn flat_tet_is_not_called_inverted() {
        let positions =
            points(&[[0.0, 0.0, 0.1], [1.0, 0.0, 0.1], [0.0, 1.0, 0.1], [0.3, 0.3, 0.1]]);
        let error = Mesh::from_tets(positions, vec![[0, 1, 2, 3]]).unwrap_err();
        assert!(matches!(error.problems[..], [Problem::FlatTet { tet: 0, .. }]), "{error}");
    }

    #[test]
    fn every_problem_is_reported() {
        let positions = points(&[
            [0.0, 0.0, 0.0],
            [1.0, 0.0, 0.0],
            [f64::NAN, 1.0, 0.0],
            [f64::INFINITY, 0.0, 0.0],
        ]);
        let error =
            Mesh::from_triangles(positions, vec![[0, 1, 2], [1, 2, 0], [0, 1, 9]]).unwrap_err();
        let text = error.to_string();
        for part in ["vertex 2 has a coordinate", "vertex 3 has a coordinate", "names vertex 9"] {
            assert!(text.contains(part), "{text}");
        }
    }

    #[test]
    fn vertices_at_one_position_are_named_together() {
        let positions =
            points(&[[1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [1.0, -0.0, 0.0], [1.0, 0.0, 0.0]]);
        let mesh = Mesh { positions, ..Mesh::default() };
        let error = mesh.check_coincident().unwrap_err();
        let pairs: Vec<_> = error
            .problems
            .iter()
            .map(|p| match p {
                Problem::CoincidentVertices { first, second, .. } => (*first, *second),
                other => panic!("{other}"),
            })
            .collect();
        assert_eq!(pairs, [(0, 2), (0, 3)]);
    }
}
