//! What membrane laws share: the deformation of a flat triangle and the assembly of stress and tangent.
//!
//! The rest triangle lies flat with its first edge along the first axis. With `Dm` its two edges as columns, `b1` and
//! `b2` the rows of `Dm^-1` and `X` the three positions as columns, `F = X [-b1-b2; b1; b2]` (3x2), `C = F^T F` and
//! `eps = (C - I)/2`.

use crate::element::Blocks;
use crate::site::{BuildError, Site};
use glam::DVec3;
use gusset_scalar::{Mat3, Mat3x2, Scalar, Vec3};
use gusset_units::Stiffness;

crate::fields! {
    /// A triangle of film, at rest.
    pub struct Film<S> {
        /// `Dm^-1`, upper triangular: its entries (1,1), (1,2) and (2,2) [1/m].
        pub inverse: [S; 3],
        /// Area [m^2].
        pub area: S,
    }
}

/// A symmetric 2x2 tensor of the film's plane: entries 11, 22 and 12.
pub type Plane<S> = [S; 3];

impl Film<f64> {
    /// The film triangle of these rest positions; not finite where they have no area.
    pub fn at_rest([a, b, c]: [DVec3; 3]) -> Self {
        let (e1, e2) = (b - a, c - a);
        let length = e1.length();
        let twice_area = e1.cross(e2).length();
        let (along, height) = (e1.dot(e2) / length, twice_area / length);
        Self {
            inverse: [length.recip(), -along / twice_area, height.recip()],
            area: 0.5 * twice_area,
        }
    }
}

impl<S: Scalar> Film<S> {
    /// What a corner's motion `d` adds to the two columns of `F`: `c_1 d` and `c_2 d` (1/m).
    #[inline(always)]
    pub fn row(&self, corner: usize) -> [S; 2] {
        let [i11, i12, i22] = self.inverse;
        match corner {
            0 => [-i11, -i12 - i22],
            1 => [i11, i12],
            _ => [S::lit(0.0), i22],
        }
    }
}

impl<S: Scalar> Film<S> {
    /// `F`, from the plane of the rest shape into space.
    #[inline(always)]
    pub fn deformation(&self, x: &[Vec3<S>; 3]) -> Mat3x2<S> {
        let (e1, e2) = (x[1] - x[0], x[2] - x[0]);
        let [i11, i12, i22] = self.inverse;
        Mat3x2::from_columns(e1 * i11, e1 * i12 + e2 * i22)
    }
}

/// Green's strain `eps = (F^T F - I)/2`.
#[inline(always)]
pub fn strain<S: Scalar>(f: Mat3x2<S>) -> Plane<S> {
    let [f1, f2] = f.columns;
    [(f1.dot(f1) - 1.0) * 0.5, (f2.dot(f2) - 1.0) * 0.5, f1.dot(f2) * 0.5]
}

/// The part of a symmetric tensor with positive eigenvalues.
#[inline(always)]
pub fn positive_part<S: Scalar>([s11, s22, s12]: Plane<S>) -> Plane<S> {
    let zero = S::lit(0.0);
    let (mean, half) = ((s11 + s22) * 0.5, (s11 - s22) * 0.5);
    let radius = (half * half + s12 * s12).sqrt();
    let (high, low) = (mean + radius, mean - radius);
    if S::known_le(zero, low) {
        return [s11, s22, s12];
    }
    // high v v^T, where v v^T = (S - low I) / (high - low)
    let scale = high / (radius * 2.0);
    let part =
        |whole: S, part: S| S::select_lt(low, zero, S::select_lt(zero, high, part, zero), whole);
    [part(s11, scale * (s11 - low)), part(s22, scale * (s22 - low)), part(s12, scale * s12)]
}

/// Gradient and Hessian of `area * psi(eps)` from the second Piola stress `S = d psi / d eps` and a tangent that the
/// law has made positive semi-definite.
///
/// `tangent` maps `(eps11, eps22, 2 eps12)` to `(S11, S22, S12)`; its upper triangle is read. The Hessian is the
/// material part plus the geometric part with only the positive eigenvalues of `S`, so it is positive semi-definite.
#[inline(always)]
pub fn assemble<S: Scalar>(
    film: &Film<S>,
    f: Mat3x2<S>,
    stress: Plane<S>,
    tangent: [[S; 3]; 3],
    out: &mut Blocks<3, S>,
) {
    let [f1, f2] = f.columns;
    let [i11, i12, i22] = film.inverse;
    let area = film.area;

    // P = F S, and the force on vertex i is -area P c_i with c_1 = (i11, i12), c_2 = (0, i22), c_0 = -c_1 - c_2.
    let p1 = (f1 * stress[0] + f2 * stress[2]) * area;
    let p2 = (f1 * stress[2] + f2 * stress[1]) * area;
    out.gradient[1] = p1 * i11 + p2 * i12;
    out.gradient[2] = p2 * i22;
    out.gradient[0] = -(out.gradient[1] + out.gradient[2]);

    // K_ab: the Hessian by the columns a, b of F. With s_a the strain that column a's motion makes,
    // s_1 = (f1, 0, f2) and s_2 = (0, f2, f1), K_ab = s_a^T D s_b + S+_ab I.
    let d = |r: usize, c: usize| area * tangent[r.min(c)][r.max(c)];
    let geometric = positive_part(stress).map(|s| area * s);
    // D s_1 = column vectors g, D s_2 = h, per strain component.
    let g = |r: usize| f1 * d(r, 0) + f2 * d(r, 2);
    let h = |r: usize| f2 * d(r, 1) + f1 * d(r, 2);
    let k11 = add_diagonal(f1.outer(g(0)) + f2.outer(g(2)), geometric[0]);
    let k12 = add_diagonal(f1.outer(h(0)) + f2.outer(h(2)), geometric[2]);
    let k22 = add_diagonal(f2.outer(h(1)) + f1.outer(h(2)), geometric[1]);

    let h12 = (k12 * i11 + k22 * i12) * i22;
    let cross = (k12 + k12.transpose()) * (i11 * i12);
    let h11 = k11 * (i11 * i11) + cross + k22 * (i12 * i12);
    let h22 = k22 * (i22 * i22);
    let h01 = -(h11 + h12.transpose());
    let h02 = -(h12 + h22);
    out.hessian[1][1] = h11;
    out.hessian[1][2] = h12;
    out.hessian[2][2] = h22;
    out.hessian[0][1] = h01;
    out.hessian[0][2] = h02;
    out.hessian[0][0] = -(h01 + h02);
}

#[inline(always)]
fn add_diagonal<S: Scalar>(mut m: Mat3<S>, value: S) -> Mat3<S> {
    let [a, b, c] = &mut m.columns;
    (a.x, b.y, c.z) = (a.x + value, b.y + value, c.z + value);
    m
}

/// Largest fraction of `dx` on which the triangle's normal keeps a tenth of its length in its present direction: a
/// triangle that moves within its plane can't pass through zero area, where laws with a logarithm are infinite.
pub fn max_step(x: &[Vec3<f64>; 3], dx: &[Vec3<f64>; 3]) -> f64 {
    const KEPT: f64 = 0.1;
    let (e1, e2) = (x[1] - x[0], x[2] - x[0]);
    let (d1, d2) = (dx[1] - dx[0], dx[2] - dx[0]);
    let normal = e1.cross(e2);
    // normal . (e1 + t d1) x (e2 + t d2) = c0 + c1 t + c2 t^2; the fraction is where it falls to KEPT c0.
    let c0 = normal.norm_squared();
    let c1 = normal.dot(e1.cross(d2) + d1.cross(e2));
    let c2 = normal.dot(d1.cross(d2));
    first_root((1.0 - KEPT) * c0, c1, c2).min(1.0)
}

/// Smallest positive root of `c + b t + a t^2` for `c > 0`; infinite when there is none.
fn first_root(c: f64, b: f64, a: f64) -> f64 {
    let discriminant = b * b - 4.0 * a * c;
    // Citardauq: with c > 0 the first root is 2 c / (-b + sqrt(..)), which never cancels where it is positive and small.
    let q = -b + discriminant.sqrt();
    if discriminant >= 0.0 && q > 0.0 && c > 0.0 { 2.0 * c / q } else { f64::INFINITY }
}

/// Lamé constants of a film (N/m): those given, else those of the body's material under plane stress.
pub fn lame(
    mu: Option<Stiffness>,
    lambda: Option<Stiffness>,
    site: &Site<'_>,
) -> Result<(f64, f64), BuildError> {
    let (mu, lambda) = match (mu, lambda) {
        (Some(mu), Some(lambda)) => (mu.si(site.units), lambda.si(site.units)),
        (None, None) => site.body()?.material.lame_plane_stress()?,
        (Some(_), None) => return Err(BuildError::value("mu", "is given without `lambda`")),
        (None, Some(_)) => return Err(BuildError::value("lambda", "is given without `mu`")),
    };
    if !(mu > 0.0 && mu + lambda > 0.0) {
        let found = format!("mu = {mu} N/m and lambda = {lambda} N/m");
        return Err(BuildError::other(format!(
            "{} has {found}; a film is stable where mu and mu + lambda are above 0",
            site.label()
        )));
    }
    Ok((mu, lambda))
}

/// The body's triangles with their rest shapes; an error where it has none.
pub fn films<'a>(
    site: &Site<'a>,
) -> Result<impl Iterator<Item = ([u32; 3], Film<f64>)> + 'a, BuildError> {
    let body = site.body()?;
    if body.triangles.is_empty() {
        return Err(BuildError::other(format!(
            "{} needs triangles, and the body has none",
            site.label()
        )));
    }
    let film = |t: &[u32; 3]| (*t, Film::at_rest(t.map(|v| body.rest[v as usize])));
    Ok(body.triangles.iter().map(film))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rest_shape_has_no_strain_wherever_it_lies() {
        let x = [DVec3::new(1.0, 2.0, 3.0), DVec3::new(1.5, 2.1, 2.8), DVec3::new(0.9, 2.7, 3.3)];
        let film = Film::at_rest(x);
        assert!((film.area - 0.5 * (x[1] - x[0]).cross(x[2] - x[0]).length()).abs() < 1e-16);
        let f = film.deformation(&x.map(crate::vec3));
        assert!(strain(f).iter().all(|e| e.abs() < 1e-15));
    }

    #[test]
    fn positive_part_splits_the_tensor() {
        for s in [[3.0, 1.0, 0.5], [1.0, -2.0, 0.7], [-1.0, -2.0, 0.3], [0.0, 0.0, 1.0], [0.0; 3]] {
            let (plus, minus) = (positive_part(s), positive_part(s.map(|v| -v)));
            for k in 0..3 {
                assert!((plus[k] - minus[k] - s[k]).abs() < 1e-15);
            }
            // Both parts have a non-negative determinant and trace, and their product vanishes.
            assert!(plus[0] * plus[1] - plus[2] * plus[2] > -1e-15 && plus[0] + plus[1] >= 0.0);
            assert!((plus[0] * minus[0] + plus[2] * minus[2]).abs() < 1e-15);
        }
    }

    #[test]
    fn steps_stop_before_a_triangle_turns_over_in_its_plane() {
        let x = [Vec3::new(0.0, 0.0, 0.0), Vec3::new(1.0, 0.0, 0.0), Vec3::new(0.0, 1.0, 0.0)];
        let still = Vec3::zero();
        let down = |y: f64| [still, still, Vec3::new(0.0, y, 0.0)];
        assert!((max_step(&x, &down(-1.8)) - 0.5).abs() < 1e-15);
        assert_eq!(max_step(&x, &down(-0.8)), 1.0);
        assert_eq!(max_step(&x, &down(5.0)), 1.0);
        assert_eq!(max_step(&x, &[still; 3]), 1.0);
        assert_eq!(max_step(&[still; 3], &down(1.0)), 1.0);
    }
}
