//! A throw as the solver's model and settings.

use std::collections::BTreeMap;

use glam::DVec3;
use gusset_energy::{ContactParameters, Site, Terms, registry};
use gusset_mesh::{Body, Material, Mobility, Role, SlabShape, Topology, World};
use gusset_solve::{
    ContactSettings, LineSearch, Model, Settings, Solver, StepBoundMethod, Storage,
};
use gusset_system::Method as Linear;
use gusset_units::Units;
use toml::de::ValueDeserializer;

use crate::throw::{Method, Throw, ThrowError};

/// Newton ends on a smaller direction (m).
const TOLERANCE: f64 = 1e-10;
/// Most Newton iterations of a step.
const MAX_ITERATIONS: u32 = 59;
/// Share of the way to the wall that one iteration may use.
const SLACK: f64 = 0.9;

impl Throw {
    /// The solver, with the article's choices where its options leave one.
    pub(crate) fn solver(&self) -> Result<Solver, ThrowError> {
        let settings = Settings {
            dt: self.dt,
            tolerance: TOLERANCE,
            max_iterations: MAX_ITERATIONS,
            line_search: LineSearch::Decrease,
            max_subdivisions: 0,
            storage: Storage::F64,
            linear: Linear::Dense,
            stop_before_update: true,
            accept_exhausted: true,
            ..Settings::default()
        };
        Ok(Solver::new(self.model()?, settings)?)
    }

    fn model(&self) -> Result<Model, ThrowError> {
        let world = World::new(vec![self.ball(), self.slab()]);
        let (feasible, parameters) = self.contact();
        let mut terms = Terms::default();
        for kind in ["inertia", self.method.kind()] {
            let body = (kind == "inertia").then(|| &world.bodies[0]);
            let (units, contact) = (&Units::SI, Some(parameters));
            let site = Site {
                world: &world,
                body,
                units,
                gravity: DVec3::ZERO,
                contact,
                kind,
                name: None,
            };
            let row = registry().get(kind).expect("a built-in kind");
            let keys = ValueDeserializer::parse("{}").expect("an empty table");
            (row.build)(keys, &site, &mut terms)
                .map_err(|error| ThrowError::Build { kind, error })?;
        }
        let contact = ContactSettings {
            parameters,
            min_gap: 0.0,
            skin: parameters.dhat,
            step_bound: StepBoundMethod::SeparatingNormal,
            slack: SLACK,
            feasible,
        };
        Ok(Model { world, terms: terms.into_vec(), prescribed: Vec::new(), contact: Some(contact) })
    }

    /// Whether the ball has to stay out of the wall, and what the contact energy reads.
    fn contact(&self) -> (bool, ContactParameters) {
        let (feasible, stiffness, dhat) = match self.method {
            // A penalty has no range: rows only have to be there once the ball is inside.
            Method::Penalty { stiffness } => (false, stiffness, self.wall.thickness),
            Method::Barrier { stiffness, dhat } => (true, stiffness, dhat),
        };
        (
            feasible,
            ContactParameters {
                dhat,
                stiffness,
                friction: 0.0,
                friction_speed: 1.0,
                mollify: false,
            },
        )
    }

    /// One particle at the origin that flies along x.
    fn ball(&self) -> Body {
        Body {
            rest: vec![DVec3::ZERO],
            start: vec![DVec3::ZERO],
            velocity: vec![DVec3::X * self.speed],
            mass: vec![self.mass],
            mobility: vec![Mobility::Free],
            ..empty("ball", Role::Points)
        }
    }

    fn slab(&self) -> Body {
        let slab = SlabShape {
            point: DVec3::X * self.wall.face,
            normal: DVec3::NEG_X,
            thickness: self.wall.thickness,
        };
        Body { slab: Some(slab), ..empty("wall", Role::Slab) }
    }
}

impl Method {
    /// The kind of energy that it is.
    fn kind(&self) -> &'static str {
        match self {
            Self::Penalty { .. } => "penalty",
            Self::Barrier { .. } => "barrier",
        }
    }
}

fn empty(name: &str, role: Role) -> Body {
    Body {
        name: name.to_owned(),
        role,
        first: 0,
        rest: Vec::new(),
        start: Vec::new(),
        velocity: Vec::new(),
        mass: Vec::new(),
        radius: Vec::new(),
        mobility: Vec::new(),
        triangles: Vec::new(),
        tets: Vec::new(),
        topology: Topology::default(),
        groups: BTreeMap::new(),
        material: Material::default(),
        slab: None,
    }
}
