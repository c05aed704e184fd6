//! What damping laws share. A dissipation in proportion to the rate of a strain, over one step of implicit Euler, is the
//! energy
//!
//! ```text
//! E = c/(2 dt) |s(x) - s(x_start)|^2
//! ```
//!
//! of the strain `s`: its gradient is `c ds/dt . ds/dx`. Where rigid motion changes no strain it is not damped.

use crate::element::{At, Blocks, Element};
use crate::membrane::{self, Film};
use gusset_scalar::{Mat3, Mat3x2, Scalar, Vec3};

crate::fields! {
    /// A triangle of a film that resists changes of shape.
    pub struct DampedFilm<S> {
        /// Its rest shape.
        pub rest: Film<S>,
        /// Stress times thickness per rate of `F^T F` (N s/m).
        pub damping: S,
    }
}

/// Damping of a film by the rate of `C = F^T F`:
///
/// ```text
/// E = A c/(2 dt) sum_ab (C_ab - C_ab(start))^2
/// ```
///
/// The assembled Hessian is Gauss-Newton's, `A c/dt sum_ab dC_ab dC_ab^T`.
pub struct FilmDamping;

/// `C - C(start)`: entries 11, 22 and 12.
#[inline(always)]
fn change<S: Scalar>(at: &At<S, 3>, p: &DampedFilm<S>) -> [S; 3] {
    let [now, start] = [&at.x, &at.x_start].map(|x| membrane::strain(p.rest.deformation(x)));
    std::array::from_fn(|k| (now[k] - start[k]) * 2.0)
}

impl Element<3> for FilmDamping {
    type Params<S: Scalar> = DampedFilm<S>;
    const CLOSED_FORM: bool = true;
    const VERTEX_BLOCK: bool = true;
    const WIDE: bool = true;
    const START: usize = 4;

    fn energy<S: Scalar>(at: &At<S, 3>, p: &DampedFilm<S>) -> S {
        let [c11, c22, c12] = change(at, p);
        let squared = c11 * c11 + c22 * c22 + c12 * c12 * 2.0;
        p.rest.area * p.damping * squared / (at.dt * 2.0)
    }

    #[inline(always)]
    fn closed_form<S: Scalar>(at: &At<S, 3>, p: &DampedFilm<S>, out: &mut Blocks<3, S>) {
        let f = p.rest.deformation(&at.x);
        // With C = I + 2 eps the law is that of a material with the stress 2 c/dt (C - C(start)).
        let rate = p.damping * 2.0 / at.dt;
        let zero = S::lit(0.0);
        let stress = change(at, p).map(|c| rate * c);
        let tangent = [[rate * 2.0, zero, zero], [zero, rate * 2.0, zero], [zero, zero, rate]];
        membrane::assemble(&p.rest, f, stress, tangent, out);
        let gradient = out.gradient;
        membrane::assemble(&p.rest, f, [zero; 3], tangent, out);
        out.gradient = gradient;
    }

    /// Green's strain, and area times damping over the step.
    #[inline(always)]
    fn start<S: Scalar>(at: &At<S, 3>, p: &DampedFilm<S>, out: &mut [S]) {
        let [e11, e22, e12] = membrane::strain(p.rest.deformation(&at.x_start));
        (out[0], out[1], out[2]) = (e11, e22, e12);
        out[3] = p.rest.area * p.damping / at.dt;
    }

    #[inline(always)]
    fn vertex_block<S: Scalar>(
        at: &At<S, 3>,
        p: &DampedFilm<S>,
        start: &[S],
        corner: usize,
    ) -> (Vec3<S>, Mat3<S>) {
        let [f1, f2] = p.rest.deformation(&at.x).columns;
        let [c1, c2] = p.rest.row(corner);
        let [e11, e22, e12] = membrane::strain(Mat3x2::from_columns(f1, f2));
        let c11 = (e11 - start[0]) * 2.0;
        let c22 = (e22 - start[1]) * 2.0;
        let c12 = (e12 - start[2]) * 2.0;
        let (d11, d22, d12) = (f1 * (c1 * 2.0), f2 * (c2 * 2.0), f2 * c1 + f1 * c2);
        let scale = start[3];
        let force = d11 * c11 + d22 * c22 + d12 * (c12 * 2.0);
        let block = d11.outer(d11) + d22.outer(d22) + d12.outer(d12) * S::lit(2.0);
        (force * scale, block * scale)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::Check;
    use glam::DVec3;

    const REST: [DVec3; 3] =
        [DVec3::ZERO, DVec3::new(0.02, 0.001, 0.0), DVec3::new(0.004, 0.015, 0.003)];

    #[test]
    fn derivatives_and_the_formula_of_the_block() {
        let film = DampedFilm { rest: Film::at_rest(REST), damping: 0.7 };
        let still = REST.map(crate::vec3);
        let start = At { x: still, x_start: still, v_start: [Vec3::zero(); 3], dt: 0.01 };
        Check::<FilmDamping, 3>::new(move |random| {
            let mut at = random.near(REST.map(|p| p.to_array()), 3e-3);
            for (x, rest) in at.x_start.iter_mut().zip(REST) {
                *x = crate::vec3(rest) + random.vector(3e-3);
            }
            (at, film)
        })
        .internal()
        .rest(start, film)
        .formula(|at, p| {
            let [f1, f2] = p.rest.deformation(&at.x).columns;
            // dC_ab/dx_k = c_a f_b + c_b f_a, over all ordered pairs
            let changes = |corner: usize| {
                let [c1, c2] = p.rest.row(corner);
                let mixed = f2 * c1 + f1 * c2;
                [f1 * (2.0 * c1), mixed, mixed, f2 * (2.0 * c2)]
            };
            let mut out = Blocks::zero();
            for i in 0..3 {
                for j in 0..3 {
                    let (a, b) = (changes(i), changes(j));
                    let sum = (0..4).fold(Mat3::zero(), |sum, k| sum + a[k].outer(b[k]));
                    out.hessian[i][j] = sum * (p.rest.area * p.damping / at.dt);
                }
            }
            out
        })
        .run();
    }

    #[test]
    fn rigid_motion_is_not_damped() {
        let film = DampedFilm { rest: Film::at_rest(REST), damping: 3e3 };
        let turn = glam::DQuat::from_scaled_axis(DVec3::new(0.3, -1.0, 2.0));
        let x = REST.map(|p| crate::vec3(turn * p + DVec3::new(4.0, 5.0, 6.0)));
        let at = At { x, x_start: REST.map(crate::vec3), v_start: [Vec3::zero(); 3], dt: 1e-3 };
        let mut out = Blocks::zero();
        FilmDamping::closed_form(&at, &film, &mut out);
        // Against the force of a strain of 1: A c/dt over the edges.
        let scale = film.rest.area * film.damping / at.dt / 0.015;
        assert!(out.gradient.iter().all(|g| g.norm() < 1e-12 * scale));
    }
}
