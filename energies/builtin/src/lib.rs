//! The kinds of energy that come with the framework. A binary that links this crate knows them all:
//! `use gusset_builtin as _;`.
//!
//! | kind | points | what it is |
//! |---|---|---|
//! | [`inertia`] | 1 | inertia, gravity and constant forces |
//! | [`drag`] | 1 | explicit drag |
//! | [`neo-hookean`](neo_hookean) | 3 | stretching of a film that resists being crushed |
//! | [`stvk`] | 3 | stretching of a film for small strains |
//! | [`hinge`] | 4 | bending of a film |
//! | [`tet-neo-hookean`](tet_neo_hookean) | 4 | elasticity of a solid |
//! | [`barrier`] | 4, 1 | contact that can't be passed |
//! | [`penalty`] | 4, 1 | contact that can |
//! | [`friction`] | 4, 1 | Coulomb friction |
//! | [`support`] | 1 | springs to moving targets: hands |
//! | [`tie`] | 2 | threads between vertices |
//!
//! Each is a crate of its own that nothing else depends on; `gusset-template` shows how to write another.

pub use gusset_barrier as barrier;
pub use gusset_drag as drag;
pub use gusset_friction as friction;
pub use gusset_hinge as hinge;
pub use gusset_inertia as inertia;
pub use gusset_neo_hookean as neo_hookean;
pub use gusset_penalty as penalty;
pub use gusset_stvk as stvk;
pub use gusset_support as support;
pub use gusset_tet_neo_hookean as tet_neo_hookean;
pub use gusset_tie as tie;
