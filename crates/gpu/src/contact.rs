//! Contact on the device: candidate pairs from hierarchies of boxes, closest points, step bounds.
//!
//! Boxes are those of the CPU, rounded outward to single precision in the same way, so the pairs are the same. The trees are
//! linear bounding volume hierarchies: sorted by Morton code now and then, refitted in between. They only decide how much is
//! looked at. Lists come down sorted, so that nothing depends on the order in which threads found them.

mod tree;

use crate::kernels::Kernels;
use crate::terms::Mirror;
use crate::vulkan::{Array, Device, GpuError, Kernel, Recorder, Stream};
use glam::DVec3;
use gusset_contact::{CollisionMesh, Pair, StepBound, StepMethod, StepRule};
use gusset_energy::{Row, RowKind};
use tree::{Extent, Tree, TreeKernels};

/// Queries from one building of the trees to the next.
const REBUILD: u32 = 32;

/// Pairs that there is room for to begin with.
const ROOM: usize = 1 << 14;

/// Candidate pairs, each list sorted and each pair once; as in [`gusset_contact::Candidates`].
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
    fn by_kind(&self) -> [(RowKind, &[[u32; 2]]); 4] {
        [
            (RowKind::VertexTriangle, &self.vertex_triangle),
            (RowKind::EdgeEdge, &self.edge_edge),
            (RowKind::SphereTriangle, &self.sphere_triangle),
            (RowKind::SphereSphere, &self.sphere_sphere),
        ]
    }
}

/// The collision mesh on the device.
pub struct DeviceContact {
    mesh: CollisionMesh,
    stream: Stream,
    kernels: ContactKernels,
    movable: Array<u32>,
    x: Mirror<f64>,
    x_end: Mirror<f64>,
    vertices: Tree,
    triangles: Tree,
    edges: Tree,
    spheres: Tree,
    /// The spheres' centres alone: what looks for triangles, each with a reach of its own.
    centres: Tree,
    found: Array<u32>,
    reach: Array<f32>,
    stencils: Array<[u32; 4]>,
    offsets: Array<f64>,
    results: Array<f64>,
    smallest: Array<f64>,
    queries: u32,
}

struct ContactKernels {
    tree: TreeKernels,
    query: Kernel,
    rows: Kernel,
    bound: Kernel,
}

#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct QueryConstants {
    count: u32,
    leaves: u32,
    query_stride: u32,
    partner_stride: u32,
    rising: u32,
    may_share: u32,
    room: u32,
}

#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct RowConstants {
    dhat: f64,
    count: u32,
    kind: u32,
}

#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct BoundConstants {
    slack: f64,
    count: u32,
    kind: u32,
    additive: u32,
    most_looks: u32,
    unused: [u32; 2],
}

/// Rounded up to single precision, as boxes are grown by it.
fn upward(by: f64) -> f32 {
    (by * (1.0 + 4.0 * f64::from(f32::EPSILON))) as f32
}

impl DeviceContact {
    /// Brings a mesh to the device.
    pub fn new(device: &Device, mesh: &CollisionMesh) -> Result<Self, GpuError> {
        let mut kernels = Kernels::new(device);
        let mut stream = Stream::new(device)?;
        let movable: Vec<u32> = mesh.movable.iter().map(|&m| u32::from(m)).collect();
        let on_device = Array::new(device, movable.len())?;
        let mut to = stream.begin()?;
        to.upload(&on_device, 0, &movable)?;
        let none = |count: usize| vec![0.0; count];
        let centres: Vec<u32> = mesh.spheres.iter().map(|s| s.vertex).collect();
        let radii: Vec<f32> = mesh.spheres.iter().map(|s| upward(s.radius)).collect();
        let edges = mesh.edges.as_flattened();
        let triangles = mesh.triangles.as_flattened();
        let mut tree = |vertices: &[u32], stride, radii: &[f32]| {
            Tree::new(device, &mut to, vertices, stride, radii)
        };
        let (vertices, edges, triangles, spheres, centres) = (
            tree(&mesh.vertices, 1, &none(mesh.vertices.len()))?,
            tree(edges, 2, &none(mesh.edges.len()))?,
            tree(triangles, 3, &none(mesh.triangles.len()))?,
            tree(&centres, 1, &radii)?,
            tree(&centres, 1, &none(radii.len()))?,
        );
        to.submit()?;
        Ok(Self {
            mesh: mesh.clone(),
            stream,
            kernels: ContactKernels {
                tree: TreeKernels::new(&mut kernels)?,
                query: kernels.named("contact_query", 8, 64)?,
                rows: kernels.named("contact_rows", 4, 64)?,
                bound: kernels.named("contact_bound", 6, 64)?,
            },
            movable: on_device,
            x: Mirror::new(device)?,
            x_end: Mirror::new(device)?,
            vertices,
            triangles,
            edges,
            spheres,
            centres,
            found: Array::new(device, 2 + 2 * ROOM)?,
            reach: Array::new(device, 0)?,
            stencils: Array::new(device, 0)?,
            offsets: Array::new(device, 0)?,
            results: Array::new(device, 0)?,
            smallest: Array::new(device, 0)?,
            queries: 0,
        })
    }

    /// All pairs that can come within `dhat` (m) plus their offset while every vertex stays in the hull of its place in `x`
    /// and `x_end`, grown by `skin` (m). All positions must be finite.
    pub fn candidates(
        &mut self,
        x: &[DVec3],
        x_end: &[DVec3],
        skin: f64,
        dhat: f64,
    ) -> Result<PairLists, GpuError> {
        let build = self.queries.is_multiple_of(REBUILD);
        self.queries += 1;
        let extent = Extent::of(x, x_end);
        let mut to = self.stream.begin()?;
        self.x.set(&mut to, bytemuck::cast_slice(x))?;
        self.x_end.set(&mut to, bytemuck::cast_slice(x_end))?;
        to.barrier()?;
        let arrays = [self.x.array.whole(), self.x_end.array.whole(), self.movable.whole()];
        let trees = [&self.vertices, &self.triangles, &self.edges, &self.spheres, &self.centres];
        for tree in trees {
            tree.update(&mut to, &self.kernels.tree, &arrays, skin, &extent, build)?;
        }
        to.submit()?;

        let mesh = &self.mesh;
        let surface = upward(dhat + mesh.min_gap);
        let of_spheres: Vec<f32> =
            mesh.spheres.iter().map(|s| upward(dhat + mesh.sphere_offset(s))).collect();
        let (vertices, edges) = (mesh.vertices.len(), mesh.edges.len());
        let spheres = mesh.spheres.len();
        let vertex_triangle = self.query(Search::VertexTriangle, &vec![surface; vertices])?;
        let edge_edge = self.query(Search::EdgeEdge, &vec![surface; edges])?;
        let sphere_triangle = self.query(Search::SphereTriangle, &of_spheres)?;
        let sphere_sphere = self.query(Search::SphereSphere, &vec![upward(dhat); spheres])?;
        let excluded = &self.mesh.excluded;
        Ok(PairLists {
            vertex_triangle: without(vertex_triangle, &excluded.vertex_triangle),
            edge_edge: without(edge_edge, &excluded.edge_edge),
            sphere_triangle,
            sphere_sphere,
        })
    }

    /// One kind of pairs, sorted.
    fn query(&mut self, search: Search, reach: &[f32]) -> Result<Vec<[u32; 2]>, GpuError> {
        let (own, partners, rising, may_share) = match search {
            Search::VertexTriangle => (&self.vertices, &self.triangles, 0, 0),
            Search::EdgeEdge => (&self.edges, &self.edges, 1, 0),
            Search::SphereTriangle => (&self.centres, &self.triangles, 0, 1),
            Search::SphereSphere => (&self.spheres, &self.spheres, 1, 1),
        };
        if own.count == 0 || partners.count == 0 {
            return Ok(Vec::new());
        }
        self.reach.resize(reach.len())?;
        loop {
            let room = (self.found.len() - 2) / 2;
            let mut to = self.stream.begin()?;
            to.upload(&self.reach, 0, reach)?;
            to.zero_part(&self.found, 0..2)?;
            to.barrier()?;
            let arrays = [
                own.boxes.whole(),
                own.vertices.whole(),
                partners.keys.whole(),
                partners.nodes.whole(),
                partners.vertices.whole(),
                self.movable.whole(),
                self.found.whole(),
                self.reach.whole(),
            ];
            let constants = QueryConstants {
                count: own.count as u32,
                leaves: partners.keys.len() as u32,
                query_stride: own.stride as u32,
                partner_stride: partners.stride as u32,
                rising,
                may_share,
                room: room as u32,
            };
            to.dispatch(&self.kernels.query, &arrays, &constants, own.count)?;
            to.barrier()?;
            let count = to.download(&self.found, 0..1)?;
            to.submit()?;
            let count = count.to_vec()?[0] as usize;
            if count > room {
                // There is no capacity to exceed: more room, and the same again.
                self.found.resize(2 + 2 * (count + count / 4))?;
                continue;
            }
            let mut to = self.stream.begin()?;
            let pairs = to.download(&self.found, 2..2 + 2 * count)?;
            to.submit()?;
            let mut pairs: Vec<[u32; 2]> = pairs.to_vec()?.as_chunks().0.to_vec();
            pairs.sort_unstable();
            return Ok(pairs);
        }
    }

    /// World vertices and offset (m) of pairs, to the device.
    fn bring(
        mesh: &CollisionMesh,
        to: &mut Recorder<'_>,
        stencils: &mut Array<[u32; 4]>,
        own_offsets: &mut Array<f64>,
        kind: RowKind,
        pairs: &[[u32; 2]],
    ) -> Result<(Vec<[u32; 4]>, Vec<f64>), GpuError> {
        let (vertices, offsets): (Vec<[u32; 4]>, Vec<f64>) =
            pairs.iter().map(|&pair| mesh.pair_stencil(kind, pair)).unzip();
        stencils.resize(vertices.len())?;
        own_offsets.resize(offsets.len())?;
        to.upload(stencils, 0, &vertices)?;
        to.upload(own_offsets, 0, &offsets)?;
        Ok((vertices, offsets))
    }

    /// Rows with a gap below `dhat` (m), by kind, then by primitives; as [`gusset_contact::Candidates::rows`].
    pub fn rows(
        &mut self,
        lists: &PairLists,
        x: &[DVec3],
        dhat: f64,
    ) -> Result<Vec<Row>, GpuError> {
        let mut rows = Vec::new();
        for (kind, pairs) in lists.by_kind() {
            if pairs.is_empty() {
                continue;
            }
            let mut to = self.stream.begin()?;
            self.x.set(&mut to, bytemuck::cast_slice(x))?;
            let (stencils, offsets) = (&mut self.stencils, &mut self.offsets);
            let (vertices, offsets) =
                Self::bring(&self.mesh, &mut to, stencils, offsets, kind, pairs)?;
            self.results.resize(9 * pairs.len())?;
            to.barrier()?;
            let arrays = [
                self.x.array.whole(),
                self.stencils.whole(),
                self.offsets.whole(),
                self.results.whole(),
            ];
            let constants = RowConstants { dhat, count: pairs.len() as u32, kind: kind as u32 };
            to.dispatch(&self.kernels.rows, &arrays, &constants, pairs.len())?;
            to.barrier()?;
            let results = to.download(&self.results, 0..9 * pairs.len())?;
            to.submit()?;
            for (k, r) in results.to_vec()?.as_chunks::<9>().0.iter().enumerate() {
                // Not `<`: a gap that is no number must reach the caller.
                if r[7] >= dhat {
                    continue;
                }
                rows.push(Row {
                    vertices: vertices[k],
                    weights: [r[0], r[1], r[2], r[3]],
                    offset: offsets[k],
                    normal: DVec3::new(r[4], r[5], r[6]),
                    gap: r[7],
                    sine_squared: r[8],
                    kind,
                    primitives: pairs[k],
                });
            }
        }
        Ok(rows)
    }

    /// The largest common fraction of the displacements that the rule allows, slabs apart; as
    /// [`gusset_contact::step_bound`].
    pub fn step_bound(
        &mut self,
        lists: &PairLists,
        x: &[DVec3],
        dx: &[DVec3],
        rule: &StepRule,
    ) -> Result<StepBound, GpuError> {
        let mut first: Option<(f64, Pair)> = None;
        for (kind, pairs) in lists.by_kind() {
            if pairs.is_empty() {
                continue;
            }
            let mut to = self.stream.begin()?;
            self.x.set(&mut to, bytemuck::cast_slice(x))?;
            self.x_end.set(&mut to, bytemuck::cast_slice(dx))?;
            let (stencils, offsets) = (&mut self.stencils, &mut self.offsets);
            Self::bring(&self.mesh, &mut to, stencils, offsets, kind, pairs)?;
            let groups = pairs.len().div_ceil(64);
            self.results.resize(pairs.len())?;
            self.smallest.resize(groups)?;
            to.barrier()?;
            let arrays = [
                self.x.array.whole(),
                self.x_end.array.whole(),
                self.stencils.whole(),
                self.offsets.whole(),
                self.results.whole(),
                self.smallest.whole(),
            ];
            let constants = BoundConstants {
                slack: rule.slack,
                count: pairs.len() as u32,
                kind: kind as u32,
                additive: u32::from(rule.method == StepMethod::Additive),
                most_looks: rule.max_iterations,
                unused: [0; 2],
            };
            to.dispatch(&self.kernels.bound, &arrays, &constants, pairs.len())?;
            to.barrier()?;
            let smallest = to.download(&self.smallest, 0..groups)?;
            let fractions = to.download(&self.results, 0..pairs.len())?;
            to.submit()?;
            let least = smallest.to_vec()?.into_iter().fold(f64::INFINITY, f64::min);
            if least > 1.0 || first.is_some_and(|(fraction, _)| fraction <= least) {
                continue;
            }
            let place = fractions.to_vec()?.iter().position(|f| *f == least);
            let primitives = pairs[place.expect("the smallest is one of them")];
            first = Some((least, Pair { kind: kind.into(), primitives }));
        }
        Ok(match first {
            Some((fraction, pair)) => StepBound {
                alpha: match rule.method {
                    StepMethod::SeparatingNormal => rule.slack * fraction,
                    StepMethod::Additive => fraction,
                },
                limiting: Some(pair),
            },
            None => StepBound { alpha: 1.0, limiting: None },
        })
    }
}

/// Which primitives look for which.
#[derive(Clone, Copy)]
enum Search {
    VertexTriangle,
    EdgeEdge,
    SphereTriangle,
    SphereSphere,
}

/// A sorted list without what another sorted list holds.
fn without(mut list: Vec<[u32; 2]>, removed: &[[u32; 2]]) -> Vec<[u32; 2]> {
    if !removed.is_empty() {
        list.retain(|pair| removed.binary_search(pair).is_err());
    }
    list
}
