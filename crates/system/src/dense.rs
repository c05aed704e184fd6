//! Dense Cholesky: small systems, and the cross-check of the sparse one.

use crate::pattern::Pattern;
use crate::solver::SolveError;
use nalgebra::{Cholesky, DMatrix, DVectorViewMut, Dyn};

/// Factorises the full matrix; `O(n^3)` time and `8 (3n)^2` bytes.
#[derive(Default)]
pub struct DenseCholesky {
    factor: Option<Cholesky<f64, Dyn>>,
}

impl DenseCholesky {
    pub(crate) fn factorise(
        &mut self,
        pattern: &Pattern,
        values: &[f64],
    ) -> Result<(), SolveError> {
        let n = 3 * pattern.len();
        let mut matrix = DMatrix::zeros(n, n);
        let (starts, rows) = pattern.scalar_layout();
        for column in 0..n {
            for k in starts[column]..starts[column + 1] {
                matrix[(rows[k], column)] = values[k];
                matrix[(column, rows[k])] = values[k];
            }
        }
        self.factor = Some(Cholesky::new(matrix).ok_or(SolveError::NotPositiveDefinite)?);
        Ok(())
    }

    pub(crate) fn solve(&self, x: &mut [f64]) {
        let n = x.len();
        let factor = self.factor.as_ref().expect("factorised before it solves");
        factor.solve_mut(&mut DVectorViewMut::from_slice(x, n));
    }
}
