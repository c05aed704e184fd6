//! The CPU program of a graph: straight-line, on a small register file, [`LANES`] elements at a time.

use crate::lower::lower;
use crate::{Graph, Sym};

/// Elements evaluated together. Lane `l` of every value belongs to element `l` of the batch; lanes never mix, so a
/// result does not depend on the lane or on the company.
pub const LANES: usize = 8;

type Lanes = [f64; LANES];

/// What an instruction computes from its operands a, b, c, d.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Op {
    /// `a b + c`, rounded twice like the two operations it stands for.
    MulAdd,
    /// `a b - c`
    MulSub,
    /// `c - a b`
    SubMul,
    /// `-(a b)`
    NegMul,
    Mul,
    Add,
    Sub,
    Neg,
    Abs,
    Div,
    Sqrt,
    Ln,
    Ln1p,
    Exp,
    Sin,
    Cos,
    Atan2,
    /// `a < b ? c : d`
    Select,
}

/// Consecutive instructions of one operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    pub(crate) op: Op,
    /// Words of code the run takes.
    pub(crate) words: u32,
}

/// A register program for chosen outputs of a graph.
///
/// Immutable and shared between threads; each thread brings its own scratch.
#[derive(Clone, Debug, Default)]
pub struct Tape {
    pub(crate) runs: Vec<Run>,
    /// One word per instruction: the register written, then those read. A fourth operand takes a word of its own.
    pub(crate) code: Vec<[u16; 4]>,
    /// Registers `0..constants.len()` hold these.
    pub(crate) constants: Vec<f64>,
    /// The inputs that are read; their registers follow the constants.
    pub(crate) loads: Vec<u32>,
    /// Register of each output.
    pub(crate) stores: Vec<u16>,
    pub(crate) registers: usize,
    pub(crate) inputs: usize,
    pub(crate) instructions: usize,
}

impl Tape {
    /// Lowers `outputs` to a program. What they don't need is left out.
    pub fn new(graph: &Graph, outputs: &[Sym<'_>]) -> Self {
        let roots = graph.ids(outputs);
        lower(&graph.nodes(), &roots)
    }

    /// One more than the largest input index read.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Number of outputs.
    pub fn outputs(&self) -> usize {
        self.stores.len()
    }

    /// Number of instructions; a product fused with a sum counts once.
    pub fn instructions(&self) -> usize {
        self.instructions
    }

    /// Number of runs of one operation that the instructions form: the branches taken per evaluation.
    pub fn runs(&self) -> usize {
        self.runs.len()
    }

    /// Registers in use, of [`LANES`] numbers each.
    pub fn registers(&self) -> usize {
        self.registers
    }

    /// Evaluates [`LANES`] elements: `outputs[k][lane]` from `inputs[index][lane]`.
    ///
    /// `registers` is scratch that may be handed to any tape again; it grows to the largest tape's need and is not
    /// allocated after that.
    ///
    /// # Panics
    ///
    /// If there are fewer inputs than [`Tape::inputs`] or other than [`Tape::outputs`] outputs.
    pub fn run(
        &self,
        inputs: &[[f64; LANES]],
        registers: &mut Vec<[f64; LANES]>,
        outputs: &mut [[f64; LANES]],
    ) {
        assert!(inputs.len() >= self.inputs, "a tape gets all the inputs it reads");
        assert_eq!(outputs.len(), self.stores.len(), "a tape gets room for all its outputs");
        // A register file of constant, power-of-two size: a masked index needs no bounds check.
        match self.registers {
            0..=256 => self.run_on::<256>(inputs, registers, outputs),
            257..=2048 => self.run_on::<2048>(inputs, registers, outputs),
            _ => self.run_on::<65536>(inputs, registers, outputs),
        }
    }

    fn run_on<const N: usize>(
        &self,
        inputs: &[Lanes],
        registers: &mut Vec<Lanes>,
        outputs: &mut [Lanes],
    ) {
        // One register more than needed, to start the file on a cache line.
        if registers.len() < N + 1 {
            registers.resize(N + 1, [0.0; LANES]);
        }
        let flat = registers.as_flattened_mut();
        let start = flat.as_ptr().align_offset(size_of::<Lanes>()).min(LANES);
        let (file, _) = flat[start..].as_chunks_mut();
        let file = file.first_chunk_mut::<N>().expect("the scratch was just grown");
        // The widest vectors of the machine: the lanes' arithmetic is the same for every width.
        pulp::Arch::new().dispatch(Execution { tape: self, inputs, file, outputs });
    }
}

/// One evaluation, compiled once per instruction set.
struct Execution<'a, const N: usize> {
    tape: &'a Tape,
    inputs: &'a [Lanes],
    file: &'a mut [Lanes; N],
    outputs: &'a mut [Lanes],
}

impl<const N: usize> pulp::WithSimd for Execution<'_, N> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        let Self { tape, inputs, file, outputs } = self;
        for (register, &constant) in file.iter_mut().zip(&tape.constants) {
            *register = [constant; LANES];
        }
        for (register, &input) in file[tape.constants.len()..].iter_mut().zip(&tape.loads) {
            *register = inputs[input as usize];
        }
        let mut code = tape.code.as_slice();
        for run in &tape.runs {
            let (words, rest) = code.split_at(run.words as usize);
            code = rest;
            match run.op {
                Op::MulAdd => ternary(file, words, |a, b, c| a * b + c),
                Op::MulSub => ternary(file, words, |a, b, c| a * b - c),
                Op::SubMul => ternary(file, words, |a, b, c| c - a * b),
                Op::NegMul => binary(file, words, |a, b| -(a * b)),
                Op::Mul => binary(file, words, |a, b| a * b),
                Op::Add => binary(file, words, |a, b| a + b),
                Op::Sub => binary(file, words, |a, b| a - b),
                Op::Neg => unary(file, words, |a| -a),
                Op::Abs => unary(file, words, f64::abs),
                Op::Div => binary(file, words, |a, b| a / b),
                Op::Sqrt => unary(file, words, f64::sqrt),
                Op::Ln => unary(file, words, f64::ln),
                Op::Ln1p => unary(file, words, f64::ln_1p),
                Op::Exp => unary(file, words, f64::exp),
                Op::Sin => unary(file, words, f64::sin),
                Op::Cos => unary(file, words, f64::cos),
                Op::Atan2 => binary(file, words, f64::atan2),
                Op::Select => select(file, words),
            }
        }
        for (output, &register) in outputs.iter_mut().zip(&tape.stores) {
            *output = file[register as usize & (N - 1)];
        }
    }
}

#[inline(always)]
fn unary<const N: usize>(file: &mut [Lanes; N], words: &[[u16; 4]], f: impl Fn(f64) -> f64) {
    for word in words {
        let [to, a, ..] = word.map(|register| register as usize & (N - 1));
        let a = file[a];
        file[to] = std::array::from_fn(|l| f(a[l]));
    }
}

#[inline(always)]
fn binary<const N: usize>(file: &mut [Lanes; N], words: &[[u16; 4]], f: impl Fn(f64, f64) -> f64) {
    for word in words {
        let [to, a, b, _] = word.map(|register| register as usize & (N - 1));
        let (a, b) = (file[a], file[b]);
        file[to] = std::array::from_fn(|l| f(a[l], b[l]));
    }
}

#[inline(always)]
fn ternary<const N: usize>(
    file: &mut [Lanes; N],
    words: &[[u16; 4]],
    f: impl Fn(f64, f64, f64) -> f64,
) {
    for word in words {
        let [to, a, b, c] = word.map(|register| register as usize & (N - 1));
        let (a, b, c) = (file[a], file[b], file[c]);
        file[to] = std::array::from_fn(|l| f(a[l], b[l], c[l]));
    }
}

#[inline(always)]
fn select<const N: usize>(file: &mut [Lanes; N], words: &[[u16; 4]]) {
    for pair in words.as_chunks::<2>().0 {
        let [to, a, b, c] = pair[0].map(|register| register as usize & (N - 1));
        let (a, b, c) = (file[a], file[b], file[c]);
        let d = file[pair[1][0] as usize & (N - 1)];
        file[to] = std::array::from_fn(|l| if a[l] < b[l] { c[l] } else { d[l] });
    }
}
