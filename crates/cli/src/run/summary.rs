//! What a run amounts to.

use super::phases::{self, PhaseTotals, StepCost};
use super::targets::{self, Verdict};
use crate::console::{bytes, count, duration, metres};
use crate::program;
use gusset_scene::Phase;
use gusset_solve::{PairReport, RanOn, StepRecord, Times};
use serde::Serialize;
use serde_json::Value;
use std::path::PathBuf;

/// Sums over the steps of a run; those before a resume count too.
#[derive(Debug, Default)]
pub(super) struct Totals {
    pub(super) steps: u64,
    pub(super) iterations: u64,
    pub(super) wasted_iterations: u64,
    pub(super) most_iterations: u32,
    pub(super) retries: u64,
    /// Whether the iterations are sweeps of block descent.
    pub(super) by_descent: bool,
    pub(super) seconds: Times,
    pub(super) smallest: Option<(PairReport, f64)>,
    /// Who did what in the last step of this process.
    pub(super) ran_on: Option<RanOn>,
    /// The same by phase.
    pub(super) phases: Vec<PhaseTotals>,
}

impl Totals {
    /// Nothing yet, for a scene with these phases.
    pub(super) fn new(phases: &[Phase]) -> Self {
        Self { phases: phases::by_phase(phases), ..Self::default() }
    }

    /// What `run.json` is told at the end; `failed` says why the run could not go on.
    pub(super) fn record(&self, targets: &[Verdict], failed: Option<&str>) -> Value {
        let (gap, time) = self.smallest.as_ref().map(|(gap, time)| (gap, *time)).unzip();
        serde_json::json!({
            "steps": self.steps,
            "iterations": self.iterations,
            "wasted_iterations": self.wasted_iterations,
            "most_iterations": self.most_iterations,
            "retries": self.retries,
            "seconds": self.seconds,
            "smallest_gap": gap.map(|g| g.gap),
            "smallest_gap_pair": gap.map(|g| &g.pair),
            "smallest_gap_time": time,
            "ran_on": self.ran_on,
            "phases": self.phases,
            "targets": targets,
            "failed": failed,
            "program": program::identity(),
        })
    }

    /// Adds a step.
    pub(super) fn add(&mut self, record: &StepRecord) {
        self.steps += 1;
        self.iterations += u64::from(record.iterations);
        self.wasted_iterations += u64::from(record.wasted_iterations);
        self.most_iterations = self.most_iterations.max(record.iterations);
        self.retries += u64::from(record.retries);
        self.by_descent |= record.descent.is_some();
        self.seconds.add(&record.seconds);
        self.ran_on = Some(record.ran_on.clone());
        let cost = StepCost {
            time: record.time,
            iterations: record.iterations,
            wasted_iterations: record.wasted_iterations,
            retries: record.retries,
            seconds: record.seconds.total,
        };
        phases::add(&mut self.phases, cost);
        if let Some(gap) = &record.smallest_gap {
            self.gap(gap.clone(), record.time);
        }
    }

    /// Adds a step from its stored certificate.
    pub(super) fn add_stored(&mut self, record: &Value) {
        let number = |value: &Value, key: &str| value[key].as_f64().unwrap_or(0.0);
        let whole = |key: &str| record[key].as_u64().unwrap_or(0);
        self.steps += 1;
        self.iterations += whole("iterations");
        self.wasted_iterations += whole("wasted_iterations");
        self.most_iterations = self.most_iterations.max(whole("iterations") as u32);
        self.retries += whole("retries");
        self.by_descent |= record.get("descent").is_some();
        let seconds = &record["seconds"];
        self.seconds.add(&Times {
            candidates: number(seconds, "candidates"),
            distances: number(seconds, "distances"),
            assembly: number(seconds, "assembly"),
            factorisation: number(seconds, "factorisation"),
            solve: number(seconds, "solve"),
            step_bound: number(seconds, "step_bound"),
            line_search: number(seconds, "line_search"),
            total: number(seconds, "total"),
        });
        let cost = StepCost {
            time: number(record, "time"),
            iterations: whole("iterations") as u32,
            wasted_iterations: whole("wasted_iterations") as u32,
            retries: whole("retries") as u32,
            seconds: number(seconds, "total"),
        };
        phases::add(&mut self.phases, cost);
        let smallest = &record["smallest_gap"];
        if let (Some(pair), Some(gap)) = (smallest["pair"].as_str(), smallest["gap"].as_f64()) {
            self.gap(PairReport { pair: pair.to_owned(), gap }, number(record, "time"));
        }
    }

    fn gap(&mut self, gap: PairReport, time: f64) {
        if self.smallest.as_ref().is_none_or(|(least, _)| gap.gap < least.gap) {
            self.smallest = Some((gap, time));
        }
    }
}

/// The one object that `--json` prints.
#[derive(Debug, Serialize)]
pub(super) struct Summary {
    pub(super) scene: String,
    /// Steps of the whole run.
    pub(super) steps: u64,
    /// Simulated time (s).
    pub(super) time: f64,
    pub(super) frames: u64,
    /// Iterations of accepted attempts: of Newton's method, or sweeps of block descent.
    pub(super) iterations: u64,
    /// Iterations of attempts that were discarded.
    pub(super) wasted_iterations: u64,
    /// Most iterations of one step.
    pub(super) most_iterations: u32,
    /// Attempts at steps that failed and were made again in parts.
    pub(super) retries: u64,
    /// "newton" or "vbd".
    pub(super) solver: &'static str,
    /// Seconds by stage, over all steps.
    pub(super) seconds: Seconds,
    /// Smallest gap (m); null where nothing came closer than dhat.
    pub(super) smallest_gap: Option<f64>,
    pub(super) smallest_gap_pair: Option<String>,
    /// When it was (s).
    pub(super) smallest_gap_time: Option<f64>,
    /// Bytes.
    pub(super) peak_memory: Option<u64>,
    pub(super) threads: usize,
    /// What was chosen at the start.
    pub(super) backend: String,
    /// Who did what in the last step; null where no step was made.
    pub(super) ran_on: Option<RanOn>,
    pub(super) vertices: usize,
    /// Step that the run was continued from.
    pub(super) resumed_from: Option<u64>,
    /// By named phase.
    pub(super) phases: Vec<PhaseTotals>,
    /// Whether all targets were met; null where the scene states none.
    pub(super) targets_met: Option<bool>,
    pub(super) targets: Vec<Verdict>,
    pub(super) out: PathBuf,
    pub(super) plots: Option<PathBuf>,
    pub(super) view: Option<PathBuf>,
}

/// Seconds by stage.
#[derive(Debug, Serialize)]
pub(super) struct Seconds {
    #[serde(flatten)]
    pub(super) stages: Times,
    /// This process from its start, with reading, writing and the view.
    pub(super) wall: f64,
}

impl Summary {
    /// For people.
    pub(super) fn text(&self) -> String {
        let seconds = &self.seconds.stages;
        let gap = match (&self.smallest_gap, &self.smallest_gap_pair, self.smallest_gap_time) {
            (Some(gap), Some(pair), Some(time)) => {
                format!("{} between {pair} at t = {time:.4} s", metres(*gap))
            }
            _ => "nothing came closer than dhat".to_owned(),
        };
        let retries = match self.retries {
            1 => "1 retry".to_owned(),
            n => format!("{n} retries"),
        };
        let iteration = if self.solver == "vbd" { "sweep" } else { "Newton iteration" };
        let mut lines = vec![
            format!(
                "{}, {}, {:.4} s simulated in {} ({} a step)",
                count(self.steps, "step"),
                count(self.frames, "frame"),
                self.time,
                duration(seconds.total),
                duration_of_step(seconds.total / self.steps.max(1) as f64)
            ),
            format!(
                "{} ({} at most in a step), {retries}",
                count(self.iterations, iteration),
                self.most_iterations
            ),
            format!("smallest gap: {gap}"),
            format!("time: {}", shares(seconds)),
        ];
        if let (true, Some(on)) = (self.backend != "cpu", &self.ran_on) {
            let RanOn { terms, contact, linear } = on;
            let contact = contact.as_deref().unwrap_or("none");
            let linear = linear.as_deref().unwrap_or("none");
            lines.push(format!("terms: {terms}; contact: {contact}; linear solver: {linear}"));
        }
        lines.extend(self.peak_memory.map(|peak| format!("peak memory: {}", bytes(peak))));
        for table in [phases::lines(&self.phases), targets::lines(&self.targets)] {
            if !table.is_empty() {
                lines.push(String::new());
                lines.extend(table);
            }
        }
        if !self.phases.is_empty() || !self.targets.is_empty() {
            lines.push(String::new());
        }
        lines.push(format!("run folder: {}", self.out.display()));
        lines.extend(self.plots.as_ref().map(|plots| format!("plots: {}", plots.display())));
        lines.extend(self.view.as_ref().map(|view| format!("view: {}", view.display())));
        lines.join("\n")
    }
}

fn duration_of_step(seconds: f64) -> String {
    if seconds < 1.0 { format!("{:.2} ms", seconds * 1e3) } else { duration(seconds) }
}

/// Every stage's share of the time, largest first.
pub(crate) fn shares(times: &Times) -> String {
    let mut stages = stages(times);
    stages.sort_by(|a, b| b.1.total_cmp(&a.1));
    let shares: Vec<String> = stages
        .iter()
        .filter(|(_, seconds)| *seconds > 0.0)
        .map(|(name, seconds)| format!("{name} {:.0} %", 100.0 * seconds / times.total.max(1e-12)))
        .collect();
    if shares.is_empty() { "none".to_owned() } else { shares.join(", ") }
}

/// Names and seconds of the stages, with what is in none of them as "other".
pub(crate) fn stages(times: &Times) -> [(&'static str, f64); 8] {
    let named = [
        ("candidates", times.candidates),
        ("distances", times.distances),
        ("assembly", times.assembly),
        ("factorisation", times.factorisation),
        ("solve", times.solve),
        ("step bound", times.step_bound),
        ("line search", times.line_search),
    ];
    let other = times.total - named.iter().map(|s| s.1).sum::<f64>();
    let [a, b, c, d, e, f, g] = named;
    [a, b, c, d, e, f, g, ("other", other.max(0.0))]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_certificates_add_up_like_fresh_ones() {
        let record = StepRecord {
            step: 3,
            time: 0.03,
            iterations: 7,
            wasted_iterations: 2,
            retries: 1,
            smallest_gap: Some(PairReport {
                pair: "`a` vertex 1 and `b` triangle 2".into(),
                gap: 1e-3,
            }),
            seconds: Times { assembly: 0.25, total: 1.0, ..Times::default() },
            ..StepRecord::default()
        };
        let phases = [Phase { name: "fall".to_owned(), start: 0.02 }];
        let (mut fresh, mut stored) = (Totals::new(&phases), Totals::new(&phases));
        for _ in 0..2 {
            fresh.add(&record);
            stored.add_stored(&serde_json::to_value(&record).unwrap());
        }
        // Who did what is told of the steps of this process alone.
        assert_eq!(fresh.ran_on.take(), Some(record.ran_on));
        assert_eq!(format!("{fresh:?}"), format!("{stored:?}"));
        assert_eq!((fresh.steps, fresh.iterations, fresh.retries), (2, 14, 2));
        assert_eq!((fresh.phases[1].steps, fresh.phases[1].seconds), (2, 2.0));
    }

    #[test]
    fn shares_name_the_largest_first() {
        let times = Times { assembly: 1.0, solve: 2.0, total: 4.0, ..Times::default() };
        assert_eq!(shares(&times), "solve 50 %, assembly 25 %, other 25 %");
        assert_eq!(shares(&Times::default()), "none");
    }
}
