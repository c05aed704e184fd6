//! What a run is about: its bodies and its clock, as plain data.

use glam::DVec3;
use serde::{Deserialize, Serialize};

use crate::error::{OutputError, Result};

/// What a body is made of; decides how it is drawn and exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// A thin sheet of triangles, seen from both sides.
    Film,
    /// A solid; `faces` is its boundary.
    Solid,
    /// Spheres, one vertex and one radius each.
    Spheres,
    /// A fixed or prescribed surface.
    Obstacle,
    /// A half space behind a plane; it has no vertices.
    Slab,
    /// Free points without a radius.
    Points,
}

/// The front plane of a slab.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plane {
    /// A point of the plane, in metres.
    pub point: DVec3,
    /// Unit normal, out of the material.
    pub normal: DVec3,
}

/// One body: everything about it that no frame changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BodyInfo {
    /// Its name in the scene.
    pub name: String,
    /// What it is.
    pub role: Role,
    /// Number of vertices (sphere centres for [`Role::Spheres`]).
    pub vertices: usize,
    /// Whether any vertex can move. A body that can't is stored and drawn from one frame.
    pub moving: bool,
    /// One radius a vertex in metres for [`Role::Spheres`], else empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub radii: Vec<f64>,
    /// sRGB colour; `None` takes the next one of the palette.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub colour: Option<[u8; 3]>,
    /// Thickness in metres, where the body has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thickness: Option<f64>,
    /// The plane of a [`Role::Slab`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plane: Option<Plane>,
    /// Triangles over the body's own vertices (stored beside `run.json`, not in it).
    #[serde(skip)]
    pub faces: Vec<[u32; 3]>,
    /// Stress-free positions in metres, from which stretch is measured; empty where they don't matter (stored
    /// beside `run.json`, not in it).
    #[serde(skip)]
    pub rest: Vec<DVec3>,
}

impl BodyInfo {
    /// A body that moves, without radii, colour, thickness, plane or rest shape.
    pub fn new(
        name: impl Into<String>,
        role: Role,
        vertices: usize,
        faces: Vec<[u32; 3]>,
    ) -> BodyInfo {
        BodyInfo {
            name: name.into(),
            role,
            vertices,
            moving: !matches!(role, Role::Obstacle | Role::Slab),
            radii: Vec::new(),
            colour: None,
            thickness: None,
            plane: None,
            faces,
            rest: Vec::new(),
        }
    }

    /// Checks the body's arrays against each other.
    pub fn check(&self) -> Result<()> {
        let shape = |text: String| Err(OutputError::Shape(format!("body `{}`: {text}", self.name)));
        if self.role == Role::Spheres && self.radii.len() != self.vertices {
            let (radii, vertices) = (self.radii.len(), self.vertices);
            return shape(format!("{radii} radii for {vertices} spheres; one each is needed"));
        }
        if !self.rest.is_empty() && self.rest.len() != self.vertices {
            let (rest, vertices) = (self.rest.len(), self.vertices);
            return shape(format!("{rest} stress-free positions for {vertices} vertices"));
        }
        if self.role == Role::Slab && self.plane.is_none() {
            return shape("a slab needs a plane".to_owned());
        }
        if let Some(r) = self.radii.iter().position(|r| !(r.is_finite() && *r > 0.0)) {
            return shape(format!(
                "radius {r} is {}; it must be positive and finite",
                self.radii[r]
            ));
        }
        for (f, face) in self.faces.iter().enumerate() {
            if let Some(v) = face.iter().find(|v| **v as usize >= self.vertices) {
                let count = self.vertices;
                return shape(format!(
                    "face {f} refers to vertex {v}, but there are {count} vertices"
                ));
            }
        }
        Ok(())
    }
}

/// How frames are stored. The state of a run is f64; checkpoints keep it so whatever stands here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// Four bytes a number.
    F32,
    /// Eight bytes a number.
    F64,
}

impl Precision {
    /// As in scene files.
    pub fn name(self) -> &'static str {
        match self {
            Precision::F32 => "f32",
            Precision::F64 => "f64",
        }
    }

    /// Bytes of one number.
    pub fn bytes(self) -> usize {
        match self {
            Precision::F32 => 4,
            Precision::F64 => 8,
        }
    }
}

/// A named stretch of the run, shown as a label in the view.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Phase {
    /// When it begins, in seconds.
    pub start: f64,
    /// What happens in it.
    pub name: String,
}

/// A place where a run was taken up again with another scene.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Restart {
    /// Steps up to here were made with the scene before.
    pub step: u64,
    /// The same as a time, in seconds.
    pub time: f64,
    /// What is different in the scene from here on, in words.
    pub changes: Vec<String>,
    /// File in the folder with the scene up to here.
    pub scene_before: String,
}

/// What `run.json` says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunInfo {
    /// The scene's name.
    pub scene: String,
    /// Time step in seconds.
    pub dt: f64,
    /// Steps from one frame to the next.
    pub frame_interval: u32,
    /// Steps from one checkpoint that stays to the next; 0 where only the newest stay.
    #[serde(default)]
    pub checkpoint_interval: u64,
    /// How the frames are stored.
    pub precision: Precision,
    /// Named stretches, by growing start.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<Phase>,
    /// Where the run was taken up again with another scene, by growing step.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub restarts: Vec<Restart>,
    /// The bodies, in the order in which frames give their positions.
    pub bodies: Vec<BodyInfo>,
}

/// Anything with frames that can be looked at: a run folder, or arrays in memory.
pub trait Source {
    /// Title of the pictures.
    fn title(&self) -> &str;
    /// The bodies.
    fn bodies(&self) -> &[BodyInfo];
    /// Time of each frame in seconds.
    fn times(&self) -> &[f64];
    /// Named stretches of the run.
    fn phases(&self) -> &[Phase] {
        &[]
    }
    /// Positions of each body in frame `k`, in metres.
    fn frame(&self, k: usize) -> Result<Vec<Vec<DVec3>>>;
}

/// Frames held in memory.
#[derive(Clone, Debug, Default)]
pub struct Frames {
    /// Title of the pictures.
    pub title: String,
    /// The bodies.
    pub bodies: Vec<BodyInfo>,
    /// Time of each frame in seconds.
    pub times: Vec<f64>,
    /// Named stretches.
    pub phases: Vec<Phase>,
    /// Positions: frame, body, vertex. A still body may be left empty after frame 0.
    pub positions: Vec<Vec<Vec<DVec3>>>,
}

impl Source for Frames {
    fn title(&self) -> &str {
        &self.title
    }

    fn bodies(&self) -> &[BodyInfo] {
        &self.bodies
    }

    fn times(&self) -> &[f64] {
        &self.times
    }

    fn phases(&self) -> &[Phase] {
        &self.phases
    }

    fn frame(&self, k: usize) -> Result<Vec<Vec<DVec3>>> {
        let Some(frame) = self.positions.get(k) else {
            let count = self.positions.len();
            return Err(OutputError::Shape(format!("frame {k} of {count} does not exist")));
        };
        let mut frame = frame.clone();
        for (b, body) in self.bodies.iter().enumerate() {
            if !body.moving && frame[b].is_empty() {
                frame[b].clone_from(&self.positions[0][b]);
            }
        }
        Ok(frame)
    }
}
