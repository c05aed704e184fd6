//! Where the sweeps of a step begin.
//!
//! The inertial start `x + dt v + dt^2 a`, with the acceleration `a` of everything that acts on single vertices, is exact in
//! free fall and wrong by all of gravity at rest: a few sweeps do not carry a stack of sheets back up, and what they leave
//! is jitter. The adaptive start takes of `a` the share that the vertex has gained in the step before (Chen et al. 2024,
//! *Vertex Block Descent*, section 3.7), so that a body at rest begins at rest. The minimum sought is the same.

use crate::colouring::Colouring;
use crate::local::newton_step;
use glam::DVec3;
use gusset_energy::{StepState, Term, VertexBlock};

/// Kinds whose minimum is the inertial target: what acts on a vertex wherever it goes.
const INERTIAL: [&str; 2] = ["inertia", "drag"];

/// Where every vertex goes if only inertia, gravity, constant forces and drag act.
pub(crate) fn inertial(
    colouring: &Colouring,
    terms: &[Box<dyn Term>],
    at: &StepState<'_>,
    y: &mut [DVec3],
) {
    let mut blocks = Vec::new();
    for vertices in &colouring.colours {
        blocks.clear();
        blocks.resize(vertices.len(), VertexBlock::default());
        for term in terms.iter().filter(|term| INERTIAL.contains(&term.kind())) {
            term.vertex_blocks(at, vertices, &mut blocks);
        }
        for (&v, block) in vertices.iter().zip(&blocks) {
            y[v as usize] = at.x[v as usize] + newton_step(block);
        }
    }
}

/// Takes from the inertial start `y` the part of the acceleration that no vertex gained in the step before, which began at
/// the velocities `v_before` (m/s).
pub(crate) fn adapt(at: &StepState<'_>, v_before: &[DVec3], y: &mut [DVec3]) {
    for (v, (y, v_before)) in y.iter_mut().zip(v_before).enumerate() {
        let accelerated = *y - at.x[v] - at.dt * at.v_start[v];
        let squared = accelerated.length_squared();
        if squared > 0.0 {
            let gained = at.dt * (at.v_start[v] - *v_before);
            let share = (gained.dot(accelerated) / squared).clamp(0.0, 1.0);
            // All of it is no change at all, so that free fall stays exact.
            if share < 1.0 {
                *y -= accelerated * (1.0 - share);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::dvec3;

    #[test]
    fn the_share_of_the_acceleration_is_what_was_gained_before() {
        let dt = 0.1;
        let gravity = dvec3(0.0, 0.0, -10.0);
        let started = |gained: DVec3| {
            let (x, v) = ([dvec3(1.0, 2.0, 3.0)], [dvec3(0.5, 0.0, -1.0)]);
            let at = StepState { x: &x, x_start: &x, v_start: &v, dt };
            let mut y = [x[0] + dt * v[0] + dt * dt * gravity];
            adapt(&at, &[v[0] - dt * gained], &mut y);
            (y[0] - x[0] - dt * v[0]) / (dt * dt)
        };
        let close = |a: DVec3, b: DVec3| assert!(a.distance(b) < 1e-12, "{a} {b}");
        close(started(gravity), gravity);
        close(started(2.0 * gravity), gravity);
        close(started(DVec3::ZERO), DVec3::ZERO);
        close(started(-gravity), DVec3::ZERO);
        // Along a slope only its part along gravity counts.
        close(started(dvec3(7.0, 0.0, -2.5)), 0.25 * gravity);
    }
}
