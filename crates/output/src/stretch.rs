//! How much the triangles of a film are stretched.

use glam::{DMat2, DVec2, DVec3};

use crate::body::BodyInfo;

/// Principal stretches of a body with a stress-free shape.
///
/// With the edges of a triangle as columns, `F = Ds Dm^-1` (3 x 2) maps its stress-free shape to the present one;
/// the principal stretches are the singular values of `F`.
#[derive(Clone, Debug)]
pub struct Stretch {
    /// Corners, and the inverse of the stress-free edges in their plane (1/m); no inverse where they span no area.
    triangles: Vec<([u32; 3], Option<DMat2>)>,
    vertices: usize,
}

impl Stretch {
    /// `None` for a body without triangles or without a stress-free shape.
    pub fn new(body: &BodyInfo) -> Option<Stretch> {
        if body.rest.is_empty() || body.faces.is_empty() {
            return None;
        }
        let inverse = |face: [u32; 3]| {
            let [a, b, c] = face.map(|v| body.rest[v as usize]);
            let (q, r) = (b - a, c - a);
            let u = q.normalize_or_zero();
            let v = q.cross(r).cross(q).normalize_or_zero();
            let edges =
                DMat2::from_cols(DVec2::new(q.dot(u), q.dot(v)), DVec2::new(r.dot(u), r.dot(v)));
            (edges.determinant() > 0.0).then(|| edges.inverse())
        };
        let triangles = body.faces.iter().map(|face| (*face, inverse(*face))).collect();
        Some(Stretch { triangles, vertices: body.vertices })
    }

    /// For each vertex the principal stretch farthest from 1 of the triangles around it, as what it is longer than at
    /// rest in per cent; NaN where there are no triangles.
    pub fn of(&self, x: &[DVec3]) -> Vec<f32> {
        let mut farthest = vec![f32::NAN; self.vertices];
        for (face, inverse) in &self.triangles {
            let Some(inverse) = inverse else { continue };
            let [a, b, c] = face.map(|v| x[v as usize]);
            let [f0, f1] = [inverse.x_axis, inverse.y_axis]
                .map(|column| (b - a) * column.x + (c - a) * column.y);
            // Eigenvalues of F'F; the lesser one by the ratio of areas, which loses no digits where it is small.
            let (p, q, r) = (f0.length_squared(), f1.length_squared(), f0.dot(f1));
            let most = (0.5 * (p + q) + (0.25 * (p - q).powi(2) + r * r).sqrt()).sqrt();
            let least = if most > 0.0 { f0.cross(f1).length() / most } else { 0.0 };
            let stretch = if most - 1.0 > 1.0 - least { most } else { least };
            let stretch = (100.0 * (stretch - 1.0)) as f32;
            for v in face {
                let entry = &mut farthest[*v as usize];
                if entry.is_nan() || stretch.abs() > entry.abs() {
                    *entry = stretch;
                }
            }
        }
        farthest
    }
}

/// How far from rest stretches (in per cent) are told apart by colour: what 99.5 % of them stay within, 0.1 at least.
pub fn stretch_reach(values: impl IntoIterator<Item = f32>) -> f64 {
    const LEAST: f64 = 0.1;
    let away = values.into_iter().map(f32::abs).filter(|v| v.is_finite());
    let mut away: Vec<f32> = away.collect();
    if away.is_empty() {
        return LEAST;
    }
    let nearly = (away.len() - 1) * 995 / 1000;
    let (_, reach, _) = away.select_nth_unstable_by(nearly, f32::total_cmp);
    f64::from(*reach).max(LEAST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::Role;

    #[test]
    fn stretches_do_not_depend_on_where_the_film_is() {
        let mut film = BodyInfo::new("film", Role::Film, 5, vec![[0, 1, 2], [2, 1, 3]]);
        assert!(Stretch::new(&film).is_none());
        film.rest = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [9.0, 9.0]]
            .map(|[x, y]| DVec3::new(x, y, 0.0))
            .to_vec();
        let stretch = Stretch::new(&film).unwrap();
        let turn = glam::DQuat::from_rotation_x(1.1) * glam::DQuat::from_rotation_z(0.4);
        let moved = |a: f64, b: f64| -> Vec<f32> {
            let x = film.rest.iter().map(|p| turn * (*p * DVec3::new(a, b, 1.0)) + DVec3::ONE);
            stretch.of(&x.collect::<Vec<_>>())
        };
        for (a, b, wanted) in
            [(1.0, 1.0, 0.0), (1.2, 0.9, 20.0), (1.1, 0.7, -30.0), (1.0, 0.0, -100.0)]
        {
            let found = moved(a, b);
            assert!(found[..4].iter().all(|v| (v - wanted).abs() < 1e-4), "{found:?}");
            assert!(found[4].is_nan(), "a vertex of no triangle");
        }
        assert!((stretch_reach(moved(1.2, 0.9)) - 20.0).abs() < 1e-4);
        assert_eq!(stretch_reach(moved(1.0, 1.0)), 0.1);
    }
}
