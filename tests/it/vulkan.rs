//! Scenes on a Vulkan device against the CPU. Without a device these tests say so and check nothing;
//! `GUSSET_REQUIRE_VULKAN=1` makes that a failure.

#![allow(clippy::print_stderr, reason = "distances are worth seeing")]

use crate::play::load;
use crate::tool::{Bench, command, gusset, skip};
use glam::DVec3;
use gusset_contact::{Candidates, CollisionMesh, Detection as _, Sweep};
use gusset_gpu::vulkan::{Device, Fault};
use gusset_gpu::{DeviceContact, VulkanBackend};
use gusset_scene::Scene;
use gusset_solve::{Backends, Solver, State, StepRecord};
use gusset_system::Method;
use std::collections::BTreeSet;

/// A device whose every call is checked by the validation layer, where that is installed.
fn device() -> Option<Device> {
    let opened = gusset_gpu::Instance::new(true).and_then(|instance| Device::open(&instance, None));
    opened
        .map_err(|error| {
            let required = std::env::var_os("GUSSET_REQUIRE_VULKAN").is_some();
            assert!(!required, "a Vulkan device is required here, and: {error}");
            skip(&format!("no Vulkan device, so nothing was compared ({error})"));
        })
        .ok()
}

fn assert_no_complaints(device: &Device) {
    let complaints = device.instance().complaints();
    assert!(complaints.is_empty(), "the validation layer complains: {complaints:#?}");
}

/// Terms and contact on the device.
fn on(device: &Device) -> Backends {
    let terms = VulkanBackend::new(device).unwrap();
    Backends { contact: Box::new(terms.contact()), terms: Box::new(terms), fallback: false }
}

/// Plays some steps of a scene and returns what comes out.
fn play(scene: Scene, backends: Backends, steps: usize) -> (State, Vec<StepRecord>) {
    let mut solver = Solver::with_backends(scene.model, scene.settings, backends).unwrap();
    let (mut state, mut next) = (scene.state, State::default());
    solver.check_start(&state).unwrap();
    let records = (0..steps)
        .map(|_| {
            let record = solver.step(&state, &mut next).unwrap_or_else(|e| panic!("{e}"));
            std::mem::swap(&mut state, &mut next);
            record
        })
        .collect();
    (state, records)
}

fn farthest(a: &State, b: &State) -> f64 {
    a.x.iter().zip(&b.x).map(|(p, q)| (*p - *q).abs().max_element()).fold(0.0, f64::max)
}

fn bits(state: &State) -> Vec<[u64; 3]> {
    state.x.iter().map(|p: &DVec3| p.to_array().map(f64::to_bits)).collect()
}

/// Both sides stop far below what is compared.
const EXACT: &str = "solver.tolerance=\"1 nm\"";
/// The same for scenes that give it as a speed, in steps of 10 ms.
const EXACT_SPEED: &str = "solver.tolerance_speed=\"100 nm/s\"";

/// Pairs of the articles: 6 steps, positions within 0.2 um, linear residual below 1e-7.
#[test]
fn reference_scenes_agree_with_the_cpu() {
    let Some(device) = device() else { return };
    for name in ["reference/vt.toml", "reference/ee.toml"] {
        for method in [None, Some(Method::Pcg { tolerance: 1e-10, max_iterations: 2000 })] {
            let scene = || {
                let mut scene = load(name, &[EXACT]);
                scene.settings.linear = method.unwrap_or(scene.settings.linear);
                scene
            };
            let (on_gpu, records) = play(scene(), on(&device), 6);
            let (on_cpu, _) = play(scene(), Backends::default(), 6);
            let off = farthest(&on_gpu, &on_cpu);
            let residual = records.iter().map(|r| r.linear_residual).fold(0.0, f64::max);
            eprintln!("{name}, {method:?}: {off:.1e} m apart, linear residual {residual:.1e}");
            assert!(off <= 2e-7 && residual < 1e-7, "{name}: {off:e} m, {residual:e}");
        }
    }
    assert_no_complaints(&device);
}

/// A cloth in contact, with friction: near the CPU's, the same bits again, kernels in the certificate.
#[test]
fn a_drape_agrees_with_the_cpu_and_repeats_to_the_bit() {
    let Some(device) = device() else { return };
    let scene = || load("bench/drape-32.toml", &[EXACT_SPEED]);
    let steps = 6;
    let (first, records) = play(scene(), on(&device), steps);
    let (second, _) = play(scene(), on(&device), steps);
    let (on_cpu, cpu_records) = play(scene(), Backends::default(), steps);
    assert!(bits(&first) == bits(&second), "two runs differ");
    let off = farthest(&first, &on_cpu);
    eprintln!("drape-32 after {steps} steps: {off:.1e} m from the CPU's");
    assert!(off <= 2e-7, "{off:e} m");
    assert!(records.iter().any(|r| r.active > 0), "nothing touches in this test");
    let kernels = &records.last().unwrap().kernels;
    assert!(kernels["hinge.closed_form"] > 0.0, "{kernels:?}");
    assert!(kernels.contains_key("barrier.energy") && kernels.contains_key("gather Hessian"));
    // Contact has run there as well.
    for kernel in ["contact_trees", "contact_query", "contact_rows", "contact_bound"] {
        assert!(kernels[kernel] > 0.0, "{kernel}: {kernels:?}");
    }
    let ran_on = &records.last().unwrap().ran_on;
    assert_eq!(ran_on.contact.as_ref(), Some(&ran_on.terms));
    assert!(ran_on.terms.starts_with("vulkan ("), "{ran_on:?}");
    assert!(cpu_records.iter().all(|r| r.kernels.is_empty()));
    assert_no_complaints(&device);
}

/// The conjugate gradients of the device in place of the CPU's factorisation.
#[test]
fn a_drape_solved_on_the_device_agrees() {
    let Some(device) = device() else { return };
    let scene = || load("bench/drape-32.toml", &[EXACT_SPEED]);
    let mut solved_there = scene();
    solved_there.settings.linear = Method::Pcg { tolerance: 1e-10, max_iterations: 5000 };
    let steps = 3;
    let (on_gpu, records) = play(solved_there, on(&device), steps);
    let (on_cpu, _) = play(scene(), Backends::default(), steps);
    let (off, residual) =
        (farthest(&on_gpu, &on_cpu), records.iter().map(|r| r.linear_residual).fold(0.0, f64::max));
    eprintln!("drape-32 by conjugate gradients: {off:.1e} m apart, residual {residual:.1e}");
    assert!(off <= 2e-7 && residual < 1e-7, "{off:e} m, {residual:e}");
    assert_no_complaints(&device);
}

/// The bag's first steps, with Neo-Hookean film: ties, hands, spheres.
#[test]
fn the_bag_agrees_with_the_cpu() {
    let Some(device) = device() else { return };
    let scene = || load("bag/smoke.toml", &[EXACT]);
    let (on_gpu, _) = play(scene(), on(&device), 2);
    let (on_cpu, _) = play(scene(), Backends::default(), 2);
    let off = farthest(&on_gpu, &on_cpu);
    eprintln!("bag after 2 steps: {off:.1e} m from the CPU's");
    assert!(off <= 2e-7, "{off:e} m");
    assert_no_complaints(&device);
}

/// The first step of the crossing scenes is bounded where the articles' is, by the device, in the solver's own path.
#[test]
fn crossings_are_stopped_on_the_device() {
    let Some(device) = device() else { return };
    for name in ["reference/cross-vt.toml", "reference/cross-ee.toml"] {
        let (on_gpu, records) = play(load(name, &[]), on(&device), 1);
        let (on_cpu, cpu_records) = play(load(name, &[]), Backends::default(), 1);
        let alpha = records[0].step_bounds[0];
        assert!((alpha - 0.44775).abs() < 1e-9, "{name}: {alpha}");
        assert!((alpha - cpu_records[0].step_bounds[0]).abs() < 1e-11, "{name}: {alpha}");
        assert!(farthest(&on_gpu, &on_cpu) <= 2e-7, "{name}");
        assert!(records[0].ran_on.contact.as_ref().unwrap().starts_with("vulkan ("));
        assert!(records[0].kernels["contact_bound"] > 0.0);
    }
    assert_no_complaints(&device);
}

/// Not one candidate is missing at 17 instants of the articles' pairs.
#[test]
fn no_candidate_is_missing_along_the_way() {
    let Some(device) = device() else { return };
    for name in ["reference/vt.toml", "reference/ee.toml"] {
        let scene = load(name, &[]);
        let settings = scene.model.contact.unwrap();
        let mesh = CollisionMesh::from_world(&scene.model.world, settings.min_gap);
        let mut states = vec![scene.state.clone()];
        let mut solver = Solver::new(scene.model, scene.settings).unwrap();
        for step in 0..6 {
            let mut next = State::default();
            solver.step(&states[step], &mut next).unwrap();
            states.push(next);
        }
        let mut contact = DeviceContact::new(&device).unwrap();
        let (mut on_device, mut on_cpu) = (Candidates::new(&mesh), Candidates::new(&mesh));
        let (skin, dhat) = (settings.skin, settings.parameters.dhat);
        let mut seen = 0;
        for instant in 0..17 {
            let t = f64::from(instant) * 6.0 / 16.0;
            let k = (t as usize).min(5);
            let between = |a: &State, b: &State| -> Vec<DVec3> {
                a.x.iter().zip(&b.x).map(|(a, b)| a.lerp(*b, t - k as f64)).collect()
            };
            let x = between(&states[k], &states[k + 1]);
            on_cpu.query(&mesh, &x, &x, skin, dhat, usize::MAX).unwrap();
            let sweep = Sweep { x: &x, x_end: &x, skin, dhat, limit: usize::MAX };
            contact.query(&mesh, &sweep, &mut on_device).unwrap();
            assert_eq!(on_device.lists(), on_cpu.lists(), "{name}, instant {instant}");
            seen += on_cpu.len();
        }
        assert!(seen > 0, "{name}: nothing was ever near");
    }
    assert_no_complaints(&device);
}

#[test]
fn the_tool_lists_devices_and_runs_on_one() {
    let listed = gusset(&["devices", "--json"]).done().json();
    let devices = listed["devices"].as_array().unwrap();
    if devices.is_empty() {
        assert!(listed["none_because"].is_string());
        let bench = Bench::new();
        let said = gusset(&["run", &bench.scene(), "--backend", "vulkan"]);
        assert_eq!(said.exit, gusset_cli::Exit::BadInput);
        assert!(said.messages.contains("--backend cpu"), "{}", said.messages);
        return;
    }
    assert!(devices.iter().all(|d| d["usable"] == true || d["why_not"].is_string()));
    if device().is_none() {
        return;
    }
    let bench = Bench::new();
    let out = bench.text("out");
    let said = gusset(&[
        "run",
        &bench.scene(),
        "--backend",
        "vulkan",
        "--out",
        &out,
        "--json",
        "--no-view",
    ]);
    let said = said.done();
    let told = said.messages.lines().filter(|line| line.starts_with("linear solver: ")).count();
    assert_eq!(told, 1, "{}", said.messages);
    let json = said.json();
    for who in [&json["backend"], &json["ran_on"]["terms"], &json["ran_on"]["contact"]] {
        assert!(who.as_str().unwrap().starts_with("vulkan ("), "{json}");
    }
    let said = gusset(&["run", &bench.scene(), "--device", "99", "--out", &bench.text("no")]);
    assert_eq!(said.exit, gusset_cli::Exit::BadInput);
    assert!(said.messages.contains("no Vulkan device `99`"), "{}", said.messages);
}

/// A device that fails in the middle of a step: the CPU makes that step from the last accepted state, to the bit as if it had
/// been given that state, and all that follow.
#[test]
fn the_cpu_takes_over_from_the_last_accepted_state() {
    let Some(device) = device() else { return };
    let scene = || load("reference/ee.toml", &[]);
    let steps = 4;
    let (whole, _) = play(scene(), on(&device), steps);
    // In the search for candidates, in an assembly, in a line search, in the check of the start; and without memory.
    let faults = [3, 40, 41, 42, 43, 44, 45, 46].map(Fault::Lost);
    let faults = faults.into_iter().chain([40, 60].map(Fault::OutOfMemory));
    let mut taken_over = BTreeSet::new();
    for fault in faults {
        let failing = device.clone().with_fault(fault);
        let Ok(terms) = VulkanBackend::new(&failing) else { continue };
        let contact = Box::new(terms.contact());
        let backends = Backends { contact, terms: Box::new(terms), fallback: true };
        let Scene { model, settings, state, .. } = scene();
        let mut solver = Solver::with_backends(model, settings, backends).unwrap();
        solver.check_start(&state).unwrap();
        let mut states = vec![state];
        let mut told = Vec::new();
        for step in 0..steps {
            let mut next = State::default();
            let record = solver.step(&states[step], &mut next).unwrap();
            for note in &record.notes {
                assert!(note.contains("the CPU has taken over"), "{note}");
                told.push(step);
            }
            let by_cpu = !told.is_empty();
            assert_eq!(record.ran_on.terms.starts_with("cpu"), by_cpu);
            assert_eq!(record.ran_on.contact.as_deref() == Some("cpu"), by_cpu);
            states.push(next);
        }
        // Once, and in one line.
        let [step] = told[..] else { panic!("{fault:?}: told {told:?}") };
        taken_over.insert(step);
        let Scene { model, settings, .. } = scene();
        let mut on_cpu = Solver::new(model, settings).unwrap();
        for k in step..steps {
            let mut next = State::default();
            on_cpu.step(&states[k], &mut next).unwrap();
            assert!(bits(&next) == bits(&states[k + 1]), "{fault:?}, step {k}");
        }
        assert!(farthest(&whole, &states[steps]) <= 2e-7);
    }
    assert!(taken_over.len() > 1, "always the same step: {taken_over:?}");
}

/// Without a fallback a failure of the device ends the run with a clear error and a checkpoint to go on from.
#[test]
fn a_lost_device_leaves_a_checkpoint() {
    if device().is_none() {
        return;
    }
    let bench = Bench::new();
    let (scene, out) = (bench.scene(), bench.text("out"));
    let run = ["run", &scene, "--out", &out, "--steps", "40", "--no-view"];
    let run_on = |backend| [&run[..], &["--backend", backend]].concat();
    let ended = command(&run_on("vulkan")).env("GUSSET_VULKAN_FAULT", "lost:400").output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(1), "{said}");
    for part in ["the Vulkan device was lost", "--resume", "is kept"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let resumed = [&run_on("cpu")[..], &["--resume"]].concat();
    let said = gusset(&resumed).done();
    assert!(said.messages.contains("resuming after step"), "{}", said.messages);
}

/// An energy whose kernel nobody can compile: the CPU evaluates it, one line says so, and the rest runs on the device.
#[test]
fn an_energy_without_a_kernel_is_evaluated_on_the_cpu() {
    let Some(device) = device() else { return };
    let scene = || load("reference/vt.toml", &[EXACT]);
    let terms = VulkanBackend::new(&device.clone().without_kernels_of("stvk")).unwrap();
    let contact = Box::new(terms.contact());
    let backends = Backends { contact, terms: Box::new(terms), fallback: false };
    let (mixed, records) = play(scene(), backends, 3);
    let (on_cpu, _) = play(scene(), Backends::default(), 3);
    assert!(farthest(&mixed, &on_cpu) <= 2e-7);
    let notes: Vec<&String> = records.iter().flat_map(|r| &r.notes).collect();
    assert!(notes.iter().all(|n| n.contains("is evaluated on the CPU: its kernel")), "{notes:?}");
    assert!(!notes.is_empty() && records[1].notes.is_empty(), "{notes:?}");
    assert!(records[0].kernels.keys().all(|k| !k.starts_with("stvk")));
    assert!(records[0].kernels["contact_rows"] > 0.0);
    assert_no_complaints(&device);
}

/// Kernels of the template's energy, which do not come with the framework: compiled once, then taken from the disk.
#[test]
fn kernels_of_ones_own_energy_are_kept_on_disk() {
    if device().is_none() {
        return;
    }
    let bench = Bench::new();
    let scene = concat!(env!("CARGO_MANIFEST_DIR"), "/../energies/template/scene.toml");
    let cache = bench.text("kernels");
    let run = |out: &str| {
        let out = bench.text(out);
        let args =
            ["run", scene, "--backend", "vulkan", "--steps", "2", "--no-view", "--out", &out];
        command(&args).env("GUSSET_KERNEL_CACHE", &cache).output().unwrap().status.success()
    };
    if let Err(why) = gusset_gpu::compile::compiler() {
        skip(&format!("no shaderc, so the template's energy was not compiled ({why})"));
        return;
    }
    assert!(run("first"));
    let kept = || -> Vec<(String, std::time::SystemTime)> {
        let entries = std::fs::read_dir(&cache).unwrap().map(Result::unwrap);
        let mut kept: Vec<_> = entries
            .map(|e| {
                (e.file_name().into_string().unwrap(), e.metadata().unwrap().modified().unwrap())
            })
            .collect();
        kept.sort();
        kept
    };
    let first = kept();
    let stages: Vec<&str> = first.iter().map(|(name, _)| name.split('.').nth(1).unwrap()).collect();
    assert_eq!(stages, ["energy", "exact"], "{first:?}");
    assert!(first.iter().all(|(name, _)| name.starts_with("spring.")));
    assert!(run("second") && kept() == first, "they were compiled again");
    // What is damaged is made anew.
    for (name, _) in &first {
        std::fs::write(bench.path("kernels").join(name), b"no SPIR-V").unwrap();
    }
    assert!(run("third"));
    for (name, _) in &first {
        let bytes = std::fs::read(bench.path("kernels").join(name)).unwrap();
        assert!(bytes.starts_with(&[3, 2, 0x23, 7]) && bytes.len() > 1000, "{name}");
    }
}
