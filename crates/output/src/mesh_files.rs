//! PLY and OBJ files: triangles of one or several bodies, spheres as triangles.

use std::fmt::Write as _;
use std::path::Path;

use glam::DVec3;

use crate::error::{At, Result};

/// A surface to write: its name, points and triangles.
pub(crate) struct Piece<'a> {
    pub(crate) name: &'a str,
    pub(crate) points: Vec<DVec3>,
    pub(crate) faces: Vec<[u32; 3]>,
}

/// Writes one binary little-endian PLY with all pieces, points as doubles.
pub(crate) fn write_ply(path: &Path, pieces: &[Piece<'_>]) -> Result<()> {
    let points: usize = pieces.iter().map(|p| p.points.len()).sum();
    let faces: usize = pieces.iter().map(|p| p.faces.len()).sum();
    let header = format!(
        "ply\nformat binary_little_endian 1.0\ncomment Gusset\nelement vertex {points}\n\
         property double x\nproperty double y\nproperty double z\nelement face {faces}\n\
         property list uchar int vertex_indices\nend_header\n"
    );
    let mut bytes = header.into_bytes();
    for piece in pieces {
        let numbers = piece.points.iter().flat_map(DVec3::to_array);
        bytes.extend(numbers.flat_map(f64::to_le_bytes));
    }
    let mut first = 0;
    for piece in pieces {
        for face in &piece.faces {
            bytes.push(3);
            bytes.extend(face.iter().flat_map(|i| (first + i).to_le_bytes()));
        }
        first += piece.points.len() as u32;
    }
    std::fs::write(path, bytes).at("write the PLY file", path)
}

/// Writes one OBJ with an object for each piece; every digit of the points is kept.
pub(crate) fn write_obj(path: &Path, pieces: &[Piece<'_>]) -> Result<()> {
    let mut text = String::from("# Gusset, metres\n");
    let mut first = 1;
    for piece in pieces {
        let _ = writeln!(text, "o {}", piece.name.replace(char::is_whitespace, "_"));
        for p in &piece.points {
            let _ = writeln!(text, "v {} {} {}", p.x, p.y, p.z);
        }
        for [a, b, c] in &piece.faces {
            let _ = writeln!(text, "f {} {} {}", a + first, b + first, c + first);
        }
        first += piece.points.len() as u32;
    }
    std::fs::write(path, text).at("write the OBJ file", path)
}

/// A unit sphere as triangles: an icosahedron split `levels` times, points on the sphere.
pub(crate) fn icosphere(levels: u32) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let golden = f64::midpoint(1.0, 5.0_f64.sqrt());
    let mut points = Vec::new();
    for (a, b) in [(1.0, golden), (-1.0, golden), (1.0, -golden), (-1.0, -golden)] {
        points.extend([[0.0, a, b], [a, b, 0.0], [b, 0.0, a]].map(|p| DVec3::from(p).normalize()));
    }
    // The faces are the twenty triples of points at the shortest distance.
    let near = |i: usize, j: usize| points[i].distance_squared(points[j]) < 1.2;
    let mut faces = Vec::new();
    for i in 0..12 {
        for j in i + 1..12 {
            for k in j + 1..12 {
                if near(i, j) && near(j, k) && near(i, k) {
                    let out = (points[j] - points[i]).cross(points[k] - points[i]).dot(points[i]);
                    let (j, k) = if out > 0.0 { (j, k) } else { (k, j) };
                    faces.push([i as u32, j as u32, k as u32]);
                }
            }
        }
    }
    for _ in 0..levels {
        let mut middles = std::collections::BTreeMap::new();
        let mut finer = Vec::with_capacity(faces.len() * 4);
        for [a, b, c] in faces {
            let [ab, bc, ca] = [(a, b), (b, c), (c, a)].map(|(p, q)| {
                *middles.entry((p.min(q), p.max(q))).or_insert_with(|| {
                    points.push((points[p as usize] + points[q as usize]).normalize());
                    points.len() as u32 - 1
                })
            });
            finer.extend([[a, ab, ca], [b, bc, ab], [c, ca, bc], [ab, bc, ca]]);
        }
        faces = finer;
    }
    (points, faces)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_icosphere_is_closed_and_round() {
        for (levels, vertices) in [(0, 12), (1, 42), (2, 162), (3, 642)] {
            let (points, faces) = icosphere(levels);
            assert_eq!((points.len(), faces.len()), (vertices, (vertices - 2) * 2));
            assert!(points.iter().all(|p| (p.length() - 1.0).abs() < 1e-12));
            let volume: f64 = faces
                .iter()
                .map(|f| {
                    let [a, b, c] = f.map(|v| points[v as usize]);
                    a.dot(b.cross(c)) / 6.0
                })
                .sum();
            let ball = 4.0 / 3.0 * std::f64::consts::PI;
            assert!(volume > 0.6 * ball && volume < ball);
            let mut edges: Vec<[u32; 2]> =
                faces.iter().flat_map(|[a, b, c]| [[*a, *b], [*b, *c], [*c, *a]]).collect();
            edges.sort_unstable();
            assert!(edges.iter().all(|[a, b]| edges.binary_search(&[*b, *a]).is_ok()));
        }
    }
}
