//! A round: committed positions go towards the trial positions as far as the planes allow, then the planes are placed anew.

use super::rows::Rows;
use crate::detection::{Detection, gather};
use crate::separator::{Separator, admitted, extremes, first_count};
use crate::settings::Budget;
use crate::touch::closest;
use crate::truncation::Cuts;
use glam::DVec3;
use gusset_energy::Row;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};

/// Rows of one task.
const CHUNK: usize = 1024;

const ALL: u64 = 1.0_f64.to_bits();

/// Committed positions of a step.
#[derive(Debug)]
pub(crate) struct Commit {
    /// Positions (m); every one is on its side of all planes.
    pub(crate) c: Vec<DVec3>,
    /// Length of each vertex's path since the last detection (m).
    used: Vec<f64>,
    /// Where each vertex is to go in a round (m).
    target: Vec<DVec3>,
    /// Bits of the fraction that each vertex may go; not negative, so that bits compare alike.
    kept: Vec<AtomicU64>,
    budget: Budget,
    relaxation: f64,
    /// Farthest that a vertex may go from the detection (m).
    reach: f64,
    /// Where the step started (m), and farthest that a vertex may go from there.
    start: Vec<DVec3>,
    range: f64,
}

/// What a round did.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Progress {
    /// Sum over the vertices of the way to the trial positions that is left (m).
    pub(crate) left: f64,
    /// Whether the detection was too short for what the step grants a vertex.
    pub(crate) out_of_reach: bool,
    /// Largest distance from the detection (m).
    pub(crate) farthest: f64,
}

/// The point of a ball that lies towards `x`; `x` itself where the ball holds it.
fn within(centre: DVec3, radius: f64, x: DVec3) -> DVec3 {
    let way = x - centre;
    let length = way.length();
    if length > radius { centre + way * (radius / length) } else { x }
}

impl Commit {
    pub(crate) fn new(
        start: &[DVec3],
        budget: Budget,
        relaxation: f64,
        reach: f64,
        range: f64,
    ) -> Self {
        Self {
            c: start.to_vec(),
            used: vec![0.0; start.len()],
            target: start.to_vec(),
            kept: start.iter().map(|_| AtomicU64::new(ALL)).collect(),
            budget,
            relaxation,
            reach,
            start: start.to_vec(),
            range,
        }
    }

    /// A detection at the committed positions gives everything its budget again.
    pub(crate) fn renew(&mut self, cuts: &mut Cuts) {
        self.used.fill(0.0);
        cuts.clipped.fill(false);
    }

    /// One round towards the trial positions `x`.
    pub(crate) fn round(
        &mut self,
        detection: &Detection,
        rows: &mut Rows,
        margin: f64,
        x: &[DVec3],
        cuts: &mut Cuts,
    ) -> Progress {
        let mut progress = Progress::default();
        let reference = &detection.reference;
        for (v, target) in self.target.iter_mut().enumerate() {
            *target = match self.budget {
                Budget::Ball => {
                    let granted = within(self.start[v], self.range, x[v]);
                    let target = within(reference[v], self.reach, granted);
                    progress.out_of_reach |= target != granted;
                    cuts.clipped[v] = target != x[v];
                    target
                }
                Budget::PathLength => x[v],
            };
        }
        self.divide(detection, rows);
        for v in 0..self.c.len() {
            let kept = self.kept[v].get_mut();
            let mut step = self.target[v] - self.c[v];
            if *kept < ALL {
                step *= f64::from_bits(*kept);
                cuts.truncated[v] = true;
            }
            *kept = ALL;
            if self.budget == Budget::PathLength {
                let rest = (self.reach - self.used[v]).max(0.0);
                let length = step.length();
                if length > rest {
                    step *= rest / length;
                    cuts.clipped[v] = true;
                }
                self.used[v] += step.length();
            }
            self.c[v] =
                if step == self.target[v] - self.c[v] { self.target[v] } else { self.c[v] + step };
            progress.left += x[v].distance(self.c[v]);
            progress.farthest = progress.farthest.max(self.c[v].distance(reference[v]));
        }
        self.replace_planes(detection, rows, margin);
        progress
    }

    /// How much of the way to its target each vertex may go.
    fn divide(&self, detection: &Detection, rows: &Rows) {
        let limit = |v: u32, fraction: f64| {
            if fraction < 1.0 {
                self.kept[v as usize].fetch_min(fraction.to_bits(), Ordering::Relaxed);
            }
        };
        let eps = detection.eps;
        detection.contacts.rows.par_iter().zip(&rows.states).with_min_len(CHUNK).for_each(
            |(row, state)| {
                if !state.holds {
                    return;
                }
                let first = first_count(row.kind);
                let origin = detection.reference[row.vertices[first] as usize];
                for (k, &v) in row.vertices.iter().enumerate() {
                    let way = self.target[v as usize] - self.c[v as usize];
                    if way == DVec3::ZERO {
                        continue;
                    }
                    let height = state.normal.dot(self.c[v as usize] - origin) - state.plane;
                    let motion = state.normal.dot(way);
                    let (clearance, motion) = if k < first {
                        (height - row.offset - eps, motion)
                    } else {
                        (-height - eps, -motion)
                    };
                    limit(v, admitted(clearance, motion, self.relaxation));
                }
            },
        );
        for (slab, state) in detection.contacts.slabs.iter().zip(&rows.slabs) {
            if state.holds {
                let v = slab.vertex as usize;
                let clearance = state.normal.dot(self.c[v]) - state.plane;
                let motion = state.normal.dot(self.target[v] - self.c[v]);
                limit(slab.vertex, admitted(0.95 * clearance - eps, motion, self.relaxation));
            }
        }
    }

    /// Puts every plane in the middle of its pair again; pairs that act, or whose plane is near, turn it to the direction
    /// between their closest points where that certifies a wider gap.
    fn replace_planes(&self, detection: &Detection, rows: &mut Rows, margin: f64) {
        let (c, eps) = (&self.c, detection.eps);
        let states = rows.states.par_iter_mut().with_min_len(CHUNK);
        let inputs = detection.contacts.rows.par_iter().zip(&detection.acts);
        states.zip(inputs).for_each(|(state, (row, &acts))| {
            if !state.holds {
                return;
            }
            let origin = detection.reference[row.vertices[first_count(row.kind)] as usize];
            let (low, high) =
                extremes(first_count(row.kind), &gather(row, c), state.normal, origin);
            let mut gap = low - high - row.offset;
            if gap > 2.0 * eps {
                state.plane = high + 0.5 * gap;
            }
            if acts
                && gap < margin
                && let Some(turned) = turned(row, c, gap, origin)
            {
                let (normal, high) = (turned.normal, turned.support);
                gap = turned.gap;
                if gap > 2.0 * eps {
                    state.normal = normal;
                    state.plane = high + 0.5 * gap;
                    let m = &mut state.multipliers.tangential;
                    *m -= normal * normal.dot(*m);
                }
            }
        });
    }
}

/// The direction between the closest points, if it certifies a wider gap than `gap`.
fn turned(row: &Row, c: &[DVec3], gap: f64, origin: DVec3) -> Option<Separator> {
    let p = gather(row, c);
    let normal = closest(row, &p, f64::INFINITY)?.r.try_normalize()?;
    let (low, high) = extremes(first_count(row.kind), &p, normal, origin);
    let wider = low - high - row.offset;
    (wider > gap).then_some(Separator { normal, gap: wider, support: high, offset: row.offset })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alm::row::Cushion;
    use crate::alm::rows::Support;
    use crate::detection::Detector;
    use glam::dvec3;
    use gusset_contact::{CollisionMesh, IntersectionCheck, intersections};
    use proptest::prelude::*;

    /// Vertices along the side of a sheet, sheets, distance between neighbours and between sheets (m).
    const SIDE: usize = 4;
    const SHEETS: usize = 3;
    const CELL: f64 = 1.0;
    const SPACING: f64 = 0.25;
    const COUNT: usize = SIDE * SIDE * SHEETS;
    const REACH: f64 = 0.3;
    const BUDGET: f64 = 0.5 * 0.85 * REACH;

    fn stack() -> (CollisionMesh, Vec<DVec3>) {
        let mut mesh = CollisionMesh::new(vec![true; COUNT], 0.0);
        let mut x = Vec::new();
        for sheet in 0..SHEETS {
            let first = x.len() as u32;
            for k in 0..SIDE * SIDE {
                let (i, j) = ((k % SIDE) as f64, (k / SIDE) as f64);
                x.push(dvec3(CELL * i, CELL * j, SPACING * sheet as f64));
            }
            let corner = |i: usize, j: usize| (SIDE * j + i) as u32;
            let mut triangles = Vec::new();
            for (i, j) in (0..SIDE - 1).flat_map(|j| (0..SIDE - 1).map(move |i| (i, j))) {
                let [a, b] = [corner(i, j), corner(i + 1, j)];
                let [c, d] = [corner(i + 1, j + 1), corner(i, j + 1)];
                triangles.extend([[a, b, d], [b, c, d]]);
            }
            mesh.add_surface(&format!("sheet {sheet}"), first, &triangles);
        }
        (mesh, x)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Wherever the trial positions are, no committed motion lets a pair cross, and none leaves its ball.
        #[test]
        fn committed_motion_never_crosses(
            jitter in proptest::collection::vec([-0.1..0.1f64, -0.1..0.1, -0.1..0.1], COUNT),
            wanted in proptest::collection::vec([-1.0..1.0f64, -1.0..1.0, -1.0..1.0], COUNT),
            scale in 0.05..2.0f64,
        ) {
            let (mesh, mut x) = stack();
            x.iter_mut().zip(jitter).for_each(|(x, by)| *x += DVec3::from_array(by));
            let crosses = |x: &[DVec3]| !intersections(&mesh, x, &IntersectionCheck::default()).pairs.is_empty();
            prop_assume!(!crosses(&x));
            let mut detector = Detector::new(mesh.clone(), 2, false, 5.0);
            let mut detection = Detection::default();
            prop_assert!(detector.detect(&x, &x, REACH, &mut detection).is_ok());
            let cushion = Cushion { margin: 0.2, stiffness: 1e4, friction: 0.5 };
            let support = Support { cushion, scale: 1.0, dt: 0.01, kept: [1.0; 2] };
            let mut rows = Rows::make(&detection, &Vec::new(), &support, &[0.02; COUNT]);
            let mut commit = Commit::new(&x, Budget::Ball, 0.85, BUDGET, f64::INFINITY);
            let mut cuts = Cuts::default();
            cuts.clear(COUNT);
            for round in 0..4 {
                // Trial positions of one round after another are nowhere near each other.
                let turn = |v: usize| DVec3::from_array(wanted[(v + 7 * round) % COUNT]);
                let trial: Vec<DVec3> = (0..COUNT).map(|v| x[v] + scale * turn(v)).collect();
                let before = commit.c.clone();
                commit.round(&detection, &mut rows, cushion.margin, &trial, &mut cuts);
                for part in 1..=8 {
                    let t = f64::from(part) / 8.0;
                    let at: Vec<DVec3> =
                        before.iter().zip(&commit.c).map(|(a, b)| a.lerp(*b, t)).collect();
                    prop_assert!(!crosses(&at), "round {round} at {t}");
                }
                for (c, x) in commit.c.iter().zip(&x) {
                    prop_assert!(c.distance(*x) <= BUDGET * (1.0 + 1e-12));
                }
                for (row, state) in detection.contacts.rows.iter().zip(&rows.states) {
                    let origin = detection.reference[row.vertices[first_count(row.kind)] as usize];
                    let p = gather(row, &commit.c);
                    let (low, high) = extremes(first_count(row.kind), &p, state.normal, origin);
                    prop_assert!(!state.holds || low > high, "{row:?}");
                }
            }
        }
    }
}
