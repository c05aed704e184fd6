//! The number type of an energy.

use std::fmt::Debug;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// A real number, or something that records what is done to one.
///
/// Every operation has one meaning for all implementors, down to the rounding: `f64` evaluates it, a tracing scalar
/// records it, and the recorded program evaluates to the same value. The right operand of `+ - * /` may be an `f64`
/// (`s * 0.5`); on the left, write [`Scalar::lit`].
///
/// There is no comparison that decides what is computed: the control flow of an energy can't depend on its data. Use
/// [`select_lt`](Scalar::select_lt), which evaluates both sides and picks one. [`known_le`](Scalar::known_le) may only
/// spare work.
///
/// There is no `acos`: it loses the sign of an angle and its slope is infinite at an angle of zero. Use
/// [`atan2`](Scalar::atan2).
pub trait Scalar:
    Copy
    + Debug
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + Add<f64, Output = Self>
    + Sub<f64, Output = Self>
    + Mul<f64, Output = Self>
    + Div<f64, Output = Self>
{
    /// The constant `value`.
    fn lit(value: f64) -> Self;

    /// Square root. Its slope at zero is infinite: regularise a norm that may vanish with [`Vec3::norm_eps`].
    ///
    /// [`Vec3::norm_eps`]: crate::Vec3::norm_eps
    #[must_use]
    fn sqrt(self) -> Self;

    /// Natural logarithm.
    #[must_use]
    fn ln(self) -> Self;

    /// Natural logarithm of `1 + self`, without the loss of digits near 0: strain energies compare values there.
    #[must_use]
    fn ln_1p(self) -> Self;

    /// Exponential.
    #[must_use]
    fn exp(self) -> Self;

    /// Sine of an angle in radians.
    #[must_use]
    fn sin(self) -> Self;

    /// Cosine of an angle in radians.
    #[must_use]
    fn cos(self) -> Self;

    /// Angle in radians, in [-pi, pi], of the point whose ordinate is `self` and whose abscissa is `x`.
    #[must_use]
    fn atan2(self, x: Self) -> Self;

    /// Absolute value. Its derivative at zero is taken from the right: +1.
    #[must_use]
    fn abs(self) -> Self;

    /// `a < b ? then : otherwise`. Both sides are evaluated; a comparison with NaN is false.
    ///
    /// The derivative is that of the side chosen; the value *and* the derivatives of the other side may be infinite or
    /// NaN without harm.
    #[must_use]
    fn select_lt(a: Self, b: Self, then: Self, otherwise: Self) -> Self;

    /// Whether `a <= b` holds and is known to: never while a program is recorded. A way out of an iteration whose further
    /// rounds change nothing but roundings, or past work whose result [`select_lt`](Scalar::select_lt) would drop.
    fn known_le(a: Self, b: Self) -> bool;

    /// `self < other ? self : other`. At a tie the derivative is that of `other`.
    #[inline(always)]
    #[must_use]
    fn min(self, other: Self) -> Self {
        Self::select_lt(self, other, self, other)
    }

    /// `self < other ? other : self`. At a tie the derivative is that of `self`.
    #[inline(always)]
    #[must_use]
    fn max(self, other: Self) -> Self {
        Self::select_lt(self, other, other, self)
    }

    /// `1 / self`.
    #[inline(always)]
    #[must_use]
    fn recip(self) -> Self {
        Self::lit(1.0) / self
    }

    /// `self * self`.
    #[inline(always)]
    #[must_use]
    fn square(self) -> Self {
        self * self
    }

    /// `self * self * self`.
    #[inline(always)]
    #[must_use]
    fn cube(self) -> Self {
        self * self * self
    }
}

impl Scalar for f64 {
    #[inline(always)]
    fn lit(value: f64) -> Self {
        value
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        f64::sqrt(self)
    }

    #[inline(always)]
    fn ln(self) -> Self {
        f64::ln(self)
    }

    #[inline(always)]
    fn ln_1p(self) -> Self {
        f64::ln_1p(self)
    }

    #[inline(always)]
    fn exp(self) -> Self {
        f64::exp(self)
    }

    #[inline(always)]
    fn sin(self) -> Self {
        f64::sin(self)
    }

    #[inline(always)]
    fn cos(self) -> Self {
        f64::cos(self)
    }

    #[inline(always)]
    fn atan2(self, x: Self) -> Self {
        f64::atan2(self, x)
    }

    #[inline(always)]
    fn abs(self) -> Self {
        f64::abs(self)
    }

    #[inline(always)]
    fn select_lt(a: Self, b: Self, then: Self, otherwise: Self) -> Self {
        if a < b { then } else { otherwise }
    }

    #[inline(always)]
    fn known_le(a: Self, b: Self) -> bool {
        a <= b
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn polynomial<S: Scalar>(x: S) -> S {
        // Both kinds of right operand in one generic expression.
        (x * x + 1.0) * 0.5 - x / 2.0 - (x - 3.0)
    }

    #[test]
    fn literal_operands_work_in_generic_code() {
        assert_eq!(polynomial(2.0), 2.5);
    }

    #[test]
    fn min_and_max_take_the_second_and_first_operand_at_a_tie() {
        assert_eq!(Scalar::min(0.0, -0.0).to_bits(), (-0.0_f64).to_bits());
        assert_eq!(Scalar::max(0.0, -0.0).to_bits(), 0.0_f64.to_bits());
        assert_eq!(Scalar::min(1.0, 2.0), 1.0);
        assert_eq!(Scalar::max(1.0, 2.0), 2.0);
    }

    #[test]
    fn a_comparison_with_nan_takes_the_other_side() {
        assert_eq!(f64::select_lt(f64::NAN, 0.0, 1.0, 2.0), 2.0);
    }
}
