//! Exact triangle-triangle intersection.
//!
//! Every answer comes from comparisons of coordinates and from signs of determinants, which the `robust` crate evaluates
//! exactly wherever rounding could change them (Shewchuk 1997, "Adaptive precision floating-point arithmetic and fast robust
//! geometric predicates"), so the answer is right for the given
//! doubles and does not depend on the order of corners. Triangles are closed: touching counts. Nothing here is shared with
//! the closest-feature code that the solver runs on.

use glam::DVec3;
use robust::{Coord, Coord3D, orient2d, orient3d};

/// Whether two triangles have a point in common.
pub fn triangles_intersect(a: [DVec3; 3], b: [DVec3; 3]) -> bool {
    Plane::of(a).meets(&Plane::of(b))
}

/// Whether the closed segment and the closed triangle have a point in common, given on which sides of the triangle's plane
/// the ends are.
#[inline]
fn segment_meets_triangle(ends: [DVec3; 2], sides: [i32; 2], t: &[DVec3; 3]) -> bool {
    sides[0] * sides[1] <= 0 && crosses(ends, sides, t)
}

/// The same, where the ends are not strictly on one side.
fn crosses([p, q]: [DVec3; 2], sides: [i32; 2], t: &[DVec3; 3]) -> bool {
    if sides != [0; 2] {
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

/// Bound of a determinant's error relative to its magnitude: eight roundings of `EPSILON / 2` reach each of the products it
/// sums, doubled to be safe.
const ROUNDING: f64 = 8.0 * f64::EPSILON;

/// A magnitude above this is far from underflow.
const TINY: f64 = 1e-280;

/// A triangle and its plane, prepared for many points: most sides are clear from an ordinary evaluation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plane {
    corners: [DVec3; 3],
    normal: DVec3,
    /// The normal with all products taken positive.
    magnitude: DVec3,
}

impl Plane {
    pub(crate) fn of([a, b, c]: [DVec3; 3]) -> Self {
        let (u, v) = (b - a, c - a);
        let (p, q) = (u.abs(), v.abs());
        let magnitude =
            DVec3::new(p.y * q.z + p.z * q.y, p.z * q.x + p.x * q.z, p.x * q.y + p.y * q.x);
        Self { corners: [a, b, c], normal: u.cross(v), magnitude }
    }

    /// Whether the two triangles have a point in common.
    #[inline]
    pub(crate) fn meets(&self, other: &Self) -> bool {
        // All of one triangle strictly on one side of the other's plane: the answer for most pairs.
        let (a, b) = (&self.corners, &other.corners);
        let sides_a = [other.side(&a[0]), other.side(&a[1]), other.side(&a[2])];
        if apart(sides_a) {
            return false;
        }
        let sides_b = [self.side(&b[0]), self.side(&b[1]), self.side(&b[2])];
        if apart(sides_b) {
            return false;
        }
        // Closed triangles meet exactly if an edge of one meets the other.
        [(0, 1), (1, 2), (2, 0)].into_iter().any(|(k, l)| {
            segment_meets_triangle([a[k], a[l]], [sides_a[k], sides_a[l]], b)
                || segment_meets_triangle([b[k], b[l]], [sides_b[k], sides_b[l]], a)
        })
    }

    /// Whether two triangles whose corners `k` and `l` are the same have another point in common.
    #[inline]
    pub(crate) fn meets_beyond(&self, k: usize, other: &Self, l: usize) -> bool {
        let [a, b] = [self.opposite(k), other.opposite(l)];
        // Strictly on one side of the other's plane, a triangle meets it in the common corner only.
        let sides_a = [other.side(a[0]), other.side(a[1])];
        if sides_a[0] * sides_a[1] > 0 {
            return false;
        }
        let sides_b = [self.side(b[0]), self.side(b[1])];
        if sides_b[0] * sides_b[1] > 0 {
            return false;
        }
        // What they share beyond the corner is convex and reaches the edge opposite to it in one of them.
        crosses(a.map(|p| *p), sides_a, &other.corners)
            || crosses(b.map(|p| *p), sides_b, &self.corners)
    }

    /// The ends of the edge opposite to a corner.
    fn opposite(&self, k: usize) -> [&DVec3; 2] {
        [&self.corners[(k + 1) % 3], &self.corners[(k + 2) % 3]]
    }

    /// Whether two triangles with a common edge overlap in an area: folded flat onto each other. `k` and `l` are the corners
    /// that they don't share.
    #[inline]
    pub(crate) fn folded_flat(&self, k: usize, other: &Self, l: usize) -> bool {
        self.side(&other.corners[l]) == 0 && {
            let edge = self.opposite(k);
            // In their common plane, seen along any axis that doesn't flatten it: the same side of the edge.
            let side = |axis, p| sign2(axis, *edge[0], *edge[1], p);
            (0..3).any(|axis| side(axis, self.corners[k]) * side(axis, other.corners[l]) > 0)
        }
    }

    /// On which side of the plane a point lies: exact, with the sign of [`sign3`].
    #[inline(always)]
    fn side(&self, d: &DVec3) -> i32 {
        let e = *d - self.corners[0];
        let determinant = self.normal.dot(e);
        let magnitude = self.magnitude.dot(e.abs());
        if determinant.abs() > ROUNDING * magnitude && magnitude > TINY {
            return if determinant < 0.0 { 1 } else { -1 };
        }
        self.exact_side(d)
    }

    #[cold]
    fn exact_side(&self, d: &DVec3) -> i32 {
        let [a, b, c] = self.corners;
        // All in a plane of the coordinate axes: no arithmetic needed.
        if (0..3).any(|k| a[k] == b[k] && a[k] == c[k] && a[k] == d[k]) {
            return 0;
        }
        sign3(a, b, c, *d)
    }
}

/// Whether the boxes of two point sets have a point in common.
fn boxes_meet(a: &[DVec3], b: &[DVec3]) -> bool {
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

fn apart(sides: [i32; 3]) -> bool {
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
