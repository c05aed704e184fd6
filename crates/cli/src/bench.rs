//! `gusset bench`: where the time of scenes goes. Nothing is written.

use crate::arguments::BenchArguments;
use crate::console::{Console, bytes, count};
use crate::failure::{Exit, Failure, Outcome};
use crate::run::stages;
use crate::{backend, load, memory};
use gusset_mesh::Mobility;
use gusset_solve::{State, StepRecord, Times};
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

/// Runs every scene and measures.
pub(crate) fn command(arguments: &BenchArguments, console: &mut Console<'_>) -> Outcome {
    backend::on_threads(&arguments.machine, || {
        let mut rows = Vec::new();
        for path in &arguments.scenes {
            let row = measure(path, arguments, console)?;
            console.say(row.text());
            rows.push(row);
        }
        let report = Report {
            threads: rayon::current_num_threads(),
            exponent_step: exponent(&rows, |r| r.step.median),
            exponent_iteration: exponent(&rows, |r| r.iteration_seconds),
            scenes: rows,
        };
        if console.wants_json() {
            console.object(&report);
        } else if let (Some(step), Some(iteration)) =
            (report.exponent_step, report.exponent_iteration)
        {
            console.say(format_args!(
                "time grows as vertices^{step:.2} for a step, vertices^{iteration:.2} for an iteration"
            ));
        }
        Ok(Exit::Done)
    })?
}

#[derive(Debug, Serialize)]
struct Report {
    threads: usize,
    scenes: Vec<Row>,
    /// `p` of time = c vertices^p, fitted to the median steps of all scenes; null for fewer than two sizes.
    exponent_step: Option<f64>,
    /// The same for the mean iteration.
    exponent_iteration: Option<f64>,
}

/// What was measured of a scene.
#[derive(Debug, Serialize)]
struct Row {
    scene: String,
    /// `cpu`, or `vulkan` and the device.
    backend: String,
    /// Vertices that the solver moves.
    vertices: usize,
    steps: u64,
    /// Why not all steps were made.
    stopped: Option<String>,
    /// Reading the scene and building the solver (s).
    setup_seconds: f64,
    /// Seconds of a step.
    step: Spread,
    /// Iterations of a step: of Newton's method, or sweeps.
    iterations: Spread,
    /// All iterations, discarded ones included.
    newton_iterations: u64,
    retries: u64,
    /// Mean seconds of an iteration.
    iteration_seconds: f64,
    /// The same by stage.
    iteration_stages: Map<String, Value>,
    /// Mean seconds of an iteration on the device, by kernel.
    kernels: BTreeMap<String, f64>,
    /// Bytes.
    peak_memory: Option<u64>,
    smallest_gap: Option<f64>,
}

/// Order statistics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
struct Spread {
    median: f64,
    mean: f64,
    max: f64,
}

impl Spread {
    fn of(values: &[f64]) -> Self {
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let Some(max) = sorted.last().copied() else { return Self::default() };
        let middle = sorted.len() / 2;
        let median = if sorted.len().is_multiple_of(2) {
            0.5 * (sorted[middle - 1] + sorted[middle])
        } else {
            sorted[middle]
        };
        Self { median, mean: sorted.iter().sum::<f64>() / sorted.len() as f64, max }
    }
}

fn measure(
    path: &Path,
    arguments: &BenchArguments,
    console: &mut Console<'_>,
) -> Result<Row, Failure> {
    memory::reset_peak();
    let begin = Instant::now();
    let scene = load::scene(path, &arguments.overrides, console)?;
    let chosen = backend::choose(&arguments.machine, &scene)?;
    let (title, mut state) = (scene.title, scene.state);
    let steps = arguments.steps.unwrap_or(scene.steps);
    let bodies = scene.model.world.bodies.iter();
    let free = bodies.flat_map(|b| &b.mobility).filter(|m| **m == Mobility::Free).count();
    let mut solver =
        gusset_scene::stepper_on(scene.model, scene.settings, scene.descent, chosen.backends)?;
    solver.check_start(&state)?;
    let setup_seconds = begin.elapsed().as_secs_f64();

    let bar = console.bar(steps, "{bar:30.cyan} {msg} step {pos}/{len}");
    bar.set_message(title.clone());
    let mut records: Vec<StepRecord> = Vec::new();
    let mut next = State::default();
    let mut stopped = None;
    for _ in 0..steps {
        match solver.step(&state, &mut next) {
            Ok(record) => records.push(record),
            Err(error) => {
                stopped = Some(error.to_string());
                break;
            }
        }
        std::mem::swap(&mut state, &mut next);
        bar.inc(1);
    }
    bar.finish_and_clear();
    if let (Some(stopped), true) = (&stopped, records.is_empty()) {
        return Err(Failure::failed(stopped));
    }
    Ok(Row { stopped, setup_seconds, backend: chosen.name, ..row(title, free, &records) })
}

fn row(scene: String, vertices: usize, records: &[StepRecord]) -> Row {
    let mut times = Times::default();
    for record in records {
        times.add(&record.seconds);
    }
    let newton_iterations: u64 =
        records.iter().map(|r| u64::from(r.iterations) + u64::from(r.wasted_iterations)).sum();
    let each = 1.0 / newton_iterations.max(1) as f64;
    let of = |value: &dyn Fn(&StepRecord) -> f64| {
        Spread::of(&records.iter().map(value).collect::<Vec<_>>())
    };
    let mut kernels = BTreeMap::new();
    for (name, seconds) in records.iter().flat_map(|r| &r.kernels) {
        *kernels.entry(name.clone()).or_insert(0.0) += seconds * each;
    }
    let gaps = records.iter().filter_map(|r| r.smallest_gap.as_ref()).map(|g| g.gap);
    Row {
        scene,
        backend: "cpu".to_owned(),
        kernels,
        vertices,
        steps: records.len() as u64,
        stopped: None,
        setup_seconds: 0.0,
        step: of(&|r| r.seconds.total),
        iterations: of(&|r| f64::from(r.iterations)),
        newton_iterations,
        retries: records.iter().map(|r| u64::from(r.retries)).sum(),
        iteration_seconds: times.total * each,
        iteration_stages: stages(&times)
            .into_iter()
            .map(|(name, seconds)| (name.replace(' ', "_"), (seconds * each).into()))
            .collect(),
        peak_memory: memory::peak(),
        smallest_gap: gaps.reduce(f64::min),
    }
}

impl Row {
    fn text(&self) -> String {
        let (step, newton) = (self.step, self.iterations);
        let stages: Vec<String> = self
            .iteration_stages
            .iter()
            .map(|(name, s)| {
                format!("{} {:.3}", name.replace('_', " "), s.as_f64().unwrap_or(0.0) * 1e3)
            })
            .collect();
        let mut lines = vec![
            format!(
                "{} on {}: {} free vertices, {}",
                self.scene,
                self.backend,
                self.vertices,
                count(self.steps, "step")
            ),
            format!(
                "  step: median {:.2} ms, mean {:.2} ms, longest {:.2} ms",
                step.median * 1e3,
                step.mean * 1e3,
                step.max * 1e3
            ),
            format!(
                "  iterations: median {:.0}, mean {:.1}, most {:.0}, {} in all, {} retried",
                newton.median,
                newton.mean,
                newton.max,
                self.newton_iterations,
                count(self.retries, "attempt")
            ),
            format!("  iteration: {:.3} ms = {}", self.iteration_seconds * 1e3, stages.join(" + ")),
        ];
        if !self.kernels.is_empty() {
            let mut kernels: Vec<_> = self.kernels.iter().collect();
            kernels.sort_by(|a, b| b.1.total_cmp(a.1));
            let text = kernels.iter().map(|(name, s)| format!("{name} {:.3}", *s * 1e3));
            let text = text.collect::<Vec<_>>().join(", ");
            lines.push(format!("  on the device, ms an iteration: {text}"));
        }
        lines.extend(self.peak_memory.map(|peak| format!("  peak memory: {}", bytes(peak))));
        lines.extend(self.stopped.as_ref().map(|why| format!("  stopped early: {why}")));
        lines.join("\n")
    }
}

/// Least-squares slope of log time over log vertices.
fn exponent(rows: &[Row], time: impl Fn(&Row) -> f64) -> Option<f64> {
    let points: Vec<(f64, f64)> = rows
        .iter()
        .map(|row| ((row.vertices as f64).ln(), time(row).ln()))
        .filter(|(x, y)| x.is_finite() && y.is_finite())
        .collect();
    let n = points.len() as f64;
    let mean = |of: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / n;
    let (mx, my) = (mean(&|p| p.0), mean(&|p| p.1));
    let sxx: f64 = points.iter().map(|p| (p.0 - mx) * (p.0 - mx)).sum();
    let sxy: f64 = points.iter().map(|p| (p.0 - mx) * (p.1 - my)).sum();
    (points.len() >= 2 && sxx > 0.0).then(|| sxy / sxx)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponent_of_a_power_law_comes_back() {
        let rows: Vec<Row> = [100, 400, 1600]
            .into_iter()
            .map(|n| {
                let total = 3e-6 * f64::from(n).powf(1.3);
                let record = StepRecord {
                    iterations: 2,
                    seconds: Times { total, ..Times::default() },
                    ..StepRecord::default()
                };
                row("s".into(), n as usize, &[record])
            })
            .collect();
        assert!((exponent(&rows, |r| r.step.median).unwrap() - 1.3).abs() < 1e-12);
        assert!((exponent(&rows, |r| r.iteration_seconds).unwrap() - 1.3).abs() < 1e-12);
        assert_eq!(exponent(&rows[..1], |r| r.step.median), None);
    }

    #[test]
    fn medians() {
        let spread = Spread::of(&[3.0, 1.0, 2.0, 10.0]);
        assert_eq!(spread, Spread { median: 2.5, mean: 4.0, max: 10.0 });
        assert_eq!(Spread::of(&[]), Spread::default());
    }
}
