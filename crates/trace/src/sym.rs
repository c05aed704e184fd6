//! The scalar that records.

use std::ops::{Add, Div, Mul, Neg, Sub};

use gusset_scalar::Scalar;

use crate::Graph;
use crate::graph::{Binary, Id, Unary};

/// A literal, or a node of a graph.
///
/// Literals carry no graph, so `S::lit` needs none and there is no thread-local state; they enter the graph when they meet
/// a node. Operations on symbols of two different graphs panic.
#[derive(Clone, Copy, Debug)]
pub enum Sym<'g> {
    /// A constant.
    Lit(f64),
    /// A node, by its index.
    Node(&'g Graph, u32),
}

impl<'g> Sym<'g> {
    /// The value, if this is a literal.
    pub fn literal(self) -> Option<f64> {
        match self {
            Self::Lit(value) => Some(value),
            Self::Node(..) => None,
        }
    }

    fn graph(self) -> Option<&'g Graph> {
        match self {
            Self::Lit(_) => None,
            Self::Node(graph, _) => Some(graph),
        }
    }

    /// The node of this symbol in `graph`; a literal becomes one.
    pub(crate) fn id_in(self, graph: &Graph) -> Id {
        match self {
            Self::Lit(value) => graph.nodes_mut().lit(value),
            Self::Node(own, id) => {
                assert!(std::ptr::eq(own, graph), "a symbol is used with the graph that made it");
                id
            }
        }
    }

    fn unary(self, op: Unary) -> Self {
        match self {
            Self::Lit(value) => Self::Lit(op.eval(value)),
            Self::Node(graph, id) => {
                let id = graph.nodes_mut().unary(op, id);
                graph.symbol(id)
            }
        }
    }

    fn binary(self, op: Binary, other: Self) -> Self {
        match (self, other) {
            (Self::Lit(a), Self::Lit(b)) => Self::Lit(op.eval(a, b)),
            (Self::Node(graph, _), _) | (_, Self::Node(graph, _)) => {
                let (a, b) = (self.id_in(graph), other.id_in(graph));
                let id = graph.nodes_mut().binary(op, a, b);
                graph.symbol(id)
            }
        }
    }
}

impl Scalar for Sym<'_> {
    fn lit(value: f64) -> Self {
        Self::Lit(value)
    }

    fn sqrt(self) -> Self {
        self.unary(Unary::Sqrt)
    }

    fn ln(self) -> Self {
        self.unary(Unary::Ln)
    }

    fn ln_1p(self) -> Self {
        self.unary(Unary::Ln1p)
    }

    fn exp(self) -> Self {
        self.unary(Unary::Exp)
    }

    fn sin(self) -> Self {
        self.unary(Unary::Sin)
    }

    fn cos(self) -> Self {
        self.unary(Unary::Cos)
    }

    fn atan2(self, x: Self) -> Self {
        self.binary(Binary::Atan2, x)
    }

    fn abs(self) -> Self {
        self.unary(Unary::Abs)
    }

    fn select_lt(a: Self, b: Self, then: Self, otherwise: Self) -> Self {
        if let (Self::Lit(a), Self::Lit(b)) = (a, b) {
            return if a < b { then } else { otherwise };
        }
        let graph = a.graph().or(b.graph()).expect("one side of the comparison is a node");
        let [a, b, then, otherwise] = [a, b, then, otherwise].map(|symbol| symbol.id_in(graph));
        let id = graph.nodes_mut().select(a, b, then, otherwise);
        graph.symbol(id)
    }

    fn known_le(_: Self, _: Self) -> bool {
        false
    }
}

macro_rules! operator {
    ($($trait:ident $method:ident)*) => {$(
        impl $trait for Sym<'_> {
            type Output = Self;

            fn $method(self, other: Self) -> Self {
                self.binary(Binary::$trait, other)
            }
        }

        impl $trait<f64> for Sym<'_> {
            type Output = Self;

            fn $method(self, other: f64) -> Self {
                self.binary(Binary::$trait, Self::Lit(other))
            }
        }
    )*};
}

operator! { Add add Sub sub Mul mul Div div }

impl Neg for Sym<'_> {
    type Output = Self;

    fn neg(self) -> Self {
        self.unary(Unary::Neg)
    }
}
