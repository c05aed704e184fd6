//! Contact: what is near, how far may everything go, is anything intersecting.
//!
//! Slices in, plain [`gusset_energy::Contacts`] out. A [`CollisionMesh`] lists the surface vertices, edges, triangles, spheres
//! and slabs of all bodies. [`Candidates`] finds the pairs that can come near while the vertices stay in boxes around a
//! step; from them come the active rows at any positions in those boxes ([`Candidates::rows`]) and the largest safe step
//! ([`step_bound`]). Whether a state is free of intersections is not judged by any of that, but by an independent checker
//! with exact predicates ([`intersections`]).
//!
//! ```
//! use glam::{DVec3, dvec3};
//! use gusset_contact::{Candidates, CollisionMesh, StepRule, step_bound, step_bound_from};
//!
//! // A vertex of one triangle 6 mm above another, on its way 12 mm down.
//! let x = [
//!     dvec3(-1.0, 0.0, -1.0), dvec3(1.0, 0.0, -1.0), dvec3(0.0, 0.0, 1.0),
//!     dvec3(0.0, 0.006, 0.0), dvec3(0.2, 1.0, 0.0), dvec3(-0.2, 1.0, 0.0),
//! ];
//! let mut dx = [DVec3::ZERO; 6];
//! dx[3].y = -0.012;
//!
//! let mut mesh = CollisionMesh::new(vec![true; 6], 30e-6);
//! mesh.add_surface("floor", 0, &[[0, 1, 2]]);
//! mesh.add_surface("cone", 3, &[[0, 1, 2]]);
//! let end: Vec<DVec3> = x.iter().zip(&dx).map(|(x, dx)| *x + *dx).collect();
//! let mut candidates = Candidates::new(&mesh);
//! candidates.query(&mesh, &x, &end, 0.0, 1e-3, 1_000_000)?;
//! let bound = step_bound(&mesh, &candidates, &x, &dx, &StepRule::default());
//! assert!((bound.alpha - 0.9 * (6.0 - 0.03) / 12.0).abs() < 1e-9);
//! # Ok::<(), gusset_contact::QueryError>(())
//! ```

#![allow(
    clippy::neg_cmp_op_on_partial_ord,
    reason = "`!(gap > 0)` also catches a gap that is no number, which `gap <= 0` would let through"
)]

mod additive;
mod bvh;
mod candidates;
mod checker;
mod collect;
mod detection;
mod distance;
mod intersect;
mod lanes;
mod mesh;
mod nearest;
mod pair;
mod rows;
mod step_bound;

pub use additive::{edge_edge_accd, vertex_triangle_accd};
pub use candidates::{Candidates, PairLists, QueryError, Sweep};
pub use checker::{IntersectionCheck, IntersectionReport, Search, intersections};
pub use detection::{CpuDetection, Detection, DetectionError};
pub use distance::{
    Closest, edge_edge, edge_edge_within, point_point, point_segment, point_triangle,
    point_triangle_within,
};
pub use intersect::triangles_intersect;
pub use mesh::{CollisionMesh, Excluded, Sphere};
pub use nearest::{PairsBelow, pairs_below, smallest_gap};
pub use pair::{Pair, PairKind};
pub use rows::PairGap;
pub use step_bound::{StepBound, StepMethod, StepRule, step_bound, step_bound_from};
