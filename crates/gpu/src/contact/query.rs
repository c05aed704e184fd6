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
    pairs: Array<u32>,
    /// How far each primitive looks.
    reach: Mirror<f32>,
    /// Pairs that were found last.
    expected: usize,
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
            let pairs = Array::new(device, 2 + 2 * ROOM)?;
            Ok::<_, GpuError>(Found { pairs, reach: Mirror::new(device)?, expected: 0 })
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

        let mut lists: [Option<Vec<[u32; 2]>>; 4] = [const { None }; 4];
        loop {
            // What did not fit is searched again with more room: there is no capacity to exceed.
            let open: Vec<usize> = (0..4).filter(|&k| lists[k].is_none()).collect();
            for &k in &open {
                to.zero_part(&self.searches[k].pairs, 0..2)?;
            }
            to.barrier()?;
            for &k in &open {
                self.record(&mut to, SEARCHES[k], &self.searches[k])?;
            }
            to.barrier()?;
            to.section("contact_query")?;
            let came: Vec<Ticket<u32>> = open
                .iter()
                .map(|&k| to.download(&self.searches[k].pairs, 0..2 + 2 * self.searches[k].guess()))
                .collect::<Result<_, _>>()?;
            to.section("download")?;
            report.add_all(to.submit()?);
            to = stream.begin()?;
            let mut rest = Vec::new();
            let mut total: usize = lists.iter().flatten().map(Vec::len).sum();
            for (&k, came) in open.iter().zip(&came) {
                let came = came.to_vec()?;
                let (count, guess) = (came[0] as usize, self.searches[k].guess());
                total += count;
                rest.push((k, count, guess, came));
            }
            if total > most {
                return Ok(None);
            }
            let mut tickets = Vec::new();
            for (k, count, guess, mut came) in rest {
                let found = &mut self.searches[k];
                found.expected = count;
                if count > found.room() {
                    found.pairs.resize(2 + 2 * (count + count / 4))?;
                    continue;
                }
                came.truncate(2 + 2 * count);
                if count > guess {
                    let more = to.download(&found.pairs, 2 + 2 * guess..2 + 2 * count)?;
                    tickets.push((k, more));
                }
                lists[k] = Some(came[2..].as_chunks().0.to_vec());
            }
            let again = lists.iter().any(Option::is_none);
            if !tickets.is_empty() {
                report.add_all(to.submit()?);
                for (k, more) in tickets {
                    let list = lists[k].as_mut().expect("its first part came");
                    list.extend_from_slice(more.to_vec()?.as_chunks().0);
                }
                if again {
                    to = stream.begin()?;
                    continue;
                }
            } else if again {
                continue;
            }
            let [vt, ee, st, ss] = lists.map(|list| {
                let mut list = list.expect("every search has ended");
                list.sort_unstable();
                list
            });
            return Ok(Some(PairLists {
                vertex_triangle: vt,
                edge_edge: ee,
                sphere_triangle: st,
                sphere_sphere: ss,
            }));
        }
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
            found.pairs.whole(),
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
        (self.pairs.len() - 2) / 2
    }

    /// Pairs that are fetched before it is known how many there are.
    fn guess(&self) -> usize {
        (self.expected + self.expected / 4 + 64).min(self.room())
    }
}
