//! Conditions without which a run doesn't go on: `[[require]]`.

use crate::build::resolve;
use crate::config::{Axis, RequireConfig};
use crate::probe::{Limits, Probes, limits};
use crate::section::{Problems, Section};
use crate::suggest;
use glam::DVec3;
use gusset_mesh::World;
use gusset_units::Units;
use std::ops::Range;

/// A condition that must hold at the end of a step.
#[derive(Clone, Debug)]
pub struct Requirement {
    /// What it is called.
    pub name: String,
    /// The number of the step at whose end it must hold.
    pub step: u64,
    /// When that is (s).
    pub time: f64,
    condition: Condition,
}

#[derive(Clone, Debug)]
enum Condition {
    /// Every column of a probe, by their places among all columns, is inside the limits.
    Probe { name: String, columns: Range<usize>, unit: &'static str, limits: Limits },
    /// Vertices of each column, lowest first, rise by more than `by` (m) along an axis.
    Rising { columns: Vec<Vec<u32>>, axis: usize, by: f64 },
}

/// Columns that are named in a message.
const SHOWN: usize = 8;

impl Requirement {
    /// What is wrong where it doesn't hold, for positions `x` (m) and the probes' `row` without its time.
    pub fn check(&self, x: &[DVec3], row: &[f64], world: &World) -> Result<(), String> {
        let wrong = match &self.condition {
            Condition::Probe { name, columns, unit, limits } => {
                let bad = row[columns.clone()].iter().find(|value| !limits.hold(**value));
                bad.map(|value| format!("`{name}` is {value} {unit}; it must be {limits} {unit}"))
            }
            Condition::Rising { columns, axis, by } => falling(columns, *axis, *by, x, world),
        };
        let Some(wrong) = wrong else { return Ok(()) };
        Err(format!("`{}` does not hold at t = {:.4} s: {wrong}", self.name, self.time))
    }
}

/// Which columns don't rise, and where each of them first falls.
fn falling(
    columns: &[Vec<u32>],
    axis: usize,
    by: f64,
    x: &[DVec3],
    world: &World,
) -> Option<String> {
    let height = |v: u32| x[v as usize][axis];
    let falls = |column: &[u32]| {
        let pair = column.windows(2).find(|p| height(p[1]) - height(p[0]) <= by)?;
        Some((pair[0], pair[1]))
    };
    let bad: Vec<(usize, (u32, u32))> =
        (0..).zip(columns).filter_map(|(k, column)| Some((k, falls(column)?))).collect();
    if bad.is_empty() {
        return None;
    }
    let axis = ["x", "y", "z"][axis];
    let count = format!("{} of {} columns do not rise along {axis}", bad.len(), columns.len());
    let mut said: Vec<String> = bad
        .iter()
        .take(SHOWN)
        .map(|(k, (low, high))| {
            let rise = (height(*high) - height(*low)) * 1e3;
            format!(
                "column {k} ({} is {rise:.3} mm above {})",
                world.describe(*high),
                world.describe(*low)
            )
        })
        .collect();
    let rest: Vec<String> = bad.iter().skip(SHOWN).map(|(k, _)| k.to_string()).collect();
    if !rest.is_empty() {
        said.push(format!("columns {}", rest.join(", ")));
    }
    Some(format!("{count}: {}", said.join(", ")))
}

/// What a requirement is built against.
pub(crate) struct Ground<'a> {
    pub(crate) world: Option<&'a World>,
    pub(crate) names: &'a [String],
    pub(crate) probes: &'a Probes,
    pub(crate) units: &'a Units,
    /// Length of a step (s).
    pub(crate) dt: f64,
}

/// Builds the requirements of a scene.
pub(crate) fn requirements(
    tables: Vec<Section<'_>>,
    ground: &Ground<'_>,
    problems: &mut Problems<'_>,
) -> Vec<Requirement> {
    tables.into_iter().filter_map(|section| requirement(&section, ground, problems)).collect()
}

fn requirement(
    section: &Section<'_>,
    ground: &Ground<'_>,
    problems: &mut Problems<'_>,
) -> Option<Requirement> {
    let config: RequireConfig = section.read(problems)?;
    let time = config.at.si(ground.units);
    let step = (time / ground.dt).round();
    if step < 1.0 {
        let message = format!("`at` is {time} s; the first step ends at {} s", ground.dt);
        problems.error(&section.span_of("at"), message);
        return None;
    }
    let condition = match (&config.probe, config.rising.is_empty()) {
        (Some(probe), true) => of_probe(probe, &config, section, ground, problems),
        (None, false) => rising(&config, section, ground, problems),
        _ => {
            let message = format!("{} needs either a `probe` or what is `rising`", section.what);
            problems.error(&section.span, message);
            None
        }
    };
    Some(Requirement { name: config.name, step: step as u64, time, condition: condition? })
}

fn of_probe(
    name: &str,
    config: &RequireConfig,
    section: &Section<'_>,
    ground: &Ground<'_>,
    problems: &mut Problems<'_>,
) -> Option<Condition> {
    for key in ["body", "axis", "by"].into_iter().filter(|key| section.has(key)) {
        let message = format!("`{key}` means nothing beside `probe`");
        problems.error(&section.span_of(key), message);
    }
    let mut first = 0;
    for probe in &ground.probes.list {
        let columns = probe.columns();
        if probe.name == name {
            let unit = columns[0].unit;
            let amounts = [("at_least", &config.at_least), ("at_most", &config.at_most)];
            let limits = limits(amounts, unit, section, ground.units, problems)?;
            let columns = first..first + columns.len();
            return Some(Condition::Probe { name: name.to_owned(), columns, unit, limits });
        }
        first += columns.len();
    }
    // Where some body is broken, probes are too; that has been said.
    ground.world?;
    let known = ground.probes.list.iter().map(|p| p.name.as_str());
    let message = format!("there is no probe `{name}`");
    problems.error_help(&section.span_of("probe"), message, suggest::help(name, known));
    None
}

fn rising(
    config: &RequireConfig,
    section: &Section<'_>,
    ground: &Ground<'_>,
    problems: &mut Problems<'_>,
) -> Option<Condition> {
    for key in ["at_least", "at_most"].into_iter().filter(|key| section.has(key)) {
        let message = format!("`{key}` means nothing beside `rising`; `by` says how much");
        problems.error(&section.span_of(key), message);
    }
    let Some(name) = &config.body else {
        problems.error(&section.span_of("rising"), "`rising` needs a `body`");
        return None;
    };
    if !ground.names.contains(name) {
        let help = suggest::help(name, ground.names.iter().map(String::as_str));
        problems.error_help(&section.span_of("body"), format!("there is no body `{name}`"), help);
        return None;
    }
    let body = ground.world?.body(name)?;
    let levels: Vec<Vec<u32>> = config
        .rising
        .iter()
        .map(|s| resolve(s, body, ground.units, "rising", section, problems))
        .collect();
    let count = levels[0].len();
    if levels.len() < 2 || count == 0 || levels.iter().any(|level| level.len() != count) {
        let found: Vec<String> = levels.iter().map(|level| level.len().to_string()).collect();
        let message = format!(
            "`rising` has selections of {} vertices; it needs two or more with as many each",
            found.join(", ")
        );
        problems.error(&section.span_of("rising"), message);
        return None;
    }
    let column = |k: usize| levels.iter().map(|level| level[k] + body.first).collect();
    Some(Condition::Rising {
        columns: (0..count).map(column).collect(),
        axis: config.axis.unwrap_or(Axis::Z) as usize,
        by: config.by.map_or(0.0, |by| by.si(ground.units)),
    })
}
