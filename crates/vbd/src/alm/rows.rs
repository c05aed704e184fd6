//! Rows of the augmented Lagrangian: multipliers, planes, and what they do to a vertex.

use super::row::Cushion;
use crate::detection::{Detection, gather};
use crate::law::{Law, Touch};
use crate::local::add;
use crate::memory::{Key, Multipliers, Remembered, key, slab_key};
use crate::separator::{extremes, first_count};
use crate::touch::{closest, weighted};
use glam::DVec3;
use gusset_energy::{Row, StepState, VertexBlock};
use rayon::prelude::*;

/// Rows of one task.
const CHUNK: usize = 512;

/// What a row keeps during a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct State {
    /// Unit normal, from the second primitive to the first.
    pub(crate) normal: DVec3,
    /// Height of the plane along the normal over the second primitive's first vertex at the detection (m).
    pub(crate) plane: f64,
    /// Whether the plane separates the two.
    pub(crate) holds: bool,
    pub(crate) multipliers: Multipliers,
    /// Stiffness of the augmentation (N/m); 0 where nothing can move.
    pub(crate) rho: f64,
}

/// The rows of a detection, those of slabs last.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    pub(crate) states: Vec<State>,
    pub(crate) slabs: Vec<State>,
}

/// What rows are made with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Support {
    pub(crate) cushion: Cushion,
    /// Factor on the inertial support.
    pub(crate) scale: f64,
    /// Length of the step (s).
    pub(crate) dt: f64,
    /// Shares of normal and tangential multipliers that are kept.
    pub(crate) kept: [f64; 2],
}

impl Rows {
    /// Rows of a fresh detection: planes midway, multipliers from `before` where the pair was there already, else what the
    /// cushion gives.
    pub(crate) fn make(
        detection: &Detection,
        before: &Remembered,
        support: &Support,
        mass: &[f64],
    ) -> Self {
        let Support { cushion, scale, dt, kept } = *support;
        let mut remembered = before.iter().peekable();
        let mut multipliers = |key: Key, normal: DVec3, gap: f64| {
            while remembered.next_if(|(k, _)| *k < key).is_some() {}
            match remembered.peek() {
                Some((k, m)) if *k == key => {
                    let p = kept[0] * m.normal;
                    let flat = m.tangential - normal * normal.dot(m.tangential);
                    let tangential = (kept[1] * flat).clamp_length_max(cushion.friction * p);
                    Multipliers { normal: p, tangential }
                }
                _ => Multipliers {
                    normal: cushion.stiffness * (cushion.margin - gap).max(0.0),
                    tangential: DVec3::ZERO,
                },
            }
        };
        let inverse = |v: u32| if mass[v as usize] > 0.0 { 1.0 / mass[v as usize] } else { 0.0 };
        let stiffness = |w: f64| if w > 0.0 { scale / (dt * dt * w) } else { 0.0 };
        let states = detection.contacts.rows.iter().zip(&detection.separators).zip(&detection.acts);
        let states = states.map(|((row, separator), &acts)| {
            let normal = if separator.holds() { separator.normal } else { row.normal };
            let compliance =
                row.vertices.iter().zip(row.weights).map(|(&v, w)| w * w * inverse(v)).sum();
            State {
                normal,
                plane: separator.support + 0.5 * (separator.gap),
                holds: separator.holds(),
                multipliers: if acts {
                    multipliers(key(row), normal, row.gap)
                } else {
                    Multipliers::default()
                },
                rho: stiffness(compliance),
            }
        });
        let states = states.collect();
        let slabs = detection.contacts.slabs.iter().map(|slab| State {
            normal: slab.normal,
            plane: slab.plane + slab.offset,
            holds: slab.gap > 0.0,
            multipliers: multipliers(slab_key(slab), slab.normal, slab.gap),
            rho: stiffness(inverse(slab.vertex)),
        });
        Self { states, slabs: slabs.collect() }
    }

    /// What the next detection or step starts with.
    pub(crate) fn remember(&self, detection: &Detection) -> Remembered {
        let rows = detection.contacts.rows.iter().zip(&self.states).zip(&detection.acts);
        let rows = rows.filter(|(_, acts)| **acts).map(|((row, state), _)| (key(row), state));
        let slabs = detection.contacts.slabs.iter().zip(&self.slabs);
        let slabs = slabs.map(|(slab, state)| (slab_key(slab), state));
        let all = rows.chain(slabs).map(|(key, state)| (key, state.multipliers));
        // Those without force too: a pair that was there already must not be taken for a new one.
        all.collect()
    }

    /// Adds what all rows do to one vertex at the trial positions.
    #[inline]
    pub(crate) fn apply(
        &self,
        detection: &Detection,
        law: &Law,
        at: &StepState<'_>,
        vertex: u32,
        block: &mut VertexBlock,
    ) {
        for (k, corner) in detection.acting.around(vertex) {
            let (row, state) = (&detection.contacts.rows[k], &self.states[k]);
            let Some((gap, motion, weights)) = witness(row, state, law.margin, at) else {
                continue;
            };
            let touch = Touch { normal: state.normal, gap, motion, weight: weights[corner] };
            act(state, law, &touch, block);
        }
        for (k, _) in detection.slabs_around.around(vertex) {
            let state = &self.slabs[k];
            let touch = slab_touch(state, vertex, at);
            act(state, law, &touch, block);
        }
    }

    /// Gives every multiplier the force of its row at the trial positions.
    pub(crate) fn update(&mut self, detection: &Detection, cushion: &Cushion, at: &StepState<'_>) {
        let take = |state: &mut State, gap: f64, motion: DVec3| {
            let m = &mut state.multipliers;
            m.normal = cushion.normal(gap, m.normal, state.rho).0;
            let slip = motion - state.normal * state.normal.dot(motion);
            m.tangential = cushion.tangential(slip, m.tangential, state.rho, m.normal).force;
        };
        let rows = detection.contacts.rows.par_chunks(CHUNK);
        rows.zip(detection.acts.par_chunks(CHUNK)).zip(self.states.par_chunks_mut(CHUNK)).for_each(
            |((rows, acts), states)| {
                for ((row, acts), state) in rows.iter().zip(acts).zip(states) {
                    if !acts {
                        continue;
                    }
                    match witness(row, state, cushion.margin, at) {
                        Some((gap, motion, _)) => take(state, gap, motion),
                        None => state.multipliers = Multipliers::default(),
                    }
                }
            },
        );
        for (slab, state) in detection.contacts.slabs.iter().zip(&mut self.slabs) {
            if state.rho > 0.0 {
                let touch = slab_touch(state, slab.vertex, at);
                take(state, touch.gap, touch.motion);
            }
        }
    }
}

/// Gap along the row's normal, motion of the closest points since the start of the step, and weights, with the closest points
/// at the trial positions; `None` where the row exerts no force: nothing of it can move, or all of its points are so far apart
/// along the normal.
#[inline]
fn witness(
    row: &Row,
    state: &State,
    margin: f64,
    at: &StepState<'_>,
) -> Option<(f64, DVec3, [f64; 4])> {
    if state.rho == 0.0 {
        return None;
    }
    let p = gather(row, at.x);
    let (low, high) = extremes(first_count(row.kind), &p, state.normal, p[3]);
    if low - high - row.offset >= margin + state.multipliers.normal / state.rho {
        return None;
    }
    let closest = closest(row, &p, f64::INFINITY)?;
    let gap = state.normal.dot(closest.r) - row.offset;
    Some((gap, weighted(row, &closest.weights, at.x, at.x_start), closest.weights))
}

fn slab_touch(state: &State, vertex: u32, at: &StepState<'_>) -> Touch {
    let v = vertex as usize;
    Touch {
        normal: state.normal,
        gap: state.normal.dot(at.x[v]) - state.plane,
        motion: at.x[v] - at.x_start[v],
        weight: 1.0,
    }
}

/// Adds normal force, friction and damping of a row on a vertex.
#[inline]
fn act(state: &State, law: &Law, touch: &Touch, block: &mut VertexBlock) {
    if state.rho == 0.0 {
        return;
    }
    let cushion = law.cushion();
    let (n, w) = (touch.normal, touch.weight);
    let (force, stiffness) = cushion.normal(touch.gap, state.multipliers.normal, state.rho);
    if stiffness > 0.0 {
        add(block, n * (w * force), n, w * w * stiffness, 0.0);
    }
    if touch.gap < law.margin {
        law.damp(touch, block);
    }
    if law.friction > 0.0 && force > 0.0 {
        let slip = touch.motion - n * n.dot(touch.motion);
        let friction = cushion.tangential(slip, state.multipliers.tangential, state.rho, force);
        let squared = w * w;
        if friction.length <= friction.radius {
            let stiff = squared * state.rho;
            add(block, friction.force * -w, n, -stiff, stiff);
        } else {
            // Across the slide the cone's edge; along it what a regularised law would have.
            let across = squared * state.rho * friction.radius / friction.length;
            let along = squared * friction.radius * law.slip_scale(slip.length());
            add(block, friction.force * -w, n, -across, across);
            let u = friction.trial / friction.length;
            add(block, DVec3::ZERO, u, along - across, 0.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{DMat3, dvec3};

    const LAW: Law =
        Law { margin: 0.2, stiffness: 1e4, damping: 0.0, friction: 0.5, slip: 1e-4, dt: 0.01 };

    /// What a row at a fixed gap does to a vertex of weight 0.7 that has moved; the normal is z.
    fn moved(motion: DVec3, tangential: DVec3) -> VertexBlock {
        let multipliers = Multipliers { normal: 400.0, tangential };
        let state = State { normal: DVec3::Z, plane: 0.0, holds: true, multipliers, rho: 7200.0 };
        let mut block = VertexBlock::default();
        act(&state, &LAW, &Touch { normal: DVec3::Z, gap: 0.15, motion, weight: 0.7 }, &mut block);
        block
    }

    /// Slope of the gradient over the vertex's own motion in the plane, by central differences; a point moves by its weight.
    fn slope(motion: DVec3, tangential: DVec3, along: DVec3) -> DVec3 {
        let h = 1e-8;
        let [low, high] = [-h, h]
            .map(|h| DVec3::from_array(moved(motion + 0.7 * h * along, tangential).gradient));
        (high - low) / (2.0 * h)
    }

    #[test]
    fn the_friction_block_is_the_slope_within_the_cone_and_across_the_slide() {
        let (slip, held) = (dvec3(3e-3, -2e-3, 0.0), dvec3(20.0, 40.0, 0.0));
        let hessian = |tangential| DMat3::from_cols_array(&moved(slip, tangential).hessian);
        let scale = 7200.0 * 0.49;
        for along in [DVec3::X, DVec3::Y, dvec3(0.6, -0.8, 0.0)] {
            let off = hessian(held) * along - slope(slip, held, along);
            assert!(off.length() < 1e-6 * scale, "{off}");
        }
        // Beyond the cone, the direction of the slide has the stiffness of a regularised law: more than the slope, which is 0.
        let held = 20.0 * held;
        let slide = (held + 7200.0 * slip).normalize();
        let across = DVec3::Z.cross(slide);
        let off = hessian(held) * across - slope(slip, held, across);
        assert!(off.length() < 1e-6 * scale, "{off}");
        assert!(slope(slip, held, slide).length() < 1e-6 * scale);
        assert!(slide.dot(hessian(held) * slide) > 0.0);
    }
}
