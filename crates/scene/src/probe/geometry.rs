//! What probes compute from positions.

use glam::{DMat2, DVec2, DVec3};
use gusset_mesh::Body;
use std::collections::BTreeMap;

pub(super) fn bounds(x: &[DVec3], vertices: &[u32], axis: usize) -> (f64, f64) {
    vertices
        .iter()
        .map(|v| x[*v as usize][axis])
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), c| (low.min(c), high.max(c)))
}

pub(super) fn mean(x: &[DVec3], vertices: &[u32], axis: usize) -> f64 {
    vertices.iter().map(|v| x[*v as usize][axis]).sum::<f64>() / vertices.len() as f64
}

/// The middle one, or the mean of the middle two.
pub(super) fn median(x: &[DVec3], vertices: &[u32], axis: usize) -> f64 {
    let mut sorted: Vec<f64> = vertices.iter().map(|v| x[*v as usize][axis]).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    if sorted.len().is_multiple_of(2) {
        0.5 * (sorted[middle - 1] + sorted[middle])
    } else {
        sorted[middle]
    }
}

/// Angle at a hinge with opposite vertices a, b and edge c -> d (bag article, section 4).
pub(super) fn angle([a, b, c, d]: [DVec3; 4]) -> f64 {
    let (n1, n2) = ((c - a).cross(d - a), (d - b).cross(c - b));
    n1.cross(n2).dot((d - c).normalize_or_zero()).atan2(n1.dot(n2))
}

/// Principal stretches of a film.
#[derive(Clone, Debug)]
pub(super) struct Stretch {
    /// World vertices of each triangle and the inverse of its rest edges in its plane (1/m).
    triangles: Vec<([u32; 3], DMat2)>,
}

impl Stretch {
    pub(super) fn new(body: &Body) -> Self {
        let inverse = |t: [u32; 3]| {
            let [a, b, c] = t.map(|v| body.rest[v as usize]);
            let (q, r) = (b - a, c - a);
            let u = q.normalize();
            let v = q.cross(r).cross(q).normalize();
            DMat2::from_cols(DVec2::new(q.dot(u), q.dot(v)), DVec2::new(r.dot(u), r.dot(v)))
                .inverse()
        };
        let triangles = &body.triangles;
        Self {
            triangles: triangles.iter().map(|&t| (t.map(|v| v + body.first), inverse(t))).collect(),
        }
    }

    /// Least and greatest principal stretch of all triangles.
    pub(super) fn bounds(&self, x: &[DVec3]) -> [f64; 2] {
        self.triangles.iter().fold(
            [f64::INFINITY, 0.0_f64],
            |[least, most], (triangle, inverse)| {
                let [a, b, c] = triangle.map(|v| x[v as usize]);
                let [f0, f1] = [inverse.x_axis, inverse.y_axis]
                    .map(|column| (b - a) * column.x + (c - a) * column.y);
                // Eigenvalues of F'F.
                let (p, q, r) = (f0.length_squared(), f1.length_squared(), f0.dot(f1));
                let (middle, radius) = (0.5 * (p + q), (0.25 * (p - q).powi(2) + r * r).sqrt());
                let area = f0.cross(f1).length();
                let greater = (middle + radius).sqrt();
                // The product of both is the ratio of areas, which loses no digits where the lesser one is small.
                [least.min(area / greater), most.max(greater)]
            },
        )
    }
}

/// A part of a film, closed by a fan over each hole.
#[derive(Clone, Debug)]
pub(super) struct Wall {
    triangles: Vec<[u32; 3]>,
    /// Boundary edges of each hole, against the sense of the triangles there.
    holes: Vec<Vec<[u32; 2]>>,
}

impl Wall {
    /// The triangles of `body` whose three vertices are among `vertices` (of the body); `None` if there are none.
    pub(super) fn new(body: &Body, vertices: &[u32]) -> Option<Self> {
        let mut chosen = vec![false; body.vertex_count()];
        for v in vertices {
            chosen[*v as usize] = true;
        }
        let inside = body.triangles.iter().filter(|t| t.iter().all(|v| chosen[*v as usize]));
        let triangles: Vec<[u32; 3]> = inside.map(|t| t.map(|v| v + body.first)).collect();
        let mut next: BTreeMap<u32, u32> = BTreeMap::new();
        let edges = triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]);
        let all: std::collections::BTreeSet<[u32; 2]> = edges.collect();
        for &[a, b] in &all {
            if !all.contains(&[b, a]) {
                next.insert(b, a);
            }
        }
        let mut holes = Vec::new();
        while let Some((mut from, mut to)) = next.pop_first() {
            let mut hole = vec![[from, to]];
            while let Some(further) = next.remove(&to) {
                (from, to) = (to, further);
                hole.push([from, to]);
            }
            holes.push(hole);
        }
        (!triangles.is_empty()).then_some(Self { triangles, holes })
    }

    /// Whether the wall winds around `p` at the positions `x` (Jacobson et al., Robust inside-outside segmentation
    /// using generalized winding numbers, 2013).
    pub(super) fn encloses(&self, p: DVec3, x: &[DVec3]) -> bool {
        let at = |v: u32| x[v as usize] - p;
        let wall = self.triangles.iter().map(|t| solid_angle(t.map(at)));
        let fans = self.holes.iter().map(|hole| {
            let middle = hole.iter().map(|[from, _]| at(*from)).sum::<DVec3>() / hole.len() as f64;
            hole.iter().map(|[from, to]| solid_angle([at(*from), at(*to), middle])).sum()
        });
        let angle: f64 = wall.chain(fans).sum();
        angle.abs() > std::f64::consts::TAU
    }
}

/// Signed solid angle of a triangle as seen from the origin (van Oosterom and Strackee, 1983).
fn solid_angle([a, b, c]: [DVec3; 3]) -> f64 {
    let (la, lb, lc) = (a.length(), b.length(), c.length());
    let below = la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb;
    2.0 * a.dot(b.cross(c)).atan2(below)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_of_coordinates() {
        let x: Vec<DVec3> =
            [3.0, -1.0, 2.0, 10.0].into_iter().map(|z| DVec3::new(0.0, 0.0, z)).collect();
        let all = [0, 1, 2, 3];
        assert_eq!(bounds(&x, &all, 2), (-1.0, 10.0));
        assert_eq!(mean(&x, &all, 2), 3.5);
        assert_eq!(median(&x, &all, 2), 2.5);
        assert_eq!(median(&x, &all[..3], 2), 2.0);
    }

    #[test]
    fn a_flat_hinge_has_no_angle() {
        let at = |x: f64, y: f64, z: f64| DVec3::new(x, y, z);
        let flat = angle([at(0.0, 1.0, 0.0), at(0.0, -1.0, 0.0), DVec3::ZERO, DVec3::X]);
        assert_eq!(flat, 0.0);
        let folded = angle([at(0.0, 1.0, 0.0), at(0.0, 0.0, 1.0), DVec3::ZERO, DVec3::X]);
        assert!((folded.abs() - std::f64::consts::FRAC_PI_2).abs() < 1e-15);
    }
}
