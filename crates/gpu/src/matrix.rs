//! The sparse matrix on the device as rows: products, and what is added to its diagonal.

use crate::hierarchy;
use crate::kernels::Kernels;
use crate::vulkan::{Array, Device, GpuError, Kernel, Recorder, Ticket};
use gusset_system::System;

/// Rows that one workgroup of the product has.
pub(crate) const ROWS: usize = 96;

/// Rows of a symmetric matrix of which the blocks of the lower triangle are stored elsewhere.
pub(crate) struct DeviceMatrix {
    multiply: Kernel,
    add_diagonal: Kernel,
    starts: Array<u32>,
    entries: Array<[u32; 2]>,
    added: Array<u32>,
    stiffness: Array<f64>,
    /// The last product.
    pub(crate) q: Array<f64>,
    /// Of each workgroup, the product of the vector and what became of it.
    pub(crate) partial: Array<f64>,
}

impl DeviceMatrix {
    pub(crate) fn new(device: &Device, kernels: &mut Kernels) -> Result<Self, GpuError> {
        Ok(Self {
            multiply: kernels.named("cg_multiply", 6, ROWS as u32)?,
            add_diagonal: kernels.named("add_diagonal", 3, 64)?,
            starts: Array::new(device, 0)?,
            entries: Array::new(device, 0)?,
            added: Array::new(device, 0)?,
            stiffness: Array::new(device, 0)?,
            q: Array::new(device, 0)?,
            partial: Array::new(device, 0)?,
        })
    }

    /// Brings the rows of a pattern to the device.
    pub(crate) fn set(&mut self, to: &mut Recorder<'_>, system: &System) -> Result<(), GpuError> {
        let (starts, entries) = hierarchy::rows(&system.pattern);
        self.starts.resize(starts.len())?;
        to.upload(&self.starts, 0, &starts)?;
        self.entries.resize(entries.len())?;
        to.upload(&self.entries, 0, &entries)?;
        let n = system.gradient.len();
        self.q.resize(n)?;
        self.partial.resize(n.div_ceil(ROWS))
    }

    /// Adds stiffness (N/m) to diagonal blocks.
    pub(crate) fn add(
        &mut self,
        to: &mut Recorder<'_>,
        blocks: &Array<f64>,
        added: &[(u32, f64)],
    ) -> Result<(), GpuError> {
        let (targets, stiffness): (Vec<u32>, Vec<f64>) = added.iter().copied().unzip();
        self.added.resize(targets.len())?;
        self.stiffness.resize(targets.len())?;
        to.upload(&self.added, 0, &targets)?;
        to.upload(&self.stiffness, 0, &stiffness)?;
        to.barrier()?;
        let arrays = [self.added.whole(), self.stiffness.whole(), blocks.whole()];
        to.dispatch(&self.add_diagonal, &arrays, &(targets.len() as u32), targets.len())
    }

    /// `q = H vector`.
    pub(crate) fn multiply(
        &self,
        to: &mut Recorder<'_>,
        blocks: &Array<f64>,
        vector: &Array<f64>,
    ) -> Result<(), GpuError> {
        let arrays = [
            self.starts.whole(),
            self.entries.whole(),
            blocks.whole(),
            vector.whole(),
            self.q.whole(),
            self.partial.whole(),
        ];
        let n = self.q.len();
        to.dispatch(&self.multiply, &arrays, &(n as u32), n)
    }

    /// The same, with the product on its way down.
    pub(crate) fn record_product(
        &self,
        to: &mut Recorder<'_>,
        blocks: &Array<f64>,
        vector: &Array<f64>,
    ) -> Result<Ticket<f64>, GpuError> {
        self.multiply(to, blocks, vector)?;
        to.barrier()?;
        to.download(&self.q, 0..self.q.len())
    }

    /// `|product - right| / |right|`.
    pub(crate) fn residual(product: &[f64], right: &[f64]) -> f64 {
        let (mut error, mut size) = (0.0, 0.0);
        for (h, b) in product.iter().zip(right) {
            error += (h - b) * (h - b);
            size += b * b;
        }
        if size > 0.0 { (error / size).sqrt() } else { 0.0 }
    }
}
