//! Positive semi-definite projection of finished element Hessians.

use crate::element::Psd;
use crate::term::{block_count, block_index};
use nalgebra::{Const, DMatrix, SMatrix};

/// Projects one element's Hessian in place.
///
/// `blocks` holds the upper 3x3 blocks of `arity` vertices, row-major, in the order of [`block_index`] (N/m).
/// [`Psd::Exact`] leaves it as it is; the others take the eigen-decomposition of the full symmetric matrix and clamp
/// negative eigenvalues to 0 or take their absolute value.
pub fn project(blocks: &mut [f64], arity: usize, psd: Psd) {
    debug_assert_eq!(blocks.len(), 9 * block_count(arity));
    if psd == Psd::Exact {
        return;
    }
    match arity {
        1 => project_sized::<3>(blocks, arity, psd),
        2 => project_sized::<6>(blocks, arity, psd),
        3 => project_sized::<9>(blocks, arity, psd),
        4 => project_sized::<12>(blocks, arity, psd),
        _ => project_any(blocks, arity, psd),
    }
}

fn mended(value: f64, psd: Psd) -> f64 {
    match psd {
        Psd::Exact => value,
        Psd::Clamp => value.max(0.0),
        Psd::Absolute => value.abs(),
    }
}

/// Calls `put(row, column, position in blocks)` for every entry of the full matrix.
fn entries(arity: usize, mut put: impl FnMut(usize, usize, usize)) {
    for i in 0..arity {
        for j in i..arity {
            let block = 9 * block_index(arity, i, j);
            for r in 0..3 {
                for c in 0..3 {
                    put(3 * i + r, 3 * j + c, block + 3 * r + c);
                }
            }
        }
    }
}

fn project_sized<const D: usize>(blocks: &mut [f64], arity: usize, psd: Psd)
where
    Const<D>: nalgebra::DimSub<nalgebra::U1> + nalgebra::DimName,
    nalgebra::DefaultAllocator: nalgebra::allocator::Allocator<Const<D>>
        + nalgebra::allocator::Allocator<nalgebra::DimDiff<Const<D>, nalgebra::U1>>
        + nalgebra::allocator::Allocator<
            Const<D>,
            Const<D>,
            Buffer<f64> = nalgebra::ArrayStorage<f64, D, D>,
        >,
{
    let mut matrix = SMatrix::<f64, D, D>::zeros();
    entries(arity, |r, c, k| {
        matrix[(r, c)] = blocks[k];
        matrix[(c, r)] = blocks[k];
    });
    if matrix.clone_owned().cholesky().is_some() || !matrix.iter().all(|v| v.is_finite()) {
        return; // already positive definite, or poisoned: the solver reports the latter by name
    }
    let eigen = matrix.symmetric_eigen();
    let scaled = SMatrix::<f64, D, D>::from_fn(|r, c| {
        eigen.eigenvectors[(r, c)] * mended(eigen.eigenvalues[c], psd)
    });
    let result = scaled * eigen.eigenvectors.transpose();
    entries(arity, |r, c, k| blocks[k] = 0.5 * (result[(r, c)] + result[(c, r)]));
}

fn project_any(blocks: &mut [f64], arity: usize, psd: Psd) {
    let d = 3 * arity;
    let mut matrix = DMatrix::<f64>::zeros(d, d);
    entries(arity, |r, c, k| {
        matrix[(r, c)] = blocks[k];
        matrix[(c, r)] = blocks[k];
    });
    if !matrix.iter().all(|v| v.is_finite()) {
        return;
    }
    let eigen = matrix.symmetric_eigen();
    let values = eigen.eigenvalues.map(|v| mended(v, psd));
    let result =
        &eigen.eigenvectors * DMatrix::from_diagonal(&values) * eigen.eigenvectors.transpose();
    entries(arity, |r, c, k| blocks[k] = 0.5 * (result[(r, c)] + result[(c, r)]));
}
