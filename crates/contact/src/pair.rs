//! A pair of primitives by index, as messages and step records name it.

use gusset_energy::{Row, RowKind, SlabRow};

/// What the two primitives of a [`Pair`] are, and what its two indices count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PairKind {
    /// Surface vertex (index into [`crate::CollisionMesh::vertices`]) and triangle.
    VertexTriangle,
    /// Two edges.
    EdgeEdge,
    /// Sphere and triangle.
    SphereTriangle,
    /// Two spheres.
    SphereSphere,
    /// Vertex (world index) and slab.
    VertexSlab,
    /// Two triangles; only the intersection checker finds these.
    TriangleTriangle,
    /// Edge and slab; only the intersection checker finds these.
    EdgeSlab,
}

/// Two primitives of a collision mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pair {
    /// What they are.
    pub kind: PairKind,
    /// Which they are.
    pub primitives: [u32; 2],
}

impl From<&Row> for Pair {
    fn from(row: &Row) -> Self {
        Self { kind: row.kind.into(), primitives: row.primitives }
    }
}

impl From<&SlabRow> for Pair {
    fn from(row: &SlabRow) -> Self {
        Self { kind: PairKind::VertexSlab, primitives: [row.vertex, row.slab] }
    }
}

impl From<RowKind> for PairKind {
    fn from(kind: RowKind) -> Self {
        match kind {
            RowKind::VertexTriangle => Self::VertexTriangle,
            RowKind::EdgeEdge => Self::EdgeEdge,
            RowKind::SphereTriangle => Self::SphereTriangle,
            RowKind::SphereSphere => Self::SphereSphere,
        }
    }
}
