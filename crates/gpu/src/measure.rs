//! What a device can do at best, for benchmarks.

use crate::kernels::Kernels;
use crate::vulkan::{Array, Device, GpuError, Stream};

/// Bytes a second, reads and writes counted: the fastest of some tries.
#[derive(Clone, Copy, Debug)]
pub struct Bandwidth {
    /// Of a kernel that reads two long arrays and writes one.
    pub kernel: f64,
    /// Of a copy of a long array.
    pub copy: f64,
}

impl Bandwidth {
    /// What is called the device's bandwidth: on software, whose kernels take an invocation for each number, the copy's.
    pub fn best(self) -> f64 {
        self.kernel.max(self.copy)
    }
}

/// Measures the bandwidth of a device's memory.
pub fn bandwidth(device: &Device, tries: u32) -> Result<Bandwidth, GpuError> {
    let limits = device.limits();
    let bytes = limits.storage_range.min(256 << 20).min(device.info().memory / 8);
    let count = (bytes / 8) as usize;
    let mut stream = Stream::new(device)?;
    let kernel = Kernels::new(device).named("cg_direction", 3, 64)?;
    // `Scalars`, all zero: nothing is done yet, so the kernel works.
    let scalars = Array::<f64>::new(device, 6)?;
    let (z, p) = (Array::<f64>::new(device, count)?, Array::<f64>::new(device, count)?);
    let mut best = [f64::INFINITY; 2];
    for _ in 0..=tries {
        let mut to = stream.begin()?;
        to.zero(&scalars)?;
        to.zero(&z)?;
        to.barrier()?;
        to.section("set up")?;
        let arrays = [scalars.whole(), z.whole(), p.whole()];
        to.dispatch(&kernel, &arrays, &(count as u32), count)?;
        to.barrier()?;
        to.section("kernel")?;
        to.copy_array(&z, &p)?;
        to.barrier()?;
        to.section("copy")?;
        for (name, seconds) in to.submit()? {
            match &*name {
                "kernel" => best[0] = best[0].min(seconds),
                "copy" => best[1] = best[1].min(seconds),
                _ => {}
            }
        }
    }
    let moved = |arrays: f64, seconds: f64| 8.0 * arrays * count as f64 / seconds;
    Ok(Bandwidth { kernel: moved(3.0, best[0]), copy: moved(2.0, best[1]) })
}
