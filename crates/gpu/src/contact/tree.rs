//! Boxes of primitives of one kind and the hierarchy over them.

use crate::kernels::Kernels;
use crate::vulkan::{Array, Binding, Device, GpuError, Kernel, Recorder};
use glam::DVec3;

/// The primitives of one kind on the device.
pub(super) struct Tree {
    pub(super) count: usize,
    /// World vertices of each primitive.
    pub(super) stride: usize,
    pub(super) vertices: Array<u32>,
    pub(super) boxes: Array<f32>,
    pub(super) keys: Array<[u32; 2]>,
    pub(super) nodes: Array<f32>,
    radii: Array<f32>,
}

pub(super) struct TreeKernels {
    boxes: Kernel,
    sort: Kernel,
    refit: Kernel,
}

impl TreeKernels {
    pub(super) fn new(kernels: &mut Kernels) -> Result<Self, GpuError> {
        Ok(Self {
            boxes: kernels.named("contact_boxes", 7, 64)?,
            sort: kernels.named("contact_sort", 1, 64)?,
            refit: kernels.named("contact_refit", 3, 64)?,
        })
    }
}

/// Where the Morton codes' cells are.
pub(super) struct Extent {
    low: [f32; 3],
    scale: f32,
}

impl Extent {
    pub(super) fn of(x: &[DVec3], x_end: &[DVec3]) -> Self {
        let all = || x.iter().chain(x_end);
        let low = all().fold(DVec3::INFINITY, |a, p| a.min(*p));
        let high = all().fold(DVec3::NEG_INFINITY, |a, p| a.max(*p));
        let size = (high - low).max_element().max(f64::from(f32::MIN_POSITIVE) * 1e6);
        Self { low: low.as_vec3().to_array(), scale: (1023.0 / size) as f32 }
    }
}

#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct BoxConstants {
    skin: f64,
    count: u32,
    stride: u32,
    padded: u32,
    unused: u32,
    low: [f32; 3],
    scale: f32,
}

impl Tree {
    pub(super) fn new(
        device: &Device,
        to: &mut Recorder<'_>,
        vertices: &[u32],
        stride: usize,
        radii: &[f32],
    ) -> Result<Self, GpuError> {
        let count = radii.len();
        let tree = Self {
            count,
            stride,
            vertices: Array::new(device, vertices.len())?,
            radii: Array::new(device, count)?,
            boxes: Array::new(device, 6 * count)?,
            keys: Array::new(device, count.next_power_of_two())?,
            nodes: Array::new(device, 12 * count.next_power_of_two())?,
        };
        to.upload(&tree.vertices, 0, vertices)?;
        to.upload(&tree.radii, 0, radii)?;
        Ok(tree)
    }

    /// Boxes anew, and the tree over them: built, or refitted over the order it has.
    pub(super) fn update(
        &self,
        to: &mut Recorder<'_>,
        kernels: &TreeKernels,
        state: &[Binding; 3],
        skin: f64,
        extent: &Extent,
        build: bool,
    ) -> Result<(), GpuError> {
        if self.count == 0 {
            return Ok(());
        }
        let padded = self.keys.len();
        let [x, x_end, movable] = state.clone();
        // Keys of a tree that keeps its order go where the refitting writes afterwards.
        let keys = if build { self.keys.whole() } else { self.nodes.whole() };
        let arrays = [
            x,
            x_end,
            movable,
            self.vertices.whole(),
            self.radii.whole(),
            self.boxes.whole(),
            keys,
        ];
        let constants = BoxConstants {
            skin,
            count: self.count as u32,
            stride: self.stride as u32,
            padded: if build { padded } else { self.count } as u32,
            unused: 0,
            low: extent.low,
            scale: extent.scale,
        };
        let threads = constants.padded as usize;
        to.dispatch(&kernels.boxes, &arrays, &constants, threads)?;
        to.barrier()?;
        if build {
            self.sort(to, &kernels.sort)?;
        }
        let arrays = [self.keys.whole(), self.boxes.whole(), self.nodes.whole()];
        let mut size = padded;
        while size > 0 {
            let constants = [self.count as u32, padded as u32, size as u32];
            to.dispatch(&kernels.refit, &arrays, &constants, size)?;
            to.barrier()?;
            size /= 2;
        }
        Ok(())
    }

    fn sort(&self, to: &mut Recorder<'_>, kernel: &Kernel) -> Result<(), GpuError> {
        let count = self.keys.len() as u32;
        let mut block = 2;
        while block <= count {
            let mut distance = block / 2;
            while distance > 0 {
                let constants = [count, block, distance];
                to.dispatch(kernel, &[self.keys.whole()], &constants, count as usize)?;
                to.barrier()?;
                distance /= 2;
            }
            block *= 2;
        }
        Ok(())
    }
}
