//! The CPU program of a graph: straight-line, on a small register file, [`LANES`] elements at a time.

use crate::graph::{Binary, Id, Node, Nodes, Unary};
use crate::{Graph, Sym};

/// Elements evaluated together. Lane `l` of every value belongs to element `l` of the batch; lanes never mix, so a
/// result does not depend on the lane or on the company.
pub const LANES: usize = 8;

type Lanes = [f64; LANES];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Op {
    Add,
    Sub,
    Mul,
    Div,
    Neg,
    Abs,
    Sqrt,
    Ln,
    Exp,
    Sin,
    Cos,
    Atan2,
    Select,
    /// `a b + c`, rounded twice like the two operations it stands for.
    MulAdd,
    /// `a b - c`
    MulSub,
    /// `c - a b`
    SubMul,
    /// `-(a b)`
    NegMul,
}

#[derive(Clone, Copy, Debug)]
struct Instruction {
    op: Op,
    to: u16,
    from: [u16; 4],
}

/// A register program for chosen outputs of a graph.
///
/// Immutable and shared between threads; each thread brings its own scratch.
#[derive(Clone, Debug)]
pub struct Tape {
    code: Vec<Instruction>,
    /// Registers `0..constants.len()` hold these.
    constants: Vec<f64>,
    /// The inputs that are read; they follow the constants.
    loads: Vec<u32>,
    /// Register of each output.
    stores: Vec<u16>,
    registers: usize,
    inputs: usize,
}

impl Tape {
    /// Lowers `outputs` to a program. What they don't need is left out.
    pub fn new(graph: &Graph, outputs: &[Sym<'_>]) -> Self {
        let roots = graph.ids(outputs);
        Lowering::new(&graph.nodes(), &roots).tape(&roots)
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
        self.code.len()
    }

    /// Size of the register file, in values of [`LANES`] numbers.
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
        if registers.len() < self.registers {
            registers.resize(self.registers, [0.0; LANES]);
        }
        let file = &mut registers[..self.registers];
        for (register, &constant) in file.iter_mut().zip(&self.constants) {
            *register = [constant; LANES];
        }
        for (register, &input) in file[self.constants.len()..].iter_mut().zip(&self.loads) {
            *register = inputs[input as usize];
        }
        for instruction in &self.code {
            step(file, instruction);
        }
        for (output, &register) in outputs.iter_mut().zip(&self.stores) {
            *output = file[register as usize];
        }
    }
}

#[inline(always)]
fn step(file: &mut [Lanes], instruction: &Instruction) {
    let [a, b, c, d] = instruction.from;
    let a = file[a as usize];
    let b = file[b as usize];
    let mut to = [0.0; LANES];
    macro_rules! lanes {
        ($lane:ident => $value:expr) => {
            for $lane in 0..LANES {
                to[$lane] = $value;
            }
        };
    }
    match instruction.op {
        Op::Add => lanes!(l => a[l] + b[l]),
        Op::Sub => lanes!(l => a[l] - b[l]),
        Op::Mul => lanes!(l => a[l] * b[l]),
        Op::Div => lanes!(l => a[l] / b[l]),
        Op::Neg => lanes!(l => -a[l]),
        Op::Abs => lanes!(l => a[l].abs()),
        Op::Sqrt => lanes!(l => a[l].sqrt()),
        Op::Ln => lanes!(l => a[l].ln()),
        Op::Exp => lanes!(l => a[l].exp()),
        Op::Sin => lanes!(l => a[l].sin()),
        Op::Cos => lanes!(l => a[l].cos()),
        Op::Atan2 => lanes!(l => a[l].atan2(b[l])),
        Op::Select => {
            let c = file[c as usize];
            let d = file[d as usize];
            lanes!(l => if a[l] < b[l] { c[l] } else { d[l] });
        }
        Op::MulAdd => {
            let c = file[c as usize];
            lanes!(l => a[l] * b[l] + c[l]);
        }
        Op::MulSub => {
            let c = file[c as usize];
            lanes!(l => a[l] * b[l] - c[l]);
        }
        Op::SubMul => {
            let c = file[c as usize];
            lanes!(l => c[l] - a[l] * b[l]);
        }
        Op::NegMul => lanes!(l => -(a[l] * b[l])),
    }
    file[instruction.to as usize] = to;
}

/// A graph on its way to a tape.
struct Lowering<'n> {
    nodes: &'n Nodes,
    live: Vec<bool>,
    /// Products that are computed inside the one instruction that reads them.
    fused: Vec<bool>,
}

impl<'n> Lowering<'n> {
    fn new(nodes: &'n Nodes, roots: &[Id]) -> Self {
        let live = nodes.live(roots);
        let mut uses = vec![0_u32; nodes.len()];
        for id in (0..nodes.len()).filter(|&id| live[id]) {
            nodes.get(id as Id).operands(|operand| uses[operand as usize] += 1);
        }
        for &root in roots {
            uses[root as usize] += 1;
        }
        let mut this = Self { nodes, live, fused: vec![false; nodes.len()] };
        for id in 0..nodes.len() {
            if let Some(product) = this.fusable(id as Id, &uses) {
                this.fused[product as usize] = true;
            }
        }
        this
    }

    /// The product among the operands of a sum that nothing else reads.
    fn fusable(&self, id: Id, uses: &[u32]) -> Option<Id> {
        if !self.live[id as usize] {
            return None;
        }
        let once = |x: Id| uses[x as usize] == 1 && self.product(x).is_some();
        match self.nodes.get(id) {
            Node::Unary(Unary::Neg, x) => Some(x).filter(|&x| once(x)),
            Node::Binary(Binary::Add | Binary::Sub, a, b) => {
                // The younger operand, so that the older one is out of the way sooner.
                let (first, second) = if a > b { (a, b) } else { (b, a) };
                [first, second].into_iter().find(|&x| once(x))
            }
            _ => None,
        }
    }

    fn product(&self, id: Id) -> Option<[Id; 2]> {
        match self.nodes.get(id) {
            Node::Binary(Binary::Mul, a, b) => Some([a, b]),
            _ => None,
        }
    }

    /// Operation and operands of the instruction that computes a node.
    fn select(&self, id: Id) -> (Op, Vec<Id>) {
        let product = |x: Id| self.product(x).filter(|_| self.fused[x as usize]);
        match self.nodes.get(id) {
            Node::Lit(_) | Node::Input(_) => unreachable!("literals and inputs are not computed"),
            Node::Unary(op, x) => {
                if let (Unary::Neg, Some([a, b])) = (op, product(x)) {
                    return (Op::NegMul, vec![a, b]);
                }
                let op = match op {
                    Unary::Neg => Op::Neg,
                    Unary::Abs => Op::Abs,
                    Unary::Sqrt => Op::Sqrt,
                    Unary::Ln => Op::Ln,
                    Unary::Exp => Op::Exp,
                    Unary::Sin => Op::Sin,
                    Unary::Cos => Op::Cos,
                };
                (op, vec![x])
            }
            Node::Binary(op, x, y) => match (op, product(x), product(y)) {
                (Binary::Add, Some([a, b]), _) => (Op::MulAdd, vec![a, b, y]),
                (Binary::Add, None, Some([a, b])) => (Op::MulAdd, vec![a, b, x]),
                (Binary::Sub, Some([a, b]), _) => (Op::MulSub, vec![a, b, y]),
                (Binary::Sub, None, Some([a, b])) => (Op::SubMul, vec![a, b, x]),
                (Binary::Add, None, None) => (Op::Add, vec![x, y]),
                (Binary::Sub, None, None) => (Op::Sub, vec![x, y]),
                (Binary::Mul, ..) => (Op::Mul, vec![x, y]),
                (Binary::Div, ..) => (Op::Div, vec![x, y]),
                (Binary::Atan2, ..) => (Op::Atan2, vec![x, y]),
            },
            Node::Select(operands) => (Op::Select, operands.to_vec()),
        }
    }

    fn tape(&self, roots: &[Id]) -> Tape {
        let mut constants = Vec::new();
        let mut loads = Vec::new();
        let mut program = Vec::new();
        let mut register = vec![u32::MAX; self.nodes.len()];
        for id in (0..self.nodes.len()).filter(|&id| self.live[id] && !self.fused[id]) {
            match self.nodes.get(id as Id) {
                Node::Lit(bits) => {
                    register[id] = constants.len() as u32;
                    constants.push(f64::from_bits(bits));
                }
                Node::Input(index) => loads.push((id, index)),
                _ => {
                    let (op, operands) = self.select(id as Id);
                    program.push((id as Id, op, operands));
                }
            }
        }
        for (place, &(id, _)) in loads.iter().enumerate() {
            register[id] = (constants.len() + place) as u32;
        }

        // The last instruction that reads each node; constants and outputs are never given up.
        let mut last_use = vec![usize::MAX; self.nodes.len()];
        for (time, (_, _, operands)) in program.iter().enumerate() {
            for &operand in operands {
                last_use[operand as usize] = time;
            }
        }
        for &root in roots {
            last_use[root as usize] = usize::MAX;
        }
        let mut registers = constants.len() + loads.len();
        let mut free: Vec<u32> = Vec::new();
        let mut code = Vec::with_capacity(program.len());
        for (time, (id, op, operands)) in program.into_iter().enumerate() {
            let mut from = [0; 4];
            for (slot, &operand) in from.iter_mut().zip(&operands) {
                *slot = small(register[operand as usize]);
            }
            for (place, &operand) in operands.iter().enumerate() {
                let repeated = operands[..place].contains(&operand);
                let constant = (register[operand as usize] as usize) < constants.len();
                if last_use[operand as usize] == time && !repeated && !constant {
                    free.push(register[operand as usize]);
                }
            }
            let to = free.pop().unwrap_or_else(|| {
                registers += 1;
                registers as u32 - 1
            });
            register[id as usize] = to;
            code.push(Instruction { op, to: small(to), from });
        }
        Tape {
            code,
            constants,
            inputs: loads.iter().map(|&(_, index)| index as usize + 1).max().unwrap_or(0),
            loads: loads.into_iter().map(|(_, index)| index).collect(),
            stores: roots.iter().map(|&root| small(register[root as usize])).collect(),
            registers,
        }
    }
}

fn small(register: u32) -> u16 {
    u16::try_from(register).expect("an element's program fits in 65536 registers")
}
