//! `[[probe]]`: what is measured while a scene runs.

use super::body::all;
use super::tagged;
use gusset_energy::Selection;
use schemars::JsonSchema;
use serde::Deserialize;

tagged! {
    /// A measurement, written at every step.
    pub(crate) enum ProbeConfig {
        /// Greatest minus least coordinate of a selection along an axis.
        "extent" => Extent(Coordinates),
        /// Mean coordinate of a selection along an axis.
        "mean" => Mean(Coordinates),
        /// Median coordinate of a selection along an axis.
        "median" => Median(Coordinates),
        /// Least coordinate of a selection along an axis.
        "min" => Min(Coordinates),
        /// Greatest coordinate of a selection along an axis.
        "max" => Max(Coordinates),
        /// Median coordinate of one selection minus mean coordinate of another: the height of a rim over a neck.
        "height" => Height(Height),
        /// Position of a vertex: three columns.
        "position" => Position(VertexOf),
        /// Positions of a selection: three columns for each vertex.
        "positions" => Positions(Each),
        /// A coordinate of each vertex of a selection: a column for each.
        "coordinates" => Coordinates(Coordinates),
        /// Distance between two vertices.
        "distance" => Distance(Distance),
        /// Angle between the two faces at an edge, 0 where they are in one plane.
        "angle" => Angle(HingeAngle),
        /// Greatest speed of a selection.
        "speed" => Speed(Some),
        /// Speed of each vertex of a selection: a column for each.
        "speeds" => Speeds(Each),
        /// Smallest gap between bodies.
        "gap" => Gap(Between),
        /// Momentum of a body, or of everything: three columns.
        "momentum" => Momentum(Whole),
        /// Angular momentum about the origin of a body, or of everything: three columns.
        "angular-momentum" => AngularMomentum(Whole),
        /// Energy: kinetic, or of a kind of energy, or the sum.
        "energy" => Energy(EnergyOf),
        /// Sum of the contact forces on a body, friction included: three columns, or one along an axis.
        "contact-force" => ContactForce(Touched),
        /// Sum of the forces of an energy on a body, or on everything: three columns, or one along an axis.
        "force" => Force(ForceOf),
        /// Least and greatest principal stretch of a film's triangles: two columns.
        "stretch" => Stretch(On),
        /// By how much the tie that is farthest from its length misses it. One that may hang slack is never too short.
        "thread-error" => ThreadError(ThreadsOf),
        /// Number of pairs of primitives that intersect, by the checker that shares nothing with the solver.
        "intersections" => Intersections(Everything),
        /// Number of vertices or spheres of a body whose centre a film winds around. Every hole of the film, or of the
        /// part of it that is given, is closed by a fan from its middle.
        "inside" => Inside(InsideOf),
    }
}

/// A coordinate axis.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Axis {
    /// x.
    X,
    /// y.
    Y,
    /// z.
    Z,
}

/// One coordinate of some vertices.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Coordinates {
    /// Unique name; heads the column.
    pub(crate) name: String,
    /// Whose vertices.
    pub(crate) body: String,
    /// Which vertices; all where absent.
    #[serde(default = "all")]
    pub(crate) vertices: Selection,
    /// Which coordinate: "x", "y" or "z".
    pub(crate) axis: Axis,
}

/// Median of one selection minus mean of another.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Height {
    /// Unique name; heads the column.
    pub(crate) name: String,
    /// Whose vertices.
    pub(crate) body: String,
    /// The vertices whose median counts.
    pub(crate) of: Selection,
    /// The vertices whose mean is subtracted.
    pub(crate) over: Selection,
    /// Which coordinate: "x", "y" or "z".
    pub(crate) axis: Axis,
}

/// A vertex of a body.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct VertexOf {
    /// Unique name; heads the columns.
    pub(crate) name: String,
    /// Whose vertex.
    pub(crate) body: String,
    /// Which vertex.
    pub(crate) vertex: u32,
}

/// Two vertices.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Distance {
    /// Unique name; heads the column.
    pub(crate) name: String,
    /// The two bodies; the same one twice for a distance within a body.
    pub(crate) bodies: [String; 2],
    /// A vertex of each.
    pub(crate) vertices: [u32; 2],
}

/// An edge with two faces.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct HingeAngle {
    /// Unique name; heads the column.
    pub(crate) name: String,
    /// Whose edge.
    pub(crate) body: String,
    /// The edge's two vertices.
    pub(crate) edge: [u32; 2],
}

/// Some vertices.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Some {
    /// Unique name; heads the column.
    pub(crate) name: String,
    /// Whose vertices; of all bodies where absent.
    pub(crate) body: Option<String>,
    /// Which vertices; all where absent.
    #[serde(default = "all")]
    pub(crate) vertices: Selection,
    /// An axis along which motion doesn't count: "z" for sliding on a floor.
    pub(crate) across: Option<Axis>,
}

/// Vertices that have columns of their own.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Each {
    /// Unique name; heads the columns.
    pub(crate) name: String,
    /// Whose vertices.
    pub(crate) body: String,
    /// Which vertices; all where absent.
    #[serde(default = "all")]
    pub(crate) vertices: Selection,
}

/// An energy that acts.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ForceOf {
    /// Unique name; heads the columns.
    pub(crate) name: String,
    /// Name of an energy, or a kind for all energies of that kind.
    pub(crate) energy: String,
    /// On which body; on all where absent.
    pub(crate) body: Option<String>,
    /// Along which axis; all three where absent.
    pub(crate) axis: Option<Axis>,
}

/// Ties.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ThreadsOf {
    /// Unique name; heads the column.
    pub(crate) name: String,
    /// Name of an energy of kind "tie"; "tie" (default) for all of them.
    #[serde(default = "tie")]
    pub(crate) energy: String,
}

fn tie() -> String {
    "tie".to_owned()
}

/// All bodies.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Everything {
    /// Unique name; heads the column.
    pub(crate) name: String,
}

/// What is in a bag.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct InsideOf {
    /// Unique name; heads the column.
    pub(crate) name: String,
    /// Whose vertices or spheres are counted.
    pub(crate) body: String,
    /// The film that may be around them.
    pub(crate) film: String,
    /// The part of the film that counts, such as that below a neck; all of it where absent.
    #[serde(default = "all")]
    pub(crate) vertices: Selection,
}

/// Two bodies.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Between {
    /// Unique name; heads the column.
    pub(crate) name: String,
    /// One body for its gap to anything (itself too), two for the gap between them; all pairs where absent.
    #[serde(default)]
    pub(crate) between: Vec<String>,
}

/// A body, or everything.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Whole {
    /// Unique name; heads the columns.
    pub(crate) name: String,
    /// Which body; all where absent.
    pub(crate) body: Option<String>,
}

/// An energy.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EnergyOf {
    /// Unique name; heads the column.
    pub(crate) name: String,
    /// "kinetic", "gravity" (0 at the origin), a kind of energy, or "total" (default): kinetic, gravity and all kinds
    /// but inertia.
    #[serde(default = "total")]
    pub(crate) of: String,
}

fn total() -> String {
    "total".to_owned()
}

/// A body that is touched.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Touched {
    /// Unique name; heads the columns.
    pub(crate) name: String,
    /// Which body.
    pub(crate) body: String,
    /// Along which axis; all three where absent.
    pub(crate) axis: Option<Axis>,
}

/// A body.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct On {
    /// Unique name; heads the columns.
    pub(crate) name: String,
    /// Which body.
    pub(crate) body: String,
}
