//! The largest intermediate term of every stencil: the scale on which device and CPU are compared.

use gusset_energy::{At, Blocks, Element, Fields, StepState, Term, Vec3};
use gusset_trace::{Graph, Sym, Tape, Termed};
use rayon::prelude::*;

/// The largest term of one stencil's numbers, and so on for its derivatives.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Scale {
    pub(crate) energy: f64,
    /// Of the traced gradient and exact Hessian.
    pub(crate) exact: [f64; 2],
    /// Of gradient and Hessian as they are assembled: of the closed form, where there is one.
    pub(crate) assembled: [f64; 2],
}

impl Scale {
    /// Of several stencils that are summed into the same numbers.
    pub(crate) fn or(self, o: Self) -> Self {
        let larger = |a: [f64; 2], b: [f64; 2]| [a[0].max(b[0]), a[1].max(b[1])];
        Self {
            energy: self.energy.max(o.energy),
            exact: larger(self.exact, o.exact),
            assembled: larger(self.assembled, o.assembled),
        }
    }
}

/// Scales of all stencils of a batch of `E`.
pub(crate) fn scales<E: Element<N>, const N: usize>(
    term: &dyn Term,
    at: &StepState<'_>,
) -> Vec<Scale> {
    let programs = Programs::of::<E, N>();
    let (params, stride) = term.params();
    let stencils: Vec<(&[u32], &[f64])> =
        term.stencils().chunks_exact(N).zip(params.chunks_exact(stride)).collect();
    let scale = |scratch: &mut Scratch, (vertices, params): (&[u32], &[f64])| {
        scratch.inputs.clear();
        for array in [at.x, at.x_start, at.v_start] {
            scratch.inputs.extend(vertices.iter().flat_map(|&v| array[v as usize].to_array()));
        }
        scratch.inputs.push(at.dt);
        scratch.inputs.extend(params);
        programs.scale(scratch)
    };
    stencils.into_par_iter().map_init(Scratch::default, scale).collect()
}

/// The same expressions that the kernels are made of.
struct Programs {
    energy: Tape,
    exact: Tape,
    closed_form: Option<Tape>,
    /// Numbers of a gradient.
    gradient: usize,
}

#[derive(Default)]
struct Scratch {
    inputs: Vec<f64>,
    registers: Vec<Termed>,
    outputs: Vec<Termed>,
}

/// The inputs as the element sees them.
fn symbols<'g, E: Element<N>, const N: usize>(
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

impl Programs {
    fn of<E: Element<N>, const N: usize>() -> Self {
        let inputs = (9 * N + 1 + E::Params::<f64>::COUNT) as u32;
        let graph = Graph::new();
        let v = graph.inputs(inputs);
        let (at, params) = symbols::<E, N>(&v);
        let energy = E::energy(&at, &params);
        let x = &v[..3 * N];
        let exact = [graph.gradient(energy, x), graph.hessian(energy, x)].concat();
        let closed_form = E::CLOSED_FORM.then(|| {
            let graph = Graph::new();
            let v = graph.inputs(inputs);
            let (at, params) = symbols::<E, N>(&v);
            let mut blocks = Blocks::<N, Sym<'_>>::zero();
            E::closed_form(&at, &params, &mut blocks);
            let mut out: Vec<_> = blocks.gradient.iter().flat_map(|g| g.to_array()).collect();
            for (i, row) in blocks.hessian.iter().enumerate() {
                for block in &row[i..] {
                    out.extend((0..9).map(|k| block.entry(k / 3, k % 3)));
                }
            }
            Tape::new(&graph, &out)
        });
        Self {
            energy: Tape::new(&graph, &[energy]),
            exact: Tape::new(&graph, &exact),
            closed_form,
            gradient: 3 * N,
        }
    }

    fn scale(&self, scratch: &mut Scratch) -> Scale {
        let mut largest = |tape: &Tape, split: usize| {
            let Scratch { inputs, registers, outputs } = &mut *scratch;
            outputs.resize(tape.outputs(), Termed::default());
            tape.terms(inputs, registers, outputs);
            // Infinite where anything is no number: then there is no scale to compare on.
            let of = |part: &[Termed]| {
                let size = |t: &Termed| if t.term.is_nan() { f64::INFINITY } else { t.term };
                part.iter().map(size).fold(0.0, f64::max)
            };
            let (first, second) = outputs.split_at(split);
            [of(first), of(second)]
        };
        let energy = largest(&self.energy, 1)[0];
        let exact = largest(&self.exact, self.gradient);
        let assembled = self.closed_form.as_ref().map_or(exact, |t| largest(t, self.gradient));
        Scale { energy, exact, assembled }
    }
}
