//! Gradient and matrix on the device: stencils into an arena, then gathered in a fixed order.
//!
//! An arena holds the results of as many stencils as a kernel can see at once; larger systems take several, one after the
//! other, and each adds to what the ones before it have summed. The order of every sum is that of the CPU: terms with fixed
//! stencils first, then contact rows, stencil after stencil.

use crate::gather::{Collector, DeviceLists};
use crate::kernels::Kernels;
use crate::terms::{At, DeviceTerm};
use crate::vulkan::{Array, Device, GpuError, Kernel, Recorder};
use gusset_energy::{Local, Term, Want, block_count};
use gusset_system::Pattern;
use std::ops::Range;

/// Bytes of an arena, where the device would allow more.
const ARENA: u64 = 512 << 20;

/// Some stencils of one term in an arena.
struct Part {
    term: usize,
    stencils: Range<usize>,
    gradient_at: usize,
    hessian_at: usize,
}

/// What fills an arena once.
struct Segment {
    parts: Vec<Part>,
    vertices: DeviceLists,
    /// One for each window of blocks.
    windows: Vec<DeviceLists>,
}

/// The system on the device.
pub(crate) struct Assembly {
    device: Device,
    gather_blocks: Kernel,
    gather_vertices: Kernel,
    /// Version of the pattern that the static segments are of.
    version: Option<u64>,
    fixed: Vec<Segment>,
    /// Of contact rows, made anew each time in the memory of the last ones.
    rows: Vec<Segment>,
    arena_gradient: Array<f64>,
    arena_hessian: Array<f64>,
    /// What the CPU has evaluated for lack of a kernel, and of which term it is.
    local: Local,
    local_of: Option<usize>,
    /// Three numbers a free vertex (N).
    pub(crate) gradient: Array<f64>,
    /// Nine numbers a block (N/m), row-major, in the pattern's order.
    pub(crate) blocks: Array<f64>,
    /// Not zero where a number of the system is not finite.
    pub(crate) status: Array<u32>,
}

#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Count {
    count: u32,
}

impl Assembly {
    pub(crate) fn new(device: &Device, kernels: &mut Kernels) -> Result<Self, GpuError> {
        let array = || Array::new(device, 0);
        Ok(Self {
            device: device.clone(),
            gather_blocks: kernels.named("gather_blocks", 6, 64)?,
            gather_vertices: kernels.named("gather_vertices", 6, 64)?,
            version: None,
            fixed: Vec::new(),
            rows: Vec::new(),
            arena_gradient: array()?,
            arena_hessian: array()?,
            local: Local::default(),
            local_of: None,
            gradient: array()?,
            blocks: array()?,
            status: Array::new(device, 1)?,
        })
    }

    /// Forgets what the device has: a submission failed.
    pub(crate) fn forget(&mut self) {
        self.version = None;
    }

    /// Bytes that an arena may take.
    fn room(&self) -> u64 {
        self.device.limits().storage_range.min(ARENA)
    }

    /// Blocks that a kernel sees at once; each window starts where an array may.
    fn window(&self) -> usize {
        (self.device.limits().storage_range / 72) as usize / 64 * 64
    }

    /// Splits terms into segments that fit an arena, in the memory of old ones.
    fn plan(
        &self,
        to: &mut Recorder<'_>,
        pattern: &Pattern,
        terms: &[Box<dyn Term>],
        on_device: &[DeviceTerm],
        dynamic: bool,
        old: Vec<Segment>,
    ) -> Result<Vec<Segment>, GpuError> {
        let mut old = old.into_iter();
        let mut segments = Vec::new();
        let mut parts: Vec<Part> = Vec::new();
        let (mut gradient_at, mut hessian_at) = (0, 0);
        let mut collector = Collector::new(pattern);
        for (index, term) in terms.iter().enumerate().filter(|(_, t)| t.dynamic() == dynamic) {
            let device_term = &on_device[index];
            let arity = term.arity();
            let each = 9 * block_count(arity);
            let most = device_term.at_once(self.room());
            let mut first = 0;
            while first < term.count() {
                let free = (self.room() as usize / 8).saturating_sub(hessian_at) / each;
                let count = (term.count() - first).min(most);
                if count > free && !parts.is_empty() {
                    let full = std::mem::replace(&mut collector, Collector::new(pattern));
                    let parts = std::mem::take(&mut parts);
                    segments.push(self.segment(to, parts, full, old.next())?);
                    (gradient_at, hessian_at) = (0, 0);
                    continue;
                }
                let stencils = first..first + count;
                collector.add(&term.stencils()[arity * first..arity * stencils.end], arity);
                let (g, h) = device_term.sizes(count);
                parts.push(Part { term: index, stencils, gradient_at, hessian_at });
                (gradient_at, hessian_at) = (gradient_at + g, hessian_at + h);
                first += count;
            }
        }
        if !parts.is_empty() {
            segments.push(self.segment(to, parts, collector, old.next())?);
        }
        Ok(segments)
    }

    fn segment(
        &self,
        to: &mut Recorder<'_>,
        parts: Vec<Part>,
        collector: Collector<'_>,
        old: Option<Segment>,
    ) -> Result<Segment, GpuError> {
        let (vertices, windows) = old.map(|old| (old.vertices, old.windows)).unzip();
        let mut old = vertices.into_iter().chain(windows.into_iter().flatten());
        let mut upload = |to: &mut Recorder<'_>, lists| {
            let mut on_device = old.next().map_or_else(|| DeviceLists::new(&self.device), Ok)?;
            on_device.set(to, &lists)?;
            Ok::<_, GpuError>(on_device)
        };
        let (vertices, windows) = collector.finish(self.window());
        let vertices = upload(to, vertices)?;
        let windows = windows.into_iter().map(|lists| upload(to, lists));
        Ok(Segment { parts, vertices, windows: windows.collect::<Result<_, _>>()? })
    }

    /// Records the whole assembly: everything that is uploaded, computed and summed.
    pub(crate) fn record(
        &mut self,
        to: &mut Recorder<'_>,
        system: (&Pattern, u64),
        terms: &[Box<dyn Term>],
        on_device: &[DeviceTerm],
        at: At<'_>,
        exact: bool,
    ) -> Result<(), GpuError> {
        let (pattern, version) = system;
        if self.version != Some(version) {
            self.version = None;
            let old = std::mem::take(&mut self.fixed);
            self.fixed = self.plan(to, pattern, terms, on_device, false, old)?;
            self.gradient.resize(3 * pattern.len())?;
            self.blocks.resize(9 * pattern.block_count())?;
        }
        let old = std::mem::take(&mut self.rows);
        let rows = self.plan(to, pattern, terms, on_device, true, old)?;
        self.local_of = None;
        let fixed = std::mem::take(&mut self.fixed);
        for segment in fixed.iter().chain(&rows) {
            let last = segment.parts.last().expect("a segment has parts");
            let (g, h) = on_device[last.term].sizes(last.stencils.len());
            self.grow(last.gradient_at + g, last.hessian_at + h)?;
        }
        to.zero(&self.gradient)?;
        to.zero(&self.blocks)?;
        to.zero(&self.status)?;
        to.barrier()?;
        to.section("upload")?;
        for (segments, exact) in [(&fixed, exact), (&rows, false)] {
            for segment in segments {
                self.evaluate(to, segment, terms, on_device, at, exact)?;
                self.gather(to, segment)?;
            }
        }
        (self.fixed, self.rows) = (fixed, rows);
        self.version = Some(version);
        Ok(())
    }

    fn grow(&mut self, gradient: usize, hessian: usize) -> Result<(), GpuError> {
        if gradient > self.arena_gradient.len() {
            self.arena_gradient.resize(gradient)?;
        }
        if hessian > self.arena_hessian.len() {
            self.arena_hessian.resize(hessian)?;
        }
        Ok(())
    }

    fn evaluate(
        &mut self,
        to: &mut Recorder<'_>,
        segment: &Segment,
        terms: &[Box<dyn Term>],
        on_device: &[DeviceTerm],
        at: At<'_>,
        exact: bool,
    ) -> Result<(), GpuError> {
        for part in &segment.parts {
            let (term, host) = (&on_device[part.term], terms[part.term].as_ref());
            let stencils = part.stencils.clone();
            let (g, h) = term.sizes(stencils.len());
            if !host.active() {
                to.zero_part(&self.arena_gradient, part.gradient_at..part.gradient_at + g)?;
                to.zero_part(&self.arena_hessian, part.hessian_at..part.hessian_at + h)?;
                continue;
            }
            if let Some(kernels) = &term.kernels {
                let gradient = (&self.arena_gradient, part.gradient_at);
                let hessian = (&self.arena_hessian, part.hessian_at);
                term.derivatives(to, kernels, at, exact, stencils, gradient, hessian)?;
                continue;
            }
            if self.local_of != Some(part.term) {
                let want = if exact { Want::ExactHessian } else { Want::Hessian };
                self.local.eval(host, at.host, want);
                self.local_of = Some(part.term);
            }
            let (first_g, first_h) = term.sizes(stencils.start);
            let gradient = &self.local.gradient[first_g..first_g + g];
            let hessian = &self.local.hessian[first_h..first_h + h];
            to.upload(&self.arena_gradient, part.gradient_at, gradient)?;
            to.upload(&self.arena_hessian, part.hessian_at, hessian)?;
            to.section("upload")?;
        }
        to.barrier()
    }

    fn gather(&self, to: &mut Recorder<'_>, segment: &Segment) -> Result<(), GpuError> {
        let lists = &segment.vertices;
        let arrays = [
            lists.targets.whole(),
            lists.starts.whole(),
            lists.contributions.whole(),
            self.arena_gradient.whole(),
            self.gradient.whole(),
            self.status.whole(),
        ];
        let count = lists.targets.len();
        to.dispatch(&self.gather_vertices, &arrays, &Count { count: count as u32 }, 3 * count)?;
        to.section("gather gradient")?;
        for (k, lists) in segment.windows.iter().enumerate() {
            let start = 9 * self.window() * k;
            let end = (start + 9 * self.window()).min(self.blocks.len());
            let arrays = [
                lists.targets.whole(),
                lists.starts.whole(),
                lists.contributions.whole(),
                self.arena_hessian.whole(),
                self.blocks.part(start..end),
                self.status.whole(),
            ];
            let count = lists.targets.len();
            to.dispatch(&self.gather_blocks, &arrays, &Count { count: count as u32 }, 9 * count)?;
        }
        to.barrier()?;
        to.section("gather Hessian")
    }
}
