//! Command buffers: copies and dispatches in their order, submitted together and waited for.

use super::array::allocate;
use super::kernel::CONSTANTS;
use super::{Array, Binding, Device, GpuError, Kernel};
use ash::vk;
use bytemuck::Pod;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;
use vulkano::VulkanObject as _;
use vulkano::buffer::{BufferUsage, Subbuffer};
use vulkano::command_buffer::{
    CommandBuffer, CommandBufferBeginInfo, CommandBufferLevel, CommandBufferUsage, CopyBufferInfo,
    RecordingCommandBuffer,
};
use vulkano::descriptor_set::{DescriptorSet, WriteDescriptorSet};
use vulkano::memory::allocator::MemoryTypeFilter;
use vulkano::pipeline::{Pipeline as _, PipelineBindPoint};
use vulkano::query::{QueryPool, QueryPoolCreateInfo, QueryResultFlags, QueryType};
use vulkano::sync::fence::{Fence, FenceCreateInfo};
use vulkano::sync::{AccessFlags, DependencyInfo, MemoryBarrier, PipelineStage, PipelineStages};

/// Sections of one submission that are timed; more are counted to the last.
const SECTIONS: u32 = 255;

/// A submission that takes longer counts as hung. Drivers give up earlier.
const PATIENCE: Duration = Duration::from_mins(10);

/// Bytes of staging memory to begin with.
const STAGING: usize = 1 << 20;

/// A downloaded range, to be read once the submission is done.
pub struct Ticket<T> {
    /// Nothing for an empty range.
    bytes: Option<Subbuffer<[u8]>>,
    element: PhantomData<T>,
}

impl<T: Pod> Ticket<T> {
    /// Copies what came down into `out`, which has its length.
    pub fn read(&self, out: &mut [T]) -> Result<(), GpuError> {
        let Some(bytes) = &self.bytes else { return Ok(()) };
        let bytes = bytes.read().map_err(|e| GpuError::Other(e.to_string()))?;
        bytemuck::cast_slice_mut(out).copy_from_slice(&bytes);
        Ok(())
    }

    /// What came down.
    pub fn to_vec(&self) -> Result<Vec<T>, GpuError> {
        let mut out = vec![
            T::zeroed();
            self.bytes.as_ref().map_or(0, |b| b.size() as usize / size_of::<T>())
        ];
        self.read(&mut out)?;
        Ok(out)
    }
}

/// Memory that both sides see, handed out from its start in each recording.
struct Staging {
    usage: BufferUsage,
    filter: MemoryTypeFilter,
    bytes: Option<Subbuffer<[u8]>>,
    used: u64,
}

impl Staging {
    /// A range of it. When it is too small, larger memory takes its place; recorded copies keep the old.
    fn take(&mut self, device: &Device, bytes: usize) -> Result<Subbuffer<[u8]>, GpuError> {
        let end = self.used + bytes as u64;
        if self.bytes.as_ref().is_none_or(|b| b.size() < end) {
            let size = bytes.max(STAGING).max(2 * end as usize);
            self.bytes = Some(allocate(device, size, self.usage, self.filter)?);
            self.used = 0;
        }
        let start = self.used;
        self.used = (start + bytes as u64).next_multiple_of(64);
        let all = self.bytes.as_ref().expect("there is memory now");
        Ok(all.clone().slice(start..start + bytes as u64))
    }
}

/// Where work for a device is recorded and run, one piece after the other.
pub struct Stream {
    device: Device,
    up: Staging,
    down: Staging,
    clock: Option<Arc<QueryPool>>,
}

/// Records copies and dispatches. Dispatches may overlap until [`Recorder::barrier`] separates them.
pub struct Recorder<'s> {
    stream: &'s mut Stream,
    commands: RecordingCommandBuffer,
    kept: Vec<Arc<DescriptorSet>>,
    memory: Vec<Subbuffer<[u8]>>,
    sections: Vec<Arc<str>>,
}

/// Recorded work that can be run any number of times.
pub struct Recorded {
    commands: CommandBuffer,
    _kept: Vec<Arc<DescriptorSet>>,
    _memory: Vec<Subbuffer<[u8]>>,
    sections: Vec<Arc<str>>,
}

impl Stream {
    /// A stream of work for this device.
    pub fn new(device: &Device) -> Result<Self, GpuError> {
        let clock = device.tick.map(|_| {
            let info = QueryPoolCreateInfo {
                query_count: SECTIONS + 1,
                ..QueryPoolCreateInfo::query_type(QueryType::Timestamp)
            };
            QueryPool::new(Arc::clone(&device.inner), info).map_err(GpuError::of)
        });
        let staging = |usage, filter| Staging { usage, filter, bytes: None, used: 0 };
        Ok(Self {
            device: device.clone(),
            up: staging(
                BufferUsage::TRANSFER_SRC,
                MemoryTypeFilter::PREFER_HOST | MemoryTypeFilter::HOST_SEQUENTIAL_WRITE,
            ),
            down: staging(
                BufferUsage::TRANSFER_DST,
                MemoryTypeFilter::PREFER_HOST | MemoryTypeFilter::HOST_RANDOM_ACCESS,
            ),
            clock: clock.transpose()?,
        })
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Begins a recording. What earlier ones have downloaded must have been read.
    pub fn begin(&mut self) -> Result<Recorder<'_>, GpuError> {
        (self.up.used, self.down.used) = (0, 0);
        let mut commands = RecordingCommandBuffer::new(
            self.device.commands.clone(),
            self.device.queue.queue_family_index(),
            CommandBufferLevel::Primary,
            CommandBufferBeginInfo {
                usage: CommandBufferUsage::MultipleSubmit,
                ..CommandBufferBeginInfo::default()
            },
        )
        .map_err(GpuError::of)?;
        if let Some(clock) = &self.clock {
            // SAFETY: the pool lives as long as this stream, whose submissions are all waited for.
            unsafe {
                commands
                    .reset_query_pool(clock, 0..SECTIONS + 1)
                    .and_then(|c| c.write_timestamp(clock, 0, PipelineStage::BottomOfPipe))
            }
            .map_err(|e| GpuError::invalid(&e))?;
        }
        let (kept, memory, sections) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Recorder { stream: self, commands, kept, memory, sections })
    }

    /// Submits recorded work and waits for it; returns the seconds of each section.
    pub fn run(&mut self, work: &Recorded) -> Result<Vec<(Arc<str>, f64)>, GpuError> {
        self.device.faults.submission()?;
        let fence = Fence::new(Arc::clone(&self.device.inner), FenceCreateInfo::default())
            .map_err(GpuError::of)?;
        let buffers = [work.commands.handle()];
        let info = vk::SubmitInfo::default().command_buffers(&buffers);
        let (queue, fns) = (&self.device.queue, self.device.inner.fns());
        // SAFETY: the queue is locked by `with`, the work is kept by the caller, and nobody returns before the fence is
        // signalled or the device is given up.
        let submitted = queue.with(|_lock| unsafe {
            (fns.v1_0.queue_submit)(queue.handle(), 1, &raw const info, fence.handle())
        });
        submitted.result().map_err(|e| GpuError::from(vulkano::VulkanError::from(e)))?;
        if let Err(error) = fence.wait(Some(PATIENCE)) {
            self.device.idle();
            return Err(error.into());
        }
        self.times(&work.sections)
    }

    fn times(&self, sections: &[Arc<str>]) -> Result<Vec<(Arc<str>, f64)>, GpuError> {
        let (Some(clock), Some(tick)) = (&self.clock, self.device.tick) else {
            return Ok(Vec::new());
        };
        if sections.is_empty() {
            return Ok(Vec::new());
        }
        let mut ticks = vec![0_u64; sections.len() + 1];
        clock
            .get_results(0..ticks.len() as u32, &mut ticks, QueryResultFlags::WAIT)
            .map_err(GpuError::of)?;
        let seconds = |k: usize| ticks[k + 1].saturating_sub(ticks[k]) as f64 * tick * 1e-9;
        Ok(sections.iter().enumerate().map(|(k, name)| (Arc::clone(name), seconds(k))).collect())
    }
}

impl<'s> Recorder<'s> {
    /// Copies `data` into the array from element `first` on.
    pub fn upload<T: Pod>(
        &mut self,
        to: &Array<T>,
        first: usize,
        data: &[T],
    ) -> Result<(), GpuError> {
        if data.is_empty() {
            return Ok(());
        }
        let bytes: &[u8] = bytemuck::cast_slice(data);
        let from = self.stream.up.take(&self.stream.device, bytes.len())?;
        from.write().map_err(|e| GpuError::Other(e.to_string()))?.copy_from_slice(bytes);
        self.copy(from, to.copied(first..first + data.len()))
    }

    /// Copies elements `range` of the array down; they can be read once the work is done.
    pub fn download<T: Pod>(
        &mut self,
        from: &Array<T>,
        range: Range<usize>,
    ) -> Result<Ticket<T>, GpuError> {
        if range.is_empty() {
            return Ok(Ticket { bytes: None, element: PhantomData });
        }
        let stream = &mut *self.stream;
        let to = stream.down.take(&stream.device, range.len() * size_of::<T>())?;
        self.copy(from.copied(range), to.clone())?;
        Ok(Ticket { bytes: Some(to), element: PhantomData })
    }

    /// Copies one array over another of the same length.
    pub fn copy_array<T: Pod>(&mut self, from: &Array<T>, to: &Array<T>) -> Result<(), GpuError> {
        self.copy(from.copied(0..from.len()), to.copied(0..to.len()))
    }

    fn copy(&mut self, from: Subbuffer<[u8]>, to: Subbuffer<[u8]>) -> Result<(), GpuError> {
        // SAFETY: both are kept until the work is done, and `barrier` separates what depends on each other.
        unsafe { self.commands.copy_buffer(&CopyBufferInfo::buffers(from.clone(), to.clone())) }
            .map_err(|e| GpuError::invalid(&e))?;
        self.memory.extend([from, to]);
        Ok(())
    }

    /// Sets every byte of the array to 0.
    pub fn zero<T: Pod>(&mut self, array: &Array<T>) -> Result<(), GpuError> {
        self.zero_part(array, 0..array.len())
    }

    /// Sets every byte of elements `range` to 0.
    pub fn zero_part<T: Pod>(
        &mut self,
        array: &Array<T>,
        range: Range<usize>,
    ) -> Result<(), GpuError> {
        if range.is_empty() {
            return Ok(());
        }
        let words = array.copied(range).reinterpret::<[u32]>();
        // SAFETY: as for copies.
        unsafe { self.commands.fill_buffer(&words, 0) }.map_err(|e| GpuError::invalid(&e))?;
        self.memory.push(words.into_bytes());
        Ok(())
    }

    /// Runs `threads` threads of a kernel on its arrays, with constants of up to 64 bytes.
    pub fn dispatch(
        &mut self,
        kernel: &Kernel,
        arrays: &[Binding],
        constants: &impl Pod,
        threads: usize,
    ) -> Result<(), GpuError> {
        if threads == 0 {
            return Ok(());
        }
        assert_eq!(arrays.len(), kernel.bindings, "{} has so many arrays", kernel.name);
        let limits = self.stream.device.limits();
        for array in arrays {
            let (bytes, limit) = (array.0.size(), limits.storage_range);
            if bytes > limit {
                return Err(GpuError::TooLarge { what: "an array of a kernel", bytes, limit });
            }
        }
        let groups = (threads as u64).div_ceil(u64::from(kernel.group));
        let across = groups.min(u64::from(limits.groups));
        let down = groups.div_ceil(across);
        let mut push = [0_u8; CONSTANTS];
        let given = bytemuck::bytes_of(constants);
        push[..given.len()].copy_from_slice(given);

        let writes = arrays
            .iter()
            .enumerate()
            .map(|(k, b)| WriteDescriptorSet::buffer(k as u32, b.0.clone()));
        let set = DescriptorSet::new(
            self.stream.device.sets.clone(),
            Arc::clone(&kernel.set),
            writes,
            [],
        )
        .map_err(GpuError::of)?;
        let layout = kernel.pipeline.layout();
        // SAFETY: pipeline, set and arrays are kept until the work is done; a kernel's threads beyond those asked for
        // return at once, and the others keep to the arrays' lengths, which are passed to them.
        unsafe {
            self.commands
                .bind_pipeline_compute(&kernel.pipeline)
                .and_then(|c| {
                    c.bind_descriptor_sets(
                        PipelineBindPoint::Compute,
                        layout,
                        0,
                        &[set.as_raw()],
                        &[],
                    )
                })
                .and_then(|c| c.push_constants(layout, 0, &push))
                .and_then(|c| c.dispatch([across as u32, down as u32, 1]))
        }
        .map_err(|e| GpuError::invalid(&e))?;
        self.kept.push(set);
        self.memory.extend(arrays.iter().map(|b| b.0.clone()));
        Ok(())
    }

    /// Lets what follows see what came before.
    pub fn barrier(&mut self) -> Result<(), GpuError> {
        let stages = PipelineStages::COMPUTE_SHADER | PipelineStages::ALL_TRANSFER;
        let barrier = MemoryBarrier {
            src_stages: stages,
            src_access: AccessFlags::SHADER_WRITE | AccessFlags::TRANSFER_WRITE,
            dst_stages: stages,
            dst_access: AccessFlags::SHADER_READ
                | AccessFlags::SHADER_WRITE
                | AccessFlags::TRANSFER_READ
                | AccessFlags::TRANSFER_WRITE,
            ..MemoryBarrier::default()
        };
        let info =
            DependencyInfo { memory_barriers: vec![barrier].into(), ..DependencyInfo::default() };
        // SAFETY: a barrier touches no memory.
        unsafe { self.commands.pipeline_barrier(&info) }.map_err(|e| GpuError::invalid(&e))?;
        Ok(())
    }

    /// Ends a section of the work: its time is reported under this name.
    pub fn section(&mut self, name: &str) -> Result<(), GpuError> {
        let Some(clock) = self.stream.clock.clone() else { return Ok(()) };
        if self.sections.len() as u32 == SECTIONS {
            return Ok(());
        }
        self.sections.push(name.into());
        let query = self.sections.len() as u32;
        // SAFETY: each query of the pool is written once after its reset.
        unsafe { self.commands.write_timestamp(&clock, query, PipelineStage::BottomOfPipe) }
            .map_err(|e| GpuError::invalid(&e))?;
        Ok(())
    }

    /// Ends the recording, to be run by [`Stream::run`].
    pub fn finish(self) -> Result<Recorded, GpuError> {
        Ok(self.end()?.1)
    }

    fn end(mut self) -> Result<(&'s mut Stream, Recorded), GpuError> {
        // The host sees downloads once the fence is signalled and this barrier is passed.
        let barrier = MemoryBarrier {
            src_stages: PipelineStages::ALL_TRANSFER,
            src_access: AccessFlags::TRANSFER_WRITE,
            dst_stages: PipelineStages::HOST,
            dst_access: AccessFlags::HOST_READ,
            ..MemoryBarrier::default()
        };
        let info =
            DependencyInfo { memory_barriers: vec![barrier].into(), ..DependencyInfo::default() };
        // SAFETY: a barrier touches no memory.
        unsafe { self.commands.pipeline_barrier(&info) }.map_err(|e| GpuError::invalid(&e))?;
        let recorded = Recorded {
            // SAFETY: the command buffer is primary and outside of a render pass.
            commands: unsafe { self.commands.end() }?,
            _kept: self.kept,
            _memory: self.memory,
            sections: self.sections,
        };
        Ok((self.stream, recorded))
    }

    /// Submits what was recorded and waits for it; returns the seconds of each section.
    pub fn submit(self) -> Result<Vec<(Arc<str>, f64)>, GpuError> {
        let (stream, work) = self.end()?;
        stream.run(&work)
    }
}
