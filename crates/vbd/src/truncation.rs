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
    /// Which vertices those are; kept only where displacements are turned.
    moving: Vec<bool>,
    /// Displacements that have been turned along planes.
    turned: Vec<(u32, DVec3)>,
    /// Whether displacements are turned along planes before they are cut short.
    slide: bool,
}

/// How often displacements are turned along planes before what is left is cut short.
const SLIDES: usize = 3;

const ALL: u64 = 1.0_f64.to_bits();

impl Truncation {
    /// With `slide`, what goes along planes is kept as far as possible.
    pub(crate) fn new(slide: bool) -> Self {
        Self { slide, ..Self::default() }
    }

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
        let mut some = self.slide && self.slide(detection, relaxation, u);
        if self.fractions(detection, relaxation, u) {
            some = true;
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

    /// Turns displacements along planes, until all are admitted or a few times. Says whether any was not.
    fn slide(&mut self, detection: &Detection, relaxation: f64, u: &mut [DVec3]) -> bool {
        self.moving.clear();
        self.moving.resize(u.len(), false);
        self.movers.iter().for_each(|&v| self.moving[v as usize] = true);
        let mut some = false;
        for _ in 0..SLIDES {
            if !self.fractions(detection, relaxation, u) {
                break;
            }
            some = true;
            self.turn(detection, relaxation, u);
        }
        some
    }

    /// The fraction that every vertex may keep of its displacement, as far as pairs of the movers are concerned. Says whether
    /// any is below 1.
    fn fractions(&self, detection: &Detection, relaxation: f64, u: &[DVec3]) -> bool {
        let some = AtomicBool::new(false);
        {
            let (kept, u) = (&self.kept, u);
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
        some.into_inner()
    }

    /// Takes from every displacement that is not admitted what goes against the plane that stops it first; what goes along
    /// that plane stays. Whose displacement has been turned so has to pass all of its planes again.
    fn turn(&mut self, detection: &Detection, relaxation: f64, u: &mut [DVec3]) {
        self.turned.clear();
        for (v, kept) in (0_u32..).zip(&mut self.kept) {
            let fraction = f64::from_bits(std::mem::replace(kept.get_mut(), ALL));
            if fraction == 1.0 {
                continue;
            }
            let mut rows = detection.around.around(v).filter_map(|(k, corner)| {
                let (row, separator) = (&detection.contacts.rows[k], &detection.separators[k]);
                let p = gather(row, &detection.reference);
                let (first, eps) = (first_count(row.kind), detection.eps);
                let fractions = separator.truncate(&p, &gather(row, u), first, relaxation, eps);
                let stops = separator.holds() && fractions[corner] <= fraction;
                stops.then_some(separator.normal)
            });
            let mut slabs = detection.slabs_around.around(v);
            let slab = |(k, _): (usize, usize)| detection.contacts.slabs[k].normal;
            if let Some(normal) = rows.next().or_else(|| slabs.next().map(slab)) {
                let mine = u[v as usize];
                self.turned.push((v, mine - normal * ((1.0 - fraction) * normal.dot(mine))));
            }
        }
        for &(v, new) in &self.turned {
            u[v as usize] = new;
            if !std::mem::replace(&mut self.moving[v as usize], true) {
                self.movers.push(v);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detection::Detector;
    use glam::dvec3;
    use gusset_contact::{CollisionMesh, IntersectionCheck, intersections};

    /// A triangle that stays above a larger one, and both found.
    fn pair() -> (CollisionMesh, Vec<DVec3>, Detection) {
        let mut mesh = CollisionMesh::new(vec![true; 6], 0.0);
        mesh.add_surface("pair", 0, &[[0, 1, 2], [3, 4, 5]]);
        let corners = [[-3.0, -3.0, 0.0], [3.0, -3.0, 0.0], [0.0, 4.0, 0.0]];
        let above = [[-0.5, -0.5, 0.5], [0.5, -0.5, 0.5], [0.0, 0.5, 0.7]];
        let x: Vec<DVec3> = corners.into_iter().chain(above).map(DVec3::from_array).collect();
        let mut detection = Detection::default();
        let mut detector = Detector::new(mesh.clone(), 2, false, 6.0);
        assert!(detector.detect(&x, &x, 4.0, &mut detection).is_ok());
        (mesh, x, detection)
    }

    fn cut(slide: bool, detection: &Detection, mut u: Vec<DVec3>) -> Vec<DVec3> {
        let mut cuts = Cuts::default();
        cuts.clear(u.len());
        let all: Vec<u32> = (0..u.len() as u32).collect();
        Truncation::new(slide).truncate(detection, 0.85, 1e3, &all, &mut u, &mut cuts);
        u
    }

    #[test]
    fn what_goes_along_a_plane_may_stay() {
        let (_, _, detection) = pair();
        let toward = |u: DVec3| [DVec3::ZERO; 3].into_iter().chain([u; 3]).collect::<Vec<_>>();
        let (straight, oblique) = (toward(dvec3(0.0, 0.0, -2.0)), toward(dvec3(1.0, 0.0, -2.0)));
        let (scaled, slid) =
            (cut(false, &detection, oblique.clone()), cut(true, &detection, oblique));
        let down = cut(false, &detection, straight);
        for v in 3..6 {
            assert!(scaled[v].x < 0.3, "{}", scaled[v]);
            assert!((slid[v].x - 1.0).abs() < 1e-12, "{}", slid[v]);
            assert!((slid[v].z - down[v].z).abs() < 1e-9, "{} {}", slid[v], down[v]);
        }
    }

    #[test]
    fn nothing_crosses_whichever_way_displacements_are_cut() {
        let (mesh, x, detection) = pair();
        let mut state = 1_u64;
        let mut random = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
        };
        for _ in 0..300 {
            let u: Vec<DVec3> =
                x.iter().map(|_| dvec3(random(), random(), 1.5 * random())).collect();
            for slide in [false, true] {
                let kept = cut(slide, &detection, u.clone());
                for step in 1..=8 {
                    let along = f64::from(step) / 8.0;
                    let at: Vec<DVec3> =
                        x.iter().zip(&kept).map(|(x, u)| *x + *u * along).collect();
                    assert!(intersections(&mesh, &at, &IntersectionCheck::default()).is_clean());
                }
            }
        }
    }
}
