//! Vertex block descent: a time step that moves one vertex after another to the minimum of everything that acts on it (Chen,
//! Liu, Yang and Yuksel 2024, *Vertex Block Descent*), on the same terms as the global Newton solver.
//!
//! Vertices are coloured so that no element has two of one colour ([`Colouring`]); those of a colour move at the same time,
//! each by one Newton step of its own 3x3 block. A fixed number of sweeps makes a step: its cost is known in advance, its
//! error is not zero, and the step certificate says how large the forces were that remained.
//!
//! Contact comes in two ways ([`Method`]). *Penalty* forces with planar divide and truncate: whatever the forces, no vertex
//! passes the planes between it and what was near it at the last detection. *Rows of an augmented Lagrangian* with
//! multipliers that persist: trial positions are free, what is committed keeps to its side of stored planes. Both keep every
//! pair apart that was apart at the start.

mod alm;
mod colouring;
mod descent;
mod detection;
mod filter;
mod incidence;
mod law;
mod local;
mod memory;
mod penalty;
mod reaction;
mod separator;
mod settings;
mod start;
mod touch;
mod truncation;

pub use colouring::Colouring;
pub use descent::Descent;
pub use settings::{Alm, Budget, ContactRule, Method, Schedule, Settings, Start};
