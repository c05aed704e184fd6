//! Several numbers at once: closed forms are generic, so that one vertex's share of four stencils costs little more than of
//! one.
//!
//! Which instructions serve is found out when the program runs. All of them give the same bits: nothing is fused, and what
//! a lane computes doesn't depend on its neighbours.

use gusset_scalar::Scalar;
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI, SQRT_2};
use std::fmt::Debug;
use std::ops::{Add, Div, Mul, Neg, Sub};
use wide::f64x4;

/// Stencils side by side.
pub(crate) const WIDTH: usize = 4;

/// Instructions on [`WIDTH`] numbers. Masks are numbers whose bits are all set or none.
pub(crate) trait Machine: Copy + Debug + 'static {
    /// The numbers.
    type Numbers: Copy + Debug;

    /// The machine, within a job that was dispatched to it.
    fn get() -> Self;
    fn load(self, values: [f64; WIDTH]) -> Self::Numbers;
    fn to_array(self, a: Self::Numbers) -> [f64; WIDTH];
    fn splat(self, value: f64) -> Self::Numbers;
    fn add(self, a: Self::Numbers, b: Self::Numbers) -> Self::Numbers;
    fn sub(self, a: Self::Numbers, b: Self::Numbers) -> Self::Numbers;
    fn mul(self, a: Self::Numbers, b: Self::Numbers) -> Self::Numbers;
    fn div(self, a: Self::Numbers, b: Self::Numbers) -> Self::Numbers;
    fn sqrt(self, a: Self::Numbers) -> Self::Numbers;
    fn abs(self, a: Self::Numbers) -> Self::Numbers;
    fn neg(self, a: Self::Numbers) -> Self::Numbers;
    fn and(self, a: Self::Numbers, b: Self::Numbers) -> Self::Numbers;
    fn or(self, a: Self::Numbers, b: Self::Numbers) -> Self::Numbers;
    /// Where `a < b`, `then`, else `otherwise`.
    fn select_lt(
        self,
        a: Self::Numbers,
        b: Self::Numbers,
        then: Self::Numbers,
        otherwise: Self::Numbers,
    ) -> Self::Numbers;
    /// Whether `a <= b` in all lanes.
    fn all_le(self, a: Self::Numbers, b: Self::Numbers) -> bool;
}

/// What every processor can do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Portable;

/// One-line functions, inlined for the instructions of their caller.
macro_rules! functions {
    ($($name:ident($self:ident $(, $a:ident: $t:ty)*) -> $r:ty = $body:expr;)*) => {
        $(#[inline(always)]
        fn $name($self $(, $a: $t)*) -> $r {
            $body
        })*
    };
}

impl Machine for Portable {
    type Numbers = f64x4;

    #[inline(always)]
    fn get() -> Self {
        Self
    }

    functions! {
        load(self, values: [f64; WIDTH]) -> f64x4 = f64x4::new(values);
        to_array(self, a: f64x4) -> [f64; WIDTH] = a.to_array();
        splat(self, value: f64) -> f64x4 = f64x4::splat(value);
        add(self, a: f64x4, b: f64x4) -> f64x4 = a + b;
        sub(self, a: f64x4, b: f64x4) -> f64x4 = a - b;
        mul(self, a: f64x4, b: f64x4) -> f64x4 = a * b;
        div(self, a: f64x4, b: f64x4) -> f64x4 = a / b;
        sqrt(self, a: f64x4) -> f64x4 = a.sqrt();
        abs(self, a: f64x4) -> f64x4 = a.abs();
        neg(self, a: f64x4) -> f64x4 = -a;
        and(self, a: f64x4, b: f64x4) -> f64x4 = a & b;
        or(self, a: f64x4, b: f64x4) -> f64x4 = a | b;
        select_lt(self, a: f64x4, b: f64x4, then: f64x4, otherwise: f64x4) -> f64x4 =
            a.simd_lt(b).bitselect(then, otherwise);
        all_le(self, a: f64x4, b: f64x4) -> bool = a.simd_le(b).all();
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{Job, Machine, WIDTH};
    use pulp::x86::V3;
    use std::arch::x86_64::{__m256d, _CMP_LE_OQ, _CMP_LT_OQ};

    impl Machine for V3 {
        type Numbers = __m256d;

        #[inline(always)]
        fn get() -> Self {
            Self::try_new().expect("jobs are dispatched to machines that are there")
        }

        functions! {
            load(self, v: [f64; WIDTH]) -> __m256d = self.avx._mm256_setr_pd(v[0], v[1], v[2], v[3]);
            to_array(self, a: __m256d) -> [f64; WIDTH] = bytemuck::cast(a);
            splat(self, value: f64) -> __m256d = self.avx._mm256_set1_pd(value);
            add(self, a: __m256d, b: __m256d) -> __m256d = self.avx._mm256_add_pd(a, b);
            sub(self, a: __m256d, b: __m256d) -> __m256d = self.avx._mm256_sub_pd(a, b);
            mul(self, a: __m256d, b: __m256d) -> __m256d = self.avx._mm256_mul_pd(a, b);
            div(self, a: __m256d, b: __m256d) -> __m256d = self.avx._mm256_div_pd(a, b);
            sqrt(self, a: __m256d) -> __m256d = self.avx._mm256_sqrt_pd(a);
            abs(self, a: __m256d) -> __m256d =
                self.avx._mm256_andnot_pd(self.avx._mm256_set1_pd(-0.0), a);
            neg(self, a: __m256d) -> __m256d =
                self.avx._mm256_xor_pd(self.avx._mm256_set1_pd(-0.0), a);
            and(self, a: __m256d, b: __m256d) -> __m256d = self.avx._mm256_and_pd(a, b);
            or(self, a: __m256d, b: __m256d) -> __m256d = self.avx._mm256_or_pd(a, b);
            select_lt(self, a: __m256d, b: __m256d, then: __m256d, otherwise: __m256d) -> __m256d = {
                let less = self.avx._mm256_cmp_pd::<_CMP_LT_OQ>(a, b);
                self.avx._mm256_blendv_pd(otherwise, then, less)
            };
            all_le(self, a: __m256d, b: __m256d) -> bool =
                self.avx._mm256_movemask_pd(self.avx._mm256_cmp_pd::<_CMP_LE_OQ>(a, b)) == 15;
        }
    }

    /// A job with the instructions.
    #[derive(Debug)]
    pub(super) struct Vectorized<J>(pub(super) J);

    impl<J: Job> pulp::NullaryFnOnce for Vectorized<J> {
        type Output = ();

        #[inline(always)]
        fn call(self) {
            self.0.run::<V3>();
        }
    }
}

/// Work on lanes.
pub(crate) trait Job {
    /// Does it; to be inlined with all that it calls, so that it is compiled for the machine's instructions.
    fn run<M: Machine>(self);
}

/// Does a job; where it is fit for wide vectors, with the best instructions there are.
#[inline]
pub(crate) fn dispatch<J: Job>(job: J, wide: bool) {
    #[cfg(target_arch = "x86_64")]
    if wide && let Some(machine) = pulp::x86::V3::try_new() {
        return machine.vectorize(avx2::Vectorized(job));
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = wide;
    job.run::<Portable>();
}

/// One number of each of several stencils. Arithmetic and roots round as those of `f64` do; transcendental functions differ
/// from the system's in the last digits.
///
/// Without closures, which the compiler may leave as functions of their own, compiled for less than their caller is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lanes<M: Machine> {
    numbers: M::Numbers,
    machine: M,
}

impl<M: Machine> Lanes<M> {
    #[inline(always)]
    pub(crate) fn new(machine: M, values: [f64; WIDTH]) -> Self {
        Self { numbers: machine.load(values), machine }
    }

    #[inline(always)]
    pub(crate) fn to_array(self) -> [f64; WIDTH] {
        self.machine.to_array(self.numbers)
    }

    /// What no machine does at once.
    #[inline(always)]
    fn each(self, f: fn(f64) -> f64) -> Self {
        let [a, b, c, d] = self.to_array();
        Self::new(self.machine, [f(a), f(b), f(c), f(d)])
    }

    #[inline(always)]
    fn with(self, numbers: M::Numbers) -> Self {
        Self { numbers, machine: self.machine }
    }

    /// The sign bit alone.
    #[inline(always)]
    fn sign(self) -> Self {
        self.with(self.machine.and(self.numbers, self.machine.splat(-0.0)))
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        self.with(self.machine.or(self.numbers, other.numbers))
    }
}

macro_rules! operator {
    ($trait:ident, $method:ident) => {
        impl<M: Machine> $trait for Lanes<M> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                self.with(self.machine.$method(self.numbers, other.numbers))
            }
        }
        impl<M: Machine> $trait<f64> for Lanes<M> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: f64) -> Self {
                self.with(self.machine.$method(self.numbers, self.machine.splat(other)))
            }
        }
    };
}

operator!(Add, add);
operator!(Sub, sub);
operator!(Mul, mul);
operator!(Div, div);

impl<M: Machine> Neg for Lanes<M> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        self.with(self.machine.neg(self.numbers))
    }
}

impl<M: Machine> Scalar for Lanes<M> {
    #[inline(always)]
    fn lit(value: f64) -> Self {
        let machine = M::get();
        Self { numbers: machine.splat(value), machine }
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        self.with(self.machine.sqrt(self.numbers))
    }

    #[inline(always)]
    fn ln(self) -> Self {
        self.each(f64::ln)
    }

    #[inline(always)]
    fn ln_1p(self) -> Self {
        self.each(f64::ln_1p)
    }

    #[inline(always)]
    fn exp(self) -> Self {
        self.each(f64::exp)
    }

    #[inline(always)]
    fn sin(self) -> Self {
        self.each(f64::sin)
    }

    #[inline(always)]
    fn cos(self) -> Self {
        self.each(f64::cos)
    }

    #[inline(always)]
    fn atan2(self, x: Self) -> Self {
        let (width, height) = (x.abs(), self.abs());
        let (long, short) = (width.max(height), width.min(height));
        // The angle of short over long, below an eighth of a turn; beyond half of that from what is left to it.
        let half = long * TAN_SIXTEENTH;
        let z = Self::select_lt(half, short, short - long, short)
            / Self::select_lt(half, short, short + long, long);
        let first = z - z * arctangent_lack(z * z);
        let rest = first + 0.5 * RIGHT_ANGLE_REST + FRAC_PI_4;
        let first = Self::select_lt(half, short, rest, first);
        // There is no angle where both are 0, and none that is a number where one of them is none.
        let none = Self::lit(f64::MIN_POSITIVE);
        let first = Self::select_lt(long, none, Self::lit(0.0), first);
        // Back to the quadrant that it came from, by the signs, that of a zero included.
        let turned = -first + RIGHT_ANGLE_REST + FRAC_PI_2;
        let first = Self::select_lt(width, height, turned, first);
        let turned = -first + 2.0 * RIGHT_ANGLE_REST + PI;
        let side = x.sign().or(Self::lit(1.0));
        Self::select_lt(side, Self::lit(0.0), turned, first).or(self.sign())
    }

    #[inline(always)]
    fn abs(self) -> Self {
        self.with(self.machine.abs(self.numbers))
    }

    #[inline(always)]
    fn select_lt(a: Self, b: Self, then: Self, otherwise: Self) -> Self {
        a.with(a.machine.select_lt(a.numbers, b.numbers, then.numbers, otherwise.numbers))
    }

    #[inline(always)]
    fn known_le(a: Self, b: Self) -> bool {
        a.machine.all_le(a.numbers, b.numbers)
    }
}

/// Tangent of a sixteenth of a turn.
const TAN_SIXTEENTH: f64 = SQRT_2 - 1.0;

/// What the constant of a right angle lacks of it.
const RIGHT_ANGLE_REST: f64 = 6.123_233_995_736_766e-17;

/// `1 - arctan(z)/z` by `s = z^2`, up to a sixteenth of a turn: the polynomial that is nearest to it there, within 4e-17.
#[inline(always)]
fn arctangent_lack<M: Machine>(s: Lanes<M>) -> Lanes<M> {
    const C: [f64; 10] = [
        0.333_333_333_333_302_2,
        -0.199_999_999_991_046_7,
        0.142_857_141_965_269_83,
        -0.111_111_067_035_618_46,
        0.090_907_835_285_704_7,
        -0.076_900_833_526_378_76,
        0.066_412_462_229_855_99,
        -0.056_931_646_606_283_05,
        0.043_608_249_677_180_86,
        -0.021_280_137_039_943_015,
    ];
    // In pairs, so that few steps wait for one another.
    let s2 = s * s;
    let s4 = s2 * s2;
    let low = (s * C[1] + C[0]) + (s * C[3] + C[2]) * s2;
    let high = (s * C[5] + C[4]) + (s * C[7] + C[6]) * s2 + (s * C[9] + C[8]) * s4;
    (low + high * s4) * s
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs checks on every machine that there is here.
    macro_rules! on_all_machines {
        ($check:ident) => {{
            struct Check;
            impl Job for Check {
                #[inline(always)]
                fn run<M: Machine>(self) {
                    $check::<M>();
                }
            }
            dispatch(Check, true);
            Check.run::<Portable>();
        }};
    }

    fn arithmetic<M: Machine>() {
        let values = [0.3, -1.7, 2.5e-9, 40.0];
        let others = [-2.0, 0.1, 3.0, -1e-3];
        let (a, b) = (Lanes::new(M::get(), values), Lanes::new(M::get(), others));
        let same = |found: Lanes<M>, f: fn(f64, f64) -> f64| {
            for (k, found) in found.to_array().into_iter().enumerate() {
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
        let none = Lanes::new(M::get(), [0.0, f64::NAN, 0.0, 0.0]);
        assert!(!Lanes::known_le(none, a.abs()), "what is no number is not below anything");
    }

    #[test]
    fn every_lane_is_a_number_of_its_own() {
        on_all_machines!(arithmetic);
    }

    fn angle<M: Machine>(y: f64, x: f64) -> f64 {
        Lanes::<M>::lit(y).atan2(Lanes::lit(x)).to_array()[0]
    }

    fn angles<M: Machine>() {
        let sides = [
            -1.0, -0.5, -0.3, -1e-3, -1e-12, -0.0, 0.0, 1e-300, 1e-12, 1e-3, 0.4, 0.414, 0.415, 1.0,
        ];
        for y in sides {
            for x in sides {
                let (found, exact) = (angle::<M>(y, x), y.atan2(x));
                if x == 0.0 && y == 0.0 {
                    assert_eq!(found, exact);
                } else {
                    let off = (found - exact).abs() / exact.abs().max(f64::MIN_POSITIVE);
                    assert!(off <= 3e-16, "{y} {x}: {found}, {exact}");
                }
            }
        }
        for k in 0..20_000 {
            let turn = 1e-3 * f64::from(k) - 10.0;
            let (y, x) = turn.sin_cos();
            let (found, exact) = (angle::<M>(y, x), y.atan2(x));
            assert!((found - exact).abs() <= 3e-16 * exact.abs(), "{y} {x}: {found}, {exact}");
        }
        for (y, x) in [(f64::NAN, 1.0), (1.0, f64::NAN), (f64::NAN, f64::NAN)] {
            assert!(angle::<M>(y, x).is_nan());
        }
    }

    #[test]
    fn angles_are_right_in_all_quadrants_and_for_small_ones() {
        on_all_machines!(angles);
    }

    #[test]
    fn all_machines_give_the_same_bits() {
        struct Record<'a>(&'a mut Vec<u64>);
        impl Job for Record<'_> {
            #[inline(always)]
            fn run<M: Machine>(self) {
                for k in 0..1000 {
                    let (y, x) = (1.7 - 0.013 * f64::from(k), 0.3 + 0.007 * f64::from(k % 71));
                    self.0.push((angle::<M>(y, x) / x.sqrt()).to_bits());
                }
            }
        }
        let (mut here, mut portable) = (Vec::new(), Vec::new());
        dispatch(Record(&mut here), true);
        Record(&mut portable).run::<Portable>();
        assert_eq!(here, portable);
    }
}
