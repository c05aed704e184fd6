//! Polygons to triangles.

use glam::{DVec2, DVec3};

/// Most corners of a polygon. Ear clipping takes a time that grows with their square, and with
/// their cube for the worst shapes.
pub(super) const MAX_CORNERS: usize = 1024;

/// Cuts the polygon with these corners into triangles (as corner numbers) of the same winding,
/// whose areas add up to the polygon's.
///
/// A convex polygon becomes a fan about its first corner; otherwise ears are clipped (Meisters
/// 1975, "Polygons have ears") in the plane of the polygon's area vector. The message says why it
/// can't be done.
pub(super) fn triangulate(corners: &[DVec3]) -> Result<Vec<[usize; 3]>, String> {
    let n = corners.len();
    match n {
        0..=2 => return Err(format!("a face has {n} corners, expected at least 3")),
        3 => return Ok(vec![[0, 1, 2]]),
        4..=MAX_CORNERS => {}
        _ => return Err(format!("a face has {n} corners, expected at most {MAX_CORNERS}")),
    }
    let flat =
        flatten(corners).ok_or("the face has no area, or its corners are all on one line")?;
    let extent = flat.iter().fold(DVec2::ZERO, |m, p| m.max(p.abs()));
    // What rounding leaves of the area of three corners on a line.
    let tiny = 1e-12 * extent.max_element() * extent.max_element();
    let turn = |a: usize, b: usize, c: usize| (flat[b] - flat[a]).perp_dot(flat[c] - flat[b]);

    // All corners turning left is not enough: a star may wind around twice.
    let convex = (0..n).all(|i| turn((i + n - 1) % n, i, (i + 1) % n) > tiny)
        && (1..n - 1).all(|i| turn(0, i, i + 1) > tiny);
    if convex {
        return Ok((1..n - 1).map(|i| [0, i, i + 1]).collect());
    }

    let mut left: Vec<usize> = (0..n).collect();
    let mut triangles = Vec::with_capacity(n - 2);
    while left.len() > 3 {
        let m = left.len();
        let ear = (0..m).find(|&i| {
            let (a, b, c) = (left[(i + m - 1) % m], left[i], left[(i + 1) % m]);
            turn(a, b, c) > tiny
                && left.iter().all(|&p| {
                    p == a || p == b || p == c || !inside(flat[p], [flat[a], flat[b], flat[c]])
                })
        });
        let Some(i) = ear else {
            return Err("the face can't be cut into triangles: it crosses or touches itself".into());
        };
        triangles.push([left[(i + m - 1) % m], left[i], left[(i + 1) % m]]);
        left.remove(i);
    }
    if turn(left[0], left[1], left[2]) <= tiny {
        return Err("the face can't be cut into triangles: it crosses or touches itself".into());
    }
    triangles.push([left[0], left[1], left[2]]);
    Ok(triangles)
}

/// Whether `p` is in the counter-clockwise triangle or on its border.
fn inside(p: DVec2, [a, b, c]: [DVec2; 3]) -> bool {
    let left_of = |s: DVec2, e: DVec2| (e - s).perp_dot(p - s) >= 0.0;
    left_of(a, b) && left_of(b, c) && left_of(c, a)
}

/// The corners in the plane of the polygon's area vector, counter-clockwise, about the first one.
fn flatten(corners: &[DVec3]) -> Option<Vec<DVec2>> {
    let origin = corners[0];
    let local: Vec<DVec3> = corners.iter().map(|p| p - origin).collect();
    let area: DVec3 = local.windows(2).map(|pair| pair[0].cross(pair[1])).sum();
    let size = local.iter().map(|p| p.length_squared()).fold(0.0, f64::max);
    if area.length() <= 1e-12 * size {
        return None;
    }
    let (x, y) = area.normalize().any_orthonormal_pair();
    Some(local.iter().map(|p| DVec2::new(p.dot(x), p.dot(y))).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::measure::area;

    fn flat(points: &[[f64; 2]]) -> Vec<DVec3> {
        points.iter().map(|p| DVec3::new(p[0], p[1], 0.0)).collect()
    }

    /// Sum of areas; also checks that all triangles wind like the polygon.
    fn area_sum(corners: &[DVec3], triangles: &[[usize; 3]], normal: DVec3) -> f64 {
        let mut sum = 0.0;
        for t in triangles {
            let [a, b, c] = t.map(|k| corners[k]);
            assert!((b - a).cross(c - a).dot(normal) > 0.0, "{t:?}");
            sum += area([a, b, c]);
        }
        sum
    }

    #[test]
    fn convex_polygons_become_fans() {
        let quad = flat(&[[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]);
        assert_eq!(triangulate(&quad).unwrap(), [[0, 1, 2], [0, 2, 3]]);
    }

    #[test]
    fn collinear_corners_make_no_empty_triangle() {
        let square = flat(&[[0.0, 0.0], [0.5, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]);
        let triangles = triangulate(&square).unwrap();
        assert_eq!(triangles.len(), 3);
        assert!((area_sum(&square, &triangles, DVec3::Z) - 1.0).abs() < 1e-15);
    }

    #[test]
    fn polygons_that_cross_themselves_are_refused() {
        let pentagram: Vec<DVec3> = (0..5)
            .map(|k| f64::from(2 * k) * std::f64::consts::TAU / 5.0)
            .map(|angle| DVec3::new(angle.cos(), angle.sin(), 0.0))
            .collect();
        assert!(triangulate(&pentagram).is_err());
        let bow = flat(&[[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 3.0]]);
        assert!(triangulate(&bow).is_err());
        let line = flat(&[[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 0.0]]);
        assert!(triangulate(&line).is_err());
        assert!(triangulate(&line[..2]).is_err());
    }

    proptest! {
        /// Star-shaped polygons, mostly not convex, in any plane.
        #[test]
        fn areas_add_up(
            radii in prop::collection::vec(0.2..1.0f64, 4..20),
            euler in prop::array::uniform3(-3.0..3.0f64),
        ) {
            let n = radii.len();
            let turn = glam::DQuat::from_euler(glam::EulerRot::XYZ, euler[0], euler[1], euler[2]);
            let corners: Vec<DVec3> = radii
                .iter()
                .enumerate()
                .map(|(k, r)| (k as f64 / n as f64 * std::f64::consts::TAU, r))
                .map(|(angle, r)| turn * DVec3::new(r * angle.cos(), r * angle.sin(), 0.0) + 3.0)
                .collect();
            let triangles = triangulate(&corners).unwrap();
            prop_assert_eq!(triangles.len(), n - 2);
            let whole: f64 = (0..n)
                .map(|k| {
                    0.5 * radii[k] * radii[(k + 1) % n] * (std::f64::consts::TAU / n as f64).sin()
                })
                .sum();
            let sum = area_sum(&corners, &triangles, turn * DVec3::Z);
            prop_assert!((sum / whole - 1.0).abs() < 1e-9);
        }
    }
}
