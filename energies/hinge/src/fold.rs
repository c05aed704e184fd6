//! What one vertex of a hinge feels, with as little work as that takes.

use gusset_energy::{Mat3, Scalar, Vec3};
use std::f64::consts::PI;

/// A hinge as it is folded.
pub(crate) struct Fold<S> {
    /// Normals of the faces, twice as long as those are large (m^2).
    normals: [Vec3<S>; 2],
    /// The edge, from c to d, and from c to the opposite vertices (m).
    edge: Vec3<S>,
    wings: [Vec3<S>; 2],
    /// Length of the edge (m), and its square.
    length: S,
    squared: S,
}

/// An angle between -2 pi and 2 pi as one between -pi and pi.
#[inline(always)]
pub(crate) fn wrap<S: Scalar>(angle: S) -> S {
    let below = S::select_lt(S::lit(PI), angle, angle - 2.0 * PI, angle);
    S::select_lt(angle, S::lit(-PI), angle + 2.0 * PI, below)
}

impl<S: Scalar> Fold<S> {
    #[inline(always)]
    pub(crate) fn new([a, b, c, d]: &[Vec3<S>; 4]) -> Self {
        let (edge, wings) = (*d - *c, [*a - *c, *b - *c]);
        let squared = edge.norm_squared();
        Self {
            // (c - a) x (d - a) = e x (a - c), and the like.
            normals: [edge.cross(wings[0]), wings[1].cross(edge)],
            edge,
            wings,
            length: squared.sqrt(),
            squared,
        }
    }

    /// The angle between the faces, in [-pi, pi]. Since both normals are perpendicular to the edge, `n1 x n2` is the edge times
    /// `n1.(c - b)`.
    #[inline(always)]
    pub(crate) fn angle(&self) -> S {
        let [n1, n2] = self.normals;
        let height = -(n1.dot(self.wings[1]));
        (height * self.length).atan2(n1.dot(n2))
    }

    /// `moment g` and `stiffness g g^T` with the gradient `g` of the angle by the position of one corner.
    #[inline(always)]
    pub(crate) fn block(&self, stiffness: S, moment: S, corner: usize) -> (Vec3<S>, Mat3<S>) {
        let g = match corner {
            0 | 1 => self.wing(corner),
            2 => self.wing(0) * self.share(0, 1.0) + self.wing(1) * self.share(1, 1.0),
            _ => -(self.wing(0) * self.share(0, 0.0) + self.wing(1) * self.share(1, 0.0)),
        };
        (g * moment, (g * stiffness).outer(g))
    }

    /// Gradient of the angle by the position of an opposite vertex (1/m).
    #[inline(always)]
    fn wing(&self, k: usize) -> Vec3<S> {
        // A face that is crushed to nothing has no direction to turn in.
        let least = self.squared * self.squared * 1e-24;
        let normal = self.normals[k];
        normal * (-self.length / normal.norm_squared().max(least))
    }

    /// Where an opposite vertex stands along the edge, as a share of it, from `origin` on.
    #[inline(always)]
    fn share(&self, k: usize, origin: f64) -> S {
        self.wings[k].dot(self.edge) / self.squared - origin
    }
}
