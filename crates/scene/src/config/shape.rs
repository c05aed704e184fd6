//! `shape = { kind = ... }` of a body.

use super::tagged;
use gusset_units::Length;
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;

tagged! {
    /// Geometry of a body, before it is scaled, rotated and moved to its place.
    pub(crate) enum ShapeConfig {
        /// A flat rectangle of cells in the plane z = 0.
        "grid" => Grid(Grid),
        /// A flat disc in the plane z = 0.
        "disc" => Disc(Disc),
        /// A cylinder about the z axis, standing on z = 0.
        "cylinder" => Cylinder(Cylinder),
        /// A bag as a surface of revolution, as in the bag article.
        "bag" => Bag(Bag),
        /// A bin: a closed solid of revolution with a cavity.
        "bin" => Bin(Bin),
        /// A box of tetrahedra from the origin to `size`.
        "box" => Box(Cuboid),
        /// The surface of a box from the origin to `size`.
        "box-surface" => BoxSurface(Cuboid),
        /// A sphere of triangles about the origin.
        "icosphere" => Icosphere(Icosphere),
        /// Triangles, given one by one.
        "triangles" => Triangles(Triangles),
        /// Tetrahedra, given one by one.
        "tets" => Tets(Tets),
        /// Spheres, given one by one.
        "spheres" => Spheres(Spheres),
        /// Spheres of one size on a lattice.
        "sphere-lattice" => SphereLattice(SphereLattice),
        /// Spheres at random places in a box.
        "sphere-packing" => SpherePacking(SpherePacking),
        /// Particles without radius, which touch slabs only.
        "points" => Points(Points),
        /// An infinite plate.
        "slab" => Slab(Slab),
        /// A mesh from an OBJ, PLY or MSH file.
        "file" => File(File),
    }
}

/// How the cells of a grid are cut in two.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum GridPattern {
    /// The diagonal changes from cell to cell, so the sheet prefers no direction.
    #[default]
    Alternating,
    /// Every cell alike.
    Regular,
}

/// Where the origin of a grid is.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum GridOrigin {
    /// In the middle.
    #[default]
    Centre,
    /// In the corner of least x and y.
    Corner,
}

/// A flat rectangle; vertex (i, j) has index j (cells in x + 1) + i. Groups: left, right, bottom, top, boundary,
/// corners, bottom-left, bottom-right, top-left, top-right.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Grid {
    /// Lengths along x and y.
    pub(crate) size: [Length; 2],
    /// Numbers of cells along x and y.
    pub(crate) cells: [u32; 2],
    /// How cells are cut in two: "alternating" (default) or "regular".
    #[serde(default)]
    pub(crate) pattern: GridPattern,
    /// Where the origin is: "centre" (default) or "corner".
    #[serde(default)]
    pub(crate) origin: GridOrigin,
}

/// A flat disc, vertex 0 in the centre. Groups: centre, ring-1 ..., boundary.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Disc {
    /// Radius.
    pub(crate) radius: Length,
    /// Number of rings around the centre.
    pub(crate) rings: u32,
    /// Number of vertices of a ring.
    pub(crate) segments: u32,
}

/// A cylinder. Groups: bottom, top; bottom-centre and top-centre if closed.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cylinder {
    /// Radius.
    pub(crate) radius: Length,
    /// Height.
    pub(crate) height: Length,
    /// Numbers of cells around and along.
    pub(crate) cells: [u32; 2],
    /// Whether it has ends; false where absent.
    #[serde(default)]
    pub(crate) closed: bool,
}

/// A bag. Groups: centre, ring-1 ..., column-0 ..., and the rings' own names (of the article's bag: fold, neck, rim).
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Bag {
    /// Its rings, bottom centre (radius 0) first; the 16 rings of the bag article where absent.
    pub(crate) rings: Option<Vec<Ring>>,
    /// Number of vertices of a ring; 32 where absent, as in the article.
    #[serde(default = "bag_columns")]
    pub(crate) columns: u32,
    /// Cuts every edge into that many; 1 where absent.
    #[serde(default = "one")]
    pub(crate) refine: u32,
}

fn bag_columns() -> u32 {
    32
}

fn one() -> u32 {
    1
}

/// A ring of a bag.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Ring {
    /// Radius; 0 for the first one.
    pub(crate) radius: Length,
    /// Height in the stress-free shape.
    pub(crate) z: Length,
    /// Height at the start; `z` where absent.
    pub(crate) start_z: Option<Length>,
    /// Name of a group for this ring, beside its number.
    pub(crate) name: Option<String>,
}

/// A bin. Groups: rim, floor.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Bin {
    /// Outer radius of the wall.
    pub(crate) outer: Length,
    /// Inner radius of the wall.
    pub(crate) inner: Length,
    /// Height of its underside.
    pub(crate) bottom: Length,
    /// Height of the cavity's floor.
    pub(crate) floor: Length,
    /// Height of its rim.
    pub(crate) top: Length,
    /// Number of vertices around.
    pub(crate) columns: u32,
}

/// A box from the origin to `size`. Groups: left, right (x), front, back (y), bottom, top (z), corners.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cuboid {
    /// Lengths along x, y and z.
    pub(crate) size: [Length; 3],
    /// Numbers of cells along x, y and z.
    pub(crate) cells: [u32; 3],
}

/// A sphere of triangles: 12, 42, 162, 642 ... vertices.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Icosphere {
    /// Radius.
    pub(crate) radius: Length,
    /// How often each triangle of the icosahedron is cut into four.
    pub(crate) subdivisions: u32,
}

/// Triangles, given one by one.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_field_names, reason = "the names are the keys of the file")]
pub(crate) struct Triangles {
    /// Positions at the start.
    pub(crate) vertices: Vec<[Length; 3]>,
    /// Vertex indices, from 0, counter-clockwise seen from outside.
    pub(crate) triangles: Vec<[u32; 3]>,
    /// Stress-free positions; `vertices` where absent.
    pub(crate) rest: Option<Vec<[Length; 3]>>,
    /// Named vertex selections.
    #[serde(default)]
    pub(crate) groups: BTreeMap<String, Vec<u32>>,
}

/// Tetrahedra, given one by one.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_field_names, reason = "the names are the keys of the file")]
pub(crate) struct Tets {
    /// Positions at the start.
    pub(crate) vertices: Vec<[Length; 3]>,
    /// Vertex indices, from 0, such that the volume (x1-x0).((x2-x0)x(x3-x0))/6 is positive.
    pub(crate) tets: Vec<[u32; 4]>,
    /// Stress-free positions; `vertices` where absent.
    pub(crate) rest: Option<Vec<[Length; 3]>>,
    /// Named vertex selections.
    #[serde(default)]
    pub(crate) groups: BTreeMap<String, Vec<u32>>,
}

/// Spheres, given one by one.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Spheres {
    /// Centres.
    pub(crate) centres: Vec<[Length; 3]>,
    /// One radius for each centre, or one for all.
    pub(crate) radii: Vec<Length>,
}

/// Spheres on a lattice, the first one at the origin.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SphereLattice {
    /// Numbers along x, y and z.
    pub(crate) counts: [u32; 3],
    /// Distances between centres along x, y and z.
    pub(crate) spacing: [Length; 3],
    /// Radius of all.
    pub(crate) radius: Length,
    /// Each centre moves by up to this along each axis; 0 where absent.
    #[serde(default)]
    pub(crate) jitter: Length,
    /// Start of the random numbers; 0 where absent.
    #[serde(default)]
    pub(crate) seed: u64,
}

/// Spheres at random places inside a box.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SpherePacking {
    /// How many.
    pub(crate) count: u32,
    /// Least and greatest radius.
    pub(crate) radius: [Length; 2],
    /// Corner of least x, y and z.
    pub(crate) low: [Length; 3],
    /// Corner of greatest x, y and z.
    pub(crate) high: [Length; 3],
    /// Least distance between surfaces; 0 where absent.
    #[serde(default)]
    pub(crate) gap: Length,
    /// Start of the random numbers; 0 where absent.
    #[serde(default)]
    pub(crate) seed: u64,
}

/// Particles without radius.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Points {
    /// Positions.
    pub(crate) positions: Vec<[Length; 3]>,
}

/// An infinite plate with a front face and a back face.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Slab {
    /// A point of the front face.
    pub(crate) point: [Length; 3],
    /// Direction out of the front face; needs no unit length.
    pub(crate) normal: [f64; 3],
    /// Distance from the front face to the back face.
    pub(crate) thickness: Length,
}

/// A mesh from a file: .obj, .ply (triangles) or .msh (triangles or tetrahedra).
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    /// Path, relative to the scene file. Its numbers are in the scene's units.
    pub(crate) path: String,
}
