//! The law that stays finite where the film has no area:
//!
//! ```text
//! E = A [mu/2 (|F|^2 - 2) + lambda'/2 (J - alpha)^2] + const,   J = |f1 x f2|,  lambda' = lambda + mu,  alpha = 1 + mu/lambda'
//! ```
//!
//! with the columns `f1`, `f2` of `F` (Smith, de Goes and Kim, "Stable Neo-Hookean flesh simulation", 2018, for a surface in
//! space). With Green's strain the terms of first order cancel, and near rest no digits with them:
//! `E = A [(lambda' + mu)/2 (J - 1)^2 - 2 mu det eps]`.
//!
//! The block of one vertex, whose motion `d` changes the columns by `c1 d` and `c2 d`, is with the unit normal `N`,
//! `g1 = f2 x N`, `g2 = N x f1`, `q = c1 g1 + c2 g2`, `w = c1 f2 - c2 f1` and `r = max(0, lambda' (J - alpha))/J`
//!
//! ```text
//! A [(mu (c1^2 + c2^2) + r |w|^2) I + (lambda' - r) q q^T - r w w^T]
//! ```
//!
//! the exact one where the film is stretched, and positive definite where it is not.

use crate::{Triangle, dilation};
use gusset_energy::membrane;
use gusset_energy::{At, Element, Mat3, Scalar, Vec3};

/// Smallest ratio of areas that a direction is taken from.
const LEAST: f64 = 1e-10;

/// Finite where the film has no area.
pub struct Stable;

impl Element<3> for Stable {
    type Params<S: Scalar> = Triangle<S>;
    const VERTEX_BLOCK: bool = true;
    const WIDE: bool = true;

    fn energy<S: Scalar>(at: &At<S, 3>, p: &Triangle<S>) -> S {
        let f = p.rest.deformation(&at.x);
        let (u, det_eps) = dilation(membrane::strain(f));
        let [f1, f2] = f.columns;
        let j = f1.cross(f2).norm_squared().max(S::lit(LEAST * LEAST)).sqrt();
        // J - 1 = (J^2 - 1)/(J + 1) keeps its digits near J = 1, and is only used there.
        let growth = S::select_lt((j - 1.0).abs(), S::lit(0.5), u / (j + 1.0), j - 1.0);
        let bulk = p.lambda + p.mu * 2.0;
        p.rest.area * (bulk * 0.5 * growth * growth - p.mu * det_eps * 2.0)
    }

    #[inline(always)]
    fn vertex_block<S: Scalar>(
        at: &At<S, 3>,
        p: &Triangle<S>,
        _: &[S],
        corner: usize,
    ) -> (Vec3<S>, Mat3<S>) {
        let [f1, f2] = p.rest.deformation(&at.x).columns;
        let [c1, c2] = p.rest.row(corner);
        let (mu, bulk) = (p.mu, p.lambda + p.mu);
        let normal = f1.cross(f2);
        let j = normal.norm_squared().max(S::lit(LEAST * LEAST)).sqrt();
        let normal = normal * j.recip();
        let q = f2.cross(normal) * c1 + normal.cross(f1) * c2; // dJ/dx
        let w = f2 * c1 - f1 * c2;
        let stress = bulk * (j - 1.0) - mu; // lambda' (J - alpha)
        let force = (f1 * c1 + f2 * c2) * mu + q * stress;
        let r = stress.max(S::lit(0.0)) / j;
        let round = mu * (c1 * c1 + c2 * c2) + r * w.norm_squared();
        let block = Mat3::identity() * round + q.outer(q) * (bulk - r) - w.outer(w) * r;
        (force * p.rest.area, block * p.rest.area)
    }
}
