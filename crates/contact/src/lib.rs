//! gusset-contact
mod additive;
mod bvh;
mod candidates;
mod distance;
mod mesh;
mod pair;
mod rows;
mod step_bound;

pub use additive::{edge_edge_accd, vertex_triangle_accd};
pub use candidates::{Candidates, QueryError};
pub use distance::{
    Closest, edge_edge, edge_edge_within, point_point, point_segment, point_triangle,
    point_triangle_within,
};
pub use mesh::{CollisionMesh, Excluded, Sphere};
pub use pair::{Pair, PairKind};
pub use rows::PairGap;
pub use step_bound::{StepBound, StepMethod, StepRule, step_bound};
