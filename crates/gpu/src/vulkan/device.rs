//! An open device.

use super::fault::Faults;
use super::instance::{features, queue_family};
use super::{DeviceInfo, Fault, GpuError, Instance};
use std::sync::Arc;
use vulkano::VulkanObject as _;
use vulkano::command_buffer::allocator::{
    StandardCommandBufferAllocator, StandardCommandBufferAllocatorCreateInfo,
};
use vulkano::descriptor_set::allocator::StandardDescriptorSetAllocator;
use vulkano::device::{DeviceCreateInfo, Queue, QueueCreateInfo};
use vulkano::memory::allocator::StandardMemoryAllocator;
use vulkano::pipeline::cache::{PipelineCache, PipelineCacheCreateInfo};

/// What a device can't exceed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Bytes of an array that a kernel can see at once.
    pub storage_range: u64,
    /// Bytes that a part of an array must start at a multiple of.
    pub alignment: u64,
    /// Workgroups along one dimension of a dispatch.
    pub groups: u32,
}

/// An open device with one queue.
#[derive(Clone)]
pub struct Device {
    pub(super) inner: Arc<vulkano::device::Device>,
    pub(super) queue: Arc<Queue>,
    pub(super) memory: Arc<StandardMemoryAllocator>,
    pub(super) commands: Arc<StandardCommandBufferAllocator>,
    pub(super) sets: Arc<StandardDescriptorSetAllocator>,
    pub(super) pipelines: Option<Arc<PipelineCache>>,
    instance: Instance,
    info: DeviceInfo,
    limits: Limits,
    /// Nanoseconds a tick; absent where the queue has no clock.
    pub(super) tick: Option<f64>,
    pub(super) faults: Faults,
}

impl std::fmt::Debug for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Device").field("info", &self.info).finish_non_exhaustive()
    }
}

impl Device {
    /// Opens the device with that number or name, or the most wanted one.
    pub fn open(instance: &Instance, wanted: Option<&str>) -> Result<Self, GpuError> {
        let (physical, info) = instance.choose(wanted)?;
        let family = queue_family(&physical).expect("a usable device has a compute queue");
        let properties = physical.properties();
        let bits = physical.queue_family_properties()[family as usize].timestamp_valid_bits;
        let tick = bits.map(|_| f64::from(properties.timestamp_period));
        let limits = Limits {
            storage_range: u64::from(properties.max_storage_buffer_range),
            alignment: properties.min_storage_buffer_offset_alignment.as_devicesize().max(64),
            groups: properties.max_compute_work_group_count[0],
        };
        let create = DeviceCreateInfo {
            queue_create_infos: vec![QueueCreateInfo {
                queue_family_index: family,
                ..QueueCreateInfo::default()
            }],
            enabled_features: features(),
            ..DeviceCreateInfo::default()
        };
        let (inner, mut queues) =
            vulkano::device::Device::new(physical, create).map_err(GpuError::of)?;
        let queue = queues.next().expect("one queue was asked for");
        // SAFETY: no data from elsewhere goes into the cache.
        let pipelines =
            unsafe { PipelineCache::new(Arc::clone(&inner), PipelineCacheCreateInfo::default()) };
        Ok(Self {
            memory: Arc::new(StandardMemoryAllocator::new_default(Arc::clone(&inner))),
            commands: Arc::new(StandardCommandBufferAllocator::new(
                Arc::clone(&inner),
                StandardCommandBufferAllocatorCreateInfo::default(),
            )),
            sets: Arc::new(StandardDescriptorSetAllocator::new(
                Arc::clone(&inner),
                vulkano::descriptor_set::allocator::StandardDescriptorSetAllocatorCreateInfo::default(),
            )),
            pipelines: pipelines.ok(),
            instance: instance.clone(),
            inner,
            queue,
            info,
            limits,
            tick,
            faults: Faults::default(),
        })
    }

    /// What it is.
    pub fn info(&self) -> &DeviceInfo {
        &self.info
    }

    /// The loader it came from.
    pub fn instance(&self) -> &Instance {
        &self.instance
    }

    /// What it can't exceed.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Pretends that a kernel sees less at once, so that tests reach what only large scenes do.
    #[must_use]
    pub fn with_storage_range(mut self, bytes: u64) -> Self {
        self.limits.storage_range = self.limits.storage_range.min(bytes);
        self
    }

    /// Pretends to fail, so that tests reach what seldom happens.
    #[must_use]
    pub fn with_fault(mut self, fault: Fault) -> Self {
        self.faults.add(fault);
        self
    }

    /// Pretends that nothing can compile the kernels of this kind, for tests.
    #[must_use]
    pub fn without_kernels_of(mut self, kind: &'static str) -> Self {
        self.faults.no_kernels_of = Some(kind);
        self
    }

    /// Fails where kernels of that name are to be missing.
    pub(crate) fn may_have_kernel(&self, name: &str) -> Result<(), GpuError> {
        self.faults.kernel(name)
    }

    /// Waits until nothing is in flight.
    pub(super) fn idle(&self) {
        // An error means that the device is lost, and then nothing is.
        self.queue.with(|mut q| q.wait_idle()).ok();
        let _ = self.inner.handle();
    }
}
