//! How stiff a hinge is.
//!
//! A plate with bending stiffness `D` that is bent to a cylinder of curvature `kappa` stores `1/2 D kappa^2` per area.
//! The hinges of a mesh that is bent so store `1/2 sum k theta^2`. On a mesh of equilateral triangles of side l, an edge
//! at the angle phi to the direction of bending turns by `theta = kappa l (1 - 2 cos 2 phi)/(2 sqrt 3)`; the three edges
//! of a vertex, which has the area `sqrt(3)/2 l^2`, together have `sum theta^2 = 3/4 kappa^2 l^2` for every phi. Both
//! energies agree where `k = D l^2/A` with `A = sqrt(3)/2 l^2`, the area of the two faces of the hinge. A mesh of
//! right-angled triangles that is bent along its legs turns by `kappa l` at the legs across and by nothing elsewhere,
//! with `l^2/A = 1`: the same coefficient is right. (It is right too for bending across the diagonals, and three times
//! too stiff for bending along them: no choice of hinge stiffnesses is right for all meshes.)

use crate::Hinge;
use gusset_energy::{BuildError, Site, non_negative};
use gusset_mesh::Body;
use gusset_mesh::measure::area;

/// How a hinge's stiffness `k` follows from the film's bending stiffness `D`, its edge's rest length `l` and its two
/// faces' area `A`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Law {
    /// `k = 6 D l^2/A`, as in the bag article: at least six times too stiff in cylindrical bending.
    #[default]
    Article,
    /// `k = D l^2/A`: right in cylindrical bending, on equilateral triangles in every direction and on right-angled ones
    /// along the legs.
    Consistent,
}

/// How stiff the hinges of a body are.
pub(crate) enum Stiffness {
    /// `k` (N m).
    Same(f64),
    /// `k/l` (N).
    PerLength(f64),
    /// `k A/l^2` (N m).
    Plate(f64),
}

impl Stiffness {
    /// `k` of one hinge (N m).
    pub(crate) fn of(&self, body: &Body, hinge: &gusset_mesh::Hinge) -> f64 {
        let [a, b, c, d] = hinge.vertices().map(|v| body.rest[v as usize]);
        match *self {
            Self::Same(k) => k,
            Self::PerLength(force) => force * c.distance(d),
            Self::Plate(scaled) => {
                scaled * c.distance_squared(d) / (area([a, c, d]) + area([b, d, c]))
            }
        }
    }
}

impl Hinge {
    /// The one key that says how stiff the hinges are, else the material.
    pub(crate) fn stiffness(&self, site: &Site<'_>) -> Result<Stiffness, BuildError> {
        let plate = |d: f64| {
            Stiffness::Plate(match self.law {
                Law::Article => 6.0 * d,
                Law::Consistent => d,
            })
        };
        let units = site.units;
        match (self.stiffness, self.per_length, self.bending) {
            (Some(k), None, None) => {
                non_negative(k.si(units), "stiffness", "N m").map(Stiffness::Same)
            }
            (None, Some(k), None) => {
                non_negative(k.si(units), "per_length", "N").map(Stiffness::PerLength)
            }
            (None, None, Some(d)) => non_negative(d.si(units), "bending", "N m").map(plate),
            (None, None, None) => Ok(plate(site.body()?.material.bending()?)),
            _ => Err(BuildError::other(
                "a hinge takes one of `stiffness`, `per_length` and `bending`, or none of them and the material's",
            )),
        }
    }
}
