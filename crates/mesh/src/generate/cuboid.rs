//! Boxes: of tetrahedra, and as a surface.

use std::collections::BTreeMap;

use glam::DVec3;

use super::{along, at_least, check_counts, positive};
use crate::{Mesh, MeshError, surface};

/// The lattice that a box is made of.
struct Lattice {
    size: DVec3,
    cells: [u32; 3],
}

impl Lattice {
    fn new(size: DVec3, cells: [u32; 3]) -> Result<Self, MeshError> {
        for (what, value) in [
            ("the box's size in x", size.x),
            ("the box's size in y", size.y),
            ("the box's size in z", size.z),
        ] {
            positive(what, value)?;
        }
        for (what, value) in [
            ("the box's number of cells in x", cells[0]),
            ("the box's number of cells in y", cells[1]),
            ("the box's number of cells in z", cells[2]),
        ] {
            at_least(what, value, 1, "at least 1")?;
        }
        Ok(Self { size, cells })
    }

    fn point(&self, i: [u32; 3]) -> DVec3 {
        let coordinate = |k: usize| along(self.size[k], i[k], self.cells[k]);
        DVec3::new(coordinate(0), coordinate(1), coordinate(2))
    }

    fn on_surface(&self, i: [u32; 3]) -> bool {
        (0..3).any(|k| i[k] == 0 || i[k] == self.cells[k])
    }

    /// All lattice points: z slowest, x fastest.
    fn points(&self) -> impl Iterator<Item = [u32; 3]> + use<> {
        let [nx, ny, nz] = self.cells;
        (0..=nz).flat_map(move |z| (0..=ny).flat_map(move |y| (0..=nx).map(move |x| [x, y, z])))
    }

    /// Groups `left`, `right` (least and greatest x), `front`, `back` (y), `bottom`, `top` (z) and
    /// `corners` of vertices that stand at the lattice points `at`.
    fn groups(&self, at: &[[u32; 3]]) -> BTreeMap<String, Vec<u32>> {
        let select = |keep: &dyn Fn([u32; 3]) -> bool| -> Vec<u32> {
            at.iter().enumerate().filter(|(_, i)| keep(**i)).map(|(v, _)| v as u32).collect()
        };
        let n = self.cells;
        let mut groups = BTreeMap::new();
        for (k, [low, high]) in
            [["left", "right"], ["front", "back"], ["bottom", "top"]].into_iter().enumerate()
        {
            groups.insert(low.to_owned(), select(&|i| i[k] == 0));
            groups.insert(high.to_owned(), select(&|i| i[k] == n[k]));
        }
        let corner = |i: [u32; 3]| (0..3).all(|k| i[k] == 0 || i[k] == n[k]);
        groups.insert("corners".to_owned(), select(&corner));
        groups
    }
}

/// A box of tetrahedra from the origin to `size` (m), five to a cell, mirrored from cell to cell
/// so that faces match. Its triangles are its surface.
///
/// Vertices are ordered z slowest, x fastest. Groups: `left`, `right` (least and greatest x),
/// `front`, `back` (y), `bottom`, `top` (z), `corners` and `surface`.
pub fn soft_box(size: DVec3, cells: [u32; 3]) -> Result<Mesh, MeshError> {
    let lattice = Lattice::new(size, cells)?;
    let [nx, ny, nz] = cells.map(u128::from);
    check_counts((nx + 1) * (ny + 1) * (nz + 1), 5 * nx * ny * nz)?;

    let at: Vec<[u32; 3]> = lattice.points().collect();
    let positions: Vec<DVec3> = at.iter().map(|&i| lattice.point(i)).collect();
    let (row, layer) = (cells[0] + 1, (cells[0] + 1) * (cells[1] + 1));
    let mut tets = Vec::with_capacity(5 * (nx * ny * nz) as usize);
    for &[x, y, z] in &at {
        if x == cells[0] || y == cells[1] || z == cells[2] {
            continue;
        }
        // Corners as in Newton's `add_soft_grid`.
        let v = z * layer + y * row + x;
        let c = [
            v,
            v + 1,
            v + 1 + layer,
            v + layer,
            v + row,
            v + row + 1,
            v + row + 1 + layer,
            v + row + layer,
        ];
        let cell: [[usize; 4]; 5] = if (x ^ y ^ z) & 1 == 1 {
            [[0, 1, 4, 3], [2, 3, 6, 1], [5, 4, 1, 6], [7, 6, 3, 4], [4, 1, 6, 3]]
        } else {
            [[1, 2, 5, 0], [3, 0, 7, 2], [4, 7, 0, 5], [6, 5, 2, 7], [5, 2, 7, 0]]
        };
        tets.extend(cell.map(|tet| tet.map(|k| c[k])));
    }
    let mut groups = lattice.groups(&at);
    let on_surface =
        at.iter().enumerate().filter(|(_, i)| lattice.on_surface(**i)).map(|(v, _)| v as u32);
    groups.insert("surface".to_owned(), on_surface.collect());
    Ok(Mesh { triangles: surface(&tets), positions, tets, groups })
}

/// The surface of a box from the origin to `size` (m) with outward normals; each face is cut into
/// cells and these in two. Groups as in [`soft_box`], but for `surface`.
pub fn box_surface(size: DVec3, cells: [u32; 3]) -> Result<Mesh, MeshError> {
    let lattice = Lattice::new(size, cells)?;
    let [nx, ny, nz] = cells.map(u128::from);
    // The lattice is walked as a whole, so it counts, not only its surface.
    check_counts((nx + 1) * (ny + 1) * (nz + 1), 4 * (nx * ny + ny * nz + nz * nx))?;

    let at: Vec<[u32; 3]> = lattice.points().filter(|&i| lattice.on_surface(i)).collect();
    let order = |i: [u32; 3]| [i[2], i[1], i[0]];
    let vertex = |i: [u32; 3]| -> u32 {
        at.binary_search_by_key(&order(i), |&p| order(p)).expect("a point of the surface") as u32
    };
    let mut triangles = Vec::new();
    for axis in 0..3 {
        let (u, w) = ((axis + 1) % 3, (axis + 2) % 3); // u x w points along axis
        for side in [0, cells[axis]] {
            for j in 0..cells[w] {
                for i in 0..cells[u] {
                    let corner = |du: u32, dw: u32| {
                        let mut at = [0; 3];
                        (at[axis], at[u], at[w]) = (side, i + du, j + dw);
                        vertex(at)
                    };
                    let [p, q, r, t] = [corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)];
                    if side == 0 {
                        triangles.extend([[p, t, r], [p, r, q]]);
                    } else {
                        triangles.extend([[p, q, r], [p, r, t]]);
                    }
                }
            }
        }
    }
    let positions = at.iter().map(|&i| lattice.point(i)).collect();
    Ok(Mesh { positions, triangles, tets: Vec::new(), groups: lattice.groups(&at) })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::measure;

    #[test]
    fn soft_box_of_the_cube_scene() {
        let mesh = soft_box(DVec3::splat(0.04), [4, 4, 4]).unwrap();
        assert_eq!((mesh.positions.len(), mesh.tets.len()), (125, 320));
        assert_eq!(mesh.positions[1], DVec3::new(0.01, 0.0, 0.0));
        assert_eq!(mesh.positions[5], DVec3::new(0.0, 0.01, 0.0));
        assert_eq!(mesh.groups["surface"].len(), 98);
        // Uniform masses of 1 g weigh 125 g, lumped ones the 64 g of the cube.
        let lumped: f64 = measure::solid_mass(&mesh.positions, &mesh.tets, 1000.0).iter().sum();
        assert!((lumped - 0.064).abs() < 1e-15);
        let uniform: f64 = measure::uniform_mass(125, 1e-3).iter().sum();
        assert!((uniform - 0.125).abs() < 1e-15);
    }

    proptest! {
        #[test]
        fn boxes_fill_their_volume(
            size in prop::array::uniform3(0.01..10.0f64), cells in prop::array::uniform3(1u32..5),
        ) {
            let size = DVec3::from_array(size);
            let soft = soft_box(size, cells).unwrap();
            let shell = box_surface(size, cells).unwrap();
            let volume = size.element_product();
            for mesh in [&soft, &shell] {
                mesh.check().unwrap();
                mesh.check_coincident().unwrap();
                let enclosed = measure::enclosed_volume(&mesh.positions, &mesh.triangles);
                prop_assert!((enclosed / volume - 1.0).abs() < 1e-12);
                let topology = mesh.topology().unwrap();
                prop_assert!(topology.is_closed());
                prop_assert_eq!(topology.euler_characteristic(&mesh.triangles), 2);
            }
            let filled = measure::total_volume(&soft.positions, &soft.tets);
            prop_assert!((filled / volume - 1.0).abs() < 1e-12);
            prop_assert_eq!(shell.positions.len(), soft.groups["surface"].len());
            for &v in &shell.groups["top"] {
                prop_assert_eq!(shell.positions[v as usize].z, size.z);
            }
        }
    }

    #[test]
    fn huge_boxes_are_refused() {
        assert!(soft_box(DVec3::ONE, [1000, 1000, 1000]).is_err());
        assert!(box_surface(DVec3::ONE, [u32::MAX; 3]).is_err());
        assert!(soft_box(DVec3::new(1.0, f64::NAN, 1.0), [1, 1, 1]).is_err());
    }
}
