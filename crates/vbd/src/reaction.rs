//! Forces of contact at the end of a step, for those who measure them.

use crate::detection::{Detection, gather};
use crate::law::{Law, Touch};
use crate::memory::{Key, Multipliers, Remembered, key, slab_key};
use crate::touch::{closest, penalty, weighted};
use glam::DVec3;
use gusset_energy::{StepState, VertexBlock};
use rayon::prelude::*;

/// Force on each vertex (N), fixed ones included, by the law of penalties at the end of the step.
pub(crate) fn of_penalties(detection: &Detection, law: &Law, at: &StepState<'_>) -> Vec<DVec3> {
    let force = |vertex: u32| {
        let mut block = VertexBlock::default();
        penalty(detection, law, at, vertex, &mut block);
        -DVec3::from_array(block.gradient)
    };
    (0..at.x.len() as u32).into_par_iter().map(force).collect()
}

/// The same by the multipliers that the step has ended with, and damping.
pub(crate) fn of_multipliers(
    detection: &Detection,
    law: &Law,
    known: &Remembered,
    at: &StepState<'_>,
) -> Vec<DVec3> {
    let mut forces = vec![DVec3::ZERO; at.x.len()];
    let find = |key: Key| -> Option<Multipliers> {
        known.binary_search_by_key(&key, |(key, _)| *key).ok().map(|place| known[place].1)
    };
    let damping = |touch: &Touch| {
        let mut block = VertexBlock::default();
        law.damp(touch, &mut block);
        -DVec3::from_array(block.gradient)
    };
    for (row, _) in detection.contacts.rows.iter().zip(&detection.acts).filter(|(_, acts)| **acts) {
        let Some(multipliers) = find(key(row)) else { continue };
        let Some(closest) = closest(row, &gather(row, at.x), f64::INFINITY) else { continue };
        let distance = closest.r.length();
        if distance == 0.0 {
            continue;
        }
        let normal = closest.r / distance;
        let force = normal * multipliers.normal - multipliers.tangential;
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
        let Some(multipliers) = find(slab_key(slab)) else { continue };
        let v = slab.vertex as usize;
        let normal = slab.normal;
        let gap = normal.dot(at.x[v]) - slab.plane - slab.offset;
        forces[v] += normal * multipliers.normal - multipliers.tangential;
        if gap < law.margin {
            let motion = at.x[v] - at.x_start[v];
            forces[v] += damping(&Touch { normal, gap, motion, weight: 1.0 });
        }
    }
    forces
}
