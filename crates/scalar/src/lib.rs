//! Numbers that an element energy is written over, and the small vectors and matrices made of them.
//!
//! An energy is one function generic over [`Scalar`]. With `f64` it is a plain value; with the tracing scalar of
//! `gusset-trace` the same lines record an expression graph that is then differentiated and lowered to a CPU program
//! or to GLSL.
//!
//! ```
//! use gusset_scalar::{Scalar, Vec3};
//!
//! /// `1/2 k (|b - a| - l)^2`
//! fn spring<S: Scalar>(a: Vec3<S>, b: Vec3<S>, rest: S, stiffness: S) -> S {
//!     stiffness * 0.5 * ((b - a).norm() - rest).square()
//! }
//!
//! let energy = spring(Vec3::zero(), Vec3::new(3.0, 0.0, 4.0), 4.0, 2.0);
//! assert_eq!(energy, 1.0);
//! ```

mod matrix;
mod scalar;
mod vector;

pub use matrix::{Mat2, Mat3, Mat3x2};
pub use scalar::Scalar;
pub use vector::Vec3;
