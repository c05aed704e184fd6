//! Meshes: bodies as arrays, their topology, and where they come from.
//!
//! A [`Mesh`] is geometry as a generator ([`generate`]) or a reader ([`read`]) gives it, with named
//! groups of vertices. A [`Topology`] is what follows from the triangles alone: edges once each,
//! hinges, boundary. A [`Body`] is a mesh in a scene: rest shape, start, mass, mobility and
//! [`Material`]; a [`World`] is all of them. Everything is SI.
//!
//! ```
//! use glam::DVec2;
//! use gusset_mesh::generate::{Origin, Pattern, grid};
//!
//! let cloth = grid(DVec2::ONE, [32, 32], Pattern::Alternating, Origin::Centre)?;
//! let topology = cloth.topology()?;
//! assert_eq!(topology.hinges.len(), 32 * 32 + 2 * 32 * 31);
//! assert_eq!(cloth.groups["left"].len(), 33);
//! # Ok::<(), gusset_mesh::MeshError>(())
//! ```

mod body;
pub mod generate;
mod material;
pub mod measure;
mod mesh;
mod problem;
pub mod read;
mod surface;
mod topology;

pub use body::{Body, Mobility, Role, SlabShape, World};
pub use material::{Material, MaterialError};
pub use mesh::Mesh;
pub use problem::{MAX_ELEMENTS, MAX_VERTICES, MeshError, Problem};
pub use surface::surface;
pub use topology::{Adjacency, Hinge, NO_FACE, Topology};
