//! Areas, volumes and lumped masses.

use std::f64::consts::PI;

use glam::DVec3;

/// Area of a triangle (m^2).
pub fn area([a, b, c]: [DVec3; 3]) -> f64 {
    0.5 * (b - a).cross(c - a).length()
}

/// Signed volume of a tetrahedron (m^3): `(x1-x0).((x2-x0)x(x3-x0))/6`.
pub fn volume([a, b, c, d]: [DVec3; 4]) -> f64 {
    (b - a).dot((c - a).cross(d - a)) / 6.0
}

/// Sum of the areas of `triangles` (m^2).
pub fn total_area(positions: &[DVec3], triangles: &[[u32; 3]]) -> f64 {
    triangles.iter().map(|t| area(t.map(|v| positions[v as usize]))).sum()
}

/// Sum of the volumes of `tets` (m^3).
pub fn total_volume(positions: &[DVec3], tets: &[[u32; 4]]) -> f64 {
    tets.iter().map(|t| volume(t.map(|v| positions[v as usize]))).sum()
}

/// Volume (m^3) that a closed, outward oriented surface encloses.
pub fn enclosed_volume(positions: &[DVec3], triangles: &[[u32; 3]]) -> f64 {
    // From a vertex of the surface, not the origin: far away that would cancel.
    let Some(&origin) = positions.first() else { return 0.0 };
    triangles
        .iter()
        .map(|t| {
            let [a, b, c] = t.map(|v| positions[v as usize] - origin);
            a.dot(b.cross(c)) / 6.0
        })
        .sum()
}

/// Mass of each vertex (kg): a third of each of its triangles, whose mass is `surface_density`
/// (kg/m^2) times the rest area.
pub fn film_mass(rest: &[DVec3], triangles: &[[u32; 3]], surface_density: f64) -> Vec<f64> {
    let mut mass = vec![0.0; rest.len()];
    for t in triangles {
        let share = surface_density * area(t.map(|v| rest[v as usize])) / 3.0;
        for &v in t {
            mass[v as usize] += share;
        }
    }
    mass
}

/// Mass of each vertex (kg): a quarter of each of its tetrahedra, whose mass is `density`
/// (kg/m^3) times the rest volume.
pub fn solid_mass(rest: &[DVec3], tets: &[[u32; 4]], density: f64) -> Vec<f64> {
    let mut mass = vec![0.0; rest.len()];
    for t in tets {
        let share = density * volume(t.map(|v| rest[v as usize])) / 4.0;
        for &v in t {
            mass[v as usize] += share;
        }
    }
    mass
}

/// Mass of each vertex (kg): the same everywhere, at corners and edges too. Some solvers give grids
/// such masses (density times cell size), which add up to more than the body weighs.
pub fn uniform_mass(count: usize, mass_per_vertex: f64) -> Vec<f64> {
    vec![mass_per_vertex; count]
}

/// Mass of each full sphere (kg) of `density` (kg/m^3).
pub fn sphere_mass(radius: &[f64], density: f64) -> Vec<f64> {
    radius.iter().map(|r| density * 4.0 / 3.0 * PI * r.powi(3)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_triangle_gives_each_vertex_a_third() {
        let rest = [
            DVec3::ZERO,
            DVec3::X,
            DVec3::Y,
            DVec3::new(2.0, 2.0, 0.0), // in no triangle
        ];
        let mass = film_mass(&rest, &[[0, 1, 2]], 1.0);
        assert_eq!(mass, [0.5 / 3.0, 0.5 / 3.0, 0.5 / 3.0, 0.0]);
    }

    #[test]
    fn spheres_of_the_bag_weigh_77_gram() {
        let radius = [26e-3, 26e-3, 26e-3, 12e-3, 12e-3, 12e-3, 25e-3];
        let total: f64 = sphere_mass(&radius, 250.0).iter().sum();
        assert!((total - 77.0e-3).abs() < 0.05e-3, "{total}");
    }

    #[test]
    fn a_tet_gives_each_vertex_a_quarter() {
        let rest = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
        assert_eq!(solid_mass(&rest, &[[0, 1, 2, 3]], 12.0), [0.5; 4]);
        let surface = crate::surface(&[[0, 1, 2, 3]]);
        assert!((enclosed_volume(&rest, &surface) - 1.0 / 6.0).abs() < 1e-16);
    }
}
