//! Saint Venant-Kirchhoff film under plane stress:
//!
//! ```text
//! E = A [mu |eps|^2 + lambda/2 (tr eps)^2]
//! ```
//!
//! with Green's strain `eps = (C - I)/2` in the plane of the film and its rest area `A` (bag article, section 4). The
//! second Piola stress is `S = 2 mu eps + lambda tr(eps) I`, linear in the strain.
//!
//! The assembled Hessian is the material part, which is positive definite, and the geometric part with the positive
//! eigenvalues of `S` only. The law is for small strains: it softens under compression and a triangle costs a finite
//! energy to collapse. Use `neo-hookean` where a film may be crushed.

use gusset_energy::membrane::{self, Film};
use gusset_energy::{
    At, Blocks, BuildError, Element, Energy, Scalar, Site, Terms, fields, register,
};
use gusset_units::Stiffness;

/// Saint Venant-Kirchhoff stretching of a film.
#[derive(Debug, Default, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StVK {
    /// Shear modulus times thickness; from the material (`young`, `poisson`, `thickness`) when absent.
    #[serde(default)]
    mu: Option<Stiffness>,
    /// Second Lamé constant under plane stress, times thickness; given together with `mu`.
    #[serde(default)]
    lambda: Option<Stiffness>,
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

impl Element<3> for StVK {
    type Params<S: Scalar> = Triangle<S>;
    const CLOSED_FORM: bool = true;

    fn energy<S: Scalar>(at: &At<S, 3>, p: &Triangle<S>) -> S {
        let [e11, e22, e12] = membrane::strain(p.rest.deformation(&at.x));
        let squared = e11 * e11 + e22 * e22 + e12 * e12 * 2.0;
        p.rest.area * (p.mu * squared + p.lambda * 0.5 * (e11 + e22).square())
    }

    #[inline(always)]
    fn closed_form<S: Scalar>(at: &At<S, 3>, p: &Triangle<S>, out: &mut Blocks<3, S>) {
        let f = p.rest.deformation(&at.x);
        let [e11, e22, e12] = membrane::strain(f);
        let (mu, lambda) = (p.mu, p.lambda);
        let (pressure, shear) = (lambda * (e11 + e22), mu * 2.0);
        let zero = S::lit(0.0);
        let stress = [shear * e11 + pressure, shear * e22 + pressure, shear * e12];
        let tangent =
            [[lambda + shear, lambda, zero], [zero, lambda + shear, zero], [zero, zero, mu]];
        membrane::assemble(&p.rest, f, stress, tangent, out);
    }
}

impl Energy for StVK {
    const KIND: &'static str = "stvk";
    const ABOUT: &'static str = "Stretching of a film, Saint Venant-Kirchhoff under plane stress";

    fn build(self, site: &Site<'_>, out: &mut Terms) -> Result<(), BuildError> {
        let (mu, lambda) = membrane::lame(self.mu, self.lambda, site)?;
        let triangles = membrane::films(site)?.map(|(t, rest)| (t, Triangle { rest, mu, lambda }));
        out.push(site.batch::<Self, 3>(triangles)?);
        Ok(())
    }
}

register!(StVK);

#[cfg(test)]
mod tests;
