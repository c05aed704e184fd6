//! Planes between two primitives, proved against all their vertices.

use glam::DVec3;
use gusset_energy::{Row, RowKind};

/// Two directions whose cross product has a sine below this don't give an axis.
const PARALLEL: f64 = 1e-4;

/// A direction in which two primitives are apart: every vertex of the first lies at least `gap` further along `normal`
/// than every vertex of the second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Separator {
    /// Unit vector, from the second primitive to the first.
    pub(crate) normal: DVec3,
    /// Certified distance (m), offset taken off; 0: nothing separates the two.
    pub(crate) gap: f64,
    /// Extreme of the second primitive along the normal, against its first vertex (m).
    pub(crate) support: f64,
    /// What the first primitive is kept away beyond the gap (m): a sphere's radius.
    pub(crate) offset: f64,
}

/// Least and greatest height of two primitives, the first with `first` vertices, along a normal over `origin` (m): the lower end of the first, the upper
/// end of the second. Their difference bounds the distance of the two from below.
#[inline(always)]
pub(crate) fn extremes(first: usize, p: &[DVec3; 4], normal: DVec3, origin: DVec3) -> (f64, f64) {
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for (k, p) in p.iter().enumerate() {
        let height = normal.dot(*p - origin);
        if k < first {
            low = low.min(height);
        } else {
            high = high.max(height);
        }
    }
    (low, high)
}

/// How many vertices the first primitive of a row has.
#[inline(always)]
pub(crate) fn first_count(kind: RowKind) -> usize {
    if kind == RowKind::EdgeEdge { 2 } else { 1 }
}

impl Separator {
    /// The gap along `normal`, certified against all vertices.
    #[inline(always)]
    fn along(normal: DVec3, p: &[DVec3; 4], first: usize, offset: f64) -> Self {
        let (low, high) = extremes(first, p, normal, p[first]);
        Self { normal, gap: low - high - offset, support: high, offset }
    }

    /// Both orientations of an axis, the better one.
    fn best_of(axis: DVec3, p: &[DVec3; 4], first: usize, offset: f64) -> Option<Self> {
        let normal = axis.try_normalize()?;
        let [a, b] = [normal, -normal].map(|n| Self::along(n, p, first, offset));
        Some(if a.gap >= b.gap { a } else { b })
    }

    /// The separator of a row at the positions `p` of its vertices. The vector between the closest points serves where it
    /// certifies a gap of `2 eps`; else the largest gap of a list of axes: normals of faces and edges, and directions from
    /// ends to segments.
    pub(crate) fn find(row: &Row, p: &[DVec3; 4], eps: f64) -> Self {
        let first = first_count(row.kind);
        let closest = Self::along(row.normal, p, first, row.offset);
        if closest.gap >= 2.0 * eps {
            return closest;
        }
        // Of what is closer than its offset at least the surfaces themselves are kept apart.
        let offset = if row.gap < 2.0 * eps { 0.0 } else { row.offset };
        let mut best = Self::along(row.normal, p, first, offset);
        if best.gap >= 2.0 * eps {
            return best;
        }
        let mut offer = |axis: DVec3| {
            if let Some(other) = Self::best_of(axis, p, first, offset)
                && (other.gap > best.gap || best.gap.is_nan())
            {
                best = other;
            }
        };
        match row.kind {
            RowKind::VertexTriangle | RowKind::SphereTriangle => {
                let [_, a, b, c] = *p;
                let face = (b - a).cross(c - a);
                offer(face);
                for edge in [b - a, c - b, a - c] {
                    offer(face.cross(edge));
                }
            }
            RowKind::EdgeEdge => {
                let [a, b, c, d] = *p;
                let (e, f) = (b - a, d - c);
                let cross = e.cross(f);
                if cross.length_squared()
                    > PARALLEL * PARALLEL * e.length_squared() * f.length_squared()
                {
                    offer(cross);
                }
                let to_line = |from: DVec3, edge: DVec3| from.reject_from(edge);
                if f != DVec3::ZERO {
                    offer(to_line(a - c, f));
                    offer(to_line(b - c, f));
                    offer(to_line(row.normal, f));
                }
                if e != DVec3::ZERO {
                    offer(to_line(c - a, e));
                    offer(to_line(d - a, e));
                    offer(to_line(row.normal, e));
                }
            }
            RowKind::SphereSphere => {}
        }
        if best.gap > 0.0 { best } else { Self { gap: 0.0, ..best } }
    }

    /// Whether a plane fits in between.
    #[inline]
    pub(crate) fn holds(&self) -> bool {
        self.gap > 0.0
    }

    /// Fraction of the displacements `u` that each vertex may take (Chen et al. 2026, *Divide and Truncate*): the plane
    /// divides the gap in proportion to how fast each side approaches, and a vertex that would pass it goes `relaxation`
    /// of the way there. `p` are the positions that the separator was found at.
    #[inline]
    pub(crate) fn truncate(
        &self,
        p: &[DVec3; 4],
        u: &[DVec3; 4],
        first: usize,
        relaxation: f64,
        eps: f64,
    ) -> [f64; 4] {
        let n = self.normal;
        let along = u.map(|u| n.dot(u));
        let (mut first_approach, mut second_approach) = (0.0_f64, 0.0_f64);
        for (k, along) in along.iter().enumerate() {
            if k < first {
                first_approach = first_approach.max(-along);
            } else {
                second_approach = second_approach.max(*along);
            }
        }
        let total = first_approach + second_approach;
        let share = if self.gap < 2.0 * eps || total == 0.0 {
            0.5
        } else {
            let least = (eps / self.gap).max(0.05);
            (second_approach / total).clamp(least, 1.0 - least)
        };
        let plane = self.support + share * self.gap;
        let origin = p[first];
        std::array::from_fn(|k| {
            let height = n.dot(p[k] - origin) - plane;
            let (clearance, motion) = if k < first {
                (height - self.offset - eps, along[k])
            } else {
                (-height - eps, -along[k])
            };
            admitted(clearance, motion, relaxation)
        })
    }
}

/// Fraction of a motion towards or away from a plane (m, away is positive) that is admitted.
#[inline]
pub(crate) fn admitted(clearance: f64, motion: f64, relaxation: f64) -> f64 {
    if clearance < 0.0 {
        // Inside the band about the plane: outwards only.
        if motion >= 0.0 { 1.0 } else { 0.0 }
    } else if clearance + motion >= 0.0 {
        1.0
    } else {
        (relaxation * clearance / -motion).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::dvec3;
    use gusset_contact::{Closest, edge_edge, point_triangle};
    use proptest::prelude::*;

    const EPS: f64 = 1e-9;

    fn row(kind: RowKind, p: &[DVec3; 4], offset: f64) -> Row {
        let [a, b, c, d] = *p;
        let Closest { weights, r } = if kind == RowKind::EdgeEdge {
            edge_edge(a, b, c, d)
        } else {
            point_triangle(a, b, c, d)
        };
        let normal = r.try_normalize().unwrap_or(DVec3::ZERO);
        Row {
            vertices: [0, 1, 2, 3],
            weights,
            offset,
            normal,
            gap: r.length() - offset,
            sine_squared: 1.0,
            kind,
            primitives: [0, 0],
        }
    }

    fn fractions(kind: RowKind, p: [DVec3; 4], u: [DVec3; 4]) -> [f64; 4] {
        let separator = Separator::find(&row(kind, &p, 0.0), &p, EPS);
        if !separator.holds() {
            return [1.0; 4];
        }
        separator.truncate(&p, &u, first_count(kind), 0.85, EPS)
    }

    const TRIANGLE: [DVec3; 3] =
        [dvec3(-1.0, -1.0, 0.0), dvec3(1.0, -1.0, 0.0), dvec3(0.0, 1.0, 0.0)];

    fn above(height: f64) -> [DVec3; 4] {
        [dvec3(0.0, 0.0, height), TRIANGLE[0], TRIANGLE[1], TRIANGLE[2]]
    }

    #[test]
    fn a_vertex_falls_towards_a_still_triangle() {
        let down = |z| [dvec3(0.0, 0.0, z), DVec3::ZERO, DVec3::ZERO, DVec3::ZERO];
        let expected = 0.85 * (0.95 - EPS) / 2.0;
        let t = fractions(RowKind::VertexTriangle, above(1.0), down(-2.0));
        assert!((t[0] - expected).abs() < 1e-14 && t[1..] == [1.0; 3]);
        // The same far away, and on a slope.
        let far = dvec3(1e3, -2e3, 5e2);
        let turn = glam::DQuat::from_axis_angle(dvec3(1.0, 2.0, 3.0).normalize(), 0.7);
        let p = above(1.0).map(|p| turn * p + far);
        let moved = fractions(RowKind::VertexTriangle, p, down(-2.0).map(|u| turn * u));
        assert!((moved[0] - expected).abs() < 1e-11);
        // Motion along the plane or away from it is free.
        assert_eq!(fractions(RowKind::VertexTriangle, above(1.0), down(9.0)), [1.0; 4]);
        let slide = [dvec3(50.0, 3.0, 0.0), DVec3::ZERO, DVec3::ZERO, DVec3::ZERO];
        assert_eq!(fractions(RowKind::VertexTriangle, above(1.0), slide), [1.0; 4]);
    }

    #[test]
    fn a_triangle_rises_towards_a_still_vertex() {
        let up = dvec3(0.0, 0.0, 2.0);
        let t = fractions(RowKind::VertexTriangle, above(1.0), [DVec3::ZERO, up, up, up]);
        let expected = 0.85 * (0.95 - EPS) / 2.0;
        assert!(t[0] == 1.0 && t[1..].iter().all(|t| (t - expected).abs() < 1e-14), "{t:?}");
    }

    #[test]
    fn two_edges_meet_halfway() {
        let p = [
            dvec3(-1.0, 0.0, 0.5),
            dvec3(1.0, 0.0, 0.5),
            dvec3(0.0, -1.0, -0.5),
            dvec3(0.0, 1.0, -0.5),
        ];
        let (down, up) = (dvec3(0.0, 0.0, -1.0), dvec3(0.0, 0.0, 1.0));
        let t = fractions(RowKind::EdgeEdge, p, [down, down, up, up]);
        assert!(t.iter().all(|t| (t - 0.85 * (0.5 - EPS)).abs() < 1e-14), "{t:?}");
    }

    #[test]
    fn what_nothing_separates_is_left_alone() {
        let down = [dvec3(0.0, 0.0, -1.0), DVec3::ZERO, DVec3::ZERO, DVec3::ZERO];
        assert_eq!(fractions(RowKind::VertexTriangle, above(0.0), down), [1.0; 4]);
        let p = [
            dvec3(-1.0, 0.0, 0.0),
            dvec3(1.0, 0.0, 0.0),
            dvec3(0.0, -1.0, 0.0),
            dvec3(0.0, 1.0, 0.0),
        ];
        assert_eq!(fractions(RowKind::EdgeEdge, p, down), [1.0; 4]);
    }

    #[test]
    fn within_the_band_of_the_plane_only_outward_motion_is_free() {
        assert_eq!(admitted(-1e-12, -1.0, 0.85), 0.0);
        assert_eq!(admitted(-1e-12, 1.0, 0.85), 1.0);
        assert_eq!(admitted(-1e-12, 0.0, 0.85), 1.0);
        assert_eq!(admitted(2.0, -4.0, 0.85), 0.425);
    }

    #[test]
    fn a_sphere_is_kept_away_by_its_radius() {
        let p = above(1.0);
        let row = Row { kind: RowKind::SphereTriangle, ..row(RowKind::VertexTriangle, &p, 0.4) };
        let separator = Separator::find(&row, &p, EPS);
        assert!((separator.gap - 0.6).abs() < 1e-15);
        let up = dvec3(0.0, 0.0, 1.0);
        let t = separator.truncate(&p, &[-up, up, up, up], 1, 0.85, EPS);
        assert!(t.iter().all(|t| (t - 0.85 * (0.3 - EPS)).abs() < 1e-14), "{t:?}");
    }

    /// Two slanted edges whose closest points are ends: the vector between these certifies nothing, another axis does.
    #[test]
    fn other_axes_separate_where_the_closest_points_do_not() {
        let p = [
            dvec3(0.0, 0.0, 0.0),
            dvec3(1.0, 0.0, 0.0),
            dvec3(1.0 + 1e-10, 1e-10, 0.0),
            dvec3(1.0, 1.0, 0.0),
        ];
        let separator = Separator::find(&row(RowKind::EdgeEdge, &p, 0.0), &p, EPS);
        assert!(separator.gap >= 0.0);
    }

    fn point() -> impl Strategy<Value = DVec3> {
        [-1.0..1.0, -1.0..1.0, -1.0..1.0].prop_map(DVec3::from)
    }

    fn points() -> impl Strategy<Value = [DVec3; 4]> {
        [point(), point(), point(), point()]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn truncated_motion_never_crosses(p in points(), u in points(), edges: bool, scale in 0.01..10.0f64) {
            let kind = if edges { RowKind::EdgeEdge } else { RowKind::VertexTriangle };
            let row = row(kind, &p, 0.0);
            let separator = Separator::find(&row, &p, EPS);
            // Convex sets apart have a separating plane; that of the closest points is one. Its normal is a difference of points
            // up to 4 apart, rounded, over the gap; what is certified then lies that much below it.
            let rounding = 4.0 * f64::EPSILON * 16.0 / row.gap.max(1e-9);
            prop_assert!(separator.gap >= row.gap - 1e-14 - rounding);
            let u = u.map(|u| u * scale);
            let t = separator.truncate(&p, &u, first_count(kind), 0.85, EPS);
            for k in 0..=20 {
                let s = f64::from(k) / 20.0;
                let q: [DVec3; 4] = std::array::from_fn(|i| p[i] + u[i] * (t[i] * s));
                let distance = match kind {
                    RowKind::EdgeEdge => edge_edge(q[0], q[1], q[2], q[3]).distance(),
                    _ => point_triangle(q[0], q[1], q[2], q[3]).distance(),
                };
                prop_assert!(distance > 0.0);
            }
        }
    }
}
