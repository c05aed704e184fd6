//! A sphere of triangles of nearly equal size.

use glam::DVec3;

use super::{check_counts, positive};
use crate::{Mesh, MeshError};

/// A sphere of `radius` (m) about the origin with outward normals: an icosahedron whose triangles
/// are cut into four `subdivisions` times, each time moving the new vertices onto the sphere.
/// It has `10 * 4^subdivisions + 2` vertices: 12, 42, 162, 642, ... No groups.
pub fn icosphere(radius: f64, subdivisions: u32) -> Result<Mesh, MeshError> {
    positive("the icosphere's radius", radius)?;
    let fourfold = 4u128.checked_pow(subdivisions).unwrap_or(u128::from(u64::MAX));
    check_counts(10 * fourfold + 2, 20 * fourfold)?;

    let golden = f64::midpoint(1.0, 5f64.sqrt());
    let mut positions: Vec<DVec3> = Vec::with_capacity(10 * fourfold as usize + 2);
    for (a, b) in [(-1.0, golden), (1.0, golden), (-1.0, -golden), (1.0, -golden)] {
        positions.extend([DVec3::new(a, b, 0.0), DVec3::new(0.0, a, b), DVec3::new(b, 0.0, a)]);
    }
    for p in &mut positions {
        *p = p.normalize();
    }
    let mut triangles = icosahedron(&positions);

    for _ in 0..subdivisions {
        // Each edge gets one new vertex; sides of triangles are matched by sorting, as in Topology.
        let mut sides: Vec<([u32; 2], usize)> = Vec::with_capacity(3 * triangles.len());
        for (i, t) in triangles.iter().enumerate() {
            for k in 0..3 {
                let (p, q) = (t[k], t[(k + 1) % 3]);
                sides.push(([p.min(q), p.max(q)], 3 * i + k));
            }
        }
        sides.sort_unstable();
        let mut middle = vec![0u32; sides.len()];
        for pair in sides.chunk_by(|a, b| a.0 == b.0) {
            let [p, q] = pair[0].0.map(|v| positions[v as usize]);
            for (_, side) in pair {
                middle[*side] = positions.len() as u32;
            }
            positions.push((p + q).normalize());
        }
        triangles = triangles
            .iter()
            .enumerate()
            .flat_map(|(i, &[a, b, c])| {
                let [ab, bc, ca] = [middle[3 * i], middle[3 * i + 1], middle[3 * i + 2]];
                [[a, ab, ca], [b, bc, ab], [c, ca, bc], [ab, bc, ca]]
            })
            .collect();
    }
    for p in &mut positions {
        *p *= radius;
    }
    Ok(Mesh { positions, triangles, ..Mesh::default() })
}

/// The 20 outward triangles of the icosahedron: all triples of vertices one edge apart.
fn icosahedron(corners: &[DVec3]) -> Vec<[u32; 3]> {
    let near = |a: usize, b: usize| corners[a].dot(corners[b]) > 0.4; // 0.447 for neighbours
    let mut triangles = Vec::with_capacity(20);
    for a in 0..12 {
        for b in a + 1..12 {
            for c in b + 1..12 {
                if near(a, b) && near(b, c) && near(c, a) {
                    let outward = corners[a].dot(corners[b].cross(corners[c])) > 0.0;
                    let [b, c] = if outward { [b, c] } else { [c, b] };
                    triangles.push([a as u32, b as u32, c as u32]);
                }
            }
        }
    }
    triangles
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::*;
    use crate::measure;

    #[test]
    fn counts_closure_and_volume() {
        for (subdivisions, count) in [(0, 12), (1, 42), (2, 162), (3, 642)] {
            let mesh = icosphere(0.15, subdivisions).unwrap();
            mesh.check().unwrap();
            mesh.check_coincident().unwrap();
            assert_eq!(mesh.positions.len(), count);
            let topology = mesh.topology().unwrap();
            assert!(topology.is_closed());
            assert_eq!(topology.euler_characteristic(&mesh.triangles), 2);
            for p in &mesh.positions {
                assert!((p.length() - 0.15).abs() < 1e-15);
            }
        }
        let mesh = icosphere(1.0, 5).unwrap();
        let volume = measure::enclosed_volume(&mesh.positions, &mesh.triangles);
        assert!((volume / (4.0 / 3.0 * PI) - 1.0).abs() < 2e-3, "{volume}");
    }

    #[test]
    fn endless_subdivision_is_refused() {
        assert!(icosphere(1.0, 13).is_err());
        assert!(icosphere(1.0, 4_000_000_000).is_err());
        assert!(icosphere(0.0, 1).is_err());
    }
}
