//! Damping of bending: over one step of implicit Euler the energy
//!
//! ```text
//! E = c/(2 dt) wrap(theta - theta_start)^2
//! ```
//!
//! with the angle `theta_start` at the start of the step. Its gradient is `c dtheta/dt g`; the assembled Hessian is
//! Gauss-Newton's, `c/dt g g^T`.

use crate::{angle, assemble};
use gusset_energy::{At, Blocks, Element, Scalar, Vec3, fields};

fields! {
    /// An interior edge that resists turning.
    pub struct DampedEdge<S> {
        /// Moment per rate of the angle (N m s).
        pub damping: S,
    }
}

/// Damping of bending.
pub struct HingeDamping;

/// The angle now against that at the start, in (-pi, pi].
#[inline(always)]
fn turn<S: Scalar>(at: &At<S, 4>) -> S {
    let of = |[a, b, c, d]: [Vec3<S>; 4]| angle(d - c, (c - a).cross(d - a), (d - b).cross(c - b));
    let ([sin, cos], [start_sin, start_cos]) = (of(at.x), of(at.x_start));
    (sin * start_cos - cos * start_sin).atan2(cos * start_cos + sin * start_sin)
}

impl Element<4> for HingeDamping {
    type Params<S: Scalar> = DampedEdge<S>;
    const CLOSED_FORM: bool = true;

    fn energy<S: Scalar>(at: &At<S, 4>, p: &DampedEdge<S>) -> S {
        p.damping * turn(at).square() / (at.dt * 2.0)
    }

    #[inline(always)]
    fn closed_form<S: Scalar>(at: &At<S, 4>, p: &DampedEdge<S>, out: &mut Blocks<4, S>) {
        assemble(&at.x, p.damping / at.dt, turn(at), out);
    }
}
