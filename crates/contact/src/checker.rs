//! The independent intersection checker: proves that a saved or given state has no two surfaces through one another.
//!
//! It shares no code with what the solver runs on: exact triangle tests ([`crate::triangles_intersect`]) over pairs from a plain sweep
//! over double-precision boxes, with a brute-force search over all pairs as its own cross-check.

use glam::DVec3;
use rayon::prelude::*;

use crate::intersect::Plane;
use crate::{CollisionMesh, Pair, PairKind};

/// How pairs are found; the answer is the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Search {
    /// Sort and sweep in strips.
    #[default]
    Sweep,
    /// Every pair.
    BruteForce,
}

/// What the checker looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct IntersectionCheck {
    /// How pairs are found.
    pub search: Search,
    /// Whether pairs without a movable vertex are looked at too: obstacles through one another.
    pub fixed: bool,
}

/// What the checker found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IntersectionReport {
    /// Intersecting pairs, sorted: triangles, spheres, and what is inside a slab.
    pub pairs: Vec<Pair>,
    /// World vertices whose position is infinite or no number; their primitives are not looked at.
    pub not_finite: Vec<u32>,
}

impl IntersectionReport {
    /// Whether nothing intersects and all positions are finite.
    pub fn is_clean(&self) -> bool {
        self.pairs.is_empty() && self.not_finite.is_empty()
    }

    /// The first few findings in words, one a line; empty where there is none.
    pub fn describe(&self, mesh: &CollisionMesh, at_most: usize) -> String {
        let pairs = self.pairs.iter().map(|&pair| format!("{} intersect", mesh.describe(pair)));
        let points = self
            .not_finite
            .iter()
            .map(|&vertex| format!("{} has no finite position", mesh.describe_vertex(vertex)));
        let mut lines: Vec<String> = pairs.chain(points).take(at_most).collect();
        let left = self.pairs.len() + self.not_finite.len() - lines.len();
        if left > 0 {
            lines.push(format!("and {left} more"));
        }
        lines.join("\n")
    }
}

/// Finds all intersections at `x`.
///
/// Triangles are closed, so touching counts. Two that share a corner intersect if they have another point in common; two
/// that share an edge if they are folded flat onto one another and overlap in an area; a triangle listed twice intersects
/// itself. A sphere intersects what is no farther from its centre than its radius (radii added for two spheres), and an
/// edge, sphere or point a slab that it is inside of, in part or wholly.
pub fn intersections(
    mesh: &CollisionMesh,
    x: &[DVec3],
    check: &IntersectionCheck,
) -> IntersectionReport {
    let items = Items::new(mesh, x);
    let finite = |i: u32| items.boxes[i as usize].is_finite();
    let looked_at =
        |i: u32, j: u32| check.fixed || items.movable[i as usize] || items.movable[j as usize];
    let test = |i: u32, j: u32| looked_at(i, j).then(|| items.intersect(i, j)).flatten();
    let mut pairs: Vec<Pair> = match check.search {
        Search::BruteForce => {
            let count = items.boxes.len() as u32;
            let row = |i: u32| {
                let b = &items.boxes[i as usize];
                let near = (i + 1..count).filter(|&j| b.meets(&items.boxes[j as usize]));
                near.filter_map(|j| test(i, j)).collect::<Vec<_>>()
            };
            let rows: Vec<Vec<Pair>> =
                (0..count).into_par_iter().filter(|&i| finite(i)).map(row).collect();
            rows.concat()
        }
        Search::Sweep => sweep(&items.boxes, test),
    };
    slab_intersections(mesh, x, check.fixed, &mut pairs);
    pairs.sort_unstable();
    let not_finite =
        (0..).zip(x).filter(|(_, x)| !x.is_finite()).map(|(vertex, _)| vertex).collect();
    IntersectionReport { pairs, not_finite }
}

/// A box in double precision.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    low: DVec3,
    high: DVec3,
}

impl Bounds {
    fn is_finite(&self) -> bool {
        self.low.is_finite() && self.high.is_finite()
    }

    fn meets(&self, other: &Self) -> bool {
        self.low.cmple(other.high).all() && other.low.cmple(self.high).all()
    }
}

/// All triangles, then all spheres.
struct Items<'a> {
    mesh: &'a CollisionMesh,
    x: &'a [DVec3],
    boxes: Vec<Bounds>,
    planes: Vec<Plane>,
    movable: Vec<bool>,
}

impl<'a> Items<'a> {
    fn new(mesh: &'a CollisionMesh, x: &'a [DVec3]) -> Self {
        let triangles = mesh.triangles.iter().map(|t| {
            let [a, b, c] = t.map(|v| x[v as usize]);
            // glam's min and max may drop a NaN; a sum keeps it.
            let spoilt = if (a + b + c).is_nan() { DVec3::NAN } else { DVec3::ZERO };
            Bounds { low: a.min(b).min(c) + spoilt, high: a.max(b).max(c) + spoilt }
        });
        let spheres = mesh.spheres.iter().map(|sphere| {
            let centre = x[sphere.vertex as usize];
            // Rounding of centre +- radius must not lose a pair.
            let reach = sphere.radius + 1e-15 * (sphere.radius + centre.abs().max_element());
            Bounds { low: centre - reach, high: centre + reach }
        });
        let planes = mesh.triangles.iter().map(|t| Plane::of(t.map(|v| x[v as usize])));
        let movable = (0..mesh.triangles.len()).map(|i| mesh.triangle_movable(i));
        let sphere_movable = mesh.spheres.iter().map(|s| mesh.movable[s.vertex as usize]);
        Self {
            mesh,
            x,
            boxes: triangles.chain(spheres).collect(),
            planes: planes.collect(),
            movable: movable.chain(sphere_movable).collect(),
        }
    }

    /// Tests items `i < j`.
    fn intersect(&self, i: u32, j: u32) -> Option<Pair> {
        let triangles = self.mesh.triangles.len() as u32;
        let corners = |i: u32| self.mesh.triangles[i as usize].map(|v| self.x[v as usize]);
        let pair = |kind, primitives| Some(Pair { kind, primitives });
        match (i.checked_sub(triangles), j.checked_sub(triangles)) {
            (None, None) => {
                let meet = self.triangles_meet(i as usize, j as usize);
                if meet { pair(PairKind::TriangleTriangle, [i, j]) } else { None }
            }
            (None, Some(sphere)) => {
                let s = &self.mesh.spheres[sphere as usize];
                let d2 = squared_distance(self.x[s.vertex as usize], corners(i));
                if d2 <= s.radius * s.radius {
                    pair(PairKind::SphereTriangle, [sphere, i])
                } else {
                    None
                }
            }
            (Some(first), Some(second)) => {
                let (a, b) =
                    (&self.mesh.spheres[first as usize], &self.mesh.spheres[second as usize]);
                let d = self.x[a.vertex as usize].distance(self.x[b.vertex as usize]);
                if d <= a.radius + b.radius {
                    pair(PairKind::SphereSphere, [first, second])
                } else {
                    None
                }
            }
            (Some(_), None) => None,
        }
    }

    fn triangles_meet(&self, i: usize, j: usize) -> bool {
        let (s, t) = (self.mesh.triangles[i], self.mesh.triangles[j]);
        let (plane_s, plane_t) = (&self.planes[i], &self.planes[j]);
        let shared = s.map(|v| t.contains(&v));
        match shared.iter().filter(|&&is| is).count() {
            0 => plane_s.meets(plane_t),
            1 => {
                let k = shared.iter().position(|&is| is).unwrap_or(0);
                let l = t.iter().position(|&v| v == s[k]).unwrap_or(0);
                plane_s.meets_beyond(k, plane_t, l)
            }
            2 => {
                let k = shared.iter().position(|&is| !is).unwrap_or(0);
                let l = t.iter().position(|v| !s.contains(v)).unwrap_or(0);
                plane_s.folded_flat(k, plane_t, l)
            }
            _ => true,
        }
    }
}

/// Squared distance of a point from a triangle: from its plane where it projects inside, else from the nearest edge.
fn squared_distance(p: DVec3, [a, b, c]: [DVec3; 3]) -> f64 {
    let edges = [[a, b], [b, c], [c, a]];
    let to_edges = edges.map(|[a, b]| {
        let along = (b - a) / (b - a).length_squared().max(f64::MIN_POSITIVE);
        p.distance_squared(a + (p - a).dot(along).clamp(0.0, 1.0) * (b - a))
    });
    let to_edges = to_edges.into_iter().fold(f64::INFINITY, f64::min);
    let n = (b - a).cross(c - a);
    let inside = edges.iter().all(|[a, b]| (*b - *a).cross(p - *a).dot(n) > 0.0);
    if inside { to_edges.min((p - a).dot(n).powi(2) / n.length_squared()) } else { to_edges }
}

/// What is in a slab: edges, and particles that are no vertex of a triangle.
fn slab_intersections(mesh: &CollisionMesh, x: &[DVec3], fixed: bool, out: &mut Vec<Pair>) {
    let points = mesh.points.iter().map(|&vertex| (vertex, 0.0));
    let balls: Vec<(u32, f64)> =
        mesh.spheres.iter().map(|s| (s.vertex, s.radius)).chain(points).collect();
    for (j, slab) in (0..).zip(&mesh.slabs) {
        let height = |v: u32| slab.normal.dot(x[v as usize] - slab.point);
        let inside = |low: f64, high: f64| low < 0.0 && high > -slab.thickness;
        for (i, &[a, b]) in (0..).zip(&mesh.edges) {
            let (a, b) = (height(a), height(b));
            if inside(a.min(b), a.max(b)) && (fixed || mesh.edge_movable(i as usize)) {
                out.push(Pair { kind: PairKind::EdgeSlab, primitives: [i, j] });
            }
        }
        for &(vertex, radius) in &balls {
            let height = height(vertex);
            if inside(height - radius, height + radius) && (fixed || mesh.movable[vertex as usize])
            {
                out.push(Pair { kind: PairKind::VertexSlab, primitives: [vertex, j] });
            }
        }
    }
}

/// Calls `test(i, j)`, i below j, for every two boxes that overlap, and collects what it gives.
///
/// Strips along the second-longest axis, each sorted and swept along the longest. A pair is tested in the last strip that
/// either box begins in, which both are in if they overlap.
fn sweep(boxes: &[Bounds], test: impl Fn(u32, u32) -> Option<Pair> + Sync) -> Vec<Pair> {
    let finite: Vec<u32> =
        (0..boxes.len() as u32).filter(|&i| boxes[i as usize].is_finite()).collect();
    let infinity = DVec3::splat(f64::INFINITY);
    let (low, high, sizes) = finite
        .iter()
        .map(|&i| &boxes[i as usize])
        .fold((infinity, -infinity, DVec3::ZERO), |(low, high, sizes), b| {
            (low.min(b.low), high.max(b.high), sizes + (b.high - b.low))
        });
    let extent = high - low;
    let mut axes = [0, 1, 2];
    axes.sort_by(|&a, &b| extent[b].total_cmp(&extent[a]));
    let [main, across, third] = axes;

    let mean = sizes[across] / finite.len().max(1) as f64;
    let width = (2.0 * mean).max(extent[across] / 4096.0).max(f64::MIN_POSITIVE);
    let strip = |c: f64| ((c - low[across]) / width) as usize;
    let count = if finite.is_empty() { 0 } else { strip(high[across]) + 1 };
    let mut strips: Vec<Vec<Item>> = vec![Vec::new(); count];
    for &i in &finite {
        let b = &boxes[i as usize];
        let item = Item {
            main: [b.low[main], b.high[main]],
            across: [b.low[across], b.high[across]],
            third: [b.low[third], b.high[third]],
            number: i,
            begins: strip(b.low[across]) as u32,
        };
        for strip in &mut strips[strip(b.low[across])..=strip(b.high[across])] {
            strip.push(item);
        }
    }
    let swept: Vec<Vec<Pair>> = strips
        .into_par_iter()
        .enumerate()
        .map(|(s, mut items)| {
            items.sort_unstable_by(|a, b| {
                a.main[0].total_cmp(&b.main[0]).then(a.number.cmp(&b.number))
            });
            let mut found = Vec::new();
            for (k, a) in items.iter().enumerate() {
                for b in items[k + 1..].iter().take_while(|b| b.main[0] <= a.main[1]) {
                    let meet = |a: [f64; 2], b: [f64; 2]| a[0] <= b[1] && b[0] <= a[1];
                    if meet(a.across, b.across)
                        && meet(a.third, b.third)
                        && a.begins.max(b.begins) as usize == s
                    {
                        found.extend(test(a.number.min(b.number), a.number.max(b.number)));
                    }
                }
            }
            found
        })
        .collect();
    swept.concat()
}

/// A box in the order of the sweep's axes.
#[derive(Clone, Copy)]
struct Item {
    main: [f64; 2],
    across: [f64; 2],
    third: [f64; 2],
    number: u32,
    /// The first strip that it is in.
    begins: u32,
}
