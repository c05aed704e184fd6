//! Small matrices, stored by column.

use std::ops::{Add, Div, Mul, Neg, Sub};

use crate::{Scalar, Vec3};

/// A 3 by 3 matrix.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct Mat3<S> {
    /// The columns, left to right.
    pub columns: [Vec3<S>; 3],
}

impl<S: Scalar> Mat3<S> {
    /// The matrix with these columns.
    #[inline(always)]
    pub fn from_columns(c0: Vec3<S>, c1: Vec3<S>, c2: Vec3<S>) -> Self {
        Self { columns: [c0, c1, c2] }
    }

    /// The matrix with these rows.
    #[inline(always)]
    pub fn from_rows(r0: Vec3<S>, r1: Vec3<S>, r2: Vec3<S>) -> Self {
        Self::from_columns(r0, r1, r2).transpose()
    }

    /// The matrix of zeros.
    #[inline(always)]
    pub fn zero() -> Self {
        Self { columns: [Vec3::zero(); 3] }
    }

    /// The unit matrix.
    #[inline(always)]
    pub fn identity() -> Self {
        Self::from_diagonal(Vec3::splat(S::lit(1.0)))
    }

    /// The matrix with `d` on its diagonal and zeros elsewhere.
    #[inline(always)]
    pub fn from_diagonal(d: Vec3<S>) -> Self {
        let o = S::lit(0.0);
        Self::from_columns(Vec3::new(d.x, o, o), Vec3::new(o, d.y, o), Vec3::new(o, o, d.z))
    }

    /// The entry in `row` and `column`.
    #[inline(always)]
    pub fn entry(&self, row: usize, column: usize) -> S {
        self.columns[column][row]
    }

    /// The transposed matrix.
    #[inline(always)]
    #[must_use]
    pub fn transpose(self) -> Self {
        let [a, b, c] = self.columns;
        Self::from_columns(
            Vec3::new(a.x, b.x, c.x),
            Vec3::new(a.y, b.y, c.y),
            Vec3::new(a.z, b.z, c.z),
        )
    }

    /// Determinant, `a . (b x c)` of the columns.
    #[inline(always)]
    pub fn det(self) -> S {
        let [a, b, c] = self.columns;
        a.dot(b.cross(c))
    }

    /// Sum of the diagonal.
    #[inline(always)]
    pub fn trace(self) -> S {
        let [a, b, c] = self.columns;
        a.x + b.y + c.z
    }

    /// Matrix of cofactors `det(F) F^-T`, the derivative of the determinant by the matrix. Its columns are cross
    /// products of this one's, so it exists for a singular matrix.
    #[inline(always)]
    #[must_use]
    pub fn cofactor(self) -> Self {
        let [a, b, c] = self.columns;
        Self::from_columns(b.cross(c), c.cross(a), a.cross(b))
    }

    /// Inverse; infinite or NaN for a singular matrix.
    #[inline(always)]
    #[must_use]
    pub fn inverse(self) -> Self {
        let cofactor = self.cofactor();
        let det = self.columns[0].dot(cofactor.columns[0]);
        cofactor.transpose() / det
    }

    /// Sum of the squares of all entries.
    #[inline(always)]
    pub fn norm_squared(self) -> S {
        let [a, b, c] = self.columns;
        a.norm_squared() + b.norm_squared() + c.norm_squared()
    }

    /// Sum of the products of matching entries, `tr(A^T B)`.
    #[inline(always)]
    pub fn dot(self, other: Self) -> S {
        let ([a, b, c], [d, e, f]) = (self.columns, other.columns);
        a.dot(d) + b.dot(e) + c.dot(f)
    }
}

// Without closures, which the compiler may leave as functions of their own, compiled for less than their caller is.

impl<S: Scalar> Mul<Vec3<S>> for Mat3<S> {
    type Output = Vec3<S>;

    #[inline(always)]
    fn mul(self, v: Vec3<S>) -> Vec3<S> {
        let [a, b, c] = self.columns;
        a * v.x + b * v.y + c * v.z
    }
}

impl<S: Scalar> Mul for Mat3<S> {
    type Output = Self;

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        let [a, b, c] = other.columns;
        Self::from_columns(self * a, self * b, self * c)
    }
}

impl<S: Scalar> Mul<S> for Mat3<S> {
    type Output = Self;

    #[inline(always)]
    fn mul(self, factor: S) -> Self {
        let [a, b, c] = self.columns;
        Self::from_columns(a * factor, b * factor, c * factor)
    }
}

impl<S: Scalar> Div<S> for Mat3<S> {
    type Output = Self;

    #[inline(always)]
    fn div(self, divisor: S) -> Self {
        let [a, b, c] = self.columns;
        Self::from_columns(a / divisor, b / divisor, c / divisor)
    }
}

impl<S: Scalar> Add for Mat3<S> {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        let ([a, b, c], [d, e, f]) = (self.columns, other.columns);
        Self::from_columns(a + d, b + e, c + f)
    }
}

impl<S: Scalar> Sub for Mat3<S> {
    type Output = Self;

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        let ([a, b, c], [d, e, f]) = (self.columns, other.columns);
        Self::from_columns(a - d, b - e, c - f)
    }
}

impl<S: Scalar> Neg for Mat3<S> {
    type Output = Self;

    #[inline(always)]
    fn neg(self) -> Self {
        let [a, b, c] = self.columns;
        Self::from_columns(-a, -b, -c)
    }
}

/// A 2 by 2 matrix.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct Mat2<S> {
    /// The columns, left to right.
    pub columns: [[S; 2]; 2],
}

impl<S: Scalar> Mat2<S> {
    /// The matrix with these columns.
    #[inline(always)]
    pub fn from_columns(c0: [S; 2], c1: [S; 2]) -> Self {
        Self { columns: [c0, c1] }
    }

    /// The unit matrix.
    #[inline(always)]
    pub fn identity() -> Self {
        let (o, i) = (S::lit(0.0), S::lit(1.0));
        Self::from_columns([i, o], [o, i])
    }

    /// The entry in `row` and `column`.
    #[inline(always)]
    pub fn entry(&self, row: usize, column: usize) -> S {
        self.columns[column][row]
    }

    /// Determinant.
    #[inline(always)]
    pub fn det(self) -> S {
        let [[a, b], [c, d]] = self.columns;
        a * d - b * c
    }

    /// Sum of the diagonal.
    #[inline(always)]
    pub fn trace(self) -> S {
        self.columns[0][0] + self.columns[1][1]
    }

    /// Sum of the squares of all entries.
    #[inline(always)]
    pub fn norm_squared(self) -> S {
        let [[a, b], [c, d]] = self.columns;
        a * a + b * b + c * c + d * d
    }

    /// The transposed matrix.
    #[inline(always)]
    #[must_use]
    pub fn transpose(self) -> Self {
        let [[a, b], [c, d]] = self.columns;
        Self::from_columns([a, c], [b, d])
    }

    /// Inverse; infinite or NaN for a singular matrix.
    #[inline(always)]
    #[must_use]
    pub fn inverse(self) -> Self {
        let det = self.det();
        let [[a, b], [c, d]] = self.columns;
        Self::from_columns([d / det, -b / det], [-c / det, a / det])
    }
}

impl<S: Scalar> Mul for Mat2<S> {
    type Output = Self;

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        let [[a, b], [c, d]] = self.columns;
        Self { columns: other.columns.map(|[u, v]| [a * u + c * v, b * u + d * v]) }
    }
}

/// A 3 by 2 matrix: the deformation gradient of a membrane, from a flat rest shape into space.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct Mat3x2<S> {
    /// The columns, left to right.
    pub columns: [Vec3<S>; 2],
}

impl<S: Scalar> Mat3x2<S> {
    /// The matrix with these columns.
    #[inline(always)]
    pub fn from_columns(c0: Vec3<S>, c1: Vec3<S>) -> Self {
        Self { columns: [c0, c1] }
    }

    /// The symmetric matrix `F^T F` of the columns' inner products (the right Cauchy-Green tensor of a membrane).
    #[inline(always)]
    pub fn gram(self) -> Mat2<S> {
        let [a, b] = self.columns;
        let shear = a.dot(b);
        Mat2::from_columns([a.dot(a), shear], [shear, b.dot(b)])
    }

    /// Sum of the squares of all entries.
    #[inline(always)]
    pub fn norm_squared(self) -> S {
        self.columns[0].norm_squared() + self.columns[1].norm_squared()
    }

    /// Cross product of the columns; its length is the area ratio.
    #[inline(always)]
    pub fn normal(self) -> Vec3<S> {
        self.columns[0].cross(self.columns[1])
    }
}

impl<S: Scalar> Mul<Mat2<S>> for Mat3x2<S> {
    type Output = Self;

    #[inline(always)]
    fn mul(self, other: Mat2<S>) -> Self {
        let [a, b] = self.columns;
        Self { columns: other.columns.map(|[u, v]| a * u + b * v) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Mat3<f64> {
        Mat3::from_columns(
            Vec3::new(2.0, 1.0, 0.0),
            Vec3::new(-1.0, 4.0, 3.0),
            Vec3::new(0.5, 0.0, 2.0),
        )
    }

    #[test]
    fn inverse_times_matrix_is_identity() {
        let f = sample();
        assert_eq!(f.det(), 19.5);
        let off = f * f.inverse() - Mat3::identity();
        assert!(off.norm_squared() < 1e-30, "{off:?}");
    }

    #[test]
    fn cofactor_is_det_times_inverse_transpose() {
        let f = sample();
        let off = f.cofactor() - f.inverse().transpose() * f.det();
        assert!(off.norm_squared() < 1e-28, "{off:?}");
    }

    #[test]
    fn products_agree_with_entries() {
        let f = sample();
        let v = Vec3::new(1.0, 2.0, 3.0);
        assert_eq!(f * v, Vec3::new(1.5, 9.0, 12.0));
        assert_eq!((f * f) * v, f * (f * v));
        assert_eq!(f.transpose().entry(0, 1), f.entry(1, 0));
        assert_eq!(f.trace(), 8.0);
        assert_eq!(f.dot(f), f.norm_squared());
    }

    #[test]
    fn small_inverse() {
        let m = Mat2::from_columns([2.0, 1.0], [-1.0, 3.0]);
        assert_eq!(m.det(), 7.0);
        let p = m * m.inverse();
        for (row, column) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let unit = Mat2::<f64>::identity().entry(row, column);
            assert!((p.entry(row, column) - unit).abs() < 1e-15);
        }
    }

    #[test]
    fn gram_is_the_metric() {
        let f = Mat3x2::from_columns(Vec3::new(1.0, 2.0, 2.0), Vec3::new(0.0, 3.0, 4.0));
        let c = f.gram();
        assert_eq!(c, Mat2::from_columns([9.0, 14.0], [14.0, 25.0]));
        assert_eq!(c.trace(), f.norm_squared());
        // Lagrange: |a x b|^2 = det of the metric.
        assert_eq!(f.normal().norm_squared(), c.det());
    }
}
