//! Planar divide and truncate: how much of its displacement from the last detection each vertex may keep.
//!
//! Every pair's plane is placed anew between its two primitives for the displacements at hand, and each vertex is stopped
//! short of the nearest of its planes. Pairs out of reach of the detection can't meet as long as no vertex goes further
//! than the budget, less than half the reach.

use crate::detection::{Detection, gather};
use crate::separator::{admitted, first_count};
use glam::DVec3;
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Vertices of one task.
const CHUNK: usize = 32;

/// Fewer vertices are not worth the threads.
const PARALLEL: usize = 128;

/// Which vertices were cut short in a step.
#[derive(Debug, Default)]
pub(crate) struct Cuts {
    /// By the budget.
    pub(crate) clipped: Vec<bool>,
    /// By a plane.
    pub(crate) truncated: Vec<bool>,
}

impl Cuts {
    pub(crate) fn clear(&mut self, count: usize) {
        for cut in [&mut self.clipped, &mut self.truncated] {
            cut.clear();
            cut.resize(count, false);
        }
    }
}

/// Buffers.
#[derive(Debug, Default)]
pub(crate) struct Truncation {
    /// Bits of the fraction that each vertex may keep. Fractions are not negative, so that their bits compare alike.
    kept: Vec<AtomicU64>,
    movers: Vec<u32>,
}

const ALL: u64 = 1.0_f64.to_bits();

impl Truncation {
    /// Cuts the displacements `u` (m) after those of the vertices `changed` have changed; all others have passed already.
    /// `changed` and what shares a pair with them may become shorter; says whether a plane has cut anything.
    pub(crate) fn truncate(
        &mut self,
        detection: &Detection,
        relaxation: f64,
        budget: f64,
        changed: &[u32],
        u: &mut [DVec3],
        cuts: &mut Cuts,
    ) -> bool {
        if self.kept.len() != u.len() {
            self.kept = (0..u.len()).map(|_| AtomicU64::new(ALL)).collect();
        }
        self.movers.clear();
        let far = |v: &&u32| {
            let free = detection.free_way[**v as usize];
            u[**v as usize].length_squared() > free * free
        };
        self.movers.extend(changed.iter().filter(far));
        let some = AtomicBool::new(false);
        {
            let (kept, u) = (&self.kept, &*u);
            let limit = |v: u32, fraction: f64| {
                if fraction < 1.0 {
                    kept[v as usize].fetch_min(fraction.to_bits(), Ordering::Relaxed);
                    some.store(true, Ordering::Relaxed);
                }
            };
            let one = |&v: &u32| {
                for (row, _) in detection.around.around(v) {
                    let separator = &detection.separators[row];
                    if !separator.holds() {
                        continue;
                    }
                    let row = &detection.contacts.rows[row];
                    let fractions = separator.truncate(
                        &gather(row, &detection.reference),
                        &gather(row, u),
                        first_count(row.kind),
                        relaxation,
                        detection.eps,
                    );
                    row.vertices.iter().zip(fractions).for_each(|(&v, t)| limit(v, t));
                }
                for (slab, _) in detection.slabs_around.around(v) {
                    let slab = &detection.contacts.slabs[slab];
                    if slab.gap > 0.0 {
                        let least = (detection.eps / slab.gap).max(0.05);
                        let clearance = (1.0 - least) * slab.gap - detection.eps;
                        let motion = slab.normal.dot(u[v as usize]);
                        limit(v, admitted(clearance, motion, relaxation));
                    }
                }
            };
            if self.movers.len() < PARALLEL {
                self.movers.iter().for_each(one);
            } else {
                self.movers.par_chunks(CHUNK).for_each(|movers| movers.iter().for_each(one));
            }
        }
        let some = some.into_inner();
        if some {
            for (v, kept) in self.kept.iter_mut().enumerate() {
                let kept = kept.get_mut();
                if *kept < ALL {
                    u[v] *= f64::from_bits(*kept);
                    cuts.truncated[v] = true;
                    *kept = ALL;
                }
            }
        }
        for &v in changed {
            let v = v as usize;
            let length = u[v].length();
            if length > budget {
                u[v] *= budget / length;
                cuts.clipped[v] = true;
            }
        }
        some
    }
}
