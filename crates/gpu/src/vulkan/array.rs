//! Arrays in the device's memory.

use super::{Device, GpuError};
use bytemuck::Pod;
use std::marker::PhantomData;
use std::ops::Range;
use vulkano::buffer::{AllocateBufferError, Buffer, BufferCreateInfo, BufferUsage, Subbuffer};
use vulkano::memory::allocator::{
    AllocationCreateInfo, DeviceLayout, MemoryAllocatePreference, MemoryTypeFilter,
};
use vulkano::{DeviceSize, Validated};

/// An array in the device's memory. It grows when it must and never shrinks.
pub struct Array<T> {
    device: Device,
    pub(super) bytes: Subbuffer<[u8]>,
    len: usize,
    element: PhantomData<T>,
}

/// What a kernel is given: an array or part of one.
#[derive(Clone, Debug)]
pub struct Binding(pub(super) Subbuffer<[u8]>);

impl<T: Pod> Array<T> {
    /// An array of `len` elements of no particular value.
    pub fn new(device: &Device, len: usize) -> Result<Self, GpuError> {
        let bytes = allocate(
            device,
            len * size_of::<T>(),
            BufferUsage::STORAGE_BUFFER | BufferUsage::TRANSFER_SRC | BufferUsage::TRANSFER_DST,
            MemoryTypeFilter::PREFER_DEVICE,
        )?;
        Ok(Self { device: device.clone(), bytes, len, element: PhantomData })
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Changes the length. What was in it is lost if it has to grow beyond its memory.
    pub fn resize(&mut self, len: usize) -> Result<(), GpuError> {
        if (len * size_of::<T>()) as u64 > self.bytes.size() {
            // Half as much again, so that a slowly growing list does not move each time.
            let room = if self.len == 0 { len } else { len + len / 2 };
            *self = Self::new(&self.device, room)?;
        }
        self.len = len;
        Ok(())
    }

    /// All of it, for a kernel.
    pub fn whole(&self) -> Binding {
        self.part(0..self.len)
    }

    /// Elements `range` of it, for a kernel; the start must lie on a multiple of [`Limits::alignment`](super::Limits).
    pub fn part(&self, range: Range<usize>) -> Binding {
        debug_assert!(range.end <= self.len, "within the array");
        let size = size_of::<T>() as u64;
        let start = range.start as u64 * size;
        debug_assert!(start.is_multiple_of(self.device.limits().alignment), "aligned");
        // A kernel that reads nothing still has to be given something.
        let end = (range.end as u64 * size).max(start + 4).min(self.bytes.size());
        Binding(self.bytes.clone().slice(start..end))
    }

    /// Elements `range` as they are copied.
    pub(super) fn copied(&self, range: Range<usize>) -> Subbuffer<[u8]> {
        assert!(range.end <= self.len, "a copy stays within the array");
        let size = size_of::<T>() as u64;
        self.bytes.clone().slice(range.start as u64 * size..range.end as u64 * size)
    }
}

/// Memory of at least one byte.
pub(super) fn allocate(
    device: &Device,
    bytes: usize,
    usage: BufferUsage,
    memory_type_filter: MemoryTypeFilter,
) -> Result<Subbuffer<[u8]>, GpuError> {
    // Fills work on words, so the length is a whole number of them.
    let size = (bytes.max(64) as DeviceSize).next_multiple_of(16);
    device.faults.allocation(size)?;
    if size > device.info().memory {
        return Err(GpuError::OutOfMemory { bytes: size });
    }
    let layout = DeviceLayout::from_size_alignment(size, 16).expect("a size that is not zero");
    let info = AllocationCreateInfo {
        memory_type_filter,
        allocate_preference: MemoryAllocatePreference::Unknown,
        ..AllocationCreateInfo::default()
    };
    let create = BufferCreateInfo { usage, ..BufferCreateInfo::default() };
    let buffer = Buffer::new(device.memory.clone(), create, info, layout);
    let buffer = buffer.map_err(|error| match error {
        Validated::Error(
            AllocateBufferError::AllocateMemory(_) | AllocateBufferError::CreateBuffer(_),
        ) => GpuError::OutOfMemory { bytes: size },
        other => GpuError::Other(format!("{other:?}")),
    })?;
    Ok(Subbuffer::new(buffer).into_bytes())
}
