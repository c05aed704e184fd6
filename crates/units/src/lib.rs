//! Quantities with units, as a scene file writes them.
//!
//! Everything inside the framework is SI (metre, kilogram, second). A file may use another system
//! ([`Units`], for example centimetre-gram-second) and may give a number its own unit
//! (`thickness = "30 um"`). A [`Quantity`] is such a number with its dimension in its type, so a
//! stiffness can't be given in pascals where newtons per metre are wanted.
//!
//! ```
//! use gusset_units::{Length, Stiffness, Units};
//!
//! let thickness: Length = "30 um".parse()?;
//! assert_eq!(thickness.si(&Units::CGS), 30e-6); // its own unit wins
//! assert_eq!(Length::written(0.2).si(&Units::CGS), 0.002); // a bare number is the scene's
//! assert!("30 MPa".parse::<Stiffness>().is_err());
//! # Ok::<(), gusset_units::UnitError>(())
//! ```

mod parse;
mod quantity;
mod system;

pub use parse::UnitError;
pub use quantity::{
    Acceleration, Area, AreaDensity, Bending, BendingDamping, Damping, Density, Energy, Force,
    Length, Mass, Number, Pressure, Quantity, Rate, SpringConstant, Stiffness, Time, Velocity,
    Viscosity, Volume,
};
pub use system::Units;
