//! From graph to register program: fusion of products into sums, order, registers.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::graph::{Binary, Id, Node, Nodes, Unary};
use crate::tape::{LANES, Op, Run, Tape};

/// How far past the oldest unscheduled instruction the scheduler looks for more of one kind. A larger window gives longer runs
/// and more live registers.
const WINDOW: usize = 128;

/// An instruction before registers: what it computes, how, from what.
struct Step {
    id: Id,
    op: Op,
    operands: Vec<Id>,
}

/// Lowers `roots` to a program.
pub(crate) fn lower(nodes: &Nodes, roots: &[Id]) -> Tape {
    let steps = schedule(nodes.len(), Fusion::new(nodes, roots).steps());
    allocate(nodes, roots, &steps)
}

/// Which products are computed inside the one instruction that reads them.
struct Fusion<'n> {
    nodes: &'n Nodes,
    live: Vec<bool>,
    fused: Vec<bool>,
}

impl<'n> Fusion<'n> {
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
        for id in (0..nodes.len()).filter(|&id| this.live[id]) {
            let once = |&x: &Id| uses[x as usize] == 1 && this.product(x).is_some();
            let fusable = match nodes.get(id as Id) {
                Node::Unary(Unary::Neg, x) => Some(x).filter(once),
                // Of two products, the younger: the older one may be done with its operands by then.
                Node::Binary(Binary::Add | Binary::Sub, a, b) => {
                    [a.max(b), a.min(b)].into_iter().find(once)
                }
                _ => None,
            };
            if let Some(product) = fusable {
                this.fused[product as usize] = true;
            }
        }
        this
    }

    fn product(&self, id: Id) -> Option<[Id; 2]> {
        match self.nodes.get(id) {
            Node::Binary(Binary::Mul, a, b) => Some([a, b]),
            _ => None,
        }
    }

    /// The instructions in node order.
    fn steps(&self) -> Vec<Step> {
        let ids = (0..self.nodes.len()).filter(|&id| self.live[id] && !self.fused[id]);
        ids.filter_map(|id| self.step(id as Id)).collect()
    }

    fn step(&self, id: Id) -> Option<Step> {
        let product = |x: Id| self.product(x).filter(|_| self.fused[x as usize]);
        let (op, operands) = match self.nodes.get(id) {
            Node::Lit(_) | Node::Input(_) => return None,
            Node::Unary(op, x) => match (op, product(x)) {
                (Unary::Neg, Some([a, b])) => (Op::NegMul, vec![a, b]),
                (Unary::Neg, None) => (Op::Neg, vec![x]),
                (Unary::Abs, _) => (Op::Abs, vec![x]),
                (Unary::Sqrt, _) => (Op::Sqrt, vec![x]),
                (Unary::Ln, _) => (Op::Ln, vec![x]),
                (Unary::Ln1p, _) => (Op::Ln1p, vec![x]),
                (Unary::Exp, _) => (Op::Exp, vec![x]),
                (Unary::Sin, _) => (Op::Sin, vec![x]),
                (Unary::Cos, _) => (Op::Cos, vec![x]),
            },
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
            Node::Select([a, b, then, otherwise]) => (Op::Select, vec![a, b, then, otherwise]),
        };
        Some(Step { id, op, operands })
    }
}

/// Reorders instructions: those on the longest paths to an output first, so that independent ones lie side by side and
/// hide each other's latency; and in runs of one operation, so that the interpreter branches once per run.
fn schedule(count: usize, mut steps: Vec<Step>) -> Vec<Step> {
    let mut height = vec![0_u32; count];
    for step in steps.iter().rev() {
        let above = height[step.id as usize] + 1;
        for &operand in &step.operands {
            height[operand as usize] = height[operand as usize].max(above);
        }
    }
    // A stable sort: operands are higher than what reads them, and keep coming first.
    steps.sort_by_key(|step| Reverse(height[step.id as usize]));

    let mut pending = vec![false; count];
    for step in &steps {
        pending[step.id as usize] = true;
    }
    let mut steps: Vec<Option<Step>> = steps.into_iter().map(Some).collect();
    let mut order = Vec::with_capacity(steps.len());
    let mut oldest = 0;
    while oldest < steps.len() {
        if steps[oldest].is_none() {
            oldest += 1;
            continue;
        }
        let window = oldest..steps.len().min(oldest + WINDOW);
        let op = longest_run(&steps[window.clone()], &pending);
        let first = order.len();
        for slot in &mut steps[window] {
            let ready = |step: &mut Step| {
                step.op == op && step.operands.iter().all(|&operand| !pending[operand as usize])
            };
            order.extend(slot.take_if(ready));
        }
        // Only now: instructions of one sweep don't wait for each other.
        for step in &order[first..] {
            pending[step.id as usize] = false;
        }
    }
    order
}

/// The operation of which most instructions of the window are ready now; the first in order of declaration at a tie.
fn longest_run(window: &[Option<Step>], pending: &[bool]) -> Op {
    let mut ready = BTreeMap::<Op, usize>::new();
    for step in window.iter().flatten() {
        if step.operands.iter().all(|&operand| !pending[operand as usize]) {
            *ready.entry(step.op).or_default() += 1;
        }
    }
    let longest = ready.into_iter().min_by_key(|&(op, count)| (usize::MAX - count, op));
    longest.expect("the oldest instruction of the window is ready").0
}

/// Assigns registers: constants, then the inputs that are read, then values, which leave their register to another
/// after their last use.
fn allocate(nodes: &Nodes, roots: &[Id], steps: &[Step]) -> Tape {
    let mut last_use = vec![0_usize; nodes.len()];
    for (time, step) in steps.iter().enumerate() {
        for &operand in &step.operands {
            last_use[operand as usize] = time;
        }
    }
    let mut read: Vec<Id> = steps.iter().flat_map(|step| step.operands.iter().copied()).collect();
    read.extend(roots);
    read.sort_unstable();
    read.dedup();

    let mut register = vec![u16::MAX; nodes.len()];
    let mut tape = Tape::default();
    for &id in &read {
        if let Node::Lit(bits) = nodes.get(id) {
            register[id as usize] = tape.add_register();
            tape.constants.push(f64::from_bits(bits));
            last_use[id as usize] = usize::MAX;
        }
    }
    let input = |&id: &Id| match nodes.get(id) {
        Node::Input(index) => Some((index, id)),
        _ => None,
    };
    let mut loads: Vec<_> = read.iter().filter_map(input).collect();
    loads.sort_unstable();
    for (index, id) in loads {
        register[id as usize] = tape.add_register();
        tape.loads.push(index);
        tape.inputs = index as usize + 1;
    }
    for &root in roots {
        last_use[root as usize] = usize::MAX;
    }

    let mut free = Vec::new();
    for (time, step) in steps.iter().enumerate() {
        let from: Vec<u16> = step.operands.iter().map(|&x| register[x as usize]).collect();
        for (place, &operand) in step.operands.iter().enumerate() {
            if last_use[operand as usize] == time && !step.operands[..place].contains(&operand) {
                free.push(from[place]);
            }
        }
        let to = free.pop().unwrap_or_else(|| tape.add_register());
        register[step.id as usize] = to;
        tape.push(step.op, to, &from);
    }
    tape.stores = roots.iter().map(|&root| register[root as usize]).collect();
    tape
}

impl Tape {
    /// Start of a new register.
    fn add_register(&mut self) -> u16 {
        let start = LANES * self.registers;
        self.registers += 1;
        u16::try_from(start).expect("an element's program fits in 8192 registers")
    }

    fn push(&mut self, op: Op, to: u16, from: &[u16]) {
        let operand = |place: usize| from.get(place).copied().unwrap_or(0);
        self.code.push([to, operand(0), operand(1), operand(2)]);
        if op == Op::Select {
            self.code.push([operand(3), 0, 0, 0]);
        }
        let words = if op == Op::Select { 2 } else { 1 };
        match self.runs.last_mut() {
            Some(run) if run.op == op => run.words += words,
            _ => self.runs.push(Run { op, words }),
        }
        self.instructions += 1;
    }
}
