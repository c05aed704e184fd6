//! Four rippled, slightly turned square sheets close above one another: the near-contact stack that collision kernels are
//! measured on, with the same numbers as the mesh that ipctk is measured on.

use std::f64::consts::PI;

use glam::{DVec3, dvec3};
use gusset_contact::CollisionMesh;

pub(crate) const DHAT: f64 = 2e-3;
const LAYERS: usize = 4;
const CELL: f64 = 0.01;
const GAP: f64 = 1.2e-3;

/// Sheets of `m` by `m` vertices.
pub(crate) fn stack(m: usize) -> (CollisionMesh, Vec<DVec3>) {
    let mut x = Vec::new();
    let mut mesh = CollisionMesh::new(vec![true; LAYERS * m * m], 0.0);
    let middle = (m - 1) as f64 / 2.0;
    for k in 0..LAYERS {
        let (sin, cos) = (0.03 * k as f64).sin_cos();
        for j in 0..m {
            for i in 0..m {
                let (u, v) = ((i as f64 - middle) * CELL, (j as f64 - middle) * CELL);
                let px = cos * u - sin * v + 0.0013 * k as f64;
                let py = sin * u + cos * v - 0.0021 * k as f64;
                let ripple = (2.0 * PI * px / 0.35).sin() * (2.0 * PI * py / 0.45).cos();
                x.push(dvec3(px, py, 0.02 * ripple + k as f64 * GAP));
            }
        }
        let mut triangles = Vec::new();
        for j in 0..m - 1 {
            for i in 0..m - 1 {
                let p = (j * m + i) as u32;
                let (q, r, t) = (p + 1, p + m as u32 + 1, p + m as u32);
                if (i + j) % 2 == 0 {
                    triangles.extend([[p, q, r], [p, r, t]]);
                } else {
                    triangles.extend([[p, q, t], [q, r, t]]);
                }
            }
        }
        mesh.add_surface(&format!("sheet-{k}"), (k * m * m) as u32, &triangles);
    }
    (mesh, x)
}

/// Upper sheets fall faster, so that neighbours approach by 1.6 gaps, and all slide by up to 3 mm.
pub(crate) fn sweep(x: &[DVec3]) -> Vec<DVec3> {
    let layer = x.len() / LAYERS;
    (0..x.len())
        .map(|i| {
            let k = (i / layer) as f64;
            dvec3(0.003 * (30.0 * x[i].y + k).sin(), 0.0, -0.004 - 1.6 * GAP * k)
        })
        .collect()
}
