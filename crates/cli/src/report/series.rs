//! Numbers over time of a run, and single numbers of these.

use super::measure::{Measured, inside};
use crate::failure::Failure;
use gusset_output::{Source as _, column_named, split_unit};
use gusset_scene::{ReportSeries, SeriesSource, SeriesStatistic};
use serde_json::Value;

/// A column over time, in SI.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Column {
    /// What tells it from the others of the run.
    pub(super) label: String,
    /// Time (s) and value.
    pub(super) points: Vec<(f64, f64)>,
}

/// The columns of a series in a run; none where the run doesn't have it.
pub(super) fn columns(series: &ReportSeries, run: &Measured) -> Result<Vec<Column>, Failure> {
    let mut columns = all_columns(series, run)?;
    if series.frames {
        for column in &mut columns {
            let mut frames = run.reader.times().iter().peekable();
            column.points.retain(|(time, _)| {
                while frames.next_if(|frame| !inside(**frame, [*time, f64::INFINITY])).is_some() {}
                frames.peek().is_some_and(|frame| inside(**frame, [*time, *time]))
            });
        }
    }
    Ok(columns)
}

fn all_columns(series: &ReportSeries, run: &Measured) -> Result<Vec<Column>, Failure> {
    let one = |points: Vec<(f64, f64)>| {
        let label = series.label.clone();
        if points.is_empty() { Vec::new() } else { vec![Column { label, points }] }
    };
    let frames = |of: &dyn Fn(usize) -> f64| {
        let findings = run.looks.iter().map(|look| of(look.findings));
        run.reader.times().iter().copied().zip(findings).collect()
    };
    Ok(match &series.source {
        SeriesSource::Probe { name, minus } => probe(name, minus.as_deref(), &series.label, run),
        SeriesSource::Step(path) => {
            let point = |step: &Value| Some((step.get("time")?.as_f64()?, number(step, path)?));
            one(run.steps.iter().filter_map(point).collect())
        }
        SeriesSource::Jitter { body, axis, window } => {
            let mut columns = Vec::new();
            for body in run.bodies(body) {
                let all = run.coordinates(body, *axis, [f64::NEG_INFINITY, f64::INFINITY])?;
                let name = &run.reader.bodies()[body].name;
                let label = if series.label.is_empty() { name } else { &series.label };
                columns.push(Column { label: label.clone(), points: sliding(&all, *window) });
            }
            columns
        }
        SeriesSource::IntersectingPairs => one(frames(&|findings| findings as f64)),
        SeriesSource::IntersectingFrames => one(frames(&|n| if n > 0 { 1.0 } else { 0.0 })),
    })
}

fn number(step: &Value, path: &str) -> Option<f64> {
    path.split('.').try_fold(step, |value, key| value.get(key))?.as_f64()
}

fn probe(name: &str, minus: Option<&str>, label: &str, run: &Measured) -> Vec<Column> {
    let table = &run.probes;
    let less = match minus.map(|minus| column_named(table, minus)) {
        None => None,
        Some(Some(column)) => Some(column),
        Some(None) => return Vec::new(),
    };
    let names = table.columns.iter().map(|column| split_unit(column).0);
    let taken = names.enumerate().skip(1).filter(|(_, column)| SeriesSource::takes(name, column));
    let taken: Vec<(usize, &str)> = taken.collect();
    let column = |(c, column): &(usize, &str)| {
        let value = |row: &Vec<f64>| row[*c] - less.map_or(0.0, |less| row[less]);
        Column {
            label: match (label, taken.len()) {
                (label, 1) => label.to_owned(),
                ("", _) => (*column).to_owned(),
                (label, _) => format!("{label} {column}"),
            },
            points: table.rows.iter().map(|row| (row[0], value(row))).collect(),
        }
    };
    taken.iter().map(column).collect()
}

/// The greatest standard deviation of a vertex over the time before each frame; frames before that time is over have none.
fn sliding(frames: &[(f64, Vec<f64>)], window: f64) -> Vec<(f64, f64)> {
    let Some(begin) = frames.first().map(|(time, _)| *time) else { return Vec::new() };
    let mut first = 0;
    let mut points = Vec::new();
    for (k, (time, _)) in frames.iter().enumerate() {
        while !inside(frames[first].0, [*time - window, *time]) {
            first += 1;
        }
        if inside(*time, [begin + window, f64::INFINITY]) {
            points.push((*time, deviation_of_vertices(&frames[first..=k])));
        }
    }
    points
}

/// The greatest standard deviation of a vertex.
fn deviation_of_vertices(frames: &[(f64, Vec<f64>)]) -> f64 {
    let count = frames.first().map_or(0, |(_, frame)| frame.len());
    (0..count).map(|v| deviation(frames.iter().map(|(_, frame)| frame[v]))).fold(f64::NAN, f64::max)
}

fn mean(values: impl Iterator<Item = f64> + Clone) -> f64 {
    values.clone().sum::<f64>() / values.count() as f64
}

/// Of all values, not of a sample.
fn deviation(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let middle = mean(values.clone());
    mean(values.map(|value| (value - middle).powi(2))).sqrt()
}

/// What is found of a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Found {
    /// In SI.
    Value(f64),
    /// The series is there, but what a time was asked of never happens.
    Never,
}

/// One number of a series; `None` where the run doesn't have it or doesn't reach so far.
pub(super) fn statistic(
    series: &ReportSeries,
    statistic: SeriesStatistic,
    window: [f64; 2],
    run: &Measured,
) -> Result<Option<Found>, Failure> {
    let end = run.reader.times().last().copied().unwrap_or(f64::NEG_INFINITY);
    if window[1].is_finite() && !inside(window[1], [f64::NEG_INFINITY, end]) {
        return Ok(None);
    }
    if let SeriesSource::Jitter { body, axis, .. } = &series.source {
        let mut most = f64::NAN;
        for body in run.bodies(body) {
            most = most.max(deviation_of_vertices(&run.coordinates(body, *axis, window)?));
        }
        return Ok(Some(most).filter(|most| most.is_finite()).map(Found::Value));
    }
    let columns = columns(series, run)?;
    let columns: Vec<Vec<(f64, f64)>> = columns
        .into_iter()
        .map(|column| {
            let known = |(t, v): &(f64, f64)| inside(*t, window) && !v.is_nan();
            column.points.into_iter().filter(known).collect::<Vec<_>>()
        })
        .filter(|points: &Vec<_>| !points.is_empty())
        .collect();
    let never = statistic.is_time() && !columns.is_empty();
    let found = of_columns(&columns, statistic).map(Found::Value);
    Ok(found.or(never.then_some(Found::Never)))
}

/// A number of one column, whose points are given.
type Of<'a> = &'a dyn Fn(&[(f64, f64)]) -> Option<f64>;
/// What a value may be asked.
type Test<'a> = &'a dyn Fn(f64) -> bool;

fn of_columns(columns: &[Vec<(f64, f64)>], statistic: SeriesStatistic) -> Option<f64> {
    use SeriesStatistic as S;
    let values = |points: &[(f64, f64)]| points.iter().map(|(_, v)| *v).collect::<Vec<f64>>();
    let least = |of: Of<'_>| columns.iter().filter_map(|points| of(points)).min_by(f64::total_cmp);
    let greatest =
        |of: Of<'_>| columns.iter().filter_map(|points| of(points)).max_by(f64::total_cmp);
    let low = |points: &[(f64, f64)]| values(points).into_iter().min_by(f64::total_cmp);
    let high = |points: &[(f64, f64)]| values(points).into_iter().max_by(f64::total_cmp);
    let first =
        |test: Test<'_>| least(&|points| points.iter().find(|(_, v)| test(*v)).map(|(t, _)| *t));
    let last = |test: Test<'_>| {
        greatest(&|points| points.iter().rfind(|(_, v)| test(*v)).map(|(t, _)| *t))
    };
    match statistic {
        S::Last => greatest(&|points| points.last().map(|(_, v)| *v)),
        S::Mean => {
            let means: Vec<f64> =
                columns.iter().map(|points| mean(values(points).into_iter())).collect();
            (!means.is_empty()).then(|| mean(means.into_iter()))
        }
        S::Min => least(&low),
        S::Max => greatest(&high),
        S::Sum => greatest(&|points| Some(values(points).iter().sum())),
        S::Range => greatest(&|points| Some(high(points)? - low(points)?)),
        S::Deviation => greatest(&|points| Some(deviation(values(points).into_iter()))),
        S::FirstBelow(level) => first(&|v| v < level),
        S::FirstAbove(level) => first(&|v| v > level),
        S::LastBelow(level) => last(&|v| v < level),
        S::LastAbove(level) => last(&|v| v > level),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use SeriesStatistic as S;

    #[test]
    fn statistics_are_what_they_say() {
        let columns =
            [vec![(0.0, 1.0), (1.0, -2.0), (2.0, 3.0)], vec![(0.0, 5.0), (1.0, 5.0), (2.0, 2.0)]];
        for (statistic, wanted) in [
            (S::Last, Some(3.0)),
            (S::Mean, Some(7.0 / 3.0)),
            (S::Min, Some(-2.0)),
            (S::Max, Some(5.0)),
            (S::Sum, Some(12.0)),
            (S::Range, Some(5.0)),
            (S::Deviation, Some((38.0_f64 / 9.0).sqrt())),
            (S::FirstBelow(0.0), Some(1.0)),
            (S::FirstAbove(2.5), Some(0.0)),
            (S::LastBelow(2.5), Some(2.0)),
            (S::LastAbove(4.0), Some(1.0)),
            (S::LastAbove(9.0), None),
        ] {
            let found = of_columns(&columns, statistic);
            let close = match (found, wanted) {
                (Some(a), Some(b)) => (a - b).abs() < 1e-12,
                (a, b) => a == b,
            };
            assert!(close, "{statistic:?}: {found:?}");
        }
        assert_eq!(of_columns(&[], S::Mean), None);
    }

    #[test]
    fn jitter_is_of_the_vertex_that_moves_most() {
        let frame = |k: u32| (f64::from(k) * 0.1, vec![1.0, f64::from(k % 2), 7.0]);
        let frames: Vec<_> = (0..11).map(frame).collect();
        assert_eq!(deviation_of_vertices(&frames[..10]), 0.5);
        let curve = sliding(&frames, 0.3);
        assert_eq!((curve.len(), curve[0].0), (8, frames[3].0));
        assert!(curve.iter().all(|(_, value)| *value == 0.5));
    }
}
