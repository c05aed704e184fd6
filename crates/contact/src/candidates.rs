//! Candidate pairs: all that can come near while every vertex stays in its box.
//!
//! A query takes where the vertices are and where they want to go, grows each vertex's hull by a skin, and lists every pair
//! whose boxes come within `dhat + offset`. The lists stay valid for any positions inside those boxes, so one query serves
//! many evaluations; they are a superset, and what is computed from them depends on the positions alone.

use std::sync::atomic::{AtomicU64, Ordering};

use glam::DVec3;
use thiserror::Error;

use crate::CollisionMesh;
use crate::bvh::{Box32, Bvh, cluster};
use crate::collect::{Budget, Scratch, Search};

/// Why a query gave no candidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum QueryError {
    /// The boxes overlap in more pairs than the caller allows: the sweep is too long.
    #[error("more than {limit} candidate pairs: shorten the sweep, or raise the limit")]
    TooMany {
        /// The caller's limit.
        limit: usize,
    },
    /// A position is infinite or no number.
    #[error("the position of world vertex {vertex} is not finite")]
    NotFinite {
        /// World index of the vertex.
        vertex: u32,
    },
}

/// Pairs of mesh primitives by kind, each list sorted and each pair once, as in [`Candidates`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PairLists {
    /// Index into the mesh's vertices, and triangle.
    pub vertex_triangle: Vec<[u32; 2]>,
    /// Two edges, the lower first.
    pub edge_edge: Vec<[u32; 2]>,
    /// Sphere and triangle.
    pub sphere_triangle: Vec<[u32; 2]>,
    /// Two spheres, the lower first.
    pub sphere_sphere: Vec<[u32; 2]>,
}

impl PairLists {
    /// How many pairs there are.
    pub fn len(&self) -> usize {
        self.vertex_triangle.len()
            + self.edge_edge.len()
            + self.sphere_triangle.len()
            + self.sphere_sphere.len()
    }

    /// Whether there is no pair.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// What a query is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Sweep<'a> {
    /// Positions at the start (m).
    pub x: &'a [DVec3],
    /// Positions at the end (m).
    pub x_end: &'a [DVec3],
    /// By how much the hull of both is grown around each vertex (m).
    pub skin: f64,
    /// Gap that pairs may come below (m).
    pub dhat: f64,
    /// Most pairs that there may be.
    pub limit: usize,
}

/// Numbers lists apart, those of different candidates as well.
fn next_serial() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Candidate pairs and the boxes they are valid for. Every list is sorted and holds each pair once; there is no capacity
/// to exceed. The trees and lists keep their memory from query to query.
#[derive(Clone, Debug, Default)]
pub struct Candidates {
    /// `[index into the mesh's vertices, triangle]`, not a vertex of its own triangle.
    pub vertex_triangle: Vec<[u32; 2]>,
    /// `[edge, edge]`, the lower first, without a common vertex.
    pub edge_edge: Vec<[u32; 2]>,
    /// `[sphere, triangle]`.
    pub sphere_triangle: Vec<[u32; 2]>,
    /// `[sphere, sphere]`, the lower first.
    pub sphere_sphere: Vec<[u32; 2]>,
    /// `[index into particles, slab]`.
    pub particle_slab: Vec<[u32; 2]>,
    /// World vertex and offset (m) of every particle that slabs act on, by vertex; empty without slabs.
    pub particles: Vec<(u32, f64)>,
    boxes: VertexBoxes,
    triangles: Trees,
    edges: Trees,
    spheres: Trees,
    scratch: Scratch,
    dhat: f64,
    valid: bool,
    serial: u64,
    /// A fixed vertex has moved since the trees of fixed primitives were built.
    fixed_moved: bool,
}

impl Candidates {
    /// No candidates yet: prepares the lists of moving and fixed primitives.
    pub fn new(mesh: &CollisionMesh) -> Self {
        let mut particles: Vec<(u32, f64)> =
            if mesh.slabs.is_empty() { Vec::new() } else { mesh.slab_particles().collect() };
        particles.sort_unstable_by_key(|particle| particle.0);
        Self {
            particles,
            boxes: VertexBoxes::new(mesh),
            triangles: Trees::new(mesh.triangles.len(), |i| mesh.triangle_movable(i)),
            edges: Trees::new(mesh.edges.len(), |i| mesh.edge_movable(i)),
            spheres: Trees::new(mesh.spheres.len(), |_| true),
            ..Self::default()
        }
    }

    /// How many pairs there are.
    pub fn len(&self) -> usize {
        self.vertex_triangle.len()
            + self.edge_edge.len()
            + self.sphere_triangle.len()
            + self.sphere_sphere.len()
            + self.particle_slab.len()
    }

    /// Whether there is no pair.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// World vertices of every mesh pair in the order of rows, `(i, j, j, j)` for two spheres: what couples in a Hessian.
    pub fn stencils<'a>(&'a self, mesh: &'a CollisionMesh) -> impl Iterator<Item = [u32; 4]> + 'a {
        self.lists().into_iter().flat_map(move |(kind, list)| {
            list.iter().map(move |pair| mesh.stencil(kind, *pair).vertices)
        })
    }

    /// The activation distance (m) that the last query was made for.
    pub fn dhat(&self) -> f64 {
        self.dhat
    }

    /// Covers nothing any more; the next query finds the same pairs as a first one would.
    pub fn forget(&mut self) {
        self.valid = false;
    }

    /// Whether the lists hold every pair that can be within `dhat` plus its offset at `x`, at `x_end`, or while all
    /// vertices move along the lines between.
    pub fn covers(&self, x: &[DVec3], x_end: &[DVec3]) -> bool {
        self.valid && self.boxes.contain(x) && self.boxes.contain(x_end)
    }

    /// Finds all pairs that can come within `dhat` plus their offset while every vertex stays in its box: the hull of `x`
    /// and `x_end`, grown by `skin` (m). After an error there are no candidates and nothing is covered.
    pub fn query(
        &mut self,
        mesh: &CollisionMesh,
        x: &[DVec3],
        x_end: &[DVec3],
        skin: f64,
        dhat: f64,
        limit: usize,
    ) -> Result<(), QueryError> {
        self.begin(mesh, &Sweep { x, x_end, skin, dhat, limit })?;
        let boxes = &self.boxes.single;
        let hull = |vertices: &[u32]| {
            vertices.iter().fold(Box32::EMPTY, |sum, &v| sum.union(&boxes[v as usize]))
        };
        let fixed_moved = std::mem::take(&mut self.fixed_moved);
        self.triangles.update(fixed_moved, |i| hull(&mesh.triangles[i]));
        self.edges.update(fixed_moved, |i| hull(&mesh.edges[i]));
        self.spheres.update(fixed_moved, |i| {
            let sphere = &mesh.spheres[i];
            boxes[sphere.vertex as usize].grown(sphere.radius)
        });

        let budget = Budget::new(limit);
        self.collect_all(mesh, &budget);
        if budget.exceeded() {
            for list in self.lists_mut() {
                list.clear();
            }
            return Err(QueryError::TooMany { limit });
        }
        self.finish(mesh);
        Ok(())
    }

    /// The same with pairs of mesh primitives that `find` finds, somewhere else: those whose boxes come near, without the
    /// exclusions of the mesh. It is told how many there may be, and gives nothing where there are more.
    pub fn query_by<E: From<QueryError>>(
        &mut self,
        mesh: &CollisionMesh,
        sweep: &Sweep<'_>,
        find: impl FnOnce(usize) -> Result<Option<PairLists>, E>,
    ) -> Result<(), E> {
        self.begin(mesh, sweep)?;
        self.collect_slabs(mesh);
        let room = sweep.limit.checked_sub(self.particle_slab.len());
        let found = room.map(find).transpose()?.flatten();
        let Some(lists) = found else {
            self.particle_slab.clear();
            return Err(QueryError::TooMany { limit: sweep.limit }.into());
        };
        self.vertex_triangle = lists.vertex_triangle;
        self.edge_edge = lists.edge_edge;
        self.sphere_triangle = lists.sphere_triangle;
        self.sphere_sphere = lists.sphere_sphere;
        self.finish(mesh);
        Ok(())
    }

    /// Sets the boxes; no pairs yet.
    fn begin(&mut self, mesh: &CollisionMesh, sweep: &Sweep<'_>) -> Result<(), QueryError> {
        self.valid = false;
        self.serial = next_serial();
        self.dhat = sweep.dhat;
        for list in self.lists_mut() {
            list.clear();
        }
        self.boxes.update(mesh, sweep, &mut self.fixed_moved)
    }

    fn finish(&mut self, mesh: &CollisionMesh) {
        remove_sorted(&mut self.vertex_triangle, &mesh.excluded.vertex_triangle);
        remove_sorted(&mut self.edge_edge, &mesh.excluded.edge_edge);
        self.valid = true;
    }

    /// Number of the lists, changed with every query and shared with no other candidates; what is kept for lists is kept
    /// under it.
    pub fn serial(&self) -> u64 {
        self.serial
    }

    fn lists_mut(&mut self) -> [&mut Vec<[u32; 2]>; 5] {
        [
            &mut self.vertex_triangle,
            &mut self.edge_edge,
            &mut self.sphere_triangle,
            &mut self.sphere_sphere,
            &mut self.particle_slab,
        ]
    }

    fn collect_all(&mut self, mesh: &CollisionMesh, budget: &Budget) {
        let Self { boxes, triangles, edges, spheres, scratch, dhat, .. } = self;
        let reach = *dhat + mesh.min_gap;
        let movable = |vertex: u32| mesh.movable[vertex as usize];

        let vertex_triangle = Search {
            order: &boxes.clusters,
            partners: triangles,
            rising: false,
            query: |i| boxes.single[mesh.vertices[i as usize] as usize].grown(reach),
            movable: |i| movable(mesh.vertices[i as usize]),
            keep: |i, t| !mesh.triangles[t as usize].contains(&mesh.vertices[i as usize]),
        };
        budget.collect(&vertex_triangle, scratch, &mut self.vertex_triangle);

        let order: Vec<u32> = [edges.moving.order(), edges.fixed.order()].concat();
        let edge_edge = Search {
            order: &order,
            partners: edges,
            rising: true,
            query: |i| edges.boxes[i as usize].grown(reach),
            movable: |i| mesh.edge_movable(i as usize),
            keep: |i, j| {
                let ([a, b], [c, d]) = (mesh.edges[i as usize], mesh.edges[j as usize]);
                a != c && a != d && b != c && b != d
            },
        };
        budget.collect(&edge_edge, scratch, &mut self.edge_edge);

        let all: Vec<u32> = (0..mesh.spheres.len() as u32).collect();
        let sphere_triangle = Search {
            order: &all,
            partners: triangles,
            rising: false,
            query: |i| {
                let sphere = &mesh.spheres[i as usize];
                boxes.single[sphere.vertex as usize].grown(*dhat + mesh.sphere_offset(sphere))
            },
            movable: |i| movable(mesh.spheres[i as usize].vertex),
            keep: |_, _| true,
        };
        budget.collect(&sphere_triangle, scratch, &mut self.sphere_triangle);

        let sphere_sphere = Search {
            order: &all,
            partners: spheres,
            rising: true,
            query: |i| spheres.boxes[i as usize].grown(*dhat),
            movable: |_| true,
            keep: |i, j| {
                movable(mesh.spheres[i as usize].vertex) || movable(mesh.spheres[j as usize].vertex)
            },
        };
        budget.collect(&sphere_sphere, scratch, &mut self.sphere_sphere);

        self.collect_slabs(mesh);
        budget.spend(self.particle_slab.len());
    }

    fn collect_slabs(&mut self, mesh: &CollisionMesh) {
        let Self { boxes, dhat, .. } = self;
        for (i, &(vertex, offset)) in (0..).zip(&self.particles) {
            if !mesh.movable[vertex as usize] {
                continue;
            }
            let (centre, half) = boxes.centre_and_half(vertex);
            for (j, slab) in (0..).zip(&mesh.slabs) {
                let height = slab.normal.dot(centre - slab.point);
                let reach = slab.normal.abs().dot(half) + *dhat + offset;
                if height - reach <= 0.0 && height + reach >= -slab.thickness {
                    self.particle_slab.push([i, j]);
                }
            }
        }
    }
}

/// The boxes that vertices have to stay in.
#[derive(Clone, Debug, Default)]
struct VertexBoxes {
    low: Vec<DVec3>,
    high: Vec<DVec3>,
    single: Vec<Box32>,
    /// World vertices of all primitives, sorted; others may go anywhere.
    used: Vec<u32>,
    /// The mesh's vertices (indices into its list) in compact clusters, so that neighbours are searched together.
    clusters: Vec<u32>,
}

impl VertexBoxes {
    fn new(mesh: &CollisionMesh) -> Self {
        let particles = mesh.slab_particles().map(|particle| particle.0);
        let corners = mesh.triangles.iter().flatten().chain(mesh.edges.iter().flatten()).copied();
        let mut used: Vec<u32> = particles.chain(corners).collect();
        used.sort_unstable();
        used.dedup();
        let count = mesh.movable.len();
        Self {
            low: vec![DVec3::NAN; count],
            high: vec![DVec3::NAN; count],
            single: vec![Box32::EMPTY; count],
            used,
            clusters: Vec::new(),
        }
    }

    /// Sets all boxes; sets `fixed_moved` where a fixed vertex stands elsewhere than at the last query.
    fn update(
        &mut self,
        mesh: &CollisionMesh,
        sweep: &Sweep<'_>,
        fixed_moved: &mut bool,
    ) -> Result<(), QueryError> {
        let Sweep { x, x_end, skin, .. } = *sweep;
        for &vertex in &self.used {
            let v = vertex as usize;
            if !(x[v].is_finite() && x_end[v].is_finite()) {
                return Err(QueryError::NotFinite { vertex });
            }
            let (low, high) = if mesh.movable[v] {
                (x[v].min(x_end[v]) - skin, x[v].max(x_end[v]) + skin)
            } else {
                if self.low[v] == x[v] {
                    continue;
                }
                *fixed_moved = true;
                (x[v], x[v])
            };
            self.low[v] = low;
            self.high[v] = high;
            self.single[v] = Box32::outward(low, high);
        }
        if self.clusters.len() != mesh.vertices.len() {
            let all: Vec<u32> = (0..mesh.vertices.len() as u32).collect();
            self.clusters = cluster(&all, |i| &self.single[mesh.vertices[i as usize] as usize]);
        }
        Ok(())
    }

    fn contain(&self, x: &[DVec3]) -> bool {
        self.used.iter().all(|&v| {
            let v = v as usize;
            x[v].cmpge(self.low[v]).all() && x[v].cmple(self.high[v]).all()
        })
    }

    fn centre_and_half(&self, vertex: u32) -> (DVec3, DVec3) {
        let (low, high) = (self.low[vertex as usize], self.high[vertex as usize]);
        (0.5 * (low + high), 0.5 * (high - low))
    }
}

/// Boxes of all primitives of one kind, and two hierarchies: of those that may move, and of those that never do, which
/// is built once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trees {
    boxes: Vec<Box32>,
    moving_members: Vec<u32>,
    fixed_members: Vec<u32>,
    pub(crate) moving: Bvh,
    pub(crate) fixed: Bvh,
}

impl Trees {
    fn new(count: usize, movable: impl Fn(usize) -> bool) -> Self {
        let (moving_members, fixed_members) = (0..count as u32).partition(|&i| movable(i as usize));
        Self { boxes: vec![Box32::EMPTY; count], moving_members, fixed_members, ..Self::default() }
    }

    fn update(&mut self, fixed_moved: bool, make: impl Fn(usize) -> Box32) {
        for &i in &self.moving_members {
            self.boxes[i as usize] = make(i as usize);
        }
        self.moving.update(&self.moving_members, &self.boxes);
        if fixed_moved {
            for &i in &self.fixed_members {
                self.boxes[i as usize] = make(i as usize);
            }
            self.fixed.build(&self.fixed_members, &self.boxes);
        }
    }
}

/// Removes from a sorted list what another sorted list holds.
fn remove_sorted(list: &mut Vec<[u32; 2]>, removed: &[[u32; 2]]) {
    if removed.is_empty() {
        return;
    }
    let mut removed = removed.iter().peekable();
    list.retain(|pair| {
        while removed.next_if(|r| *r < pair).is_some() {}
        removed.peek().is_none_or(|r| *r != pair)
    });
}
