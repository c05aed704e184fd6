//! A ball thrown at a thin wall, with penalty contact and with the IPC barrier: the ball-and-wall article in the framework.
//!
//! One particle and one slab are stepped by the solver that every scene uses; the article's own solver is a choice of its
//! options. [`Throw::run`] makes one throw, [`table`](table::print) the article's table, [`Rows`](row::Rows) its numbers at
//! full precision and [`page`](page::render) a page to play with in a browser.

pub mod cli;
mod flight;
mod model;
pub mod page;
pub mod plan;
pub mod row;
pub mod table;
mod throw;
pub mod trace;

pub use flight::{Flight, FlightStep, Verdict};
pub use throw::{Method, Throw, ThrowError, Wall, steps_allowed};

// Linked for the kinds that they register.
use {gusset_barrier as _, gusset_inertia as _, gusset_penalty as _};
