//! Generators: shapes with named groups of vertices.
//!
//! Each returns a [`Mesh`] or says which size is wrong; none allocates before the counts are
//! checked against [`MAX_VERTICES`]. Groups are sorted.

mod bag;
mod cuboid;
mod grid;
mod icosphere;
mod revolve;
mod spheres;

pub use bag::{Bag, Ring, bag, bag_rings, bin};
pub use cuboid::{box_surface, soft_box};
pub use grid::{Origin, Pattern, grid};
pub use icosphere::icosphere;
pub use revolve::{Diagonal, cylinder, disc, revolve};
pub use spheres::{Spheres, SplitMix64, sphere_lattice, sphere_packing};

use crate::{MAX_ELEMENTS, MAX_VERTICES, MeshError, Problem, mesh::check_size};

#[cfg(doc)]
use crate::Mesh;

/// A length that must be finite and above 0.
fn positive(what: &'static str, value: f64) -> Result<(), MeshError> {
    if value > 0.0 && value.is_finite() {
        return Ok(());
    }
    let found = value.to_string();
    Err(Problem::BadSize { what, found, expected: "a finite length above 0" }.into())
}

/// A count that must not be below `least`, which `expected` says in words.
fn at_least(
    what: &'static str,
    value: u32,
    least: u32,
    expected: &'static str,
) -> Result<(), MeshError> {
    if value >= least {
        return Ok(());
    }
    Err(Problem::BadSize { what, found: value.to_string(), expected }.into())
}

/// Refuses counts above the limits. The counts are computed wide, so they can't wrap around.
fn check_counts(vertices: u128, elements: u128) -> Result<(), MeshError> {
    let narrow = |count: u128| u64::try_from(count).unwrap_or(u64::MAX);
    check_size("vertices", narrow(vertices), MAX_VERTICES)?;
    check_size("elements", narrow(elements), MAX_ELEMENTS)
}

/// `length * i / n`, exact at the end. One division after one product keeps round numbers round:
/// the first of ten cells of 0.1 m ends at 0.01 m.
fn along(length: f64, i: u32, n: u32) -> f64 {
    if i == n { length } else { length * f64::from(i) / f64::from(n) }
}
