//! Which 3x3 blocks of the Hessian may be non-zero.

use rayon::prelude::*;

/// Marks a vertex without degrees of freedom in [`Pattern::index`].
pub const FIXED: u32 = u32::MAX;

/// Block-sparse lower triangle over the free vertices, column by column, with the scalar compressed-column layout that
/// sparse Cholesky reads: block column `j` with `m` blocks holds three scalar columns of `3m`, `3m-1` and `3m-2` values.
#[derive(Clone, Debug, Default)]
pub struct Pattern {
    /// World vertex of each free index.
    free: Vec<u32>,
    /// Free index of each world vertex, or [`FIXED`].
    index: Vec<u32>,
    /// Start of each block column in `rows`; one more than columns.
    column: Vec<usize>,
    /// Block rows, ascending in each column; the first is the diagonal.
    rows: Vec<u32>,
}

/// Where a block goes: the scalar layout of its column and its place there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// First value of the block column.
    pub(crate) base: usize,
    /// Blocks in the column.
    pub(crate) blocks: usize,
    /// Position of the block in the column; 0 is the diagonal.
    pub(crate) slot: usize,
}

impl Place {
    /// Position of entry (r, c) among all values; `r >= c` on the diagonal.
    pub(crate) fn value(self, r: usize, c: usize) -> usize {
        self.base + [0, 3 * self.blocks, 6 * self.blocks - 1][c] + 3 * self.slot + r - c
    }

    /// Adds a block given row-major to the column's values (`values[0]` is the column's first value).
    #[inline(always)]
    pub(crate) fn add(self, values: &mut [f64], block: &[f64; 9]) {
        let lengths = [0, 3 * self.blocks, 6 * self.blocks - 1];
        for c in 0..3 {
            let start = lengths[c] + 3 * self.slot - c;
            let first = if self.slot == 0 { c } else { 0 };
            for r in first..3 {
                values[start + r] += block[3 * r + c];
            }
        }
    }
}

/// Key of block (row, column), `row >= column`, sortable by column then row.
#[inline]
pub(crate) fn pair(a: u32, b: u32) -> u64 {
    let (row, column) = if a > b { (a, b) } else { (b, a) };
    (u64::from(column) << 32) | u64::from(row)
}

impl Pattern {
    /// Numbers the vertices that are not fixed; no block but the diagonal yet.
    pub fn new(fixed: &[bool]) -> Self {
        let mut free = Vec::new();
        let index = fixed
            .iter()
            .enumerate()
            .map(|(v, &fixed)| {
                if fixed {
                    return FIXED;
                }
                free.push(v as u32);
                free.len() as u32 - 1
            })
            .collect();
        let mut pattern = Self { free, index, column: Vec::new(), rows: Vec::new() };
        pattern.rebuild(&[], &[]);
        pattern
    }

    /// Number of block columns.
    pub fn len(&self) -> usize {
        self.free.len()
    }

    /// Whether nothing is free.
    pub fn is_empty(&self) -> bool {
        self.free.is_empty()
    }

    /// Free index of a world vertex, or [`FIXED`].
    #[inline]
    pub fn index(&self, vertex: u32) -> u32 {
        self.index[vertex as usize]
    }

    /// World vertices in the order of the free indices.
    pub fn free(&self) -> &[u32] {
        &self.free
    }

    /// Block rows of column `j`, the diagonal first.
    pub fn rows(&self, j: usize) -> &[u32] {
        &self.rows[self.column[j]..self.column[j + 1]]
    }

    /// Number of stored blocks.
    pub fn block_count(&self) -> usize {
        self.rows.len()
    }

    /// Number of scalar values of the lower triangle.
    pub fn value_count(&self) -> usize {
        9 * self.rows.len() - 3 * self.len()
    }

    /// First scalar value of block column `j`.
    #[inline]
    pub(crate) fn base(&self, j: usize) -> usize {
        9 * self.column[j] - 3 * j
    }

    /// Index of block column `j`'s diagonal among all blocks.
    #[inline]
    pub(crate) fn first_block(&self, j: usize) -> usize {
        self.column[j]
    }

    /// Where block (a, b) of free indices goes, if the pattern has it.
    #[inline]
    pub(crate) fn place(&self, a: u32, b: u32) -> Option<Place> {
        let (row, j) = if a > b { (a, b as usize) } else { (b, a as usize) };
        let rows = self.rows(j);
        let slot = if rows[0] == row { 0 } else { rows.binary_search(&row).ok()? };
        Some(Place { base: self.base(j), blocks: rows.len(), slot })
    }

    /// Index of block (a, b) of free indices among all blocks, if the pattern has it.
    pub fn block(&self, a: u32, b: u32) -> Option<usize> {
        let column = a.min(b) as usize;
        Some(self.first_block(column) + self.place(a, b)?.slot)
    }

    /// Replaces the blocks by the diagonal and the union of two sorted lists of [`pair`] keys.
    pub(crate) fn rebuild(&mut self, fixed_pairs: &[u64], more: &[u64]) {
        let mut all: Vec<u64> = Vec::with_capacity(fixed_pairs.len() + more.len() + self.len());
        all.extend_from_slice(fixed_pairs);
        all.extend_from_slice(more);
        all.extend((0..self.len() as u32).map(|j| pair(j, j)));
        all.par_sort_unstable();
        all.dedup();
        self.rows.clear();
        self.column.clear();
        self.column.push(0);
        for key in all {
            let j = (key >> 32) as usize;
            while self.column.len() <= j {
                self.column.push(self.rows.len());
            }
            self.rows.push(key as u32);
        }
        self.column.resize(self.len() + 1, self.rows.len());
    }

    /// Scalar compressed-column layout: column starts and row indices of the lower triangle.
    pub(crate) fn scalar_layout(&self) -> (Vec<usize>, Vec<usize>) {
        let mut starts = Vec::with_capacity(3 * self.len() + 1);
        let mut rows = Vec::with_capacity(self.value_count());
        for j in 0..self.len() {
            for c in 0..3 {
                starts.push(rows.len());
                for (slot, &row) in self.rows(j).iter().enumerate() {
                    let first = if slot == 0 { c } else { 0 };
                    rows.extend((first..3).map(|r| 3 * row as usize + r));
                }
            }
        }
        starts.push(rows.len());
        (starts, rows)
    }

    /// `y = H x` for the symmetric matrix whose lower triangle is `values`; serial, so the order of sums is fixed.
    pub fn multiply(&self, values: &[f64], x: &[f64], y: &mut [f64]) {
        y.fill(0.0);
        for j in 0..self.len() {
            let rows = self.rows(j);
            let m = rows.len();
            let column = &values[self.base(j)..self.base(j) + 9 * m - 3];
            let (c0, rest) = column.split_at(3 * m);
            let (c1, c2) = rest.split_at(3 * m - 1);
            let xj = [x[3 * j], x[3 * j + 1], x[3 * j + 2]];
            let mut yj = [
                c0[0] * xj[0] + c0[1] * xj[1] + c0[2] * xj[2],
                c0[1] * xj[0] + c1[0] * xj[1] + c1[1] * xj[2],
                c0[2] * xj[0] + c1[1] * xj[1] + c2[0] * xj[2],
            ];
            for (slot, &row) in rows.iter().enumerate().skip(1) {
                let i = 3 * row as usize;
                for r in 0..3 {
                    let k = 3 * slot + r;
                    let h = [c0[k], c1[k - 1], c2[k - 2]];
                    y[i + r] += h[0] * xj[0] + h[1] * xj[1] + h[2] * xj[2];
                    for c in 0..3 {
                        yj[c] += h[c] * x[i + r];
                    }
                }
            }
            for c in 0..3 {
                y[3 * j + c] += yj[c];
            }
        }
    }

    /// The diagonal of the matrix.
    pub fn diagonal(&self, values: &[f64], out: &mut [f64]) {
        for j in 0..self.len() {
            let m = self.rows(j).len();
            let base = self.base(j);
            out[3 * j] = values[base];
            out[3 * j + 1] = values[base + 3 * m];
            out[3 * j + 2] = values[base + 6 * m - 1];
        }
    }

    /// `out = S H S` with the diagonal matrix `S = diag(scale)`.
    pub(crate) fn scaled(&self, values: &[f64], scale: &[f64], out: &mut Vec<f64>) {
        out.clear();
        out.reserve(values.len());
        for j in 0..self.len() {
            let rows = self.rows(j);
            let mut next = self.base(j);
            for c in 0..3 {
                let sc = scale[3 * j + c];
                for (slot, &row) in rows.iter().enumerate() {
                    for r in (if slot == 0 { c } else { 0 })..3 {
                        out.push(values[next] * sc * scale[3 * row as usize + r]);
                        next += 1;
                    }
                }
            }
        }
    }
}
