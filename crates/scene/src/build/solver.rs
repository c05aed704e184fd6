//! `[solver]`: how each step is solved.

use crate::config::{
    self, Backend, CurvatureName, LineSearchName, Linear, SolverConfig, StorageName,
};
use crate::defaults;
use crate::scene::Phase;
use crate::section::{Problems, Section};
use gusset_solve::{Curvature, LineSearch, Settings, Storage};
use gusset_system::Method;
use gusset_units::Units;
use toml::de::DeTable;

/// What `[solver]` says.
pub(crate) struct Solver {
    pub(crate) settings: Settings,
    pub(crate) backend: Backend,
    pub(crate) phases: Vec<Phase>,
}

/// Reads the table.
pub(crate) fn solver(
    section: Option<Section<'_>>,
    units: &Units,
    dt: f64,
    problems: &mut Problems<'_>,
) -> Option<Solver> {
    let errors = problems.errors();
    let section = section.unwrap_or_else(|| Section {
        table: DeTable::new(),
        span: 0..0,
        what: "[solver]".to_owned(),
    });
    let config: SolverConfig = if section.table.is_empty() {
        SolverConfig::default()
    } else {
        section.read_partly(problems)?
    };
    if config.tolerance.is_some() && config.tolerance_speed.is_some() {
        let message = "the tolerance is given as `tolerance` or as `tolerance_speed`, not both";
        problems.error(&section.span_of("tolerance_speed"), message);
    }
    let speed = config.tolerance_speed.map_or(defaults::TOLERANCE_SPEED, |v| v.si(units));
    let tolerance = config.tolerance.map_or(speed * dt, |t| t.si(units));
    if tolerance <= 0.0 {
        let key = if config.tolerance.is_some() { "tolerance" } else { "tolerance_speed" };
        problems.error(&section.span_of(key), format!("`{key}` must be above 0"));
    }
    let (phases, tolerance_schedule) = stretches(&config.phase, &section, units, problems);
    for (key, zero) in [
        ("max_iterations", config.max_iterations == 0),
        ("pcg_iterations", config.pcg_iterations == Some(0)),
        ("pcg_tolerance", config.pcg_tolerance.is_some_and(|t| t <= 0.0 || !t.is_finite())),
    ] {
        if zero {
            problems.error(&section.span_of(key), format!("`{key}` must be above 0"));
        }
    }
    if config.subdivisions > defaults::MOST_SUBDIVISIONS {
        let message = format!(
            "`subdivisions` is {}: at most {}, which is already a millionth of a step",
            config.subdivisions,
            defaults::MOST_SUBDIVISIONS
        );
        problems.error(&section.span_of("subdivisions"), message);
    }
    for key in ["pcg_tolerance", "pcg_iterations"] {
        if section.has(key) && config.linear != Linear::Pcg {
            let message = format!("`{key}` means nothing without `linear = \"pcg\"`");
            problems.warn(&section.span_of(key), message, None);
        }
    }
    let linear = match config.linear {
        Linear::Auto => Method::Auto,
        Linear::Cholesky => Method::Cholesky,
        Linear::Dense => Method::Dense,
        Linear::Pcg => Method::Pcg {
            tolerance: config.pcg_tolerance.unwrap_or(defaults::PCG_TOLERANCE),
            max_iterations: config.pcg_iterations.unwrap_or(defaults::PCG_ITERATIONS),
        },
    };
    let settings = Settings {
        dt,
        tolerance,
        tolerance_schedule,
        max_iterations: config.max_iterations,
        line_search: match config.line_search {
            LineSearchName::Armijo => LineSearch::Armijo,
            LineSearchName::Decrease => LineSearch::Decrease,
        },
        curvature: match config.curvature {
            CurvatureName::Adaptive => Curvature::Adaptive,
            CurvatureName::Projected => Curvature::Projected,
        },
        max_halvings: config.max_halvings,
        max_subdivisions: config.subdivisions,
        storage: match config.storage {
            StorageName::F64 => Storage::F64,
            StorageName::F32 => Storage::F32,
        },
        linear,
        stop_before_update: config.stop_before_update,
        accept_exhausted: config.accept_exhausted,
    };
    (problems.errors() == errors).then_some(Solver { settings, backend: config.backend, phases })
}

/// The named phases, and the tolerances (m) from given times (s) on.
pub(super) fn stretches(
    list: &[config::Phase],
    section: &Section<'_>,
    units: &Units,
    problems: &mut Problems<'_>,
) -> (Vec<Phase>, Vec<(f64, f64)>) {
    let span = section.span_of("phase");
    let from = |k: usize| list[k].from.si(units);
    for k in (1..list.len()).filter(|k| from(*k) <= from(k - 1)) {
        let message = format!(
            "phase {} begins at {} s, not after phase {k} at {} s; phases stand in order of time",
            k + 1,
            from(k),
            from(k - 1)
        );
        problems.error(&span, message);
    }
    let (mut phases, mut tolerances): (Vec<Phase>, Vec<(f64, f64)>) = (Vec::new(), Vec::new());
    for (k, phase) in list.iter().enumerate() {
        if let Some(name) = &phase.name {
            if phases.iter().any(|p| p.name == *name) {
                problems.error(&span, format!("two phases are called `{name}`"));
            }
            phases.push(Phase { name: name.clone(), start: from(k) });
        }
        if let Some(tolerance) = phase.tolerance.map(|t| t.si(units)) {
            if tolerance <= 0.0 {
                problems.error(&span, format!("a tolerance is {tolerance} m; it must be above 0"));
            }
            tolerances.push((from(k), tolerance));
        }
        if phase.name.is_none() && phase.tolerance.is_none() {
            let message =
                format!("the phase from {} s on has no `name` and no `tolerance`", from(k));
            problems.error(&span, message);
        }
    }
    (phases, tolerances)
}
