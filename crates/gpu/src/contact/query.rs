//! Candidate queries: boxes, trees, and what of them comes near.

use super::tree::{Extent, Tree, TreeKernels};
use crate::kernels::Kernels;
use crate::session::Session;
use crate::terms::Mirror;
use crate::vulkan::{Array, Device, GpuError, Kernel, Recorder, Stream, Ticket};
use gusset_contact::{CollisionMesh, PairLists, Sweep};

/// Queries from one building of the trees to the next.
const REBUILD: u32 = 32;

/// Pairs of a kind that there is room for to begin with.
const ROOM: usize = 1 << 12;

/// The collision mesh on the device, with trees over its primitives.
pub(super) struct DeviceQuery {
    tree: TreeKernels,
    query: Kernel,
    movable: Array<u32>,
    x_end: Array<f64>,
    vertices: Tree,
    triangles: Tree,
    edges: Tree,
    spheres: Tree,
    /// The spheres' centres alone: what looks for triangles, each with a reach of its own.
    centres: Tree,
    searches: [Found; 4],
    queries: u32,
}

/// Which primitives look for which.
#[derive(Clone, Copy)]
enum Search {
    VertexTriangle,
    EdgeEdge,
    SphereTriangle,
    SphereSphere,
}

const SEARCHES: [Search; 4] =
    [Search::VertexTriangle, Search::EdgeEdge, Search::SphereTriangle, Search::SphereSphere];

/// What one search has found.
struct Found {
    /// How many, an unused number, and the pairs.
    on_device: Array<u32>,
    /// How far each primitive looks.
    reach: Mirror<f32>,
    /// How many the last search has found,
    count: usize,
    /// and those of them that have come down.
    pairs: Vec<[u32; 2]>,
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

/// Rounded up to single precision, as boxes are grown by it.
fn upward(by: f64) -> f32 {
    (by * (1.0 + 4.0 * f64::from(f32::EPSILON))) as f32
}

impl DeviceQuery {
    pub(super) fn new(
        device: &Device,
        kernels: &mut Kernels,
        stream: &mut Stream,
        mesh: &CollisionMesh,
    ) -> Result<Self, GpuError> {
        let movable: Vec<u32> = mesh.movable.iter().map(|&m| u32::from(m)).collect();
        let on_device = Array::new(device, movable.len())?;
        let mut to = stream.begin()?;
        to.upload(&on_device, 0, &movable)?;
        let none = |count: usize| vec![0.0; count];
        let centres: Vec<u32> = mesh.spheres.iter().map(|s| s.vertex).collect();
        let radii: Vec<f32> = mesh.spheres.iter().map(|s| upward(s.radius)).collect();
        let mut tree = |vertices: &[u32], stride, radii: &[f32]| {
            Tree::new(device, &mut to, vertices, stride, radii)
        };
        let found = || {
            let on_device = Array::new(device, 2 + 2 * ROOM)?;
            let reach = Mirror::new(device)?;
            Ok::<_, GpuError>(Found { on_device, reach, count: 0, pairs: Vec::new() })
        };
        let query = Self {
            vertices: tree(&mesh.vertices, 1, &none(mesh.vertices.len()))?,
            edges: tree(mesh.edges.as_flattened(), 2, &none(mesh.edges.len()))?,
            triangles: tree(mesh.triangles.as_flattened(), 3, &none(mesh.triangles.len()))?,
            spheres: tree(&centres, 1, &radii)?,
            centres: tree(&centres, 1, &none(radii.len()))?,
            tree: TreeKernels::new(kernels)?,
            query: kernels.named("contact_query", 9, 64)?,
            x_end: Array::new(device, 3 * movable.len())?,
            movable: on_device,
            searches: [found()?, found()?, found()?, found()?],
            queries: 0,
        };
        to.submit()?;
        Ok(query)
    }

    /// All pairs that can come near in a sweep, each list sorted; nothing where there are more than `most`.
    pub(super) fn find(
        &mut self,
        session: &mut Session,
        mesh: &CollisionMesh,
        sweep: &Sweep<'_>,
        most: usize,
    ) -> Result<Option<PairLists>, GpuError> {
        let build = self.queries.is_multiple_of(REBUILD);
        self.queries += 1;
        let Session { stream, x, report } = session;
        let mut to = stream.begin()?;
        x.set(&mut to, bytemuck::cast_slice(sweep.x))?;
        self.x_end.resize(3 * sweep.x_end.len())?;
        to.upload(&self.x_end, 0, bytemuck::cast_slice(sweep.x_end))?;
        self.set_reach(&mut to, mesh, sweep.dhat)?;
        to.barrier()?;
        to.section("upload")?;
        let extent = Extent::of(sweep.x, sweep.x_end);
        let arrays = [x.array.whole(), self.x_end.whole(), self.movable.whole()];
        let trees = [&self.vertices, &self.triangles, &self.edges, &self.spheres, &self.centres];
        for tree in trees {
            tree.update(&mut to, &self.tree, &arrays, sweep.skin, &extent, build)?;
        }
        to.section("contact_trees")?;

        let mut open: Vec<usize> = (0..SEARCHES.len()).collect();
        while !open.is_empty() {
            self.record_searches(&mut to, &open)?;
            let tickets: Vec<Ticket<u32>> = open
                .iter()
                .map(|&k| to.download(&self.searches[k].on_device, 0..self.searches[k].guess()))
                .collect::<Result<_, _>>()?;
            to.section("download")?;
            report.add_all(to.submit()?);
            for (&k, ticket) in open.iter().zip(&tickets) {
                self.searches[k].take(&ticket.to_vec()?);
            }
            if self.searches.iter().map(|found| found.count).sum::<usize>() > most {
                return Ok(None);
            }
            // What did not fit is searched again with more room: there is no capacity to exceed.
            open.retain(|&k| self.searches[k].count > self.searches[k].room());
            for &k in &open {
                self.searches[k].make_room()?;
            }
            to = stream.begin()?;
        }
        // What was more than guessed lies there still.
        let rests: Vec<Ticket<u32>> =
            self.searches.iter().map(|found| found.rest(&mut to)).collect::<Result<_, _>>()?;
        if self.searches.iter().any(|found| found.pairs.len() < found.count) {
            report.add_all(to.submit()?);
        }
        for (found, rest) in self.searches.iter_mut().zip(&rests) {
            found.pairs.extend_from_slice(rest.to_vec()?.as_chunks().0);
            found.pairs.sort_unstable();
        }
        let [vertex_triangle, edge_edge, sphere_triangle, sphere_sphere] =
            self.searches.each_mut().map(|found| std::mem::take(&mut found.pairs));
        Ok(Some(PairLists { vertex_triangle, edge_edge, sphere_triangle, sphere_sphere }))
    }

    fn record_searches(&self, to: &mut Recorder<'_>, which: &[usize]) -> Result<(), GpuError> {
        for &k in which {
            to.zero_part(&self.searches[k].on_device, 0..2)?;
        }
        to.barrier()?;
        for &k in which {
            self.record(to, SEARCHES[k], &self.searches[k])?;
        }
        to.barrier()?;
        to.section("contact_query")
    }

    /// How far the primitives look for others.
    fn set_reach(
        &mut self,
        to: &mut Recorder<'_>,
        mesh: &CollisionMesh,
        dhat: f64,
    ) -> Result<(), GpuError> {
        let surface = upward(dhat + mesh.min_gap);
        let of_spheres = mesh.spheres.iter().map(|s| upward(dhat + mesh.sphere_offset(s)));
        let reach = [
            vec![surface; mesh.vertices.len()],
            vec![surface; mesh.edges.len()],
            of_spheres.collect(),
            vec![upward(dhat); mesh.spheres.len()],
        ];
        for (found, reach) in self.searches.iter_mut().zip(reach) {
            found.reach.set(to, &reach)?;
        }
        Ok(())
    }

    fn record(&self, to: &mut Recorder<'_>, search: Search, found: &Found) -> Result<(), GpuError> {
        let (own, partners, rising, may_share) = match search {
            Search::VertexTriangle => (&self.vertices, &self.triangles, 0, 0),
            Search::EdgeEdge => (&self.edges, &self.edges, 1, 0),
            Search::SphereTriangle => (&self.centres, &self.triangles, 0, 1),
            Search::SphereSphere => (&self.spheres, &self.spheres, 1, 1),
        };
        if own.count == 0 || partners.count == 0 {
            return Ok(());
        }
        let arrays = [
            own.boxes.whole(),
            own.vertices.whole(),
            partners.keys.whole(),
            partners.nodes.whole(),
            partners.vertices.whole(),
            self.movable.whole(),
            found.on_device.whole(),
            found.reach.array.whole(),
            own.keys.whole(),
        ];
        let constants = QueryConstants {
            count: own.count as u32,
            leaves: partners.keys.len() as u32,
            query_stride: own.stride as u32,
            partner_stride: partners.stride as u32,
            rising,
            may_share,
            room: found.room() as u32,
        };
        to.dispatch(&self.query, &arrays, &constants, own.count)
    }
}

impl Found {
    fn room(&self) -> usize {
        (self.on_device.len() - 2) / 2
    }

    /// Numbers that are fetched before it is known how many there are: a little more than last time.
    fn guess(&self) -> usize {
        2 + 2 * (self.count + self.count / 4 + 64).min(self.room())
    }

    /// Takes what was fetched of a search.
    fn take(&mut self, came: &[u32]) {
        self.count = came[0] as usize;
        self.pairs.clear();
        let pairs = came[2..].as_chunks().0;
        self.pairs.extend_from_slice(&pairs[..self.count.min(pairs.len())]);
    }

    fn make_room(&mut self) -> Result<(), GpuError> {
        self.on_device.resize(2 + 2 * (self.count + self.count / 4))
    }

    /// Fetches what was not guessed.
    fn rest(&self, to: &mut Recorder<'_>) -> Result<Ticket<u32>, GpuError> {
        to.download(&self.on_device, 2 + 2 * self.pairs.len()..2 + 2 * self.count)
    }
}
