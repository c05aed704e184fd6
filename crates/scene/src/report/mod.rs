//! Report files: which runs belong together, which curves and numbers are shown of them, and what the numbers should be.
//!
//! A folder of scenes may have a `report.toml`. [`load_report`] checks it against the scenes it names, so that a misspelt
//! probe is found before anything runs. A folder without one gets a report of all its scenes, one after the other.

mod defaults;
mod read;
mod series;

use crate::diagnostic::Diagnostic;
use glam::DVec3;
use std::collections::BTreeMap;
use std::path::PathBuf;

pub use read::load_report;

/// A report that can be made. SI units throughout, but for what is to be shown in a unit of its own.
#[derive(Clone, Debug)]
pub struct Report {
    /// What stands above it.
    pub title: String,
    /// What it is about.
    pub about: String,
    /// What the numbers to compare with are called.
    pub reference: String,
    /// Runs that belong together.
    pub sections: Vec<ReportSection>,
    /// The scenes to run, each once.
    pub scenes: Vec<ReportScene>,
    /// What may surprise.
    pub warnings: Vec<Diagnostic>,
}

/// A scene to run.
#[derive(Clone, Debug)]
pub struct ReportScene {
    /// Its file.
    pub path: PathBuf,
    /// Keys that are set in it.
    pub set: Vec<String>,
    /// Name of its run folder.
    pub folder: String,
    /// The scene as a run folder keeps it.
    pub resolved: String,
    /// Its steps.
    pub steps: u64,
    /// Length of a step (s).
    pub dt: f64,
}

/// Runs that belong together.
#[derive(Clone, Debug)]
pub struct ReportSection {
    /// What stands above it.
    pub title: String,
    /// What it is about.
    pub about: String,
    /// Corners of the box that the cameras look at (m).
    pub view: Option<[DVec3; 2]>,
    /// The runs.
    pub runs: Vec<ReportedRun>,
    /// Plots.
    pub curves: Vec<ReportCurve>,
    /// Lines of the table.
    pub numbers: Vec<ReportNumber>,
}

/// A run in a section.
#[derive(Clone, Debug)]
pub struct ReportedRun {
    /// What curves and tables call it.
    pub name: String,
    /// Which of [`Report::scenes`].
    pub scene: usize,
    /// What stands below its picture.
    pub about: String,
}

/// Numbers over time, of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct ReportSeries {
    /// Which.
    pub source: SeriesSource,
    /// Whether only moments count of which there is a frame.
    pub frames: bool,
    /// What tells its curve from others of the same run; empty: the column's name does.
    pub label: String,
}

/// Where a series comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum SeriesSource {
    /// Columns of the probes whose names fit, less another column.
    Probe {
        /// Name without unit; `*` stands for anything.
        name: String,
        /// What is subtracted.
        minus: Option<String>,
    },
    /// A number of the step certificates, by path.
    Step(String),
    /// The greatest standard deviation over time of a vertex.
    Jitter {
        /// Whose vertices; `*` stands for anything.
        body: String,
        /// Along which axis.
        axis: usize,
        /// For curves: the time that counts (s).
        window: f64,
    },
    /// Pairs that intersect in each frame.
    IntersectingPairs,
    /// 1 for each frame in which anything intersects.
    IntersectingFrames,
}

impl SeriesSource {
    /// Whether a column of probes, by its name without unit, is one of the series.
    pub fn takes(pattern: &str, column: &str) -> bool {
        series::fits(pattern, column)
    }
}

/// A unit to show numbers in.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ShownUnit {
    /// From SI.
    pub factor: f64,
    /// Its name; empty for counts and ratios.
    pub name: String,
}

/// A plot.
#[derive(Clone, Debug)]
pub struct ReportCurve {
    /// What stands above it.
    pub title: String,
    /// In which it is drawn.
    pub unit: ShownUnit,
    /// What it shows of each run.
    pub series: Vec<ReportSeries>,
    /// Which of the section's runs.
    pub runs: Vec<usize>,
    /// Times that it shows (s).
    pub window: [f64; 2],
    /// Whether the vertical axis is logarithmic.
    pub log: bool,
}

/// A line of the table.
#[derive(Clone, Debug)]
pub struct ReportNumber {
    /// What the table calls it.
    pub name: String,
    /// Of what.
    pub series: ReportSeries,
    /// Which number.
    pub statistic: SeriesStatistic,
    /// Times that count (s).
    pub window: [f64; 2],
    /// In which it is shown.
    pub unit: ShownUnit,
    /// What it should be, by index of the section's runs; a run that is not there doesn't have the number.
    pub wanted: BTreeMap<usize, Wanted>,
}

/// One number of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SeriesStatistic {
    /// At the end of the time.
    Last,
    /// Mean over the time.
    Mean,
    /// Least value.
    Min,
    /// Greatest value.
    Max,
    /// Sum over steps or frames.
    Sum,
    /// Greatest minus least value.
    Range,
    /// Standard deviation.
    Deviation,
    /// First time (s) below a level, in SI.
    FirstBelow(f64),
    /// First time (s) above a level.
    FirstAbove(f64),
    /// Last time (s) below a level.
    LastBelow(f64),
    /// Last time (s) above a level.
    LastAbove(f64),
}

impl SeriesStatistic {
    /// Whether it is a time.
    pub fn is_time(self) -> bool {
        matches!(
            self,
            Self::FirstBelow(_) | Self::FirstAbove(_) | Self::LastBelow(_) | Self::LastAbove(_)
        )
    }
}

/// What a number should be for a run, in the unit that it is shown in.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wanted {
    /// What the reference has.
    pub reference: Option<f64>,
    /// Differences from it up to here are none.
    pub within: Option<f64>,
    /// Least value that is right.
    pub at_least: Option<f64>,
    /// Greatest value that is right.
    pub at_most: Option<f64>,
    /// What is to be said about it.
    pub note: String,
}
