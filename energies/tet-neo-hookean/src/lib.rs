//! Neo-Hookean solids in tetrahedra of constant strain, under two laws. With the deformation gradient `F`, `J = det F`
//! and the rest volume `V`:
//!
//! ```text
//! stable   E = V [mu/2 (|F|^2 - 3) + lambda'/2 (J - alpha)^2] + const,   lambda' = lambda + mu,  alpha = 1 + mu/lambda'
//! log      E = V [mu/2 (|F|^2 - 3) - mu log J + lambda/2 (log J)^2]
//! ```
//!
//! The first stays finite when a tetrahedron is turned inside out and drives it back (Smith, de Goes and Kim, "Stable
//! Neo-Hookean flesh simulation", 2018, equation 9 without its last term); the second becomes infinite at zero volume and
//! limits steps so that none passes it (Bonet and Wood, "Nonlinear continuum mechanics for finite element analysis",
//! section 5.4.3). Both agree with Hooke's law for small strains.
//!
//! Written so, both lose all digits near rest, where large terms of first order in the strain cancel. With Green's strain
//! `eps = (F^T F - I)/2` and its invariants, `|F|^2 - 3 = 2 tr eps` and `J^2 - 1 = 2 tr eps + 4 I2 + 8 I3`, they read
//!
//! ```text
//! stable   E = V [-mu (2 I2 + 4 I3) + (lambda' + mu)/2 (J - 1)^2]
//! log      E = V [mu ((J^2 - 1)/2 - log J - 2 I2 - 4 I3) + lambda/2 (log J)^2]
//! ```
//!
//! without terms of first order.
//!
//! The assembled Hessian is the exact one with its negative eigenvalues at 0, from the analytic eigen-system of isotropic
//! energies ([`isotropic`]).

mod damping;
mod eigen;
mod elements;
pub mod isotropic;
mod path;

pub use damping::{DampedTetrahedron, TetDamping};
pub use elements::{Log, Stable, Tetrahedron};
use glam::DMat3;
use gusset_energy::{BuildError, Energy, Site, Terms, non_negative, register, vec3};
use gusset_units::{Pressure, Viscosity};

/// Neo-Hookean tetrahedra.
#[derive(Debug, Default, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TetNeoHookean {
    /// Shear modulus; from the material (`young`, `poisson`) when absent.
    #[serde(default)]
    mu: Option<Pressure>,
    /// Second Lamé constant; given together with `mu`.
    #[serde(default)]
    lambda: Option<Pressure>,
    /// What happens at zero volume.
    #[serde(default)]
    law: Law,
    /// Damping: stress per rate of `F^T F`; none where absent.
    #[serde(default)]
    damping: Viscosity,
}

/// Neo-Hookean laws.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Law {
    /// Finite at zero volume and beyond.
    #[default]
    Stable,
    /// Infinite at zero volume, which no step passes.
    Log,
}

impl Energy for TetNeoHookean {
    const KIND: &'static str = "tet-neo-hookean";
    const ABOUT: &'static str = "Elasticity of a solid, Neo-Hookean in tetrahedra";

    fn build(self, site: &Site<'_>, out: &mut Terms) -> Result<(), BuildError> {
        let tets = tetrahedra(site, self.lame(site)?)?;
        match self.law {
            Law::Stable => out.push(site.batch::<Stable, 4>(tets)?),
            Law::Log => out.push(site.batch::<Log, 4>(tets)?),
        }
        let damping = non_negative(self.damping.si(site.units), "damping", "Pa s")?;
        if damping > 0.0 {
            let damped = |(vertices, tet): Stencil| {
                (vertices, DampedTetrahedron { inverse: tet.inverse, volume: tet.volume, damping })
            };
            let tets = tetrahedra(site, self.lame(site)?)?;
            out.push(site.batch::<TetDamping, 4>(tets.into_iter().map(damped))?);
        }
        Ok(())
    }
}

/// A tetrahedron's vertices and constants.
type Stencil = ([u32; 4], Tetrahedron<f64>);

/// Every tetrahedron of the body with its rest shape.
fn tetrahedra(site: &Site<'_>, (mu, lambda): (f64, f64)) -> Result<Vec<Stencil>, BuildError> {
    let body = site.body()?;
    if body.tets.is_empty() {
        let label = site.label();
        return Err(BuildError::other(format!("{label} needs tetrahedra, and the body has none")));
    }
    let shape = |(k, t): (usize, &[u32; 4])| {
        let [a, b, c, d] = t.map(|v| body.rest[v as usize]);
        let edges = DMat3::from_cols(b - a, c - a, d - a);
        let volume = edges.determinant() / 6.0;
        if volume > 0.0 {
            let inverse = edges.inverse();
            let inverse = [inverse.x_axis, inverse.y_axis, inverse.z_axis].map(vec3);
            return Ok((*t, Tetrahedron { inverse, volume, mu, lambda }));
        }
        Err(BuildError::other(format!(
            "tetrahedron {k} of `{}` (vertices {t:?}) has a rest volume of {volume} m^3; it must be above 0",
            body.name
        )))
    };
    body.tets.iter().enumerate().map(shape).collect()
}

impl TetNeoHookean {
    /// Lamé constants (Pa).
    fn lame(&self, site: &Site<'_>) -> Result<(f64, f64), BuildError> {
        let (mu, lambda) = match (self.mu, self.lambda) {
            (Some(mu), Some(lambda)) => (mu.si(site.units), lambda.si(site.units)),
            (None, None) => site.body()?.material.lame_solid()?,
            (Some(_), None) => return Err(BuildError::value("mu", "is given without `lambda`")),
            (None, Some(_)) => return Err(BuildError::value("lambda", "is given without `mu`")),
        };
        if mu > 0.0 && 2.0 * mu + 3.0 * lambda > 0.0 && lambda + mu > 0.0 {
            return Ok((mu, lambda));
        }
        Err(BuildError::other(format!(
            "{} has mu = {mu} Pa and lambda = {lambda} Pa; a solid is stable where mu, lambda + mu and lambda + 2/3 mu are \
             above 0",
            site.label()
        )))
    }
}

register!(TetNeoHookean);

#[cfg(test)]
mod tests;
