//! A scene file from text to everything that a run needs.

use crate::base::Bases;
use crate::build::{self, Built, Solver, Yard};
use crate::config::{
    Backend, ContactConfig, MaterialConfig, NamedMaterial, OutputConfig, Precision, Top,
};
use crate::defaults;
use crate::diagnostic::{Diagnostic, SceneError, Severity};
use crate::document;
use crate::probe::{Probes, probes};
use crate::require::{self, Ground, Requirement};
use crate::section::{Problems, Section, Value, kind_of};
use crate::source::{Source, Sources};
use glam::DVec3;
use gusset_energy::registry;
use gusset_mesh::{Body, MAX_VERTICES, World};
use gusset_solve::{Model, Prescribed, Settings, State};
use gusset_units::{Acceleration, Units};
use serde::Deserialize as _;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use toml::de::{DeTable, DeValue};

/// A scene that can run. SI units throughout.
pub struct Scene {
    /// What it is.
    pub title: String,
    /// Units of the file.
    pub units: Units,
    /// Gravity in m/s^2.
    pub gravity: DVec3,
    /// Simulated time in s.
    pub duration: f64,
    /// Number of steps to there.
    pub steps: u64,
    /// Bodies, energies, contact.
    pub model: Model,
    /// Positions and velocities at the start.
    pub state: State,
    /// How each step is solved by Newton's method.
    pub settings: Settings,
    /// How each step is solved by block descent, where the scene asks for it.
    pub descent: Option<gusset_vbd::Settings>,
    /// Named stretches of the task, in order.
    pub phases: Vec<Phase>,
    /// Where terms are evaluated.
    pub backend: Backend,
    /// What is written.
    pub output: OutputPlan,
    /// What is measured.
    pub probes: Probes,
    /// What must hold for the run to go on.
    pub requirements: Vec<Requirement>,
    /// sRGB colour of each body, where the scene gives one.
    pub colours: Vec<Option<[u8; 3]>>,
    /// What may surprise.
    pub warnings: Vec<Diagnostic>,
    /// The scene as TOML with all overrides applied: reading it again gives this scene.
    pub resolved: String,
}

impl std::fmt::Debug for Scene {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scene").field("title", &self.title).finish_non_exhaustive()
    }
}

/// A named stretch of the task, until the next one begins.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// What it is called.
    pub name: String,
    /// Start of its first step in s.
    pub start: f64,
}

/// What a run writes, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputPlan {
    /// Steps from one frame to the next.
    pub every: u64,
    /// Precision of the positions in frames.
    pub precision: Precision,
    /// Steps from one checkpoint to the next.
    pub checkpoint_every: u64,
}

/// Reads a scene file. `overrides` are `path=value` texts such as `solver.tolerance=1e-6` or
/// `body.cloth.translate=[0, 0, 1]`.
pub fn load(path: &Path, overrides: &[String]) -> Result<Scene, SceneError> {
    let name = path.display().to_string();
    let refuse = |message: String, help: &str| SceneError {
        diagnostics: vec![Diagnostic {
            severity: Severity::Error,
            message,
            source: Arc::new(Source { name: name.clone(), text: String::new() }),
            span: None,
            help: Some(help.to_owned()),
        }],
    };
    let text = match std::fs::read(path) {
        Ok(bytes) => String::from_utf8(bytes).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            refuse(format!("the scene file is not UTF-8 text (byte {at})"), "save it as UTF-8")
        })?,
        Err(error) => {
            return Err(refuse(
                format!("the scene file can't be read: {error}"),
                "give the path of a TOML file, like scenes/demo/drape.toml",
            ));
        }
    };
    let folder = path.parent().unwrap_or_else(|| Path::new(""));
    read(&name, &text, folder, overrides)
}

/// Reads a scene from text. `name` is what messages call it; mesh files are looked for in `folder`.
pub fn read(
    name: &str,
    text: &str,
    folder: &Path,
    overrides: &[String],
) -> Result<Scene, SceneError> {
    let mut sources = Sources::default();
    sources.push(name, text);
    let begins = document::add_overrides(&mut sources, overrides);
    let bases = Bases::read(name, text, folder, &mut sources);
    let mut problems = Problems::new(&sources);
    let mut root = document::parse(text, 0, &mut problems);
    let based = bases.merge(&mut root, &mut problems);
    for (begin, text) in begins.into_iter().zip(overrides) {
        document::apply(&mut root, text, begin, &mut problems);
    }
    // Nothing read from half a file means anything.
    if problems.errors() == 0 {
        let resolved = resolved(text, &root, folder, based || !overrides.is_empty());
        let title = Path::new(name).file_stem().map_or("scene".into(), |s| s.to_string_lossy());
        if let Some(parts) = assemble(root, text.len(), folder, &mut problems) {
            let warnings = problems.into_diagnostics();
            return Ok(Scene {
                title: parts.title.unwrap_or_else(|| title.into_owned()),
                warnings,
                resolved,
                ..parts.scene
            });
        }
    }
    Err(SceneError { diagnostics: problems.into_diagnostics() })
}

/// A scene but for what the file's name and text give.
struct Parts {
    title: Option<String>,
    scene: Scene,
}

/// Sections of a scene file besides the keys at its top.
pub(crate) const SECTIONS: [&str; 8] =
    ["body", "material", "energy", "contact", "solver", "output", "probe", "require"];

fn assemble(
    root: DeTable<'_>,
    length: usize,
    folder: &Path,
    problems: &mut Problems<'_>,
) -> Option<Parts> {
    // The top has no header: errors about what is missing stand at the beginning of the file.
    let mut top = Section { table: root, span: 0..0, what: "the scene".to_owned() };
    let has_body = top.has("body");
    let [bodies, materials, energies, probe_tables, requirements] =
        ["body", "material", "energy", "probe", "require"]
            .map(|key| tables(&mut top, key, problems));
    let [contact, solver, output] = ["contact", "solver", "output"].map(|key| {
        let value = top.take(key)?;
        Section::new(value, format!("[{key}]"), problems)
    });
    let units = units(&top);
    let config: Option<Top> = top.read_beside(&SECTIONS, problems);
    let dt = config.as_ref().map(|c| c.dt.si(&units)).filter(|dt| {
        if *dt <= 0.0 {
            let message = format!("`dt` is {dt} s; a time step must be above 0");
            problems.error(&top.span_of("dt"), message);
        }
        *dt > 0.0
    });
    let gravity = config.as_ref().map_or_else(defaults::gravity, |c| c.gravity);
    let gravity = DVec3::from_array(Acceleration::si_all(gravity, &units));

    let materials = named_materials(materials, problems);
    let names = body_names(&bodies, problems);
    if bodies.is_empty() && !has_body {
        let help = "add a table: [[body]] with `name` and `shape`".to_owned();
        problems.error_help(&(length..length), "the scene has no body", help);
    }
    let (solver, by_descent) = build::solver_kind(solver, problems);
    let built = build::bodies(bodies, &materials, &units, folder, problems);
    let world = world(&built, problems);
    let nothing = World::default();

    let contact = contact.and_then(|section| {
        let config: ContactConfig = section.read_partly(problems)?;
        let settings = build::contact(
            &config,
            &section,
            &units,
            dt.unwrap_or(1.0),
            gravity,
            world.as_ref().unwrap_or(&nothing),
            problems,
        );
        if let (Some(settings), Some(world)) = (&settings, &world) {
            build::spacing(settings, &section, world, problems);
        }
        Some((config, section, settings))
    });
    let contact_settings = contact.as_ref().and_then(|c| c.2);
    let yard = Yard {
        registry: registry(),
        world: world.as_ref(),
        names: &names,
        units: &units,
        gravity,
        contact: contact_settings.map(|c| c.parameters),
        // Block descent has laws of its own.
        law: contact.as_ref().filter(|_| !by_descent).map(|c| c.0.law.as_str()),
    };
    let contact_span = contact.as_ref().map_or(0..0, |c| c.1.span_of("law"));
    let terms = build::energies(energies, &built, &contact_span, &yard, problems);
    let probes = probes(probe_tables, world.as_ref(), &terms, &names, &units, gravity, problems);
    let ground = Ground {
        world: world.as_ref(),
        names: &names,
        probes: &probes,
        units: &units,
        dt: dt.unwrap_or(1.0),
    };
    let requirements = require::requirements(requirements, &ground, problems);
    let (descent, solver) = match solver {
        Some(section) if by_descent => {
            build::no_contact_terms(&terms, &section, problems);
            let margin = contact_settings.map(|c| c.parameters.dhat);
            let found = build::descent(&section, &units, dt.unwrap_or(1.0), margin, problems);
            (found, None)
        }
        other => (None, other),
    };
    let (descent, stretches) = descent.unzip();
    let descent = descent
        .map(|descent| gusset_vbd::Settings { record_energies: probes.want_energies(), ..descent });
    let solver = build::solver(solver, &units, dt.unwrap_or(1.0), problems);
    let output = output_plan(output, &units, dt, problems);
    let duration = config.as_ref().map_or(0.0, |c| c.duration.si(&units));
    let steps = dt.map_or(0, |dt| steps(duration, dt, &top, problems));

    if problems.errors() > 0 {
        return None;
    }
    let (config, world, solver, output) = (config?, world?, solver?, output?);
    let Solver { settings, backend, phases } = solver;
    let phases = stretches.unwrap_or(phases);
    let built: Vec<Built<'_>> = built.into_iter().flatten().collect();
    build::fast_motion(&built, gravity, settings.dt, problems);
    let prescribed = prescribed(&built, &world);
    let colours = built.iter().map(|b| b.colour).collect();
    let state = State::start(&world);
    let model = Model { world, terms, prescribed, contact: contact_settings };
    let scene = Scene {
        title: String::new(),
        units,
        gravity,
        duration,
        steps,
        model,
        state,
        settings,
        descent,
        phases,
        backend,
        output,
        probes,
        requirements,
        colours,
        warnings: Vec::new(),
        resolved: String::new(),
    };
    Some(Parts { title: config.title, scene })
}

/// The tables of a `[[key]]`.
pub(crate) fn tables<'i>(
    top: &mut Section<'i>,
    key: &'static str,
    problems: &mut Problems<'_>,
) -> Vec<Section<'i>> {
    let Some(value) = top.take(key) else { return Vec::new() };
    let span = value.span();
    match value.into_inner() {
        DeValue::Array(list) => list
            .into_iter()
            .filter_map(|value: Value<'i>| {
                let name = value
                    .get_ref()
                    .as_table()
                    .and_then(|t| t.get("name")?.get_ref().as_str())
                    .map_or_else(String::new, |name| format!(" `{name}`"));
                Section::new(value, format!("[[{key}]]{name}"), problems)
            })
            .collect(),
        other => {
            let message = format!("`{key}` must be a list of tables, found {}", kind_of(&other));
            problems.error_help(&span, message, format!("write its header as [[{key}]]"));
            Vec::new()
        }
    }
}

/// The one key of the top that everything else is read with.
#[derive(serde::Deserialize)]
struct Only {
    #[serde(default)]
    units: Units,
}

/// The units of the file, whatever else may be wrong with it.
pub(crate) fn units(top: &Section<'_>) -> Units {
    let mut only = DeTable::new();
    if let Some((key, value)) = top.table.get_key_value("units") {
        only.insert(key.clone(), value.clone());
    }
    Only::deserialize(top.deserializer(only)).map_or(Units::SI, |only| only.units)
}

fn named_materials(
    tables: Vec<Section<'_>>,
    problems: &mut Problems<'_>,
) -> BTreeMap<String, MaterialConfig> {
    let mut all = BTreeMap::new();
    for section in tables {
        let Some(material) = section.read::<NamedMaterial>(problems) else { continue };
        let constants = material.constants();
        for (key, message) in constants.senseless() {
            problems.error(&section.span_of(key), message);
        }
        let name = material.name;
        if all.insert(name.clone(), constants).is_some() {
            problems.error(&section.span_of("name"), format!("two materials are called `{name}`"));
        }
    }
    all
}

fn body_names(bodies: &[Section<'_>], problems: &mut Problems<'_>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for section in bodies {
        let Some(name) = section.table.get("name").and_then(|v| v.get_ref().as_str()) else {
            continue;
        };
        if names.iter().any(|n| n == name) {
            problems.error(&section.span_of("name"), format!("two bodies are called `{name}`"));
        }
        if name.is_empty() {
            problems.error(&section.span_of("name"), "a body's name can't be empty");
        }
        names.push(name.to_owned());
    }
    names
}

/// The world, where all bodies could be built.
fn world(built: &[Option<Built<'_>>], problems: &mut Problems<'_>) -> Option<World> {
    let bodies: Option<Vec<Body>> = built.iter().map(|b| Some(b.as_ref()?.body.clone())).collect();
    let bodies = bodies?;
    let count: u64 = bodies.iter().map(|b| b.vertex_count() as u64).sum();
    if count > MAX_VERTICES {
        let message =
            format!("all bodies together have {count} vertices; {MAX_VERTICES} are possible");
        problems.error(&(0..0), message);
        return None;
    }
    Some(World::new(bodies))
}

fn prescribed(built: &[Built<'_>], world: &World) -> Vec<Prescribed> {
    let mut all = Vec::new();
    for (b, body) in built.iter().zip(&world.bodies) {
        for moving in &b.moving {
            all.push(Prescribed {
                vertices: moving.vertices.iter().map(|v| v + body.first).collect(),
                start: moving.vertices.iter().map(|v| body.start[*v as usize]).collect(),
                path: moving.path.clone(),
            });
        }
    }
    all
}

fn output_plan(
    section: Option<Section<'_>>,
    units: &Units,
    dt: Option<f64>,
    problems: &mut Problems<'_>,
) -> Option<OutputPlan> {
    let errors = problems.errors();
    let section = section.unwrap_or_else(|| Section {
        table: DeTable::new(),
        span: 0..0,
        what: "[output]".to_owned(),
    });
    let config: OutputConfig = if section.table.is_empty() {
        OutputConfig::default()
    } else {
        section.read_partly(problems)?
    };
    let every = match (config.every, config.interval) {
        (Some(_), Some(_)) => {
            let message = "frames come `every` so many steps or at an `interval`, not both";
            problems.error(&section.span_of("interval"), message);
            0
        }
        (Some(every), None) => every,
        (None, None) => defaults::frame_every(),
        (None, Some(interval)) => {
            let (interval, dt) = (interval.si(units), dt.unwrap_or(1.0));
            let every = (interval / dt).round();
            if every < 1.0 || (every * dt - interval).abs() > 1e-6 * dt {
                let message =
                    format!("`interval` is {interval} s, not a whole number of steps of {dt} s");
                problems.error(&section.span_of("interval"), message);
            }
            every as u64
        }
    };
    for (key, value) in [("every", every), ("checkpoint_every", config.checkpoint_every)] {
        if value == 0 && problems.errors() == errors {
            problems.error(&section.span_of(key), format!("`{key}` must be 1 or more"));
        }
    }
    (problems.errors() == errors).then_some(OutputPlan {
        every,
        precision: config.precision,
        checkpoint_every: config.checkpoint_every,
    })
}

/// Number of steps to the end of the duration.
fn steps(duration: f64, dt: f64, top: &Section<'_>, problems: &mut Problems<'_>) -> u64 {
    let span = top.span_of("duration");
    if duration < 0.0 {
        problems.error(&span, format!("`duration` is {duration} s; it must be 0 or more"));
        return 0;
    }
    let exact = duration / dt;
    // Where a double no longer counts in ones.
    if exact > 9e15 {
        problems
            .error(&span, format!("`duration` is {exact:.1e} steps of {dt} s: too many to count"));
        return 0;
    }
    let whole = exact.round();
    let none = whole == 0.0 && duration > 0.0;
    if !none && (exact - whole).abs() <= 1e-6 * whole.max(1.0) {
        return whole as u64;
    }
    let steps = exact.ceil();
    let count = if exact < 1e-3 { format!("{exact:.1e}") } else { format!("{exact:.3}") };
    let message = format!(
        "`duration` is {count} steps of {dt} s; the run has {steps} and ends at {} s",
        steps * dt
    );
    problems.warn(&span, message, None);
    steps as u64
}

/// The scene as it is run: the file as it is where nothing changes it, else the table written back.
fn resolved(text: &str, root: &DeTable<'_>, folder: &Path, mut changed: bool) -> String {
    let mut table = document::plain(root);
    let bodies = table.get_mut("body").and_then(toml::Value::as_array_mut);
    for body in bodies.into_iter().flatten() {
        let path = body.get_mut("shape").and_then(|shape| shape.get_mut("path"));
        if let Some(toml::Value::String(path)) = path
            && let Ok(absolute) = std::path::absolute(folder.join(&*path))
        {
            // The copy lies elsewhere, where a relative path would lead nowhere.
            *path = absolute.display().to_string();
            changed = true;
        }
    }
    if !changed {
        return text.to_owned();
    }
    toml::to_string(&table).unwrap_or_else(|_| text.to_owned())
}
