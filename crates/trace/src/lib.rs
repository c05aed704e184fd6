//! From one function over [`Scalar`](gusset_scalar::Scalar) to its gradient, its Hessian, a CPU program and GLSL text.
//!
//! 1. A [`Graph`] hands out input symbols ([`Sym`]). Calling a generic function with them records an expression graph in
//!    which equal subexpressions are one node and constants are folded.
//! 2. [`Graph::gradient`] and [`Graph::hessian`] differentiate symbolically: one reverse sweep for the gradient, forward
//!    mode over that gradient for the Hessian, shared subexpressions shared throughout.
//! 3. [`Tape::new`] lowers any choice of outputs to a register program that evaluates [`LANES`] elements at a time;
//!    [`glsl`] writes the same operations on the same operands as a GLSL function.
//!
//! What no chosen output needs is dropped, so one graph serves the energy alone, the full Hessian, or the block of one vertex.
//!
//! ```
//! use gusset_scalar::{Scalar, Vec3};
//! use gusset_trace::{Graph, LANES, Registers, Tape};
//!
//! fn spring<S: Scalar>(a: Vec3<S>, b: Vec3<S>, rest: S) -> S {
//!     ((b - a).norm() - rest).square() * 0.5
//! }
//!
//! let graph = Graph::new();
//! let v = graph.inputs(7);
//! let energy = spring(Vec3::new(v[0], v[1], v[2]), Vec3::new(v[3], v[4], v[5]), v[6]);
//! let gradient = graph.gradient(energy, &v[..6]);
//! let hessian = graph.hessian(energy, &v[..6]); // upper triangle, row by row
//! assert_eq!((gradient.len(), hessian.len()), (6, 21));
//!
//! let tape = Tape::new(&graph, &[&[energy], &gradient[..], &hessian[..]].concat());
//! let inputs = [0.0, 0.0, 0.0, 0.0, 4.0, 0.0, 3.0].map(|value| [value; LANES]);
//! let mut outputs = vec![[0.0; LANES]; tape.outputs()];
//! tape.run(&inputs, &mut Registers::new(), &mut outputs);
//! assert_eq!(outputs[0], [0.5; LANES]);
//! assert_eq!(outputs[2], [-1.0; LANES]);
//! ```

mod affine;
mod diff;
mod glsl;
mod graph;
mod lower;
mod sym;
mod tape;
mod terms;

#[cfg(test)]
mod jet;
#[cfg(test)]
mod samples;
#[cfg(test)]
mod tests;

pub use glsl::{GLSL_PRELUDE_DECLARATIONS, glsl};
pub use graph::Graph;
pub use sym::Sym;
pub use tape::{LANES, Registers, Tape};
pub use terms::Termed;
