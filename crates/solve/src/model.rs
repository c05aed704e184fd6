//! What is simulated, and where it is.

use crate::collision::ContactSettings;
use glam::DVec3;
use gusset_energy::{Path, Term};
use gusset_mesh::{Mobility, World};

/// Everything that stays the same while a scene runs.
pub struct Model {
    /// The bodies.
    pub world: World,
    /// The energies.
    pub terms: Vec<Box<dyn Term>>,
    /// Motion of the kinematic vertices.
    pub prescribed: Vec<Prescribed>,
    /// Contact; without it everything passes through everything.
    pub contact: Option<ContactSettings>,
}

/// Vertices whose positions the timeline gives: each is at `path.at(t, start)` at time `t`.
pub struct Prescribed {
    /// World indices; their mobility is [`Mobility::Kinematic`].
    pub vertices: Vec<u32>,
    /// Where each starts (m).
    pub start: Vec<DVec3>,
    /// How they move.
    pub path: Path,
}

/// Positions and velocities after a whole number of steps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// Positions (m), one per world vertex.
    pub x: Vec<DVec3>,
    /// Velocities (m/s).
    pub v: Vec<DVec3>,
    /// Steps since the start; the time is `step * dt`.
    pub step: u64,
}

impl State {
    /// The start of a world.
    pub fn start(world: &World) -> Self {
        Self { x: world.gather(|b| &b.start), v: world.gather(|b| &b.velocity), step: 0 }
    }
}

impl Model {
    /// Mobility of every world vertex.
    pub(crate) fn mobility(&self) -> Vec<Mobility> {
        self.world.gather(|b| &b.mobility)
    }
}
