//! How near a Vulkan device comes to its own memory bandwidth, and what a Newton iteration costs on it and on the CPU.
//!
//! ```sh
//! cargo run --release -p gusset-measure                     # 1e4, 1e5 and 1e6 triangles; under eight minutes on a GPU
//! cargo run --release -p gusset-measure -- --triangles 10000
//! ```

mod budget;
mod cost;
mod report;
mod sheet;
mod size;

use budget::Budget;
use clap::Parser;
use gusset_builtin as _;
use gusset_gpu::{Instance, measure};
use report::Report;
use size::Bench;
use std::error::Error;
use std::process::ExitCode;

/// Measure a Vulkan device: bandwidth, assembly, matrix products, candidates, Newton iterations.
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
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// Time that all of it may take; what does not fit is left out, and said.
    #[arg(long, default_value_t = 420.0, value_name = "SECONDS", overrides_with = "seconds")]
    seconds: f64,
    /// Print JSON.
    #[arg(long)]
    json: bool,
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
    let budget = Budget::new(arguments.seconds);
    let instance = Instance::new(false)?;
    let device = gusset_gpu::vulkan::Device::open(&instance, arguments.device.as_deref())?;
    let bandwidth = measure::bandwidth(&device, arguments.repeat)?;
    let mut report = Report {
        device: device.info().name.clone(),
        driver: device.info().driver.clone(),
        kernel_bandwidth: bandwidth.kernel,
        copy_bandwidth: bandwidth.copy,
        threads: std::thread::available_parallelism()?.get(),
        sizes: Vec::new(),
        left_out: Vec::new(),
        seconds: 0.0,
    };
    if !arguments.json {
        say(&report.head());
    }
    let mut sizes = arguments.triangles.clone();
    sizes.sort_unstable();
    let mut bench = Bench {
        device: &device,
        bandwidth: bandwidth.best(),
        repeat: arguments.repeat,
        budget: &budget,
        factorised: None,
        optional: 0.0,
        left_out: Vec::new(),
    };
    // Triangles and seconds of the size before, what may be left out apart.
    let mut before: Option<(usize, f64)> = None;
    for triangles in sizes {
        let expected = before.map_or(0.0, |(n, seconds)| seconds * triangles as f64 / n as f64);
        if let Err(why) = budget.allows(&format!("{triangles} triangles"), expected) {
            bench.left_out.push(why);
            continue;
        }
        let begin = budget.spent();
        bench.optional = 0.0;
        match bench.measure(triangles) {
            Ok(size) => {
                if !arguments.json {
                    say(&size.text());
                }
                report.sizes.push(size);
            }
            // Too large for this device: the sizes before it are worth having.
            Err(why) if !report.sizes.is_empty() => {
                bench.left_out.push(format!("{triangles} triangles: {why}"));
            }
            Err(why) => return Err(why),
        }
        before = Some((triangles, budget.spent() - begin - bench.optional));
    }
    report.left_out = bench.left_out;
    report.seconds = budget.spent();
    say(&if arguments.json { serde_json::to_string_pretty(&report)? } else { report.tail() });
    Ok(())
}

#[expect(clippy::print_stdout, reason = "the result of the program")]
fn say(text: &str) {
    println!("{text}");
}
