//! Bending of a film at its interior edges:
//!
//! ```text
//! E = 1/2 k wrap(theta - theta0)^2
//! ```
//!
//! with the signed angle `theta` between the two faces at the edge, its value `theta0` at rest and
//! `wrap(t) = atan2(sin t, cos t)`, so that an angle on the far side of pi is as near as it looks. (Grinspun, Hirani,
//! Desbrun and Schroeder, "Discrete shells", 2003; bag article, section 4.)
//!
//! A hinge has the opposite vertices a and b and the edge from c to d. With `e = d - c`, `L = |e|`,
//! `n1 = (c-a) x (d-a)` and `n2 = (d-b) x (c-b)`, the angle is `atan2((n1 x n2).e/L, n1.n2)` and its gradient is
//!
//! ```text
//! g_a = -L n1/|n1|^2                    s = (a-c).e/L^2
//! g_b = -L n2/|n2|^2                    t = (b-c).e/L^2
//! g_c = -(1-s) g_a - (1-t) g_b
//! g_d = -s g_a - t g_b
//! ```
//!
//! (Tamstorf and Grinspun, "Discrete bending forces and their Jacobians", 2013.) The assembled Hessian is
//! Gauss-Newton's, `k g g^T`. Damping is that of the angle's rate ([`DampedHinge`]).

mod damping;
mod fold;
mod stiffness;

pub use damping::{DampedEdge, DampedHinge};
use fold::{Fold, wrap};
use gusset_energy::{
    At, Blocks, BuildError, Element, Energy, Mat3, Scalar, Site, Terms, Vec3, fields, non_negative,
    register, vec3,
};
use gusset_units::{Bending, BendingDamping, Force};
pub use stiffness::Law;

/// Bending of a film at its interior edges.
#[derive(Debug, Default, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Hinge {
    /// Stiffness `k` of every hinge, whatever its shape.
    #[serde(default)]
    stiffness: Option<Bending>,
    /// Stiffness of a hinge per length of its edge: `k` is this times the rest length.
    #[serde(default)]
    per_length: Option<Force>,
    /// Bending stiffness `D` of the film; from the material, `E h^3/(12 (1-nu^2))`, when nothing is given.
    #[serde(default)]
    bending: Option<Bending>,
    /// How `k` follows from `D`.
    #[serde(default)]
    law: Law,
    /// Angle that a hinge has at rest.
    #[serde(default)]
    rest: Rest,
    /// Damping of a hinge per length of its edge: moment per rate of the angle; none where absent.
    #[serde(default)]
    damping: BendingDamping,
}

/// Rest angles of hinges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rest {
    /// No angle: the film is flat at rest.
    #[default]
    Flat,
    /// The angle of the body's rest positions.
    Reference,
}

fields! {
    /// An interior edge with its two faces.
    pub struct Edge<S> {
        /// `k` (N m).
        pub stiffness: S,
        /// Cosine of the rest angle.
        pub rest_cos: S,
        /// Sine of the rest angle.
        pub rest_sin: S,
    }
}

/// Sine and cosine of the angle between the faces, both times `|n1| |n2|`.
#[inline(always)]
fn angle<S: Scalar>(e: Vec3<S>, n1: Vec3<S>, n2: Vec3<S>) -> [S; 2] {
    [n1.cross(n2).dot(e) / e.norm(), n1.dot(n2)]
}

/// The angle away from rest, in (-pi, pi].
#[inline(always)]
fn bend<S: Scalar>([sin, cos]: [S; 2], p: &Edge<S>) -> S {
    (sin * p.rest_cos - cos * p.rest_sin).atan2(cos * p.rest_cos + sin * p.rest_sin)
}

impl Element<4> for Hinge {
    type Params<S: Scalar> = Edge<S>;
    const CLOSED_FORM: bool = true;
    const VERTEX_BLOCK: bool = true;
    const WIDE: bool = true;
    const START: usize = 1;

    fn energy<S: Scalar>(at: &At<S, 4>, p: &Edge<S>) -> S {
        let [a, b, c, d] = at.x;
        let (n1, n2) = ((c - a).cross(d - a), (d - b).cross(c - b));
        p.stiffness * bend(angle(d - c, n1, n2), p).square() * 0.5
    }

    #[inline(always)]
    fn closed_form<S: Scalar>(at: &At<S, 4>, p: &Edge<S>, out: &mut Blocks<4, S>) {
        let [a, b, c, d] = at.x;
        let (n1, n2) = ((c - a).cross(d - a), (d - b).cross(c - b));
        let moment = p.stiffness * bend(angle(d - c, n1, n2), p);
        assemble(&at.x, p.stiffness, moment, out);
    }

    /// The angle at rest.
    #[inline(always)]
    fn start<S: Scalar>(_: &At<S, 4>, p: &Edge<S>, out: &mut [S]) {
        out[0] = p.rest_sin.atan2(p.rest_cos);
    }

    #[inline(always)]
    fn vertex_block<S: Scalar>(
        at: &At<S, 4>,
        p: &Edge<S>,
        start: &[S],
        corner: usize,
    ) -> (Vec3<S>, Mat3<S>) {
        let hinge = Fold::new(&at.x);
        let moment = p.stiffness * wrap(hinge.angle() - start[0]);
        hinge.block(p.stiffness, moment, corner)
    }
}

/// Gradient and Gauss-Newton Hessian from the gradient `g` of the angle: `moment g` and `stiffness g g^T`.
#[inline(always)]
fn assemble<S: Scalar>(
    [a, b, c, d]: &[Vec3<S>; 4],
    stiffness: S,
    moment: S,
    out: &mut Blocks<4, S>,
) {
    let (a, b, c, d) = (*a, *b, *c, *d);
    let e = d - c;
    let (n1, n2) = ((c - a).cross(d - a), (d - b).cross(c - b));
    let squared = e.norm_squared();
    let length = squared.sqrt();
    let (s, t) = ((a - c).dot(e) / squared, (b - c).dot(e) / squared);
    // A face that is crushed to nothing has no direction to turn in.
    let least = squared * squared * 1e-24;
    let ga = n1 * (-length / n1.norm_squared().max(least));
    let gb = n2 * (-length / n2.norm_squared().max(least));
    let g = [ga, gb, ga * (s - 1.0) + gb * (t - 1.0), -(ga * s + gb * t)];
    for i in 0..4 {
        let stiff = g[i] * stiffness;
        out.gradient[i] = g[i] * moment;
        for j in i..4 {
            out.hessian[i][j] = stiff.outer(g[j]);
        }
    }
}

impl Energy for Hinge {
    const KIND: &'static str = "hinge";
    const ABOUT: &'static str = "Bending of a film at its interior edges";

    fn build(self, site: &Site<'_>, out: &mut Terms) -> Result<(), BuildError> {
        let body = site.body()?;
        let stiffness = self.stiffness(site)?;
        let rest = |hinge: &gusset_mesh::Hinge| match self.rest {
            Rest::Flat => (1.0, 0.0),
            Rest::Reference => {
                let [a, b, c, d] = hinge.vertices().map(|v| vec3(body.rest[v as usize]));
                let (n1, n2) = ((c - a).cross(d - a), (d - b).cross(c - b));
                let [sin, cos] = angle(d - c, n1, n2);
                let size = n1.norm() * n2.norm();
                (cos / size, sin / size)
            }
        };
        let damping = non_negative(self.damping.si(site.units), "damping", "N s")?;
        let edge = |hinge: &gusset_mesh::Hinge| {
            let (rest_cos, rest_sin) = rest(hinge);
            Edge { stiffness: stiffness.of(body, hinge), rest_cos, rest_sin }
        };
        let hinges = body.topology.hinges.iter();
        if damping == 0.0 {
            out.push(site.batch::<Self, 4>(hinges.map(|h| (h.vertices(), edge(h))))?);
        } else {
            out.push(site.batch::<DampedHinge, 4>(hinges.map(|h| {
                let Edge { stiffness, rest_cos, rest_sin } = edge(h);
                let [c, d] = h.edge.map(|v| body.rest[v as usize]);
                let damping = damping * c.distance(d);
                (h.vertices(), DampedEdge { elastic: [stiffness, rest_cos, rest_sin], damping })
            }))?);
        }
        Ok(())
    }
}

register!(Hinge);

#[cfg(test)]
mod tests;
