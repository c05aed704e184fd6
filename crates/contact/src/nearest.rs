//! The smallest gap of a whole mesh, and pairs that are close in the rest shape.

use std::sync::atomic::{AtomicU64, Ordering};

use glam::DVec3;
use gusset_energy::RowKind;
use rayon::prelude::*;

use crate::bvh::{Box32, Bvh};
use crate::rows::nearest_face;
use crate::{Candidates, CollisionMesh, Excluded, Pair, PairGap, PairKind, QueryError};

/// Primitives that one task searches for; fixed, so that nothing depends on the number of threads.
const CHUNK: usize = 512;

/// The smallest gap (distance minus offset) over all pairs of a mesh, however large it is, and the pair that has it; of
/// equal ones the first. Pairs that can't be candidates (a common vertex, nothing movable, excluded) don't count. `None`
/// where there is no pair.
pub fn smallest_gap(mesh: &CollisionMesh, x: &[DVec3]) -> Option<PairGap> {
    let at = |v: u32| x[v as usize];
    let hull = |vertices: &[u32]| {
        let first = at(vertices[0]);
        let bounds = |(low, high): (DVec3, DVec3), &v: &u32| (low.min(at(v)), high.max(at(v)));
        let (low, high) = vertices.iter().fold((first, first), bounds);
        Box32::outward(low, high)
    };
    let tree = |boxes: &[Box32]| {
        let mut tree = Bvh::default();
        tree.build(&(0..boxes.len() as u32).collect::<Vec<_>>(), boxes);
        tree
    };
    let triangle_boxes: Vec<Box32> = mesh.triangles.iter().map(|t| hull(t)).collect();
    let triangles = tree(&triangle_boxes);
    let edge_boxes: Vec<Box32> = mesh.edges.iter().map(|e| hull(e)).collect();
    let edges = tree(&edge_boxes);
    let sphere_boxes: Vec<Box32> =
        mesh.spheres.iter().map(|s| hull(&[s.vertex]).grown(s.radius)).collect();
    let spheres = tree(&sphere_boxes);

    let search = Search { mesh, x, best: AtomicU64::new(ordered(f64::INFINITY)) };
    let vertex_triangle = search.run(RowKind::VertexTriangle, mesh.vertices.len(), |i| {
        (hull(&[mesh.vertices[i as usize]]), &triangles, -1)
    });
    let edge_edge = search.run(RowKind::EdgeEdge, mesh.edges.len(), |i| {
        (edge_boxes[i as usize], &edges, i.cast_signed())
    });
    let sphere_triangle = search.run(RowKind::SphereTriangle, mesh.spheres.len(), |i| {
        (sphere_boxes[i as usize].grown(0.5 * mesh.min_gap), &triangles, -1)
    });
    let sphere_sphere = search.run(RowKind::SphereSphere, mesh.spheres.len(), |i| {
        (sphere_boxes[i as usize], &spheres, i.cast_signed())
    });
    let mesh_pairs =
        [vertex_triangle, edge_edge, sphere_triangle, sphere_sphere].into_iter().flatten();
    mesh_pairs.chain(slab_gaps(mesh, x)).map(Some).fold(None, PairGap::smaller)
}

fn slab_gaps<'a>(mesh: &'a CollisionMesh, x: &'a [DVec3]) -> impl Iterator<Item = PairGap> + 'a {
    (0..).zip(&mesh.slabs).flat_map(move |(j, slab)| {
        let movable = mesh.slab_particles().filter(|(v, _)| mesh.movable[*v as usize]);
        movable.map(move |(vertex, offset)| {
            let x = x[vertex as usize];
            let (normal, plane) = nearest_face(slab, x);
            let pair = Pair { kind: PairKind::VertexSlab, primitives: [vertex, j] };
            PairGap { gap: normal.dot(x) - plane - offset, pair }
        })
    })
}

/// A branch-and-bound search; all tasks share the smallest gap so far, which only saves time.
struct Search<'a> {
    mesh: &'a CollisionMesh,
    x: &'a [DVec3],
    best: AtomicU64,
}

impl Search<'_> {
    /// For each primitive below `count`, `start` gives its box (grown by what part of the offset the boxes of the tree
    /// don't hold), the tree of its partners, and the number that those have to exceed.
    fn run<'t>(
        &self,
        kind: RowKind,
        count: usize,
        start: impl Fn(u32) -> (Box32, &'t Bvh, i32) + Sync,
    ) -> Option<PairGap> {
        let of_chunk = |chunk: usize| {
            let mut smallest = None;
            for i in (CHUNK * chunk) as u32..count.min(CHUNK * (chunk + 1)) as u32 {
                let (query, tree, after) = start(i);
                // VT and EE boxes hold no part of the offset: their distance is the gap plus all of it.
                let outside = match kind {
                    RowKind::VertexTriangle | RowKind::EdgeEdge => self.mesh.min_gap,
                    RowKind::SphereTriangle | RowKind::SphereSphere => 0.0,
                };
                let reach = |gap: f64| (gap + outside).max(0.0);
                tree.nearest(&query, after, reach(self.bound()), |j| {
                    smallest = PairGap::smaller(smallest, self.gap(kind, [i, j]));
                    if let Some(PairGap { gap, .. }) = smallest {
                        self.best.fetch_min(ordered(gap), Ordering::Relaxed);
                    }
                    reach(self.bound())
                });
            }
            smallest
        };
        let chunks: Vec<Option<PairGap>> =
            (0..count.div_ceil(CHUNK)).into_par_iter().map(of_chunk).collect();
        chunks.into_iter().fold(None, PairGap::smaller)
    }

    fn bound(&self) -> f64 {
        unordered(self.best.load(Ordering::Relaxed))
    }

    /// The gap of a pair, unless it doesn't count or is surely above the bound.
    fn gap(&self, kind: RowKind, primitives: [u32; 2]) -> Option<PairGap> {
        let mesh = self.mesh;
        let stencil = mesh.stencil(kind, primitives);
        let [a, b, c, d] = stencil.vertices;
        let (adjacent, excluded) = match kind {
            RowKind::VertexTriangle => ([b, c, d].contains(&a), &mesh.excluded.vertex_triangle[..]),
            RowKind::EdgeEdge => {
                ([c, d].contains(&a) || [c, d].contains(&b), &mesh.excluded.edge_edge[..])
            }
            RowKind::SphereTriangle | RowKind::SphereSphere => (false, &[][..]),
        };
        if adjacent || !stencil.vertices.iter().any(|&v| mesh.movable[v as usize]) {
            return None;
        }
        // The margin keeps rounding from deciding between equal gaps.
        let limit = (self.bound() + stencil.offset).max(0.0) * (1.0 + 1e-9);
        let closest = stencil.closest_within(stencil.gather(self.x), limit * limit)?;
        if excluded.binary_search(&primitives).is_ok() {
            return None;
        }
        let gap = closest.distance() - stencil.offset;
        Some(PairGap { gap, pair: Pair { kind: kind.into(), primitives } })
    }
}

/// Bits that compare like the number, negative ones included; a NaN comes out smallest.
fn ordered(x: f64) -> u64 {
    if x.is_nan() {
        return ordered(f64::NEG_INFINITY);
    }
    let bits = x.to_bits();
    if bits >> 63 == 0 { bits | 1 << 63 } else { !bits }
}

fn unordered(bits: u64) -> f64 {
    f64::from_bits(if bits >> 63 == 1 { bits & !(1 << 63) } else { !bits })
}

/// Pairs without a common vertex that are closer than an offset.
#[derive(Clone, Debug, Default)]
pub struct PairsBelow {
    /// All of them, as [`CollisionMesh::excluded`] takes them.
    pub pairs: Excluded,
    /// The smallest distance (m) (no offset subtracted) among them and a pair that has it.
    pub smallest: Option<PairGap>,
}

/// Lists the vertex-triangle and edge-edge pairs whose distance at `rest` is below `offset` (m). A mesh whose elements are
/// smaller than the contact offset has such pairs in its rest shape; they would be infeasible, or push, from the start.
/// What is excluded already is listed too.
pub fn pairs_below(
    mesh: &CollisionMesh,
    rest: &[DVec3],
    offset: f64,
) -> Result<PairsBelow, QueryError> {
    let mut surfaces = mesh.clone();
    surfaces.spheres.clear();
    surfaces.slabs.clear();
    surfaces.excluded = Excluded::default();
    surfaces.min_gap = 0.0;
    let mut candidates = Candidates::new(&surfaces);
    candidates.query(&surfaces, rest, rest, 0.0, offset, usize::MAX)?;
    let mut below = PairsBelow::default();
    let mut filter = |kind: RowKind, list: &[[u32; 2]]| {
        let distance = |pair: &[u32; 2]| {
            let stencil = surfaces.stencil(kind, *pair);
            stencil
                .closest_within(stencil.gather(rest), f64::INFINITY)
                .map_or(0.0, |c| c.distance())
        };
        let close: Vec<([u32; 2], f64)> = list
            .iter()
            .map(|pair| (*pair, distance(pair)))
            .filter(|(_, distance)| *distance < offset)
            .collect();
        for &(primitives, gap) in &close {
            let pair = Pair { kind: kind.into(), primitives };
            below.smallest = PairGap::smaller(below.smallest, Some(PairGap { gap, pair }));
        }
        close.into_iter().map(|(pair, _)| pair).collect()
    };
    let vertex_triangle = filter(RowKind::VertexTriangle, &candidates.vertex_triangle);
    let edge_edge = filter(RowKind::EdgeEdge, &candidates.edge_edge);
    below.pairs = Excluded { vertex_triangle, edge_edge };
    Ok(below)
}
