//! Symbolic derivatives: reverse mode for a gradient, forward mode for its derivative along an input.

use std::collections::BTreeMap;

use crate::graph::{Binary, Id, Node, Nodes, Unary};
use crate::{Graph, Sym};

impl Graph {
    /// Derivatives of `output` by each of `inputs` (any node may serve as an input), by one reverse sweep.
    ///
    /// Through a [`select_lt`](gusset_scalar::Scalar::select_lt) the derivative of the chosen side is selected, not
    /// multiplied by one or zero, so that an infinity in the other side stays there.
    pub fn gradient<'g>(&'g self, output: Sym<'g>, inputs: &[Sym<'g>]) -> Vec<Sym<'g>> {
        let (output, inputs) = (output.id_in(self), self.ids(inputs));
        let gradient = reverse(&mut self.nodes_mut(), output, &inputs);
        gradient.into_iter().map(|id| self.symbol(id)).collect()
    }

    /// Derivatives of `outputs` along one input, by one forward sweep.
    pub fn tangent<'g>(&'g self, outputs: &[Sym<'g>], input: Sym<'g>) -> Vec<Sym<'g>> {
        let (outputs, input) = (self.ids(outputs), input.id_in(self));
        let tangents = forward(&mut self.nodes_mut(), &outputs, input);
        tangents.into_iter().map(|id| self.symbol(id)).collect()
    }

    /// Upper triangle, row by row (`(0,0) (0,1) .. (0,n-1) (1,1) ..`), of the second derivatives of `output` by `inputs`.
    ///
    /// An element is rarely a function of `n` independent coordinates: most depend on differences of positions, or on a few
    /// combinations of them. The derivative is taken in the space where the function stops being affine, by forward mode over
    /// the reverse sweep, and carried back by the chain rule `A^T H A`; of the candidate spaces the one with the fewest
    /// operations is chosen. Entries agree with those of [`Graph::tangent`] up to rounding.
    pub fn hessian<'g>(&'g self, output: Sym<'g>, inputs: &[Sym<'g>]) -> Vec<Sym<'g>> {
        let (output, inputs) = (output.id_in(self), self.ids(inputs));
        let upper = crate::affine::hessian(&mut self.nodes_mut(), output, &inputs);
        upper.into_iter().map(|id| self.symbol(id)).collect()
    }
}

/// Place of entry `(row, column)`, `row <= column`, in a row-by-row upper triangle of an `n` by `n` matrix.
pub(crate) fn packed(n: usize, row: usize, column: usize) -> usize {
    row * (2 * n - row + 1) / 2 + (column - row)
}

/// Derivatives of `output` by each of `inputs`.
pub(crate) fn reverse(nodes: &mut Nodes, output: Id, inputs: &[Id]) -> Vec<Id> {
    Reverse::sweep(nodes, output, inputs)
}

/// Index of a set of conditions in [`Reverse::guards`]; 0 is the empty set.
type GuardId = u32;

/// A comparison that must hold (or not) for an adjoint to count, on top of those of `parent`.
#[derive(Clone, Copy, PartialEq)]
struct Guard {
    parent: GuardId,
    depth: u32,
    a: Id,
    b: Id,
    holds: bool,
}

/// The reverse sweep.
///
/// An adjoint that comes out of one side of a select carries that side's condition as a guard, and stays unmasked while it
/// flows down: masking it to zero at once would multiply that zero by the infinite slopes of a side that is not chosen. Only where
/// adjoints under different guards meet are they selected, at values that both sides share.
struct Reverse<'n> {
    nodes: &'n mut Nodes,
    guards: Vec<Guard>,
    /// Contributions to each node's adjoint, summed per guard. Ordered, so that results don't depend on hashing.
    adjoints: Vec<BTreeMap<GuardId, Id>>,
    active: Vec<bool>,
}

impl<'n> Reverse<'n> {
    fn sweep(nodes: &'n mut Nodes, output: Id, inputs: &[Id]) -> Vec<Id> {
        let count = nodes.len();
        let active = nodes.dependents(inputs);
        let root = Guard { parent: 0, depth: 0, a: 0, b: 0, holds: true };
        let mut this =
            Self { nodes, guards: vec![root], adjoints: vec![BTreeMap::new(); count], active };
        let one = this.nodes.lit(1.0);
        this.contribute(output, 0, one);
        for id in (0..=output).rev() {
            if inputs.contains(&id) || this.adjoints[id as usize].is_empty() {
                continue;
            }
            let (guard, adjoint) = this.merge(id, false);
            this.propagate(id, guard, adjoint);
        }
        let zero = this.nodes.lit(0.0);
        let finish = |&input: &Id| {
            if this.adjoints[input as usize].is_empty() { zero } else { this.merge(input, true).1 }
        };
        inputs.iter().map(finish).collect()
    }

    fn contribute(&mut self, id: Id, guard: GuardId, value: Id) {
        // Nodes made by the sweep itself are never targets: operands are older than the nodes that read them.
        if !self.active[id as usize] || self.nodes.literal(value) == Some(0.0) {
            return;
        }
        let nodes = &mut *self.nodes;
        self.adjoints[id as usize]
            .entry(guard)
            .and_modify(|sum| *sum = nodes.add(*sum, value))
            .or_insert(value);
    }

    /// Joins the contributions to a node under their deepest common guard, or under none.
    fn merge(&mut self, id: Id, to_root: bool) -> (GuardId, Id) {
        let mut terms = self.adjoints[id as usize].clone();
        loop {
            let deepest = terms
                .iter()
                .max_by_key(|&(&guard, _)| (self.guards[guard as usize].depth, guard))
                .map(|(&guard, &value)| (guard, value));
            let (guard, value) = deepest.expect("a node to merge has a contribution");
            if terms.len() == 1 && (guard == 0 || !to_root) {
                return (guard, value);
            }
            let Guard { parent, a, b, holds, .. } = self.guards[guard as usize];
            terms.remove(&guard);
            let opposite = self.guard(parent, a, b, !holds);
            let other = match terms.remove(&opposite) {
                Some(other) => other,
                None => self.nodes.lit(0.0),
            };
            let (then, otherwise) = if holds { (value, other) } else { (other, value) };
            let mut joined = self.nodes.select(a, b, then, otherwise);
            if let Some(sum) = terms.remove(&parent) {
                joined = self.nodes.add(sum, joined);
            }
            terms.insert(parent, joined);
        }
    }

    fn guard(&mut self, parent: GuardId, a: Id, b: Id, holds: bool) -> GuardId {
        let depth = self.guards[parent as usize].depth + 1;
        let guard = Guard { parent, depth, a, b, holds };
        let found = self.guards.iter().position(|known| *known == guard);
        let index = found.unwrap_or_else(|| {
            self.guards.push(guard);
            self.guards.len() - 1
        });
        index as GuardId
    }

    fn propagate(&mut self, id: Id, guard: GuardId, adjoint: Id) {
        match self.nodes.get(id) {
            Node::Lit(_) | Node::Input(_) => {}
            Node::Unary(op, x) => {
                let value = match op {
                    Unary::Neg => self.nodes.neg(adjoint),
                    Unary::Abs => signed(self.nodes, x, adjoint),
                    _ => {
                        let slope = slope(self.nodes, op, x, id);
                        self.nodes.mul(adjoint, slope)
                    }
                };
                self.contribute(x, guard, value);
            }
            Node::Binary(op, a, b) => {
                let (da, db) = match op {
                    Binary::Add => (adjoint, adjoint),
                    Binary::Sub => (adjoint, self.nodes.neg(adjoint)),
                    Binary::Mul => (self.nodes.mul(adjoint, b), self.nodes.mul(adjoint, a)),
                    Binary::Div => {
                        let recip = self.nodes.recip(b);
                        let da = self.nodes.mul(adjoint, recip);
                        let product = self.nodes.mul(da, id);
                        (da, self.nodes.neg(product))
                    }
                    Binary::Atan2 => {
                        let (x_slope, y_slope) = atan2_slopes(self.nodes, a, b);
                        let product = self.nodes.mul(adjoint, y_slope);
                        (self.nodes.mul(adjoint, x_slope), self.nodes.neg(product))
                    }
                };
                self.contribute(a, guard, da);
                self.contribute(b, guard, db);
            }
            Node::Select([a, b, then, otherwise]) => {
                let chosen = self.guard(guard, a, b, true);
                self.contribute(then, chosen, adjoint);
                let other = self.guard(guard, a, b, false);
                self.contribute(otherwise, other, adjoint);
            }
        }
    }
}

/// Derivative of a smooth function of one variable at `x`, where it has the value `y`.
fn slope(nodes: &mut Nodes, op: Unary, x: Id, y: Id) -> Id {
    match op {
        Unary::Sqrt => {
            let (recip, half) = (nodes.recip(y), nodes.lit(0.5));
            nodes.mul(recip, half)
        }
        Unary::Ln => nodes.recip(x),
        Unary::Ln1p => {
            let one = nodes.lit(1.0);
            let sum = nodes.add(x, one);
            nodes.recip(sum)
        }
        Unary::Exp => y,
        Unary::Sin => nodes.unary(Unary::Cos, x),
        Unary::Cos => {
            let sine = nodes.unary(Unary::Sin, x);
            nodes.neg(sine)
        }
        Unary::Neg | Unary::Abs => unreachable!("signs are handled where they occur"),
    }
}

/// `x < 0 ? -value : value`
fn signed(nodes: &mut Nodes, x: Id, value: Id) -> Id {
    let (zero, negative) = (nodes.lit(0.0), nodes.neg(value));
    nodes.select(x, zero, negative, value)
}

/// `(x, y) / (x^2 + y^2)`: what multiplies dy and, with a minus, dx in the derivative of `atan2(y, x)`.
fn atan2_slopes(nodes: &mut Nodes, y: Id, x: Id) -> (Id, Id) {
    let (xx, yy) = (nodes.mul(x, x), nodes.mul(y, y));
    let square = nodes.add(xx, yy);
    let recip = nodes.recip(square);
    (nodes.mul(x, recip), nodes.mul(y, recip))
}

/// Derivatives of `outputs` by `input`.
pub(crate) fn forward(nodes: &mut Nodes, outputs: &[Id], input: Id) -> Vec<Id> {
    let live = nodes.live(outputs);
    let zero = nodes.lit(0.0);
    // A node has a tangent only if it depends on the input; no tangent is a zero that costs nothing.
    let mut tangents: Vec<Option<Id>> = vec![None; live.len()];
    if let Some(tangent) = tangents.get_mut(input as usize) {
        *tangent = Some(nodes.lit(1.0));
    }
    for id in input as usize + 1..live.len() {
        if live[id] {
            let tangent = tangent_of(nodes, &tangents, id as Id);
            tangents[id] = tangent.filter(|&tangent| tangent != zero);
        }
    }
    outputs.iter().map(|&output| tangents[output as usize].unwrap_or(zero)).collect()
}

/// Upper triangle, row by row, of the derivative of `gradient` by `inputs`.
pub(crate) fn second(nodes: &mut Nodes, gradient: &[Id], inputs: &[Id]) -> Vec<Id> {
    let n = inputs.len();
    let mut upper = vec![0; n * (n + 1) / 2];
    for (column, &input) in inputs.iter().enumerate() {
        let entries = forward(nodes, &gradient[..=column], input);
        for (row, entry) in entries.into_iter().enumerate() {
            upper[packed(n, row, column)] = entry;
        }
    }
    upper
}

fn tangent_of(nodes: &mut Nodes, tangents: &[Option<Id>], id: Id) -> Option<Id> {
    let tangent = |operand: Id| tangents[operand as usize];
    match nodes.get(id) {
        Node::Lit(_) | Node::Input(_) => None,
        Node::Unary(op, x) => {
            let dx = tangent(x)?;
            Some(match op {
                Unary::Neg => nodes.neg(dx),
                Unary::Abs => signed(nodes, x, dx),
                _ => {
                    let slope = slope(nodes, op, x, id);
                    nodes.mul(dx, slope)
                }
            })
        }
        Node::Binary(op, a, b) => {
            let (da, db) = (tangent(a), tangent(b));
            match op {
                Binary::Add => match (da, db) {
                    (Some(da), Some(db)) => Some(nodes.add(da, db)),
                    (one, other) => one.or(other),
                },
                Binary::Sub => difference(nodes, da, db),
                Binary::Mul if a == b => {
                    let twice = nodes.add(a, a);
                    da.map(|da| nodes.mul(twice, da))
                }
                Binary::Mul => match (da, db) {
                    (Some(da), Some(db)) => {
                        let (left, right) = (nodes.mul(da, b), nodes.mul(a, db));
                        Some(nodes.add(left, right))
                    }
                    (Some(da), None) => Some(nodes.mul(da, b)),
                    (None, db) => db.map(|db| nodes.mul(a, db)),
                },
                Binary::Div => {
                    let recip = nodes.recip(b);
                    match (da, db) {
                        (None, None) => None,
                        (None, Some(db)) => {
                            // -a / b^2, shared by all directions
                            let slope = nodes.mul(id, recip);
                            let product = nodes.mul(slope, db);
                            Some(nodes.neg(product))
                        }
                        (Some(da), None) => Some(nodes.mul(da, recip)),
                        (Some(da), Some(db)) => {
                            let product = nodes.mul(id, db);
                            let numerator = nodes.sub(da, product);
                            Some(nodes.mul(numerator, recip))
                        }
                    }
                }
                Binary::Atan2 => {
                    if da.is_none() && db.is_none() {
                        return None;
                    }
                    let (x_slope, y_slope) = atan2_slopes(nodes, a, b);
                    let da = da.map(|da| nodes.mul(x_slope, da));
                    let db = db.map(|db| nodes.mul(y_slope, db));
                    difference(nodes, da, db)
                }
            }
        }
        Node::Select([a, b, then, otherwise]) => {
            let sides = (tangent(then), tangent(otherwise));
            if sides == (None, None) {
                return None;
            }
            let zero = nodes.lit(0.0);
            Some(nodes.select(a, b, sides.0.unwrap_or(zero), sides.1.unwrap_or(zero)))
        }
    }
}

fn difference(nodes: &mut Nodes, a: Option<Id>, b: Option<Id>) -> Option<Id> {
    match (a, b) {
        (Some(a), Some(b)) => Some(nodes.sub(a, b)),
        (a, None) => a,
        (None, Some(b)) => Some(nodes.neg(b)),
    }
}
