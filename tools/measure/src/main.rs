//! How near a Vulkan device comes to its own memory bandwidth, and what a Newton iteration costs on it and on the CPU.
//!
//! ```sh
//! cargo run --release -p gusset-measure                     # 1e4, 1e5 and 1e6 triangles; under eight minutes on a GPU
//! cargo run --release -p gusset-measure -- --triangles 10000
//! ```

mod cost;
mod sheet;

use clap::Parser;
use cost::Cost;
use gusset_builtin as _;
use gusset_energy::Want;
use gusset_gpu::{Instance, VulkanBackend, measure};
use gusset_system::{Backend, CpuBackend, LinearSolver, Method, System};
use serde::Serialize;
use sheet::Sheet;
use std::collections::BTreeMap;
use std::error::Error;
use std::process::ExitCode;
use std::time::Instant;

/// Measure a Vulkan device: bandwidth, assembly, matrix products, Newton iterations.
#[derive(Debug, Parser)]
#[command(name = "gusset-measure")]
struct Arguments {
    /// Numbers of triangles.
    #[arg(long, value_delimiter = ',', default_values_t = [10_000, 100_000, 1_000_000])]
    triangles: Vec<usize>,
    /// Device, by number or name.
    #[arg(long)]
    device: Option<String>,
    /// Repetitions; the fastest counts.
    #[arg(long, default_value_t = 5)]
    repeat: u32,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Report {
    device: String,
    driver: String,
    /// Bytes a second of a kernel that reads two arrays and writes one.
    bandwidth: f64,
    sizes: Vec<Size>,
}

#[derive(Debug, Serialize)]
struct Size {
    triangles: usize,
    vertices: usize,
    blocks: usize,
    stages: Vec<Stage>,
    /// Seconds of a Newton iteration less its linear solve: assembly and one evaluation of energies.
    device_iteration: f64,
    cpu_iteration: f64,
    /// Seconds of one iteration of conjugate gradients, preconditioner included, and how many there were to 1e-6.
    cg_iteration: f64,
    cg_iterations: u32,
    /// The same on the CPU with inverted diagonal blocks alone; null where 4000 are not enough.
    jacobi_iterations: Option<u32>,
}

#[derive(Debug, Serialize)]
struct Stage {
    name: String,
    seconds: f64,
    /// By the cost model: what has to pass through memory at least once.
    bytes: f64,
    flops: f64,
    /// Share of the measured bandwidth.
    of_bandwidth: f64,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            #[expect(clippy::print_stderr, reason = "this is the program's way to say it")]
            {
                eprintln!("error: {error}");
            }
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let instance = Instance::new(false)?;
    let device = gusset_gpu::vulkan::Device::open(&instance, arguments.device.as_deref())?;
    let bandwidth = measure::bandwidth(&device, arguments.repeat)?;
    let mut report = Report {
        device: device.info().name.clone(),
        driver: device.info().driver.clone(),
        bandwidth,
        sizes: Vec::new(),
    };
    if !arguments.json {
        say(&format!("{} ({})", report.device, report.driver));
        say(&format!(
            "bandwidth of a kernel that reads two arrays and writes one: {:.1} GB/s",
            bandwidth * 1e-9
        ));
    }
    for &triangles in &arguments.triangles {
        let size = size(&device, triangles, bandwidth, arguments.repeat)?;
        if !arguments.json {
            say(&size.text());
        }
        report.sizes.push(size);
    }
    if arguments.json {
        say(&serde_json::to_string_pretty(&report)?);
    }
    Ok(())
}

#[expect(clippy::print_stdout, reason = "the result of the program")]
fn say(text: &str) {
    println!("{text}");
}

fn size(
    device: &gusset_gpu::vulkan::Device,
    triangles: usize,
    bandwidth: f64,
    repeat: u32,
) -> Result<Size, Box<dyn Error>> {
    let sheet = Sheet::new(triangles)?;
    let (terms, state) = (&sheet.terms, sheet.state());
    let mut system = System::new(&vec![false; sheet.x.len()], terms);
    let mut backend = VulkanBackend::new(device)?;
    let mut energies = Vec::new();
    // The first pass compiles, uploads and makes room.
    let mut fastest: BTreeMap<String, f64> = BTreeMap::new();
    let mut device_iteration = f64::INFINITY;
    for pass in 0..=repeat {
        backend.report();
        let begin = Instant::now();
        backend.assemble(terms, &state, Want::Hessian, &mut Vec::new, &mut system)?;
        backend.energies(terms, &state, &mut energies)?;
        let seconds = begin.elapsed().as_secs_f64();
        if pass == 0 {
            continue;
        }
        device_iteration = device_iteration.min(seconds);
        for (name, seconds) in backend.report().seconds {
            let best = fastest.entry(name).or_insert(f64::INFINITY);
            *best = best.min(seconds);
        }
    }
    let mut cpu = CpuBackend::default();
    let mut cpu_iteration = f64::INFINITY;
    for _ in 0..=repeat.min(2) {
        let begin = Instant::now();
        cpu.assemble(terms, &state, Want::Hessian, &mut Vec::new, &mut system)?;
        cpu.energies(terms, &state, &mut energies)?;
        cpu_iteration = cpu_iteration.min(begin.elapsed().as_secs_f64());
    }

    let method = Method::Pcg { tolerance: 1e-6, max_iterations: 400 };
    backend.use_method(method, system.pattern.len());
    backend.assemble(terms, &state, Want::Hessian, &mut Vec::new, &mut system)?;
    let mut direction = Vec::new();
    let solved = backend.solve(&mut system, &mut direction).expect("solved on the device");
    let (cg_iteration, cg_iterations) = match solved {
        Ok(s) => (s.solve.as_secs_f64() / f64::from(s.iterations.max(1)), s.iterations),
        Err(_) => (f64::NAN, 400),
    };
    let jacobi = Method::Pcg { tolerance: 1e-6, max_iterations: 4000 };
    cpu.assemble(terms, &state, Want::Hessian, &mut Vec::new, &mut system)?;
    let jacobi = LinearSolver::new(jacobi).solve(&system, &mut direction);
    let multiply = backend.time_multiply(&system, repeat)?;
    fastest.insert("H p".to_owned(), multiply);

    let cost = Cost::of(&sheet, &system);
    let stages = fastest.into_iter().map(|(name, seconds)| {
        let (bytes, flops) = cost.stage(&name);
        Stage { of_bandwidth: bytes / seconds / bandwidth, name, seconds, bytes, flops }
    });
    Ok(Size {
        triangles: sheet.triangles,
        vertices: sheet.x.len(),
        blocks: system.pattern.block_count(),
        stages: stages.collect(),
        device_iteration,
        cpu_iteration,
        cg_iteration,
        cg_iterations,
        jacobi_iterations: jacobi.ok().map(|s| s.iterations),
    })
}

impl Size {
    fn text(&self) -> String {
        let mut lines = vec![format!(
            "{} triangles, {} vertices, {} blocks",
            self.triangles, self.vertices, self.blocks
        )];
        for s in &self.stages {
            lines.push(format!(
                "  {:<26} {:9.3} ms  {:8.1} MB  {:7.2} GB/s  {:5.1} % of bandwidth  {:7.2} Gflop/s",
                s.name,
                s.seconds * 1e3,
                s.bytes * 1e-6,
                s.bytes / s.seconds * 1e-9,
                100.0 * s.of_bandwidth,
                s.flops / s.seconds * 1e-9
            ));
        }
        lines.push(format!(
            "  Newton iteration without its solve: {:.2} ms, on the CPU {:.2} ms ({:.2} times the CPU's)",
            self.device_iteration * 1e3,
            self.cpu_iteration * 1e3,
            self.device_iteration / self.cpu_iteration
        ));
        lines.push(format!(
            "  conjugate gradients: {} iterations of {:.3} ms; with diagonal blocks alone {}",
            self.cg_iterations,
            self.cg_iteration * 1e3,
            self.jacobi_iterations.map_or("over 4000".to_owned(), |n| n.to_string())
        ));
        lines.join("\n")
    }
}
