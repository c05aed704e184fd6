//! Forces of contact at the end of a step, for those who measure them.

use crate::detection::{Detection, gather};
use crate::law::{Law, Touch};
use crate::touch::{closest, penalty, weighted};
use glam::DVec3;
use gusset_energy::{StepState, VertexBlock};
use rayon::prelude::*;

/// Kind of a slab's key, beyond those of rows.
const SLAB: u32 = 4;

/// Force on each vertex (N), fixed ones included, by the law of penalties at the end of the step.
pub(crate) fn of_penalties(detection: &Detection, law: &Law, at: &StepState<'_>) -> Vec<DVec3> {
    let force = |vertex: u32| {
        let mut block = VertexBlock::default();
        penalty(detection, law, at, vertex, &mut block);
        -DVec3::from_array(block.gradient)
    };
    (0..at.x.len() as u32).into_par_iter().map(force).collect()
}

/// The same by multipliers, and damping. `find` gives those that the step has ended with: normal and tangential (N), of a row
/// by kind and primitives, of a slab by [`SLAB`], vertex and slab.
pub(crate) fn of_multipliers(
    detection: &Detection,
    law: &Law,
    find: impl Fn([u32; 3]) -> Option<(f64, DVec3)>,
    at: &StepState<'_>,
) -> Vec<DVec3> {
    let mut forces = vec![DVec3::ZERO; at.x.len()];
    let damping = |touch: &Touch| {
        let mut block = VertexBlock::default();
        law.damp(touch, &mut block);
        -DVec3::from_array(block.gradient)
    };
    for (row, _) in detection.contacts.rows.iter().zip(&detection.acts).filter(|(_, acts)| **acts) {
        let key = [row.kind as u32, row.primitives[0], row.primitives[1]];
        let Some((pressing, dragging)) = find(key) else { continue };
        let Some(closest) = closest(row, &gather(row, at.x), f64::INFINITY) else { continue };
        let distance = closest.r.length();
        if distance == 0.0 {
            continue;
        }
        let normal = closest.r / distance;
        let force = normal * pressing - dragging;
        let gap = distance - row.offset;
        let motion = weighted(row, &closest.weights, at.x, at.x_start);
        for (&v, weight) in row.vertices.iter().zip(closest.weights) {
            forces[v as usize] += force * weight;
            if gap < law.margin {
                forces[v as usize] += damping(&Touch { normal, gap, motion, weight });
            }
        }
    }
    for slab in &detection.contacts.slabs {
        let Some((pressing, dragging)) = find([SLAB, slab.vertex, slab.slab]) else { continue };
        let v = slab.vertex as usize;
        let normal = slab.normal;
        let gap = normal.dot(at.x[v]) - slab.plane - slab.offset;
        forces[v] += normal * pressing - dragging;
        if gap < law.margin {
            let motion = at.x[v] - at.x_start[v];
            forces[v] += damping(&Touch { normal, gap, motion, weight: 1.0 });
        }
    }
    forces
}
