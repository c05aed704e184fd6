//! Pairs within reach of a configuration, with a certified plane between each: what forces and truncation work on until the
//! next detection.

use crate::filter::Neighbourhood;
use crate::incidence::Incidence;
use crate::separator::Separator;
use glam::DVec3;
use gusset_contact::{Candidates, CollisionMesh, QueryError};
use gusset_energy::{Contacts, Row, SlabRow};
use rayon::prelude::*;

/// Candidates are searched this much further than the reach, and kept while no vertex has gone so far: where a step's motion
/// is so slow that a few steps are served. Else they are searched for one step alone.
const SKIN: f64 = 0.25;

/// Steps that the skin has to serve at least.
const SERVED: f64 = 4.0;

/// Rows of one task.
const CHUNK: usize = 1024;

/// Of a gap `g`, each side may use up to this share without any plane between the two being in the way.
const FREE: f64 = 0.45;

/// Rows with gaps below so many `eps` grant no free way.
const TIGHT: f64 = 400.0;

/// Pairs within reach of `reference`.
#[derive(Debug, Default)]
pub(crate) struct Detection {
    /// Rows by kind, then primitives; slabs apart.
    pub(crate) contacts: Contacts,
    /// Whether each row exerts forces.
    pub(crate) acts: Vec<bool>,
    /// The plane between each row's primitives.
    pub(crate) separators: Vec<Separator>,
    /// Rows around each vertex.
    pub(crate) around: Incidence,
    /// Those of them that exert forces.
    pub(crate) acting: Incidence,
    /// Slab rows around each vertex.
    pub(crate) slabs_around: Incidence,
    /// How far each vertex may go without meeting any plane, as long as no other vertex goes further than that (m).
    pub(crate) free_way: Vec<f64>,
    /// Positions it was made at (m).
    pub(crate) reference: Vec<DVec3>,
    /// Pairs with a smaller gap are listed (m), and would be in the complete list.
    pub(crate) reach: f64,
    pub(crate) full_reach: f64,
    /// The list is as good as complete for as long as no vertex has gone further than this (m).
    pub(crate) way: f64,
    /// Half the width of the band about planes, for rounding (m).
    pub(crate) eps: f64,
    /// Rows without a separating plane.
    pub(crate) unseparated: usize,
}

/// Finds pairs.
pub(crate) struct Detector {
    pub(crate) mesh: CollisionMesh,
    candidates: Candidates,
    near: Neighbourhood,
    filter_truncation: bool,
    /// Extent of the scene (m).
    extent: f64,
}

impl Detector {
    /// `extent` (m) is the size of the scene.
    pub(crate) fn new(
        mesh: CollisionMesh,
        rings: u32,
        filter_truncation: bool,
        extent: f64,
    ) -> Self {
        Self {
            candidates: Candidates::new(&mesh),
            near: Neighbourhood::new(&mesh, rings),
            filter_truncation,
            extent,
            mesh,
        }
    }

    /// Finds all pairs with a gap below `reach` (m) at `x`. `toward` is where the vertices are about to go: the candidates
    /// serve a detection there too.
    pub(crate) fn detect(
        &mut self,
        x: &[DVec3],
        toward: &[DVec3],
        reach: f64,
        out: &mut Detection,
    ) -> Result<(), QueryError> {
        self.detect_for(x, toward, reach, Need::everything(reach), out)
    }

    /// The same, but pairs that have no part in anything for as long as no vertex goes further than the need says are left
    /// out. [`Detector::complete`] adds them.
    pub(crate) fn detect_for(
        &mut self,
        x: &[DVec3],
        toward: &[DVec3],
        reach: f64,
        need: Need,
        out: &mut Detection,
    ) -> Result<(), QueryError> {
        out.reference.clear();
        out.reference.extend_from_slice(x);
        out.eps = self.eps(x);
        out.full_reach = reach;
        let near = need.reach(out.eps);
        (out.reach, out.way) = if near < reach { (near, need.way) } else { (reach, f64::INFINITY) };
        if self.candidates.dhat() < out.reach || !self.candidates.covers(x, x) {
            let steps = x.iter().zip(toward);
            let fastest = steps.fold(0.0_f64, |most, (x, to)| most.max(x.distance_squared(*to)));
            let dhat = out.reach.max(need.later).min(reach);
            let slow = SERVED * fastest.sqrt() < SKIN * dhat;
            let skin = if slow { SKIN * dhat } else { 0.0 };
            self.candidates.query(&self.mesh, x, toward, skin, dhat, usize::MAX)?;
        }
        self.list(out);
        Ok(())
    }

    /// Lists all pairs that a detection was asked for.
    pub(crate) fn complete(&mut self, out: &mut Detection) -> Result<(), QueryError> {
        (out.reach, out.way) = (out.full_reach, f64::INFINITY);
        let x = &out.reference;
        if self.candidates.dhat() < out.reach {
            self.candidates.query(&self.mesh, x, x, 0.0, out.reach, usize::MAX)?;
        }
        self.list(out);
        Ok(())
    }

    /// Lists the pairs within reach.
    fn list(&self, out: &mut Detection) {
        let x = &out.reference;
        self.candidates.rows(&self.mesh, x, out.reach, &mut out.contacts);
        let rows = &mut out.contacts.rows;
        if self.filter_truncation {
            rows.retain(|row| !self.near.excludes(row));
        }
        out.acts.resize(rows.len(), true);
        out.separators.resize(rows.len(), UNKNOWN);
        let near = &self.near;
        let eps = out.eps;
        rows.par_chunks(CHUNK)
            .zip(out.acts.par_chunks_mut(CHUNK))
            .zip(out.separators.par_chunks_mut(CHUNK))
            .for_each(|((rows, acts), separators)| {
                for ((row, acts), separator) in rows.iter().zip(acts).zip(separators) {
                    *acts = !near.excludes(row);
                    *separator = Separator::find(row, &gather(row, x), eps);
                }
            });
        out.list();
    }

    /// A thousand-millionth of the scene, and never below what rounding does to positions.
    fn eps(&self, x: &[DVec3]) -> f64 {
        let largest = x.iter().fold(0.0_f64, |largest, x| largest.max(x.abs().max_element()));
        (1e-9 * self.extent).max(64.0 * f64::EPSILON * largest)
    }
}

/// What a list of pairs is for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Need {
    /// How far vertices go (m).
    pub(crate) way: f64,
    /// Gap at which forces begin (m); 0 where none are wanted.
    pub(crate) margin: f64,
    /// What the next detection will need from the same candidates (m); 0 where that is unknown.
    pub(crate) later: f64,
}

impl Need {
    /// Everything within reach (m).
    pub(crate) fn everything(reach: f64) -> Self {
        Self { way: f64::INFINITY, margin: reach, later: 0.0 }
    }

    /// Pairs with a larger gap neither stop a vertex within its way nor come within the margin.
    pub(crate) fn reach(&self, eps: f64) -> f64 {
        let stopped = (self.way / FREE + 2.0 * eps).max(TIGHT * eps);
        stopped.max(self.margin + 2.0 * self.way) * (1.0 + 1e-9)
    }
}

const UNKNOWN: Separator = Separator { normal: DVec3::ZERO, gap: 0.0, support: 0.0, offset: 0.0 };

/// Positions of a row's vertices.
#[inline(always)]
pub(crate) fn gather(row: &Row, x: &[DVec3]) -> [DVec3; 4] {
    row.vertices.map(|v| x[v as usize])
}

/// A slab row as a row of one vertex, for lists per vertex.
fn alone(slab: &SlabRow) -> [u32; 4] {
    [slab.vertex; 4]
}

impl Detection {
    /// Lists per vertex, and how far each may go.
    fn list(&mut self) {
        let count = self.reference.len();
        let Self {
            contacts, acts, separators, eps, around, acting, slabs_around, free_way, ..
        } = self;
        let (contacts, acts, separators) = (&*contacts, &*acts, &*separators);
        let rows = || (0..).zip(&contacts.rows).map(|(k, row)| (k, row.vertices));
        let slabs = || (0..).zip(&contacts.slabs).map(|(k, slab)| (k, alone(slab)));
        let ((), ((), unseparated)) = rayon::join(
            || around.fill(count, rows()),
            || {
                rayon::join(
                    || acting.fill(count, rows().filter(|(k, _)| acts[*k as usize])),
                    || free_ways(contacts, separators, *eps, count, free_way),
                )
            },
        );
        slabs_around.fill(count, slabs());
        self.unseparated = unseparated;
    }
}

/// Fills in how far each vertex may go; counts the rows without a plane.
fn free_ways(
    contacts: &Contacts,
    separators: &[Separator],
    eps: f64,
    vertex_count: usize,
    free_way: &mut Vec<f64>,
) -> usize {
    free_way.clear();
    free_way.resize(vertex_count, f64::INFINITY);
    let mut limit = |v: u32, gap: f64| {
        let way = if gap < TIGHT * eps { 0.0 } else { FREE * (gap - 2.0 * eps) };
        let free = &mut free_way[v as usize];
        *free = free.min(way);
    };
    let mut unseparated = 0;
    for (row, separator) in contacts.rows.iter().zip(separators) {
        if separator.holds() {
            row.vertices.iter().for_each(|&v| limit(v, separator.gap));
        } else {
            unseparated += 1;
        }
    }
    for slab in &contacts.slabs {
        limit(slab.vertex, slab.gap);
    }
    unseparated
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::Law;
    use crate::touch::penalty;
    use crate::truncation::{Cuts, Truncation};
    use gusset_energy::{StepState, VertexBlock};
    use proptest::prelude::*;

    const CELLS: u32 = 4;
    const LAW: Law =
        Law { margin: 0.04, stiffness: 1e3, damping: 1.0, friction: 0.3, slip: 1e-3, dt: 0.01 };
    const REACH: f64 = 0.12;

    /// Two square nets with cells of 0.1.
    fn mesh() -> CollisionMesh {
        let side = CELLS + 1;
        let mut mesh = CollisionMesh::new(vec![true; 2 * (side * side) as usize], 0.0);
        let cells = (0..CELLS).flat_map(|j| (0..CELLS).map(move |i| j * side + i));
        let triangles: Vec<[u32; 3]> =
            cells.flat_map(|p| [[p, p + 1, p + side + 1], [p, p + side + 1, p + side]]).collect();
        mesh.add_surface("lower", 0, &triangles);
        mesh.add_surface("upper", side * side, &triangles);
        mesh
    }

    fn point(size: f64) -> impl Strategy<Value = DVec3> {
        let range = || -size..size;
        [range(), range(), range()].prop_map(DVec3::from)
    }

    fn positions(bumps: &[DVec3]) -> Vec<DVec3> {
        let side = CELLS + 1;
        let flat = (0..2).flat_map(|net| (0..side * side).map(move |v| (net, v % side, v / side)));
        let place =
            |(net, i, j)| 0.1 * DVec3::new(f64::from(i), f64::from(j), 0.6 * f64::from(net));
        flat.zip(bumps).map(|(cell, bump)| place(cell) + *bump).collect()
    }

    const COUNT: usize = 2 * (CELLS as usize + 1) * (CELLS as usize + 1);

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        /// What is left out of a short list has no part in forces or truncation, for as long as vertices keep to their way.
        #[test]
        fn a_short_list_does_what_the_whole_one_does(
            bumps in proptest::collection::vec(point(0.02), COUNT),
            motion in proptest::collection::vec(point(1.0), COUNT),
            way in 0.001..0.03f64,
            serves_forces: bool,
        ) {
            let x = positions(&bumps);
            let mut detector = Detector::new(mesh(), 2, false, 1.0);
            let [mut whole, mut short] = [Detection::default(), Detection::default()];
            detector.detect(&x, &x, REACH, &mut whole).unwrap();
            let need =
                Need { way, margin: if serves_forces { LAW.margin } else { 0.0 }, later: 0.0 };
            detector.detect_for(&x, &x, REACH, need, &mut short).unwrap();
            prop_assert!(short.contacts.rows.len() < whole.contacts.rows.len());

            let u: Vec<DVec3> = motion.iter().map(|m| m.clamp_length_max(1.0) * way).collect();
            let truncated = |detection: &Detection| {
                let (mut u, mut cuts) = (u.clone(), Cuts::default());
                cuts.clear(COUNT);
                let all: Vec<u32> = (0..COUNT as u32).collect();
                Truncation::default().truncate(detection, 0.85, 1.0, &all, &mut u, &mut cuts);
                u
            };
            prop_assert_eq!(truncated(&whole), truncated(&short));
            if serves_forces {
                let moved: Vec<DVec3> = x.iter().zip(&u).map(|(x, u)| *x + *u).collect();
                let at = StepState { x: &moved, x_start: &x, v_start: &x, dt: LAW.dt };
                for vertex in 0..COUNT as u32 {
                    let [mut a, mut b] = [VertexBlock::default(); 2];
                    penalty(&whole, &LAW, &at, vertex, &mut a);
                    penalty(&short, &LAW, &at, vertex, &mut b);
                    prop_assert_eq!(a, b);
                }
            }
            detector.complete(&mut short).unwrap();
            prop_assert_eq!(short.contacts.rows.len(), whole.contacts.rows.len());
        }
    }
}
