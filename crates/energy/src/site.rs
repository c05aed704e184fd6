//! Where an energy is built: the body, the world around it, and where its terms go.

use crate::batch::Batch;
use crate::element::{Element, Fields};
use crate::term::Term;
use glam::DVec3;
use gusset_mesh::{Body, MaterialError, World};
use gusset_units::Units;

/// Why an energy can't be built.
#[derive(Debug)]
pub enum BuildError {
    /// The keys don't read; carries the place in the file.
    Keys(toml::de::Error),
    /// A value that reads but can't be used.
    Value {
        /// Key that has it; the scene points at it.
        key: &'static str,
        /// What was found and what would be right.
        message: String,
    },
    /// Something about the whole energy.
    Other(String),
}

impl BuildError {
    /// A value that can't be used, under its key.
    pub fn value(key: &'static str, message: impl Into<String>) -> Self {
        Self::Value { key, message: message.into() }
    }

    /// Something about the whole energy.
    pub fn other(message: impl Into<String>) -> Self {
        Self::Other(message.into())
    }
}

impl std::fmt::Display for BuildError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Keys(error) => f.write_str(error.message()),
            Self::Value { key, message } => write!(f, "`{key}`: {message}"),
            Self::Other(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for BuildError {}

impl From<MaterialError> for BuildError {
    fn from(error: MaterialError) -> Self {
        Self::Other(error.to_string())
    }
}

/// A value of a key in SI units, if it is finite and not negative.
pub fn non_negative(value: f64, key: &'static str, unit: &str) -> Result<f64, BuildError> {
    if value >= 0.0 && value.is_finite() {
        return Ok(value);
    }
    Err(BuildError::value(key, format!("is {value} {unit}; it must be 0 or more")))
}

/// What contact terms share, from the scene's `[contact]`; SI units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactParameters {
    /// Gap below which a row acts (m).
    pub dhat: f64,
    /// Barrier or penalty stiffness (N/m).
    pub stiffness: f64,
    /// Coulomb coefficient.
    pub friction: f64,
    /// Sliding speed below which friction is regularised (m/s).
    pub friction_speed: f64,
    /// Whether pairs of edges fade as they become parallel.
    pub mollify: bool,
}

/// Where an energy is built.
#[derive(Clone, Copy)]
pub struct Site<'a> {
    /// All bodies.
    pub world: &'a World,
    /// The body that the scene names; `None` for an energy of the whole world.
    pub body: Option<&'a Body>,
    /// Units of the scene's bare numbers.
    pub units: &'a Units,
    /// Gravity (m/s^2).
    pub gravity: DVec3,
    /// Contact parameters, where the scene has contact.
    pub contact: Option<ContactParameters>,
    /// The kind that is being built, for labels.
    pub kind: &'static str,
    /// What the scene calls this energy, for labels.
    pub name: Option<&'a str>,
}

impl<'a> Site<'a> {
    /// The body that the scene names.
    pub fn body(&self) -> Result<&'a Body, BuildError> {
        self.body.ok_or_else(|| {
            BuildError::other(format!(
                "`{}` acts on one body: give its name with `body = \"...\"`",
                self.kind
            ))
        })
    }

    /// Contact parameters; an error where the scene has no `[contact]`.
    pub fn contact(&self) -> Result<ContactParameters, BuildError> {
        self.contact.ok_or_else(|| {
            BuildError::other(format!(
                "`{}` needs the scene to have a `[contact]` table",
                self.kind
            ))
        })
    }

    /// "kind of `body`", or "kind `name` of `body`" where the energy has a name.
    pub fn label(&self) -> String {
        let name = self.name.map_or_else(String::new, |name| format!(" `{name}`"));
        match self.body {
            Some(body) => format!("{}{name} of `{}`", self.kind, body.name),
            None => format!("{}{name}", self.kind),
        }
    }

    /// A batch of stencils given by the body's own vertex indices.
    pub fn batch<E: Element<N>, const N: usize>(
        &self,
        stencils: impl IntoIterator<Item = ([u32; N], E::Params<f64>)>,
    ) -> Result<Batch<E, N>, BuildError> {
        let body = self.body()?;
        let count = body.rest.len() as u32;
        let mut checked = Vec::new();
        let mut flat = Vec::new();
        for (k, (vertices, params)) in stencils.into_iter().enumerate() {
            flat.clear();
            params.write(&mut flat);
            if let Some(bad) = flat.iter().position(|p| !p.is_finite()) {
                let mut names = Vec::new();
                E::Params::<f64>::names("", &mut names);
                return Err(BuildError::other(format!(
                    "stencil {k} of {} (vertices {vertices:?}) has {} = {}; it must be finite",
                    self.label(),
                    names[bad],
                    flat[bad]
                )));
            }
            if let Some(bad) = vertices.iter().find(|v| **v >= count) {
                return Err(BuildError::other(format!(
                    "stencil {k} of {} names vertex {bad}, but `{}` has {count} vertices",
                    self.label(),
                    body.name
                )));
            }
            checked.push((vertices.map(|v| v + body.first), params));
        }
        Ok(Batch::new(self.kind, self.label(), checked))
    }
}

/// Terms that a scene has built, in order.
#[derive(Default)]
pub struct Terms {
    terms: Vec<Box<dyn Term>>,
}

impl Terms {
    /// Appends a term.
    pub fn push(&mut self, term: impl Term + 'static) {
        self.terms.push(Box::new(term));
    }

    /// The terms.
    pub fn into_vec(self) -> Vec<Box<dyn Term>> {
        self.terms
    }

    /// Number of terms.
    pub fn len(&self) -> usize {
        self.terms.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }
}
