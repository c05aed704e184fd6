//! Sparse Cholesky on the block pattern, through faer.

use crate::dissection::Dissection;
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
/// Each factorisation runs on one thread, where a second one inside gains nothing at these sizes; a large pattern is
/// dissected, and its parts run side by side. The split depends on the pattern alone, so the bits do too.
#[derive(Default)]
pub struct SparseCholesky {
    version: u64,
    factor: Option<Factor>,
}

/// The pattern in one piece, or in parts that are factorised side by side.
enum Factor {
    Whole(Box<Whole>),
    Parts(Box<Dissection>),
}

/// Vertices from which on a pattern is dissected: below, one thread is as fast.
const DISSECTED: usize = 1500;

struct Whole {
    starts: Vec<usize>,
    rows: Vec<usize>,
    factor: SymbolicCholesky<usize>,
    values: Vec<f64>,
    factor_work: MemBuffer,
    solve_work: MemBuffer,
}

const PAR: Par = Par::Seq;

impl SparseCholesky {
    /// Analyses the pattern unless `version` is the one analysed last.
    pub(crate) fn analyse(&mut self, pattern: &Pattern, version: u64) -> Result<(), SolveError> {
        if self.factor.is_some() && self.version == version {
            return Ok(());
        }
        self.factor = Some(if pattern.len() >= DISSECTED {
            Factor::Parts(Box::new(Dissection::analyse(pattern)?))
        } else {
            Factor::Whole(Box::new(Whole::analyse(pattern)?))
        });
        self.version = version;
        Ok(())
    }

    /// Factorises the matrix whose lower triangle is `values`; [`Self::analyse`] must have seen its pattern.
    pub(crate) fn factorise(&mut self, values: &[f64]) -> Result<(), SolveError> {
        match self.factor.as_mut().expect("analysed before it is factorised") {
            Factor::Whole(whole) => whole.factorise(values),
            Factor::Parts(parts) => parts.factorise(values),
        }
    }

    /// Solves in place with the last factor.
    pub(crate) fn solve(&mut self, x: &mut [f64]) {
        match self.factor.as_mut().expect("factorised before it solves") {
            Factor::Whole(whole) => whole.solve(x),
            Factor::Parts(parts) => parts.solve(x),
        }
    }

    /// Numbers stored in the factor.
    pub fn factor_len(&self) -> usize {
        match &self.factor {
            None => 0,
            Some(Factor::Whole(whole)) => whole.values.len(),
            Some(Factor::Parts(parts)) => parts.factor_len(),
        }
    }
}

impl Whole {
    fn analyse(pattern: &Pattern) -> Result<Self, SolveError> {
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
            .map_err(out_of_memory)?;
        let values = vec![0.0; factor.len_val()];
        let spec: Spec<LltParams, f64> = Spec::default();
        let factor_work =
            MemBuffer::try_new(factor.factorize_numeric_llt_scratch::<f64>(PAR, spec))
                .map_err(out_of_memory)?;
        let solve_work = MemBuffer::try_new(factor.solve_in_place_scratch::<f64>(1, PAR))
            .map_err(out_of_memory)?;
        Ok(Self { starts, rows, factor, values, factor_work, solve_work })
    }

    fn factorise(&mut self, values: &[f64]) -> Result<(), SolveError> {
        let n = self.starts.len() - 1;
        let symbolic = SymbolicSparseColMatRef::new_checked(n, n, &self.starts, None, &self.rows);
        self.factor
            .factorize_numeric_llt(
                &mut self.values,
                SparseColMatRef::new(symbolic, values),
                Side::Lower,
                LltRegularization::default(),
                PAR,
                MemStack::new(&mut self.factor_work),
                Spec::<LltParams, f64>::default(),
            )
            .map_err(|_| SolveError::NotPositiveDefinite)?;
        Ok(())
    }

    fn solve(&mut self, x: &mut [f64]) {
        let n = x.len();
        LltRef::new(&self.factor, &self.values).solve_in_place_with_conj(
            Conj::No,
            MatMut::from_column_major_slice_mut(x, n, 1),
            PAR,
            MemStack::new(&mut self.solve_work),
        );
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
    let (forward, inverse) = amd_order(n, &starts, &rows)?;
    let expand =
        |order: &[usize]| order.iter().flat_map(|&v| [3 * v, 3 * v + 1, 3 * v + 2]).collect();
    Ok((expand(&forward), expand(&inverse)))
}

/// Approximate minimum degree order of a graph given by its lower triangle: (forward, inverse).
pub(crate) fn amd_order(
    n: usize,
    starts: &[usize],
    rows: &[usize],
) -> Result<(Vec<usize>, Vec<usize>), SolveError> {
    let graph = SymbolicSparseColMatRef::new_checked(n, n, starts, None, rows);
    let (mut forward, mut inverse) = (vec![0; n], vec![0; n]);
    let mut memory =
        MemBuffer::try_new(amd::order_scratch::<usize>(n, rows.len())).map_err(out_of_memory)?;
    amd::order(
        &mut forward,
        &mut inverse,
        graph,
        amd::Control::default(),
        MemStack::new(&mut memory),
    )
    .map_err(out_of_memory)?;
    Ok((forward, inverse))
}

pub(crate) fn out_of_memory(error: impl std::fmt::Debug) -> SolveError {
    SolveError::OutOfMemory(format!("{error:?}"))
}
