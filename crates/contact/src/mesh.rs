//! What can touch: the surface vertices, edges and triangles of all bodies, the spheres, and the slabs.

use gusset_mesh::{Mobility, Role, SlabShape, World};

use crate::{Pair, PairKind};

/// A sphere around a world vertex.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sphere {
    /// World index of its centre.
    pub vertex: u32,
    /// Radius (m).
    pub radius: f64,
}

/// Pairs that are never candidates because they are close in the rest shape already (see
/// [`crate::pairs_below`]).
/// Both lists are sorted; an edge pair has its smaller index first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Excluded {
    /// `[index into vertices, triangle]`.
    pub vertex_triangle: Vec<[u32; 2]>,
    /// `[edge, edge]`.
    pub edge_edge: Vec<[u32; 2]>,
}

/// Everything that can touch, as arrays with world vertex indices. It does not change while a scene runs.
#[derive(Clone, Debug, Default)]
pub struct CollisionMesh {
    /// Whether something may move a world vertex: the solver or the timeline. A pair without such a vertex is never
    /// a candidate.
    pub movable: Vec<bool>,
    /// World indices of the vertices of all triangles.
    pub vertices: Vec<u32>,
    /// The edges of all triangles, once each, as sorted pairs.
    pub edges: Vec<[u32; 2]>,
    /// Triangles of films, obstacles and the surfaces of solids.
    pub triangles: Vec<[u32; 3]>,
    /// Spheres.
    pub spheres: Vec<Sphere>,
    /// World indices of particles without radius, which touch slabs only.
    pub points: Vec<u32>,
    /// Slabs.
    pub slabs: Vec<SlabShape>,
    /// Distance of two film or obstacle surfaces that counts as touching (m).
    pub min_gap: f64,
    /// Pairs that are never candidates.
    pub excluded: Excluded,
    parts: Vec<Part>,
}

/// One body's share of the arrays, for messages: where each of its lists starts.
#[derive(Clone, Debug)]
struct Part {
    name: String,
    /// `None` for a slab, which has no vertices.
    first_vertex: Option<u32>,
    first_edge: u32,
    first_triangle: u32,
    first_sphere: u32,
    first_slab: u32,
}

impl CollisionMesh {
    /// A mesh without primitives over `movable.len()` world vertices.
    pub fn new(movable: Vec<bool>, min_gap: f64) -> Self {
        Self { movable, min_gap, ..Self::default() }
    }

    /// The collision mesh of all bodies. `min_gap` (m) is the distance that counts as touching.
    pub fn from_world(world: &World, min_gap: f64) -> Self {
        let movable = world
            .bodies
            .iter()
            .flat_map(|body| body.mobility.iter().map(|m| *m != Mobility::Fixed))
            .collect();
        let mut mesh = Self::new(movable, min_gap);
        for body in &world.bodies {
            match body.role {
                Role::Film | Role::Solid | Role::Obstacle => {
                    mesh.add_surface(&body.name, body.first, &body.triangles);
                }
                Role::Spheres => mesh.add_spheres(&body.name, body.first, &body.radius),
                Role::Points => mesh.add_points(&body.name, body.first, body.vertex_count()),
                Role::Slab => {
                    if let Some(slab) = body.slab {
                        mesh.add_slab(&body.name, slab);
                    }
                }
            }
        }
        mesh
    }

    /// Adds a triangle surface; `triangles` are local, vertex 0 is world vertex `first`. Vertices that no triangle uses
    /// are left out. Bodies are added by rising `first`.
    pub fn add_surface(&mut self, name: &str, first: u32, triangles: &[[u32; 3]]) {
        self.begin(name, Some(first));
        let mut vertices: Vec<u32> = triangles.iter().flatten().map(|v| v + first).collect();
        vertices.sort_unstable();
        vertices.dedup();
        let mut edges: Vec<[u32; 2]> = triangles
            .iter()
            .flat_map(|[a, b, c]| [[a, b], [b, c], [c, a]])
            .map(|[a, b]| [a.min(b) + first, a.max(b) + first])
            .collect();
        edges.sort_unstable();
        edges.dedup();
        self.vertices.extend(vertices);
        self.edges.extend(edges);
        self.triangles.extend(triangles.iter().map(|t| t.map(|v| v + first)));
    }

    /// Adds spheres around the world vertices `first..`, one for each radius (m).
    pub fn add_spheres(&mut self, name: &str, first: u32, radius: &[f64]) {
        self.begin(name, Some(first));
        let spheres = (first..).zip(radius).map(|(vertex, &radius)| Sphere { vertex, radius });
        self.spheres.extend(spheres);
    }

    /// Adds particles without radius, world vertices `first..first + count`.
    pub fn add_points(&mut self, name: &str, first: u32, count: usize) {
        self.begin(name, Some(first));
        self.points.extend(first..first + count as u32);
    }

    /// Adds a slab.
    pub fn add_slab(&mut self, name: &str, slab: SlabShape) {
        self.begin(name, None);
        self.slabs.push(slab);
    }

    fn begin(&mut self, name: &str, first_vertex: Option<u32>) {
        self.parts.push(Part {
            name: name.to_owned(),
            first_vertex,
            first_edge: self.edges.len() as u32,
            first_triangle: self.triangles.len() as u32,
            first_sphere: self.spheres.len() as u32,
            first_slab: self.slabs.len() as u32,
        });
    }

    /// Every particle that slabs act on, with the distance that counts as touching (m): surface vertices, spheres, points.
    pub fn slab_particles(&self) -> impl Iterator<Item = (u32, f64)> + '_ {
        let surface = self.vertices.iter().chain(&self.points).map(|&v| (v, self.min_gap));
        let spheres = self.spheres.iter().map(|s| (s.vertex, self.sphere_offset(s)));
        surface.chain(spheres)
    }

    /// Distance from a sphere's centre to a surface that counts as touching: `R + min_gap/2` (m).
    #[inline]
    pub fn sphere_offset(&self, sphere: &Sphere) -> f64 {
        sphere.radius + 0.5 * self.min_gap
    }

    /// Whether a triangle has a vertex that may move.
    #[inline]
    pub fn triangle_movable(&self, triangle: usize) -> bool {
        self.triangles[triangle].iter().any(|&v| self.movable[v as usize])
    }

    /// Whether an edge has a vertex that may move.
    #[inline]
    pub fn edge_movable(&self, edge: usize) -> bool {
        self.edges[edge].iter().any(|&v| self.movable[v as usize])
    }

    /// Both primitives and their objects in words: `` `cloth` vertex 12 and `ball` triangle 7 ``. Numbers are local to
    /// the object; edges count in the order of their sorted vertex pairs and are given with their vertices.
    pub fn describe(&self, pair: impl Into<Pair>) -> String {
        let Pair { kind, primitives: [i, j] } = pair.into();
        let [first, second] = match kind {
            PairKind::VertexTriangle => {
                let vertex = self.vertices.get(i as usize).copied().unwrap_or(u32::MAX);
                [self.describe_vertex(vertex), self.describe_triangle(j)]
            }
            PairKind::EdgeEdge => [self.describe_edge(i), self.describe_edge(j)],
            PairKind::SphereTriangle => [self.describe_sphere(i), self.describe_triangle(j)],
            PairKind::SphereSphere => [self.describe_sphere(i), self.describe_sphere(j)],
            PairKind::VertexSlab => {
                let sphere = self.spheres.iter().position(|sphere| sphere.vertex == i);
                let particle = match sphere {
                    Some(sphere) => self.describe_sphere(sphere as u32),
                    None => self.describe_vertex(i),
                };
                [particle, self.describe_slab(j)]
            }
            PairKind::TriangleTriangle => [self.describe_triangle(i), self.describe_triangle(j)],
            PairKind::EdgeSlab => [self.describe_edge(i), self.describe_slab(j)],
        };
        format!("{first} and {second}")
    }

    /// The body that owns an element, and the element's local number.
    fn owner(&self, index: u32, first: impl Fn(&Part) -> Option<u32>) -> (&str, u32) {
        // Of bodies that start at the same number all but the last have none of the kind.
        let owner = self.parts.iter().rev().find_map(|part| {
            let first = first(part)?;
            Some((part.name.as_str(), index.checked_sub(first)?))
        });
        owner.unwrap_or(("?", index))
    }

    /// A world vertex in words: `` `cloth` vertex 12 ``.
    pub fn describe_vertex(&self, vertex: u32) -> String {
        let (name, local) = self.owner(vertex, |part| part.first_vertex);
        format!("`{name}` vertex {local}")
    }

    fn describe_edge(&self, edge: u32) -> String {
        let (name, local) = self.owner(edge, |part| Some(part.first_edge));
        let ends = self
            .edges
            .get(edge as usize)
            .map(|e| e.map(|v| self.owner(v, |part| part.first_vertex).1));
        match ends {
            Some([a, b]) => format!("`{name}` edge {local} (vertices {a}-{b})"),
            None => format!("`{name}` edge {local}"),
        }
    }

    fn describe_triangle(&self, triangle: u32) -> String {
        let (name, local) = self.owner(triangle, |part| Some(part.first_triangle));
        format!("`{name}` triangle {local}")
    }

    fn describe_sphere(&self, sphere: u32) -> String {
        let (name, local) = self.owner(sphere, |part| Some(part.first_sphere));
        format!("`{name}` sphere {local}")
    }

    fn describe_slab(&self, slab: u32) -> String {
        let (name, _) = self.owner(slab, |part| Some(part.first_slab));
        format!("slab `{name}`")
    }
}
