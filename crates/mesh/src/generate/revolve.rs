//! Surfaces of revolution: disc, cylinder, and any profile.

use std::{
    cmp::Ordering,
    collections::BTreeMap,
    f64::consts::{FRAC_1_SQRT_2, TAU},
};

use glam::{DVec2, DVec3};

use super::{along, at_least, check_counts, positive};
use crate::{Mesh, MeshError, Problem};

/// How the quads between two rings of [`revolve`] are cut in two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Diagonal {
    /// It changes from quad to quad, so the surface doesn't prefer to twist one way.
    #[default]
    Alternating,
    /// Every quad alike, along (ring, column) to (ring + 1, column + 1).
    Regular,
}

/// Turns a profile of points (radius, z) (m) about the z axis, with `columns` vertices a ring at
/// the angles `2 pi k / columns`.
///
/// Only the first and the last point may have radius 0; such a point is one vertex. Vertices are
/// in the order of the profile, then of the angle. A profile that goes outward at the bottom, up,
/// and inward at the top gives outward normals. There are no groups.
pub fn revolve(profile: &[DVec2], columns: u32, diagonal: Diagonal) -> Result<Mesh, MeshError> {
    at_least("the number of columns", columns, 3, "at least 3")?;
    at_least("the number of profile points", profile.len() as u32, 2, "at least 2")?;
    let last = profile.len() - 1;
    for (i, p) in profile.iter().enumerate() {
        let pole_allowed = i == 0 || (i == last && (last >= 2 || profile[0].x > 0.0));
        if !(p.is_finite() && (p.x > 0.0 || (p.x == 0.0 && pole_allowed))) {
            return Err(Problem::BadSize {
                what: "a profile point (radius, z)",
                found: format!("number {i}: {p}"),
                expected: "finite, with a radius above 0 (0 only at an end, and not twice in a row)",
            }
            .into());
        }
    }
    let wide = profile.len() as u128 * u128::from(columns);
    check_counts(wide, 2 * wide)?;

    let mut positions = Vec::with_capacity(profile.len() * columns as usize);
    let mut first = Vec::with_capacity(profile.len());
    for point in profile {
        first.push(positions.len() as u32);
        if point.x == 0.0 {
            positions.push(DVec3::new(0.0, 0.0, point.y));
            continue;
        }
        for k in 0..columns {
            let direction = unit_circle(k, columns);
            positions.push((direction * point.x).extend(point.y));
        }
    }

    // A pole is a ring whose columns are all the same vertex.
    let vertex =
        |ring: usize, k: u32| first[ring] + if profile[ring].x == 0.0 { 0 } else { k % columns };
    let mut triangles = Vec::with_capacity(2 * last * columns as usize);
    for ring in 0..last {
        for k in 0..columns {
            let (p, q) = (vertex(ring, k), vertex(ring, k + 1));
            let (t, s) = (vertex(ring + 1, k), vertex(ring + 1, k + 1));
            if p == q {
                triangles.push([p, s, t]);
            } else if s == t {
                triangles.push([p, q, s]);
            } else if diagonal == Diagonal::Regular || (ring as u32 + k).is_multiple_of(2) {
                triangles.extend([[p, q, s], [p, s, t]]);
            } else {
                triangles.extend([[p, q, t], [q, s, t]]);
            }
        }
    }
    Ok(Mesh { positions, triangles, tets: Vec::new(), groups: BTreeMap::new() })
}

/// The point `k` of `n` on the unit circle; quarter turns are exact.
fn unit_circle(k: u32, n: u32) -> DVec2 {
    // Reduced to an eighth of the circle, so that symmetric points are mirror images to the bit.
    let (k, n) = (u64::from(k % n), u64::from(n));
    let quarter = (4 * k) / n;
    let rest = 4 * k - quarter * n; // 0..n stands for 0..pi/2
    let angle = |part: u64| TAU / 4.0 * part as f64 / n as f64;
    let (x, y) = match (2 * rest).cmp(&n) {
        Ordering::Less => (angle(rest).cos(), angle(rest).sin()),
        Ordering::Equal => (FRAC_1_SQRT_2, FRAC_1_SQRT_2),
        Ordering::Greater => (angle(n - rest).sin(), angle(n - rest).cos()),
    };
    match quarter {
        0 => DVec2::new(x, y),
        1 => DVec2::new(-y, x),
        2 => DVec2::new(-x, -y),
        _ => DVec2::new(y, -x),
    }
}

/// A flat disc of `radius` (m) about the origin in the plane z = 0 with normal +z: vertex 0 in the
/// centre, then `rings` rings of `segments` vertices.
///
/// Groups: `centre`, `ring-1` ..., `boundary` (the last ring).
pub fn disc(radius: f64, rings: u32, segments: u32) -> Result<Mesh, MeshError> {
    positive("the disc's radius", radius)?;
    at_least("the disc's number of rings", rings, 1, "at least 1")?;
    at_least("the disc's number of segments", segments, 3, "at least 3")?;
    let wide = u128::from(rings) * u128::from(segments);
    check_counts(wide + 1, 2 * wide)?;

    let profile: Vec<DVec2> =
        (0..=rings).map(|i| DVec2::new(along(radius, i, rings), 0.0)).collect();
    let mut mesh = revolve(&profile, segments, Diagonal::Alternating)?;
    for t in &mut mesh.triangles {
        t.swap(1, 2); // a profile that goes outward faces down
    }
    mesh.groups.insert("centre".to_owned(), vec![0]);
    let ring = |r: u32| ((r - 1) * segments + 1..=r * segments).collect::<Vec<u32>>();
    for r in 1..=rings {
        mesh.groups.insert(format!("ring-{r}"), ring(r));
    }
    mesh.groups.insert("boundary".to_owned(), ring(rings));
    Ok(mesh)
}

/// A cylinder of `radius` and `height` (m) about the z axis, standing on z = 0, with outward
/// normals: `cells` around and along. If `closed`, each end is a fan about a centre vertex.
///
/// Groups: `bottom` and `top` (the end rings), and their centres `bottom-centre`, `top-centre` if
/// closed.
pub fn cylinder(
    radius: f64,
    height: f64,
    cells: [u32; 2],
    closed: bool,
) -> Result<Mesh, MeshError> {
    positive("the cylinder's radius", radius)?;
    positive("the cylinder's height", height)?;
    let [columns, cells_along] = cells;
    at_least("the cylinder's number of cells around", columns, 3, "at least 3")?;
    at_least("the cylinder's number of cells along", cells_along, 1, "at least 1")?;
    let wide = (u128::from(cells_along) + 1) * u128::from(columns) + 2;
    check_counts(wide, 2 * wide)?;

    let mut profile: Vec<DVec2> =
        (0..=cells_along).map(|i| DVec2::new(radius, along(height, i, cells_along))).collect();
    if closed {
        profile.insert(0, DVec2::ZERO);
        profile.push(DVec2::new(0.0, height));
    }
    let mut mesh = revolve(&profile, columns, Diagonal::Alternating)?;
    let bottom = u32::from(closed);
    let top = bottom + cells_along * columns;
    mesh.groups.insert("bottom".to_owned(), (bottom..bottom + columns).collect());
    mesh.groups.insert("top".to_owned(), (top..top + columns).collect());
    if closed {
        mesh.groups.insert("bottom-centre".to_owned(), vec![0]);
        mesh.groups.insert("top-centre".to_owned(), vec![top + columns]);
    }
    Ok(mesh)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::measure;

    /// Area of a regular polygon with `n` corners on a circle.
    fn polygon(radius: f64, n: u32) -> f64 {
        0.5 * f64::from(n) * radius * radius * (TAU / f64::from(n)).sin()
    }

    #[test]
    fn circle_points_are_exact_where_they_can_be() {
        for (k, expected) in [(0, DVec2::X), (8, DVec2::Y), (16, -DVec2::X), (24, -DVec2::Y)] {
            assert_eq!(unit_circle(k, 32), expected);
        }
        for k in 0..32 {
            let (p, mirrored) = (unit_circle(k, 32), unit_circle(32 - k, 32));
            assert_eq!((p.x, p.y), (mirrored.x, -mirrored.y));
            let angle = TAU * f64::from(k) / 32.0;
            assert!((p - DVec2::new(angle.cos(), angle.sin())).length() < 1e-15);
        }
    }

    proptest! {
        #[test]
        fn discs_face_up(radius in 0.01..10.0f64, rings in 1u32..6, segments in 3u32..12) {
            let mesh = disc(radius, rings, segments).unwrap();
            mesh.check().unwrap();
            let topology = mesh.topology().unwrap();
            prop_assert_eq!(topology.euler_characteristic(&mesh.triangles), 1);
            prop_assert_eq!(mesh.positions.len() as u32, 1 + rings * segments);
            prop_assert_eq!(mesh.groups["boundary"].len(), topology.boundary_edges.len());
            let area = measure::total_area(&mesh.positions, &mesh.triangles);
            prop_assert!((area / polygon(radius, segments) - 1.0).abs() < 1e-12);
            for t in &mesh.triangles {
                let [a, b, c] = t.map(|v| mesh.positions[v as usize]);
                prop_assert!((b - a).cross(c - a).z > 0.0);
            }
        }

        #[test]
        fn cylinders_face_outward(
            radius in 0.01..10.0f64, height in 0.01..10.0f64, n in 3u32..12, m in 1u32..6,
        ) {
            let open = cylinder(radius, height, [n, m], false).unwrap();
            open.check().unwrap();
            prop_assert_eq!(open.topology().unwrap().euler_characteristic(&open.triangles), 0);
            prop_assert_eq!(&open.groups["bottom"][..], &(0..n).collect::<Vec<_>>()[..]);
            let closed = cylinder(radius, height, [n, m], true).unwrap();
            closed.check().unwrap();
            let topology = closed.topology().unwrap();
            prop_assert!(topology.is_closed());
            prop_assert_eq!(topology.euler_characteristic(&closed.triangles), 2);
            let volume = measure::enclosed_volume(&closed.positions, &closed.triangles);
            prop_assert!((volume / (polygon(radius, n) * height) - 1.0).abs() < 1e-12);
            for &v in &closed.groups["top"] {
                prop_assert_eq!(closed.positions[v as usize].z, height);
            }
        }
    }

    #[test]
    fn bad_sizes_are_named() {
        let error = disc(-1.0, 1, 8).unwrap_err().to_string();
        assert_eq!(error, "the disc's radius is -1, expected a finite length above 0");
        assert!(disc(1.0, u32::MAX, u32::MAX).is_err());
        assert!(cylinder(1.0, 1.0, [2, 1], false).is_err());
        assert!(revolve(&[DVec2::X, DVec2::ZERO, DVec2::X], 8, Diagonal::Regular).is_err());
        assert!(revolve(&[DVec2::ZERO, DVec2::Y], 8, Diagonal::Regular).is_err());
        assert!(revolve(&[DVec2::X, DVec2::Y], 8, Diagonal::Regular).is_ok());
    }
}
