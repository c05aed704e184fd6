//! Exact triangle-triangle intersection.
//!
//! Every answer comes from signs of determinants that the `robust` crate evaluates exactly (Shewchuk 1997, "Adaptive precision
//! floating-point arithmetic and fast robust geometric predicates") and from comparisons of coordinates, so the answer is right for the given
//! doubles and does not depend on the order of corners. Triangles are closed: touching counts. Nothing here is shared with
//! the closest-feature code that the solver runs on.

use glam::DVec3;
use robust::{Coord, Coord3D, orient2d, orient3d};

/// Whether two triangles have a point in common.
pub fn triangles_intersect(a: [DVec3; 3], b: [DVec3; 3]) -> bool {
    // All of one triangle strictly on one side of the other's plane: the answer for most pairs.
    if apart(&sides(&a, &b)) || apart(&sides(&b, &a)) {
        return false;
    }
    // Closed triangles meet exactly if an edge of one meets the other.
    edges(&a).into_iter().any(|e| segment_meets_triangle(e, &b))
        || edges(&b).into_iter().any(|e| segment_meets_triangle(e, &a))
}

/// Whether two triangles that share the corner `shared` have another point in common; `a` and `b` are their other corners.
pub(crate) fn fans_intersect(shared: DVec3, a: [DVec3; 2], b: [DVec3; 2]) -> bool {
    // What they share beyond the corner is convex and reaches the edge opposite to it in one of them.
    segment_meets_triangle(a, &[shared, b[0], b[1]])
        || segment_meets_triangle(b, &[shared, a[0], a[1]])
}

/// Whether two triangles on the common edge `edge` overlap in an area: folded flat onto each other. `a` and `b` are the
/// corners opposite to the edge.
pub(crate) fn fold_is_flat(edge: [DVec3; 2], a: DVec3, b: DVec3) -> bool {
    if sign3(edge[0], edge[1], a, b) != 0 {
        return false;
    }
    // In their common plane, seen along any axis that doesn't flatten it: the same side of the edge.
    (0..3).any(|axis| sign2(axis, edge[0], edge[1], a) * sign2(axis, edge[0], edge[1], b) > 0)
}

/// Whether the closed segment and the closed triangle have a point in common.
pub(crate) fn segment_meets_triangle([p, q]: [DVec3; 2], t: &[DVec3; 3]) -> bool {
    let (side_p, side_q) = (sign3(t[0], t[1], t[2], p), sign3(t[0], t[1], t[2], q));
    if side_p * side_q > 0 {
        return false;
    }
    if side_p != 0 || side_q != 0 {
        // The segment meets the plane in one point. It is in the triangle if the line passes all edges on one side.
        let turns = edges(t).map(|[a, b]| sign3(p, q, a, b));
        return turns.iter().all(|&s| s >= 0) || turns.iter().all(|&s| s <= 0);
    }
    // Coplanar, or a triangle without area.
    if edges(t).into_iter().any(|e| segments_meet([p, q], e)) {
        return true;
    }
    // Else the segment is wholly inside or wholly outside.
    (0..3).any(|axis| {
        let turns = edges(t).map(|[a, b]| sign2(axis, a, b, p));
        turns.iter().all(|&s| s > 0) || turns.iter().all(|&s| s < 0)
    })
}

/// Whether two closed segments have a point in common.
fn segments_meet([p, q]: [DVec3; 2], [a, b]: [DVec3; 2]) -> bool {
    if sign3(p, q, a, b) != 0 {
        return false;
    }
    // Seen along an axis that keeps some three of the points from being in line, the plane is seen one to one.
    for axis in 0..3 {
        let turns = [
            sign2(axis, p, q, a),
            sign2(axis, p, q, b),
            sign2(axis, a, b, p),
            sign2(axis, a, b, q),
        ];
        if turns.iter().any(|&s| s != 0) {
            return turns[0] * turns[1] <= 0
                && turns[2] * turns[3] <= 0
                && boxes_meet(&[p, q], &[a, b]);
        }
    }
    // All on one line: intervals of any coordinate in which the line extends, so boxes, decide.
    boxes_meet(&[p, q], &[a, b])
}

/// Whether the boxes of two point sets have a point in common.
pub(crate) fn boxes_meet(a: &[DVec3], b: &[DVec3]) -> bool {
    let bounds = |points: &[DVec3]| {
        let infinity = DVec3::splat(f64::INFINITY);
        points.iter().fold((infinity, -infinity), |(l, h), &p| (l.min(p), h.max(p)))
    };
    let ((a_low, a_high), (b_low, b_high)) = (bounds(a), bounds(b));
    a_low.cmple(b_high).all() && b_low.cmple(a_high).all()
}

fn edges([a, b, c]: &[DVec3; 3]) -> [[DVec3; 2]; 3] {
    [[*a, *b], [*b, *c], [*c, *a]]
}

fn sides(plane: &[DVec3; 3], points: &[DVec3; 3]) -> [i32; 3] {
    points.map(|p| sign3(plane[0], plane[1], plane[2], p))
}

fn apart(sides: &[i32; 3]) -> bool {
    sides.iter().all(|&s| s > 0) || sides.iter().all(|&s| s < 0)
}

/// Side of the plane a, b, c on which d lies.
fn sign3(a: DVec3, b: DVec3, c: DVec3, d: DVec3) -> i32 {
    let p = |v: DVec3| Coord3D { x: v.x, y: v.y, z: v.z };
    sign(orient3d(p(a), p(b), p(c), p(d)))
}

/// Side of the line a, b on which c lies, seen along a coordinate axis. Dropping a coordinate is exact.
fn sign2(axis: usize, a: DVec3, b: DVec3, c: DVec3) -> i32 {
    let p = |v: DVec3| match axis {
        0 => Coord { x: v.y, y: v.z },
        1 => Coord { x: v.z, y: v.x },
        _ => Coord { x: v.x, y: v.y },
    };
    sign(orient2d(p(a), p(b), p(c)))
}

fn sign(determinant: f64) -> i32 {
    i32::from(determinant > 0.0) - i32::from(determinant < 0.0)
}
