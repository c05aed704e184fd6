//! The traced programs of an element type.

use crate::element::{At, Element, Fields};
use crate::shader::Shader;
use crate::term::{block_count, block_index};
use gusset_scalar::Vec3;
use gusset_trace::{Graph, Registers, Sym, Tape};
use std::any::TypeId;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

pub(crate) use gusset_trace::LANES;

/// Everything that follows from one [`Element::energy`]: tapes for the CPU, GLSL for the GPU.
///
/// Inputs are numbered `x` (3 N), `x_start` (3 N), `v_start` (3 N), `dt`, then the constants in the order of
/// [`Fields`]. The graph is differentiated with respect to `x` alone.
pub struct Program {
    arity: usize,
    inputs: usize,
    looks_back: [bool; 2],
    gradient: Tape,
    hessian: Tape,
    corners: Vec<Tape>,
    /// For each entry of the row-major upper blocks, its place in the packed upper triangle.
    packed: Vec<u32>,
    /// Operations of energy, gradient and gradient with Hessian.
    operations: [usize; 3],
    /// Writes the GLSL; seldom wanted, so not before it is.
    shader: fn(&str) -> Shader,
}

/// Buffers of one thread.
#[derive(Default)]
pub(crate) struct Scratch {
    inputs: Vec<[f64; LANES]>,
    registers: Registers,
    outputs: Vec<[f64; LANES]>,
}

impl Scratch {
    pub(crate) fn inputs(&mut self, count: usize) -> &mut [[f64; LANES]] {
        self.inputs.resize(count, [0.0; LANES]);
        &mut self.inputs
    }

    fn run(&mut self, tape: &Tape) -> &[[f64; LANES]] {
        self.outputs.resize(tape.outputs(), [0.0; LANES]);
        tape.run(&self.inputs, &mut self.registers, &mut self.outputs);
        &self.outputs
    }
}

/// Symbols for the inputs, as the element sees them.
pub(crate) fn symbols<'g, E: Element<N>, const N: usize>(
    v: &[Sym<'g>],
) -> (At<Sym<'g>, N>, E::Params<Sym<'g>>) {
    let points = |first: usize| {
        std::array::from_fn(|i| {
            let k = 3 * (first + i);
            Vec3::new(v[k], v[k + 1], v[k + 2])
        })
    };
    let at = At { x: points(0), x_start: points(N), v_start: points(2 * N), dt: v[9 * N] };
    (at, E::Params::read(&v[9 * N + 1..], &mut 0))
}

impl Program {
    /// The program of an element type, traced when it is first asked for and kept.
    pub fn shared<E: Element<N>, const N: usize>() -> Arc<Self> {
        static PROGRAMS: Mutex<BTreeMap<(TypeId, usize), Arc<Program>>> =
            Mutex::new(BTreeMap::new());
        // Tracing panics on a broken energy only; what is in the map is whole even then.
        let lock = || PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (TypeId::of::<E>(), N);
        if let Some(program) = lock().get(&key) {
            return Arc::clone(program);
        }
        let program = Arc::new(Self::trace::<E, N>());
        Arc::clone(lock().entry(key).or_insert(program))
    }

    /// Traces an element type.
    pub fn trace<E: Element<N>, const N: usize>() -> Self {
        let graph = Graph::new();
        let inputs = 9 * N + 1 + E::Params::<Sym<'_>>::COUNT;
        let v = graph.inputs(inputs as u32);
        let (at, params) = symbols::<E, N>(&v);
        let energy = E::energy(&at, &params);
        let gradient = graph.gradient(energy, &v[..3 * N]);
        let hessian = graph.hessian(energy, &v[..3 * N]);
        let full = [&gradient[..], &hessian[..]].concat();
        let d = 3 * N;
        let packed = |row: usize, column: usize| {
            let (row, column) = (row.min(column), row.max(column));
            row * (2 * d - row + 1) / 2 + (column - row)
        };
        let corners = (0..N).map(|i| {
            // Differentiated by one vertex alone: cheaper than picking its block out of the whole.
            let block = graph.hessian(energy, &v[3 * i..3 * i + 3]);
            Tape::new(&graph, &[&gradient[3 * i..3 * i + 3], &block[..]].concat())
        });
        let mut blocks = vec![0; 9 * block_count(N)];
        for i in 0..N {
            for j in i..N {
                for k in 0..9 {
                    blocks[9 * block_index(N, i, j) + k] =
                        packed(3 * i + k / 3, 3 * j + k % 3) as u32;
                }
            }
        }
        let tapes = [Tape::new(&graph, &gradient), Tape::new(&graph, &full)];
        let reads = |range: std::ops::Range<usize>| {
            tapes.iter().flat_map(Tape::reads).any(|&k| range.contains(&(k as usize)))
        };
        let looks_back = [reads(3 * N..6 * N), reads(6 * N..9 * N)];
        let [gradient_tape, hessian_tape] = tapes;
        Self {
            arity: N,
            inputs,
            looks_back,
            gradient: gradient_tape,
            hessian: hessian_tape,
            corners: corners.collect(),
            packed: blocks,
            operations: [
                graph.count_ops(&[energy]),
                graph.count_ops(&gradient),
                graph.count_ops(&full),
            ],
            shader: Shader::trace::<E, N>,
        }
    }

    /// Number of inputs of the programs.
    pub fn input_count(&self) -> usize {
        self.inputs
    }

    /// Whether the derivatives depend on positions and on velocities of the step's start.
    pub(crate) fn looks_back(&self) -> [bool; 2] {
        self.looks_back
    }

    /// Vertices per stencil.
    pub fn arity(&self) -> usize {
        self.arity
    }

    /// Operations of energy, of the gradient, and of gradient and Hessian together.
    pub fn operations(&self) -> [usize; 3] {
        self.operations
    }

    /// GLSL under the kind's name.
    pub fn shader(&self, kind: &str) -> Shader {
        (self.shader)(kind)
    }

    pub(crate) fn gradient<'s>(&self, scratch: &'s mut Scratch) -> &'s [[f64; LANES]] {
        scratch.run(&self.gradient)
    }

    pub(crate) fn hessian<'s>(&self, scratch: &'s mut Scratch) -> &'s [[f64; LANES]] {
        scratch.run(&self.hessian)
    }

    pub(crate) fn corner<'s>(&self, corner: usize, scratch: &'s mut Scratch) -> &'s [[f64; LANES]] {
        scratch.run(&self.corners[corner])
    }

    /// Spreads one lane of the packed upper triangle over row-major upper blocks.
    pub(crate) fn scatter_blocks(&self, upper: &[[f64; LANES]], lane: usize, blocks: &mut [f64]) {
        for (to, &from) in blocks.iter_mut().zip(&self.packed) {
            *to = upper[from as usize][lane];
        }
    }

    /// Gradient and row-major block of one lane of a corner program.
    pub(crate) fn corner_block(out: &[[f64; LANES]], lane: usize) -> ([f64; 3], [f64; 9]) {
        let o = |k: usize| out[k][lane];
        let block = [o(3), o(4), o(5), o(4), o(6), o(7), o(5), o(7), o(8)];
        ([o(0), o(1), o(2)], block)
    }
}
