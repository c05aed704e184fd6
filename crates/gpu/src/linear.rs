//! Conjugate gradients on the device, preconditioned by additive Schwarz on several levels.

use crate::gather::DeviceLists;
use crate::hierarchy::{self, DOMAIN, Level};
use crate::kernels::Kernels;
use crate::matrix::{self, DeviceMatrix};
use crate::session::Session;
use crate::vulkan::{Array, Binding, Device, GpuError, Kernel, Recorded, Recorder, Stream};
use gusset_system::{Solution, SolveError, System};
use std::ops::Range;
use std::time::Instant;

/// Iterations between two looks at the residual.
const BATCH: u32 = 8;

/// Numbers of a domain's inverse.
const INVERSE: usize = (3 * DOMAIN) * (3 * DOMAIN);

/// Levels of the preconditioner.
const LEVELS: usize = 6;

/// Why a solve on the device ends without a direction.
pub(crate) enum Ending {
    Gpu(GpuError),
    Solve(SolveError),
}

impl From<GpuError> for Ending {
    fn from(error: GpuError) -> Self {
        Self::Gpu(error)
    }
}

/// What conjugate gradients carry; as `Scalars` in `shaders/lib/scalars.glsl`.
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Scalars {
    rz: f64,
    alpha: f64,
    beta: f64,
    rr: f64,
    goal: f64,
    iterations: u32,
    done: u32,
}

#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct ScalarStage {
    tolerance: f64,
    count: u32,
    stage: u32,
}

/// One level in the device's memory.
struct DeviceLevel {
    domains: usize,
    members: Array<u32>,
    inside_starts: Array<u32>,
    inside: Array<[u32; 2]>,
    inverses: Array<f64>,
    /// Lists for the blocks of the level above.
    above: Option<DeviceLists>,
    /// Blocks, residual and correction of the level above.
    coarse: Option<[Array<f64>; 3]>,
}

impl DeviceLevel {
    fn new(device: &Device, to: &mut Recorder<'_>, level: &Level) -> Result<Self, GpuError> {
        fn put<T: bytemuck::Pod>(
            device: &Device,
            to: &mut Recorder<'_>,
            data: &[T],
        ) -> Result<Array<T>, GpuError> {
            let array = Array::new(device, data.len())?;
            to.upload(&array, 0, data)?;
            Ok(array)
        }
        let domains = level.domains();
        let above = match &level.above {
            Some((lists, count)) => {
                let mut on_device = DeviceLists::new(device)?;
                on_device.set(to, lists)?;
                let array = |len| Array::new(device, len);
                Some((on_device, [array(9 * count)?, array(3 * domains)?, array(3 * domains)?]))
            }
            None => None,
        };
        let (above, coarse) = above.unzip();
        Ok(Self {
            domains,
            members: put(device, to, &level.members)?,
            inside_starts: put(device, to, &level.inside_starts)?,
            inside: put(device, to, &level.inside)?,
            inverses: Array::new(device, INVERSE * domains)?,
            above,
            coarse,
        })
    }

    /// Runs of domains whose inverses a kernel sees at once.
    fn windows(&self, device: &Device) -> impl Iterator<Item = Range<usize>> + use<> {
        let most = device.limits().storage_range as usize / (8 * INVERSE);
        let (most, domains) = ((most / 64 * 64).max(64), self.domains);
        (0..domains).step_by(most).map(move |first| first..(first + most).min(domains))
    }
}

/// Conjugate gradients for one pattern at a time.
pub(crate) struct ConjugateGradients {
    device: Device,
    kernels: SolveKernels,
    matrix: DeviceMatrix,
    version: Option<u64>,
    levels: Vec<DeviceLevel>,
    x: Array<f64>,
    r: Array<f64>,
    z: Array<f64>,
    p: Array<f64>,
    partial: Array<f64>,
    more: Array<f64>,
    scalars: Array<Scalars>,
    status: Array<u32>,
    batch: Option<Recorded>,
}

struct SolveKernels {
    scalar: Kernel,
    step: Kernel,
    dots: Kernel,
    direction: Kernel,
    factor: Kernel,
    restrict: Kernel,
    apply: Kernel,
    gather_blocks: Kernel,
}

impl ConjugateGradients {
    pub(crate) fn new(device: &Device, kernels: &mut Kernels) -> Result<Self, GpuError> {
        let array = || Array::new(device, 0);
        Ok(Self {
            kernels: SolveKernels {
                scalar: kernels.named("cg_scalar", 3, 256)?,
                step: kernels.named("cg_step", 5, 64)?,
                dots: kernels.named("cg_dots", 4, 256)?,
                direction: kernels.named("cg_direction", 3, 64)?,
                factor: kernels.named("schwarz_factor", 5, 64)?,
                restrict: kernels.named("schwarz_restrict", 3, 64)?,
                apply: kernels.named("schwarz_apply", 5, 48)?,
                gather_blocks: kernels.named("gather_blocks", 6, 64)?,
            },
            matrix: DeviceMatrix::new(device, kernels)?,
            version: None,
            levels: Vec::new(),
            x: array()?,
            r: array()?,
            z: array()?,
            p: array()?,
            partial: array()?,
            more: array()?,
            scalars: Array::new(device, 1)?,
            status: Array::new(device, 1)?,
            batch: None,
            device: device.clone(),
        })
    }

    pub(crate) fn forget(&mut self) {
        self.version = None;
    }

    /// Solves `H dx = -g` for the matrix whose blocks are on the device, to a relative residual of `tolerance`.
    pub(crate) fn solve(
        &mut self,
        session: &mut Session,
        blocks: &Array<f64>,
        system: &System,
        tolerance: f64,
        max_iterations: u32,
        dx: &mut Vec<f64>,
    ) -> Result<Solution, Ending> {
        let begin = Instant::now();
        let n = system.gradient.len();
        dx.clear();
        dx.resize(n, 0.0);
        if n == 0 {
            return Ok(Solution::default());
        }
        let Session { stream, report, .. } = session;
        let mut to = stream.begin()?;
        if self.version != Some(system.version()) {
            self.batch = None;
            self.analyse(&mut to, system)?;
        }
        let right: Vec<f64> = system.gradient.iter().map(|g| -g).collect();
        to.upload(&self.r, 0, &right)?;
        self.matrix.add(&mut to, blocks, system.added())?;
        for array in [&self.x, &self.p] {
            to.zero(array)?;
        }
        to.zero(&self.status)?;
        to.barrier()?;
        self.factor(&mut to, blocks)?;
        to.section("schwarz_factor")?;
        self.precondition(&mut to)?;
        self.scalars(&mut to, tolerance, 0)?;
        let status = to.download(&self.status, 0..1)?;
        let scalars = to.download(&self.scalars, 0..1)?;
        report.add_all(to.submit()?);
        let not_definite = status.to_vec()? != [0];
        let mut now = scalars.to_vec()?[0];
        let factorisation = begin.elapsed();
        if not_definite || now.done == 2 {
            return Err(Ending::Solve(SolveError::NotPositiveDefinite));
        }
        if self.batch.is_none() {
            let mut to = stream.begin()?;
            for _ in 0..BATCH {
                self.iterate(&mut to, blocks)?;
            }
            to.section("conjugate_gradients")?;
            self.batch = Some(to.finish()?);
            self.version = Some(system.version());
        }
        while now.done == 0 && now.iterations < max_iterations {
            report.add_all(stream.run(self.batch.as_ref().expect("it was recorded"))?);
            let mut to = stream.begin()?;
            let scalars = to.download(&self.scalars, 0..1)?;
            to.submit()?;
            now = scalars.to_vec()?[0];
        }
        match now.done {
            0 => {
                let iterations = max_iterations;
                return Err(Ending::Solve(SolveError::NoConvergence { iterations, tolerance }));
            }
            2 => return Err(Ending::Solve(SolveError::NotPositiveDefinite)),
            _ => {}
        }
        let residual = self.finish(stream, blocks, &right, dx)?;
        Ok(Solution {
            residual,
            factorisation,
            solve: begin.elapsed().saturating_sub(factorisation),
            iterations: now.iterations,
        })
    }

    pub(crate) fn time_multiply(
        &self,
        stream: &mut Stream,
        blocks: &Array<f64>,
        system: &System,
        tries: u32,
    ) -> Result<f64, GpuError> {
        assert_eq!(self.x.len(), system.gradient.len(), "the system that was solved last");
        let mut best = f64::INFINITY;
        for _ in 0..=tries {
            let mut to = stream.begin()?;
            to.section("begin")?;
            self.matrix.multiply(&mut to, blocks, &self.x)?;
            to.barrier()?;
            to.section("multiply")?;
            let times = to.submit()?;
            best = times.iter().filter(|t| &*t.0 == "multiply").fold(best, |a, t| a.min(t.1));
        }
        Ok(best)
    }

    /// Downloads the direction and says how exact it is.
    fn finish(
        &mut self,
        stream: &mut Stream,
        blocks: &Array<f64>,
        right: &[f64],
        dx: &mut [f64],
    ) -> Result<f64, GpuError> {
        let mut to = stream.begin()?;
        let product = self.matrix.record_product(&mut to, blocks, &self.x)?;
        let x = to.download(&self.x, 0..right.len())?;
        to.submit()?;
        x.read(dx)?;
        Ok(DeviceMatrix::residual(&product.to_vec()?, right))
    }

    /// Rows of the matrix, levels of the preconditioner, room for vectors.
    fn analyse(&mut self, to: &mut Recorder<'_>, system: &System) -> Result<(), GpuError> {
        self.version = None;
        self.matrix.set(to, system)?;
        self.levels = hierarchy::levels(&system.pattern, LEVELS)
            .iter()
            .map(|level| DeviceLevel::new(&self.device, to, level))
            .collect::<Result<_, _>>()?;
        let n = system.gradient.len();
        let vectors = [&mut self.x, &mut self.r, &mut self.z, &mut self.p];
        for vector in vectors {
            vector.resize(n)?;
        }
        self.partial.resize(n.div_ceil(256))?;
        self.more.resize(n.div_ceil(256))
    }

    /// Blocks of the levels above, and the inverses of all domains.
    fn factor(&self, to: &mut Recorder<'_>, blocks: &Array<f64>) -> Result<(), GpuError> {
        let mut own = blocks;
        for level in &self.levels {
            if let (Some(lists), Some([above, ..])) = (&level.above, &level.coarse) {
                to.zero(above)?;
                to.barrier()?;
                let count = lists.targets.len();
                let arrays = [
                    lists.targets.whole(),
                    lists.starts.whole(),
                    lists.contributions.whole(),
                    own.whole(),
                    above.whole(),
                    self.status.whole(),
                ];
                to.dispatch(&self.kernels.gather_blocks, &arrays, &(count as u32), 9 * count)?;
                to.barrier()?;
            }
            for window in level.windows(&self.device) {
                let arrays = [
                    level.inside_starts.part(window.start..window.end + 1),
                    level.inside.whole(),
                    own.whole(),
                    level.inverses.part(INVERSE * window.start..INVERSE * window.end),
                    self.status.whole(),
                ];
                let threads = 64 * window.len();
                to.dispatch(&self.kernels.factor, &arrays, &(threads as u32), threads)?;
            }
            if let Some([above, ..]) = &level.coarse {
                own = above;
            }
        }
        to.barrier()
    }

    /// `z` from `r`.
    fn precondition(&self, to: &mut Recorder<'_>) -> Result<(), GpuError> {
        let mut residual = &self.r;
        for level in &self.levels {
            if let Some([_, coarse, _]) = &level.coarse {
                let threads = 3 * level.domains;
                let arrays = [level.members.whole(), residual.whole(), coarse.whole()];
                to.dispatch(&self.kernels.restrict, &arrays, &(threads as u32), threads)?;
                to.barrier()?;
                residual = coarse;
            }
        }
        for (k, level) in self.levels.iter().enumerate().rev() {
            let (r, z) = match k.checked_sub(1).map(|below| &self.levels[below]) {
                Some(DeviceLevel { coarse: Some([_, r, z]), .. }) => (r, z),
                _ => (&self.r, &self.z),
            };
            for window in level.windows(&self.device) {
                let (coarse, with) = match &level.coarse {
                    Some([_, _, z]) => (z.part(3 * window.start..3 * window.end), 1_u32),
                    None => (r.whole(), 0),
                };
                let arrays: [Binding; 5] = [
                    level.members.part(DOMAIN * window.start..DOMAIN * window.end),
                    level.inverses.part(INVERSE * window.start..INVERSE * window.end),
                    r.whole(),
                    coarse,
                    z.whole(),
                ];
                let threads = 3 * DOMAIN * window.len();
                to.dispatch(&self.kernels.apply, &arrays, &[threads as u32, with], threads)?;
            }
            to.barrier()?;
        }
        Ok(())
    }

    /// Dot products of `r` and `z`, the scalars that follow from them, and the direction. `stage` is 0 at the beginning
    /// and 2 afterwards.
    fn scalars(&self, to: &mut Recorder<'_>, tolerance: f64, stage: u32) -> Result<(), GpuError> {
        let n = self.x.len();
        let arrays = [self.r.whole(), self.z.whole(), self.partial.whole(), self.more.whole()];
        to.dispatch(&self.kernels.dots, &arrays, &(n as u32), n)?;
        to.barrier()?;
        self.scalar(to, &self.partial, tolerance, n.div_ceil(256), stage)?;
        let arrays = [self.scalars.whole(), self.z.whole(), self.p.whole()];
        to.dispatch(&self.kernels.direction, &arrays, &(n as u32), n)?;
        to.barrier()
    }

    fn scalar(
        &self,
        to: &mut Recorder<'_>,
        partial: &Array<f64>,
        tolerance: f64,
        count: usize,
        stage: u32,
    ) -> Result<(), GpuError> {
        let arrays = [partial.whole(), self.more.whole(), self.scalars.whole()];
        let constants = ScalarStage { tolerance, count: count as u32, stage };
        to.dispatch(&self.kernels.scalar, &arrays, &constants, 256)?;
        to.barrier()
    }

    fn iterate(&self, to: &mut Recorder<'_>, blocks: &Array<f64>) -> Result<(), GpuError> {
        let n = self.x.len();
        self.matrix.multiply(to, blocks, &self.p)?;
        to.barrier()?;
        self.scalar(to, &self.matrix.partial, 0.0, n.div_ceil(matrix::ROWS), 1)?;
        let arrays = [
            self.scalars.whole(),
            self.p.whole(),
            self.matrix.q.whole(),
            self.x.whole(),
            self.r.whole(),
        ];
        to.dispatch(&self.kernels.step, &arrays, &(n as u32), n)?;
        to.barrier()?;
        self.precondition(to)?;
        self.scalars(to, 0.0, 2)
    }
}
