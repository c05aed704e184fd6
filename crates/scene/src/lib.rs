//! Scene files: TOML text to a checked [`Scene`] that can run.
//!
//! [`load`] reads a file, applies the overrides of a command line, and either returns everything a run needs or *all*
//! that is wrong, each with file, line, column, the line itself and the nearest name that would have been right.
//! Reading writes nothing.
//!
//! ```
//! let text = r#"
//! dt = 0.01
//! duration = 1
//!
//! [[body]]
//! name = "cloth"
//! shape = { kind = "grid", size = [1, 1], cels = [8, 8] }
//! "#;
//! let error = gusset_scene::read("cloth.toml", text, std::path::Path::new("."), &[]).unwrap_err();
//! assert!(error.to_string().contains("did you mean `cells`?"));
//! ```

mod base;
mod build;
mod config;
mod defaults;
mod diagnostic;
mod document;
mod probe;
mod report;
mod require;
mod scene;
mod schema;
mod section;
mod source;
mod stepper;
mod suggest;

pub use config::{Backend, Precision};
pub use diagnostic::{Diagnostic, SceneError, Severity};
pub use probe::{
    BodyGap, Column, Judged, Limits, Measured, Probe, Probes, Statistic, Target, body_gaps,
};
pub use report::{
    Report, ReportCurve, ReportNumber, ReportScene, ReportSection, ReportSeries, ReportedRun,
    SeriesSource, SeriesStatistic, ShownUnit, Wanted, load_report,
};
pub use require::Requirement;
pub use scene::{OutputPlan, Phase, Scene, load, read};
pub use schema::{report_schema, schema};
pub use source::Source;
pub use stepper::{stepper, stepper_on};
