//! Contact rows as plain data: what the contact module finds and what barrier, penalty and friction terms read.

use glam::DVec3;
use gusset_scalar::{Scalar, Vec3};

/// Which two primitives a [`Row`] connects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum RowKind {
    /// A film, solid or obstacle vertex against a triangle; weights `(1, -b0, -b1, -b2)`.
    VertexTriangle,
    /// Two edges; weights `(1-s, s, t-1, -t)`.
    EdgeEdge,
    /// A sphere centre against a triangle; weights as for [`RowKind::VertexTriangle`].
    SphereTriangle,
    /// Two sphere centres; vertices `(i, j, j, j)`, weights `(1, -1, 0, 0)`.
    SphereSphere,
}

/// One pair of primitives in contact: `r = sum w_i x_i`, gap `g = |r| - offset` (bag article, section 4).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// World indices of the four vertices.
    pub vertices: [u32; 4],
    /// Weights of the closest points; they sum to 0.
    pub weights: [f64; 4],
    /// Distance that counts as touching (m): `min_gap`, `R + min_gap/2` or `R_i + R_j`.
    pub offset: f64,
    /// Unit vector `r / |r|`, from the second primitive to the first.
    pub normal: DVec3,
    /// `|r| - offset` (m).
    pub gap: f64,
    /// `sin^2` of the angle between two edges; 1 for other pairs.
    pub sine_squared: f64,
    /// What the two primitives are.
    pub kind: RowKind,
    /// Which they are: indices into the collision mesh's vertex, edge, triangle or sphere list, by kind.
    pub primitives: [u32; 2],
}

/// A particle in front of a slab obstacle: gap `g = n.x - plane - offset`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlabRow {
    /// World index of the particle.
    pub vertex: u32,
    /// Unit normal of the nearest face, out of the slab.
    pub normal: DVec3,
    /// `n.p` of any point p on that face (m).
    pub plane: f64,
    /// Distance that counts as touching (m).
    pub offset: f64,
    /// `n.x - plane - offset` (m); negative inside the slab.
    pub gap: f64,
    /// Index of the slab.
    pub slab: u32,
}

/// All rows of one configuration, in a fixed order that depends on the positions alone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Contacts {
    /// Pairs of mesh primitives and spheres.
    pub rows: Vec<Row>,
    /// Particles against slabs.
    pub slabs: Vec<SlabRow>,
}

/// `r = sum w_i x_i`: from the closest point of a row's second primitive to that of its first.
#[inline(always)]
pub fn separation<S: Scalar>(x: &[Vec3<S>; 4], weights: &[S; 4]) -> Vec3<S> {
    let w = weights;
    x[0] * w[0] + x[1] * w[1] + x[2] * w[2] + x[3] * w[3]
}
