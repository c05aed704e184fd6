//! Eigen-decomposition of symmetric 3x3 matrices.

use gusset_energy::{Mat3, Vec3};

/// Eigenvalues and, as columns, unit eigenvectors of a symmetric matrix, by Jacobi's rotations: exact to rounding also
/// where eigenvalues are equal, as they are at rest, and fast where the matrix is nearly diagonal, as it is near rest.
#[inline]
pub(crate) fn symmetric(m: [[f64; 3]; 3]) -> ([f64; 3], Mat3<f64>) {
    let mut d = [m[0][0], m[1][1], m[2][2]];
    // Entries off the diagonal by the axis that they lie across: 23, 31, 12.
    let mut off = [m[1][2], m[2][0], m[0][1]];
    let mut axes = Mat3::identity().columns;
    for _ in 0..16 {
        let size = d[0].abs() + d[1].abs() + d[2].abs();
        let rest = off[0].abs() + off[1].abs() + off[2].abs();
        if rest <= 0.5 * f64::EPSILON * size || !rest.is_finite() {
            break;
        }
        for c in 0..3 {
            let (a, b) = ((c + 1) % 3, (c + 2) % 3);
            if off[c] == 0.0 {
                continue;
            }
            // The smaller rotation in the plane (a, b) that takes off[c] to 0 (Golub and Van Loan, section 8.5).
            let tau = (d[b] - d[a]) / (2.0 * off[c]);
            let t = 1.0_f64.copysign(tau) / (tau.abs() + (1.0 + tau * tau).sqrt());
            let cos = 1.0 / (1.0 + t * t).sqrt();
            let sin = t * cos;
            d[a] -= t * off[c];
            d[b] += t * off[c];
            off[c] = 0.0;
            // off[b] is entry (c, a), off[a] is entry (b, c).
            (off[b], off[a]) = (cos * off[b] - sin * off[a], sin * off[b] + cos * off[a]);
            (axes[a], axes[b]) = (axes[a] * cos - axes[b] * sin, axes[a] * sin + axes[b] * cos);
        }
    }
    (d, Mat3 { columns: axes })
}

/// The matrix with these eigenvalues and eigenvectors.
pub(crate) fn compose(values: [f64; 3], axes: Mat3<f64>) -> Mat3<f64> {
    let scaled = Mat3 { columns: std::array::from_fn(|k| axes.columns[k] * values[k]) };
    scaled * axes.transpose()
}

/// `values` and `axes` with the values in falling order.
pub(crate) fn sorted(values: [f64; 3], axes: Mat3<f64>) -> ([f64; 3], [Vec3<f64>; 3]) {
    let mut pairs: [(f64, Vec3<f64>); 3] = std::array::from_fn(|k| (values[k], axes.columns[k]));
    for (i, j) in [(0, 1), (1, 2), (0, 1)] {
        if pairs[i].0 < pairs[j].0 {
            pairs.swap(i, j);
        }
    }
    (pairs.map(|p| p.0), pairs.map(|p| p.1))
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
        assert_eq!(symmetric([[0.0; 3]; 3]).0, [0.0; 3]);
    }
}
