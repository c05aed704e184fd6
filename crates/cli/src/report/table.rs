//! The numbers of a report beside those that they are compared with.

use super::measure::Measured;
use super::series::{self, Found};
use crate::failure::Failure;
use crate::run::short;
use gusset_scene::{Report, ReportNumber, Wanted};
use serde::Serialize;
use std::path::PathBuf;

/// All tables, as `--json` prints them.
#[derive(Debug, Serialize)]
pub(super) struct Tables {
    pub(super) sections: Vec<SectionTable>,
    /// The page.
    pub(super) page: PathBuf,
}

/// The numbers of a section.
#[derive(Debug, Serialize)]
pub(super) struct SectionTable {
    pub(super) section: String,
    pub(super) numbers: Vec<Line>,
}

/// A number of one run.
#[derive(Debug, Serialize)]
pub(super) struct Line {
    pub(super) number: String,
    pub(super) run: String,
    /// Empty for counts and ratios.
    pub(super) unit: String,
    /// In `unit`, as everything here; null where the run doesn't have it.
    pub(super) value: Option<f64>,
    /// Whether what a time was asked of never happens.
    pub(super) never: bool,
    pub(super) reference: Option<f64>,
    /// Differences up to here are none.
    pub(super) within: Option<f64>,
    pub(super) at_least: Option<f64>,
    pub(super) at_most: Option<f64>,
    /// Whether the value is as the reference or the limits want it; null where nothing is wanted or known.
    pub(super) good: Option<bool>,
    pub(super) note: String,
}

/// The tables of all sections.
pub(super) fn tables(
    report: &Report,
    measured: &[Option<Measured>],
) -> Result<Vec<SectionTable>, Failure> {
    let mut tables = Vec::with_capacity(report.sections.len());
    for section in &report.sections {
        let mut numbers = Vec::new();
        for number in &section.numbers {
            for (run, wanted) in &number.wanted {
                let run = &section.runs[*run];
                numbers.push(line(number, &run.name, wanted, measured[run.scene].as_ref())?);
            }
        }
        tables.push(SectionTable { section: section.title.clone(), numbers });
    }
    Ok(tables)
}

fn line(
    number: &ReportNumber,
    run: &str,
    wanted: &Wanted,
    measured: Option<&Measured>,
) -> Result<Line, Failure> {
    let found = match measured {
        None => None,
        Some(measured) => {
            series::statistic(&number.series, number.statistic, number.window, measured)?
        }
    };
    let value = match found {
        Some(Found::Value(value)) => Some(value * number.unit.factor),
        Some(Found::Never) | None => None,
    };
    let Wanted { reference, within, at_least, at_most, note } = wanted.clone();
    let mut line = Line {
        number: number.name.clone(),
        run: run.to_owned(),
        unit: number.unit.name.clone(),
        value,
        never: found == Some(Found::Never),
        reference,
        within,
        at_least,
        at_most,
        good: None,
        note,
    };
    line.good = line.judge();
    Ok(line)
}

impl Line {
    fn judge(&self) -> Option<bool> {
        // What never happens is over at once, and comes after everything.
        if self.never {
            return self.at_most.is_some().then_some(self.at_least.is_none());
        }
        let value = self.value?;
        let near = self.reference.zip(self.within).map(|(r, within)| (value - r).abs() <= within);
        let above = self.at_least.map(|limit| value >= limit);
        let below = self.at_most.map(|limit| value <= limit);
        [near, above, below].into_iter().flatten().reduce(|a, b| a && b)
    }

    /// Ours minus the reference's.
    fn difference(&self) -> Option<f64> {
        Some(self.value? - self.reference?)
    }

    /// Cells: number, run, ours, the reference's, the difference, what is wanted, the verdict.
    pub(super) fn cells(&self) -> [String; 7] {
        let shown = |x: Option<f64>| x.map_or("-".to_owned(), short);
        let number = if self.unit.is_empty() {
            self.number.clone()
        } else {
            format!("{} [{}]", self.number, self.unit)
        };
        let difference = self.difference().map(|d| {
            let sign = if d > 0.0 { "+" } else { "" };
            format!("{sign}{}", short(round_like(d, self.reference)))
        });
        let verdict = match self.good {
            Some(true) => "as wanted",
            Some(false) => "NOT as wanted",
            None => "",
        };
        [
            number,
            self.run.clone(),
            if self.never { "never".to_owned() } else { shown(self.value) },
            self.reference.map_or(String::new(), short),
            difference.unwrap_or_default(),
            self.wanted(),
            verdict.to_owned(),
        ]
    }

    fn wanted(&self) -> String {
        let near = match (self.reference, self.within) {
            (Some(_), Some(within)) => format!("\u{b1} {}", short(within)),
            _ => String::new(),
        };
        [near, self.limits()].into_iter().filter(|s| !s.is_empty()).collect::<Vec<_>>().join(", ")
    }

    fn limits(&self) -> String {
        match (self.at_least, self.at_most) {
            (Some(least), Some(most)) => format!("{} to {}", short(least), short(most)),
            (Some(least), None) => format!("at least {}", short(least)),
            (None, Some(most)) => format!("at most {}", short(most)),
            (None, None) => String::new(),
        }
    }

    /// What is to be said: of every difference that counts, every limit that is missed, and every note.
    pub(super) fn sentence(&self, reference_name: &str) -> Option<String> {
        if self.value.is_none() && !self.never {
            return None;
        }
        let unit = if self.unit.is_empty() { String::new() } else { format!(" {}", self.unit) };
        let what = format!("{}, {}", self.number, self.run);
        let mut parts = Vec::new();
        match (self.value, self.reference) {
            (None, Some(reference)) if self.never => parts.push(format!(
                "{what}: never, where the {reference_name} has {}{unit}.",
                short(reference)
            )),
            (Some(value), Some(reference)) => {
                let counts = self.within.is_none_or(|within| (value - reference).abs() > within);
                if counts && value != reference {
                    parts.push(deviation(
                        &what,
                        value,
                        reference,
                        &unit,
                        reference_name,
                        self.within,
                    ));
                } else if !self.note.is_empty() {
                    parts.push(format!("{what}: {}{unit}, as the {reference_name}.", short(value)));
                }
            }
            (Some(value), None) if !self.note.is_empty() => {
                parts.push(format!("{what}: {}{unit}.", short(value)));
            }
            _ => {}
        }
        let value = self.value.unwrap_or(f64::NAN);
        let missed = self.at_least.is_some_and(|limit| value < limit)
            || self.at_most.is_some_and(|limit| value > limit);
        if missed {
            let limits = self.limits();
            parts.push(format!("{what}: {}{unit} where {limits}{unit} is wanted.", short(value)));
        }
        if !self.note.is_empty() {
            parts.push(self.note.clone());
        }
        (!parts.is_empty()).then(|| parts.join(" "))
    }
}

/// A difference has no more digits than what it is a difference from.
fn round_like(difference: f64, reference: Option<f64>) -> f64 {
    let size = reference.unwrap_or(0.0).abs().max(difference.abs());
    if size == 0.0 {
        return 0.0;
    }
    let step = 10_f64.powi(size.log10().floor() as i32 - 4);
    // Nothing has no sign.
    (difference / step).round() * step + 0.0
}

fn deviation(
    what: &str,
    value: f64,
    reference: f64,
    unit: &str,
    reference_name: &str,
    within: Option<f64>,
) -> String {
    let difference = value - reference;
    let direction = if difference > 0.0 { "more" } else { "less" };
    let percent = if reference == 0.0 {
        String::new()
    } else {
        format!(" ({} %)", short((1000.0 * difference / reference).abs().round() / 10.0))
    };
    let beyond = within.map_or(String::new(), |within| {
        format!(", beyond the {}{unit} that count as none", short(within))
    });
    format!(
        "{what}: {}{unit} where the {reference_name} has {}{unit}, {}{unit} {direction}{percent}{beyond}.",
        short(value),
        short(reference),
        short(round_like(difference, Some(reference)).abs())
    )
}

impl SectionTable {
    /// A table for people; nothing for a section without numbers.
    pub(super) fn lines(&self, reference: &str) -> Vec<String> {
        if self.numbers.is_empty() {
            return Vec::new();
        }
        let mut rows = vec![head(reference)];
        for (k, line) in self.numbers.iter().enumerate() {
            let mut cells = line.cells();
            if k > 0 && self.numbers[k - 1].number == line.number {
                cells[0].clear();
            }
            rows.push(cells);
        }
        let wide: [usize; 7] = std::array::from_fn(|c| {
            rows.iter().map(|row| row[c].chars().count()).max().unwrap_or(0)
        });
        let text = |row: &[String; 7]| {
            let [a, b, c, d, e, f, g] = row;
            let [wa, wb, wc, wd, we, wf, _] = wide;
            format!("{a:wa$}  {b:wb$}  {c:>wc$}  {d:>wd$}  {e:>we$}  {f:wf$}  {g}")
                .trim_end()
                .to_owned()
        };
        let mut lines = Vec::new();
        if !self.section.is_empty() {
            lines.push(self.section.clone());
        }
        lines.extend(rows.iter().map(text));
        lines.push(String::new());
        lines
    }
}

/// Heads of the columns.
pub(super) fn head(reference: &str) -> [String; 7] {
    ["", "run", "here", reference, "difference", "wanted", ""].map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(value: f64, reference: Option<f64>, within: Option<f64>, at_most: Option<f64>) -> Line {
        let mut line = Line {
            number: "height".to_owned(),
            run: "alm".to_owned(),
            unit: "cm".to_owned(),
            value: Some(value),
            never: false,
            reference,
            within,
            at_least: None,
            at_most,
            good: None,
            note: String::new(),
        };
        line.good = line.judge();
        line
    }

    #[test]
    fn deviations_are_said() {
        let near = of(0.1962, Some(0.196), Some(0.01), None);
        assert_eq!((near.good, near.sentence("article")), (Some(true), None));
        let far = of(0.25, Some(0.196), Some(0.01), None);
        assert_eq!(
            far.sentence("article").unwrap(),
            "height, alm: 0.25 cm where the article has 0.196 cm, 0.054 cm more (27.6 %), beyond the 0.01 cm that \
             count as none."
        );
        let missed = of(12.0, None, None, Some(10.0));
        assert_eq!(missed.good, Some(false));
        assert_eq!(
            missed.sentence("article").unwrap(),
            "height, alm: 12 cm where at most 10 cm is wanted."
        );
        assert_eq!(far.cells()[4], "+0.054");
    }
}
