//! What a scene file can say, as types. Their fields are the keys; their comments are the documentation that the JSON
//! schema and the editors show.

mod angle;
mod body;
mod contact;
mod descent;
mod material;
mod output;
mod per_run;
mod probe;
mod report;
mod shape;
mod solver;
mod tagged;
mod target;
mod top;

pub(crate) use angle::Angle;
pub(crate) use body::{BodyConfig, Fixed, FoldFrame, Move, RoleName, Rotate, Scale};
pub(crate) use contact::{ContactConfig, StepBound, StiffnessOrAuto};
pub(crate) use descent::{
    BudgetName, ContactName, DescentConfig, ScheduleName, StartName, TruncationName,
};
pub(crate) use material::{MaterialConfig, MaterialRef, NamedMaterial};
pub(crate) use output::OutputConfig;
pub use output::Precision;
pub(crate) use per_run::PerRun;
pub(crate) use probe::{Axis, ProbeConfig};
pub(crate) use report::{
    CurveConfig, IntersectingName, NumberConfig, NumberStatistic, ReportRunConfig,
    ReportSectionConfig, ReportTop, SeriesConfig,
};
pub(crate) use shape::{GridOrigin, GridPattern, ShapeConfig};
pub use solver::Backend;
pub(crate) use solver::{CurvatureName, LineSearchName, Linear, Phase, SolverConfig, StorageName};
pub(crate) use tagged::{Tagged, tagged, with_kind};
pub(crate) use target::{Amount, RequireConfig, StatisticName, TargetConfig};
pub(crate) use top::Top;
