//! What a device can do at best, for benchmarks.

use crate::kernels::Kernels;
use crate::vulkan::{Array, Device, GpuError, Stream};

/// Bytes a second that a kernel moves which reads two long arrays and writes one: the fastest of so many tries.
pub fn bandwidth(device: &Device, tries: u32) -> Result<f64, GpuError> {
    let limits = device.limits();
    let bytes = limits.storage_range.min(256 << 20).min(device.info().memory / 8);
    let count = (bytes / 8) as usize;
    let mut stream = Stream::new(device)?;
    let kernel = Kernels::new(device).named("cg_direction", 3, 64)?;
    // `Scalars`, all zero: nothing is done yet, so the kernel works.
    let scalars = Array::<f64>::new(device, 6)?;
    let (z, p) = (Array::<f64>::new(device, count)?, Array::<f64>::new(device, count)?);
    let mut best = f64::INFINITY;
    for _ in 0..=tries {
        let mut to = stream.begin()?;
        to.zero(&scalars)?;
        to.zero(&z)?;
        to.barrier()?;
        to.section("set up")?;
        let arrays = [scalars.whole(), z.whole(), p.whole()];
        to.dispatch(&kernel, &arrays, &(count as u32), count)?;
        to.barrier()?;
        to.section("stream")?;
        let times = to.submit()?;
        best = times.iter().filter(|t| &*t.0 == "stream").fold(best, |a, t| a.min(t.1));
    }
    Ok(24.0 * count as f64 / best)
}
