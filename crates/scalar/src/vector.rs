//! Three numbers.

use std::ops::{Add, AddAssign, Div, Index, IndexMut, Mul, Neg, Sub, SubAssign};

use crate::{Mat3, Scalar};

/// A vector of three scalars.
///
/// `v * s` and `v / s` scale by a scalar of the vector's own type; [`scale`](Vec3::scale) takes a plain `f64`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct Vec3<S> {
    /// First component.
    pub x: S,
    /// Second component.
    pub y: S,
    /// Third component.
    pub z: S,
}

impl<S> Vec3<S> {
    /// The vector `(x, y, z)`.
    #[inline(always)]
    pub const fn new(x: S, y: S, z: S) -> Self {
        Self { x, y, z }
    }

    /// The components in order.
    #[inline(always)]
    pub fn to_array(self) -> [S; 3] {
        [self.x, self.y, self.z]
    }

    /// The vector whose components are `f` of this one's.
    #[inline(always)]
    pub fn map<T>(self, mut f: impl FnMut(S) -> T) -> Vec3<T> {
        Vec3 { x: f(self.x), y: f(self.y), z: f(self.z) }
    }
}

impl<S: Scalar> Vec3<S> {
    /// A constant vector.
    #[inline(always)]
    pub fn lit(v: [f64; 3]) -> Self {
        Self::new(S::lit(v[0]), S::lit(v[1]), S::lit(v[2]))
    }

    /// The vector of zeros.
    #[inline(always)]
    pub fn zero() -> Self {
        Self::lit([0.0; 3])
    }

    /// The vector `(s, s, s)`.
    #[inline(always)]
    pub fn splat(s: S) -> Self {
        Self::new(s, s, s)
    }

    /// Inner product.
    #[inline(always)]
    pub fn dot(self, other: Self) -> S {
        self.x * other.x + self.y * other.y + self.z * other.z
    }

    /// Cross product.
    #[inline(always)]
    #[must_use]
    pub fn cross(self, other: Self) -> Self {
        Self::new(
            self.y * other.z - self.z * other.y,
            self.z * other.x - self.x * other.z,
            self.x * other.y - self.y * other.x,
        )
    }

    /// `v . v`
    #[inline(always)]
    pub fn norm_squared(self) -> S {
        self.dot(self)
    }

    /// Length. Its derivatives are infinite or NaN at the zero vector; use [`norm_eps`](Vec3::norm_eps) where that can
    /// be reached.
    #[inline(always)]
    pub fn norm(self) -> S {
        self.norm_squared().sqrt()
    }

    /// Length rounded off at the origin, `sqrt(v . v + eps^2)`: smooth everywhere, equal to `eps` at the zero vector
    /// and larger than the length by at most that.
    #[inline(always)]
    pub fn norm_eps(self, eps: S) -> S {
        (self.norm_squared() + eps * eps).sqrt()
    }

    /// `v / |v|`
    #[inline(always)]
    #[must_use]
    pub fn normalized(self) -> Self {
        self / self.norm()
    }

    /// `a < b ? then : otherwise`, component by component; see [`Scalar::select_lt`].
    #[inline(always)]
    #[must_use]
    pub fn select_lt(a: S, b: S, then: Self, otherwise: Self) -> Self {
        let pick = |then, otherwise| S::select_lt(a, b, then, otherwise);
        Self::new(pick(then.x, otherwise.x), pick(then.y, otherwise.y), pick(then.z, otherwise.z))
    }

    /// This vector times a constant.
    #[inline(always)]
    #[must_use]
    pub fn scale(self, factor: f64) -> Self {
        Self::new(self.x * factor, self.y * factor, self.z * factor)
    }

    /// Outer product, the matrix `v w^T`.
    #[inline(always)]
    pub fn outer(self, w: Self) -> Mat3<S> {
        Mat3::from_columns(self * w.x, self * w.y, self * w.z)
    }
}

impl<S> From<[S; 3]> for Vec3<S> {
    #[inline(always)]
    fn from([x, y, z]: [S; 3]) -> Self {
        Self { x, y, z }
    }
}

impl<S> From<Vec3<S>> for [S; 3] {
    #[inline(always)]
    fn from(v: Vec3<S>) -> Self {
        v.to_array()
    }
}

impl<S> Index<usize> for Vec3<S> {
    type Output = S;

    #[inline(always)]
    fn index(&self, axis: usize) -> &S {
        match axis {
            0 => &self.x,
            1 => &self.y,
            2 => &self.z,
            _ => panic!("a Vec3 has components 0 to 2, not {axis}"),
        }
    }
}

impl<S> IndexMut<usize> for Vec3<S> {
    #[inline(always)]
    fn index_mut(&mut self, axis: usize) -> &mut S {
        match axis {
            0 => &mut self.x,
            1 => &mut self.y,
            2 => &mut self.z,
            _ => panic!("a Vec3 has components 0 to 2, not {axis}"),
        }
    }
}

impl<S: Scalar> Add for Vec3<S> {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self::new(self.x + other.x, self.y + other.y, self.z + other.z)
    }
}

impl<S: Scalar> Sub for Vec3<S> {
    type Output = Self;

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self::new(self.x - other.x, self.y - other.y, self.z - other.z)
    }
}

impl<S: Scalar> Neg for Vec3<S> {
    type Output = Self;

    #[inline(always)]
    fn neg(self) -> Self {
        Self::new(-self.x, -self.y, -self.z)
    }
}

impl<S: Scalar> Mul<S> for Vec3<S> {
    type Output = Self;

    #[inline(always)]
    fn mul(self, factor: S) -> Self {
        Self::new(self.x * factor, self.y * factor, self.z * factor)
    }
}

impl<S: Scalar> Div<S> for Vec3<S> {
    type Output = Self;

    #[inline(always)]
    fn div(self, divisor: S) -> Self {
        Self::new(self.x / divisor, self.y / divisor, self.z / divisor)
    }
}

impl<S: Scalar> AddAssign for Vec3<S> {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl<S: Scalar> SubAssign for Vec3<S> {
    #[inline(always)]
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Vec3<f64> = Vec3::new(1.0, -2.0, 3.0);
    const B: Vec3<f64> = Vec3::new(0.5, 4.0, -1.0);

    #[test]
    fn cross_product_is_normal_to_both_factors() {
        let n = A.cross(B);
        assert_eq!(n, Vec3::new(-10.0, 2.5, 5.0));
        assert_eq!((n.dot(A), n.dot(B)), (0.0, 0.0));
    }

    #[test]
    fn norms() {
        let v = Vec3::new(2.0, 3.0, 6.0);
        assert_eq!(v.norm(), 7.0);
        assert_eq!(v.normalized(), Vec3::new(2.0 / 7.0, 3.0 / 7.0, 6.0 / 7.0));
        assert_eq!(Vec3::zero().norm_eps(0.25), 0.25);
    }

    #[test]
    fn outer_product_maps_by_its_right_factor() {
        assert_eq!(A.outer(B) * B, A * B.norm_squared());
    }

    #[test]
    fn components_by_index() {
        let mut v = A;
        v[2] = 7.0;
        assert_eq!([v[0], v[1], v[2]], [1.0, -2.0, 7.0]);
        assert_eq!(Vec3::from([1.0, -2.0, 3.0]), A);
    }
}
