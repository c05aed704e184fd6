//! The traced programs of an element type.

use crate::element::{At, Element, Fields};
use crate::term::{block_count, block_index};
use gusset_scalar::Vec3;
use gusset_trace::{Graph, Registers, Sym, Tape, glsl};
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
    shader: Shader,
}

/// GLSL of one stencil, without the shell that loads and stores.
#[derive(Clone, Debug)]
pub struct Shader {
    /// Name of the kind; part of the function names.
    pub kind: String,
    /// Vertices per stencil.
    pub arity: usize,
    /// Doubles a stencil needs: positions, start positions, start velocities, dt, constants.
    pub inputs: usize,
    /// `void NAME_energy(in double v[inputs], out double r[1])`.
    pub energy: String,
    /// `void NAME_hessian(...)`: gradient (3 N), then the upper triangle of the Hessian row by row.
    pub hessian: String,
}

impl Shader {
    /// The kind as an identifier: `neo_hookean`.
    pub fn identifier(&self) -> String {
        self.kind.replace('-', "_")
    }
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

fn point<'g>(v: &[Sym<'g>], k: usize) -> Vec3<Sym<'g>> {
    Vec3::new(v[3 * k], v[3 * k + 1], v[3 * k + 2])
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
        let at = At {
            x: std::array::from_fn(|i| point(&v, i)),
            x_start: std::array::from_fn(|i| point(&v, N + i)),
            v_start: std::array::from_fn(|i| point(&v, 2 * N + i)),
            dt: v[9 * N],
        };
        let energy = E::energy(&at, &E::Params::read(&v[9 * N + 1..], &mut 0));
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
            shader: Shader {
                kind: String::new(),
                arity: N,
                inputs,
                energy: glsl(&graph, "NAME_energy", inputs, &[energy]),
                hessian: glsl(&graph, "NAME_hessian", inputs, &full),
            },
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
        let mut shader = self.shader.clone();
        kind.clone_into(&mut shader.kind);
        let name = shader.identifier();
        shader.energy = shader.energy.replacen("NAME", &name, 1);
        shader.hessian = shader.hessian.replacen("NAME", &name, 1);
        shader
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
