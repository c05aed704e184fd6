//! What can be wrong with a mesh.

use std::fmt;

use glam::DVec3;

/// Most vertices of one mesh: 2^27, or 3 GiB of positions.
pub const MAX_VERTICES: u64 = 1 << 27;

/// Most triangles or tetrahedra of one mesh: 2^28.
pub const MAX_ELEMENTS: u64 = 1 << 28;

/// One defect of a mesh. Indices count from 0.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Problem {
    /// More vertices or elements than a mesh may have.
    TooLarge {
        /// What there is too much of.
        what: &'static str,
        /// How many were asked for; `u64::MAX` also stands for anything above.
        count: u64,
        /// How many are allowed.
        limit: u64,
    },
    /// A coordinate is infinite or not a number.
    NonFinite {
        /// The vertex.
        vertex: u32,
        /// Its position.
        position: DVec3,
    },
    /// An element names a vertex that does not exist.
    IndexOutOfRange {
        /// `triangle` or `tet`.
        element: &'static str,
        /// Index of the element.
        index: u32,
        /// The vertex it names.
        vertex: u32,
        /// How many vertices there are.
        count: u32,
    },
    /// An element names one vertex twice.
    RepeatedIndex {
        /// `triangle` or `tet`.
        element: &'static str,
        /// Index of the element.
        index: u32,
        /// The vertex it names twice.
        vertex: u32,
    },
    /// A triangle without area.
    DegenerateTriangle {
        /// Index of the triangle.
        triangle: u32,
        /// Two of its vertices that have the same position; `None` if the three are on one line.
        coincident: Option<[u32; 2]>,
    },
    /// Two triangles have the same three vertices.
    DuplicateFace {
        /// The first triangle.
        first: u32,
        /// The second triangle.
        second: u32,
    },
    /// More than two triangles share an edge.
    CrowdedEdge {
        /// The edge's vertices.
        edge: [u32; 2],
        /// The triangles at it.
        faces: Vec<u32>,
    },
    /// Two triangles traverse their common edge in the same direction.
    Winding {
        /// The edge's vertices.
        edge: [u32; 2],
        /// The two triangles.
        faces: [u32; 2],
    },
    /// A vertex that no element uses, which therefore would have no mass.
    Unreferenced {
        /// The vertex.
        vertex: u32,
    },
    /// Two vertices have exactly the same position.
    CoincidentVertices {
        /// The first vertex.
        first: u32,
        /// The second vertex.
        second: u32,
        /// Where they are.
        position: DVec3,
    },
    /// A tetrahedron with its vertices in the opposite order.
    InvertedTet {
        /// Index of the tetrahedron.
        tet: u32,
        /// Its vertices.
        vertices: [u32; 4],
        /// Its volume (m^3), below 0.
        volume: f64,
    },
    /// A tetrahedron whose vertices are in one plane.
    FlatTet {
        /// Index of the tetrahedron.
        tet: u32,
        /// Its volume (m^3), 0 but for rounding.
        volume: f64,
    },
    /// A size that a generator can't use.
    BadSize {
        /// Which size.
        what: &'static str,
        /// What was found.
        found: String,
        /// What would be right.
        expected: &'static str,
    },
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge { what, count: u64::MAX, limit } => {
                write!(f, "far too many {what}: a mesh may have {limit}")
            }
            Self::TooLarge { what, count, limit } => {
                write!(f, "{count} {what}, but a mesh may have {limit}")
            }
            Self::NonFinite { vertex, position: p } => {
                write!(
                    f,
                    "vertex {vertex} has a coordinate that is not finite: {} {} {}",
                    p.x, p.y, p.z
                )
            }
            Self::IndexOutOfRange { element, index, vertex, count } => {
                write!(f, "{element} {index} names vertex {vertex}, but there are {count} vertices")
            }
            Self::RepeatedIndex { element, index, vertex } => {
                write!(f, "{element} {index} names vertex {vertex} twice")
            }
            Self::DegenerateTriangle { triangle, coincident: Some([a, b]) } => {
                write!(f, "triangle {triangle} is degenerate: vertices {a} and {b} coincide")
            }
            Self::DegenerateTriangle { triangle, coincident: None } => {
                write!(f, "triangle {triangle} is degenerate: its vertices are on one line")
            }
            Self::DuplicateFace { first, second } => {
                write!(f, "triangles {first} and {second} are the same face")
            }
            Self::CrowdedEdge { edge: [a, b], faces } => {
                let list: Vec<String> = faces.iter().map(u32::to_string).collect();
                let (count, list) = (faces.len(), list.join(", "));
                write!(
                    f,
                    "edge ({a}, {b}) has {count} faces, at most 2 are possible: triangles {list}"
                )
            }
            Self::Winding { edge: [a, b], faces: [s, t] } => write!(
                f,
                "triangles {s} and {t} both run from vertex {a} to {b} along their common edge: \
                 reverse one of them"
            ),
            Self::Unreferenced { vertex } => {
                write!(f, "vertex {vertex} is used by no element, so it has no mass: remove it")
            }
            Self::CoincidentVertices { first, second, position: p } => write!(
                f,
                "vertices {first} and {second} are at the same position ({} {} {}): merge them",
                p.x, p.y, p.z
            ),
            Self::InvertedTet { tet, vertices: [a, b, c, d], volume } => write!(
                f,
                "tet {tet} ({a} {b} {c} {d}) has the negative volume {volume:e} m^3: swap two of \
                 its vertices, for example ({a} {b} {d} {c})"
            ),
            Self::FlatTet { tet, volume } => {
                write!(f, "tet {tet} has no volume ({volume:e} m^3): its vertices are in one plane")
            }
            Self::BadSize { what, found, expected } => {
                write!(f, "{what} is {found}, expected {expected}")
            }
        }
    }
}

/// Every [`Problem`] of a mesh, not only the first.
#[derive(Clone, Debug, PartialEq)]
pub struct MeshError {
    /// At least one.
    pub problems: Vec<Problem>,
}

impl MeshError {
    /// `Ok` if the list is empty.
    pub(crate) fn unless_empty(problems: Vec<Problem>) -> Result<(), Self> {
        if problems.is_empty() { Ok(()) } else { Err(Self { problems }) }
    }
}

impl From<Problem> for MeshError {
    fn from(problem: Problem) -> Self {
        Self { problems: vec![problem] }
    }
}

impl fmt::Display for MeshError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 12;
        for (i, problem) in self.problems.iter().take(SHOWN).enumerate() {
            if i > 0 {
                f.write_str("\n")?;
            }
            problem.fmt(f)?;
        }
        match self.problems.len().saturating_sub(SHOWN) {
            0 => Ok(()),
            more => write!(f, "\nand {more} more problems"),
        }
    }
}

impl std::error::Error for MeshError {}
