//! Meshes: bodies as arrays, their topology, and where they come from.
//!
//! A [`Mesh`] is geometry as a generator ([`generate`]) or a reader ([`read`]) gives it, with named
//! groups of vertices. A [`Topology`] is what follows from the triangles alone: edges once each,
//! hinges, boundary. A [`Body`] is a mesh in a scene: rest shape, start, mass, mobility and
//! [`Material`]; a [`World`] is all of them. Everything is SI.

mod body;
mod material;
mod mesh;
mod problem;
mod topology;

pub use body::{Body, Mobility, Role, SlabShape, World};
pub use material::{Material, MaterialError};
pub use mesh::Mesh;
pub use problem::{MAX_ELEMENTS, MAX_VERTICES, MeshError, Problem};
pub use topology::{Adjacency, Hinge, NO_FACE, Topology};
