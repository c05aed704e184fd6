//! The augmented Lagrangian of one row.
//!
//! A row has a hard wall at gap 0, a linear cushion of stiffness `K` from the margin `a` inwards, a multiplier `p >= 0` and
//! the stiffness `rho` of its augmentation. With the slack `z >= 0` between gap and cushion it contributes
//!
//! ```text
//! min over z of  K/2 max(a - z, 0)^2 + p (z - C) + rho/2 (z - C)^2
//! ```
//!
//! whose slope is the normal force at the gap `C`. After a sweep the multiplier takes the value of that force; it settles at
//! `K (a - C)`. Friction has a multiplier of its own, in the plane, no longer than `mu` times the normal force, so that a
//! body which friction holds does not creep.

use glam::DVec3;

/// Constants of all rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cushion {
    /// Where it begins, `a` (m).
    pub(crate) margin: f64,
    /// `K` (N/m).
    pub(crate) stiffness: f64,
    /// Coulomb's coefficient.
    pub(crate) friction: f64,
}

impl Cushion {
    /// Normal force (N) and its stiffness (N/m) at a gap, from the multiplier `p` (N) and `rho` (N/m).
    #[inline]
    pub(crate) fn normal(&self, gap: f64, p: f64, rho: f64) -> (f64, f64) {
        let (a, k) = (self.margin, self.stiffness);
        let free = gap - p / rho;
        if free >= a {
            return (0.0, 0.0);
        }
        if rho * free + k * a > 0.0 {
            // Neither ratio overflows, whichever of the two is larger.
            let (share, stiff) = if k >= rho {
                let share = 1.0 / (1.0 + rho / k);
                (share, rho * share)
            } else {
                let r = k / rho;
                (r / (1.0 + r), k / (1.0 + r))
            };
            (share * p + stiff * (a - gap), stiff)
        } else {
            (p - rho * gap, rho)
        }
    }

    /// Friction multiplier at a slip (m) within the plane, from the multiplier so far and the largest that the normal
    /// force allows; with it the length of the trial value (N).
    #[inline]
    pub(crate) fn tangential(
        &self,
        slip: DVec3,
        multiplier: DVec3,
        rho: f64,
        normal: f64,
    ) -> Friction {
        let trial = multiplier + rho * slip;
        let radius = self.friction * normal;
        let length = trial.length();
        let force = if length <= radius {
            trial
        } else if radius > 0.0 {
            trial * (radius / length)
        } else {
            DVec3::ZERO
        };
        Friction { force, trial, length, radius }
    }
}

/// Friction of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Friction {
    /// Multiplier within the cone (N); the force is against it.
    pub(crate) force: DVec3,
    /// Multiplier before it is cut to the cone (N).
    pub(crate) trial: DVec3,
    /// Its length (N).
    pub(crate) length: f64,
    /// Radius of the cone (N).
    pub(crate) radius: f64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::dvec3;

    const CUSHION: Cushion = Cushion { margin: 0.2, stiffness: 1e4, friction: 0.5 };

    /// The minimum over the slack, by search.
    fn reduced(gap: f64, p: f64, rho: f64) -> f64 {
        let of = |z: f64| {
            let cushion = (CUSHION.margin - z).max(0.0);
            0.5 * CUSHION.stiffness * cushion * cushion
                + p * (z - gap)
                + 0.5 * rho * (z - gap) * (z - gap)
        };
        let (mut low, mut high) = (0.0, 2.0);
        for _ in 0..200 {
            let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
            if of(a) < of(b) { high = b } else { low = a }
        }
        of(0.5 * (low + high))
    }

    #[test]
    fn the_force_is_minus_the_slope_of_the_reduced_energy() {
        for rho in [100.0, 7200.0, 3.6e5] {
            for p in [0.0, 300.0, 2500.0] {
                for gap in [-0.1, 0.01, 0.1, 0.19, 0.3] {
                    let h = 1e-5;
                    let slope = (reduced(gap + h, p, rho) - reduced(gap - h, p, rho)) / (2.0 * h);
                    let (force, _) = CUSHION.normal(gap, p, rho);
                    assert!(
                        (force + slope).abs() < 1e-2 + 1e-5 * force,
                        "{rho} {p} {gap}: {force} {slope}"
                    );
                }
            }
        }
    }

    #[test]
    fn regimes_meet_and_stiffness_is_the_slope() {
        for (rho, p) in [(7200.0, 500.0), (3.6e5, 2500.0)] {
            // Where the cushion begins, and where the wall does.
            for gap in [CUSHION.margin + p / rho, (p - CUSHION.stiffness * CUSHION.margin) / rho] {
                let sides = [gap - 1e-9, gap + 1e-9].map(|gap| CUSHION.normal(gap, p, rho).0);
                assert!((sides[0] - sides[1]).abs() < 1e-8 * rho, "{sides:?}");
            }
            let h = 1e-6;
            let [low, high] = [0.1 - h, 0.1 + h].map(|gap| CUSHION.normal(gap, p, rho).0);
            assert!(((low - high) / (2.0 * h) / CUSHION.normal(0.1, p, rho).1 - 1.0).abs() < 1e-6);
        }
    }

    #[test]
    fn the_multiplier_settles_at_the_cushion() {
        for rho in [100.0, 7200.0, 3.6e5] {
            let mut p = 0.0;
            for _ in 0..2000 {
                p = CUSHION.normal(0.15, p, rho).0;
            }
            assert!((p / (1e4 * 0.05) - 1.0).abs() < 1e-6, "{rho}: {p}");
        }
    }

    #[test]
    fn friction_sticks_within_the_cone_and_slides_on_it() {
        let slip = dvec3(1e-3, 0.0, 0.0);
        let within = CUSHION.tangential(slip, dvec3(0.0, 2.0, 0.0), 1e3, 10.0);
        assert_eq!(within.force, dvec3(1.0, 2.0, 0.0));
        let sliding = CUSHION.tangential(slip, dvec3(0.0, 20.0, 0.0), 1e3, 10.0);
        assert!((sliding.force.length() - 5.0).abs() < 1e-14);
        assert_eq!(CUSHION.tangential(slip, slip, 1e3, 0.0).force, DVec3::ZERO);
    }
}
