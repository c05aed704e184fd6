//! Additive continuous collision detection of one pair.
//!
//! Li, Kaufman and Jiang 2021 ("Codimensional Incremental Potential Contact", section 5) advance a pair by what it can't
//! use up of its gap, look again, and add. They bound the motion by the largest speeds of the points; here only the motion
//! along the present normal counts, which is never more, and is what keeps a pair that slides fast past a tiny gap from
//! needing thousands of looks (ipc-toolkit issue 145). The bound holds since the slab of empty space between the closest
//! points of two convex primitives with linearly moving vertices stays empty until the vertices have crossed it.

use glam::DVec3;
use gusset_energy::RowKind;

use crate::distance::{Closest, edge_edge, point_point, point_triangle};
use crate::step_bound::approach;
use crate::{StepMethod, StepRule};

/// Follows a pair from its closest points at the start. Gives the fraction of the step at which at most the rule's slack
/// of the gap is used up, or infinity where that is not reached by `best`. Displacements are relative to one another's
/// common motion.
pub(crate) fn advance(
    kind: RowKind,
    x: &[DVec3; 4],
    dx: &[DVec3; 4],
    offset: f64,
    start: Closest,
    best: f64,
    rule: &StepRule,
) -> f64 {
    let mut r = start.r;
    let mut distance = start.distance();
    // The margin keeps rounding from asking for one look more where the first one already used up the slack.
    let target = (1.0 - rule.slack) * (distance - offset) * (1.0 + 1e-6);
    let mut t = 0.0;
    for _ in 0..rule.max_iterations {
        let gap = distance - offset;
        let approach = approach(kind, r / distance, dx);
        if approach <= 0.0 {
            return f64::INFINITY;
        }
        let next = t + rule.slack * gap / approach;
        if next > best {
            return f64::INFINITY;
        }
        let there = [0, 1, 2, 3].map(|i| x[i] + next * dx[i]);
        let closest = match kind {
            RowKind::VertexTriangle | RowKind::SphereTriangle => {
                point_triangle(there[0], there[1], there[2], there[3])
            }
            RowKind::EdgeEdge => edge_edge(there[0], there[1], there[2], there[3]),
            RowKind::SphereSphere => point_point(there[0], there[1]),
        };
        r = closest.r;
        distance = closest.distance();
        // A gap of the size of rounding errors may vanish in them: stay where it was seen.
        if !(distance > offset) {
            return if t > 0.0 { t } else { 0.5 * next };
        }
        t = next;
        if distance - offset <= target {
            return t;
        }
    }
    t
}

/// The fraction of the step that a pair may take, in [0, 1]: it keeps at least about `(1 - slack)^2` of its gap above
/// `offset` (m) all along. 0 only where the pair touches at the start.
fn alone(kind: RowKind, x: [DVec3; 4], dx: [DVec3; 4], offset: f64, rule: &StepRule) -> f64 {
    let start = match kind {
        RowKind::EdgeEdge => edge_edge(x[0], x[1], x[2], x[3]),
        _ => point_triangle(x[0], x[1], x[2], x[3]),
    };
    if !(start.distance() > offset) {
        return 0.0;
    }
    let rule = StepRule { method: StepMethod::Additive, ..*rule };
    advance(kind, &x, &dx.map(|d| d - dx[0]), offset, start, 1.0, &rule).min(1.0)
}

/// Additive CCD of a vertex and a triangle: vertices `(v, a, b, c)`, their displacements, and the distance `offset` (m) that
/// counts as touching. A point and an edge are a triangle with two equal corners. Gives the fraction of the step that keeps
/// the pair apart; 0 only where it touches at the start.
pub fn vertex_triangle_accd(x: [DVec3; 4], dx: [DVec3; 4], offset: f64, rule: &StepRule) -> f64 {
    alone(RowKind::VertexTriangle, x, dx, offset, rule)
}

/// Additive CCD of two edges: vertices `(a0, a1, b0, b1)`; otherwise as [`vertex_triangle_accd`].
pub fn edge_edge_accd(x: [DVec3; 4], dx: [DVec3; 4], offset: f64, rule: &StepRule) -> f64 {
    alone(RowKind::EdgeEdge, x, dx, offset, rule)
}
