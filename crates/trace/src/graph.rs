//! The expression graph: nodes, each recorded once, with constants folded.

use std::cell::{Ref, RefCell, RefMut};
use std::collections::HashMap;
use std::fmt;

use gusset_scalar::Scalar;

use crate::Sym;

/// Index of a node. Operands always have smaller indices than the node that reads them, so index order is an
/// evaluation order.
pub(crate) type Id = u32;

/// One operation on earlier nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Node {
    /// A constant, by its bits (so that -0 and NaN are keys too).
    Lit(u64),
    Input(u32),
    Unary(Unary, Id),
    Binary(Binary, Id, Id),
    /// `a < b ? then : otherwise`
    Select([Id; 4]),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Unary {
    Neg,
    Abs,
    Sqrt,
    Ln,
    Ln1p,
    Exp,
    Sin,
    Cos,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Atan2,
}

impl Unary {
    pub(crate) fn eval(self, x: f64) -> f64 {
        match self {
            Self::Neg => -x,
            Self::Abs => Scalar::abs(x),
            Self::Sqrt => Scalar::sqrt(x),
            Self::Ln => Scalar::ln(x),
            Self::Ln1p => Scalar::ln_1p(x),
            Self::Exp => Scalar::exp(x),
            Self::Sin => Scalar::sin(x),
            Self::Cos => Scalar::cos(x),
        }
    }
}

impl Binary {
    pub(crate) fn eval(self, a: f64, b: f64) -> f64 {
        match self {
            Self::Add => a + b,
            Self::Sub => a - b,
            Self::Mul => a * b,
            Self::Div => a / b,
            Self::Atan2 => Scalar::atan2(a, b),
        }
    }
}

impl Node {
    /// Calls `f` with every operand.
    pub(crate) fn operands(self, mut f: impl FnMut(Id)) {
        match self {
            Self::Lit(_) | Self::Input(_) => {}
            Self::Unary(_, a) => f(a),
            Self::Binary(_, a, b) => {
                f(a);
                f(b);
            }
            Self::Select(operands) => operands.into_iter().for_each(f),
        }
    }
}

/// The nodes of a graph and the table that finds an equal one.
#[derive(Default)]
pub(crate) struct Nodes {
    list: Vec<Node>,
    // Only ever looked up, never iterated: its order can't reach a result.
    ids: HashMap<Node, Id>,
}

impl Nodes {
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn get(&self, id: Id) -> Node {
        self.list[id as usize]
    }

    fn intern(&mut self, node: Node) -> Id {
        *self.ids.entry(node).or_insert_with(|| {
            self.list.push(node);
            Id::try_from(self.list.len() - 1).expect("a graph holds at most 2^32 nodes")
        })
    }

    pub(crate) fn lit(&mut self, value: f64) -> Id {
        self.intern(Node::Lit(value.to_bits()))
    }

    pub(crate) fn input(&mut self, index: u32) -> Id {
        self.intern(Node::Input(index))
    }

    pub(crate) fn literal(&self, id: Id) -> Option<f64> {
        match self.get(id) {
            Node::Lit(bits) => Some(f64::from_bits(bits)),
            _ => None,
        }
    }

    fn negated(&self, id: Id) -> Option<Id> {
        match self.get(id) {
            Node::Unary(Unary::Neg, x) => Some(x),
            _ => None,
        }
    }

    pub(crate) fn unary(&mut self, op: Unary, x: Id) -> Id {
        if let Some(value) = self.literal(x) {
            return self.lit(op.eval(value));
        }
        match (op, self.get(x)) {
            (Unary::Neg, Node::Unary(Unary::Neg, inner)) => inner,
            (Unary::Neg, Node::Binary(Binary::Sub, a, b)) => self.sub(b, a),
            (Unary::Neg, Node::Binary(Binary::Mul, a, b)) if self.literal(b).is_some() => {
                let b = self.unary(Unary::Neg, b);
                self.mul(a, b)
            }
            (Unary::Abs | Unary::Cos, Node::Unary(Unary::Neg, inner))
            | (Unary::Abs, Node::Unary(Unary::Abs, inner)) => self.unary(op, inner),
            (Unary::Sin, Node::Unary(Unary::Neg, inner)) => {
                let sine = self.unary(Unary::Sin, inner);
                self.unary(Unary::Neg, sine)
            }
            _ => self.intern(Node::Unary(op, x)),
        }
    }

    pub(crate) fn binary(&mut self, op: Binary, a: Id, b: Id) -> Id {
        if let (Some(a), Some(b)) = (self.literal(a), self.literal(b)) {
            return self.lit(op.eval(a, b));
        }
        match op {
            Binary::Add => self.add(a, b),
            Binary::Sub => self.sub(a, b),
            Binary::Mul => self.mul(a, b),
            Binary::Div => self.div(a, b),
            Binary::Atan2 => self.intern(Node::Binary(op, a, b)),
        }
    }

    pub(crate) fn neg(&mut self, x: Id) -> Id {
        self.unary(Unary::Neg, x)
    }

    pub(crate) fn add(&mut self, a: Id, b: Id) -> Id {
        match (self.literal(a), self.literal(b)) {
            (Some(x), Some(y)) => return self.lit(x + y),
            (Some(0.0), None) => return b,
            (None, Some(0.0)) => return a,
            _ => {}
        }
        match (self.negated(a), self.negated(b)) {
            (Some(x), Some(y)) => {
                let sum = self.add(x, y);
                self.neg(sum)
            }
            (Some(x), None) => self.sub(b, x),
            (None, Some(y)) => self.sub(a, y),
            (None, None) if a == b => {
                let two = self.lit(2.0);
                self.mul(a, two)
            }
            (None, None) => self.commutative(Binary::Add, a, b),
        }
    }

    pub(crate) fn sub(&mut self, a: Id, b: Id) -> Id {
        match (self.literal(a), self.literal(b)) {
            (Some(x), Some(y)) => return self.lit(x - y),
            (Some(0.0), None) => return self.neg(b),
            (None, Some(0.0)) => return a,
            _ => {}
        }
        if a == b {
            return self.lit(0.0);
        }
        match (self.negated(a), self.negated(b)) {
            (Some(x), Some(y)) => self.sub(y, x),
            (Some(x), None) => {
                let sum = self.add(x, b);
                self.neg(sum)
            }
            (None, Some(y)) => self.add(a, y),
            (None, None) => self.intern(Node::Binary(Binary::Sub, a, b)),
        }
    }

    pub(crate) fn mul(&mut self, a: Id, b: Id) -> Id {
        // A literal stands on the right.
        let (a, b) = if self.literal(a).is_some() { (b, a) } else { (a, b) };
        match (self.literal(a), self.literal(b)) {
            (Some(x), Some(y)) => return self.lit(x * y),
            (None, Some(0.0)) => return self.lit(0.0),
            (None, Some(1.0)) => return a,
            (None, Some(-1.0)) => return self.neg(a),
            (None, Some(y)) => {
                if let Some(x) = self.negated(a) {
                    let factor = self.lit(-y);
                    return self.mul(x, factor);
                }
            }
            _ => {}
        }
        match (self.negated(a), self.negated(b)) {
            (Some(x), Some(y)) => self.mul(x, y),
            (Some(x), None) => {
                let product = self.mul(x, b);
                self.neg(product)
            }
            (None, Some(y)) => {
                let product = self.mul(a, y);
                self.neg(product)
            }
            (None, None) => self.commutative(Binary::Mul, a, b),
        }
    }

    pub(crate) fn div(&mut self, a: Id, b: Id) -> Id {
        match (self.literal(a), self.literal(b)) {
            (Some(x), Some(y)) => return self.lit(x / y),
            (None, Some(y)) if has_exact_reciprocal(y) => {
                let factor = self.lit(1.0 / y);
                return self.mul(a, factor);
            }
            _ => {}
        }
        match (self.negated(a), self.negated(b)) {
            (Some(x), Some(y)) => self.div(x, y),
            (Some(x), None) => {
                let quotient = self.div(x, b);
                self.neg(quotient)
            }
            (None, Some(y)) => {
                let quotient = self.div(a, y);
                self.neg(quotient)
            }
            (None, None) => self.intern(Node::Binary(Binary::Div, a, b)),
        }
    }

    pub(crate) fn recip(&mut self, x: Id) -> Id {
        let one = self.lit(1.0);
        self.div(one, x)
    }

    pub(crate) fn select(&mut self, a: Id, b: Id, then: Id, otherwise: Id) -> Id {
        if then == otherwise {
            return then;
        }
        match (self.literal(a), self.literal(b)) {
            (Some(x), Some(y)) => {
                if x < y {
                    then
                } else {
                    otherwise
                }
            }
            _ if a == b => otherwise,
            _ => self.intern(Node::Select([a, b, then, otherwise])),
        }
    }

    /// `a op b` and `b op a` are the same bits for `+` and `*`: one node, the smaller operand first, a literal last.
    fn commutative(&mut self, op: Binary, a: Id, b: Id) -> Id {
        let swap = match (self.literal(a).is_some(), self.literal(b).is_some()) {
            (true, false) => true,
            (false, true) => false,
            _ => b < a,
        };
        let (a, b) = if swap { (b, a) } else { (a, b) };
        self.intern(Node::Binary(op, a, b))
    }

    /// Marks the nodes that `roots` depend on, themselves included.
    pub(crate) fn live(&self, roots: &[Id]) -> Vec<bool> {
        let mut live = vec![false; self.len()];
        for &root in roots {
            live[root as usize] = true;
        }
        for id in (0..self.len()).rev() {
            if live[id] {
                self.list[id].operands(|operand| live[operand as usize] = true);
            }
        }
        live
    }

    /// Marks the nodes among the first `len()` that depend on any of `seeds`.
    pub(crate) fn dependents(&self, seeds: &[Id]) -> Vec<bool> {
        let mut depends = vec![false; self.len()];
        for &seed in seeds {
            depends[seed as usize] = true;
        }
        for id in 0..self.len() {
            let mut any = depends[id];
            self.list[id].operands(|operand| any |= depends[operand as usize]);
            depends[id] = any;
        }
        depends
    }
}

/// Whether dividing by `y` and multiplying by `1 / y` give the same bits: `y` is a power of two whose reciprocal is
/// normal.
fn has_exact_reciprocal(y: f64) -> bool {
    const MANTISSA: u64 = (1 << 52) - 1;
    y.is_normal() && (1.0 / y).is_normal() && y.to_bits() & MANTISSA == 0
}

/// An expression graph in which equal expressions are one node.
///
/// While it records, it folds:
///
/// - operations whose operands are all literals;
/// - `x + 0`, `x - 0`, `0 - x`, `x - x`, `0 x`, `1 x`, `-1 x`, and division by a power of two (to a product);
/// - signs: `-(-x)`, `-(a - b)`, and a negation of an operand of `+ - * /`, `sin`, `cos`, `abs`, which moves outward
///   until a sum absorbs it; `x + x` becomes `2 x`;
/// - operand order of `+` and `*`;
/// - a `select_lt` whose sides are the same, or whose comparison is between literals or of a node with itself.
///
/// Each rule keeps the value for every finite operand to the bit, but for the sign of a zero; `x - x` and `0 x` are
/// NaN where `x` is infinite or NaN, and zero after folding. Sums are not reassociated.
///
/// A graph is used by one thread, to build programs; a [`Tape`](crate::Tape) is what threads share.
pub struct Graph {
    nodes: RefCell<Nodes>,
}

impl Graph {
    /// An empty graph.
    pub fn new() -> Self {
        Self { nodes: RefCell::new(Nodes::default()) }
    }

    /// The symbol of input number `index`; the same one each time it is asked for.
    pub fn input(&self, index: u32) -> Sym<'_> {
        let id = self.nodes_mut().input(index);
        Sym::Node(self, id)
    }

    /// The symbols of inputs `0..count`.
    pub fn inputs(&self, count: u32) -> Vec<Sym<'_>> {
        (0..count).map(|index| self.input(index)).collect()
    }

    /// Number of nodes recorded so far, literals and inputs included.
    pub fn len(&self) -> usize {
        self.nodes.borrow().len()
    }

    /// Whether nothing has been recorded.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of operations (nodes but literals and inputs) that `outputs` need.
    pub fn count_ops(&self, outputs: &[Sym<'_>]) -> usize {
        let roots = self.ids(outputs);
        let nodes = self.nodes();
        let live = nodes.live(&roots);
        let is_op = |id: usize| !matches!(nodes.list[id], Node::Lit(_) | Node::Input(_));
        (0..nodes.len()).filter(|&id| live[id] && is_op(id)).count()
    }

    /// The values of `outputs` at `inputs`, one node after the other: what every lowering of the graph must reproduce to
    /// the bit. Slow, for tests and for checking.
    pub fn eval(&self, outputs: &[Sym<'_>], inputs: &[f64]) -> Vec<f64> {
        let roots = self.ids(outputs);
        let nodes = self.nodes();
        let live = nodes.live(&roots);
        let mut value = vec![0.0; nodes.len()];
        for id in (0..nodes.len()).filter(|&id| live[id]) {
            value[id] = match nodes.list[id] {
                Node::Lit(bits) => f64::from_bits(bits),
                Node::Input(index) => inputs[index as usize],
                Node::Unary(op, x) => op.eval(value[x as usize]),
                Node::Binary(op, a, b) => op.eval(value[a as usize], value[b as usize]),
                Node::Select([a, b, then, otherwise]) => {
                    let side = if value[a as usize] < value[b as usize] { then } else { otherwise };
                    value[side as usize]
                }
            };
        }
        roots.iter().map(|&root| value[root as usize]).collect()
    }

    pub(crate) fn nodes(&self) -> Ref<'_, Nodes> {
        self.nodes.borrow()
    }

    pub(crate) fn nodes_mut(&self) -> RefMut<'_, Nodes> {
        self.nodes.borrow_mut()
    }

    /// Node indices of `symbols`; a literal becomes a node.
    pub(crate) fn ids(&self, symbols: &[Sym<'_>]) -> Vec<Id> {
        symbols.iter().map(|symbol| symbol.id_in(self)).collect()
    }

    /// The symbol of a node: a literal node is a literal again.
    pub(crate) fn symbol(&self, id: Id) -> Sym<'_> {
        match self.nodes().literal(id) {
            Some(value) => Sym::Lit(value),
            None => Sym::Node(self, id),
        }
    }
}

impl Default for Graph {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A symbol prints its graph, so not the nodes.
        write!(f, "Graph({} nodes)", self.len())
    }
}
