//! Eigen-decomposition of symmetric 3x3 matrices.

use gusset_energy::{Mat3, Scalar, Vec3};

/// Rounds of rotations: convergence is quadratic, and the last of them finds nothing to do for any matrix.
const ROUNDS: usize = 8;

/// Eigenvalues and, as columns, unit eigenvectors of a symmetric matrix, by Jacobi's rotations: exact to rounding also
/// where eigenvalues are equal, as they are at rest, and fast where the matrix is nearly diagonal, as it is near rest.
#[inline]
pub(crate) fn symmetric<S: Scalar>(m: [[S; 3]; 3]) -> ([S; 3], Mat3<S>) {
    let (zero, one) = (S::lit(0.0), S::lit(1.0));
    let mut d = [m[0][0], m[1][1], m[2][2]];
    // Entries off the diagonal by the axis that they lie across: 23, 31, 12.
    let mut off = [m[1][2], m[2][0], m[0][1]];
    let mut axes = Mat3::identity().columns;
    for _ in 0..ROUNDS {
        let size = d[0].abs() + d[1].abs() + d[2].abs();
        let rest = off[0].abs() + off[1].abs() + off[2].abs();
        if S::known_le(rest, size * (0.5 * f64::EPSILON)) {
            break;
        }
        for c in 0..3 {
            let (a, b) = ((c + 1) % 3, (c + 2) % 3);
            if S::known_le(off[c].abs(), zero) {
                continue;
            }
            // The smaller rotation in the plane (a, b) that takes off[c] to 0 (Golub and Van Loan, section 8.5).
            let tau = (d[b] - d[a]) / (off[c] * 2.0);
            let t = S::select_lt(tau, zero, -one, one) / (tau.abs() + (tau * tau + 1.0).sqrt());
            let t = S::select_lt(zero, off[c].abs(), t, zero);
            let cos = (t * t + 1.0).sqrt().recip();
            let sin = t * cos;
            let shift = t * off[c];
            (d[a], d[b]) = (d[a] - shift, d[b] + shift);
            off[c] = zero;
            // off[b] is entry (c, a), off[a] is entry (b, c).
            (off[b], off[a]) = (cos * off[b] - sin * off[a], sin * off[b] + cos * off[a]);
            (axes[a], axes[b]) = (axes[a] * cos - axes[b] * sin, axes[a] * sin + axes[b] * cos);
        }
    }
    (d, Mat3 { columns: axes })
}

/// The matrix with these eigenvalues and eigenvectors.
pub(crate) fn compose<S: Scalar>(values: [S; 3], axes: Mat3<S>) -> Mat3<S> {
    let scaled = Mat3 { columns: std::array::from_fn(|k| axes.columns[k] * values[k]) };
    scaled * axes.transpose()
}

/// `values` and `axes` with the values in falling order.
pub(crate) fn sorted<S: Scalar>(values: [S; 3], axes: Mat3<S>) -> ([S; 3], [Vec3<S>; 3]) {
    let (mut values, mut axes) = (values, axes.columns);
    for (i, j) in [(0, 1), (1, 2), (0, 1)] {
        let ([v, w], [a, b]) = ([values[i], values[j]], [axes[i], axes[j]]);
        if S::known_le(w, v) {
            continue;
        }
        (axes[i], axes[j]) = (Vec3::select_lt(v, w, b, a), Vec3::select_lt(v, w, a, b));
        (values[i], values[j]) = (S::select_lt(v, w, w, v), S::select_lt(v, w, v, w));
    }
    (values, axes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gusset_energy::check::Random;

    #[test]
    fn rebuilds_the_matrix_from_orthonormal_axes() {
        let mut random = Random::new(11);
        for k in 0..600 {
            let spread = [1.0, 1e-3, 1e-9][k % 3];
            let mut entry = || random.within(-spread, spread);
            let (x, y, z) = (entry(), entry(), entry());
            let m = [[1.0 + entry(), x, z], [x, 1.0 + entry(), y], [z, y, 1.0 + entry()]];
            let (values, axes) = symmetric(m);
            let rebuilt = compose(values, axes);
            for r in 0..3 {
                for c in 0..3 {
                    assert!((rebuilt.entry(r, c) - m[r][c]).abs() < 4e-15, "{m:?}");
                }
            }
            let off = axes * axes.transpose() - Mat3::identity();
            assert!(off.norm_squared().sqrt() < 4e-15);
            let (values, _) = sorted(values, axes);
            assert!(values[0] >= values[1] && values[1] >= values[2]);
        }
        assert_eq!(symmetric([[0.0_f64; 3]; 3]).0, [0.0; 3]);
    }
}
