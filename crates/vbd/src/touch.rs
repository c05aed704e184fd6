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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detection::Detector;
    use glam::dvec3;
    use gusset_contact::CollisionMesh;
    use proptest::prelude::*;

    /// Two triangles, and what penalty forces do to each of their vertices.
    fn forces(law: &Law, x: &[DVec3], x_start: &[DVec3]) -> Vec<DVec3> {
        let mut mesh = CollisionMesh::new(vec![true; 6], 0.0);
        mesh.add_surface("two", 0, &[[0, 1, 2], [3, 4, 5]]);
        let (mut detector, mut detection) =
            (Detector::new(mesh, 2, false, 1.0), Detection::default());
        detector.detect(x, x, law.margin, &mut detection).unwrap();
        let at = StepState { x, x_start, v_start: x, dt: law.dt };
        (0..6)
            .map(|vertex| {
                let mut block = VertexBlock::default();
                penalty(&detection, law, &at, vertex, &mut block);
                -DVec3::from_array(block.gradient)
            })
            .collect()
    }

    fn point() -> impl Strategy<Value = DVec3> {
        [-1.0..1.0, -1.0..1.0, -0.2..0.2].prop_map(DVec3::from)
    }

    proptest! {
        /// Forces sum to nothing; repulsion, which is along the line between the closest points, turns nothing either.
        #[test]
        fn forces_of_a_pair_cancel(
            x in proptest::collection::vec(point(), 6),
            motion in proptest::collection::vec(point(), 6),
            rubbing: bool,
        ) {
            let x: Vec<DVec3> =
                x.iter().enumerate().map(|(v, x)| *x + DVec3::Z * if v < 3 { 0.0 } else { 0.4 }).collect();
            let start: Vec<DVec3> = x.iter().zip(&motion).map(|(x, m)| *x - 0.1 * *m).collect();
            let law = Law {
                margin: 0.5,
                stiffness: 1e3,
                damping: if rubbing { 5.0 } else { 0.0 },
                friction: if rubbing { 0.5 } else { 0.0 },
                slip: 1e-2,
                dt: 0.01,
            };
            let force = forces(&law, &x, &start);
            let largest = force.iter().fold(0.0_f64, |l, f| l.max(f.length()));
            let sum: DVec3 = force.iter().sum();
            prop_assert!(sum.length() <= 1e-11 * largest, "{sum} of {largest}");
            let torque: DVec3 = x.iter().zip(&force).map(|(x, f)| x.cross(*f)).sum();
            prop_assert!(rubbing || torque.length() <= 1e-10 * largest, "{torque} of {largest}");
        }
    }

    #[test]
    fn what_is_near_is_pushed() {
        let x = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]];
        let x: Vec<DVec3> =
            [0.0, 0.4].iter().flat_map(|z| x.map(|[x, y]| dvec3(x, y, *z))).collect();
        let law =
            Law { margin: 0.5, stiffness: 1e3, damping: 0.0, friction: 0.0, slip: 1e-2, dt: 0.01 };
        let force = forces(&law, &x, &x);
        assert!(force[..3].iter().all(|f| f.z < -1.0) && force[3..].iter().all(|f| f.z > 1.0));
    }
}
