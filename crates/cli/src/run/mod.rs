//! `gusset run`: a scene to a run folder.

mod changes;
mod interrupt;
mod observe;
mod phases;
mod progress;
mod recorder;
mod resume;
mod summary;
mod targets;

pub(crate) use interrupt::{requested, watch};
pub(crate) use summary::stages;
pub(crate) use targets::short;

use crate::arguments::RunArguments;
use crate::backend::{self, Chosen};
use crate::console::{Console, count};
use crate::failure::{Exit, Failure, Outcome};
use crate::{load, memory, view};
use gusset_mesh::World;
use gusset_scene::{Requirement, Scene};
use gusset_solve::{State, StepError, Stepper};
use progress::Progress;
use recorder::Recorder;
use std::path::{Path, PathBuf};
use std::time::Instant;
use summary::{Seconds, Summary, Totals};

/// Runs a scene; Ctrl-C ends it after a step.
pub(crate) fn command(arguments: &RunArguments, console: &mut Console<'_>) -> Outcome {
    watch();
    run(arguments, console)
}

/// Runs a scene, one of several perhaps.
pub(crate) fn run(arguments: &RunArguments, console: &mut Console<'_>) -> Outcome {
    let begin = Instant::now();
    let (scene_path, out) = places(arguments)?;
    let scene = load::scene(&scene_path, &arguments.overrides, console)?;
    let last = last_step(arguments, &scene)?;
    let chosen = backend::choose(&arguments.machine, &scene)?;
    backend::on_threads(&arguments.machine, || {
        let threads = rayon::current_num_threads();
        let threads = count(threads as u64, "thread");
        let (name, why) = (&chosen.name, &chosen.why);
        console.message(format_args!("backend: {name} with {threads} ({why})"));
        drive(scene, chosen, &scene_path, &out, last, arguments, begin, console)
    })?
}

/// The scene file and the run folder. In place of a scene file a run folder may be named: its own copy of the scene.
fn places(arguments: &RunArguments) -> Result<(PathBuf, PathBuf), Failure> {
    let scene = &arguments.scene;
    if scene.is_dir() {
        let inside = scene.join("scene.toml");
        if !inside.is_file() {
            return Err(Failure::bad_input(format_args!(
                "`{}` is a folder; give a scene file, or a run folder with its scene.toml",
                scene.display()
            )));
        }
        if arguments.out.is_none() && !arguments.continues() && !arguments.force {
            return Err(Failure::bad_input(format_args!(
                "`{}` is a run folder: continue it with --resume, or from an earlier time with --from, run its scene \
                 anew with --force, or choose another folder with --out",
                scene.display()
            )));
        }
        return Ok((inside, arguments.out.clone().unwrap_or_else(|| scene.clone())));
    }
    let out = arguments.out.clone().unwrap_or_else(|| {
        Path::new("runs").join(scene.file_stem().unwrap_or_else(|| "scene".as_ref()))
    });
    Ok((scene.clone(), out))
}

/// The number of the last step.
fn last_step(arguments: &RunArguments, scene: &Scene) -> Result<u64, Failure> {
    let Some(until) = arguments.until else { return Ok(arguments.steps.unwrap_or(scene.steps)) };
    let steps = (until / scene.settings.dt - 1e-6).ceil();
    // Beyond 2^53 a double no longer counts in ones.
    if !until.is_finite() || until < 0.0 || steps > 9e15 {
        return Err(Failure::bad_input(format_args!(
            "`--until {until}` is no time to run to; give a number of seconds from 0 to {:.1e}",
            9e15 * scene.settings.dt
        )));
    }
    Ok(steps.max(0.0) as u64)
}

/// The time to go back to, if one was given.
fn from(arguments: &RunArguments, scene: &Scene) -> Result<Option<f64>, Failure> {
    let end = scene.steps as f64 * scene.settings.dt;
    match arguments.from {
        Some(from) if !(from >= 0.0 && from <= end) => Err(Failure::bad_input(format_args!(
            "`--from {from}` is no time of this scene; give a number of seconds from 0 to {end}"
        ))),
        from => Ok(from),
    }
}

fn drive(
    scene: Scene,
    chosen: Chosen,
    scene_path: &Path,
    out: &Path,
    last: u64,
    arguments: &RunArguments,
    begin: Instant,
    console: &mut Console<'_>,
) -> Outcome {
    let from = from(arguments, &scene)?;
    let Scene {
        title,
        model,
        state: start,
        settings,
        descent,
        phases,
        output,
        probes,
        requirements,
        colours,
        resolved,
        ..
    } = scene;
    let dt = settings.dt;
    let mut solver = gusset_scene::stepper_on(model, settings, descent, chosen.backends)?;
    let solver = &mut *solver;
    if let (true, Some(linear)) = (chosen.name != "cpu", solver.linear()) {
        console.message(format_args!("linear solver: {linear}"));
    }
    let mut totals = Totals::new(&phases);
    let plan = recorder::Plan {
        title: &title,
        dt,
        output,
        phases: &phases,
        colours: &colours,
        resolved: &resolved,
    };
    let (mut recorder, mut state) = if arguments.continues() {
        match from {
            Some(from) => {
                console.message(resume::go_back(out, from, &plan, &start, &probes, solver)?);
            }
            None => resume::same_scene(out, &plan, &start, solver, scene_path)?,
        }
        let (recorder, state) = Recorder::resume(out, &plan, &start, probes, solver, &mut totals)?;
        if state.step >= last {
            let done = count(state.step, "step");
            console.message(format_args!(
                "the run has {done} already; there is nothing to do up to {last}"
            ));
        } else {
            console.message(format_args!("resuming after step {} of {last}", state.step));
        }
        (recorder, state)
    } else {
        if let Err(error) = solver.check_start(&start) {
            return Err(start_refused(error, scene_path));
        }
        let recorder = Recorder::create(out, &plan, &start, probes, solver, arguments.force)?;
        (recorder, start)
    };
    let resumed_from = arguments.continues().then_some(state.step);

    let ended = steps(solver, &mut state, &mut recorder, &mut totals, &requirements, last, console);
    let (frames, limits) = (recorder.frames(), recorder.limits());
    // A run that ends badly before its first step leaves nothing.
    let nothing = state.step == 0 && !arguments.continues() && !matches!(ended, Ok(End::Done));
    let verdicts = if nothing { Vec::new() } else { recorder.judge() };
    let failed = ended.as_ref().err().map(|failure| failure.message.as_str());
    let record = totals.record(&verdicts, failed);
    let kept = if nothing { Ok(()) } else { recorder.finish(&state, solver, record) };
    let with_place = |failure: Failure| {
        let out = if nothing { None } else { Some(out.display().to_string()) };
        failure.with("steps", state.step).with("out", out)
    };
    match ended {
        Ok(End::Done) => kept?,
        Ok(End::Interrupted) if nothing => {
            return Err(with_place(Failure::failed(
                "stopped before the first step; nothing was written",
            )));
        }
        Ok(End::Interrupted) => {
            kept?;
            let (step, command) = (state.step, resume_command(arguments, out));
            let message = format!("stopped after step {step} of {last}; continue with: {command}");
            return Err(with_place(Failure::failed(message)));
        }
        // What went wrong first says more than what went wrong while clearing up.
        Err(failure) => {
            let note = match (nothing, kept) {
                (true, _) => "nothing was written".to_owned(),
                (false, Ok(())) => format!(
                    "the run up to step {} (t = {:.6} s) is kept; look at it with: gusset view {out}\n\
                     go on from an earlier time with a changed scene: gusset run {} --out {out} --from SECONDS",
                    state.step,
                    state.step as f64 * dt,
                    scene_path.display(),
                    out = out.display(),
                ),
                (false, Err(error)) => format!("and the run folder: {}", error.message),
            };
            let message = format!("{}\n{note}", failure.message);
            return Err(with_place(Failure { message, ..failure }));
        }
    }

    let view = if arguments.no_view {
        None
    } else {
        // The run is what counts; a view can be made later.
        view::page(out, console)
            .map_err(|e| console.message(format_args!("warning: no view: {}", e.message)))
            .ok()
    };
    let plots = recorder::plots(out, &limits, console);
    let (gap, gap_time) = totals.smallest.take().unzip();
    let summary = Summary {
        scene: title,
        steps: totals.steps,
        time: totals.steps as f64 * dt,
        frames,
        iterations: totals.iterations,
        wasted_iterations: totals.wasted_iterations,
        most_iterations: totals.most_iterations,
        retries: totals.retries,
        solver: if totals.by_descent { "vbd" } else { "newton" },
        seconds: Seconds { stages: totals.seconds, wall: begin.elapsed().as_secs_f64() },
        smallest_gap: gap.as_ref().map(|g| g.gap),
        smallest_gap_pair: gap.map(|g| g.pair),
        smallest_gap_time: gap_time,
        peak_memory: memory::peak(),
        threads: rayon::current_num_threads(),
        backend: chosen.name,
        ran_on: totals.ran_on.take(),
        vertices: solver.model().world.vertex_count(),
        resumed_from,
        targets_met: (!verdicts.is_empty()).then(|| verdicts.iter().all(|v| v.met == Some(true))),
        targets: verdicts,
        phases: totals.phases,
        out: out.to_path_buf(),
        plots,
        view,
    };
    if console.wants_json() {
        console.object(&summary);
    } else {
        console.say(summary.text());
    }
    Ok(Exit::Done)
}

/// Why the loop over the steps ended.
enum End {
    Done,
    Interrupted,
}

fn steps(
    solver: &mut dyn Stepper,
    state: &mut State,
    recorder: &mut Recorder,
    totals: &mut Totals,
    requirements: &[Requirement],
    last: u64,
    console: &mut Console<'_>,
) -> Result<End, Failure> {
    let mut progress = Progress::new(console, state.step, last);
    let mut next = State::default();
    let end = 'run: loop {
        if state.step >= last {
            break Ok(End::Done);
        }
        if requested() {
            break Ok(End::Interrupted);
        }
        let record = match solver.step(state, &mut next) {
            Ok(record) => record,
            Err(error) => break Err(step_failed(error, &solver.model().world)),
        };
        std::mem::swap(state, &mut next);
        totals.add(&record);
        progress.step(&record, console);
        for note in &record.notes {
            console.message(format_args!("note: {note}"));
        }
        if let Err(error) = recorder.step(state, &next, &record, solver) {
            break Err(error);
        }
        for requirement in requirements.iter().filter(|r| r.step == state.step) {
            let world = &solver.model().world;
            if let Err(wrong) = requirement.check(&state.x, recorder.measured(), world) {
                let failure = Failure::failed(wrong).with("requirement", requirement.name.as_str());
                break 'run Err(failure.with("time", requirement.time));
            }
        }
    };
    progress.end();
    end
}

fn start_refused(error: gusset_solve::StartError, scene: &Path) -> Failure {
    let failure = Failure::from(error);
    let message = format!("{}\nscene: {}; nothing was written", failure.message, scene.display());
    Failure { message, ..failure }
}

fn step_failed(error: StepError, world: &World) -> Failure {
    let (step, time, retries) = (error.step, error.time, error.retries);
    let worst = error.worst.as_ref().map(ToString::to_string);
    let bodies: Vec<&str> = world.bodies.iter().map(|b| b.name.as_str()).collect();
    Failure::from(error)
        .with("failed_step", step)
        .with("failed_time", time)
        .with("failed_retries", retries)
        .with("closest_pair", worst)
        .with("bodies", bodies)
}

/// What to type to go on.
fn resume_command(arguments: &RunArguments, out: &Path) -> String {
    let scene = arguments.scene.display();
    let mut words = vec![format!("gusset run {scene} --out {} --resume", out.display())];
    words.extend(arguments.overrides.set.iter().map(|set| format!("--set '{set}'")));
    words.join(" ")
}
