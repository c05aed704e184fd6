//! The words of a report file.

use super::{Amount, Axis, PerRun};
use gusset_units::{Length, Time, Units};
use schemars::JsonSchema;
use serde::Deserialize;

/// The keys at the top of a report file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReportTop {
    /// What stands above the report; the folder's name where absent.
    pub(crate) title: Option<String>,
    /// What it is about. An empty line begins a paragraph.
    #[serde(default)]
    pub(crate) about: String,
    /// What tables call the numbers to compare with; "article" where absent.
    #[serde(default = "article")]
    pub(crate) reference: String,
    /// Units of bare lengths and times in this file, as in scenes.
    #[serde(default)]
    #[schemars(extend("default" = "SI"))]
    #[expect(
        dead_code,
        reason = "read before the rest, which it is needed for; here for its schema"
    )]
    pub(crate) units: Units,
}

fn article() -> String {
    "article".to_owned()
}

/// Runs that belong together: they play side by side, share curves and a table.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReportSectionConfig {
    /// What stands above it.
    #[serde(default)]
    pub(crate) title: String,
    /// What it is about. An empty line begins a paragraph.
    #[serde(default)]
    pub(crate) about: String,
    /// Two corners of the box that the cameras look at; where absent, that of all that moves.
    pub(crate) view: Option<[[Length; 3]; 2]>,
}

/// A run of a section.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReportRunConfig {
    /// What curves and tables call it.
    pub(crate) name: String,
    /// The scene file, from the report's folder.
    pub(crate) scene: String,
    /// Keys that are set as `--set` does: "solver.gap=0.4".
    #[serde(default)]
    pub(crate) set: Vec<String>,
    /// What stands below its picture.
    #[serde(default)]
    pub(crate) about: String,
}

/// Numbers over time, of one run. One of `probe`, `step`, `jitter` and `intersecting` says which.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SeriesConfig {
    /// Name of a column of the scene's probes; `*` stands for anything, and for all columns that fit.
    pub(crate) probe: Option<String>,
    /// A column that is subtracted from that of `probe`.
    pub(crate) minus: Option<String>,
    /// A number of the step certificates (`steps.jsonl`): "iterations", "descent.clipped", "seconds.total".
    pub(crate) step: Option<String>,
    /// A body whose vertices are watched along `axis`: the standard deviation of each over time, and of these the greatest.
    /// `*` stands for anything, and for all bodies that fit.
    pub(crate) jitter: Option<String>,
    /// Axis of `jitter`; "z" where absent.
    pub(crate) axis: Option<Axis>,
    /// For curves of `jitter`: the time before each moment that counts; 0.5 s where absent.
    pub(crate) window: Option<Time>,
    /// What the independent checker finds in the saved frames.
    pub(crate) intersecting: Option<IntersectingName>,
    /// Whether only moments count of which there is a frame: where a reference was sampled so.
    #[serde(default)]
    pub(crate) frames: bool,
    /// What tells its curve from others of the same run.
    #[serde(default)]
    pub(crate) label: String,
}

/// What of the intersections counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum IntersectingName {
    /// Pairs in each frame.
    Pairs,
    /// Whether a frame has any; with the statistic "sum", their number.
    Frames,
}

/// A plot over time.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CurveConfig {
    /// What stands above it.
    pub(crate) title: String,
    /// Unit in which it is drawn, like "cm/s"; the SI unit where absent.
    pub(crate) unit: Option<String>,
    /// Runs of the section that it shows; all where absent.
    pub(crate) runs: Option<Vec<String>>,
    /// Beginning of the time that it shows.
    pub(crate) from: Option<Time>,
    /// End of the time that it shows.
    pub(crate) to: Option<Time>,
    /// Whether the vertical axis is logarithmic.
    #[serde(default)]
    pub(crate) log: bool,
}

/// A number in the table of a section.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NumberConfig {
    /// What the table calls it.
    pub(crate) name: String,
    /// What of the series it is; "last" where absent.
    #[serde(default)]
    pub(crate) statistic: NumberStatistic,
    /// The time that counts.
    pub(crate) at: Option<Time>,
    /// Beginning of the time that counts, in place of `at`; the start where absent.
    pub(crate) from: Option<Time>,
    /// End of the time that counts; the run's where absent.
    pub(crate) to: Option<Time>,
    /// The level of "first-below" and its like.
    pub(crate) level: Option<Amount>,
    /// Unit of the number, of what it is compared with and of its limits; the SI unit where absent.
    pub(crate) unit: Option<String>,
    /// Runs of the section that have it; all where absent.
    pub(crate) runs: Option<Vec<String>>,
    /// What the reference has: a number, or one for each run, { penalty = 0.195, alm = 0.196 }.
    pub(crate) reference: Option<PerRun<f64>>,
    /// Differences from the reference up to here are none.
    pub(crate) within: Option<PerRun<f64>>,
    /// Least value that is right.
    pub(crate) at_least: Option<PerRun<f64>>,
    /// Greatest value that is right.
    pub(crate) at_most: Option<PerRun<f64>>,
    /// What is to be said about it: a text, or one for each run.
    pub(crate) note: Option<PerRun<String>>,
}

/// One number of a series. Where there are several columns, the greatest or least of all, and for "mean" their mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum NumberStatistic {
    /// At the end of the time that counts.
    #[default]
    Last,
    /// Mean over the time.
    Mean,
    /// Least value.
    Min,
    /// Greatest value.
    Max,
    /// Sum over the steps or frames.
    Sum,
    /// Greatest minus least value of a column.
    Range,
    /// Standard deviation over the time.
    Deviation,
    /// The first time at which a value is below `level`.
    FirstBelow,
    /// The first time at which a value is above `level`.
    FirstAbove,
    /// The last time at which a value is below `level`.
    LastBelow,
    /// The last time at which a value is above `level`.
    LastAbove,
}
