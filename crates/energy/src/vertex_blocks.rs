//! One vertex's share of a term: corner by corner, several stencils at once, in a fixed order.

use crate::batch::Batch;
use crate::element::{At, Blocks, Element, Fields, Psd};
use crate::lanes::{Job, Lanes, Machine, WIDTH, dispatch};
use crate::program::{LANES, Program, Scratch};
use crate::psd::project;
use crate::term::{StepState, Term as _, VertexBlock};
use crate::vertex::Incidence;
use glam::DVec3;
use gusset_scalar::Vec3;
use rayon::prelude::*;

/// Stencils of one task that looks back: fixed, so that nothing depends on the number of threads.
const CHUNK: usize = 512;

/// Adds to every entry of `out` what the stencils around the vertex with the same place do to it.
pub(crate) fn add_vertex_blocks<E: Element<N>, const N: usize>(
    batch: &Batch<E, N>,
    incidence: &Incidence,
    at: &StepState<'_>,
    vertices: &[u32],
    out: &mut [VertexBlock],
) {
    if E::CLOSED_FORM || E::VERTEX_BLOCK {
        dispatch(Closed { batch, incidence, at, vertices, out }, E::WIDE);
    } else {
        traced(batch, incidence, at, vertices, out);
    }
}

/// [`Element::start`] of all stencils.
pub(crate) fn look_back<E: Element<N>, const N: usize>(
    batch: &Batch<E, N>,
    at: &StepState<'_>,
    out: &mut [f64],
) {
    if E::START > 0 {
        out.par_chunks_mut(CHUNK * E::START).enumerate().for_each(|(chunk, out)| {
            dispatch(Start { batch, at, first: CHUNK * chunk, out }, E::WIDE);
        });
    }
}

/// Pairs of a stencil that has a vertex at `corner`, and the place of the vertex.
#[inline(always)]
fn list(incidence: &Incidence, vertices: &[u32], corner: usize, out: &mut Vec<[u32; 2]>) {
    out.clear();
    for (place, &vertex) in (0..).zip(vertices) {
        for &stencil in incidence.around(vertex, corner) {
            out.push([stencil, place]);
        }
    }
}

/// The blocks of a closed form.
struct Closed<'a, E, const N: usize> {
    batch: &'a Batch<E, N>,
    incidence: &'a Incidence,
    at: &'a StepState<'a>,
    vertices: &'a [u32],
    out: &'a mut [VertexBlock],
}

impl<E: Element<N>, const N: usize> Job for Closed<'_, E, N> {
    #[inline(always)]
    fn run<M: Machine>(mut self) {
        let mut stencils = Stencils::<M, E, N>::new(self.batch, self.at);
        let mut pending = Vec::new();
        // With the corner a constant, the compiler drops the work on all other blocks.
        self.corner(&mut stencils, &mut pending, 0);
        if N > 1 {
            self.corner(&mut stencils, &mut pending, 1);
        }
        if N > 2 {
            self.corner(&mut stencils, &mut pending, 2);
        }
        if N > 3 {
            self.corner(&mut stencils, &mut pending, 3);
        }
        for corner in 4..N {
            self.corner(&mut stencils, &mut pending, corner);
        }
    }
}

impl<E: Element<N>, const N: usize> Closed<'_, E, N> {
    #[inline(always)]
    fn corner<M: Machine>(
        &mut self,
        stencils: &mut Stencils<'_, M, E, N>,
        pending: &mut Vec<[u32; 2]>,
        corner: usize,
    ) {
        list(self.incidence, self.vertices, corner, pending);
        let Some(&last) = pending.last() else { return };
        let count = pending.len();
        // Lanes without a stencil repeat the last one.
        pending.resize(count.next_multiple_of(WIDTH), last);
        for (group, pending) in pending.as_chunks::<WIDTH>().0.iter().enumerate() {
            let [a, b, c, d] = *pending;
            let (at, params) = stencils.load([a[0], b[0], c[0], d[0]]);
            let (gradient, block) = if E::VERTEX_BLOCK {
                E::vertex_block(&at, &params, &stencils.start, corner)
            } else {
                let mut all = Blocks::zero();
                E::closed_form(&at, &params, &mut all);
                (all.gradient[corner], all.hessian[corner][corner])
            };
            let gradient = [gradient.x.to_array(), gradient.y.to_array(), gradient.z.to_array()];
            let mut rows = [[0.0; WIDTH]; 9];
            for (k, row) in rows.iter_mut().enumerate() {
                *row = block.entry(k / 3, k % 3).to_array();
            }
            let used = WIDTH.min(count - WIDTH * group);
            for (lane, [_, place]) in pending[..used].iter().enumerate() {
                let out = &mut self.out[*place as usize];
                for (sum, of_lane) in out.gradient.iter_mut().zip(&gradient) {
                    *sum += of_lane[lane];
                }
                for (sum, of_lane) in out.hessian.iter_mut().zip(&rows) {
                    *sum += of_lane[lane];
                }
            }
        }
    }
}

/// What depends on the start of the step alone.
struct Start<'a, E, const N: usize> {
    batch: &'a Batch<E, N>,
    at: &'a StepState<'a>,
    first: usize,
    out: &'a mut [f64],
}

impl<E: Element<N>, const N: usize> Job for Start<'_, E, N> {
    #[inline(always)]
    fn run<M: Machine>(self) {
        let mut stencils = Stencils::<M, E, N>::new(self.batch, self.at);
        let last = self.first + self.out.len() / E::START - 1;
        for (group, out) in self.out.chunks_mut(WIDTH * E::START).enumerate() {
            let first = self.first + WIDTH * group;
            let mut numbers = [0; WIDTH];
            for (lane, number) in numbers.iter_mut().enumerate() {
                *number = (first + lane).min(last) as u32;
            }
            stencils.look_back(numbers);
            for (lane, out) in out.chunks_exact_mut(E::START).enumerate() {
                for (entry, start) in out.iter_mut().zip(&stencils.start) {
                    *entry = start.to_array()[lane];
                }
            }
        }
    }
}

/// Several stencils side by side.
struct Stencils<'a, M: Machine, E, const N: usize> {
    batch: &'a Batch<E, N>,
    at: &'a StepState<'a>,
    machine: M,
    dt: Lanes<M>,
    /// Whether an element without a start of its own reads positions and velocities there.
    reads: [bool; 2],
    params: Vec<Lanes<M>>,
    start: Vec<Lanes<M>>,
}

impl<'a, M: Machine, E: Element<N>, const N: usize> Stencils<'a, M, E, N> {
    #[inline(always)]
    fn new(batch: &'a Batch<E, N>, at: &'a StepState<'a>) -> Self {
        let machine = M::get();
        let zero = Lanes::new(machine, [0.0; WIDTH]);
        let count = <E::Params<f64> as Fields<f64>>::COUNT;
        Self {
            batch,
            at,
            machine,
            dt: Lanes::new(machine, [at.dt; WIDTH]),
            reads: if E::VERTEX_BLOCK && E::START > 0 {
                [false; 2]
            } else {
                batch.program().looks_back()
            },
            params: vec![zero; count],
            start: vec![zero; if E::VERTEX_BLOCK { E::START } else { 0 }],
        }
    }

    /// State and constants of some stencils, and what they need of the start.
    #[inline(always)]
    fn load(&mut self, numbers: [u32; WIDTH]) -> (At<Lanes<M>, N>, E::Params<Lanes<M>>) {
        if !self.start.is_empty() {
            let all = self.batch.start();
            if all.is_empty() {
                self.look_back(numbers);
            } else {
                transpose(self.machine, all, numbers, &mut self.start);
            }
        }
        let (at, vertices) = (self.at, self.vertices(numbers));
        let none = [Vec3::splat(self.dt); N];
        let here = At {
            x: take(self.machine, at.x, &vertices),
            x_start: if self.reads[0] { take(self.machine, at.x_start, &vertices) } else { none },
            v_start: if self.reads[1] { take(self.machine, at.v_start, &vertices) } else { none },
            dt: self.dt,
        };
        (here, self.read(numbers))
    }

    #[inline(always)]
    fn look_back(&mut self, numbers: [u32; WIDTH]) {
        let (at, vertices) = (self.at, self.vertices(numbers));
        let x_start = take(self.machine, at.x_start, &vertices);
        let here = At {
            x: x_start,
            x_start,
            v_start: take(self.machine, at.v_start, &vertices),
            dt: self.dt,
        };
        let params = self.read(numbers);
        E::start(&here, &params, &mut self.start);
    }

    #[inline(always)]
    fn vertices(&self, numbers: [u32; WIDTH]) -> [[u32; N]; WIDTH] {
        let all = self.batch.stencil_vertices();
        let [a, b, c, d] = numbers;
        [all[a as usize], all[b as usize], all[c as usize], all[d as usize]]
    }

    #[inline(always)]
    fn read(&mut self, numbers: [u32; WIDTH]) -> E::Params<Lanes<M>> {
        transpose(self.machine, self.batch.params().0, numbers, &mut self.params);
        E::Params::read(&self.params, &mut 0)
    }
}

/// Positions or velocities of some stencils. Lane by lane as it stands here: a loop would go through memory.
#[inline(always)]
fn take<M: Machine, const N: usize>(
    machine: M,
    all: &[DVec3],
    [a, b, c, d]: &[[u32; N]; WIDTH],
) -> [Vec3<Lanes<M>>; N] {
    let mut out = [Vec3::splat(Lanes::new(machine, [0.0; WIDTH])); N];
    for (corner, out) in out.iter_mut().enumerate() {
        let (p, q) = (all[a[corner] as usize], all[b[corner] as usize]);
        let (r, s) = (all[c[corner] as usize], all[d[corner] as usize]);
        *out = Vec3::new(
            Lanes::new(machine, [p.x, q.x, r.x, s.x]),
            Lanes::new(machine, [p.y, q.y, r.y, s.y]),
            Lanes::new(machine, [p.z, q.z, r.z, s.z]),
        );
    }
    out
}

/// Rows of an array whose rows are as long as `out`, side by side.
#[inline(always)]
fn transpose<M: Machine>(
    machine: M,
    all: &[f64],
    [a, b, c, d]: [u32; WIDTH],
    out: &mut [Lanes<M>],
) {
    let (a, b) = (row(all, out.len(), a), row(all, out.len(), b));
    let (c, d) = (row(all, out.len(), c), row(all, out.len(), d));
    for (k, out) in out.iter_mut().enumerate() {
        *out = Lanes::new(machine, [a[k], b[k], c[k], d[k]]);
    }
}

#[inline(always)]
fn row(all: &[f64], stride: usize, number: u32) -> &[f64] {
    &all[stride * number as usize..][..stride]
}

/// The blocks of a traced program.
fn traced<E: Element<N>, const N: usize>(
    batch: &Batch<E, N>,
    incidence: &Incidence,
    at: &StepState<'_>,
    vertices: &[u32],
    out: &mut [VertexBlock],
) {
    let (mut scratch, mut pending) = (Scratch::default(), Vec::new());
    for corner in 0..N {
        list(incidence, vertices, corner, &mut pending);
        for pending in pending.chunks(LANES) {
            let last = pending.len() - 1;
            let stencils = std::array::from_fn(|lane| pending[lane.min(last)][0] as usize);
            let program = batch.program();
            batch.gather(at, &stencils, scratch.inputs(program.input_count()));
            let result = program.corner(corner, &mut scratch);
            for (lane, [_, place]) in pending.iter().enumerate() {
                let (gradient, mut block) = Program::corner_block(result, lane);
                if E::PSD != Psd::Exact {
                    project(&mut block, 1, E::PSD);
                }
                out[*place as usize].add(gradient, &block);
            }
        }
    }
}

impl VertexBlock {
    /// Adds one stencil's share.
    #[inline]
    pub fn add(&mut self, gradient: [f64; 3], hessian: &[f64; 9]) {
        self.gradient.iter_mut().zip(gradient).for_each(|(a, b)| *a += b);
        self.hessian.iter_mut().zip(hessian).for_each(|(a, b)| *a += b);
    }
}
