//! Energies as plugins.
//!
//! An **element** is one function from a few points to an energy, written once and generic over its number type
//! ([`Element`]). Tracing that function gives its gradient, its Hessian blocks, one vertex's share of both, and GLSL text
//! ([`Program`]). A [`Batch`] holds all stencils of one element type as arrays; solvers see it only through the
//! object-safe [`Term`], called once per pass and never per element. An [`Energy`] is what a scene says about a kind, and
//! [`register!`] makes the kind known to every binary that links its crate.
//!
//! ```
//! use gusset_energy::{At, BuildError, Element, Energy, Scalar, Site, Terms, fields, register};
//!
//! /// Hookean springs along every edge of a body.
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! #[serde(deny_unknown_fields)]
//! pub struct Spring {
//!     /// Young's modulus times cross-section.
//!     stiffness: gusset_units::Force,
//! }
//!
//! fields! { pub struct Edge<S> { pub rest: S, pub stiffness: S } }
//!
//! impl Element<2> for Spring {
//!     type Params<S: Scalar> = Edge<S>;
//!     fn energy<S: Scalar>(at: &At<S, 2>, p: &Edge<S>) -> S {
//!         let stretch = (at.x[1] - at.x[0]).norm() / p.rest - 1.0;
//!         p.stiffness * p.rest * stretch * stretch * 0.5
//!     }
//! }
//!
//! impl Energy for Spring {
//!     const KIND: &'static str = "spring";
//!     const ABOUT: &'static str = "Hookean springs along every edge of a body";
//!     fn build(self, site: &Site<'_>, out: &mut Terms) -> Result<(), BuildError> {
//!         let (body, stiffness) = (site.body()?, self.stiffness.si(site.units));
//!         out.push(site.batch::<Spring, 2>(body.topology.edges.iter().map(|e| {
//!             let rest = body.rest[e[0] as usize].distance(body.rest[e[1] as usize]);
//!             (*e, Edge { rest, stiffness })
//!         }))?);
//!         Ok(())
//!     }
//! }
//!
//! register!(Spring);
//! # fn main() { assert!(gusset_energy::registry().get("spring").is_some()); }
//! ```

mod batch;
pub mod check;
mod contacts;
mod curve;
mod each;
mod element;
pub mod fixture;
mod kind;
mod lanes;
pub mod membrane;
mod motion;
mod parallel;
mod program;
mod psd;
mod select;
mod shader;
mod site;
mod term;
mod vertex;
mod vertex_blocks;
pub mod viscosity;

pub use batch::{Batch, Stencils};
pub use contacts::{Contacts, Row, RowKind, SlabRow, separation};
pub use curve::{Curve, Interpolation, Window};
pub use each::OneOrEach;
pub use element::{At, Blocks, Element, Fields, Psd, vec3};
pub use gusset_scalar::{Mat3, Scalar, Vec3};
pub use kind::{Energy, Kind, Registry, registry};
pub use motion::{Key, Motion, Path};
pub use parallel::{Fading, GapLaw, NearParallel, near_parallel, sine_squared};
pub use program::Program;
pub use psd::project;
pub use select::Selection;
pub use shader::Shader;
pub use site::{BuildError, ContactParameters, Site, Terms, non_negative};
pub use term::{Lagged, Local, StepState, Term, VertexBlock, Want, block_count, block_index};

#[doc(hidden)]
pub mod macros {
    pub use inventory;
    pub use schemars;
    pub use serde;
}
