//! Active contact rows at given positions: closest features, weights, normals and gaps of all candidates within `dhat`.

use glam::DVec3;
use gusset_energy::{Contacts, Row, RowKind, SlabRow};
use gusset_mesh::SlabShape;
use rayon::prelude::*;

use crate::distance::{Closest, edge_edge_within, point_point, point_triangle_within};
use crate::{Candidates, CollisionMesh, Pair, PairKind};

/// Pairs evaluated by one task; fixed, so that nothing depends on the number of threads.
pub(crate) const CHUNK: usize = 2048;

/// Chunks whose rows are held at one time.
const BATCH: usize = 32;

/// A pair and its gap (m).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairGap {
    /// Distance minus offset (m).
    pub gap: f64,
    /// The pair.
    pub pair: Pair,
}

impl PairGap {
    /// The smallest gap among rows, and who has it.
    pub fn smallest(rows: &[Row]) -> Option<Self> {
        let gaps = rows.iter().map(|row| Some(Self { gap: row.gap, pair: row.into() }));
        gaps.fold(None, Self::smaller)
    }

    /// The smaller gap; of equal ones the smaller pair. A gap that is no number counts as smallest.
    pub(crate) fn smaller(a: Option<Self>, b: Option<Self>) -> Option<Self> {
        match (a, b) {
            (Some(a), Some(b)) => {
                let order = a.gap.partial_cmp(&b.gap).unwrap_or_else(|| {
                    // NaN first.
                    b.gap.is_nan().cmp(&a.gap.is_nan())
                });
                Some(if order.then(a.pair.cmp(&b.pair)).is_le() { a } else { b })
            }
            (one, None) | (None, one) => one,
        }
    }
}

/// World vertices, offset (m) and kind of a mesh pair.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stencil {
    pub(crate) vertices: [u32; 4],
    pub(crate) offset: f64,
    pub(crate) kind: RowKind,
}

impl CollisionMesh {
    #[inline(always)]
    pub(crate) fn stencil(&self, kind: RowKind, [i, j]: [u32; 2]) -> Stencil {
        let (i, j) = (i as usize, j as usize);
        match kind {
            RowKind::VertexTriangle => {
                let [a, b, c] = self.triangles[j];
                Stencil { vertices: [self.vertices[i], a, b, c], offset: self.min_gap, kind }
            }
            RowKind::EdgeEdge => {
                let ([a0, a1], [b0, b1]) = (self.edges[i], self.edges[j]);
                Stencil { vertices: [a0, a1, b0, b1], offset: self.min_gap, kind }
            }
            RowKind::SphereTriangle => {
                let ([a, b, c], sphere) = (self.triangles[j], &self.spheres[i]);
                let offset = self.sphere_offset(sphere);
                Stencil { vertices: [sphere.vertex, a, b, c], offset, kind }
            }
            RowKind::SphereSphere => {
                let (a, b) = (&self.spheres[i], &self.spheres[j]);
                let vertices = [a.vertex, b.vertex, b.vertex, b.vertex];
                Stencil { vertices, offset: a.radius + b.radius, kind }
            }
        }
    }
}

impl CollisionMesh {
    /// World vertices of a mesh pair in the order of rows, and the distance that counts as touching (m).
    pub fn pair_stencil(&self, kind: RowKind, primitives: [u32; 2]) -> ([u32; 4], f64) {
        let Stencil { vertices, offset, .. } = self.stencil(kind, primitives);
        (vertices, offset)
    }
}

impl Stencil {
    #[inline(always)]
    pub(crate) fn gather(&self, x: &[DVec3]) -> [DVec3; 4] {
        self.vertices.map(|v| x[v as usize])
    }

    /// The closest points, or `None` where a lower bound of the distance already exceeds the square root of `limit2`.
    #[inline(always)]
    pub(crate) fn closest_within(&self, [a, b, c, d]: [DVec3; 4], limit2: f64) -> Option<Closest> {
        match self.kind {
            RowKind::VertexTriangle | RowKind::SphereTriangle => {
                point_triangle_within(a, b, c, d, limit2)
            }
            RowKind::EdgeEdge => edge_edge_within(a, b, c, d, limit2),
            RowKind::SphereSphere => Some(point_point(a, b)),
        }
    }
}

/// The nearer face of a slab (ties go to the front): its outward normal and `normal . point` of the face. Signed: deep
/// inside, it is the face that is left by the shorter way.
pub(crate) fn nearest_face(slab: &SlabShape, x: DVec3) -> (DVec3, f64) {
    let plane = slab.normal.dot(slab.point);
    let front = slab.normal.dot(x) - plane;
    if front >= -front - slab.thickness {
        (slab.normal, plane)
    } else {
        (-slab.normal, slab.thickness - plane)
    }
}

impl Candidates {
    /// The mesh lists by kind, in the order of rows.
    pub fn lists(&self) -> [(RowKind, &[[u32; 2]]); 4] {
        [
            (RowKind::VertexTriangle, &self.vertex_triangle),
            (RowKind::EdgeEdge, &self.edge_edge),
            (RowKind::SphereTriangle, &self.sphere_triangle),
            (RowKind::SphereSphere, &self.sphere_sphere),
        ]
    }

    /// Writes all rows with a gap below `dhat` (m) at `x` into `out`, by kind, then by primitives, and returns the smallest
    /// gap among the mesh rows. A smallest gap that is not above 0 means that `x` is infeasible; such rows are listed too,
    /// with a zero normal where the distance is 0. Candidates have to cover `x` for this `dhat`; then the rows depend on
    /// `x` alone.
    pub fn rows(
        &self,
        mesh: &CollisionMesh,
        x: &[DVec3],
        dhat: f64,
        out: &mut Contacts,
    ) -> Option<PairGap> {
        debug_assert!(dhat <= self.dhat(), "candidates were made for a smaller dhat");
        out.rows.clear();
        out.slabs.clear();
        // A constant kind lets the compiler make one loop for each.
        let rows = &mut out.rows;
        append_rows(mesh, x, dhat, &self.vertex_triangle, rows, RowKind::VertexTriangle);
        append_rows(mesh, x, dhat, &self.edge_edge, rows, RowKind::EdgeEdge);
        append_rows(mesh, x, dhat, &self.sphere_triangle, rows, RowKind::SphereTriangle);
        append_rows(mesh, x, dhat, &self.sphere_sphere, rows, RowKind::SphereSphere);
        self.slab_rows(mesh, x, dhat, &mut out.slabs);
        PairGap::smallest(&out.rows)
    }

    /// Appends all rows of slabs with a gap below `dhat` (m) at `x`.
    pub fn slab_rows(&self, mesh: &CollisionMesh, x: &[DVec3], dhat: f64, out: &mut Vec<SlabRow>) {
        for &[particle, slab] in &self.particle_slab {
            let row = self.slab_row(mesh, x, particle, slab);
            if !(row.gap >= dhat) {
                out.push(row);
            }
        }
    }

    /// The smallest gap of all candidates at `x`, slabs included, and the pair that has it. Above the `dhat` of the query
    /// the true smallest gap may belong to a pair that is no candidate.
    pub fn smallest_gap(&self, mesh: &CollisionMesh, x: &[DVec3]) -> Option<PairGap> {
        let mut smallest = None;
        for (kind, list) in self.lists() {
            let of_chunk = |chunk: &[[u32; 2]]| {
                let mut smallest: Option<PairGap> = None;
                for &primitives in chunk {
                    let stencil = mesh.stencil(kind, primitives);
                    let limit =
                        smallest.map_or(f64::INFINITY, |s| (s.gap + stencil.offset).max(0.0));
                    let closest = stencil.closest_within(stencil.gather(x), limit * limit);
                    let gap = closest.map(|closest| closest.distance() - stencil.offset);
                    let pair = Pair { kind: kind.into(), primitives };
                    smallest = PairGap::smaller(smallest, gap.map(|gap| PairGap { gap, pair }));
                }
                smallest
            };
            let chunks: Vec<Option<PairGap>> = list.par_chunks(CHUNK).map(of_chunk).collect();
            smallest = chunks.into_iter().fold(smallest, PairGap::smaller);
        }
        for &[particle, slab] in &self.particle_slab {
            let row = self.slab_row(mesh, x, particle, slab);
            let pair = Pair { kind: PairKind::VertexSlab, primitives: [row.vertex, slab] };
            smallest = PairGap::smaller(smallest, Some(PairGap { gap: row.gap, pair }));
        }
        smallest
    }

    pub(crate) fn slab_row(
        &self,
        mesh: &CollisionMesh,
        x: &[DVec3],
        particle: u32,
        slab: u32,
    ) -> SlabRow {
        let (vertex, offset) = self.particles[particle as usize];
        let (normal, plane) = nearest_face(&mesh.slabs[slab as usize], x[vertex as usize]);
        let gap = normal.dot(x[vertex as usize]) - plane - offset;
        SlabRow { vertex, normal, plane, offset, gap, slab }
    }
}

/// Appends the active rows of one list, in its order.
#[inline(always)]
fn append_rows(
    mesh: &CollisionMesh,
    x: &[DVec3],
    dhat: f64,
    list: &[[u32; 2]],
    out: &mut Vec<Row>,
    kind: RowKind,
) {
    let append = |pairs: &[[u32; 2]], out: &mut Vec<Row>| {
        for &pair in pairs {
            if let Some(row) = active_row(mesh, x, dhat, kind, pair) {
                out.push(row);
            }
        }
    };
    // A batch of chunks at a time, so that what they hold meanwhile stays small and is used again.
    let mut chunks = vec![Vec::new(); if list.len() > CHUNK { BATCH } else { 0 }];
    for batch in list.chunks(BATCH * CHUNK) {
        if batch.len() <= CHUNK {
            append(batch, out);
            continue;
        }
        batch.par_chunks(CHUNK).zip(&mut chunks).for_each(|(pairs, rows)| {
            rows.clear();
            append(pairs, rows);
        });
        for rows in &chunks[..batch.len().div_ceil(CHUNK)] {
            out.extend_from_slice(rows);
        }
    }
}

/// `sin^2` of the angle between the edges `a b` and `c d`.
fn sine_squared([a, b, c, d]: [DVec3; 4]) -> f64 {
    let (u, v) = (b - a, d - c);
    u.cross(v).length_squared() / (u.length_squared() * v.length_squared())
}

/// Whether the boxes around the two primitives are surely farther apart than `limit`: most candidates, at little cost.
#[inline(always)]
fn boxes_apart([a, b, c, d]: &[DVec3; 4], kind: RowKind, limit: f64) -> bool {
    let (low, high, other_low, other_high) = match kind {
        RowKind::VertexTriangle | RowKind::SphereTriangle => {
            (*a, *a, b.min(*c).min(*d), b.max(*c).max(*d))
        }
        RowKind::EdgeEdge => (a.min(*b), a.max(*b), c.min(*d), c.max(*d)),
        RowKind::SphereSphere => return false,
    };
    let between = (low - other_high).max(other_low - high).max(DVec3::ZERO);
    between.length_squared() > limit * limit * (1.0 + 1e-12)
}

#[inline(always)]
fn active_row(
    mesh: &CollisionMesh,
    x: &[DVec3],
    dhat: f64,
    kind: RowKind,
    primitives: [u32; 2],
) -> Option<Row> {
    let stencil = mesh.stencil(kind, primitives);
    let limit = dhat + stencil.offset;
    let points = stencil.gather(x);
    if boxes_apart(&points, kind, limit) {
        return None;
    }
    let closest = stencil.closest_within(points, limit * limit)?;
    let distance = closest.distance();
    let gap = distance - stencil.offset;
    // Not `<`: a gap that is no number must reach the caller.
    if gap >= dhat {
        return None;
    }
    let normal = if distance > 0.0 { closest.r / distance } else { DVec3::ZERO };
    Some(Row {
        vertices: stencil.vertices,
        weights: closest.weights,
        offset: stencil.offset,
        normal,
        gap,
        sine_squared: if kind == RowKind::EdgeEdge { sine_squared(points) } else { 1.0 },
        kind,
        primitives,
    })
}
