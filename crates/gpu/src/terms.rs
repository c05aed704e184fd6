//! Terms as a device holds them: stencils, constants, kernels.

use crate::kernels::{ElementKernels, Kernels};
use crate::vulkan::{Array, Device, GpuError, Kernel, Recorder};
use bytemuck::Pod;
use glam::DVec3;
use gusset_energy::{StepState, Term, block_count};
use std::ops::Range;

/// An array that is uploaded when it differs from what the device has.
pub(crate) struct Mirror<T> {
    host: Vec<T>,
    pub(crate) array: Array<T>,
}

impl<T: Pod + PartialEq> Mirror<T> {
    pub(crate) fn new(device: &Device) -> Result<Self, GpuError> {
        Ok(Self { host: Vec::new(), array: Array::new(device, 0)? })
    }

    pub(crate) fn set(&mut self, to: &mut Recorder<'_>, data: &[T]) -> Result<(), GpuError> {
        if self.host == data {
            return Ok(());
        }
        self.array.resize(data.len())?;
        to.upload(&self.array, 0, data)?;
        self.host.clear();
        self.host.extend_from_slice(data);
        Ok(())
    }

    /// Forgets what the device has: a submission failed.
    pub(crate) fn forget(&mut self) {
        self.host.clear();
    }
}

/// What terms look back to.
pub(crate) struct Start {
    x: Mirror<f64>,
    v: Mirror<f64>,
}

/// Where terms are evaluated, on the device and as the host has it.
#[derive(Clone, Copy)]
pub(crate) struct At<'a> {
    pub(crate) x: &'a Array<f64>,
    pub(crate) start: &'a Start,
    pub(crate) host: &'a StepState<'a>,
}

impl Start {
    pub(crate) fn new(device: &Device) -> Result<Self, GpuError> {
        Ok(Self { x: Mirror::new(device)?, v: Mirror::new(device)? })
    }

    pub(crate) fn set(
        &mut self,
        to: &mut Recorder<'_>,
        at: &StepState<'_>,
    ) -> Result<(), GpuError> {
        self.x.set(to, flat(at.x_start))?;
        self.v.set(to, flat(at.v_start))
    }

    pub(crate) fn forget(&mut self) {
        self.x.forget();
        self.v.forget();
    }
}

pub(crate) fn flat(points: &[DVec3]) -> &[f64] {
    bytemuck::cast_slice(points)
}

/// One term on the device.
pub(crate) struct DeviceTerm {
    label: String,
    pub(crate) arity: usize,
    /// Constants per stencil.
    stride: usize,
    pub(crate) count: usize,
    /// Absent where they can't be made; the CPU then evaluates the term.
    pub(crate) kernels: Option<ElementKernels>,
    stencils: Mirror<u32>,
    params: Mirror<f64>,
    /// Stencils and constants are there and never change.
    settled: bool,
}

/// Constants of a dispatch of an energy's kernel.
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Constants {
    dt: f64,
    count: u32,
    first_at: u32,
    second_at: u32,
    unused: u32,
}

/// Where results go: an array and the first number in it.
pub(crate) type Place<'a> = (&'a Array<f64>, usize);

impl DeviceTerm {
    /// A term, and why the CPU has to evaluate it if it has to.
    pub(crate) fn new(
        device: &Device,
        kernels: &mut Kernels,
        term: &dyn Term,
    ) -> Result<(Self, Option<String>), GpuError> {
        let (kernels, why) = match kernels.element(&term.shader()) {
            Ok(made) => (Some(made), None),
            Err(GpuError::NoCompiler { why, .. }) => (None, Some(why)),
            Err(other) => return Err(other),
        };
        let on_device = Self {
            label: term.label().to_owned(),
            arity: term.arity(),
            stride: term.params().1,
            count: 0,
            kernels,
            stencils: Mirror::new(device)?,
            params: Mirror::new(device)?,
            settled: false,
        };
        Ok((on_device, why))
    }

    /// Whether this is that term.
    pub(crate) fn is(&self, term: &dyn Term) -> bool {
        self.label == term.label() && self.arity == term.arity() && self.stride == term.params().1
    }

    /// Brings stencils and constants up to date.
    pub(crate) fn set(&mut self, to: &mut Recorder<'_>, term: &dyn Term) -> Result<(), GpuError> {
        if self.settled && self.count == term.count() {
            return Ok(());
        }
        self.count = term.count();
        if self.kernels.is_none() {
            return Ok(());
        }
        self.stencils.set(to, term.stencils())?;
        self.params.set(to, term.params().0)?;
        self.settled = term.constant();
        Ok(())
    }

    /// Numbers in the gradients and in the Hessians of so many stencils.
    pub(crate) fn sizes(&self, count: usize) -> (usize, usize) {
        (3 * self.arity * count, 9 * block_count(self.arity) * count)
    }

    /// Stencils that one dispatch may take, for a kernel that sees `bytes` of an array at once.
    pub(crate) fn at_once(&self, bytes: u64) -> usize {
        let widest = 8 * self.stride.max(9 * block_count(self.arity)) as u64;
        // Parts of arrays start at multiples of the device's alignment, which divides 64 stencils of anything.
        ((bytes / widest) as usize / 64 * 64).max(64)
    }

    fn dispatch(
        &self,
        to: &mut Recorder<'_>,
        kernel: &Kernel,
        at: At<'_>,
        stencils: Range<usize>,
        first: Place<'_>,
        second: Place<'_>,
    ) -> Result<(), GpuError> {
        let count = stencils.len();
        let part = |stride: usize| stencils.start * stride..stencils.end * stride;
        let arrays = [
            at.x.whole(),
            at.start.x.array.whole(),
            at.start.v.array.whole(),
            self.stencils.array.part(part(self.arity)),
            self.params.array.part(part(self.stride)),
            first.0.whole(),
            second.0.whole(),
        ];
        let constants = Constants {
            dt: at.host.dt,
            count: count as u32,
            first_at: first.1 as u32,
            second_at: second.1 as u32,
            unused: 0,
        };
        to.dispatch(kernel, &arrays, &constants, count)?;
        to.section(kernel.name())
    }

    /// Energies of some stencils, and sums of 64 of them each: pairs, from the given pair on.
    pub(crate) fn energies(
        &self,
        to: &mut Recorder<'_>,
        kernels: &ElementKernels,
        at: At<'_>,
        stencils: Range<usize>,
        energies: Place<'_>,
        sums: Place<'_>,
    ) -> Result<(), GpuError> {
        self.dispatch(to, &kernels.energy, at, stencils, energies, sums)
    }

    /// Gradients and Hessians of some stencils.
    pub(crate) fn derivatives(
        &self,
        to: &mut Recorder<'_>,
        kernels: &ElementKernels,
        at: At<'_>,
        exact: bool,
        stencils: Range<usize>,
        gradient: Place<'_>,
        hessian: Place<'_>,
    ) -> Result<(), GpuError> {
        let kernel = if exact { &kernels.exact } else { &kernels.assembled };
        self.dispatch(to, kernel, at, stencils, gradient, hessian)
    }
}
