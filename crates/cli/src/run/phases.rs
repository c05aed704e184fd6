//! What each phase of a run amounts to.

use gusset_scene::Phase;
use serde::Serialize;

/// Sums over the steps of one phase.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(super) struct PhaseTotals {
    pub(super) name: String,
    /// Start of its first step (s).
    pub(super) start: f64,
    pub(super) steps: u64,
    /// Iterations of accepted attempts.
    pub(super) iterations: u64,
    /// Iterations of attempts that were discarded.
    pub(super) wasted_iterations: u64,
    /// Most iterations of one step.
    pub(super) most_iterations: u32,
    /// Attempts at steps that failed and were made again in parts.
    pub(super) retries: u64,
    /// Time spent (s).
    pub(super) seconds: f64,
}

/// One step, as far as phases are concerned.
#[derive(Clone, Copy, Debug)]
pub(super) struct StepCost {
    /// Time at its end (s).
    pub(super) time: f64,
    pub(super) iterations: u32,
    pub(super) wasted_iterations: u32,
    pub(super) retries: u32,
    pub(super) seconds: f64,
}

/// Sums by phase; empty for a scene without named phases.
pub(super) fn by_phase(phases: &[Phase]) -> Vec<PhaseTotals> {
    let empty = |name: &str, start: f64| PhaseTotals {
        name: name.to_owned(),
        start,
        ..PhaseTotals::default()
    };
    let mut totals: Vec<PhaseTotals> = phases.iter().map(|p| empty(&p.name, p.start)).collect();
    if totals.first().is_some_and(|first| first.start > 0.0) {
        totals.insert(0, empty("before", 0.0));
    }
    totals
}

/// Adds a step to the phase that it ends in.
pub(super) fn add(totals: &mut [PhaseTotals], step: StepCost) {
    // No step is as short as this (s).
    const SLACK: f64 = 1e-9;
    let Some(phase) = totals.iter_mut().rev().find(|phase| phase.start < step.time - SLACK) else {
        return;
    };
    phase.steps += 1;
    phase.iterations += u64::from(step.iterations);
    phase.wasted_iterations += u64::from(step.wasted_iterations);
    phase.most_iterations = phase.most_iterations.max(step.iterations);
    phase.retries += u64::from(step.retries);
    phase.seconds += step.seconds;
}

/// A table for people.
pub(super) fn lines(totals: &[PhaseTotals]) -> Vec<String> {
    if totals.is_empty() {
        return Vec::new();
    }
    let wide = totals.iter().map(|p| p.name.chars().count()).max().unwrap_or(0).max("phase".len());
    let head = format!(
        "{:wide$}  {:>9}  {:>6}  {:>10}  {:>6}  {:>4}  {:>7}  {:>9}",
        "phase", "from", "steps", "iterations", "a step", "most", "retries", "time"
    );
    let row = |p: &PhaseTotals| {
        format!(
            "{:wide$}  {:>7.3} s  {:>6}  {:>10}  {:>6.1}  {:>4}  {:>7}  {:>9}",
            p.name,
            p.start,
            p.steps,
            p.iterations,
            p.iterations as f64 / p.steps.max(1) as f64,
            p.most_iterations,
            p.retries,
            crate::console::duration(p.seconds)
        )
    };
    std::iter::once(head).chain(totals.iter().map(row)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_counts_where_it_ends() {
        let phase = |name: &str, start: f64| Phase { name: name.to_owned(), start };
        let mut totals = by_phase(&[phase("lift", 0.3), phase("rest", 0.5)]);
        for k in 1..=6_u32 {
            let time = f64::from(k) * 0.1;
            let cost =
                StepCost { time, iterations: k, wasted_iterations: 1, retries: 2, seconds: 0.5 };
            add(&mut totals, cost);
        }
        let found: Vec<(&str, u64, u64, u32)> =
            totals.iter().map(|p| (&*p.name, p.steps, p.iterations, p.most_iterations)).collect();
        assert_eq!(found, [("before", 3, 6, 3), ("lift", 2, 9, 5), ("rest", 1, 6, 6)]);
        assert_eq!((totals[1].retries, totals[1].seconds), (4, 1.0));
        assert!(lines(&totals)[2].starts_with("lift"));
        assert!(by_phase(&[]).is_empty());
        assert_eq!(by_phase(&[phase("all", 0.0)]).len(), 1);
    }
}
