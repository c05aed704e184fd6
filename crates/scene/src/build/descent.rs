//! `[solver]` with `kind = "vbd"` to settings.

use super::solver::stretches;
use crate::config::{
    BudgetName, ContactName, DescentConfig, ScheduleName, StartName, TruncationName,
};
use crate::scene::Phase;
use crate::section::{Problems, Section};
use crate::suggest;
use gusset_energy::Term;
use gusset_units::Units;
use gusset_vbd::{Alm, Budget, ContactRule, Method, Schedule, Settings, Start};

/// Takes the `kind` out of `[solver]`; says whether it is block descent.
pub(crate) fn solver_kind<'i>(
    section: Option<Section<'i>>,
    problems: &mut Problems<'_>,
) -> (Option<Section<'i>>, bool) {
    let Some(mut section) = section else { return (None, false) };
    let Some(kind) = section.take_text("kind", problems) else { return (Some(section), false) };
    let known = ["newton", "vbd"];
    let name = kind.get_ref().as_str();
    if !known.contains(&name) {
        let help = suggest::help(name, known);
        problems.error_help(&kind.span(), format!("unknown kind of solver `{name}`"), help);
    }
    let by_descent = name == "vbd";
    (Some(section), by_descent)
}

/// Checks and converts. `margin` is the `dhat` of `[contact]` (m).
pub(crate) fn descent(
    section: &Section<'_>,
    units: &Units,
    dt: f64,
    margin: Option<f64>,
    problems: &mut Problems<'_>,
) -> Option<(Settings, Vec<Phase>)> {
    let errors = problems.errors();
    let config: DescentConfig = if section.table.is_empty() {
        DescentConfig::default()
    } else {
        section.read_partly(problems)?
    };
    let mut refuse = |key: &str, wrong: bool, message: String| {
        if wrong {
            problems.error(&section.span_of(key), message);
        }
    };
    let iterations = config.sweeps();
    refuse("iterations", iterations == 0, "`iterations` must be above 0".to_owned());
    let both = config.tolerance.is_some() && config.tolerance_speed.is_some();
    let message = "the tolerance is given as `tolerance` or as `tolerance_speed`, not both";
    refuse("tolerance_speed", both, message.to_owned());
    let tolerance = match (config.tolerance, config.tolerance_speed) {
        (Some(tolerance), _) => tolerance.si(units),
        (None, Some(speed)) => speed.si(units) * dt,
        (None, None) => 0.0,
    };
    let key = if config.tolerance.is_some() { "tolerance" } else { "tolerance_speed" };
    refuse(key, tolerance < 0.0, format!("`{key}` must be 0 or more"));
    let ratio = config.step_ratio.unwrap_or(1.0);
    let bad = !(ratio > 0.0 && ratio <= 1.0);
    refuse("step_ratio", bad, format!("`step_ratio` is {ratio}; it must be above 0 and at most 1"));
    let relaxation = config.relaxation.unwrap_or(ContactRule::default().relaxation);
    let bad = !(relaxation > 0.0 && relaxation < 1.0);
    refuse("relaxation", bad, format!("`relaxation` is {relaxation}; it must be between 0 and 1"));
    let gap = config.gap.map_or(0.5 * margin.unwrap_or(0.0), |gap| gap.si(units));
    let bad = config.gap.is_some() && (gap < 0.0 || gap.is_nan());
    refuse("gap", bad, format!("`gap` is {gap} m; it must be 0 or more"));
    let damping = config.damping.si(units);
    refuse(
        "damping",
        damping < 0.0 || damping.is_nan(),
        format!("`damping` is {damping} N s/m; it must be 0 or more"),
    );
    let rings = config.rings.unwrap_or(ContactRule::default().rings);
    refuse(
        "rings",
        rings > 8,
        format!("`rings` is {rings}; more than 8 would leave out real contact"),
    );

    let penalty = config.contact == ContactName::PenaltyDat;
    let schedule = match (config.schedule, config.detection_interval) {
        (Some(ScheduleName::Iterations), Some(0)) => {
            refuse("detection_interval", true, "`detection_interval` must be above 0".to_owned());
            Schedule::default()
        }
        (Some(ScheduleName::Iterations), Some(every)) => Schedule::Iterations(every),
        (Some(ScheduleName::Iterations), None) => {
            let message = "`schedule = \"iterations\"` needs `detection_interval`";
            refuse("schedule", true, message.to_owned());
            Schedule::default()
        }
        (Some(ScheduleName::PreInit), _) => Schedule::PreInit,
        (Some(ScheduleName::PrePostInit) | None, _) => Schedule::PrePostInit,
    };
    let unused = [
        ("schedule", !penalty, "contact = \"penalty-dat\""),
        (
            "detection_interval",
            config.schedule != Some(ScheduleName::Iterations),
            "schedule = \"iterations\"",
        ),
        ("alm", penalty, "contact = \"alm-dat\""),
        ("truncation", !penalty, "contact = \"penalty-dat\""),
    ];
    let method = if penalty {
        Method::Penalty { schedule }
    } else {
        Method::Alm(alm(&config, section, problems))
    };
    for (key, unused, needs) in unused {
        if unused && section.has(key) {
            let message = format!("`{key}` means nothing without `{needs}`");
            problems.warn(&section.span_of(key), message, None);
        }
    }
    let slide = config.truncation == Some(TruncationName::Slide);
    let filter_truncation = config.compat;
    let contact = ContactRule { method, gap, damping, relaxation, rings, slide, filter_truncation };
    let start = match config.start {
        Some(StartName::Adaptive) => Start::Adaptive,
        None if !config.compat && !penalty => Start::Adaptive,
        Some(StartName::Inertial) | None => Start::Inertial,
    };
    let settings =
        Settings { dt, iterations, tolerance, start, ratio, contact, record_energies: false };
    let (phases, _) = stretches(&config.phase, section, units, problems);
    (problems.errors() == errors).then_some((settings, phases))
}

fn alm(config: &DescentConfig, section: &Section<'_>, problems: &mut Problems<'_>) -> Alm {
    let base = if config.compat { Alm::article() } else { Alm::default() };
    let Some(given) = &config.alm else { return base };
    let alm = Alm {
        interval: given.interval.unwrap_or(base.interval),
        rounds: given.rounds.unwrap_or(base.rounds),
        auto_rounds: given.auto_rounds.unwrap_or(base.auto_rounds),
        budget: given.budget.map_or(base.budget, |budget| match budget {
            BudgetName::Ball => Budget::Ball,
            BudgetName::PathLength => Budget::PathLength,
        }),
        adaptive_reach: given.adaptive_reach.unwrap_or(base.adaptive_reach),
        redetect: given.redetect.unwrap_or(base.redetect),
        support: given.support.unwrap_or(base.support),
        normal_memory: given.normal_memory.unwrap_or(base.normal_memory),
        tangential_memory: given.tangential_memory.unwrap_or(base.tangential_memory),
    };
    for (key, value) in
        [("normal_memory", alm.normal_memory), ("tangential_memory", alm.tangential_memory)]
    {
        if !(0.0..=1.0).contains(&value) {
            let message = format!("`{key}` is {value}; it must be between 0 and 1");
            problems.error(&section.span_of("alm"), message);
        }
    }
    if !(alm.support > 0.0 && alm.support.is_finite()) {
        let message = format!("`support` is {}; it must be above 0", alm.support);
        problems.error(&section.span_of("alm"), message);
    }
    alm
}

/// Block descent has contact of its own; terms over contact rows would never see any.
pub(crate) fn no_contact_terms(
    terms: &[Box<dyn Term>],
    section: &Section<'_>,
    problems: &mut Problems<'_>,
) {
    for term in terms.iter().filter(|term| term.dynamic()) {
        let message = format!(
            "`kind = \"vbd\"` has contact and friction of its own and can't take the energy {}",
            term.label()
        );
        problems.error_help(
            &section.span_of("kind"),
            message,
            "remove its [[energy]] table, or solve with `kind = \"newton\"`".to_owned(),
        );
    }
}
