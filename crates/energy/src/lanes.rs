//! Four numbers at once: closed forms are generic, so that one vertex's share of four stencils costs little more than of one.

use gusset_scalar::Scalar;
use std::ops::{Add, Div, Mul, Neg, Sub};
use wide::f64x4;

/// Stencils side by side.
pub(crate) const WIDTH: usize = 4;

/// One number of each of four stencils. Arithmetic and roots round as those of `f64` do; transcendental functions differ from
/// the system's in the last digits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lanes(f64x4);

impl Lanes {
    #[inline(always)]
    pub(crate) fn new(values: [f64; WIDTH]) -> Self {
        Self(f64x4::new(values))
    }

    #[inline(always)]
    pub(crate) fn to_array(self) -> [f64; WIDTH] {
        self.0.to_array()
    }

    #[inline(always)]
    fn map(self, f: impl Fn(f64) -> f64) -> Self {
        Self::new(self.to_array().map(f))
    }
}

macro_rules! operator {
    ($trait:ident, $method:ident, $op:tt) => {
        impl $trait for Lanes {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Self(self.0 $op other.0)
            }
        }
        impl $trait<f64> for Lanes {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: f64) -> Self {
                Self(self.0 $op f64x4::splat(other))
            }
        }
    };
}

operator!(Add, add, +);
operator!(Sub, sub, -);
operator!(Mul, mul, *);
operator!(Div, div, /);

impl Neg for Lanes {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self(-self.0)
    }
}

impl Scalar for Lanes {
    #[inline(always)]
    fn lit(value: f64) -> Self {
        Self(f64x4::splat(value))
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        Self(self.0.sqrt())
    }

    #[inline(always)]
    fn ln(self) -> Self {
        self.map(f64::ln)
    }

    #[inline(always)]
    fn ln_1p(self) -> Self {
        self.map(f64::ln_1p)
    }

    #[inline(always)]
    fn exp(self) -> Self {
        self.map(f64::exp)
    }

    #[inline(always)]
    fn sin(self) -> Self {
        self.map(f64::sin)
    }

    #[inline(always)]
    fn cos(self) -> Self {
        self.map(f64::cos)
    }

    #[inline(always)]
    fn atan2(self, x: Self) -> Self {
        Self(self.0.atan2(x.0))
    }

    #[inline(always)]
    fn abs(self) -> Self {
        Self(self.0.abs())
    }

    #[inline(always)]
    fn select_lt(a: Self, b: Self, then: Self, otherwise: Self) -> Self {
        Self(a.0.simd_lt(b.0).bitselect(then.0, otherwise.0))
    }

    #[inline(always)]
    fn known_le(a: Self, b: Self) -> bool {
        a.0.simd_le(b.0).all()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_lane_is_a_number_of_its_own() {
        let values = [0.3, -1.7, 2.5e-9, 40.0];
        let others = [-2.0, 0.1, 3.0, -1e-3];
        let (a, b) = (Lanes::new(values), Lanes::new(others));
        let same = |lanes: Lanes, f: fn(f64, f64) -> f64| {
            for (k, found) in lanes.to_array().into_iter().enumerate() {
                assert_eq!(found.to_bits(), f(values[k], others[k]).to_bits(), "lane {k}");
            }
        };
        same(a + b, |a, b| a + b);
        same(a - b * 2.0, |a, b| a - b * 2.0);
        same(-(a * b) / (a - 3.0), |a, b| -(a * b) / (a - 3.0));
        same(a.abs().sqrt(), |a, _| a.abs().sqrt());
        same(Lanes::select_lt(a, b, a, b * 0.5), |a, b| if a < b { a } else { b * 0.5 });
        same(a.max(b).min(Lanes::lit(1.0)), |a, b| Scalar::min(Scalar::max(a, b), 1.0));
        same(a.abs().ln_1p(), |a, _| a.abs().ln_1p());
        assert!(Lanes::known_le(a, Lanes::lit(40.0)) && !Lanes::known_le(a, b));
    }

    #[test]
    fn angles_are_right_in_all_quadrants_and_for_small_ones() {
        let sides = [-1.0, -1e-3, -1e-12, 0.0, 1e-300, 1e-12, 1e-3, 0.4, 1.0];
        for y in sides {
            for x in sides {
                if x == 0.0 && y == 0.0 {
                    continue;
                }
                let found = Lanes::lit(y).atan2(Lanes::lit(x)).to_array()[0];
                let exact = y.atan2(x);
                assert!((found - exact).abs() <= 4e-16 * exact.abs(), "{y} {x}: {found}, {exact}");
            }
        }
    }
}
