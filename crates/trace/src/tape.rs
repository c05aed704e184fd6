//! The CPU program of a graph: straight-line, on a small register file, [`LANES`] elements at a time.

use std::sync::{Mutex, PoisonError};

use crate::lower::lower;
use crate::{Graph, Sym};

/// Elements evaluated together. Lane `l` of every value belongs to element `l` of the batch; lanes never mix, so a
/// result does not depend on the lane or on the company.
pub const LANES: usize = 8;

pub(crate) type Lanes = [f64; LANES];

/// A register file, flat: the value at `start` takes `LANES` numbers. It is as long as a `u16` start can reach, so that no
/// access needs a bounds check; a tape touches the few kilobytes it uses.
type File = [f64; FILE];
const FILE: usize = u16::MAX as usize + LANES;

/// Register files not in use. Making one costs more than a short batch of elements, and parallel iterators make one
/// scratch per split.
static SPARE: Mutex<Vec<Vec<Lanes>>> = Mutex::new(Vec::new());

/// Scratch of one thread for running tapes, any tape after any other.
///
/// Its memory is taken on the first run and given back for reuse when it is dropped. Nothing is carried from one run to the next.
#[derive(Debug, Default)]
pub struct Registers {
    lanes: Vec<Lanes>,
}

impl Registers {
    /// An empty scratch.
    pub const fn new() -> Self {
        Self { lanes: Vec::new() }
    }

    fn file(&mut self) -> &mut File {
        // Room to start on a cache line: a vector across two of them costs twice.
        const ROOM: usize = FILE.div_ceil(LANES) + 1;
        if self.lanes.is_empty() {
            let spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner).pop();
            self.lanes = spare.unwrap_or_else(|| vec![[0.0; LANES]; ROOM]);
        }
        let flat = self.lanes.as_flattened_mut();
        let start = flat.as_ptr().align_offset(size_of::<Lanes>()).min(LANES);
        flat[start..].first_chunk_mut().expect("there is room for a file and its alignment")
    }
}

impl Drop for Registers {
    fn drop(&mut self) {
        if !self.lanes.is_empty() {
            let lanes = std::mem::take(&mut self.lanes);
            SPARE.lock().unwrap_or_else(PoisonError::into_inner).push(lanes);
        }
    }
}

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
    /// One word per instruction: where the register written starts in the file, then those read. A fourth operand takes a
    /// word of its own.
    pub(crate) code: Vec<[u16; 4]>,
    /// The first registers hold these.
    pub(crate) constants: Vec<f64>,
    /// The inputs that are read; their registers follow the constants.
    pub(crate) loads: Vec<u32>,
    /// Start of each output's register.
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

    /// The inputs that are read, in ascending order; the others may hold anything.
    pub fn reads(&self) -> &[u32] {
        &self.loads
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
    /// Does not allocate, but for the first run of a new [`Registers`].
    ///
    /// # Panics
    ///
    /// If there are fewer inputs than [`Tape::inputs`] or other than [`Tape::outputs`] outputs.
    pub fn run(
        &self,
        inputs: &[[f64; LANES]],
        registers: &mut Registers,
        outputs: &mut [[f64; LANES]],
    ) {
        assert!(inputs.len() >= self.inputs, "a tape gets all the inputs it reads");
        assert_eq!(outputs.len(), self.stores.len(), "a tape gets room for all its outputs");
        // The widest vectors of the machine: the lanes' arithmetic is the same for every width.
        let file = registers.file();
        pulp::Arch::new().dispatch(Execution { tape: self, inputs, file, outputs });
    }
}

/// One evaluation, compiled once per instruction set.
struct Execution<'a> {
    tape: &'a Tape,
    inputs: &'a [Lanes],
    file: &'a mut File,
    outputs: &'a mut [Lanes],
}

#[inline(always)]
fn get(file: &File, start: u16) -> Lanes {
    std::array::from_fn(|l| file[start as usize + l])
}

#[inline(always)]
fn set(file: &mut File, start: u16, value: Lanes) {
    for l in 0..LANES {
        file[start as usize + l] = value[l];
    }
}

impl pulp::WithSimd for Execution<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        let Self { tape, inputs, file, outputs } = self;
        let constants = tape.constants.iter().map(|&constant| [constant; LANES]);
        let loads = tape.loads.iter().map(|&input| inputs[input as usize]);
        for (value, register) in constants.chain(loads).zip((0..).step_by(LANES)) {
            set(file, register, value);
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
            *output = get(file, register);
        }
    }
}

#[inline(always)]
fn unary(file: &mut File, words: &[[u16; 4]], f: impl Fn(f64) -> f64) {
    for &[to, a, ..] in words {
        let a = get(file, a);
        set(file, to, std::array::from_fn(|l| f(a[l])));
    }
}

#[inline(always)]
fn binary(file: &mut File, words: &[[u16; 4]], f: impl Fn(f64, f64) -> f64) {
    for &[to, a, b, _] in words {
        let (a, b) = (get(file, a), get(file, b));
        set(file, to, std::array::from_fn(|l| f(a[l], b[l])));
    }
}

#[inline(always)]
fn ternary(file: &mut File, words: &[[u16; 4]], f: impl Fn(f64, f64, f64) -> f64) {
    for &[to, a, b, c] in words {
        let (a, b, c) = (get(file, a), get(file, b), get(file, c));
        set(file, to, std::array::from_fn(|l| f(a[l], b[l], c[l])));
    }
}

#[inline(always)]
fn select(file: &mut File, words: &[[u16; 4]]) {
    for &[[to, a, b, c], [d, ..]] in words.as_chunks::<2>().0 {
        let (a, b, c, d) = (get(file, a), get(file, b), get(file, c), get(file, d));
        set(file, to, std::array::from_fn(|l| if a[l] < b[l] { c[l] } else { d[l] }));
    }
}
