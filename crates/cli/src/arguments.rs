//! The command line.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Contact-rich physics without intersections: films, solids, spheres and obstacles by Incremental Potential Contact.
#[derive(Debug, Parser)]
#[command(name = "gusset", version, propagate_version = true, arg_required_else_help = true)]
#[command(after_help = "Exit codes: 0 done, 1 the run or a check failed, 2 the input is bad.")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a scene and write a run folder.
    Run(RunArguments),
    /// Look for intersections in a scene before its run, or in every frame of a run folder.
    Check(CheckArguments),
    /// List the kinds of energy that this program knows, or one of them in full.
    Energies(EnergiesArguments),
    /// Print the JSON Schema of scene files, or of report files, for completion and checks in editors.
    Schema(SchemaArguments),
    /// Make a picture, a contact sheet or a page that plays a run in a browser.
    View(ViewArguments),
    /// Put the probes of two runs side by side: values, ranges, frames with intersections; and their curves overlaid.
    Compare(CompareArguments),
    /// Run the scenes of a folder that have not been run, and put them into one page: side by side, with curves and tables.
    Report(ReportArguments),
    /// Write the frames of a run for other programs.
    Export(ExportArguments),
    /// Measure where the time of scenes goes, without writing anything.
    Bench(BenchArguments),
    /// List the Vulkan devices of this machine, and which of them can be used.
    Devices(DevicesArguments),
    /// Begin an energy of your own in a checkout of Gusset: a crate with a tool that knows it.
    NewEnergy(NewEnergyArguments),
}

impl Command {
    /// Whether one JSON object is wanted.
    pub(crate) fn json(&self) -> bool {
        match self {
            Self::Run(a) => a.json,
            Self::Check(a) => a.json,
            Self::Energies(a) => a.json,
            Self::Bench(a) => a.json,
            Self::Compare(a) => a.json,
            Self::Report(a) => a.json,
            Self::Devices(a) => a.json,
            Self::Schema(_) | Self::View(_) | Self::Export(_) | Self::NewEnergy(_) => false,
        }
    }
}

#[derive(Debug, Args)]
#[allow(clippy::struct_excessive_bools, reason = "independent switches of a command line")]
pub(crate) struct RunArguments {
    /// The scene file.
    pub(crate) scene: PathBuf,
    /// Where the run folder goes; `runs/` and the scene's file name where absent.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Simulated time to run to, instead of the scene's duration.
    #[arg(long, value_name = "SECONDS", conflicts_with = "steps", allow_negative_numbers = true)]
    pub(crate) until: Option<f64>,
    /// Number of steps to run to, counted from the scene's start.
    #[arg(long, value_name = "N")]
    pub(crate) steps: Option<u64>,
    /// Continue the run in the output folder from its last checkpoint, to the same bits.
    #[arg(long, conflicts_with = "force")]
    pub(crate) resume: bool,
    /// Continue the run in the output folder from its last checkpoint at or before this time, also with a changed scene;
    /// what was there after it is replaced, and the record notes what changed.
    #[arg(long, value_name = "SECONDS", conflicts_with = "force", allow_negative_numbers = true)]
    pub(crate) from: Option<f64>,
    /// Replace the run in the output folder.
    #[arg(long)]
    pub(crate) force: bool,
    /// Print one JSON object at the end, also for an error.
    #[arg(long)]
    pub(crate) json: bool,
    /// Leave out the HTML view.
    #[arg(long)]
    pub(crate) no_view: bool,
    #[command(flatten)]
    pub(crate) machine: Machine,
    #[command(flatten)]
    pub(crate) overrides: Overrides,
}

impl RunArguments {
    /// Whether a run that is there goes on.
    pub(crate) fn continues(&self) -> bool {
        self.resume || self.from.is_some()
    }
}

#[derive(Debug, Args)]
pub(crate) struct Machine {
    /// Number of threads; all cores where absent. Results are the same bits for any number.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(crate) threads: Option<u32>,
    /// Where terms are evaluated, instead of what the scene says.
    #[arg(long, value_enum)]
    pub(crate) backend: Option<BackendName>,
    /// Vulkan device, by number or part of its name as `gusset devices` lists them.
    #[arg(long, value_name = "DEVICE")]
    pub(crate) device: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Overrides {
    /// Set a key of the scene: `solver.tolerance=1e-6`, `body.cloth.translate=[0, 0, 1]`. May be given again.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum BackendName {
    /// A graphics processor where there is one and the scene gains from it, else the CPU.
    Auto,
    /// The CPU.
    Cpu,
    /// A Vulkan device.
    Vulkan,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// A scene file, or a run folder.
    pub(crate) path: PathBuf,
    /// File for a table of a run's frames: intersecting pairs and smallest distance of each.
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,
    /// Print one JSON object, also for an error.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) overrides: Overrides,
}

#[derive(Debug, Args)]
pub(crate) struct EnergiesArguments {
    /// One kind, with all that is known of its keys.
    pub(crate) kind: Option<String>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SchemaArguments {
    /// Of which files.
    #[arg(value_enum, default_value_t)]
    pub(crate) of: SchemaName,
    /// File to write instead of printing.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemaName {
    /// Scene files.
    #[default]
    Scene,
    /// Report files.
    Report,
}

#[derive(Debug, Args)]
pub(crate) struct ViewArguments {
    /// The run folder.
    pub(crate) run: PathBuf,
    /// Picture to write: of the last frame, or where the run has named phases of the end of each; --frame and --time
    /// choose one, --sheet several.
    #[arg(long, value_name = "FILE")]
    pub(crate) png: Option<PathBuf>,
    /// Page to write; `view.html` in the run folder where neither --png nor --html is given.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Number of the frame in the picture, from 0; the last where absent.
    #[arg(long, value_name = "K", requires = "png", conflicts_with_all = ["time", "sheet"])]
    pub(crate) frame: Option<usize>,
    /// Simulated time of the frame in the picture, in seconds; the nearest frame counts.
    #[arg(
        long,
        value_name = "T",
        requires = "png",
        conflicts_with = "sheet",
        allow_negative_numbers = true
    )]
    pub(crate) time: Option<f64>,
    /// Number of frames in one picture, spread over the run.
    #[arg(long, value_name = "N", requires = "png", value_parser = clap::value_parser!(u16).range(1..=400))]
    pub(crate) sheet: Option<u16>,
    /// What colours the bodies.
    #[arg(long, alias = "colour", value_enum, default_value_t)]
    pub(crate) color: ColourName,
    /// Width of the picture, or of one of a sheet, in pixels.
    #[arg(long, value_name = "PIXELS", value_parser = clap::value_parser!(u16).range(16..=8192))]
    pub(crate) width: Option<u16>,
    /// Height of the picture, or of one of a sheet, in pixels.
    #[arg(long, value_name = "PIXELS", value_parser = clap::value_parser!(u16).range(16..=8192))]
    pub(crate) height: Option<u16>,
    /// Angle of the camera about the up axis, in degrees; 0 looks from +x.
    #[arg(long, value_name = "DEGREES", allow_negative_numbers = true)]
    pub(crate) azimuth: Option<f64>,
    /// Angle of the camera above the horizon, in degrees.
    #[arg(long, value_name = "DEGREES", allow_negative_numbers = true)]
    pub(crate) elevation: Option<f64>,
    /// Above 1 shows less and larger.
    #[arg(long, value_name = "FACTOR")]
    pub(crate) zoom: Option<f64>,
    /// A body to leave out of the picture. May be given again.
    #[arg(long, value_name = "BODY")]
    pub(crate) hide: Vec<String>,
    /// A dark background.
    #[arg(long)]
    pub(crate) dark: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColourName {
    /// Each body its own colour.
    #[default]
    Body,
    /// Speed.
    Speed,
    /// Distance to the nearest other surface.
    Gap,
    /// Principal stretch of films, where it is farthest from 1.
    Stretch,
    /// Height along z.
    Height,
}

#[derive(Debug, Args)]
pub(crate) struct CompareArguments {
    /// A run folder.
    pub(crate) first: PathBuf,
    /// Another run folder.
    pub(crate) second: PathBuf,
    /// Time at which values are compared, in seconds; the last that both runs reached where absent. May be given again.
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub(crate) at: Vec<f64>,
    /// Length of the time, up to the last of --at, over which ranges are taken.
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0)]
    pub(crate) window: f64,
    /// A probe to compare, instead of all that both runs have. May be given again.
    #[arg(long, value_name = "NAME")]
    pub(crate) probe: Vec<String>,
    /// Fail (exit code 1) unless all positions are within that many metres of each other.
    #[arg(long, value_name = "METRES", allow_negative_numbers = true)]
    pub(crate) within: Option<f64>,
    /// Print a Markdown table.
    #[arg(long, conflicts_with = "json")]
    pub(crate) markdown: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// File for the curves; `compare-NAME.svg` in the first run folder where absent, after the name of the second.
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ReportArguments {
    /// A folder of scenes, whose report.toml says what belongs together, or such a file.
    pub(crate) path: PathBuf,
    /// Page to write; the folder's name with `.html`, beside the run folders, where absent.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Where the run folders are.
    #[arg(long, value_name = "DIR", default_value = "runs")]
    pub(crate) runs: PathBuf,
    /// Runs at a time, each on one thread; one for each core where absent.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(crate) jobs: Option<u32>,
    /// Take runs of other builds of this program too, as long as their scene is the same.
    #[arg(long)]
    pub(crate) any_build: bool,
    /// Run nothing; show what is there.
    #[arg(long)]
    pub(crate) no_run: bool,
    /// Print the tables as one JSON object, also for an error.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArguments {
    /// The run folder.
    pub(crate) run: PathBuf,
    /// The format.
    #[arg(long, value_enum)]
    pub(crate) format: FormatName,
    /// Folder to write to; `export-FORMAT` in the run folder where absent.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Frames from one that is written to the next; 1 where absent, and for glb as many as leave some 200 frames.
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) every: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatName {
    /// VTU files and a PVD collection, for ParaView.
    Vtk,
    /// Binary PLY, one file a frame.
    Ply,
    /// OBJ, one file a frame.
    Obj,
    /// Binary glTF, one animated file for Blender and browsers.
    Glb,
    /// USD, one file with every frame, for Blender, usdview, Houdini.
    Usd,
    /// NumPy arrays: film.npy (F, V, 3), faces.npy (T, 3), spheres.npy (F, N, 3), radii.npy, times.npy.
    Npy,
}

#[derive(Debug, Args)]
pub(crate) struct BenchArguments {
    /// Scene files; of two and more of rising size the exponent of time against vertices is fitted.
    #[arg(required = true)]
    pub(crate) scenes: Vec<PathBuf>,
    /// Steps of each scene; its duration where absent.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) steps: Option<u64>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) machine: Machine,
    #[command(flatten)]
    pub(crate) overrides: Overrides,
}

#[derive(Debug, Args)]
pub(crate) struct DevicesArguments {
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct NewEnergyArguments {
    /// Name of the kind in scene files, like `bending-spring`.
    pub(crate) name: String,
    /// Where Gusset's source is.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) root: PathBuf,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }
}
