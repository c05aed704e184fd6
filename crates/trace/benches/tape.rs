//! Time of the CPU programs of typical elements: energy, gradient and upper triangle of the Hessian of a block of elements.
//!
//! `cargo bench -p gusset-trace`; the throughput column is elements per second.
#![expect(clippy::print_stdout, reason = "a benchmark reports what it measured")]

#[path = "../src/samples.rs"]
mod samples;

use divan::Bencher;
use divan::counter::ItemsCount;
use gusset_trace::{Graph, LANES, Registers, Sym, Tape};
use samples::{EdgeEdgeBarrier, Friction, Hinge, NeoHookeanTet, Sample, StVKTriangle};

const BLOCKS: usize = 64;

fn main() {
    divan::main();
}

fn all<E: Sample>(graph: &Graph) -> Vec<Sym<'_>> {
    let inputs = graph.inputs(E::inputs() as u32);
    let energy = E::of(&inputs);
    let gradient = graph.gradient(energy, &inputs[..E::dofs()]);
    let hessian = graph.hessian(energy, &inputs[..E::dofs()]);
    [&[energy], &gradient[..], &hessian[..]].concat()
}

fn lanes(state: &[f64]) -> Vec<[f64; LANES]> {
    state.iter().map(|&value| std::array::from_fn(|l| value * (1.0 + 1e-3 * l as f64))).collect()
}

fn bench<E: Sample>(bencher: Bencher<'_, '_>, tape: &Tape) {
    let inputs = lanes(&E::state());
    let mut registers = Registers::new();
    let mut outputs = vec![[0.0; LANES]; tape.outputs()];
    bencher.counter(ItemsCount::new(BLOCKS * LANES)).bench_local(|| {
        for _ in 0..BLOCKS {
            tape.run(divan::black_box(&inputs), &mut registers, &mut outputs);
            divan::black_box(&mut outputs);
        }
    });
}

#[divan::bench(types = [StVKTriangle, NeoHookeanTet, Hinge, EdgeEdgeBarrier, Friction])]
fn hessian<E: Sample>(bencher: Bencher<'_, '_>) {
    let graph = Graph::new();
    let outputs = all::<E>(&graph);
    let tape = Tape::new(&graph, &outputs);
    println!(
        "{}: {} ops, {} instructions, {} runs, {} registers",
        E::NAME,
        graph.count_ops(&outputs),
        tape.instructions(),
        tape.runs(),
        tape.registers()
    );
    bench::<E>(bencher, &tape);
}

#[divan::bench(types = [StVKTriangle, NeoHookeanTet, Hinge, EdgeEdgeBarrier, Friction])]
fn energy<E: Sample>(bencher: Bencher<'_, '_>) {
    let graph = Graph::new();
    let outputs = all::<E>(&graph);
    bench::<E>(bencher, &Tape::new(&graph, &outputs[..1]));
}

#[divan::bench(types = [StVKTriangle, NeoHookeanTet, Hinge])]
fn trace_and_lower<E: Sample>(bencher: Bencher<'_, '_>) {
    bencher.bench_local(|| {
        let graph = Graph::new();
        Tape::new(&graph, &all::<E>(&graph))
    });
}
