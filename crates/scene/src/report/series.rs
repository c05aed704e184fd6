//! Which numbers over time a report shows: names checked against what the scenes of the runs have.

use super::{ReportSeries, SeriesSource, ShownUnit};
use crate::config::{Amount, IntersectingName, SeriesConfig};
use crate::probe::si;
use crate::scene::Scene;
use crate::section::{Problems, Section};
use crate::suggest;
use gusset_solve::{DescentRecord, PairReport, StepRecord};
use gusset_units::Units;
use serde_json::Value;

/// Time before each moment that counts for the curve of a jitter (s).
const JITTER_WINDOW: f64 = 0.5;

/// What a series can be of: the scenes of the runs that show it.
pub(super) struct Scope<'a> {
    pub(super) scenes: Vec<&'a Scene>,
    pub(super) units: &'a Units,
}

/// Whether a name fits a pattern, in which `*` stands for anything.
pub(super) fn fits(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(after) = name.strip_prefix(start) else { return false };
    (0..=after.len()).filter(|k| after.is_char_boundary(*k)).any(|k| fits(rest, &after[k..]))
}

/// A series and its SI unit.
pub(super) fn series(
    config: SeriesConfig,
    section: &Section<'_>,
    scope: &Scope<'_>,
    problems: &mut Problems<'_>,
) -> Option<(ReportSeries, &'static str)> {
    let SeriesConfig { probe, minus, step, jitter, axis, window, intersecting, frames, label } =
        config;
    let given = [
        ("probe", probe.is_some()),
        ("step", step.is_some()),
        ("jitter", jitter.is_some()),
        ("intersecting", intersecting.is_some()),
    ];
    let count = given.iter().filter(|(_, given)| *given).count();
    if count != 1 {
        let message = format!(
            "{} needs one of `probe`, `step`, `jitter` and `intersecting`, found {}",
            section.what,
            if count == 0 { "none" } else { "several" }
        );
        problems.error(&section.span, message);
        return None;
    }
    for (key, needs, useless) in [
        ("minus", "probe", minus.is_some() && probe.is_none()),
        ("axis", "jitter", axis.is_some() && jitter.is_none()),
        ("window", "jitter", window.is_some() && jitter.is_none()),
    ] {
        if useless {
            let message = format!("`{key}` means nothing without `{needs}`");
            problems.error(&section.span_of(key), message);
            return None;
        }
    }
    let (source, unit) = if let Some(name) = probe {
        let unit = column(&name, "probe", section, scope, problems);
        if let Some(minus) = &minus {
            column(minus, "minus", section, scope, problems)?;
        }
        (SeriesSource::Probe { name, minus }, unit?)
    } else if let Some(path) = step {
        let unit = certificate(&path, section, problems)?;
        (SeriesSource::Step(path), unit)
    } else if let Some(body) = jitter {
        let bodies = || scope.scenes.iter().flat_map(|scene| &scene.model.world.bodies);
        if !bodies().any(|b| fits(&body, &b.name)) {
            let message = format!("no run has a body `{body}`");
            let known = suggest::help(&body, bodies().map(|b| b.name.as_str()));
            problems.error_help(&section.span_of("jitter"), message, known);
            return None;
        }
        let window = window.map_or(JITTER_WINDOW, |window| window.si(scope.units));
        if window.is_nan() || window <= 0.0 {
            let message = format!("`window` is {window} s; it must be above 0");
            problems.error(&section.span_of("window"), message);
            return None;
        }
        let axis = axis.map_or(2, |axis| axis as usize);
        (SeriesSource::Jitter { body, axis, window }, "m")
    } else {
        let source = match intersecting? {
            IntersectingName::Pairs => SeriesSource::IntersectingPairs,
            IntersectingName::Frames => SeriesSource::IntersectingFrames,
        };
        (source, "1")
    };
    Some((ReportSeries { source, frames, label }, unit))
}

/// The SI unit of the probe columns that fit a name. At least one of the scenes has one.
fn column(
    name: &str,
    key: &str,
    section: &Section<'_>,
    scope: &Scope<'_>,
    problems: &mut Problems<'_>,
) -> Option<&'static str> {
    let columns: Vec<_> = scope.scenes.iter().flat_map(|s| s.probes.columns()).collect();
    let found: Vec<_> = columns.iter().filter(|column| fits(name, &column.name)).collect();
    let Some(first) = found.first() else {
        let message = format!("no run has a probe `{name}`");
        let known = suggest::help(name, columns.iter().map(|column| column.name.as_str()));
        problems.error_help(&section.span_of(key), message, known);
        return None;
    };
    if let Some(other) = found.iter().find(|column| column.unit != first.unit) {
        let message = format!(
            "`{name}` takes in `{}` in {} and `{}` in {}",
            first.name, first.unit, other.name, other.unit
        );
        problems.error(&section.span_of(key), message);
        return None;
    }
    Some(first.unit)
}

/// The SI unit of a number of the step certificates.
fn certificate(
    path: &str,
    section: &Section<'_>,
    problems: &mut Problems<'_>,
) -> Option<&'static str> {
    let record = StepRecord {
        smallest_gap: Some(PairReport { pair: String::new(), gap: 0.0 }),
        descent: Some(Box::new(DescentRecord::default())),
        ..StepRecord::default()
    };
    let mut known = Vec::new();
    leaves(&serde_json::to_value(record).unwrap_or_default(), "", &mut known);
    if !known.iter().any(|name| name == path) {
        let message = format!("step certificates have no number `{path}`");
        let help = suggest::help(path, known.iter().map(String::as_str));
        problems.error_help(&section.span_of("step"), message, help);
        return None;
    }
    Some(match path {
        "time" => "s",
        "gradient" => "N",
        "smallest_gap.gap" | "descent.budget" | "descent.uncommitted" => "m",
        _ if path.starts_with("seconds.") => "s",
        _ => "1",
    })
}

/// Paths of all numbers.
fn leaves(value: &Value, path: &str, out: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                let below = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                leaves(value, &below, out);
            }
        }
        Value::Number(_) => out.push(path.to_owned()),
        _ => {}
    }
}

/// The unit to show numbers in that are in the SI unit `si_unit`.
pub(super) fn shown(
    unit: Option<&str>,
    si_unit: &str,
    section: &Section<'_>,
    problems: &mut Problems<'_>,
) -> Option<ShownUnit> {
    let Some(unit) = unit else {
        let name = if si_unit == "1" { String::new() } else { si_unit.to_owned() };
        return Some(ShownUnit { factor: 1.0, name });
    };
    match si(&Amount::Text(format!("1 {unit}")), si_unit, &Units::SI) {
        Ok(value) if value > 0.0 => Some(ShownUnit { factor: 1.0 / value, name: unit.to_owned() }),
        Ok(_) => None,
        Err(error) => {
            problems.error(&section.span_of("unit"), format!("`unit`: {error}"));
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_anything() {
        for (pattern, name, wanted) in [
            ("speed *", "speed 3", true),
            ("speed *", "speed", false),
            ("*", "", true),
            ("a*c*e", "abcde", true),
            ("a*c*e", "abcd", false),
            ("height 1", "height 10", false),
            ("\u{e4}*", "\u{e4}\u{f6}", true),
        ] {
            assert_eq!(fits(pattern, name), wanted, "{pattern} {name}");
        }
    }
}
