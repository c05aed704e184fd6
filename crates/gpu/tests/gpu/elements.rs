//! Energies, gradients and Hessians of the device against the CPU's.

use crate::device::device;
use crate::kinds::{Case, cases};
use crate::terms::Scale;
use glam::DVec3;
use gusset_energy::{StepState, Term, Want, block_count};
use gusset_gpu::VulkanBackend;
use gusset_system::{Backend as _, Compensated, CpuBackend, System};

/// Random stencils of each kind.
const COUNT: usize = 100_000;

impl Case {
    fn state(&self) -> StepState<'_> {
        StepState { x: &self.x, x_start: &self.x_start, v_start: &self.v_start, dt: 0.01 }
    }
}

/// Largest difference of a group of numbers, over the largest term of the group's stencils.
#[derive(Default)]
struct Worst {
    relative: f64,
    differ: usize,
    count: usize,
}

impl Worst {
    /// Compares numbers that belong to the groups `group_of`, whose scales are given.
    fn compare(found: &[f64], expected: &[f64], group_of: &[u32], scales: &[f64]) -> Self {
        assert_eq!(found.len(), expected.len());
        let mut worst = Self { count: found.len(), ..Self::default() };
        for ((f, e), &g) in found.iter().zip(expected).zip(group_of) {
            if f.to_bits() != e.to_bits() && !(f.is_nan() && e.is_nan()) && f != e {
                worst.differ += 1;
                let scale = scales[g as usize];
                let off = (f - e).abs() / scale.max(f64::MIN_POSITIVE);
                // Two that are not finite where the other is have no distance.
                let off = if off.is_nan() { f64::INFINITY } else { off };
                worst.relative = worst.relative.max(off);
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

/// Of each group of vertices, the largest terms of its stencils.
fn scales_of_groups(case: &Case, term: &dyn Term) -> (Vec<Scale>, Vec<Scale>) {
    let stencils = (case.scales)(term, &case.state());
    let mut groups = vec![Scale::default(); case.x.len() / case.group];
    for (vertices, scale) in term.stencils().chunks_exact(term.arity()).zip(&stencils) {
        let group = &mut groups[vertices[0] as usize / case.group];
        *group = group.or(*scale);
    }
    (stencils, groups)
}

/// Energies, gradients and blocks of a case, device against CPU; what is beyond the tolerance, and a line of figures.
fn compare(backend: &mut VulkanBackend, mut case: Case) -> (Vec<&'static str>, String) {
    let fixed = vec![false; case.x.len()];
    let (name, tolerance, group) = (case.name, case.tolerance, case.group);
    let terms = [case.term.take().unwrap()];
    let state = case.state();
    let (scales, groups) = scales_of_groups(&case, terms[0].as_ref());
    let energies_of: Vec<f64> = scales.iter().map(|s| s.energy).collect();

    let mut expected = Vec::new();
    terms[0].energy(&state, &mut expected);
    let found = backend.stencil_energies(&terms, &state).unwrap();
    let each: Vec<u32> = (0..expected.len() as u32).collect();
    let energies = Worst::compare(&found, &expected, &each, &energies_of);
    let mut sums = (Vec::new(), Vec::new());
    backend.energies(&terms, &state, &mut sums.0).unwrap();
    CpuBackend::default().energies(&terms, &state, &mut sums.1).unwrap();
    let off = sums.0[0].minus(sums.1[0]).abs();
    // Where a stencil is infinite, so are both sums.
    let infinite = !sums.0[0].value().is_finite() && !sums.1[0].value().is_finite();
    let size: f64 = energies_of.iter().sum();

    let mut systems = [System::new(&fixed, &terms), System::new(&fixed, &terms)];
    let mut report = format!("{name} (within {tolerance:e}): energy {energies}");
    let mut failures = Vec::new();
    if !(energies.relative <= tolerance && (infinite || off <= tolerance * size)) {
        failures.push("energy");
    }
    for want in [Want::Hessian, Want::ExactHessian] {
        let [cpu, gpu] = &mut systems;
        cpu.assemble(&terms, &state, want, Vec::new).unwrap();
        backend.assemble(&terms, &state, want, &mut Vec::new, gpu).unwrap();
        let of = |k: usize| -> Vec<f64> {
            let pick = |s: &Scale| if want == Want::Hessian { s.assembled[k] } else { s.exact[k] };
            groups.iter().map(pick).collect()
        };
        let vertices: Vec<u32> = (0..cpu.gradient.len()).map(|k| (k / 3 / group) as u32).collect();
        let gradient = Worst::compare(&gpu.gradient, &cpu.gradient, &vertices, &of(0));
        let values = groups_of_values(cpu, group);
        let hessian = Worst::compare(&gpu.values, &cpu.values, &values, &of(1));
        report = format!("{report}; {want:?}: gradient {gradient}, Hessian {hessian}");
        let near = gradient.relative <= tolerance && hessian.relative <= tolerance;
        if !near {
            failures.push("derivatives");
        }
    }
    (failures, report)
}

#[test]
fn every_kind_agrees_with_the_cpu() {
    let Some(checked) = device() else { return };
    let compiler = gusset_gpu::compile::compiler();
    for case in cases(COUNT) {
        if case.name == "spring" && compiler.is_err() {
            crate::skip(&format!("the template's kernels need shaderc ({compiler:?})"));
            continue;
        }
        let (failures, report) = compare(&mut checked.backend(), case);
        eprintln!("{report}");
        assert!(failures.is_empty(), "{failures:?} beyond the tolerance: {report}");
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

/// Makes the points of a stencil singular, given where they started.
type Degenerate = fn(&mut [DVec3], &[DVec3]);

const DEGENERATIONS: [(&str, Degenerate); 7] = [
    ("all in one place", |p, _| p.fill(DVec3::new(0.3, -0.1, 0.2))),
    ("two in one place", |p, _| p[0] = p[p.len() - 1]),
    ("on a line", |p, _| p.iter_mut().enumerate().for_each(|(k, p)| *p = DVec3::X * k as f64)),
    ("mirrored", |p, _| p.iter_mut().for_each(|p| p.z = -p.z)),
    ("tiny", |p, _| p.iter_mut().for_each(|p| *p *= 1e-100)),
    ("huge", |p, _| p.iter_mut().for_each(|p| *p *= 1e100)),
    ("where they started", |p, start| p.copy_from_slice(start)),
];

impl Case {
    fn degenerate(&mut self, how: Degenerate) {
        let starts = self.x_start.chunks_exact(self.group);
        self.x.chunks_exact_mut(self.group).zip(starts).for_each(|(p, start)| how(p, start));
    }

    /// Gives stencils with anything that is not finite the positions of `other`; how many there are.
    fn mend(&mut self, other: &[DVec3]) -> usize {
        let term = self.term.as_ref().unwrap();
        let (n, count) = (term.arity(), term.count());
        let blocks = 9 * block_count(n);
        let (mut g, mut h) = (vec![0.0; 3 * n * count], vec![0.0; blocks * count]);
        let mut broken = Vec::new();
        for want in [Want::Hessian, Want::ExactHessian] {
            term.eval(&self.state(), want, &mut g, &mut h);
            let each = g.chunks_exact(3 * n).zip(h.chunks_exact(blocks)).enumerate();
            let bad = each.filter(|(_, (g, h))| g.iter().chain(*h).any(|v| !v.is_finite()));
            broken.extend(bad.map(|(k, _)| term.stencils()[n * k] as usize / self.group));
        }
        broken.sort_unstable();
        broken.dedup();
        for group in &broken {
            let points = self.group * group..self.group * (group + 1);
            self.x[points.clone()].copy_from_slice(&other[points]);
        }
        broken.len()
    }
}

/// Stencils that are singular one way or another: what is finite on the CPU is the same here, what is not is not.
#[test]
fn degenerate_stencils_agree() {
    let Some(checked) = device() else { return };
    let mut backend = checked.backend();
    let mut compared = 0;
    for (what, how) in DEGENERATIONS {
        for mut case in cases(500) {
            if case.name == "spring" && gusset_gpu::compile::compiler().is_err() {
                continue;
            }
            let name = case.name;
            let original = case.x.clone();
            case.degenerate(how);
            let terms = [case.term.take().unwrap()];
            let mut expected = Vec::new();
            terms[0].energy(&case.state(), &mut expected);
            let found = backend.stencil_energies(&terms, &case.state()).unwrap();
            let scales = (case.scales)(terms[0].as_ref(), &case.state());
            for (k, ((f, e), scale)) in found.iter().zip(&expected).zip(scales).enumerate() {
                let same = f == e || f.is_nan() && e.is_nan();
                let near = (f - e).abs() <= case.tolerance * scale.energy && e.is_finite();
                assert!(same || near, "{name}, {what}, {k}: energy {f} here, {e} on the CPU");
            }
            let fixed = vec![false; case.x.len()];
            let (mut cpu, mut gpu) = (System::new(&fixed, &terms), System::new(&fixed, &terms));
            let on_cpu = cpu.assemble(&terms, &case.state(), Want::Hessian, Vec::new);
            let none = &mut Vec::new;
            let on_gpu = backend.assemble(&terms, &case.state(), Want::Hessian, none, &mut gpu);
            assert_eq!(on_cpu.is_err(), on_gpu.is_err(), "{name}, {what}: {on_cpu:?} {on_gpu:?}");
            if let Err(error) = on_gpu {
                // The CPU names the stencil for both.
                assert_eq!(error.to_string(), on_cpu.unwrap_err().to_string());
            }
            for (k, (g, c)) in gpu.gradient.iter().zip(&cpu.gradient).enumerate() {
                assert_eq!(g.is_finite(), c.is_finite(), "{name}, {what}, gradient {k}: {g} {c}");
            }
            let [term] = terms;
            case.term = Some(term);
            compared += case.x.len() / case.group - case.mend(&original);
            let (failures, report) = compare(&mut backend, case);
            assert!(failures.is_empty(), "{what}, {failures:?} beyond the tolerance: {report}");
        }
    }
    eprintln!("{compared} degenerate stencils have finite derivatives");
    assert!(compared > 20_000);
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
