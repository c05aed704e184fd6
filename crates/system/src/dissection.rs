//! Sparse Cholesky in parts that are factorised side by side.
//!
//! A level set of a breadth-first search separates the vertices into parts that don't touch each other. With the separator
//! last,
//!
//! ```text
//!     | A1      B1' |        x_s = S^-1 (b_s - sum_k B_k A_k^-1 b_k)
//! H = |     A2  B2' |        x_k = A_k^-1 (b_k - B_k' x_s)
//!     | B1  B2  C   |        S   = C - sum_k B_k A_k^-1 B_k'
//! ```
//!
//! Each part is factorised as `[A_k, B_k'; B_k, sigma I]` with `sigma` above the largest eigenvalue of `C`, so that it is
//! positive definite whenever `H` is; the last diagonal block of its factor, times its transpose, is
//! `sigma I - B_k A_k^-1 B_k'`, which gives the Schur complement `S` without another solve. The split depends on the
//! pattern alone, so the result has the same bits whether the parts run on one thread or on two.

use crate::cholesky::{amd_order, out_of_memory};
use crate::pattern::Pattern;
use crate::solver::SolveError;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{LltParams, LltRegularization};
use faer::linalg::matmul::matmul;
use faer::sparse::linalg::SupernodalThreshold;
use faer::sparse::linalg::cholesky::supernodal::{
    SupernodalLltRef, SymbolicSupernodalCholesky, factorize_supernodal_numeric_llt,
    factorize_supernodal_numeric_llt_scratch,
};
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, SymbolicCholesky, SymbolicCholeskyRaw, SymmetricOrdering,
    factorize_symbolic_cholesky,
};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Accum, Conj, Mat, MatMut, Par, Side, Spec};
use rayon::prelude::*;

const PAR: Par = Par::Seq;

/// Marks the diagonal entries of the separator in a part's source list.
const SIGMA: u32 = u32::MAX;

/// Both parts, the separator, and the factor of its Schur complement.
pub(crate) struct Dissection {
    parts: Vec<Part>,
    /// Free indices of the separator.
    separator: Vec<u32>,
    /// Positions of the separator's own block in the matrix: (row, column, value).
    inner: Vec<(u32, u32, u32)>,
    schur: Mat<f64>,
    schur_work: MemBuffer,
}

/// One part with the separator behind it.
struct Part {
    /// Free indices in elimination order, without the separator.
    vertices: Vec<u32>,
    starts: Vec<usize>,
    rows: Vec<usize>,
    /// For each value of the part's matrix, where it stands in the whole one.
    sources: Vec<u32>,
    symbolic: SymbolicCholesky<usize>,
    matrix: Vec<f64>,
    factor: Vec<f64>,
    factor_work: MemBuffer,
    solve_work: MemBuffer,
    /// Last diagonal block of the factor.
    last: Mat<f64>,
    x: Vec<f64>,
}

impl Dissection {
    /// Splits the pattern and analyses the parts.
    pub(crate) fn analyse(pattern: &Pattern) -> Result<Self, SolveError> {
        let neighbours = Neighbours::new(pattern);
        let (sides, separator) = split(&neighbours);
        let mut local = vec![u32::MAX; pattern.len()];
        let parts = sides
            .into_iter()
            .map(|side| Part::analyse(pattern, &neighbours, &side, &separator, &mut local))
            .collect::<Result<Vec<_>, _>>()?;
        for (k, &v) in separator.iter().enumerate() {
            local[v as usize] = k as u32;
        }
        let mut inner = Vec::new();
        for (k, &v) in separator.iter().enumerate() {
            for &row in pattern.rows(v as usize) {
                if let Ok(i) = separator.binary_search(&row) {
                    for_block(pattern, row, v, |r, c, source| {
                        inner.push((3 * i as u32 + r, 3 * k as u32 + c, source));
                    });
                }
            }
        }
        let n = 3 * separator.len();
        let scratch = faer::linalg::cholesky::llt::factor::cholesky_in_place_scratch::<f64>(
            n,
            PAR,
            Spec::<LltParams, f64>::default(),
        );
        Ok(Self {
            parts,
            separator,
            inner,
            schur: Mat::zeros(n, n),
            schur_work: MemBuffer::try_new(scratch).map_err(out_of_memory)?,
        })
    }

    pub(crate) fn factorise(&mut self, values: &[f64]) -> Result<(), SolveError> {
        let n = 3 * self.separator.len();
        self.schur.fill(0.0);
        let mut row_sums = vec![0.0; n];
        for &(row, column, source) in &self.inner {
            let (r, c, value) = (row as usize, column as usize, values[source as usize]);
            self.schur[(r, c)] = value;
            row_sums[r] += value.abs();
            if r != c {
                row_sums[c] += value.abs();
            }
        }
        let sigma = 1.01 * row_sums.iter().fold(0.0_f64, |a, b| a.max(*b));
        self.parts.par_iter_mut().try_for_each(|part| part.factorise(values, sigma))?;
        for part in &self.parts {
            matmul(
                self.schur.as_mut(),
                Accum::Add,
                part.last.as_ref(),
                part.last.transpose(),
                1.0,
                PAR,
            );
        }
        for k in 0..n {
            self.schur[(k, k)] -= sigma * self.parts.len() as f64;
        }
        faer::linalg::cholesky::llt::factor::cholesky_in_place(
            self.schur.as_mut(),
            LltRegularization::default(),
            PAR,
            MemStack::new(&mut self.schur_work),
            Spec::<LltParams, f64>::default(),
        )
        .map_err(|_| SolveError::NotPositiveDefinite)?;
        Ok(())
    }

    pub(crate) fn solve(&mut self, x: &mut [f64]) {
        self.parts.par_iter_mut().for_each(|part| part.forward(x));
        let n = 3 * self.separator.len();
        let mut shared: Vec<f64> = Vec::with_capacity(n);
        for &v in &self.separator {
            shared.extend_from_slice(&x[3 * v as usize..][..3]);
        }
        for part in &self.parts {
            let tail = &part.x[3 * part.vertices.len()..];
            for c in 0..n {
                for r in c..n {
                    shared[r] += part.last[(r, c)] * tail[c];
                }
            }
        }
        let column = MatMut::from_column_major_slice_mut(&mut shared, n, 1);
        faer::linalg::triangular_solve::solve_lower_triangular_in_place(
            self.schur.as_ref(),
            column,
            PAR,
        );
        let column = MatMut::from_column_major_slice_mut(&mut shared, n, 1);
        faer::linalg::triangular_solve::solve_upper_triangular_in_place(
            self.schur.transpose(),
            column,
            PAR,
        );
        self.parts.par_iter_mut().for_each(|part| part.backward(&shared));
        for part in &self.parts {
            for (v, from) in part.vertices.iter().zip(part.x.chunks_exact(3)) {
                x[3 * *v as usize..][..3].copy_from_slice(from);
            }
        }
        for (v, from) in self.separator.iter().zip(shared.chunks_exact(3)) {
            x[3 * *v as usize..][..3].copy_from_slice(from);
        }
    }

    /// Values of all factors.
    pub(crate) fn factor_len(&self) -> usize {
        self.parts.iter().map(|p| p.factor.len()).sum::<usize>() + self.schur.nrows().pow(2)
    }
}

impl Part {
    fn analyse(
        pattern: &Pattern,
        neighbours: &Neighbours,
        side: &[u32],
        separator: &[u32],
        local: &mut [u32],
    ) -> Result<Self, SolveError> {
        let vertices = neighbours.minimum_degree(side, separator, local)?;
        let all: Vec<u32> = vertices.iter().chain(separator).copied().collect();
        for (k, &v) in all.iter().enumerate() {
            local[v as usize] = k as u32;
        }
        let (mut starts, mut rows, mut sources) = (Vec::new(), Vec::new(), Vec::new());
        let mut below: Vec<(u32, u32)> = Vec::new();
        for (j, &v) in all.iter().enumerate() {
            below.clear();
            if j < vertices.len() {
                let mine = neighbours.of(v).iter().map(|&w| (local[w as usize], w));
                below.extend(mine.filter(|(k, _)| *k != u32::MAX && *k as usize > j));
                below.sort_unstable();
            }
            for c in 0..3 {
                starts.push(rows.len());
                for r in c..3 {
                    if j < vertices.len() {
                        rows.push(3 * j + r);
                        sources.push(source(pattern, v, v, r, c));
                    } else if r == c {
                        rows.push(3 * j + r);
                        sources.push(SIGMA);
                    }
                }
                for &(k, w) in &below {
                    for r in 0..3 {
                        rows.push(3 * k as usize + r);
                        sources.push(source(pattern, w, v, r, c));
                    }
                }
            }
        }
        starts.push(rows.len());
        for &v in &all {
            local[v as usize] = u32::MAX;
        }
        let n = 3 * all.len();
        let matrix = SymbolicSparseColMatRef::new_checked(n, n, &starts, None, &rows);
        let symbolic = factorize_symbolic_cholesky(
            matrix,
            Side::Lower,
            // The order is made above; a custom one, since the analysis wants the transposed triangle that this makes.
            SymmetricOrdering::Custom(faer::perm::PermRef::new_checked(
                &(0..n).collect::<Vec<_>>(),
                &(0..n).collect::<Vec<_>>(),
                n,
            )),
            CholeskySymbolicParams {
                supernodal_flop_ratio_threshold: SupernodalThreshold::FORCE_SUPERNODAL,
                ..CholeskySymbolicParams::default()
            },
        )
        .map_err(|e| SolveError::OutOfMemory(format!("{e:?}")))?;
        let spec = Spec::<LltParams, f64>::default();
        let supernodes = supernodal(&symbolic);
        let factor_work =
            factorize_supernodal_numeric_llt_scratch::<usize, f64>(supernodes, PAR, spec);
        let solve_work = supernodes.solve_in_place_scratch::<f64>(1, PAR);
        let last = 3 * separator.len();
        Ok(Self {
            matrix: vec![0.0; rows.len()],
            factor: vec![0.0; supernodes.len_val()],
            factor_work: MemBuffer::try_new(factor_work).map_err(out_of_memory)?,
            solve_work: MemBuffer::try_new(solve_work).map_err(out_of_memory)?,
            last: Mat::zeros(last, last),
            x: vec![0.0; n],
            vertices,
            starts,
            rows,
            sources,
            symbolic,
        })
    }

    fn factorise(&mut self, values: &[f64], sigma: f64) -> Result<(), SolveError> {
        for (to, &from) in self.matrix.iter_mut().zip(&self.sources) {
            *to = if from == SIGMA { sigma } else { values[from as usize] };
        }
        let n = self.starts.len() - 1;
        let symbolic = SymbolicSparseColMatRef::new_checked(n, n, &self.starts, None, &self.rows);
        let supernodes = supernodal(&self.symbolic);
        factorize_supernodal_numeric_llt(
            &mut self.factor,
            SparseColMatRef::new(symbolic, &self.matrix),
            LltRegularization::default(),
            supernodes,
            PAR,
            MemStack::new(&mut self.factor_work),
            Spec::<LltParams, f64>::default(),
        )
        .map_err(|_| SolveError::NotPositiveDefinite)?;
        self.last.fill(0.0);
        let first = 3 * self.vertices.len();
        let factor = SupernodalLltRef::new(supernodes, &self.factor);
        for s in (0..supernodes.n_supernodes()).rev() {
            let node = factor.supernode(s);
            let (start, block) = (node.start(), node.val());
            if start + block.ncols() <= first {
                break;
            }
            for c in first.saturating_sub(start)..block.ncols() {
                let column = start + c - first;
                for r in c..block.ncols() {
                    self.last[(start + r - first, column)] = block[(r, c)];
                }
                for (k, &row) in node.pattern().iter().enumerate() {
                    self.last[(row - first, column)] = block[(block.ncols() + k, c)];
                }
            }
        }
        Ok(())
    }

    /// Forward substitution of the part's share of `b`, with zeros for the separator.
    fn forward(&mut self, b: &[f64]) {
        self.x.fill(0.0);
        for (v, to) in self.vertices.iter().zip(self.x.chunks_exact_mut(3)) {
            to.copy_from_slice(&b[3 * *v as usize..][..3]);
        }
        let n = self.x.len();
        SupernodalLltRef::new(supernodal(&self.symbolic), &self.factor).l_solve_with_conj(
            Conj::No,
            MatMut::from_column_major_slice_mut(&mut self.x, n, 1),
            PAR,
            MemStack::new(&mut self.solve_work),
        );
    }

    /// Backward substitution with the separator's solution.
    fn backward(&mut self, shared: &[f64]) {
        let n = self.x.len();
        let tail = &mut self.x[3 * self.vertices.len()..];
        for (c, to) in tail.iter_mut().enumerate() {
            *to = (c..shared.len()).map(|r| self.last[(r, c)] * shared[r]).sum();
        }
        SupernodalLltRef::new(supernodal(&self.symbolic), &self.factor)
            .l_transpose_solve_with_conj(
                Conj::No,
                MatMut::from_column_major_slice_mut(&mut self.x, n, 1),
                PAR,
                MemStack::new(&mut self.solve_work),
            );
    }
}

fn supernodal(symbolic: &SymbolicCholesky<usize>) -> &SymbolicSupernodalCholesky<usize> {
    match symbolic.raw() {
        SymbolicCholeskyRaw::Supernodal(supernodal) => supernodal,
        SymbolicCholeskyRaw::Simplicial(_) => unreachable!("supernodal factors are asked for"),
    }
}

/// Where entry (3a + r, 3b + c) of the symmetric matrix stands among its values.
fn source(pattern: &Pattern, a: u32, b: u32, r: usize, c: usize) -> u32 {
    let place = pattern.place(a, b).expect("neighbours have a block");
    let (r, c) = if a < b || (a == b && r < c) { (c, r) } else { (r, c) };
    place.value(r, c) as u32
}

/// Calls `put(r, c, source)` for the lower entries of block (row, column), `row >= column`.
fn for_block(pattern: &Pattern, row: u32, column: u32, mut put: impl FnMut(u32, u32, u32)) {
    for c in 0..3 {
        for r in (if row == column { c } else { 0 })..3 {
            put(r as u32, c as u32, source(pattern, row, column, r, c));
        }
    }
}

/// The symmetric vertex graph.
struct Neighbours {
    starts: Vec<usize>,
    list: Vec<u32>,
}

impl Neighbours {
    fn new(pattern: &Pattern) -> Self {
        let n = pattern.len();
        let mut starts = vec![0; n + 1];
        let pairs = || {
            (0..n as u32).flat_map(|j| pattern.rows(j as usize)[1..].iter().map(move |&i| (i, j)))
        };
        for (i, j) in pairs() {
            starts[i as usize + 1] += 1;
            starts[j as usize + 1] += 1;
        }
        for v in 0..n {
            starts[v + 1] += starts[v];
        }
        let mut next = starts.clone();
        let mut list = vec![0; starts[n]];
        for (i, j) in pairs() {
            for (a, b) in [(i, j), (j, i)] {
                list[next[a as usize]] = b;
                next[a as usize] += 1;
            }
        }
        Self { starts, list }
    }

    fn of(&self, v: u32) -> &[u32] {
        &self.list[self.starts[v as usize]..self.starts[v as usize + 1]]
    }

    fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Elimination order of one side by approximate minimum degree, aware of the separator that stays behind it.
    /// `local` is scratch, all `u32::MAX`.
    fn minimum_degree(
        &self,
        side: &[u32],
        separator: &[u32],
        local: &mut [u32],
    ) -> Result<Vec<u32>, SolveError> {
        let all: Vec<u32> = side.iter().chain(separator).copied().collect();
        for (k, &v) in all.iter().enumerate() {
            local[v as usize] = k as u32;
        }
        let (mut starts, mut rows) = (Vec::with_capacity(all.len() + 1), Vec::new());
        for (j, &v) in all.iter().enumerate() {
            starts.push(rows.len());
            let first = rows.len();
            if j < side.len() {
                rows.push(j);
                let below = self.of(v).iter().map(|&w| local[w as usize]);
                rows.extend(
                    below.filter(|k| *k != u32::MAX && *k as usize > j).map(|k| k as usize),
                );
            } else {
                rows.extend(j..all.len());
            }
            rows[first..].sort_unstable();
        }
        starts.push(rows.len());
        for &v in &all {
            local[v as usize] = u32::MAX;
        }
        let (forward, _) = amd_order(all.len(), &starts, &rows)?;
        Ok(forward.into_iter().filter(|k| *k < side.len()).map(|k| side[k]).collect())
    }
}

/// Two sides of about the same size and the vertices between them, each ascending.
fn split(neighbours: &Neighbours) -> ([Vec<u32>; 2], Vec<u32>) {
    let levels = levels(neighbours);
    let depth = levels.iter().max().map_or(0, |d| *d as usize + 1);
    let mut sizes = vec![0_usize; depth];
    for &level in &levels {
        sizes[level as usize] += 1;
    }
    let total = levels.len();
    let (mut before, mut best) = (0, (usize::MAX, 0));
    for (level, &size) in sizes.iter().enumerate() {
        let larger = before.max(total - before - size);
        // The separator costs more than its size: its Schur complement is dense.
        let cost = larger + 4 * size;
        if cost < best.0 {
            best = (cost, level as u32);
        }
        before += size;
    }
    let of = |keep: &dyn Fn(u32) -> bool| {
        (0..total as u32).filter(|&v| keep(levels[v as usize])).collect::<Vec<_>>()
    };
    ([of(&|l| l < best.1), of(&|l| l > best.1)], of(&|l| l == best.1))
}

/// Breadth-first levels from a far vertex of each component; the levels of one component follow those of the one before.
fn levels(neighbours: &Neighbours) -> Vec<u32> {
    let n = neighbours.len();
    let mut level = vec![u32::MAX; n];
    let mut queue = Vec::with_capacity(n);
    let mut next_level = 0;
    for seed in 0..n as u32 {
        if level[seed as usize] != u32::MAX {
            continue;
        }
        let mut root = seed;
        for _ in 0..3 {
            root = sweep(neighbours, root, next_level, &mut level, &mut queue);
            for &v in &queue {
                level[v as usize] = u32::MAX;
            }
        }
        let last = sweep(neighbours, root, next_level, &mut level, &mut queue);
        next_level = level[last as usize] + 1;
    }
    level
}

/// Writes levels from `root` on and returns the last vertex reached.
fn sweep(
    neighbours: &Neighbours,
    root: u32,
    first: u32,
    level: &mut [u32],
    queue: &mut Vec<u32>,
) -> u32 {
    queue.clear();
    queue.push(root);
    level[root as usize] = first;
    let mut k = 0;
    while k < queue.len() {
        let v = queue[k];
        k += 1;
        for &w in neighbours.of(v) {
            if level[w as usize] == u32::MAX {
                level[w as usize] = level[v as usize] + 1;
                queue.push(w);
            }
        }
    }
    queue[queue.len() - 1]
}
