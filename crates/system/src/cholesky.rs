//! Sparse Cholesky on the block pattern, through faer.

use crate::pattern::Pattern;
use crate::solver::SolveError;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{LltParams, LltRegularization};
use faer::perm::PermRef;
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, LltRef, SymbolicCholesky, SymmetricOrdering,
    factorize_symbolic_cholesky,
};
use faer::sparse::linalg::{SupernodalThreshold, amd};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Conj, MatMut, Par, Side, Spec};

/// Factorises and solves; keeps the symbolic factorisation for as long as the pattern stays.
///
/// The fill-reducing order is approximate minimum degree on the vertex graph, three degrees of freedom at a time.
/// One thread: at these sizes a second one gains nothing, and one thread gives the same bits everywhere.
#[derive(Default)]
pub struct SparseCholesky {
    symbolic: Option<Symbolic>,
}

struct Symbolic {
    version: u64,
    starts: Vec<usize>,
    rows: Vec<usize>,
    factor: SymbolicCholesky<usize>,
    values: Vec<f64>,
    factor_work: MemBuffer,
    solve_work: MemBuffer,
}

const PAR: Par = Par::Seq;

impl SparseCholesky {
    /// Analyses the pattern unless `version` is the one analysed last. Returns whether it did.
    pub(crate) fn analyse(&mut self, pattern: &Pattern, version: u64) -> Result<bool, SolveError> {
        if self.symbolic.as_ref().is_some_and(|s| s.version == version) {
            return Ok(false);
        }
        let (starts, rows) = pattern.scalar_layout();
        let n = 3 * pattern.len();
        let (forward, inverse) = block_order(pattern)?;
        let matrix = SymbolicSparseColMatRef::new_checked(n, n, &starts, None, &rows);
        let parameters = CholeskySymbolicParams {
            supernodal_flop_ratio_threshold: SupernodalThreshold::AUTO,
            ..CholeskySymbolicParams::default()
        };
        let order = SymmetricOrdering::Custom(PermRef::new_checked(&forward, &inverse, n));
        let factor = factorize_symbolic_cholesky(matrix, Side::Lower, order, parameters)
            .map_err(|e| SolveError::OutOfMemory(format!("{e:?}")))?;
        let values = vec![0.0; factor.len_val()];
        let spec: Spec<LltParams, f64> = Spec::default();
        let factor_work = MemBuffer::try_new(factor.factorize_numeric_llt_scratch::<f64>(PAR, spec))
            .map_err(|e| SolveError::OutOfMemory(format!("{e:?}")))?;
        let solve_work = MemBuffer::try_new(factor.solve_in_place_scratch::<f64>(1, PAR))
            .map_err(|e| SolveError::OutOfMemory(format!("{e:?}")))?;
        self.symbolic =
            Some(Symbolic { version, starts, rows, factor, values, factor_work, solve_work });
        Ok(true)
    }

    /// Factorises the matrix whose lower triangle is `values`; [`Self::analyse`] must have seen its pattern.
    pub(crate) fn factorise(&mut self, values: &[f64]) -> Result<(), SolveError> {
        let s = self.symbolic.as_mut().expect("analysed before it is factorised");
        let n = s.starts.len() - 1;
        let symbolic = SymbolicSparseColMatRef::new_checked(n, n, &s.starts, None, &s.rows);
        s.factor
            .factorize_numeric_llt(
                &mut s.values,
                SparseColMatRef::new(symbolic, values),
                Side::Lower,
                LltRegularization::default(),
                PAR,
                MemStack::new(&mut s.factor_work),
                Spec::<LltParams, f64>::default(),
            )
            .map_err(|_| SolveError::NotPositiveDefinite)?;
        Ok(())
    }

    /// Solves in place with the last factor.
    pub(crate) fn solve(&mut self, x: &mut [f64]) {
        let s = self.symbolic.as_mut().expect("factorised before it solves");
        let n = x.len();
        LltRef::new(&s.factor, &s.values).solve_in_place_with_conj(
            Conj::No,
            MatMut::from_column_major_slice_mut(x, n, 1),
            PAR,
            MemStack::new(&mut s.solve_work),
        );
    }

    /// Non-zeros of the factor.
    pub fn factor_len(&self) -> usize {
        self.symbolic.as_ref().map_or(0, |s| s.values.len())
    }
}

/// Approximate minimum degree order of the vertices, expanded to degrees of freedom: (forward, inverse).
fn block_order(pattern: &Pattern) -> Result<(Vec<usize>, Vec<usize>), SolveError> {
    let n = pattern.len();
    let mut starts = Vec::with_capacity(n + 1);
    let mut rows = Vec::with_capacity(pattern.block_count());
    for j in 0..n {
        starts.push(rows.len());
        rows.extend(pattern.rows(j).iter().map(|&r| r as usize));
    }
    starts.push(rows.len());
    let graph = SymbolicSparseColMatRef::new_checked(n, n, &starts, None, &rows);
    let (mut forward, mut inverse) = (vec![0; n], vec![0; n]);
    let mut memory = MemBuffer::try_new(amd::order_scratch::<usize>(n, rows.len()))
        .map_err(|e| SolveError::OutOfMemory(format!("{e:?}")))?;
    amd::order(&mut forward, &mut inverse, graph, amd::Control::default(), MemStack::new(&mut memory))
        .map_err(|e| SolveError::OutOfMemory(format!("{e:?}")))?;
    let expand = |order: &[usize]| order.iter().flat_map(|&v| [3 * v, 3 * v + 1, 3 * v + 2]).collect();
    Ok((expand(&forward), expand(&inverse)))
}
