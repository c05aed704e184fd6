//! Kinematic vertices: prescribed motion on the same bounded path as everything else.
//!
//! Where the way to the targets is free, the vertices go there at once and are fixed for the step. Where contact blocks
//! it, they become free for a while, pulled to their targets by an augmented Lagrangian, and push what is in the way;
//! as soon as the rest of the way is free they go and are fixed (Li et al. 2020, *Incremental Potential Contact*,
//! supplement on moving boundary conditions).

use crate::model::Prescribed;
use glam::DVec3;
use gusset_system::{Compensated, System};

/// Pull on kinematic vertices: `k/2 |x - target|^2 - multiplier.(x - target)`.
#[derive(Default)]
pub(crate) struct Pull {
    pub(crate) vertices: Vec<u32>,
    pub(crate) target: Vec<DVec3>,
    pub(crate) multiplier: Vec<DVec3>,
    /// N/m.
    pub(crate) stiffness: f64,
}

/// Positions that the timeline wants at time `t`.
pub(crate) fn targets(prescribed: &[Prescribed], t: f64, out: &mut Vec<DVec3>) {
    out.clear();
    for motion in prescribed {
        out.extend(motion.start.iter().map(|start| motion.path.at(t, *start)));
    }
}

impl Pull {
    pub(crate) fn new(prescribed: &[Prescribed]) -> Self {
        let vertices: Vec<u32> =
            prescribed.iter().flat_map(|p| p.vertices.iter().copied()).collect();
        Self { multiplier: vec![DVec3::ZERO; vertices.len()], vertices, ..Self::default() }
    }

    /// Largest component of what is left of the way, and whose it is.
    pub(crate) fn remaining(&self, x: &[DVec3]) -> (f64, usize) {
        let mut worst = (0.0, 0);
        for (k, (&v, target)) in self.vertices.iter().zip(&self.target).enumerate() {
            let left = (*target - x[v as usize]).abs().max_element();
            if left > worst.0 {
                worst = (left, k);
            }
        }
        worst
    }

    /// The rest of the way as a displacement of all vertices.
    pub(crate) fn way(&self, x: &[DVec3]) -> Vec<DVec3> {
        let mut dx = vec![DVec3::ZERO; x.len()];
        for (&v, target) in self.vertices.iter().zip(&self.target) {
            dx[v as usize] = *target - x[v as usize];
        }
        dx
    }

    /// Puts the vertices on their targets.
    pub(crate) fn arrive(&self, x: &mut [DVec3]) {
        for (&v, target) in self.vertices.iter().zip(&self.target) {
            x[v as usize] = *target;
        }
    }

    /// First-order update of the multipliers.
    pub(crate) fn update_multipliers(&mut self, x: &[DVec3]) {
        let pulls = self.vertices.iter().zip(&self.target).zip(&mut self.multiplier);
        for ((&v, target), multiplier) in pulls {
            *multiplier -= self.stiffness * (x[v as usize] - *target);
        }
    }

    /// Energy at `x` (J).
    pub(crate) fn energy(&self, x: &[DVec3]) -> Compensated {
        let mut sum = Compensated::default();
        let pulls = self.vertices.iter().zip(&self.target).zip(&self.multiplier);
        for ((&v, target), multiplier) in pulls {
            let r = x[v as usize] - *target;
            sum.add(0.5 * self.stiffness * r.length_squared());
            sum.add(-multiplier.dot(r));
        }
        sum
    }

    /// Adds gradient and Hessian at `x` to an assembled system.
    pub(crate) fn assemble(&self, x: &[DVec3], system: &mut System) {
        let pulls = self.vertices.iter().zip(&self.target).zip(&self.multiplier);
        for ((&v, target), multiplier) in pulls {
            let gradient = self.stiffness * (x[v as usize] - *target) - *multiplier;
            system.add_diagonal(v, gradient.to_array(), self.stiffness);
        }
    }
}
