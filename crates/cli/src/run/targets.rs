//! What probes were to reach, and what they reached.

use crate::console::count;
use gusset_output::{ProbeLimit, Table, readable};
use gusset_scene::{Probes, Statistic, Target};
use serde::Serialize;

/// The verdict on one target.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Verdict {
    pub(super) probe: String,
    /// `value`, `range` or `displacement`.
    pub(super) statistic: &'static str,
    /// First and last time that counts (s); null where open.
    pub(super) from: Option<f64>,
    pub(super) to: Option<f64>,
    /// In `unit`.
    pub(super) at_least: Option<f64>,
    pub(super) at_most: Option<f64>,
    /// The value nearest to its limit or farthest beyond it; null where the run does not reach so far.
    pub(super) value: Option<f64>,
    pub(super) unit: &'static str,
    /// Null where there is no value.
    pub(super) met: Option<bool>,
}

/// Judges all targets of the probes by what was measured.
pub(super) fn judge(probes: &Probes, table: &Table) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    let mut first = 1;
    for probe in &probes.list {
        let columns = probe.columns();
        let own = first..first + columns.len();
        first = own.end;
        if table.columns.len() < first {
            break;
        }
        for target in &probe.targets {
            let judged = target.judge(table.rows.iter().map(|row| (row[0], &row[own.clone()])));
            let finite = |t: f64| t.is_finite().then_some(t);
            verdicts.push(Verdict {
                probe: probe.name.clone(),
                statistic: statistic(target),
                from: finite(target.window[0]),
                to: finite(target.window[1]),
                at_least: target.limits.at_least,
                at_most: target.limits.at_most,
                value: judged.map(|judged| judged.value),
                unit: columns.first().map_or("", |column| column.unit),
                met: judged.map(|judged| judged.met),
            });
        }
    }
    verdicts
}

fn statistic(target: &Target) -> &'static str {
    match target.statistic {
        Statistic::Value => "value",
        Statistic::Range => "range",
        Statistic::Displacement => "displacement",
    }
}

/// Limits that can be drawn with the curves: those of the values themselves.
pub(super) fn limits(probes: &Probes) -> Vec<ProbeLimit> {
    let mut limits = Vec::new();
    for probe in &probes.list {
        for target in probe.targets.iter().filter(|t| t.statistic == Statistic::Value) {
            for value in [target.limits.at_least, target.limits.at_most].into_iter().flatten() {
                let of = |column: gusset_scene::Column| ProbeLimit {
                    column: column.to_string(),
                    window: target.window,
                    value,
                };
                limits.extend(probe.columns().into_iter().map(of));
            }
        }
    }
    limits
}

/// A table for people.
pub(super) fn lines(verdicts: &[Verdict]) -> Vec<String> {
    if verdicts.is_empty() {
        return Vec::new();
    }
    let mut rows = vec![["target", "found", "wanted", "when", ""].map(str::to_owned)];
    rows.extend(verdicts.iter().map(Verdict::row));
    let wide: Vec<usize> =
        (0..4).map(|c| rows.iter().map(|row| row[c].chars().count()).max().unwrap_or(0)).collect();
    let line = |row: &[String; 5]| {
        let [name, found, wanted, when, verdict] = row;
        let (a, b, c, d) = (wide[0], wide[1], wide[2], wide[3]);
        let line = format!("{name:a$}  {found:>b$}  {wanted:c$}  {when:d$}  {verdict}");
        line.trim_end().to_owned()
    };
    let mut lines: Vec<String> = rows.iter().map(line).collect();
    let missed = verdicts.iter().filter(|v| v.met == Some(false)).count();
    let open = verdicts.iter().filter(|v| v.met.is_none()).count();
    let met = verdicts.len() - missed - open;
    lines.push(match (missed, open) {
        (0, 0) => format!("{}, all met", count(met as u64, "target")),
        _ => format!(
            "{}: {met} met, {missed} missed, {open} not reached",
            count(verdicts.len() as u64, "target")
        ),
    });
    lines
}

impl Verdict {
    fn row(&self) -> [String; 5] {
        let numbers = [self.value, self.at_least, self.at_most];
        let most = numbers.into_iter().flatten().map(f64::abs).fold(0.0, f64::max);
        let (factor, unit) = readable(self.unit, most);
        let number = |x: f64| short(x * factor);
        let wanted = match (self.at_least, self.at_most) {
            (Some(least), Some(most)) => format!("{} to {}", number(least), number(most)),
            (Some(least), None) => format!("at least {}", number(least)),
            (None, Some(most)) => format!("at most {}", number(most)),
            (None, None) => "anything".to_owned(),
        };
        let when = match (self.from, self.to) {
            (Some(from), Some(to)) if from == to => format!("at {from} s"),
            (Some(from), Some(to)) => format!("{from} to {to} s"),
            (Some(from), None) => format!("from {from} s"),
            (None, Some(to)) => format!("to {to} s"),
            (None, None) => "always".to_owned(),
        };
        let name = match self.statistic {
            "value" => self.probe.clone(),
            other => format!("{other} of {}", self.probe),
        };
        let verdict = match self.met {
            Some(true) => "met",
            Some(false) => "MISSED",
            None => "not reached",
        };
        let with_unit = |text: String| format!("{text} {unit}").trim_end().to_owned();
        let found = self.value.map_or("-".to_owned(), |value| with_unit(number(value)));
        [name, found, with_unit(wanted), when, verdict.to_owned()]
    }
}

/// Four digits.
pub(crate) fn short(x: f64) -> String {
    let size = x.abs();
    if x == 0.0 || x.fract() == 0.0 && size < 1e6 {
        return format!("{x}");
    }
    if !(1e-3..1e6).contains(&size) {
        return format!("{x:.3e}");
    }
    let digits = (3.0 - size.log10().floor()).max(0.0) as usize;
    let text = format!("{x:.digits$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(value: Option<f64>, met: Option<bool>) -> Verdict {
        Verdict {
            probe: "neck width x".to_owned(),
            statistic: "value",
            from: Some(10.5),
            to: Some(10.5),
            at_least: None,
            at_most: Some(0.04),
            value,
            unit: "m",
            met,
        }
    }

    #[test]
    fn targets_read_well() {
        let range = Verdict {
            statistic: "range",
            from: Some(9.5),
            to: None,
            at_least: Some(1.0),
            at_most: None,
            unit: "",
            ..verdict(Some(0.5), Some(false))
        };
        let all = [verdict(Some(0.038_831_4), Some(true)), range, verdict(None, None)];
        assert_eq!(
            lines(&all),
            [
                "target                    found  wanted         when",
                "neck width x           38.83 mm  at most 40 mm  at 10.5 s   met",
                "range of neck width x       0.5  at least 1     from 9.5 s  MISSED",
                "neck width x                  -  at most 40 mm  at 10.5 s   not reached",
                "3 targets: 1 met, 1 missed, 1 not reached",
            ]
        );
        assert_eq!(lines(&all[..1])[2], "1 target, all met");
    }

    #[test]
    fn numbers_are_short() {
        let cases =
            [(0.0, "0"), (38.8314, "38.83"), (-0.5, "-0.5"), (1.2346e-9, "1.235e-9"), (40.0, "40")];
        for (x, text) in cases {
            assert_eq!(short(x), text);
        }
    }
}
