//! What a probe is to reach, judged at the end of a run.

use super::Probe;
use crate::config::{Amount, StatisticName, TargetConfig};
use crate::section::{Problems, Section, Value};
use glam::DVec3;
use gusset_units::{Energy, Force, Length, UnitError, Units, Velocity};
use toml::de::DeValue;

/// What of a probe's values counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statistic {
    /// Each of them.
    Value,
    /// Greatest minus least over the time, of each column.
    Range,
    /// Greatest distance from where it was at the beginning of the time, of each three columns.
    Displacement,
}

/// From where to where values are right, in the SI unit of the probe.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limits {
    /// Least value.
    pub at_least: Option<f64>,
    /// Greatest value.
    pub at_most: Option<f64>,
}

impl Limits {
    /// Whether a value is right.
    pub fn hold(&self, value: f64) -> bool {
        self.excess(value) <= 0.0
    }

    /// By how much a value is beyond the limit that is nearest or farthest passed; negative inside.
    fn excess(&self, value: f64) -> f64 {
        let below = self.at_least.map_or(f64::NEG_INFINITY, |limit| limit - value);
        let above = self.at_most.map_or(f64::NEG_INFINITY, |limit| value - limit);
        below.max(above)
    }
}

impl std::fmt::Display for Limits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.at_least, self.at_most) {
            (Some(least), Some(most)) => write!(f, "{least} to {most}"),
            (Some(least), None) => write!(f, "at least {least}"),
            (None, Some(most)) => write!(f, "at most {most}"),
            (None, None) => f.write_str("anything"),
        }
    }
}

/// What a probe is to reach.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target {
    /// First and last time that counts (s).
    pub window: [f64; 2],
    /// What counts.
    pub statistic: Statistic,
    /// What is right.
    pub limits: Limits,
}

/// The verdict on a target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judged {
    /// The value that comes nearest to its limit or passes it farthest, in the SI unit of the probe.
    pub value: f64,
    /// Whether it is right.
    pub met: bool,
}

/// Times of steps are products with a rounding; no step is as short as this (s).
const SLACK: f64 = 1e-9;

impl Target {
    /// Judges the probe's columns at times (s) that rise; `None` where the run doesn't reach so far or nothing was
    /// measured.
    pub fn judge<'a>(&self, rows: impl IntoIterator<Item = (f64, &'a [f64])>) -> Option<Judged> {
        let [first, last] = [self.window[0] - SLACK, self.window[1] + SLACK];
        let mut inside = Vec::new();
        let mut end = f64::NEG_INFINITY;
        for (time, row) in rows {
            end = end.max(time);
            if first <= time && time <= last {
                inside.push(row);
            }
        }
        let whole = self.window[1].is_infinite() || end >= self.window[1] - SLACK;
        if !whole {
            return None;
        }
        let values: Vec<f64> = match self.statistic {
            Statistic::Value => inside.iter().flat_map(|row| row.iter().copied()).collect(),
            Statistic::Range => {
                let columns = inside.first()?.len();
                let range = |c: usize| {
                    let column = inside.iter().map(|row| row[c]);
                    column.clone().fold(f64::NEG_INFINITY, f64::max)
                        - column.fold(f64::INFINITY, f64::min)
                };
                (0..columns).map(range).collect()
            }
            Statistic::Displacement => {
                let points = |row: &[f64]| -> Vec<DVec3> {
                    row.as_chunks::<3>().0.iter().map(|p| DVec3::from_array(*p)).collect()
                };
                let from = points(inside.first()?);
                let moved = |row: &&[f64]| {
                    let steps = points(row).into_iter().zip(&from).map(|(p, q)| p.distance(*q));
                    steps.collect::<Vec<_>>()
                };
                inside.iter().flat_map(moved).collect()
            }
        };
        // Unknown values, such as the gap of bodies far apart, say nothing.
        let known = values.into_iter().filter(|v| !v.is_nan());
        let worst =
            known.max_by(|a, b| self.limits.excess(*a).total_cmp(&self.limits.excess(*b)))?;
        Some(Judged { value: worst, met: self.limits.hold(worst) })
    }
}

/// Reads the `target` of a probe: one table, or a list of them.
pub(super) fn read(
    value: Value<'_>,
    probe: &Probe,
    units: &Units,
    problems: &mut Problems<'_>,
) -> Vec<Target> {
    let what = format!("the target of [[probe]] `{}`", probe.name);
    let span = value.span();
    let list = match value.into_inner() {
        DeValue::Array(list) => list.into_iter().collect(),
        other => vec![toml::Spanned::new(span, other)],
    };
    let mut targets = Vec::new();
    for value in list {
        let Some(section) = Section::new(value, what.clone(), problems) else { continue };
        let Some(config) = section.read::<TargetConfig>(problems) else { continue };
        targets.extend(target(&config, &section, probe, units, problems));
    }
    targets
}

fn target(
    config: &TargetConfig,
    section: &Section<'_>,
    probe: &Probe,
    units: &Units,
    problems: &mut Problems<'_>,
) -> Option<Target> {
    let time = |t: gusset_units::Time| t.si(units);
    let window = match (config.at, config.from, config.to) {
        (Some(at), None, None) => [time(at); 2],
        (Some(_), ..) => {
            let message = "give either `at`, or `from` and `to`";
            problems.error(&section.span_of("at"), message);
            return None;
        }
        (None, from, to) => [from.map_or(f64::NEG_INFINITY, time), to.map_or(f64::INFINITY, time)],
    };
    if window[0] > window[1] {
        let message = format!("it ends at {} s, before it begins at {} s", window[1], window[0]);
        problems.error(&section.span_of("to"), message);
        return None;
    }
    let columns = probe.columns();
    let statistic = match config.statistic {
        StatisticName::Value => Statistic::Value,
        StatisticName::Range => Statistic::Range,
        StatisticName::Displacement if columns.len().is_multiple_of(3) => Statistic::Displacement,
        StatisticName::Displacement => {
            let message = format!(
                "a displacement is of positions, three columns each; `{}` has {}",
                probe.name,
                columns.len()
            );
            let help = "a probe of kind `positions` has them".to_owned();
            problems.error_help(&section.span_of("statistic"), message, help);
            return None;
        }
    };
    let amounts = [("at_least", &config.at_least), ("at_most", &config.at_most)];
    let limits = limits(amounts, columns[0].unit, section, units, problems)?;
    Some(Target { window, statistic, limits })
}

/// Limits of something that is measured in the SI unit `unit`.
pub(crate) fn limits(
    amounts: [(&str, &Option<Amount>); 2],
    unit: &str,
    section: &Section<'_>,
    units: &Units,
    problems: &mut Problems<'_>,
) -> Option<Limits> {
    if amounts.iter().all(|(_, amount)| amount.is_none()) {
        let message = format!("{} has no limit", section.what);
        let help = "give `at_least`, `at_most` or both".to_owned();
        problems.error_help(&section.span, message, help);
        return None;
    }
    let mut read = |(key, amount): (&str, &Option<Amount>)| match amount {
        None => Some(None),
        Some(amount) => match si(amount, unit, units) {
            Ok(value) if value.is_finite() => Some(Some(value)),
            Ok(value) => {
                problems.error(&section.span_of(key), format!("`{key}` is {value}"));
                None
            }
            Err(error) => {
                problems.error(&section.span_of(key), format!("`{key}`: {error}"));
                None
            }
        },
    };
    let [at_least, at_most] = amounts.map(&mut read);
    Some(Limits { at_least: at_least?, at_most: at_most? })
}

/// An amount in the SI unit of what a probe measures.
pub(crate) fn si(amount: &Amount, unit: &str, units: &Units) -> Result<f64, UnitError> {
    let text = match amount {
        Amount::Number(value) => {
            let (mass, length, time) = match unit {
                "m" => (0, 1, 0),
                "m/s" => (0, 1, -1),
                "s" => (0, 0, 1),
                "N" => (1, 1, -2),
                "J" => (1, 2, -2),
                "kg m/s" => (1, 1, -1),
                "kg m^2/s" => (1, 2, -1),
                // Degrees, counts, ratios.
                _ => (0, 0, 0),
            };
            return Ok(units.to_si(*value, mass, length, time));
        }
        Amount::Text(text) => text,
    };
    Ok(match unit {
        "m" => text.parse::<Length>()?.si(units),
        "m/s" => text.parse::<Velocity>()?.si(units),
        "s" => text.parse::<gusset_units::Time>()?.si(units),
        "N" => text.parse::<Force>()?.si(units),
        "J" => text.parse::<Energy>()?.si(units),
        "kg m/s" => text.parse::<gusset_units::Quantity<1, 1, -1>>()?.si(units),
        "kg m^2/s" => text.parse::<gusset_units::Quantity<1, 2, -1>>()?.si(units),
        "deg" => text
            .trim_end()
            .strip_suffix("deg")
            .unwrap_or(text)
            .parse::<gusset_units::Number>()?
            .si(units),
        _ => text.parse::<gusset_units::Number>()?.si(units),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: [(f64, [f64; 3]); 4] = [
        (0.0, [9.0, 9.0, 9.0]),
        (1.0, [1.0, 0.0, 0.0]),
        (2.0, [1.0, 0.5, f64::NAN]),
        (3.0, [1.0, 3.0, 4.0]),
    ];

    fn judge(window: [f64; 2], statistic: Statistic, limits: [Option<f64>; 2]) -> Option<Judged> {
        let limits = Limits { at_least: limits[0], at_most: limits[1] };
        let rows = ROWS.iter().map(|(t, row)| (*t, &row[..]));
        Target { window, statistic, limits }.judge(rows)
    }

    #[test]
    fn the_worst_value_counts() {
        let all = [1.0, f64::INFINITY];
        let most = judge(all, Statistic::Value, [None, Some(4.5)]).unwrap();
        assert_eq!(most, Judged { value: 4.0, met: true });
        let least = judge(all, Statistic::Value, [Some(0.25), Some(9.0)]).unwrap();
        assert_eq!(least, Judged { value: 0.0, met: false });
        let at = judge([3.0, 3.0], Statistic::Value, [Some(1.0), None]).unwrap();
        assert_eq!(at, Judged { value: 1.0, met: true });
    }

    #[test]
    fn ranges_and_displacements_are_over_time() {
        let range = judge([1.0, 3.0], Statistic::Range, [None, Some(3.9)]).unwrap();
        assert_eq!(range, Judged { value: 4.0, met: false });
        let moved = judge([1.0, 3.0], Statistic::Displacement, [None, Some(5.0)]).unwrap();
        assert_eq!(moved, Judged { value: 5.0, met: true });
    }

    #[test]
    fn what_a_run_does_not_reach_has_no_verdict() {
        assert_eq!(judge([1.0, 3.5], Statistic::Value, [None, Some(5.0)]), None);
        assert_eq!(judge([0.4, 0.6], Statistic::Value, [None, Some(5.0)]), None);
        let nothing: [(f64, &[f64]); 0] = [];
        let limits = Limits { at_least: None, at_most: Some(1.0) };
        let window = [f64::NEG_INFINITY, f64::INFINITY];
        assert_eq!(Target { window, statistic: Statistic::Range, limits }.judge(nothing), None);
    }
}
