//! A row at the positions at hand: closest points anew, the list of pairs as it is.

use crate::detection::{Detection, gather};
use crate::law::{Law, Touch};
use crate::separator::{extremes, first_count};
use glam::DVec3;
use gusset_contact::{Closest, edge_edge_within, point_point, point_triangle_within};
use gusset_energy::{Row, RowKind, StepState, VertexBlock};

/// Closest points of a row's primitives, or `None` where they are farther apart than `limit` (m).
#[inline]
pub(crate) fn closest(row: &Row, p: &[DVec3; 4], limit: f64) -> Option<Closest> {
    let [a, b, c, d] = *p;
    match row.kind {
        RowKind::VertexTriangle | RowKind::SphereTriangle => {
            point_triangle_within(a, b, c, d, limit * limit)
        }
        RowKind::EdgeEdge => edge_edge_within(a, b, c, d, limit * limit),
        RowKind::SphereSphere => Some(point_point(a, b)),
    }
}

/// Sum of displacements with the weights of a row: how its first closest point moves against the second.
#[inline]
pub(crate) fn weighted(row: &Row, weights: &[f64; 4], x: &[DVec3], from: &[DVec3]) -> DVec3 {
    let mut sum = DVec3::ZERO;
    for (&v, &w) in row.vertices.iter().zip(weights) {
        sum += w * (x[v as usize] - from[v as usize]);
    }
    sum
}

/// Adds the penalty forces of all pairs on one vertex.
#[inline]
pub(crate) fn penalty(
    detection: &Detection,
    law: &Law,
    at: &StepState<'_>,
    vertex: u32,
    block: &mut VertexBlock,
) {
    for (k, corner) in detection.acting.around(vertex) {
        let row = &detection.contacts.rows[k];
        let limit = law.margin + row.offset;
        let p = gather(row, at.x);
        // Along any direction the primitives are no farther apart than they are; that of the plane is a good one.
        let (low, high) = extremes(first_count(row.kind), &p, detection.separators[k].normal, p[3]);
        if low - high >= limit {
            continue;
        }
        let Some(closest) = closest(row, &p, limit) else { continue };
        let distance = closest.r.length();
        // At no distance there is no direction; the planes keep everything from there that was not there at the start.
        if distance >= limit || distance == 0.0 {
            continue;
        }
        let touch = Touch {
            normal: closest.r / distance,
            gap: distance - row.offset,
            motion: weighted(row, &closest.weights, at.x, at.x_start),
            weight: closest.weights[corner],
        };
        law.apply(&touch, block);
    }
    for (k, _) in detection.slabs_around.around(vertex) {
        let slab = &detection.contacts.slabs[k];
        let v = vertex as usize;
        let touch = Touch {
            normal: slab.normal,
            gap: slab.normal.dot(at.x[v]) - slab.plane - slab.offset,
            motion: at.x[v] - at.x_start[v],
            weight: 1.0,
        };
        law.apply(&touch, block);
    }
}
