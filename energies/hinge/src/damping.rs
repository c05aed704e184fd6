//! Bending with damping: over one step of implicit Euler the energy
//!
//! ```text
//! E = 1/2 k wrap(theta - theta0)^2 + c/(2 dt) wrap(theta - theta_start)^2
//! ```
//!
//! with the angle `theta_start` at the start of the step. The gradient of the second part is `c dtheta/dt g`; the assembled
//! Hessian is Gauss-Newton's, `(k + c/dt) g g^T`. Both parts stand in one element since they share most of the work.

use crate::fold::{Fold, wrap};
use crate::{Edge, angle, assemble, bend};
use gusset_energy::{At, Blocks, Element, Mat3, Scalar, Vec3, fields};

fields! {
    /// An interior edge that resists turning.
    pub struct DampedEdge<S> {
        /// Bending: `k` (N m), cosine and sine of the rest angle.
        pub elastic: [S; 3],
        /// Moment per rate of the angle, `c` (N m s).
        pub damping: S,
    }
}

impl<S: Scalar> DampedEdge<S> {
    /// The edge without its damping.
    fn edge(&self) -> Edge<S> {
        let [stiffness, rest_cos, rest_sin] = self.elastic;
        Edge { stiffness, rest_cos, rest_sin }
    }
}

/// Bending with damping.
pub struct DampedHinge;

/// Sine and cosine of the angle, scaled, at four points.
#[inline(always)]
fn angle_of<S: Scalar>([a, b, c, d]: [Vec3<S>; 4]) -> [S; 2] {
    angle(d - c, (c - a).cross(d - a), (d - b).cross(c - b))
}

/// The angle now against that at the start, in (-pi, pi].
#[inline(always)]
fn turn<S: Scalar>([sin, cos]: [S; 2], [start_sin, start_cos]: [S; 2]) -> S {
    (sin * start_cos - cos * start_sin).atan2(cos * start_cos + sin * start_sin)
}

impl Element<4> for DampedHinge {
    type Params<S: Scalar> = DampedEdge<S>;
    const CLOSED_FORM: bool = true;
    const VERTEX_BLOCK: bool = true;
    const WIDE: bool = true;
    const START: usize = 3;

    fn energy<S: Scalar>(at: &At<S, 4>, p: &DampedEdge<S>) -> S {
        let (now, start) = (angle_of(at.x), angle_of(at.x_start));
        let edge = p.edge();
        edge.stiffness * bend(now, &edge).square() * 0.5
            + p.damping * turn(now, start).square() / (at.dt * 2.0)
    }

    #[inline(always)]
    fn closed_form<S: Scalar>(at: &At<S, 4>, p: &DampedEdge<S>, out: &mut Blocks<4, S>) {
        let (now, start) = (angle_of(at.x), angle_of(at.x_start));
        let (edge, viscous) = (p.edge(), p.damping / at.dt);
        let moment = edge.stiffness * bend(now, &edge) + viscous * turn(now, start);
        assemble(&at.x, edge.stiffness + viscous, moment, out);
    }

    /// The angles at rest and at the start, and the moment per angle of the damping.
    #[inline(always)]
    fn start<S: Scalar>(at: &At<S, 4>, p: &DampedEdge<S>, out: &mut [S]) {
        let [_, rest_cos, rest_sin] = p.elastic;
        out[0] = rest_sin.atan2(rest_cos);
        out[1] = Fold::new(&at.x_start).angle();
        out[2] = p.damping / at.dt;
    }

    #[inline(always)]
    fn vertex_block<S: Scalar>(
        at: &At<S, 4>,
        p: &DampedEdge<S>,
        start: &[S],
        corner: usize,
    ) -> (Vec3<S>, Mat3<S>) {
        let hinge = Fold::new(&at.x);
        let (angle, elastic, viscous) = (hinge.angle(), p.elastic[0], start[2]);
        let moment = elastic * wrap(angle - start[0]) + viscous * wrap(angle - start[1]);
        hinge.block(elastic + viscous, moment, corner)
    }
}
