//! Dense Cholesky on the device, for small systems.
//!
//! The matrix, scaled to a unit diagonal as on the CPU, is factorised in tiles of 32 by 32, in place: a tile on the diagonal, the
//! panel below it, and what the panel explains of the rest. The right-hand side is one more row, so that only the second
//! triangular system is left to solve. Each number has one order of operations. `(3n)^2 / 2` numbers for `n` vertices and
//! `O(n^3)` operations.

use crate::kernels::Kernels;
use crate::linear::Ending;
use crate::matrix::DeviceMatrix;
use crate::session::Session;
use crate::vulkan::{Array, Device, GpuError, Kernel, Recorded, Recorder};
use gusset_system::{Pattern, Solution, SolveError, System};
use std::time::Instant;

/// Rows of a tile; as `SIDE` in the kernels.
const SIDE: usize = 32;

/// Factorises and solves for one pattern at a time.
pub(crate) struct DenseCholesky {
    kernels: DenseKernels,
    matrix: DeviceMatrix,
    version: Option<u64>,
    /// Row and column of each block.
    places: Array<[u32; 2]>,
    scale: Array<f64>,
    right: Array<f64>,
    /// The scaled matrix, row after row, and the right-hand side below it.
    full: Array<f64>,
    left: Array<f64>,
    x: Array<f64>,
    status: Array<u32>,
    recorded: Option<Recorded>,
}

struct DenseKernels {
    scale: Kernel,
    fill: Kernel,
    factor: Kernel,
    panel: Kernel,
    update: Kernel,
    solve: Kernel,
}

/// Rows of the matrix with its padding.
fn padded(n: usize) -> usize {
    n.next_multiple_of(SIDE)
}

/// Numbers of a matrix of `n` rows and the right-hand side below it.
fn numbers(n: usize) -> usize {
    padded(n) * (padded(n) + 1)
}

/// Row and column of each block among the free vertices, in the pattern's order.
fn places(pattern: &Pattern) -> Vec<[u32; 2]> {
    let columns =
        (0..pattern.len()).flat_map(|j| pattern.rows(j).iter().map(move |&row| [row, j as u32]));
    columns.collect()
}

impl DenseCholesky {
    /// Most free vertices whose matrix a kernel of this device sees at once.
    pub(crate) fn most_vertices(device: &Device) -> usize {
        let fits = |n: &usize| (8 * numbers(3 * n)) as u64 <= device.limits().storage_range;
        // Beyond this nobody wants a dense matrix: 34 GB.
        let (mut low, mut high) = (0, 1 << 14);
        while low + 1 < high {
            let middle = usize::midpoint(low, high);
            if fits(&middle) { low = middle } else { high = middle }
        }
        low
    }

    pub(crate) fn new(device: &Device, kernels: &mut Kernels) -> Result<Self, GpuError> {
        let array = || Array::new(device, 0);
        Ok(Self {
            kernels: DenseKernels {
                scale: kernels.named("dense_scale", 4, 64)?,
                fill: kernels.named("dense_fill", 5, 64)?,
                factor: kernels.named("dense_factor", 2, 256)?,
                panel: kernels.named("dense_panel", 1, 32)?,
                update: kernels.named("dense_update", 1, 64)?,
                solve: kernels.named("dense_solve", 4, 256)?,
            },
            matrix: DeviceMatrix::new(device, kernels)?,
            version: None,
            places: Array::new(device, 0)?,
            scale: array()?,
            right: array()?,
            full: array()?,
            left: array()?,
            x: array()?,
            status: Array::new(device, 1)?,
            recorded: None,
        })
    }

    /// Solves `H dx = -g` for the matrix whose blocks are on the device.
    pub(crate) fn solve(
        &mut self,
        session: &mut Session,
        blocks: &Array<f64>,
        system: &System,
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
            self.version = None;
            self.matrix.set(&mut to, system)?;
            let places = places(&system.pattern);
            self.places.resize(places.len())?;
            to.upload(&self.places, 0, &places)?;
            for array in [&mut self.scale, &mut self.right, &mut self.x] {
                array.resize(n)?;
            }
            self.left.resize(padded(n))?;
            self.full.resize(numbers(n))?;
        }
        let right: Vec<f64> = system.gradient.iter().map(|g| -g).collect();
        to.upload(&self.right, 0, &right)?;
        self.matrix.add(&mut to, blocks, system.added())?;
        to.submit()?;
        if self.version.is_none() {
            let mut to = stream.begin()?;
            self.record(&mut to, blocks, n)?;
            self.recorded = Some(to.finish()?);
            self.version = Some(system.version());
        }
        report.add_all(stream.run(self.recorded.as_ref().expect("it was recorded"))?);
        let factorisation = begin.elapsed();
        let mut to = stream.begin()?;
        let status = to.download(&self.status, 0..1)?;
        let product = self.matrix.record_product(&mut to, blocks, &self.x)?;
        let x = to.download(&self.x, 0..n)?;
        to.submit()?;
        if status.to_vec()? != [0] {
            return Err(Ending::Solve(SolveError::NotPositiveDefinite));
        }
        x.read(dx)?;
        let residual = DeviceMatrix::residual(&product.to_vec()?, &right);
        let solve = begin.elapsed().saturating_sub(factorisation);
        Ok(Solution { residual, factorisation, solve, iterations: 0 })
    }

    /// Everything between the blocks and the direction.
    fn record(&self, to: &mut Recorder<'_>, blocks: &Array<f64>, n: usize) -> Result<(), GpuError> {
        let (count, wide) = (self.places.len(), padded(n));
        let tiles = wide / SIDE;
        to.zero(&self.full)?;
        to.zero(&self.status)?;
        to.barrier()?;
        let arrays = [self.places.whole(), blocks.whole(), self.scale.whole(), self.status.whole()];
        to.dispatch(&self.kernels.scale, &arrays, &(count as u32), count)?;
        to.barrier()?;
        let arrays = [
            self.places.whole(),
            blocks.whole(),
            self.scale.whole(),
            self.right.whole(),
            self.full.whole(),
        ];
        let constants = [count as u32, n as u32, wide as u32];
        to.dispatch(&self.kernels.fill, &arrays, &constants, (9 * count).max(wide))?;
        to.barrier()?;
        to.section("dense_fill")?;
        for tile in 0..tiles {
            let left = tiles - 1 - tile;
            let constants = [wide as u32, tile as u32];
            let arrays = [self.full.whole(), self.status.whole()];
            to.dispatch(&self.kernels.factor, &arrays, &constants, 256)?;
            to.barrier()?;
            // The rows below, and one workgroup for the right-hand side alone.
            let arrays = [self.full.whole()];
            to.dispatch(&self.kernels.panel, &arrays, &constants, SIDE * (left + 1))?;
            to.barrier()?;
            let groups = left * (left + 1) / 2 + left;
            let constants = [wide as u32, tile as u32, left as u32];
            to.dispatch(&self.kernels.update, &arrays, &constants, 64 * groups)?;
            to.barrier()?;
        }
        to.section("dense_factor")?;
        let arrays = [self.full.whole(), self.scale.whole(), self.left.whole(), self.x.whole()];
        to.dispatch(&self.kernels.solve, &arrays, &[n as u32, wide as u32], 256)?;
        to.barrier()?;
        to.section("dense_solve")
    }

    /// Forgets what the device has: a submission failed.
    pub(crate) fn forget(&mut self) {
        self.version = None;
    }
}
