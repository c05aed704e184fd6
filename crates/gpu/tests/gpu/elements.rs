//! Energies, gradients and Hessians of the device against the CPU's.

use crate::device::device;
use crate::kinds::{Case, cases};
use glam::DVec3;
use gusset_energy::{StepState, Term, Want};
use gusset_gpu::VulkanBackend;
use gusset_system::{Backend as _, Compensated, CpuBackend, System};

/// Random stencils of each kind.
const COUNT: usize = 100_000;

impl Case {
    fn state(&self) -> StepState<'_> {
        StepState { x: &self.x, x_start: &self.x_start, v_start: &self.v_start, dt: 0.01 }
    }
}

/// Largest difference of a group of numbers, over the largest of the CPU's.
#[derive(Default)]
struct Worst {
    relative: f64,
    differ: usize,
    count: usize,
}

impl Worst {
    /// Compares groups that `group_of` numbers in rising order.
    fn compare(found: &[f64], expected: &[f64], group_of: &[u32]) -> Self {
        assert_eq!(found.len(), expected.len());
        let groups = group_of.iter().max().map_or(0, |g| *g as usize + 1);
        let mut size = vec![0.0_f64; groups];
        for (e, &g) in expected.iter().zip(group_of) {
            size[g as usize] = size[g as usize].max(e.abs());
        }
        let mut worst = Self { count: found.len(), ..Self::default() };
        for ((f, e), &g) in found.iter().zip(expected).zip(group_of) {
            if f.to_bits() != e.to_bits() && !(f.is_nan() && e.is_nan()) && f != e {
                worst.differ += 1;
                let off = (f - e).abs() / size[g as usize].max(f64::MIN_POSITIVE);
                worst.relative = if off <= worst.relative { worst.relative } else { off };
            }
        }
        worst
    }
}

impl std::fmt::Display for Worst {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let share = 100.0 * self.differ as f64 / self.count.max(1) as f64;
        write!(f, "{:.1e} ({share:.2} % differ)", self.relative)
    }
}

/// Group of each value of the lower triangle, by the group of its column.
fn groups_of_values(system: &System, group: usize) -> Vec<u32> {
    let pattern = &system.pattern;
    let mut of = Vec::with_capacity(system.values.len());
    for j in 0..pattern.len() {
        let values = 9 * pattern.rows(j).len() - 3;
        let vertex = pattern.free()[j] as usize;
        of.extend(std::iter::repeat_n((vertex / group) as u32, values));
    }
    of
}

fn compare(backend: &mut VulkanBackend, mut case: Case) {
    let fixed = vec![false; case.x.len()];
    let (name, tolerance, group) = (case.name, case.tolerance, case.group);
    let terms = [case.term.take().unwrap()];
    let state = case.state();

    let mut expected = Vec::new();
    terms[0].energy(&state, &mut expected);
    let found = backend.stencil_energies(&terms, &state).unwrap();
    let each: Vec<u32> = (0..expected.len() as u32).collect();
    let energies = Worst::compare(&found, &expected, &each);
    let mut sums = (Vec::new(), Vec::new());
    backend.energies(&terms, &state, &mut sums.0).unwrap();
    CpuBackend::default().energies(&terms, &state, &mut sums.1).unwrap();
    let off = sums.0[0].minus(sums.1[0]).abs();
    // Where a stencil is infinite, so are both sums.
    let infinite = !sums.0[0].value().is_finite() && !sums.1[0].value().is_finite();
    let size = expected.iter().fold(0.0_f64, |a, e| a.max(e.abs()));

    let mut systems = [System::new(&fixed, &terms), System::new(&fixed, &terms)];
    let mut report = format!("{name}: energy {energies}");
    let mut failures = Vec::new();
    let near = infinite || off <= tolerance * size * COUNT as f64;
    let near = near && energies.relative <= tolerance;
    if !near {
        failures.push("energy");
    }
    for want in [Want::Hessian, Want::ExactHessian] {
        let [cpu, gpu] = &mut systems;
        cpu.assemble(&terms, &state, want, Vec::new).unwrap();
        backend.assemble(&terms, &state, want, &mut Vec::new, gpu).unwrap();
        let vertices: Vec<u32> = (0..cpu.gradient.len()).map(|k| (k / 3 / group) as u32).collect();
        let gradient = Worst::compare(&gpu.gradient, &cpu.gradient, &vertices);
        let hessian = Worst::compare(&gpu.values, &cpu.values, &groups_of_values(cpu, group));
        report = format!("{report}; {want:?}: gradient {gradient}, Hessian {hessian}");
        let near = gradient.relative <= tolerance && hessian.relative <= tolerance;
        if !near {
            failures.push("derivatives");
        }
    }
    eprintln!("{report}");
    assert!(failures.is_empty(), "beyond {tolerance:e} ({failures:?}): {report}");
}

#[test]
fn every_kind_agrees_with_the_cpu() {
    let Some(checked) = device() else { return };
    let compiler = gusset_gpu::compile::compiler();
    for case in cases(COUNT) {
        if case.name == "spring" && compiler.is_err() {
            eprintln!("SKIPPED: the template's kernels need shaderc ({compiler:?})");
            continue;
        }
        compare(&mut checked.backend(), case);
    }
}

/// The order of the sums, and so the bits, are those of the CPU: also where arenas and matrix come in several parts.
#[test]
fn a_small_view_of_memory_changes_no_bit() {
    let Some(checked) = device() else { return };
    let device = checked.device.clone().with_storage_range(1 << 20);
    let find = |name: &str| cases(3000).into_iter().find(|c| c.name == name).unwrap();
    for name in ["stvk", "tet-neo-hookean stable", "penalty"] {
        let case = find(name);
        let terms = [find(name).term.unwrap()];
        let fixed: Vec<bool> = (0..case.x.len()).map(|v| v % 7 == 3).collect();
        let state = case.state();
        let mut whole = System::new(&fixed, &terms);
        let mut parts = System::new(&fixed, &terms);
        let none = &mut Vec::new;
        checked.backend().assemble(&terms, &state, Want::Hessian, none, &mut whole).unwrap();
        let mut backend = VulkanBackend::new(&device).unwrap();
        backend.assemble(&terms, &state, Want::Hessian, none, &mut parts).unwrap();
        assert!(whole.values == parts.values && whole.gradient == parts.gradient, "{name}");
        // And again, from what the device has kept.
        backend.assemble(&terms, &state, Want::Hessian, none, &mut parts).unwrap();
        assert!(whole.values == parts.values && whole.gradient == parts.gradient, "{name}");
    }
}

/// Stencils that are singular one way or another: what is finite on the CPU is the same here, what is not is not.
#[test]
fn degenerate_stencils_agree() {
    let Some(checked) = device() else { return };
    let mut backend = checked.backend();
    for mut case in cases(64) {
        if case.name == "spring" && gusset_gpu::compile::compiler().is_err() {
            continue;
        }
        // All points in one place; two in one place; all on a line; a mirror image; huge; where they started.
        let group = case.group;
        let groups = case.x.len() / group;
        for g in 0..groups {
            let points = &mut case.x[group * g..group * (g + 1)];
            match g % 6 {
                0 => points.fill(DVec3::new(0.3, -0.1, 0.2)),
                1 => points[0] = points[group - 1],
                2 => points.iter_mut().enumerate().for_each(|(k, p)| *p = DVec3::X * k as f64),
                3 => points.iter_mut().for_each(|p| p.z = -p.z),
                4 => points.iter_mut().for_each(|p| *p *= 1e100),
                _ => points.copy_from_slice(&case.x_start[group * g..group * (g + 1)]),
            }
        }
        let terms = [case.term.take().unwrap()];
        let mut expected = Vec::new();
        terms[0].energy(&case.state(), &mut expected);
        let found = backend.stencil_energies(&terms, &case.state()).unwrap();
        for (k, (f, e)) in found.iter().zip(&expected).enumerate() {
            let same = f == e || f.is_nan() && e.is_nan();
            let near = (f - e).abs() <= case.tolerance * e.abs() && e.is_finite();
            assert!(same || near, "{} {k}: energy {f} on the device, {e} on the CPU", case.name);
        }
        let fixed = vec![false; case.x.len()];
        let (mut cpu, mut gpu) = (System::new(&fixed, &terms), System::new(&fixed, &terms));
        let on_cpu = cpu.assemble(&terms, &case.state(), Want::Hessian, Vec::new);
        let on_gpu =
            backend.assemble(&terms, &case.state(), Want::Hessian, &mut Vec::new, &mut gpu);
        assert_eq!(on_cpu.is_err(), on_gpu.is_err(), "{}: {on_cpu:?} {on_gpu:?}", case.name);
        if let Err(error) = on_gpu {
            // The CPU names the stencil for both.
            assert_eq!(error.to_string(), on_cpu.unwrap_err().to_string());
        }
        for (k, (g, c)) in gpu.gradient.iter().zip(&cpu.gradient).enumerate() {
            assert_eq!(g.is_finite(), c.is_finite(), "{}: gradient {k}: {g} {c}", case.name);
        }
    }
}

/// Energies that nearly cancel between two states keep their difference.
#[test]
fn sums_keep_small_differences() {
    let Some(checked) = device() else { return };
    let case = cases(5000).into_iter().find(|c| c.name == "inertia").unwrap();
    let mut moved = case.x.clone();
    let at = |x| StepState { x, x_start: &case.x_start, v_start: &case.v_start, dt: 1e-6 };
    moved[17].x += 1e-12;
    let difference = |backend: &mut dyn gusset_system::Backend, terms: &[Box<dyn Term>]| {
        let (mut a, mut b): (Vec<Compensated>, Vec<Compensated>) = Default::default();
        backend.energies(terms, &at(&case.x), &mut a).unwrap();
        backend.energies(terms, &at(&moved), &mut b).unwrap();
        b[0].minus(a[0])
    };
    let again = cases(5000).into_iter().find(|c| c.name == "inertia").unwrap();
    let terms = [again.term.unwrap()];
    let on_gpu = difference(&mut checked.backend(), &terms);
    let on_cpu = difference(&mut CpuBackend::default(), &terms);
    assert!(on_cpu != 0.0);
    assert!((on_gpu - on_cpu).abs() <= 1e-9 * on_cpu.abs(), "{on_gpu:e} and {on_cpu:e}");
}
