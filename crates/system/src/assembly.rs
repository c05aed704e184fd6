//! Gather assembly: every number of the system is the sum of its contributions in one fixed order.

use crate::pattern::{FIXED, Pattern, Place, pair};
use gusset_energy::{StepState, Term, Want, block_count, block_index};
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};
use thiserror::Error;

/// Block columns or vertices per task.
const CHUNK: usize = 512;

/// Why a system can't be assembled.
#[derive(Debug, Error)]
pub enum AssemblyError {
    /// A stencil evaluates to NaN or infinity.
    #[error(
        "{term}: stencil {stencil} of vertices {vertices:?} has a gradient or Hessian that is not finite"
    )]
    NotFinite {
        /// The term's label.
        term: String,
        /// Which stencil.
        stencil: usize,
        /// Its world vertices.
        vertices: Vec<u32>,
    },
    /// The device that should have done it can't.
    #[error("{0}")]
    Device(String),
}

/// Numbers patterns apart, those of different systems as well.
fn next_version() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// One contribution to a target: a block of the arena, transposed where the stencil's order is the other way round.
#[derive(Clone, Copy, Debug)]
struct Contribution(u32);

impl Contribution {
    const TRANSPOSED: u32 = 1 << 31;
    /// Both the block and its transpose: a stencil that names one vertex twice.
    const BOTH: u32 = 1 << 30;

    fn block(self) -> usize {
        (self.0 & !(Self::TRANSPOSED | Self::BOTH)) as usize
    }

    #[inline(always)]
    fn oriented(self, blocks: &[f64]) -> [f64; 9] {
        let k = 9 * self.block();
        let h: &[f64; 9] = blocks[k..k + 9].try_into().expect("nine numbers a block");
        if self.0 & (Self::TRANSPOSED | Self::BOTH) == 0 {
            return *h;
        }
        let t = [h[0], h[3], h[6], h[1], h[4], h[7], h[2], h[5], h[8]];
        if self.0 & Self::BOTH != 0 { std::array::from_fn(|k| h[k] + t[k]) } else { t }
    }
}

/// Gradient and Hessian over the free vertices, and how terms add up to them.
///
/// Terms with fixed stencils are evaluated into one arena and gathered through lists that are built once per pattern.
/// Dynamic terms (contact rows) are added after them, row by row, in parallel over block columns. Either way each
/// number has one order of summation, so it has the same bits for any number of threads.
#[derive(Debug, Default)]
pub struct System {
    /// Which blocks there are.
    pub pattern: Pattern,
    /// `dPhi/dx` (N), three numbers a free vertex.
    pub gradient: Vec<f64>,
    /// Lower triangle of the Hessian (N/m) in the pattern's layout.
    pub values: Vec<f64>,
    /// Sorted block keys of the terms with fixed stencils.
    static_pairs: Vec<u64>,
    /// Sorted block keys beyond those.
    extra_pairs: Vec<u64>,
    /// Of the pattern; no other has it.
    version: u64,
    /// What was added to diagonal blocks since the last assembly: block and stiffness (N/m).
    added: Vec<(u32, f64)>,
    gather: Gather,
    arena: Arena,
    dynamic: Vec<Dynamic>,
}

/// Contributions per target, in compressed rows.
#[derive(Debug, Default)]
struct Gather {
    block_start: Vec<u32>,
    blocks: Vec<Contribution>,
    vertex_start: Vec<u32>,
    corners: Vec<u32>,
}

/// Results of the terms with fixed stencils, one after the other.
#[derive(Debug, Default)]
struct Arena {
    gradient: Vec<f64>,
    hessian: Vec<f64>,
}

/// Results of one dynamic term and where they go.
#[derive(Debug, Default)]
struct Dynamic {
    gradient: Vec<f64>,
    hessian: Vec<f64>,
    /// Per stencil block: its block column and place, or nothing where a vertex is fixed.
    targets: Vec<Option<Target>>,
}

#[derive(Clone, Copy, Debug)]
struct Target {
    column: u32,
    place: Place,
    contribution: Contribution,
}

impl System {
    /// A system over the vertices that are not `fixed`, for these terms. Their static stencils must not change later.
    pub fn new(fixed: &[bool], terms: &[Box<dyn Term>]) -> Self {
        let mut system = Self { pattern: Pattern::new(fixed), ..Self::default() };
        for term in terms.iter().filter(|t| !t.dynamic()) {
            system.add_pairs(term.as_ref(), |s, key| s.static_pairs.push(key));
        }
        system.static_pairs.par_sort_unstable();
        system.static_pairs.dedup();
        system.rebuild(terms);
        system
    }

    /// Number of the pattern, changed whenever it changes and shared with no other system; what is kept for a pattern is
    /// kept under it.
    pub fn version(&self) -> u64 {
        self.version
    }

    fn add_pairs(&mut self, term: &dyn Term, mut put: impl FnMut(&mut Self, u64)) {
        let arity = term.arity();
        for stencil in term.stencils().chunks_exact(arity) {
            for i in 0..arity {
                for j in i..arity {
                    let (a, b) = (self.pattern.index(stencil[i]), self.pattern.index(stencil[j]));
                    if a != FIXED && b != FIXED {
                        put(self, pair(a, b));
                    }
                }
            }
        }
    }

    /// Makes the pattern exactly the static blocks and those of `stencils` (four world vertices each): what a step
    /// starts from, whatever came before it.
    pub fn reset_pattern(&mut self, terms: &[Box<dyn Term>], stencils: &[[u32; 4]]) {
        let mut extra = Vec::new();
        for stencil in stencils {
            self.push_missing(stencil, &mut extra);
        }
        extra.par_sort_unstable();
        extra.dedup();
        if extra != self.extra_pairs {
            self.extra_pairs = extra;
            self.rebuild(terms);
        }
    }

    fn push_missing(&self, stencil: &[u32], out: &mut Vec<u64>) {
        for (i, &a) in stencil.iter().enumerate() {
            for &b in &stencil[i + 1..] {
                let (a, b) = (self.pattern.index(a), self.pattern.index(b));
                if a != FIXED && b != FIXED && a != b {
                    let key = pair(a, b);
                    if self.static_pairs.binary_search(&key).is_err() {
                        out.push(key);
                    }
                }
            }
        }
    }

    fn rebuild(&mut self, terms: &[Box<dyn Term>]) {
        self.version = next_version();
        self.pattern.rebuild(&self.static_pairs, &self.extra_pairs);
        self.values = vec![0.0; self.pattern.value_count()];
        self.gradient = vec![0.0; 3 * self.pattern.len()];
        self.gather = Gather::new(&self.pattern, terms);
    }

    /// Evaluates all terms at `at` and fills gradient and values, with Hessians as `want` says. Rows of dynamic terms may bring blocks that the
    /// pattern lacks; it grows by them and by `near` (stencils that may act soon).
    pub fn assemble(
        &mut self,
        terms: &[Box<dyn Term>],
        at: &StepState<'_>,
        want: Want,
        near: impl FnOnce() -> Vec<[u32; 4]>,
    ) -> Result<(), AssemblyError> {
        self.added.clear();
        let mut first = (0, 0);
        self.arena.size(terms);
        for term in terms.iter().filter(|t| !t.dynamic()) {
            let (g, h) = sizes(term.as_ref());
            term.eval(
                at,
                want,
                &mut self.arena.gradient[first.0..first.0 + g],
                &mut self.arena.hessian[first.1..first.1 + h],
            );
            first = (first.0 + g, first.1 + h);
        }
        self.evaluate_dynamic(terms, at, near);
        self.gather_static();
        self.scatter_dynamic(terms);
        if self.gradient.iter().chain(&self.values).all(|v| v.is_finite()) {
            Ok(())
        } else {
            Err(self.find_not_finite(terms))
        }
    }

    /// What [`System::add_diagonal`] has added since the last assembly: diagonal blocks by their index and stiffnesses (N/m). For a backend
    /// that keeps the values elsewhere.
    pub fn added(&self) -> &[(u32, f64)] {
        &self.added
    }

    /// Begins a new assembly elsewhere: nothing has been added to it.
    pub fn forget_added(&mut self) {
        self.added.clear();
    }

    /// Adds a gradient (N) and an isotropic stiffness (N/m) to one vertex of the assembled system.
    pub fn add_diagonal(&mut self, vertex: u32, gradient: [f64; 3], stiffness: f64) {
        let v = self.pattern.index(vertex);
        if v == FIXED {
            return;
        }
        let to = &mut self.gradient[3 * v as usize..][..3];
        to.iter_mut().zip(gradient).for_each(|(a, b)| *a += b);
        let diagonal = self.pattern.block(v, v).expect("every diagonal block is there");
        self.added.push((diagonal as u32, stiffness));
        let place = self.pattern.place(v, v).expect("every diagonal block is there");
        let block = [stiffness, 0.0, 0.0, 0.0, stiffness, 0.0, 0.0, 0.0, stiffness];
        place.add(&mut self.values[place.base..], &block);
    }

    /// Takes the values from blocks given row-major in the pattern's order: nine numbers each, those of the diagonal whole.
    pub fn take_blocks(&mut self, blocks: &[f64]) {
        assert_eq!(blocks.len(), 9 * self.pattern.block_count(), "nine numbers a block");
        let pattern = &self.pattern;
        column_chunks(pattern, &mut self.values).into_par_iter().for_each(|(first, values)| {
            let start = pattern.base(first);
            values.fill(0.0);
            for j in first..(first + CHUNK).min(pattern.len()) {
                let count = pattern.rows(j).len();
                let column = &mut values[pattern.base(j) - start..];
                let own = &blocks[9 * pattern.first_block(j)..][..9 * count];
                for (slot, block) in own.chunks_exact(9).enumerate() {
                    let block = block.try_into().expect("nine numbers a block");
                    Place { base: 0, blocks: count, slot }.add(column, block);
                }
            }
        });
    }

    fn evaluate_dynamic(
        &mut self,
        terms: &[Box<dyn Term>],
        at: &StepState<'_>,
        near: impl FnOnce() -> Vec<[u32; 4]>,
    ) {
        let dynamic: Vec<&dyn Term> =
            terms.iter().map(AsRef::as_ref).filter(|t| t.dynamic()).collect();
        self.dynamic.resize_with(dynamic.len(), Dynamic::default);
        for (term, local) in dynamic.iter().zip(&mut self.dynamic) {
            let (g, h) = sizes(*term);
            local.gradient.resize(g, 0.0);
            local.hessian.resize(h, 0.0);
            term.eval(at, Want::Hessian, &mut local.gradient, &mut local.hessian);
        }
        if !self.locate(&dynamic) {
            self.grow(terms, near);
            let found = self.locate(&dynamic);
            debug_assert!(found, "the pattern has every block that was added to it");
        }
    }

    /// Makes the pattern hold every block of the dynamic terms' stencils. If it lacks one, it grows by them and by `near`
    /// (stencils that may act soon). For backends that assemble elsewhere; [`System::assemble`] does it itself.
    pub fn cover(&mut self, terms: &[Box<dyn Term>], near: impl FnOnce() -> Vec<[u32; 4]>) {
        let covered = terms.iter().filter(|t| t.dynamic()).all(|term| {
            let arity = term.arity();
            term.stencils().par_chunks(arity * CHUNK).all(|stencils| {
                stencils.chunks_exact(arity).all(|stencil| self.has_blocks(stencil))
            })
        });
        if !covered {
            self.grow(terms, near);
        }
    }

    fn has_blocks(&self, stencil: &[u32]) -> bool {
        stencil.iter().enumerate().all(|(i, &a)| {
            stencil[i + 1..].iter().all(|&b| {
                let (a, b) = (self.pattern.index(a), self.pattern.index(b));
                a == FIXED || b == FIXED || self.pattern.block(a, b).is_some()
            })
        })
    }

    fn grow(&mut self, terms: &[Box<dyn Term>], near: impl FnOnce() -> Vec<[u32; 4]>) {
        let mut extra = std::mem::take(&mut self.extra_pairs);
        for term in terms.iter().filter(|t| t.dynamic()) {
            for stencil in term.stencils().chunks_exact(term.arity()) {
                self.push_missing(stencil, &mut extra);
            }
        }
        for stencil in near() {
            self.push_missing(&stencil, &mut extra);
        }
        extra.par_sort_unstable();
        extra.dedup();
        self.extra_pairs = extra;
        self.rebuild(terms);
    }

    /// Finds where each block of the dynamic stencils goes; false if the pattern lacks one.
    fn locate(&mut self, dynamic: &[&dyn Term]) -> bool {
        let pattern = &self.pattern;
        dynamic.iter().zip(&mut self.dynamic).all(|(term, local)| {
            let (arity, blocks) = (term.arity(), block_count(term.arity()));
            local.targets.resize(term.count() * blocks, None);
            local
                .targets
                .par_chunks_mut(blocks * CHUNK)
                .zip(term.stencils().par_chunks(arity * CHUNK))
                .enumerate()
                .map(|(chunk, (targets, stencils))| {
                    let mut complete = true;
                    for (k, (targets, stencil)) in targets
                        .chunks_exact_mut(blocks)
                        .zip(stencils.chunks_exact(arity))
                        .enumerate()
                    {
                        let base = ((chunk * CHUNK + k) * blocks) as u32;
                        complete &= locate_stencil(pattern, stencil, base, targets);
                    }
                    complete
                })
                .reduce(|| true, |a, b| a && b)
        })
    }

    fn gather_static(&mut self) {
        let (pattern, gather, arena) = (&self.pattern, &self.gather, &self.arena);
        self.gradient.par_chunks_mut(3 * CHUNK).enumerate().for_each(|(chunk, gradient)| {
            for (k, g) in gradient.chunks_exact_mut(3).enumerate() {
                let v = chunk * CHUNK + k;
                let mut sum = [0.0; 3];
                let corners = gather.vertex_start[v] as usize..gather.vertex_start[v + 1] as usize;
                for &corner in &gather.corners[corners] {
                    let from = &arena.gradient[3 * corner as usize..][..3];
                    sum.iter_mut().zip(from).for_each(|(a, b)| *a += b);
                }
                g.copy_from_slice(&sum);
            }
        });
        column_chunks(pattern, &mut self.values).into_par_iter().for_each(|(first, values)| {
            values.fill(0.0);
            let start = pattern.base(first);
            for j in first..(first + CHUNK).min(pattern.len()) {
                let place = Place { base: 0, blocks: pattern.rows(j).len(), slot: 0 };
                let column = &mut values[pattern.base(j) - start..];
                let block = pattern.first_block(j);
                for slot in 0..place.blocks {
                    let k = block + slot;
                    let list = gather.block_start[k] as usize..gather.block_start[k + 1] as usize;
                    let mut sum = [0.0; 9];
                    for c in &gather.blocks[list] {
                        let h = c.oriented(&arena.hessian);
                        sum.iter_mut().zip(h).for_each(|(a, b)| *a += b);
                    }
                    Place { slot, ..place }.add(column, &sum);
                }
            }
        });
    }

    fn scatter_dynamic(&mut self, terms: &[Box<dyn Term>]) {
        let dynamic = terms.iter().filter(|t| t.dynamic());
        for (term, local) in dynamic.clone().zip(&self.dynamic) {
            for (k, &v) in term.stencils().iter().enumerate() {
                let v = self.pattern.index(v);
                if v != FIXED {
                    let to = &mut self.gradient[3 * v as usize..][..3];
                    to.iter_mut().zip(&local.gradient[3 * k..]).for_each(|(a, b)| *a += b);
                }
            }
        }
        let (pattern, dynamic) = (&self.pattern, &self.dynamic);
        if dynamic.iter().all(|d| d.targets.is_empty()) {
            return;
        }
        let threads = rayon::current_num_threads().max(1);
        let columns = pattern.len().div_ceil(threads).max(1);
        split_columns(pattern, &mut self.values, columns).into_par_iter().for_each(
            |(first, values)| {
                let start = pattern.base(first);
                let mine = first as u32..(first + columns) as u32;
                for local in dynamic {
                    for target in local.targets.iter().flatten() {
                        if mine.contains(&target.column) {
                            let block = target.contribution.oriented(&local.hessian);
                            target.place.add(&mut values[target.place.base - start..], &block);
                        }
                    }
                }
            },
        );
    }

    fn find_not_finite(&self, terms: &[Box<dyn Term>]) -> AssemblyError {
        let mut first = (0, 0);
        let mut dynamic = self.dynamic.iter();
        for term in terms {
            let (g, h) = sizes(term.as_ref());
            let (gradient, hessian) = if term.dynamic() {
                let local = dynamic.next().expect("one result a dynamic term");
                (&local.gradient[..], &local.hessian[..])
            } else {
                let range = (first.0..first.0 + g, first.1..first.1 + h);
                first = (first.0 + g, first.1 + h);
                (&self.arena.gradient[range.0], &self.arena.hessian[range.1])
            };
            let arity = term.arity();
            let bad = (0..term.count()).find(|&k| {
                let g = &gradient[3 * arity * k..3 * arity * (k + 1)];
                let h = 9 * block_count(arity);
                !g.iter().chain(&hessian[h * k..h * (k + 1)]).all(|v| v.is_finite())
            });
            if let Some(stencil) = bad {
                let vertices = term.stencils()[arity * stencil..arity * (stencil + 1)].to_vec();
                return AssemblyError::NotFinite { term: term.label().into(), stencil, vertices };
            }
        }
        AssemblyError::NotFinite { term: "sum of all terms".into(), stencil: 0, vertices: vec![] }
    }
}

impl Arena {
    fn size(&mut self, terms: &[Box<dyn Term>]) {
        let (mut g, mut h) = (0, 0);
        for term in terms.iter().filter(|t| !t.dynamic()) {
            let (a, b) = sizes(term.as_ref());
            (g, h) = (g + a, h + b);
        }
        self.gradient.resize(g, 0.0);
        self.hessian.resize(h, 0.0);
    }
}

/// Numbers in the gradients and Hessians of all stencils of a term.
fn sizes(term: &dyn Term) -> (usize, usize) {
    let arity = term.arity();
    (3 * arity * term.count(), 9 * block_count(arity) * term.count())
}

fn locate_stencil(
    pattern: &Pattern,
    stencil: &[u32],
    base: u32,
    targets: &mut [Option<Target>],
) -> bool {
    let arity = stencil.len();
    let mut complete = true;
    for i in 0..arity {
        for j in i..arity {
            let block = block_index(arity, i, j);
            let (a, b) = (pattern.index(stencil[i]), pattern.index(stencil[j]));
            targets[block] = None;
            if a == FIXED || b == FIXED {
                continue;
            }
            let Some(place) = pattern.place(a, b) else {
                complete = false;
                continue;
            };
            let contribution = orient(base + block as u32, i, j, a, b);
            targets[block] = Some(Target { column: a.min(b), place, contribution });
        }
    }
    complete
}

/// How block (i, j) of a stencil, with free indices a and b, adds to the lower triangle.
fn orient(block: u32, i: usize, j: usize, a: u32, b: u32) -> Contribution {
    debug_assert!(block < Contribution::BOTH, "fewer than 2^30 stencil blocks");
    Contribution(match a.cmp(&b) {
        std::cmp::Ordering::Less => block | Contribution::TRANSPOSED,
        std::cmp::Ordering::Equal if i != j => block | Contribution::BOTH,
        _ => block,
    })
}

impl Gather {
    fn new(pattern: &Pattern, terms: &[Box<dyn Term>]) -> Self {
        let mut of_block: Vec<(u32, Contribution)> = Vec::new();
        let mut of_vertex: Vec<(u32, u32)> = Vec::new();
        let (mut first_block, mut first_corner) = (0_u32, 0_u32);
        for term in terms.iter().filter(|t| !t.dynamic()) {
            let arity = term.arity();
            for stencil in term.stencils().chunks_exact(arity) {
                for i in 0..arity {
                    let a = pattern.index(stencil[i]);
                    if a == FIXED {
                        continue;
                    }
                    of_vertex.push((a, first_corner + i as u32));
                    for j in i..arity {
                        let b = pattern.index(stencil[j]);
                        if b == FIXED {
                            continue;
                        }
                        let place =
                            pattern.place(a, b).expect("the pattern holds every static block");
                        let target = pattern.first_block(a.min(b) as usize) + place.slot;
                        let block = first_block + block_index(arity, i, j) as u32;
                        of_block.push((target as u32, orient(block, i, j, a, b)));
                    }
                }
                first_block += block_count(arity) as u32;
                first_corner += arity as u32;
            }
        }
        let (block_start, blocks) = bucket(pattern.block_count(), &of_block, Contribution(0));
        let (vertex_start, corners) = bucket(pattern.len(), &of_vertex, 0);
        Self { block_start, blocks, vertex_start, corners }
    }
}

/// Counting sort into compressed rows, stable: each row keeps the order of `entries`.
fn bucket<T: Copy>(rows: usize, entries: &[(u32, T)], zero: T) -> (Vec<u32>, Vec<T>) {
    let mut start = vec![0_u32; rows + 1];
    for &(row, _) in entries {
        start[row as usize + 1] += 1;
    }
    for row in 0..rows {
        start[row + 1] += start[row];
    }
    let mut next = start.clone();
    let mut out = vec![zero; entries.len()];
    for &(row, value) in entries {
        let slot = &mut next[row as usize];
        out[*slot as usize] = value;
        *slot += 1;
    }
    (start, out)
}

fn column_chunks<'a>(pattern: &Pattern, values: &'a mut [f64]) -> Vec<(usize, &'a mut [f64])> {
    split_columns(pattern, values, CHUNK)
}

/// Splits the values into runs of `columns` block columns; each with its first column.
fn split_columns<'a>(
    pattern: &Pattern,
    mut values: &'a mut [f64],
    columns: usize,
) -> Vec<(usize, &'a mut [f64])> {
    let mut chunks = Vec::with_capacity(pattern.len().div_ceil(columns));
    let mut first = 0;
    while first < pattern.len() {
        let last = (first + columns).min(pattern.len());
        let (head, tail) = values.split_at_mut(pattern.base(last) - pattern.base(first));
        chunks.push((first, head));
        (values, first) = (tail, last);
    }
    chunks
}
