//! One size of cloth: what its stages cost on the device and on the CPU.

use crate::budget::Budget;
use crate::cost::Cost;
use crate::report::{Kernel, Size, Stage};
use crate::sheet::Sheet;
use gusset_contact::{Candidates, CpuDetection, Detection as _, Sweep};
use gusset_energy::Want;
use gusset_gpu::vulkan::Device;
use gusset_gpu::{DeviceContact, VulkanBackend};
use gusset_system::{Backend, CpuBackend, LinearSolver, Method, SolveError, System};
use std::collections::BTreeMap;
use std::error::Error;
use std::time::Instant;

/// Relative residual of the linear solves.
const RESIDUAL: f64 = 1e-6;
/// Iterations that are timed before it is decided how many there may be.
const TRIAL: u32 = 8;

/// What stays the same from size to size.
pub(crate) struct Bench<'a> {
    pub(crate) device: &'a Device,
    /// Bytes a second.
    pub(crate) bandwidth: f64,
    pub(crate) repeat: u32,
    pub(crate) budget: &'a Budget,
    /// Triangles and seconds of the largest factorisation on the CPU so far.
    pub(crate) factorised: Option<(usize, f64)>,
    /// Seconds of what is left out when time runs short, of the size at hand.
    pub(crate) optional: f64,
    pub(crate) left_out: Vec<String>,
}

/// Seconds on the device and on the CPU.
type Both = [Option<f64>; 2];

/// What solving takes.
struct Solves {
    /// Of a whole solve: conjugate gradients, and a factorisation.
    seconds: Both,
    /// Of an iteration of conjugate gradients.
    iteration: Both,
    iterations: [Option<u32>; 2],
}

/// Seconds of the fastest of some tries.
fn fastest<E>(tries: u32, mut work: impl FnMut() -> Result<(), E>) -> Result<f64, E> {
    let mut best = f64::INFINITY;
    for _ in 0..tries {
        let begin = Instant::now();
        work()?;
        best = best.min(begin.elapsed().as_secs_f64());
    }
    Ok(best)
}

/// Sums seconds, unless one is not known.
fn sum(parts: &[Option<f64>]) -> Option<f64> {
    parts.iter().copied().sum()
}

impl Bench<'_> {
    pub(crate) fn measure(&mut self, triangles: usize) -> Result<Size, Box<dyn Error>> {
        let sheet = Sheet::new(triangles)?;
        let (terms, state) = (&sheet.terms, sheet.state());
        let mut system = System::new(&vec![false; sheet.x.len()], terms);
        let mut cost = Cost::of(&sheet, &system);
        let mut backend = VulkanBackend::new(self.device)?;
        let mut cpu = CpuBackend::default();
        let mut kernels = BTreeMap::new();
        let mut keep = |name: String, seconds: f64| {
            let best = kernels.entry(name).or_insert(f64::INFINITY);
            *best = seconds.min(*best);
        };

        let (repeat, mut energies) = (self.repeat, Vec::new());
        let (mut assembly, mut evaluation) = ([f64::INFINITY; 2], [f64::INFINITY; 2]);
        // The first pass compiles, uploads and makes room.
        for pass in 0..=repeat {
            backend.report();
            let none = &mut Vec::new;
            let assembled =
                fastest(1, || backend.assemble(terms, &state, Want::Hessian, none, &mut system))?;
            let evaluated = fastest(1, || backend.energies(terms, &state, &mut energies))?;
            let report = backend.report();
            if pass > 0 {
                assembly[0] = assembly[0].min(assembled);
                evaluation[0] = evaluation[0].min(evaluated);
                report.seconds.into_iter().for_each(|(name, seconds)| keep(name, seconds));
            }
        }
        let tries = repeat.min(3);
        assembly[1] = fastest(tries + 1, || {
            cpu.assemble(terms, &state, Want::Hessian, &mut Vec::new, &mut system)
        })?;
        evaluation[1] = fastest(tries + 1, || cpu.energies(terms, &state, &mut energies))?;

        let (candidates, found) = self.candidates(&sheet, &mut cost)?;
        if let Some(seconds) = candidates[0] {
            keep("candidates".to_owned(), seconds);
        }

        let (n, values) = (system.gradient.len(), &system.values);
        let (ones, mut product) = (vec![1.0; n], vec![0.0; n]);
        let multiply_cpu = fastest::<SolveError>(tries + 1, || {
            system.pattern.multiply(values, &ones, &mut product);
            Ok(())
        })?;
        let solves = self.solve(&mut backend, &sheet, &mut system, &mut cpu)?;
        let multiply = backend.time_multiply(&system, repeat)?;
        keep("H p".to_owned(), multiply);

        let kernels = kernels.into_iter().map(|(name, seconds)| {
            let (bytes, flops) = cost.stage(&name);
            Kernel { of_bandwidth: bytes / seconds / self.bandwidth, name, seconds, bytes, flops }
        });
        let stage = |name: &str, [device, cpu]: Both| Stage { name: name.to_owned(), device, cpu };
        let (assembly, evaluation) = (assembly.map(Some), evaluation.map(Some));
        let both = |k: usize| sum(&[assembly[k], evaluation[k], solves.seconds[k]]);
        Ok(Size {
            triangles: sheet.triangles,
            vertices: sheet.x.len(),
            blocks: system.pattern.block_count(),
            candidates: found,
            kernels: kernels.collect(),
            stages: vec![
                stage("assembly", assembly),
                stage("energies", evaluation),
                stage("candidates", candidates),
                stage("matrix times vector", [Some(multiply), Some(multiply_cpu)]),
                stage("iteration of CG", solves.iteration),
                stage("solve: CG, CPU Cholesky", solves.seconds),
            ],
            newton: stage("Newton iteration", [both(0), both(1)]),
            cg_iterations: solves.iterations,
        })
    }

    /// Seconds of a query for candidates on the device and on the CPU, and how many there are.
    fn candidates(&self, sheet: &Sheet, cost: &mut Cost) -> Result<(Both, usize), Box<dyn Error>> {
        let (mesh, end) = (sheet.collision_mesh(), sheet.end());
        let sweep = Sweep {
            x: &sheet.x,
            x_end: &end,
            skin: 0.05 * sheet.cell,
            dhat: 0.3 * sheet.cell,
            limit: usize::MAX,
        };
        let mut on_cpu = Candidates::new(&mesh);
        let cpu =
            fastest(self.repeat.min(3) + 1, || CpuDetection.query(&mesh, &sweep, &mut on_cpu))?;
        let (mut contact, mut on_device) =
            (DeviceContact::new(self.device)?, Candidates::new(&mesh));
        let mut query = || contact.query(&mesh, &sweep, &mut on_device);
        // The first builds the trees and makes room, as one of many in a run.
        query()?;
        let device = fastest(self.repeat, query)?;
        let found = on_device.len();
        assert!(on_device.lists() == on_cpu.lists(), "device and CPU find the same pairs");
        cost.add_candidates(&mesh, found);
        Ok(([Some(device), Some(cpu)], found))
    }

    /// Solves on the device and on the CPU, as far as there is time.
    fn solve(
        &mut self,
        backend: &mut VulkanBackend,
        sheet: &Sheet,
        system: &mut System,
        cpu: &mut CpuBackend,
    ) -> Result<Solves, Box<dyn Error>> {
        let (terms, state) = (&sheet.terms, sheet.state());
        let mut direction = Vec::new();
        let size = format!("{} triangles", sheet.triangles);
        // The first analyses the pattern, two more tell what an iteration costs, the last solves.
        let (mut device, mut each, mut needed) = (None, None, None);
        let mut trials = [f64::INFINITY; 3];
        for trial in 0..4 {
            let max_iterations = match trial {
                0 | 1 => TRIAL,
                2 => 3 * TRIAL,
                _ => {
                    let each = (trials[2] - trials[1]).max(1e-9) / f64::from(2 * TRIAL);
                    (0.3 * self.budget.left() / each).clamp(f64::from(TRIAL), 4000.0) as u32
                }
            };
            let method = Method::Pcg { tolerance: RESIDUAL, max_iterations };
            backend.use_method(method, system.pattern.len());
            backend.assemble(terms, &state, Want::Hessian, &mut Vec::new, system)?;
            let begin = Instant::now();
            let solved = backend.solve(system, &mut direction).expect("solved on the device");
            let seconds = begin.elapsed().as_secs_f64();
            if trial == trials.len() {
                self.optional += seconds;
            }
            match solved {
                Ok(solution) => {
                    device = Some(seconds);
                    needed = Some(solution.iterations);
                    let iterations = f64::from(solution.iterations.max(1));
                    each = Some(solution.solve.as_secs_f64() / iterations);
                }
                Err(SolveError::NoConvergence { .. }) if trial < trials.len() => {
                    trials[trial] = seconds;
                }
                Err(SolveError::NoConvergence { iterations, .. }) => {
                    each = Some((trials[2] - trials[1]) / f64::from(2 * TRIAL));
                    self.left_out.push(format!(
                        "solve of {size} on the device: needs more than the {iterations} iterations that fit"
                    ));
                }
                Err(other) => return Err(other.into()),
            }
        }

        cpu.assemble(terms, &state, Want::Hessian, &mut Vec::new, system)?;
        let mut jacobi = |max_iterations: u32| {
            let mut solver = LinearSolver::new(Method::Pcg { tolerance: RESIDUAL, max_iterations });
            let begin = Instant::now();
            let solved = solver.solve(system, &mut direction);
            (solved, begin.elapsed().as_secs_f64())
        };
        let (_, trial) = jacobi(TRIAL);
        let each_cpu = trial / f64::from(TRIAL);
        let fit = (0.1 * self.budget.left() / each_cpu).clamp(1.0, 4000.0) as u32;
        let (solved, seconds) = jacobi(fit);
        self.optional += seconds;
        let needed_cpu = solved.ok().map(|solution| solution.iterations);

        // A factorisation grows faster than the cloth.
        let expected = self.factorised.map_or(0.0, |(triangles, seconds)| {
            seconds * (sheet.triangles as f64 / triangles as f64).powf(1.6)
        });
        let direct = match self.budget.allows(&format!("Cholesky of {size} on the CPU"), expected) {
            Ok(()) => {
                let begin = Instant::now();
                let mut solver = LinearSolver::new(Method::Cholesky);
                solver.solve(system, &mut direction)?;
                // Again without the ordering, as in all iterations of a step but the first.
                let seconds = fastest(1, || solver.solve(system, &mut direction).map(drop))?;
                self.factorised = Some((sheet.triangles, seconds));
                self.optional += begin.elapsed().as_secs_f64();
                Some(seconds)
            }
            Err(why) => {
                self.left_out.push(why);
                None
            }
        };
        Ok(Solves {
            seconds: [device, direct],
            iteration: [each, Some(each_cpu)],
            iterations: [needed, needed_cpu],
        })
    }
}
