//! Neo-Hookean film under plane stress:
//!
//! ```text
//! E = A [mu (tr eps - log J) + lambda/2 (log J)^2],    log J = 1/2 log det C
//! ```
//!
//! with Green's strain `eps = (C - I)/2` in the plane of the film and its rest area `A`. (Bag article, section 4; the
//! logarithmic form is that of Bonet and Wood, "Nonlinear continuum mechanics for finite element analysis", section
//! 5.4.3.) The second Piola stress is `S = mu I + (lambda log J - mu) C^-1`.
//!
//! The assembled Hessian has two parts, both positive semi-definite. With `m = mu - lambda log J` and
//! `a = C^-1/2 deps C^-1/2`, the material part is the form `(lambda + m) (tr a)^2 + 2 m |dev a|^2`, whose two
//! coefficients are clamped at 0; the geometric part keeps the positive eigenvalues of `S` only.
//!
//! `law = "stable"` is another one, finite where the film has no area ([`Stable`]).

mod stable;

use gusset_energy::membrane::{self, Film};
use gusset_energy::viscosity::{DampedFilm, FilmDamping};
use gusset_energy::{
    At, Blocks, BuildError, Element, Energy, Scalar, Site, Terms, Vec3, fields, non_negative,
    register,
};
use gusset_units::{Damping, Stiffness};
pub use stable::Stable;

/// Neo-Hookean stretching of a film.
#[derive(Debug, Default, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NeoHookean {
    /// Shear modulus times thickness; from the material (`young`, `poisson`, `thickness`) when absent.
    #[serde(default)]
    mu: Option<Stiffness>,
    /// Second Lamé constant under plane stress, times thickness; given together with `mu`.
    #[serde(default)]
    lambda: Option<Stiffness>,
    /// What happens where the film loses its area.
    #[serde(default)]
    law: Law,
    /// Damping of stretching: stress times thickness per rate of `F^T F`; none where absent.
    #[serde(default)]
    damping: Damping,
}

/// Neo-Hookean laws of a film.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Law {
    /// Infinite at zero area, which no step passes.
    #[default]
    Log,
    /// Finite at zero area.
    Stable,
}

fields! {
    /// A triangle of the film.
    pub struct Triangle<S> {
        /// Its rest shape.
        pub rest: Film<S>,
        /// Lamé's `mu` (N/m).
        pub mu: S,
        /// Lamé's `lambda` (N/m).
        pub lambda: S,
    }
}

/// `det C - 1 = 2 tr eps + 4 det eps` and `det eps`. Near rest both keep the digits that `det C` would lose.
#[inline(always)]
fn dilation<S: Scalar>([e11, e22, e12]: membrane::Plane<S>) -> (S, S) {
    let det = e11 * e22 - e12 * e12;
    // Rounding may take a collapsed triangle below det C = 0; its energy is infinite, not NaN.
    (((e11 + e22) * 2.0 + det * 4.0).max(S::lit(-1.0)), det)
}

impl Element<3> for NeoHookean {
    type Params<S: Scalar> = Triangle<S>;
    const BOUNDS_STEP: bool = true;
    const CLOSED_FORM: bool = true;

    fn energy<S: Scalar>(at: &At<S, 3>, p: &Triangle<S>) -> S {
        let (u, det_eps) = dilation(membrane::strain(p.rest.deformation(&at.x)));
        let log_j = u.ln_1p() * 0.5;
        // tr eps - log J, where tr eps = u/2 - 2 det eps: the difference of two small numbers, each without rounding
        let shear = (u * 0.5 - log_j) - det_eps * 2.0;
        p.rest.area * (p.mu * shear + p.lambda * 0.5 * log_j * log_j)
    }

    #[inline(always)]
    fn closed_form<S: Scalar>(at: &At<S, 3>, p: &Triangle<S>, out: &mut Blocks<3, S>) {
        let f = p.rest.deformation(&at.x);
        let [e11, e22, e12] = membrane::strain(f);
        let (u, _) = dilation([e11, e22, e12]);
        let log_j = u.ln_1p() * 0.5;

        let scale = (u + 1.0).recip();
        let [i11, i22, i12] =
            [(e22 * 2.0 + 1.0) * scale, (e11 * 2.0 + 1.0) * scale, e12 * -2.0 * scale]; // C^-1
        let m = p.mu - p.lambda * log_j;
        let stress = [p.mu - m * i11, p.mu - m * i22, -m * i12];

        // (p - q) (tr a)^2 + 2 q |a|^2 in the strain components (eps11, eps22, 2 eps12)
        let zero = S::lit(0.0);
        let (dilating, shearing) = ((p.lambda + m).max(zero), m.max(zero));
        let (w, q) = (dilating - shearing, shearing * 2.0);
        let tangent = [
            [(w + q) * i11 * i11, w * i11 * i22 + q * i12 * i12, (w + q) * i11 * i12],
            [zero, (w + q) * i22 * i22, (w + q) * i22 * i12],
            [zero, zero, w * i12 * i12 + q * 0.5 * (i11 * i22 + i12 * i12)],
        ];
        membrane::assemble(&p.rest, f, stress, tangent, out);
    }

    fn max_step(x: &[Vec3<f64>; 3], dx: &[Vec3<f64>; 3], _: &Triangle<f64>) -> f64 {
        membrane::max_step(x, dx)
    }
}

impl Energy for NeoHookean {
    const KIND: &'static str = "neo-hookean";
    const ABOUT: &'static str = "Stretching of a film, Neo-Hookean under plane stress";

    fn build(self, site: &Site<'_>, out: &mut Terms) -> Result<(), BuildError> {
        let (mu, lambda) = membrane::lame(self.mu, self.lambda, site)?;
        let damping = non_negative(self.damping.si(site.units), "damping", "N s/m")?;
        let triangles = membrane::films(site)?.map(|(t, rest)| (t, Triangle { rest, mu, lambda }));
        match self.law {
            Law::Log => out.push(site.batch::<Self, 3>(triangles)?),
            Law::Stable => out.push(site.batch::<Stable, 3>(triangles)?),
        }
        if damping > 0.0 {
            let films = membrane::films(site)?.map(|(t, rest)| (t, DampedFilm { rest, damping }));
            out.push(site.batch::<FilmDamping, 3>(films)?);
        }
        Ok(())
    }
}

register!(NeoHookean);

#[cfg(test)]
mod tests;
