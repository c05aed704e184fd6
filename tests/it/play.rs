//! Scenes from text or file, stepped through the library as a user's program does.

use glam::DVec3;
use gusset_contact::{
    CollisionMesh, IntersectionCheck, IntersectionReport, PairGap, Search, intersections,
    smallest_gap,
};
use gusset_energy::{StepState, Term};
use gusset_scene::Scene;
use gusset_solve::{State, StepError, StepRecord, Stepper};
use std::path::{Path, PathBuf};

/// Gravity as in most cases: along -y.
pub(crate) const G: f64 = 9.81;

/// The folder `scenes/` of the checkout.
pub(crate) fn scenes() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("scenes")
}

/// A scene that must be readable.
#[track_caller]
pub(crate) fn read(text: &str) -> Scene {
    gusset_scene::read("case.toml", text, Path::new("."), &[])
        .unwrap_or_else(|error| panic!("{error}"))
}

/// A scene file with overrides.
#[track_caller]
pub(crate) fn load(name: &str, overrides: &[&str]) -> Scene {
    let overrides: Vec<String> = overrides.iter().map(|s| (*s).to_owned()).collect();
    gusset_scene::load(&scenes().join(name), &overrides).unwrap_or_else(|error| panic!("{error}"))
}

/// What is said of a scene that is refused, by its reader or by the check of its start.
#[track_caller]
pub(crate) fn refused(text: &str) -> String {
    match gusset_scene::read("case.toml", text, Path::new("."), &[]) {
        Err(error) => error.to_string(),
        Ok(scene) => {
            let start = scene.state.clone();
            let mut solver = scene.into_stepper().unwrap();
            solver.check_start(&start).expect_err("the start is accepted").to_string()
        }
    }
}

/// A `[[body]]` of triangles; `more` are further lines of its table.
pub(crate) fn surface(
    name: &str,
    vertices: &[[f64; 3]],
    triangles: &[[u32; 3]],
    more: &str,
) -> String {
    format!(
        "[[body]]\nname = \"{name}\"\n{more}\n[body.shape]\nkind = \"triangles\"\n\
         vertices = {vertices:?}\ntriangles = {triangles:?}\n\n"
    )
}

/// A scene under way.
pub(crate) struct Play {
    pub(crate) solver: Box<dyn Stepper>,
    pub(crate) state: State,
    pub(crate) mesh: CollisionMesh,
    pub(crate) records: Vec<StepRecord>,
}

impl Play {
    /// Checks the start of a scene.
    #[track_caller]
    pub(crate) fn new(scene: Scene) -> Self {
        let min_gap = scene.model.contact.map_or(0.0, |c| c.min_gap);
        let mesh = CollisionMesh::from_world(&scene.model.world, min_gap);
        let state = scene.state.clone();
        let mut solver = scene.into_stepper().unwrap();
        solver.check_start(&state).unwrap_or_else(|error| panic!("{error}"));
        Self { solver, state, mesh, records: Vec::new() }
    }

    /// Reads and checks a scene.
    #[track_caller]
    pub(crate) fn read(text: &str) -> Self {
        Self::new(read(text))
    }

    /// Makes a step, or says why it can't be made; the state is then the one before.
    pub(crate) fn try_step(&mut self) -> Result<&StepRecord, StepError> {
        let mut next = State::default();
        let record = self.solver.step(&self.state, &mut next)?;
        self.state = next;
        self.records.push(record);
        Ok(self.records.last().unwrap())
    }

    /// Makes a step.
    #[track_caller]
    pub(crate) fn step(&mut self) -> &StepRecord {
        match self.try_step() {
            Ok(_) => self.records.last().unwrap(),
            Err(error) => panic!("{error}"),
        }
    }

    /// Makes many.
    #[track_caller]
    pub(crate) fn steps(&mut self, count: usize) {
        for _ in 0..count {
            self.step();
        }
    }

    /// Positions of a body's vertices.
    pub(crate) fn x(&self, body: &str) -> &[DVec3] {
        &self.state.x[self.range(body)]
    }

    /// Velocities of a body's vertices.
    pub(crate) fn v(&self, body: &str) -> &[DVec3] {
        &self.state.v[self.range(body)]
    }

    fn range(&self, body: &str) -> std::ops::Range<usize> {
        self.solver.model().world.body(body).unwrap().range()
    }

    /// What the independent checker finds.
    pub(crate) fn intersections(&self, search: Search) -> IntersectionReport {
        let check = IntersectionCheck { search, fixed: false };
        intersections(&self.mesh, &self.state.x, &check)
    }

    /// The smallest gap of all pairs.
    pub(crate) fn gap(&self) -> PairGap {
        smallest_gap(&self.mesh, &self.state.x).unwrap()
    }

    /// Whether the state is as every accepted one has to be.
    #[track_caller]
    pub(crate) fn assert_sound(&self) {
        let report = self.intersections(Search::Sweep);
        assert!(report.is_clean(), "{}", report.describe(&self.mesh, 5));
        let gap = self.gap();
        assert!(gap.gap > 0.0, "{}: {}", self.mesh.describe(gap.pair), gap.gap);
    }
}

/// A term by its kind.
pub(crate) fn term<'a>(terms: &'a [Box<dyn Term>], kind: &str) -> &'a dyn Term {
    &**terms.iter().find(|t| t.kind() == kind).unwrap_or_else(|| panic!("there is no {kind}"))
}

/// Energy of a term [J] and its force on every vertex [N], for a body that stands still at `x`.
pub(crate) fn forces(term: &dyn Term, x: &[DVec3]) -> (f64, Vec<DVec3>) {
    let still = vec![DVec3::ZERO; x.len()];
    let at = StepState { x, x_start: x, v_start: &still, dt: 0.01 };
    let (gradient, energy) = gradient(term, &at);
    (energy, gradient.into_iter().map(|g| -g).collect())
}

/// Gradient of a term on every vertex [N], and its energy [J].
pub(crate) fn gradient(term: &dyn Term, at: &StepState<'_>) -> (Vec<DVec3>, f64) {
    let mut local = gusset_energy::Local::default();
    local.eval(term, at, gusset_energy::Want::Gradient);
    let mut sum = vec![DVec3::ZERO; at.x.len()];
    for (v, g) in term.stencils().iter().zip(local.gradient.chunks(3)) {
        sum[*v as usize] += DVec3::from_slice(g);
    }
    let mut energies = Vec::new();
    term.energy(at, &mut energies);
    (sum, energies.iter().sum())
}
