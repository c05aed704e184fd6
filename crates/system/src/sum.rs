//! Sums that keep their rounding error, so that differences of large energies stay exact.

/// An unevaluated sum `high + low` of two doubles: about 32 decimal digits.
///
/// The line search compares energies whose difference may be far below the rounding of their sum (one heavy particle
/// far away is enough). Error-free transformation by Knuth's `TwoSum`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Compensated {
    high: f64,
    low: f64,
}

impl Compensated {
    /// The sum of `values` in their order.
    pub fn of(values: &[f64]) -> Self {
        let mut sum = Self::default();
        for &v in values {
            sum.add(v);
        }
        sum
    }

    /// A sum from its two parts, as another processor made them.
    pub fn from_parts(high: f64, low: f64) -> Self {
        Self { high, low }
    }

    /// Adds a number.
    #[inline]
    pub fn add(&mut self, v: f64) {
        let (s, e) = two_sum(self.high, v);
        self.high = s;
        self.low += e;
    }

    /// Adds another sum.
    #[inline]
    pub fn add_sum(&mut self, other: Self) {
        self.add(other.high);
        self.low += other.low;
    }

    /// The rounded value.
    pub fn value(self) -> f64 {
        self.high + self.low
    }

    /// `self - other`, accurate even where the two nearly cancel.
    pub fn minus(self, other: Self) -> f64 {
        let (s, e) = two_sum(self.high, -other.high);
        s + (e + (self.low - other.low))
    }
}

#[inline]
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let s = a + b;
    let t = s - a;
    (s, (a - (s - t)) + (b - t))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_differences_of_large_sums_survive() {
        let a = Compensated::of(&[9.81e11, 1e-6, 3e-9]);
        let b = Compensated::of(&[9.81e11, 1e-6, 1e-9]);
        assert!((a.minus(b) - 2e-9).abs() < 1e-22);
    }
}
