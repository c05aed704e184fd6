//! Runs the scenes of a report whose run folder is absent, unfinished, or of another scene or build; several at a time.

use crate::arguments::{Machine, Overrides, ReportArguments, RunArguments};
use crate::console::{Console, count, duration};
use crate::program;
use crate::run;
use gusset_output::RunReader;
use gusset_scene::{Report, ReportScene};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Time between two looks at what the runs do.
const LOOK: Duration = Duration::from_millis(200);
/// Time between lines where there is no bar.
const QUIET: Duration = Duration::from_secs(10);

/// What is to be done about a scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Need {
    /// Its run is there.
    Nothing,
    /// Its run goes on from where it is.
    Resume,
    /// It is run from the start.
    Run,
}

/// A scene that is being run.
struct Job<'a> {
    scene: &'a ReportScene,
    need: Need,
    /// Steps that are there.
    done: AtomicU64,
    /// Steps that were there at the beginning.
    first: u64,
    running: AtomicBool,
    ended: AtomicBool,
}

impl Job<'_> {
    fn left(&self) -> u64 {
        self.scene.steps.saturating_sub(self.done.load(Ordering::Relaxed))
    }
}

/// Runs what is needed. Returns in words what failed.
pub(super) fn run_missing(
    report: &Report,
    arguments: &ReportArguments,
    console: &mut Console<'_>,
) -> Vec<String> {
    if arguments.no_run {
        return Vec::new();
    }
    let of = |scene| {
        let (need, first) = need(scene, &arguments.runs, arguments.any_build);
        Job {
            scene,
            need,
            done: AtomicU64::new(first),
            first,
            running: AtomicBool::new(false),
            ended: AtomicBool::new(false),
        }
    };
    let mut jobs: Vec<Job<'_>> = report.scenes.iter().map(of).collect();
    let there = jobs.len();
    jobs.retain(|job| job.need != Need::Nothing);
    if jobs.is_empty() {
        console.message(format_args!("all {} are there", count(there as u64, "run")));
        return Vec::new();
    }
    // The longest first, so that none is left over at the end.
    jobs.sort_by_key(|job| std::cmp::Reverse(job.left()));
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let workers = arguments.jobs.map_or(cores, |n| n as usize).min(jobs.len());
    console.message(format_args!(
        "{} of {} to run, {workers} at a time",
        count(jobs.len() as u64, "scene"),
        there
    ));
    let failures = Mutex::new(Vec::new());
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            if run::requested() {
                break;
            }
            job.running.store(true, Ordering::Relaxed);
            if let Err(why) = one(job, arguments) {
                failures.lock().unwrap_or_else(PoisonError::into_inner).push(why);
            }
            job.running.store(false, Ordering::Relaxed);
            job.ended.store(true, Ordering::Relaxed);
        }
    };
    std::thread::scope(|scope| {
        let handles: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        let over = || handles.iter().all(std::thread::ScopedJoinHandle::is_finished);
        watch(&jobs, workers, over, console);
    });
    failures.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a scene must be run, and how many of its steps are there.
fn need(scene: &ReportScene, runs: &Path, any_build: bool) -> (Need, u64) {
    let folder = runs.join(&scene.folder);
    let Ok(reader) = RunReader::open(&folder) else { return (Need::Run, 0) };
    let stored = std::fs::read_to_string(reader.scene_path()).unwrap_or_default();
    let summary = reader.summary();
    let text = |key: &str| summary.and_then(|s| s.get(key)?.as_str());
    let same_build =
        any_build || text("program").is_some() && text("program") == program::identity();
    if stored != scene.resolved || !same_build || !reader.info().restarts.is_empty() {
        return (Need::Run, 0);
    }
    let steps = summary.and_then(|s| s.get("steps")?.as_u64()).unwrap_or(0);
    // The same program would fail at the same step again.
    if steps >= scene.steps || text("failed").is_some() {
        return (Need::Nothing, steps);
    }
    (Need::Resume, steps)
}

/// Runs one scene on one thread, with its messages kept for the case that it fails.
fn one(job: &Job<'_>, arguments: &ReportArguments) -> Result<(), String> {
    let run_arguments = RunArguments {
        scene: job.scene.path.clone(),
        out: Some(arguments.runs.join(&job.scene.folder)),
        until: None,
        steps: None,
        resume: job.need == Need::Resume,
        from: None,
        force: job.need == Need::Run,
        json: false,
        no_view: true,
        machine: Machine { threads: Some(1), backend: None, device: None },
        overrides: Overrides { set: job.scene.set.clone() },
    };
    let (mut out, mut messages) = (std::io::sink(), std::io::sink());
    let mut console = Console::new(&mut out, &mut messages, false, false).counting(&job.done);
    match run::run(&run_arguments, &mut console) {
        Ok(_) => Ok(()),
        Err(_) if run::requested() => Ok(()),
        Err(failure) => Err(format!("error: {}: {}", job.scene.folder, failure.message)),
    }
}

/// Shows how far the runs are until all threads have ended.
fn watch(jobs: &[Job<'_>], workers: usize, over: impl Fn() -> bool, console: &mut Console<'_>) {
    let total: u64 = jobs.iter().map(|job| job.scene.steps).sum();
    let bar = console.bar(total, "{bar:30.cyan} step {pos}/{len}  {msg}");
    let begin = Instant::now();
    let mut line_at = begin;
    let sum = |of: &dyn Fn(&Job<'_>) -> u64| jobs.iter().map(of).sum::<u64>();
    while !over() {
        std::thread::sleep(LOOK);
        let done = sum(&|job| job.done.load(Ordering::Relaxed));
        let made = sum(&|job| job.done.load(Ordering::Relaxed).saturating_sub(job.first));
        // A run that has failed has no steps left.
        let left = sum(&|job| if job.ended.load(Ordering::Relaxed) { 0 } else { job.left() });
        let rate = made as f64 / begin.elapsed().as_secs_f64().max(1e-9);
        let running: Vec<&str> = jobs
            .iter()
            .filter(|job| job.running.load(Ordering::Relaxed))
            .map(|job| job.scene.folder.as_str())
            .collect();
        let ended = jobs.iter().filter(|job| job.ended.load(Ordering::Relaxed)).count();
        let state = format!(
            "{ended} of {} done, now {}  {rate:.1} steps/s  left {}",
            count(jobs.len() as u64, "run"),
            if running.is_empty() { "none".to_owned() } else { running.join(", ") },
            if made == 0 { "?".to_owned() } else { duration(left as f64 / rate) }
        );
        bar.set_position(done);
        bar.set_message(state.clone());
        if bar.is_hidden() && line_at.elapsed() >= QUIET {
            line_at = Instant::now();
            console.message(format_args!("step {done}/{total}  {state}"));
        }
    }
    bar.finish_and_clear();
    let (made, took) = (count(jobs.len() as u64, "run"), duration(begin.elapsed().as_secs_f64()));
    console.message(format_args!("{made} in {took} with {}", count(workers as u64, "thread")));
}
