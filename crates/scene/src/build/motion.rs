//! Prescribed motion of vertices.

use crate::config::{Fixed, Move};
use crate::section::{Problems, Section};
use glam::DVec3;
use gusset_energy::{BuildError, Motion, Path, Selection};
use gusset_mesh::{Body, Mobility};
use gusset_units::{Units, Velocity};

/// Motion of some vertices of one body; local indices.
pub(crate) struct Moving {
    /// Which.
    pub(crate) vertices: Vec<u32>,
    /// How.
    pub(crate) path: Path,
}

/// Steady motion needs an end; this is beyond any run, and a power of two keeps `velocity * t` exact.
const LONG: f64 = (1_u64 << 30) as f64;

/// Sets who moves each vertex of `body`, and how.
pub(crate) fn mobility(
    body: &mut Body,
    fixed: Option<&Fixed>,
    moves: &[Move],
    units: &Units,
    section: &Section<'_>,
    problems: &mut Problems<'_>,
) -> Vec<Moving> {
    let count = body.vertex_count();
    body.mobility = vec![Mobility::Free; count];
    match fixed {
        None | Some(Fixed::All(false)) => {}
        Some(Fixed::All(true)) => body.mobility.fill(Mobility::Fixed),
        Some(Fixed::Some(selection)) => {
            for v in resolve(selection, body, units, "fixed", section, problems) {
                body.mobility[v as usize] = Mobility::Fixed;
            }
        }
    }
    let mut all = Vec::new();
    for (k, config) in moves.iter().enumerate() {
        let entry = entry(section, k);
        let vertices = resolve(&config.vertices, body, units, "vertices", &entry, problems);
        if let Some(v) = vertices.iter().find(|v| body.mobility[**v as usize] != Mobility::Free) {
            let already = match body.mobility[*v as usize] {
                Mobility::Kinematic => "moved by another entry of `moves`",
                _ => "`fixed`",
            };
            problems.error(
                &entry.span_of("vertices"),
                format!("vertex {v} of `{}` is {already} already", body.name),
            );
            continue;
        }
        let Some(path) = path(config, units, &entry, problems) else { continue };
        for &v in &vertices {
            body.mobility[v as usize] = Mobility::Kinematic;
        }
        let away = vertices.iter().find(|v| {
            let start = body.start[**v as usize];
            path.at(0.0, start).distance(start) > 1e-9 * (1.0 + start.length())
        });
        if let Some(v) = away {
            problems.warn(
                &entry.span_of("keys"),
                format!("vertex {v} of `{}` is not where its motion has it at time 0", body.name),
                "the first step takes it there; begin with a key at time 0 that moves nothing"
                    .to_owned(),
            );
        }
        all.push(Moving { vertices, path });
    }
    all
}

/// The table of `moves[k]`.
fn entry<'i>(section: &Section<'i>, k: usize) -> Section<'i> {
    let value = section.table.get("moves").and_then(|v| v.get_ref().as_array()?.get(k));
    let table = value.and_then(|v| v.get_ref().as_table()).cloned().unwrap_or_default();
    let span = value.map_or_else(|| section.span.clone(), toml::Spanned::span);
    Section { table, span, what: format!("`moves` of {}", section.what) }
}

fn path(
    config: &Move,
    units: &Units,
    entry: &Section<'_>,
    problems: &mut Problems<'_>,
) -> Option<Path> {
    match (&config.keys, config.velocity) {
        (Some(keys), None) => {
            let motion = Motion {
                keys: keys.clone(),
                interpolation: config.interpolation,
                axis: config.axis,
                pivot: config.pivot,
            };
            motion.path(units, "keys").map_err(|error| refuse(&error, entry, problems)).ok()
        }
        (None, Some(velocity)) => {
            let velocity = DVec3::from_array(Velocity::si_all(velocity, units));
            Some(Path::steady(velocity, LONG))
        }
        (Some(_), Some(_)) => {
            problems
                .error(&entry.span_of("velocity"), "a motion has `keys` or `velocity`, not both");
            None
        }
        (None, None) => {
            problems.error(&entry.span, format!("{} lacks `keys` (or `velocity`)", entry.what));
            None
        }
    }
}

/// The vertices of a selection; an error at `key` where it can't be.
pub(crate) fn resolve(
    selection: &Selection,
    body: &Body,
    units: &Units,
    key: &'static str,
    section: &Section<'_>,
    problems: &mut Problems<'_>,
) -> Vec<u32> {
    selection.resolve(body, units, key).unwrap_or_else(|error| {
        refuse(&error, section, problems);
        Vec::new()
    })
}

/// Records why something can't be built, at the key that it names.
pub(crate) fn refuse(error: &BuildError, section: &Section<'_>, problems: &mut Problems<'_>) {
    match error {
        BuildError::Keys(error) => {
            let span = error.span().unwrap_or_else(|| section.span.clone());
            problems.error(&span, error.message());
        }
        BuildError::Value { key, message } => {
            problems.error(&section.span_of(key), format!("`{key}`: {message}"));
        }
        BuildError::Other(message) => problems.error(&section.span, message),
    }
}
