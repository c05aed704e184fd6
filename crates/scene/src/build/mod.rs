//! From the words of a scene file to arrays.

mod body;
mod contact;
mod descent;
mod energies;
mod motion;
mod shape;
mod solver;
mod warnings;

pub(crate) use body::{Built, bodies};
pub(crate) use contact::{contact, spacing};
pub(crate) use descent::{descent, no_contact_terms, solver_kind};
pub(crate) use energies::{COMMON, Yard, energies};
pub(crate) use motion::{refuse, resolve};
pub(crate) use solver::{Solver, solver};
pub(crate) use warnings::fast_motion;
