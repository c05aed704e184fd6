//! Second-order jets: value, gradient and Hessian carried along with every number. An oracle for tests, which shares
//! nothing with the symbolic derivatives.

use std::ops::{Add, Div, Mul, Neg, Sub};

use gusset_scalar::Scalar;

/// A number with its first and second derivatives by `N` variables.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Jet<const N: usize> {
    pub(crate) value: f64,
    pub(crate) gradient: [f64; N],
    pub(crate) hessian: [[f64; N]; N],
}

impl<const N: usize> Jet<N> {
    /// The variable number `index`.
    pub(crate) fn variable(value: f64, index: usize) -> Self {
        let mut jet = Self::lit(value);
        jet.gradient[index] = 1.0;
        jet
    }

    /// `f(self)` from `[f, f', f'']` at the value.
    fn chain(self, [value, first, second]: [f64; 3]) -> Self {
        let g = self.gradient;
        let entry = |i: usize, j: usize| first * self.hessian[i][j] + second * g[i] * g[j];
        Self::from_parts(value, |i| first * g[i], entry)
    }

    fn from_parts(value: f64, g: impl Fn(usize) -> f64, h: impl Fn(usize, usize) -> f64) -> Self {
        let hessian = std::array::from_fn(|i| std::array::from_fn(|j| h(i, j)));
        Self { value, gradient: std::array::from_fn(g), hessian }
    }
}

impl<const N: usize> Add for Jet<N> {
    type Output = Self;

    fn add(self, o: Self) -> Self {
        Self::from_parts(
            self.value + o.value,
            |i| self.gradient[i] + o.gradient[i],
            |i, j| self.hessian[i][j] + o.hessian[i][j],
        )
    }
}

impl<const N: usize> Neg for Jet<N> {
    type Output = Self;

    fn neg(self) -> Self {
        self.chain([-self.value, -1.0, 0.0])
    }
}

impl<const N: usize> Sub for Jet<N> {
    type Output = Self;

    fn sub(self, o: Self) -> Self {
        self + -o
    }
}

#[expect(clippy::suspicious_arithmetic_impl, reason = "the product rule adds")]
impl<const N: usize> Mul for Jet<N> {
    type Output = Self;

    fn mul(self, o: Self) -> Self {
        let (a, b) = (self.gradient, o.gradient);
        Self::from_parts(
            self.value * o.value,
            |i| a[i] * o.value + self.value * b[i],
            |i, j| {
                let straight = self.hessian[i][j] * o.value + self.value * o.hessian[i][j];
                straight + a[i] * b[j] + b[i] * a[j]
            },
        )
    }
}

impl<const N: usize> Div for Jet<N> {
    type Output = Self;

    fn div(self, o: Self) -> Self {
        let x = o.value;
        let reciprocal = o.chain([1.0 / x, -1.0 / (x * x), 2.0 / (x * x * x)]);
        Self { value: self.value / x, ..self * reciprocal }
    }
}

macro_rules! literal_operand {
    ($($trait:ident $method:ident)*) => {$(
        impl<const N: usize> $trait<f64> for Jet<N> {
            type Output = Self;

            fn $method(self, other: f64) -> Self {
                $trait::$method(self, Self::lit(other))
            }
        }
    )*};
}

literal_operand! { Add add Sub sub Mul mul Div div }

impl<const N: usize> Scalar for Jet<N> {
    fn lit(value: f64) -> Self {
        Self { value, gradient: [0.0; N], hessian: [[0.0; N]; N] }
    }

    fn sqrt(self) -> Self {
        let y = self.value.sqrt();
        self.chain([y, 0.5 / y, -0.25 / (y * y * y)])
    }

    fn ln(self) -> Self {
        let x = self.value;
        self.chain([x.ln(), 1.0 / x, -1.0 / (x * x)])
    }

    fn ln_1p(self) -> Self {
        let x = self.value;
        let r = 1.0 / (1.0 + x);
        self.chain([x.ln_1p(), r, -r * r])
    }

    fn exp(self) -> Self {
        self.chain([self.value.exp(); 3])
    }

    fn sin(self) -> Self {
        let (sine, cosine) = self.value.sin_cos();
        self.chain([sine, cosine, -sine])
    }

    fn cos(self) -> Self {
        let (sine, cosine) = self.value.sin_cos();
        self.chain([cosine, -sine, -cosine])
    }

    fn atan2(self, x: Self) -> Self {
        // The angle of (x, y) differs by a constant from the angle of the ratio with the larger denominator.
        let atan = |t: Self| {
            let d = 1.0 + t.value * t.value;
            t.chain([t.value.atan(), 1.0 / d, -2.0 * t.value / (d * d)])
        };
        let jet = if x.value.abs() > self.value.abs() { atan(self / x) } else { -atan(x / self) };
        Self { value: self.value.atan2(x.value), ..jet }
    }

    fn abs(self) -> Self {
        if self.value < 0.0 { -self } else { self }
    }

    fn known_le(a: Self, b: Self) -> bool {
        a.value <= b.value
    }

    fn select_lt(a: Self, b: Self, then: Self, otherwise: Self) -> Self {
        if a.value < b.value { then } else { otherwise }
    }
}
