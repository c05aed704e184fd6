//! Closest points of points, segments and triangles.
//!
//! Every function returns points that lie on the two primitives, so the distance it gives is never below the true one
//! whatever the rounding, and an error in where the points lie enters it in second order only. Degeneracy is judged
//! relative to the primitives' own sizes, never by an absolute length. An optimum that is not interior lies on a side of
//! the (s, t) square, or of the triangle, that separates it from the unconstrained optimum; only those sides are tried.

use glam::DVec3;

/// Below this squared sine of the angle between two directions their cross product has lost too many digits to be used
/// alone: the interior optimum is refined once, and the boundary is tried as well.
const ILL_CONDITIONED: f64 = 1e-8;

/// Two directions whose squared sine is below this are parallel to rounding.
const PARALLEL: f64 = 1e-28;

/// The closest points of two primitives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Closest {
    /// Weights of the four vertices, which sum to 0: `r = sum w_i x_i`.
    pub weights: [f64; 4],
    /// From the closest point of the second primitive to that of the first (m).
    pub r: DVec3,
}

impl Closest {
    /// Distance of the two primitives (m).
    #[inline]
    pub fn distance(&self) -> f64 {
        self.r.length()
    }
}

/// A point and a point: weights `(1, -1, 0, 0)`.
#[inline]
pub fn point_point(p: DVec3, q: DVec3) -> Closest {
    Closest { weights: [1.0, -1.0, 0.0, 0.0], r: p - q }
}

/// A point and a segment: weights `(1, t-1, -t, 0)`. A segment of zero length is the point `a`.
#[inline]
pub fn point_segment(p: DVec3, a: DVec3, b: DVec3) -> Closest {
    let (t, r) = on_segment(p, a, b);
    Closest { weights: [1.0, t - 1.0, -t, 0.0], r }
}

/// Parameter of the point of segment a-b closest to p, and the vector from it to p. Measured from the nearer end, so that
/// swapping the ends changes nothing and a long segment costs no digits near its ends.
#[inline(always)]
fn on_segment(p: DVec3, a: DVec3, b: DVec3) -> (f64, DVec3) {
    let (ab, ap, bp) = (b - a, p - a, p - b);
    let (from_a, from_b) = (ap.dot(ab), -bp.dot(ab));
    if from_a <= from_b {
        // from_a + from_b = |ab|^2 >= 0, so here from_b >= 0.
        if from_a <= 0.0 {
            return (0.0, ap);
        }
        let t = from_a / ab.length_squared();
        (t, ap - t * ab)
    } else {
        if from_b <= 0.0 {
            return (1.0, bp);
        }
        let t = from_b / ab.length_squared();
        (1.0 - t, bp + t * ab)
    }
}

/// A point and a triangle: weights `(1, -b0, -b1, -b2)`. A triangle without area is its edges.
#[inline]
pub fn point_triangle(p: DVec3, a: DVec3, b: DVec3, c: DVec3) -> Closest {
    match point_triangle_within(p, a, b, c, f64::INFINITY) {
        Some(closest) => closest,
        // Only a non-finite plane distance compares as farther than infinity.
        None => Closest { weights: [1.0, -1.0, 0.0, 0.0], r: DVec3::NAN },
    }
}

/// [`point_triangle`], or `None` where the distance from the plane alone already exceeds the square root of `limit2`.
#[inline(always)]
pub fn point_triangle_within(
    p: DVec3,
    a: DVec3,
    b: DVec3,
    c: DVec3,
    limit2: f64,
) -> Option<Closest> {
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let n = ab.cross(ac);
    let n2 = n.length_squared();
    if n2 <= ILL_CONDITIONED * ab.length_squared() * ac.length_squared() {
        return Some(point_sliver(p, [a, b, c]));
    }
    let height = n.dot(ap);
    if height * height > limit2 * n2 {
        return None;
    }
    let b1 = n.dot(ap.cross(ac));
    let b2 = n.dot(ab.cross(ap));
    let b0 = n2 - b1 - b2;
    if b0 > 0.0 && b1 > 0.0 && b2 > 0.0 {
        let (b1, b2) = (b1 / n2, b2 / n2);
        return Some(Closest {
            weights: [1.0, b1 + b2 - 1.0, -b1, -b2],
            r: ap - b1 * ab - b2 * ac,
        });
    }
    let mut best = Nearest::NONE;
    if b0 <= 0.0 {
        let (t, r) = on_segment(p, b, c);
        best.offer([1.0, 0.0, t - 1.0, -t], r);
    }
    if b1 <= 0.0 {
        let (t, r) = on_segment(p, c, a);
        best.offer([1.0, -t, 0.0, t - 1.0], r);
    }
    if b2 <= 0.0 {
        let (t, r) = on_segment(p, a, b);
        best.offer([1.0, t - 1.0, -t, 0.0], r);
    }
    Some(best.closest)
}

/// A point and a triangle that is a sliver, a segment or a point: all edges, and the interior where there is one.
#[cold]
fn point_sliver(p: DVec3, [a, b, c]: [DVec3; 3]) -> Closest {
    let mut best = Nearest::NONE;
    let (t, r) = on_segment(p, b, c);
    best.offer([1.0, 0.0, t - 1.0, -t], r);
    let (t, r) = on_segment(p, c, a);
    best.offer([1.0, -t, 0.0, t - 1.0], r);
    let (t, r) = on_segment(p, a, b);
    best.offer([1.0, t - 1.0, -t, 0.0], r);

    let (ab, ac, ap) = (b - a, c - a, p - a);
    let n = ab.cross(ac);
    let n2 = n.length_squared();
    if n2 > PARALLEL * ab.length_squared() * ac.length_squared() {
        let mut b1 = n.dot(ap.cross(ac)) / n2;
        let mut b2 = n.dot(ab.cross(ap)) / n2;
        let r = ap - b1 * ab - b2 * ac;
        b1 += n.dot(r.cross(ac)) / n2;
        b2 += n.dot(ab.cross(r)) / n2;
        if b1 > 0.0 && b2 > 0.0 && b1 + b2 < 1.0 {
            best.offer([1.0, b1 + b2 - 1.0, -b1, -b2], ap - b1 * ab - b2 * ac);
        }
    }
    best.closest
}

/// Two segments: weights `(1-s, s, t-1, -t)`. Where parallel segments overlap, the middle of the overlap.
#[inline]
pub fn edge_edge(a0: DVec3, a1: DVec3, b0: DVec3, b1: DVec3) -> Closest {
    match edge_edge_within(a0, a1, b0, b1, f64::INFINITY) {
        Some(closest) => closest,
        None => Closest { weights: [1.0, 0.0, -1.0, 0.0], r: DVec3::NAN },
    }
}

/// [`edge_edge`], or `None` where the distance of the two lines alone already exceeds the square root of `limit2`.
#[inline(always)]
pub fn edge_edge_within(
    a0: DVec3,
    a1: DVec3,
    b0: DVec3,
    b1: DVec3,
    limit2: f64,
) -> Option<Closest> {
    let (u, v, w) = (a1 - a0, b1 - b0, a0 - b0);
    let n = u.cross(v);
    let n2 = n.length_squared();
    if n2 <= ILL_CONDITIONED * u.length_squared() * v.length_squared() {
        return Some(nearly_parallel([a0, a1, b0, b1]));
    }
    let height = n.dot(w);
    if height * height > limit2 * n2 {
        return None;
    }
    // w + s u - t v is parallel to n at the lines' closest points; both parameters times n2.
    let s = n.dot(v.cross(w));
    let t = n.dot(u.cross(w));
    if s > 0.0 && s < n2 && t > 0.0 && t < n2 {
        let (s, t) = (s / n2, t / n2);
        return Some(Closest { weights: [1.0 - s, s, t - 1.0, -t], r: w + s * u - t * v });
    }
    let mut best = Nearest::NONE;
    if s <= 0.0 {
        let (t, r) = on_segment(a0, b0, b1);
        best.offer([1.0, 0.0, t - 1.0, -t], r);
    } else if s >= n2 {
        let (t, r) = on_segment(a1, b0, b1);
        best.offer([0.0, 1.0, t - 1.0, -t], r);
    }
    if t <= 0.0 {
        let (s, r) = on_segment(b0, a0, a1);
        best.offer([1.0 - s, s, -1.0, 0.0], -r);
    } else if t >= n2 {
        let (s, r) = on_segment(b1, a0, a1);
        best.offer([1.0 - s, s, 0.0, -1.0], -r);
    }
    Some(best.closest)
}

/// Two segments that are nearly parallel, or of which one has no length.
#[cold]
fn nearly_parallel([a0, a1, b0, b1]: [DVec3; 4]) -> Closest {
    let mut best = Nearest::NONE;
    let (t, r) = on_segment(a0, b0, b1);
    best.offer([1.0, 0.0, t - 1.0, -t], r);
    let (t, r) = on_segment(a1, b0, b1);
    best.offer([0.0, 1.0, t - 1.0, -t], r);
    let (s, r) = on_segment(b0, a0, a1);
    best.offer([1.0 - s, s, -1.0, 0.0], -r);
    let (s, r) = on_segment(b1, a0, a1);
    best.offer([1.0 - s, s, 0.0, -1.0], -r);

    let (u, v, w) = (a1 - a0, b1 - b0, a0 - b0);
    let (uu, vv) = (u.length_squared(), v.length_squared());
    let n = u.cross(v);
    let n2 = n.length_squared();
    if n2 > PARALLEL * uu * vv {
        let mut s = n.dot(v.cross(w)) / n2;
        let mut t = n.dot(u.cross(w)) / n2;
        let r = w + s * u - t * v;
        s += n.dot(v.cross(r)) / n2;
        t += n.dot(u.cross(r)) / n2;
        if s > 0.0 && s < 1.0 && t > 0.0 && t < 1.0 {
            best.offer([1.0 - s, s, t - 1.0, -t], w + s * u - t * v);
        }
    } else if uu > 0.0 && vv > 0.0 {
        // b0 and b1 as parameters of line a.
        let (p0, p1) = (-w.dot(u) / uu, (v - w).dot(u) / uu);
        let (low, high) = (p0.min(p1).max(0.0), p0.max(p1).min(1.0));
        if low <= high {
            let s = 0.5 * (low + high);
            let (t, r) = on_segment(a0 + s * u, b0, b1);
            // All points of the overlap are equally far; rounding must not decide against its middle.
            if r.length_squared() <= best.squared * (1.0 + 1e-9) {
                best.closest = Closest { weights: [1.0 - s, s, t - 1.0, -t], r };
            }
        }
    }
    best.closest
}

/// The nearest of the features tried so far.
struct Nearest {
    squared: f64,
    closest: Closest,
}

impl Nearest {
    const NONE: Self =
        Self { squared: f64::INFINITY, closest: Closest { weights: [0.0; 4], r: DVec3::NAN } };

    #[inline(always)]
    fn offer(&mut self, weights: [f64; 4], r: DVec3) {
        let squared = r.length_squared();
        if squared < self.squared {
            *self = Self { squared, closest: Closest { weights, r } };
        }
    }
}

#[cfg(test)]
mod tests {
    use glam::dvec3;
    use proptest::prelude::*;

    use super::*;

    /// Distance by projected coordinate descent on the closest points, started from many places: another algorithm.
    fn by_descent(x: [DVec3; 4], edges: bool) -> f64 {
        let distance = |s: f64, t: f64| {
            if edges {
                (x[0] + s * (x[1] - x[0])).distance(x[2] + t * (x[3] - x[2]))
            } else {
                x[0].distance(x[1] + s * (x[2] - x[1]) + t * (x[3] - x[1]))
            }
        };
        // Golden section on nested convex functions: f(s) = min over t.
        let inner = |s: f64| {
            let top = if edges { 1.0 } else { 1.0 - s };
            golden(|t| distance(s, t), top)
        };
        golden(inner, 1.0)
    }

    fn golden(f: impl Fn(f64) -> f64, top: f64) -> f64 {
        let ratio = (5f64.sqrt() - 1.0) / 2.0;
        let (mut low, mut high) = (0.0, top);
        let (mut c, mut d) = (high - ratio * (high - low), low + ratio * (high - low));
        let (mut fc, mut fd) = (f(c), f(d));
        for _ in 0..80 {
            if fc < fd {
                (high, d, fd) = (d, c, fc);
                c = high - ratio * (high - low);
                fc = f(c);
            } else {
                (low, c, fc) = (c, d, fd);
                d = low + ratio * (high - low);
                fd = f(d);
            }
        }
        fc.min(fd).min(f(0.0)).min(f(top))
    }

    fn consistent(closest: &Closest, x: [DVec3; 4], scale: f64) {
        let w = closest.weights;
        assert!(w.iter().sum::<f64>().abs() < 1e-15);
        let r = w[0] * x[0] + w[1] * x[1] + w[2] * x[2] + w[3] * x[3];
        assert!(r.distance(closest.r) <= 4e-15 * scale, "{r} {closest:?}");
    }

    fn point() -> impl Strategy<Value = DVec3> {
        // A coarse lattice gives parallel, coplanar, touching and coinciding inputs often.
        prop_oneof![
            [-2i32..3, -2i32..3, -2i32..3].prop_map(|[x, y, z]| dvec3(
                x.into(),
                y.into(),
                z.into()
            )),
            [-1.0..1.0, -1.0..1.0, -1.0..1.0].prop_map(|[x, y, z]: [f64; 3]| dvec3(x, y, z)),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn distances_are_minimal(x in [point(), point(), point(), point()]) {
            let vt = point_triangle(x[0], x[1], x[2], x[3]);
            consistent(&vt, x, 4.0);
            prop_assert!(vt.weights[1..].iter().all(|w| (-1.0..=1e-16).contains(w)));
            prop_assert!((vt.distance() - by_descent(x, false)).abs() < 1e-7);
            let ee = edge_edge(x[0], x[1], x[2], x[3]);
            consistent(&ee, x, 4.0);
            prop_assert!((ee.distance() - by_descent(x, true)).abs() < 1e-7);
        }

        #[test]
        fn a_small_turn_from_parallel_changes_little(
            x in [point(), point(), point()],
            turn in [-1.0..1.0, -1.0..1.0, -1.0..1.0],
            exponent in -18i32..-2,
        ) {
            // Both the sliver and the nearly parallel pair, over all sizes of the defect.
            let defect = 10f64.powi(exponent) * DVec3::from(turn);
            let b1 = x[2] + (x[1] - x[0]) + defect;
            let ee = edge_edge(x[0], x[1], x[2], b1);
            consistent(&ee, [x[0], x[1], x[2], b1], 4.0);
            let exact = edge_edge(x[0], x[1], x[2], x[2] + (x[1] - x[0]));
            prop_assert!((ee.distance() - exact.distance()).abs() <= defect.length() + 1e-15);

            let c = 0.5 * (x[1] + x[2]) + defect;
            let vt = point_triangle(x[0], x[1], x[2], c);
            consistent(&vt, [x[0], x[1], x[2], c], 4.0);
            let exact = point_segment(x[0], x[1], x[2]);
            prop_assert!((vt.distance() - exact.distance()).abs() <= defect.length() + 1e-15);
        }

        #[test]
        fn order_does_not_matter(x in [point(), point(), point(), point()]) {
            let vt = point_triangle(x[0], x[1], x[2], x[3]).distance();
            for [i, j, k] in [[1, 3, 2], [2, 1, 3], [2, 3, 1], [3, 1, 2], [3, 2, 1]] {
                prop_assert!((point_triangle(x[0], x[i], x[j], x[k]).distance() - vt).abs() < 4e-15);
            }
            let ee = edge_edge(x[0], x[1], x[2], x[3]).distance();
            for [i, j, k, l] in [[1, 0, 2, 3], [0, 1, 3, 2], [1, 0, 3, 2], [2, 3, 0, 1], [3, 2, 0, 1]] {
                prop_assert!((edge_edge(x[i], x[j], x[k], x[l]).distance() - ee).abs() < 4e-15);
            }
        }

        #[test]
        fn the_early_answer_is_never_wrong(x in [point(), point(), point(), point()], limit in 0.0..2.0) {
            let limit2: f64 = limit * limit;
            let vt = point_triangle(x[0], x[1], x[2], x[3]);
            prop_assert_eq!(
                point_triangle_within(x[0], x[1], x[2], x[3], limit2).is_none() && vt.distance() < limit - 1e-15,
                false
            );
            let ee = edge_edge(x[0], x[1], x[2], x[3]);
            prop_assert_eq!(
                edge_edge_within(x[0], x[1], x[2], x[3], limit2).is_none() && ee.distance() < limit - 1e-15,
                false
            );
        }
    }

    /// Two cloth edges in one line, 0.18 apart (ipc-toolkit issue 225): an absolute parallel test gives distance 0.
    #[test]
    fn collinear_edges_that_do_not_overlap() {
        let x = [
            dvec3(-0.818_181_812_763_214_1, 0.073_941_159_961_546_27, 0.090_909_108_519_554_15),
            dvec3(-0.818_181_812_763_214_1, 0.073_941_161_500_775_77, 0.272_727_280_855_178_83),
            dvec3(-0.818_181_812_763_214_1, 0.073_941_163_540_152_72, 0.454_545_468_091_964_8),
            dvec3(-0.818_181_812_763_214_1, 0.073_941_167_300_585_32, 0.636_363_625_526_428_2),
        ];
        let expected = 0.181_818_187_236_785_94;
        for [i, j, k, l] in [
            [0, 1, 2, 3],
            [1, 0, 2, 3],
            [0, 1, 3, 2],
            [1, 0, 3, 2],
            [2, 3, 0, 1],
            [3, 2, 0, 1],
            [2, 3, 1, 0],
            [3, 2, 1, 0],
        ] {
            let closest = edge_edge(x[i], x[j], x[k], x[l]);
            assert!((closest.distance() - expected).abs() < 1e-15);
            let used = closest.weights.map(|w| w != 0.0);
            assert_eq!(used, [i, j, k, l].map(|vertex| vertex == 1 || vertex == 2), "{closest:?}");
        }
        let closest = edge_edge(x[0], x[1], x[2], x[3]);
        let n = closest.r / closest.distance();
        assert!((n.y + 1.121_7e-8).abs() < 1e-12 && (n.z + 1.0).abs() < 1e-15 && n.x == 0.0);
        let (d, dhat) = (closest.distance(), 0.2f64);
        let barrier = -(d - dhat).powi(2) * (d / dhat).ln();
        assert!((barrier - 3.150_746_882_404_441e-5).abs() < 1e-15);
    }

    /// Two corners coincide (parry issue 76): barycentric coordinates from a zero normal call every point inside.
    #[test]
    fn triangle_without_area() {
        let p = dvec3(1.100_000_02, -7.900_000_1, 16.587_999_3);
        let a = dvec3(2.276_999_95, -7.900_000_1, 16.318_000_8);
        let b = dvec3(-0.569_999_993, -8.100_000_38, 16.607_000_4);
        for [i, j, k] in [[a, b, b], [b, a, b], [b, b, a]] {
            let closest = point_triangle(p, i, j, k);
            assert!((closest.distance() - 0.171_478_265_901_441_52).abs() < 1e-15);
            consistent(&closest, [p, i, j, k], 17.0);
        }
        assert!((point_segment(p, a, b).distance() - 0.171_478_265_901_441_52).abs() < 1e-15);
        let point = point_triangle(p, a, a, a);
        assert_eq!(point.distance(), p.distance(a));
    }

    /// A small object on a triangle of 320 m (newton issue 3773): no offset relative to the triangle's size.
    #[test]
    fn point_close_to_a_very_large_triangle() {
        let p = dvec3(28.879_913_33, 260.534_301_76, 0.000_361_360_55);
        let [a, b, c] = [DVec3::ZERO, dvec3(100.0, 320.0, 0.0), dvec3(0.0, 320.0, 0.0)];
        for [i, j, k] in [[a, b, c], [b, c, a], [c, b, a]] {
            let closest = point_triangle(p, i, j, k);
            assert!((closest.distance() / 0.000_361_360_55 - 1.0).abs() < 1e-9);
            assert!(closest.weights[1..].iter().all(|w| *w < 0.0), "inside the face");
            assert!((closest.r / closest.distance()).distance(DVec3::Z) < 1e-9);
        }
    }

    #[test]
    fn parallel_edges_meet_in_the_middle_of_their_overlap() {
        let (a0, a1) = (dvec3(0.0, 0.0, 0.0), dvec3(4.0, 0.0, 0.0));
        let (b0, b1) = (dvec3(6.0, 1.0, 0.0), dvec3(2.0, 1.0, 0.0));
        let closest = edge_edge(a0, a1, b0, b1);
        assert_eq!(closest.weights, [0.25, 0.75, -0.25, -0.75]);
        assert_eq!(closest.r, dvec3(0.0, -1.0, 0.0));
    }

    #[test]
    fn edges_without_length() {
        let (p, q) = (dvec3(1.0, 2.0, 3.0), dvec3(1.0, 2.0, 5.0));
        assert_eq!(edge_edge(p, p, q, q).r, dvec3(0.0, 0.0, -2.0));
        assert_eq!(edge_edge(p, p, q, q + DVec3::Z).distance(), 2.0);
        assert_eq!(edge_edge(p - DVec3::X, p + DVec3::X, q, q).weights[..2], [0.5, 0.5]);
        assert_eq!(edge_edge(p, p, p, p).distance(), 0.0);
    }

    #[test]
    fn not_a_number_stays_one() {
        let n = DVec3::NAN;
        let (a, b, c) = (DVec3::ZERO, DVec3::X, DVec3::Y);
        assert!(point_triangle(n, a, b, c).distance().is_nan());
        assert!(point_triangle(c, a, n, b).distance().is_nan());
        assert!(edge_edge(a, n, b, c).distance().is_nan());
    }
}
