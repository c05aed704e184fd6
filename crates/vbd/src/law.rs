//! Forces of a pair within the margin: repulsion in two stages, damping of closing motion, friction.
//!
//! With the distance `d`, the margin `R`, `tau = R/2` and a distance `d_min` far below it, the repulsion is (Chen et al.
//! 2025, *Offset Geometric Contact*; the extension below `d_min` keeps it finite)
//!
//! ```text
//! tau <= d < R      f = k (R - d)                              K = k
//! d_min < d < tau   f = k tau^2/d                              K = k tau^2/d^2
//! d <= d_min        f = k tau^2 (2 d_min - d)/d_min^2          K = k tau^2/d_min^2
//! ```
//!
//! and has a continuous slope throughout.

use crate::alm::Cushion;
use crate::local::add;
use glam::DVec3;
use gusset_energy::VertexBlock;

/// `d_min` over the margin.
const FLOOR: f64 = 5e-5;

/// Constants of contact forces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Law {
    /// Distance at which forces begin (m).
    pub(crate) margin: f64,
    /// N/m.
    pub(crate) stiffness: f64,
    /// N s/m.
    pub(crate) damping: f64,
    /// Coulomb's coefficient.
    pub(crate) friction: f64,
    /// Slip of a step below which friction is in proportion to it (m).
    pub(crate) slip: f64,
    /// Length of the step (s).
    pub(crate) dt: f64,
}

/// A pair as one of its vertices sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Touch {
    /// Unit normal, from the second primitive to the first.
    pub(crate) normal: DVec3,
    /// Distance beyond what counts as touching (m).
    pub(crate) gap: f64,
    /// Motion of the first closest point against the second since the start of the step (m).
    pub(crate) motion: DVec3,
    /// Weight of the vertex in the distance.
    pub(crate) weight: f64,
}

impl Law {
    /// The linear part of the repulsion, as rows with multipliers have it.
    pub(crate) fn cushion(&self) -> Cushion {
        Cushion { margin: self.margin, stiffness: self.stiffness, friction: self.friction }
    }

    /// Repulsion (N) and its stiffness (N/m) at a distance; `None` from the margin on.
    #[inline]
    pub(crate) fn repulsion(&self, d: f64) -> Option<(f64, f64)> {
        if d >= self.margin {
            return None;
        }
        let (k, tau, floor) = (self.stiffness, 0.5 * self.margin, FLOOR * self.margin);
        Some(if d >= tau {
            (k * (self.margin - d), k)
        } else if d > floor {
            (k * tau * tau / d, k * tau * tau / (d * d))
        } else {
            let stiff = k * tau * tau / (floor * floor);
            (stiff * (2.0 * floor - d), stiff)
        })
    }

    /// Friction's share of a force over slip and its limit at no slip (1/m): `s` in `F = -mu N s u`.
    #[inline]
    pub(crate) fn slip_scale(&self, slip: f64) -> f64 {
        if slip > self.slip { 1.0 / slip } else { (2.0 - slip / self.slip) / self.slip }
    }

    /// Adds damping of closing motion.
    #[inline]
    pub(crate) fn damp(&self, touch: &Touch, block: &mut VertexBlock) {
        let rate = touch.normal.dot(touch.motion) / self.dt;
        if rate < 0.0 && self.damping > 0.0 {
            let (n, w) = (touch.normal, touch.weight);
            add(block, n * (-self.damping * rate * w), n, self.damping / self.dt * w * w, 0.0);
        }
    }

    /// Adds everything that a pair does to one of its vertices.
    #[inline]
    pub(crate) fn apply(&self, touch: &Touch, block: &mut VertexBlock) {
        let Some((force, stiffness)) = self.repulsion(touch.gap) else { return };
        let (n, w) = (touch.normal, touch.weight);
        add(block, n * (w * force), n, w * w * stiffness, 0.0);
        self.damp(touch, block);
        if self.friction > 0.0 {
            let slip = touch.motion - n * n.dot(touch.motion);
            let scale = self.friction * force * self.slip_scale(slip.length());
            // mu N s (I - n n^T)
            let stiff = w * w * scale;
            add(block, slip * (-w * scale), n, -stiff, stiff);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::dvec3;

    fn law() -> Law {
        Law { margin: 0.2, stiffness: 1e4, damping: 100.0, friction: 0.5, slip: 1e-4, dt: 0.01 }
    }

    #[test]
    fn repulsion_is_smooth_where_its_formula_changes() {
        let law = law();
        for at in [0.1, FLOOR * 0.2] {
            let sides = [at * (1.0 - 1e-12), at * (1.0 + 1e-12)].map(|d| law.repulsion(d).unwrap());
            assert!((sides[0].0 / sides[1].0 - 1.0).abs() < 1e-11);
            assert!((sides[0].1 / sides[1].1 - 1.0).abs() < 1e-11);
        }
        assert_eq!(law.repulsion(0.1), Some((1000.0, 1e4)));
        assert_eq!(law.repulsion(0.15).unwrap().0, 1e4 * (0.2 - 0.15));
        assert!(law.repulsion(0.2).is_none());
        assert!(law.repulsion(-0.01).unwrap().0.is_finite());
    }

    #[test]
    fn stiffness_is_the_slope_of_the_force() {
        let law = law();
        for d in [0.19, 0.12, 0.09, 0.01, 1e-4, 5e-6] {
            let h = 1e-6 * d;
            let [low, high] = [d - h, d + h].map(|d| law.repulsion(d).unwrap().0);
            let slope = law.repulsion(d).unwrap().1;
            assert!(((low - high) / (2.0 * h) / slope - 1.0).abs() < 1e-6, "at {d}");
        }
    }

    /// One vertex above a wall.
    fn block(x: DVec3, start: DVec3) -> VertexBlock {
        let mut block = VertexBlock::default();
        let touch = Touch { normal: DVec3::Z, gap: x.z, motion: x - start, weight: 1.0 };
        law().apply(&touch, &mut block);
        block
    }

    #[test]
    fn damping_resists_closing_only() {
        let start = dvec3(0.0, 0.0, 0.15);
        let still = block(start, start).gradient[2];
        let closing = block(start - 0.01 * DVec3::Z, start).gradient[2];
        assert!((closing - (-1e4 * 0.06 - 100.0 * 1.0)).abs() < 1e-9);
        let opening = block(start + 0.01 * DVec3::Z, start).gradient[2];
        assert!((still + 500.0).abs() < 1e-9 && (opening + 400.0).abs() < 1e-9);
        assert_eq!(block(start - 0.01 * DVec3::Z, start).hessian[8], 1e4 + 100.0 / 0.01);
    }

    #[test]
    fn friction_is_bounded_by_the_cone_and_has_a_slope_at_rest() {
        let start = dvec3(0.0, 0.0, 0.15);
        let slid = block(start + dvec3(0.03, 0.04, 0.0), start);
        let tangential = dvec3(slid.gradient[0], slid.gradient[1], 0.0);
        assert!((tangential - 0.5 * 500.0 * dvec3(0.6, 0.8, 0.0)).length() < 1e-9);
        let still = block(start, start);
        assert_eq!(still.gradient[..2], [0.0, 0.0]);
        assert!((still.hessian[0] - 0.5 * 500.0 * 2.0 / 1e-4).abs() < 1e-6);
        let creeping = block(start + dvec3(1e-8, 0.0, 0.0), start);
        assert!((creeping.gradient[0] / (still.hessian[0] * 1e-8) - 1.0).abs() < 1e-4);
    }
}
