//! What a run leaves behind and how it is looked at: the run folder with checkpoints, pictures, plots, a
//! self-contained HTML view, and exports for ParaView, Blender and others.
//!
//! Everything here takes plain arrays: positions in metres ([`glam::DVec3`]), triangles as `[u32; 3]`, and
//! [`BodyInfo`] for what no frame changes. [`Source`] is anything with frames: a run folder
//! ([`RunReader`]) or arrays in memory ([`Frames`]).

mod arrays;
mod body;
mod bounds;
mod camera;
mod checkpoint;
mod colour;
mod curves;
mod embed;
mod error;
mod export;
mod field;
mod font;
mod gltf;
mod html;
mod image;
mod light;
mod lines;
mod manifest;
mod mesh_files;
pub mod npy;
mod picture;
mod plot;
mod probe_plots;
mod raster;
mod report;
mod restart;
mod run_folder;
mod run_reader;
mod shade;
mod stretch;
mod surface;
mod table;
mod usd;
mod vtk;

pub use body::{BodyInfo, Frames, Phase, Plane, Precision, Restart, Role, RunInfo, Source};
pub use camera::{Camera, Orbit};
pub use checkpoint::Checkpoint;
pub use colour::ColourMap;
pub use curves::{Curves, curves, readable, split_unit};
pub use embed::Gaps;
pub use error::{OutputError, Result};
pub use export::{ExportFormat, ExportOptions, export, glb_stride};
pub use html::{HtmlOptions, HtmlReport, write_html};
pub use image::Image;
pub use picture::{ColourBy, PictureOptions, Scalars, contact_sheet, phase_ends, picture, spread};
pub use plot::{Plot, Series};
pub use probe_plots::{ProbeLimit, ProbeRun, column_named, probe_plots};
pub use report::{Cell, Mark, Report, ReportRun, ReportSection, ReportTable, write_report};
pub use restart::{finish_restart, restart, scene_at, usable_checkpoint};
pub use run_folder::RunWriter;
pub use run_reader::RunReader;
pub use stretch::{Stretch, stretch_reach};
pub use table::Table;
