//! A flat rectangle of cells.

use std::collections::BTreeMap;

use glam::{DVec2, DVec3};

use super::{along, at_least, check_counts, positive};
use crate::{Mesh, MeshError};

/// How the cells of a [`grid`] are cut in two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pattern {
    /// The diagonal changes from cell to cell, so the sheet has no preferred direction: with
    /// corners p, q, r, t in order, (p,q,r) (p,r,t) where i + j is even, else (p,q,t) (q,r,t).
    #[default]
    Alternating,
    /// Every cell alike: (p,q,t) (q,r,t).
    Regular,
}

/// Where the origin of a [`grid`] is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    /// In the middle.
    #[default]
    Centre,
    /// In the corner of least x and y.
    Corner,
}

/// A rectangle of `size` (m) in the plane z = 0 with normal +z, cut into `cells` along x and y.
///
/// Vertex (i, j) has index `j * (cells[0] + 1) + i`. Groups: `left`, `right` (least and greatest
/// x), `bottom`, `top` (least and greatest y), `boundary`, `corners`, and `bottom-left`,
/// `bottom-right`, `top-left`, `top-right`.
pub fn grid(
    size: DVec2,
    cells: [u32; 2],
    pattern: Pattern,
    origin: Origin,
) -> Result<Mesh, MeshError> {
    positive("the grid's size in x", size.x)?;
    positive("the grid's size in y", size.y)?;
    let [nx, ny] = cells;
    at_least("the grid's number of cells in x", nx, 1, "at least 1")?;
    at_least("the grid's number of cells in y", ny, 1, "at least 1")?;
    let (wide_x, wide_y) = (u128::from(nx), u128::from(ny));
    check_counts((wide_x + 1) * (wide_y + 1), 2 * wide_x * wide_y)?;

    let coordinate = |length: f64, i: u32, n: u32| match origin {
        Origin::Corner => along(length, i, n),
        // By distance from the middle: symmetric to the last bit.
        Origin::Centre if 2 * u64::from(i) < u64::from(n) => -along(0.5 * length, n - 2 * i, n),
        Origin::Centre => along(0.5 * length, 2 * i - n, n),
    };
    let mut positions = Vec::with_capacity((nx as usize + 1) * (ny as usize + 1));
    for j in 0..=ny {
        for i in 0..=nx {
            positions.push(DVec3::new(coordinate(size.x, i, nx), coordinate(size.y, j, ny), 0.0));
        }
    }

    let row = nx + 1;
    let mut triangles = Vec::with_capacity(2 * nx as usize * ny as usize);
    for j in 0..ny {
        for i in 0..nx {
            let p = j * row + i;
            let (q, r, t) = (p + 1, p + row + 1, p + row);
            if pattern == Pattern::Alternating && (i + j) % 2 == 0 {
                triangles.extend([[p, q, r], [p, r, t]]);
            } else {
                triangles.extend([[p, q, t], [q, r, t]]);
            }
        }
    }

    let last = ny * row;
    let left: Vec<u32> = (0..=ny).map(|j| j * row).collect();
    let right: Vec<u32> = left.iter().map(|v| v + nx).collect();
    let bottom: Vec<u32> = (0..=nx).collect();
    let top: Vec<u32> = bottom.iter().map(|v| v + last).collect();
    let mut boundary = [&left[..], &right, &bottom, &top].concat();
    boundary.sort_unstable();
    boundary.dedup();
    let groups = BTreeMap::from(
        [
            ("bottom-left", vec![0]),
            ("bottom-right", vec![nx]),
            ("top-left", vec![last]),
            ("top-right", vec![last + nx]),
            ("corners", vec![0, nx, last, last + nx]),
            ("left", left),
            ("right", right),
            ("bottom", bottom),
            ("top", top),
            ("boundary", boundary),
        ]
        .map(|(name, group)| (name.to_owned(), group)),
    );
    Ok(Mesh { positions, triangles, tets: Vec::new(), groups })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Hinge, measure};

    #[test]
    fn alternating_diagonals_as_stated() {
        let mesh = grid(DVec2::ONE, [2, 1], Pattern::Alternating, Origin::Centre).unwrap();
        assert_eq!(mesh.triangles, [[0, 1, 4], [0, 4, 3], [1, 2, 4], [2, 5, 4]]);
        assert_eq!(mesh.positions[0], DVec3::new(-0.5, -0.5, 0.0));
        assert_eq!(mesh.groups["corners"], [0, 2, 3, 5]);
        assert_eq!(mesh.groups["left"], [0, 3]);
    }

    #[test]
    fn regular_diagonals_as_stated() {
        let mesh = grid(DVec2::splat(0.1), [10, 10], Pattern::Regular, Origin::Corner).unwrap();
        assert_eq!(mesh.triangles[..2], [[0, 1, 11], [1, 12, 11]]);
        assert_eq!(mesh.positions[120], DVec3::new(0.1, 0.1, 0.0));
        assert_eq!(mesh.positions[1], DVec3::new(0.01, 0.0, 0.0));
    }

    #[test]
    fn a_flat_grid_has_hinge_angle_zero() {
        let mesh = grid(DVec2::ONE, [3, 2], Pattern::Alternating, Origin::Centre).unwrap();
        for hinge in mesh.topology().unwrap().hinges {
            let [a, b, c, d] = hinge.vertices().map(|v| mesh.positions[v as usize]);
            let (n1, n2) = ((c - a).cross(d - a), (d - b).cross(c - b));
            let angle = n1.cross(n2).dot((d - c).normalize()).atan2(n1.dot(n2));
            assert_eq!(angle, 0.0, "{hinge:?}");
            assert!(n1.z > 0.0 && n2.z > 0.0);
        }
    }

    #[test]
    fn quad_of_an_open_mesh_has_one_hinge() {
        // NVIDIA/warp#621: 5 edges, 1 hinge with wings 1 and 3, 4 boundary edges.
        let mesh = grid(DVec2::ONE, [1, 1], Pattern::Alternating, Origin::Corner).unwrap();
        let topology = mesh.topology().unwrap();
        assert_eq!(topology.edges.len(), 5);
        assert_eq!(topology.boundary_edges.len(), 4);
        assert_eq!(topology.hinges, [Hinge { opposite: [1, 2], edge: [3, 0] }]);
    }

    #[test]
    fn smallest_distances_of_a_fine_grid() {
        // st-tech/ppf-contact-solver#116: pairs without a common vertex on a 4 x 4 grid of 2 mm.
        let mesh = grid(DVec2::splat(0.006), [3, 3], Pattern::Regular, Origin::Corner).unwrap();
        let edges = mesh.topology().unwrap().edges;
        let vertex_triangle = (0..16u32)
            .flat_map(|v| mesh.triangles.iter().map(move |t| (v, t)))
            .filter(|(v, t)| !t.contains(v))
            .count();
        let edge_edge = (0..edges.len())
            .flat_map(|i| (0..i).map(move |j| (i, j)))
            .filter(|&(i, j)| !edges[i].iter().any(|v| edges[j].contains(v)))
            .count();
        assert_eq!((vertex_triangle, edge_edge), (234, 412));
    }

    #[test]
    fn a_billion_vertices_are_refused_before_they_are_allocated() {
        for cells in [[1_000_000_000, 1], [u32::MAX, u32::MAX], [40_000, 40_000]] {
            let error =
                grid(DVec2::ONE, cells, Pattern::Regular, Origin::Corner).unwrap_err().to_string();
            assert!(error.contains("134217728"), "{error}");
        }
        for (size, cells) in [(0.0, 1), (-1.0, 1), (f64::NAN, 1), (f64::INFINITY, 1), (1.0, 0)] {
            let result = grid(DVec2::new(1.0, size), [1, cells], Pattern::Regular, Origin::Corner);
            assert!(result.is_err(), "{size} {cells}");
        }
    }

    proptest! {
        #[test]
        fn counts_area_and_orientation(
            nx in 1u32..9, ny in 1u32..9, x in 0.01..10.0f64, y in 0.01..10.0f64,
            regular: bool, corner: bool,
        ) {
            let pattern = if regular { Pattern::Regular } else { Pattern::Alternating };
            let origin = if corner { Origin::Corner } else { Origin::Centre };
            let mesh = grid(DVec2::new(x, y), [nx, ny], pattern, origin).unwrap();
            mesh.check().unwrap();
            mesh.check_coincident().unwrap();
            let topology = mesh.topology().unwrap();
            let hinges = nx * ny + (nx - 1) * ny + nx * (ny - 1);
            prop_assert_eq!(topology.hinges.len(), hinges as usize);
            prop_assert_eq!(topology.boundary_edges.len(), 2 * (nx + ny) as usize);
            prop_assert_eq!(mesh.groups["boundary"].len(), 2 * (nx + ny) as usize);
            prop_assert_eq!(topology.euler_characteristic(&mesh.triangles), 1);
            let area = measure::total_area(&mesh.positions, &mesh.triangles);
            prop_assert!((area / (x * y) - 1.0).abs() < 1e-12);
        }
    }
}
