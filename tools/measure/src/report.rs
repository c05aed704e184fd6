//! What was measured, for people and as JSON.

use serde::Serialize;

#[derive(Debug, Serialize)]
pub(crate) struct Report {
    pub(crate) device: String,
    pub(crate) driver: String,
    /// Bytes a second of a kernel that reads two arrays and writes one.
    pub(crate) kernel_bandwidth: f64,
    /// Bytes a second of a copy, reads and writes counted.
    pub(crate) copy_bandwidth: f64,
    /// Threads of the CPU's side.
    pub(crate) threads: usize,
    pub(crate) sizes: Vec<Size>,
    /// What there was no time for.
    pub(crate) left_out: Vec<String>,
    /// Seconds of the whole measurement.
    pub(crate) seconds: f64,
}

#[derive(Debug, Serialize)]
pub(crate) struct Size {
    pub(crate) triangles: usize,
    pub(crate) vertices: usize,
    pub(crate) blocks: usize,
    /// Candidate pairs of a step.
    pub(crate) candidates: usize,
    /// Kernel by kernel, against the cost model.
    pub(crate) kernels: Vec<Kernel>,
    /// Device against CPU, transfers and waiting included.
    pub(crate) stages: Vec<Stage>,
    /// A Newton iteration: assembly, solve and one evaluation of energies. A query for candidates serves many.
    pub(crate) newton: Stage,
    /// Iterations of conjugate gradients to a residual of 1e-6, with several levels on the device and with diagonal blocks
    /// on the CPU; null where there was no time for so many.
    pub(crate) cg_iterations: [Option<u32>; 2],
}

#[derive(Debug, Serialize)]
pub(crate) struct Kernel {
    pub(crate) name: String,
    pub(crate) seconds: f64,
    /// By the cost model: what has to pass through memory at least once.
    pub(crate) bytes: f64,
    pub(crate) flops: f64,
    /// Share of the measured bandwidth, the better of the two.
    pub(crate) of_bandwidth: f64,
}

/// Seconds on the device and on the CPU; null where it was left out.
#[derive(Debug, Serialize)]
pub(crate) struct Stage {
    pub(crate) name: String,
    pub(crate) device: Option<f64>,
    pub(crate) cpu: Option<f64>,
}

impl Report {
    pub(crate) fn head(&self) -> String {
        format!(
            "{} ({}), against the CPU on {} threads\n\
             bandwidth: {:.1} GB/s of a kernel that reads two arrays and writes one, {:.1} GB/s of a copy",
            self.device,
            self.driver,
            self.threads,
            self.kernel_bandwidth * 1e-9,
            self.copy_bandwidth * 1e-9
        )
    }

    pub(crate) fn tail(&self) -> String {
        let mut lines: Vec<String> =
            self.left_out.iter().map(|what| format!("left out: {what}")).collect();
        lines.push(format!("measured in {:.0} s", self.seconds));
        lines.join("\n")
    }
}

impl Stage {
    fn text(&self) -> String {
        let ms = |seconds: Option<f64>| {
            seconds.map_or(format!("{:>13}", "left out"), |s| format!("{:10.3} ms", s * 1e3))
        };
        let ratio = self.device.zip(self.cpu).map(|(d, c)| format!("  {:8.2} times", d / c));
        format!(
            "  {:<26} {}  CPU {}{}",
            self.name,
            ms(self.device),
            ms(self.cpu),
            ratio.unwrap_or_default()
        )
    }
}

impl Size {
    pub(crate) fn text(&self) -> String {
        let mut lines = vec![format!(
            "{} triangles, {} vertices, {} blocks, {} candidates",
            self.triangles, self.vertices, self.blocks, self.candidates
        )];
        for k in &self.kernels {
            let mut line = format!("  {:<26} {:10.3} ms", k.name, k.seconds * 1e3);
            if k.bytes > 0.0 {
                let of_model = format!(
                    "  {:8.1} MB  {:7.2} GB/s  {:5.1} % of bandwidth  {:7.2} Gflop/s",
                    k.bytes * 1e-6,
                    k.bytes / k.seconds * 1e-9,
                    100.0 * k.of_bandwidth,
                    k.flops / k.seconds * 1e-9
                );
                line.push_str(&of_model);
            }
            lines.push(line);
        }
        lines.push("  device against CPU, transfers included:".to_owned());
        lines.extend(self.stages.iter().chain([&self.newton]).map(Stage::text));
        let count = |n: Option<u32>| n.map_or("not found out".to_owned(), |n| n.to_string());
        lines.push(format!(
            "  iterations of conjugate gradients to 1e-6: {}; with diagonal blocks alone {}",
            count(self.cg_iterations[0]),
            count(self.cg_iterations[1])
        ));
        lines.join("\n")
    }
}
