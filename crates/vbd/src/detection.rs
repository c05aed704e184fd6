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
    /// Pairs with a smaller gap are listed (m).
    pub(crate) reach: f64,
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
        if self.candidates.dhat() < reach || !self.candidates.covers(x, x) {
            let steps = x.iter().zip(toward);
            let fastest = steps.fold(0.0_f64, |most, (x, to)| most.max(x.distance_squared(*to)));
            let slow = SERVED * fastest.sqrt() < SKIN * reach;
            let skin = if slow { SKIN * reach } else { 0.0 };
            self.candidates.query(&self.mesh, x, toward, skin, reach, usize::MAX)?;
        }
        self.candidates.rows(&self.mesh, x, reach, &mut out.contacts);
        let rows = &mut out.contacts.rows;
        if self.filter_truncation {
            rows.retain(|row| !self.near.excludes(row));
        }
        out.reference.clear();
        out.reference.extend_from_slice(x);
        out.reach = reach;
        out.eps = self.eps(x);

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
        out.list(x.len());
        Ok(())
    }

    /// A thousand-millionth of the scene, and never below what rounding does to positions.
    fn eps(&self, x: &[DVec3]) -> f64 {
        let largest = x.iter().fold(0.0_f64, |largest, x| largest.max(x.abs().max_element()));
        (1e-9 * self.extent).max(64.0 * f64::EPSILON * largest)
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
    fn list(&mut self, vertex_count: usize) {
        let Self { contacts, acts, separators, eps, .. } = self;
        let rows = || (0..).zip(&contacts.rows).map(|(k, row)| (k, row.vertices));
        self.around.fill(vertex_count, rows());
        let acts = &*acts;
        self.acting.fill(vertex_count, rows().filter(|(k, _)| acts[*k as usize]));
        self.slabs_around
            .fill(vertex_count, (0..).zip(&contacts.slabs).map(|(k, slab)| (k, alone(slab))));
        self.free_way.clear();
        self.free_way.resize(vertex_count, f64::INFINITY);
        self.unseparated = 0;
        let mut limit = |v: u32, gap: f64| {
            let way = if gap < TIGHT * *eps { 0.0 } else { FREE * (gap - 2.0 * *eps) };
            let free = &mut self.free_way[v as usize];
            *free = free.min(way);
        };
        for (row, separator) in contacts.rows.iter().zip(separators) {
            if separator.holds() {
                row.vertices.iter().for_each(|&v| limit(v, separator.gap));
            } else {
                self.unseparated += 1;
            }
        }
        for slab in &contacts.slabs {
            limit(slab.vertex, slab.gap);
        }
    }
}
