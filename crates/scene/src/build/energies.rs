//! `[[energy]]` tables, and the energies that bodies and contact bring along, to terms.

use super::body::Built;
use super::motion::refuse;
use crate::section::{Problems, Section};
use crate::suggest;
use glam::DVec3;
use gusset_energy::{BuildError, ContactParameters, Kind, Registry, Site, Term, Terms};
use gusset_mesh::{Mobility, World};
use gusset_units::Units;
use std::collections::BTreeSet;
use toml::de::DeTable;

/// Where energies are built.
pub(crate) struct Yard<'a> {
    /// Known kinds.
    pub(crate) registry: &'a Registry,
    /// All bodies; `None` where some of them can't be built, so that only keys are checked.
    pub(crate) world: Option<&'a World>,
    /// Names of all bodies, built or not.
    pub(crate) names: &'a [String],
    /// Units of bare numbers.
    pub(crate) units: &'a Units,
    /// Gravity (m/s^2).
    pub(crate) gravity: DVec3,
    /// `[contact]`.
    pub(crate) contact: Option<ContactParameters>,
    /// Kind that keeps surfaces apart.
    pub(crate) law: Option<&'a str>,
}

/// Keys of every `[[energy]]` table, whatever its kind.
pub(crate) const COMMON: [&str; 3] = ["kind", "body", "name"];

/// Builds the energies of a scene in a fixed order: inertia of each body, those of the file, contact, friction.
pub(crate) fn energies(
    tables: Vec<Section<'_>>,
    built: &[Option<Built<'_>>],
    contact_span: &std::ops::Range<usize>,
    yard: &Yard<'_>,
    problems: &mut Problems<'_>,
) -> Vec<Box<dyn Term>> {
    let (mut terms, mut explicit) = (Vec::new(), Vec::new());
    let mut with_inertia = Vec::new();
    let mut labels = BTreeSet::new();
    for section in tables {
        let label = section.table.get("name").and_then(|v| v.get_ref().as_str());
        if let Some(label) = label.filter(|l| !labels.insert((*l).to_owned())) {
            let message = format!("two energies are called `{label}`");
            problems.error(&section.span_of("name"), message);
        }
        if let Some(inertial) = one(section, yard, &mut explicit, problems) {
            with_inertia.push(inertial);
        }
    }
    for body in built.iter().flatten() {
        let free = body.body.mobility.contains(&Mobility::Free);
        let own = with_inertia.contains(&body.body.name);
        if free && !own {
            inertia(body, yard, &mut terms, problems);
        }
        if own && body.section.has("gravity_from") {
            let message = format!(
                "`{}` has an [[energy]] of kind `inertia`: that is where its `gravity_from` belongs",
                body.body.name
            );
            problems.error(&body.section.span_of("gravity_from"), message);
        }
    }
    terms.append(&mut explicit);
    if let (Some(law), Some(contact)) = (yard.law, yard.contact) {
        let friction = (contact.friction > 0.0).then_some("friction");
        for kind in [Some(law), friction].into_iter().flatten() {
            let section = Section {
                table: DeTable::new(),
                span: contact_span.clone(),
                what: "[contact]".to_owned(),
            };
            let Some(row) = known(kind, &section, "law", yard.registry, problems) else { continue };
            build(row, &section, (None, None), yard, &mut terms, problems);
        }
    }
    terms
}

/// Builds one table. Returns the body whose inertia it is, if it is one.
fn one(
    mut section: Section<'_>,
    yard: &Yard<'_>,
    terms: &mut Vec<Box<dyn Term>>,
    problems: &mut Problems<'_>,
) -> Option<String> {
    let kind_span = section.span_of("kind");
    let Some(kind) = section.take_text("kind", problems) else {
        if kind_span == section.span {
            let known = suggest::help("", yard.registry.names());
            problems.error_help(&section.span, "[[energy]] lacks `kind`", known);
        }
        return None;
    };
    let kind = kind.into_inner();
    let body = section.take_text("body", problems);
    let label = section.take_text("name", problems);
    if let Some(body) = &body
        && !yard.names.contains(body.get_ref())
    {
        let message = format!("there is no body `{}`", body.get_ref());
        let help = suggest::help(body.get_ref(), yard.names.iter().map(String::as_str));
        problems.error_help(&body.span(), message, help);
    }
    section.what = match (&label, &body) {
        (Some(name), _) => format!("[[energy]] `{}`", name.get_ref()),
        (None, Some(body)) => format!("{kind} of `{}`", body.get_ref()),
        (None, None) => format!("[[energy]] {kind}"),
    };
    let Some(row) = yard.registry.get(&kind) else {
        let message = format!("unknown kind of energy `{kind}`");
        let help = suggest::help(&kind, yard.registry.names()).unwrap_or_else(|| {
            "this program links no energies at all; link `gusset-builtin` or your own crate"
                .to_owned()
        });
        problems.error_help(&kind_span, message, help);
        return None;
    };
    if let Some(law) = yard.law
        && (kind == law || kind == "friction")
    {
        let message = format!("`{kind}` comes with [contact], so it would act twice");
        problems.error_help(
            &kind_span,
            message,
            "remove this table; `[contact]` has its keys".to_owned(),
        );
        return None;
    }
    let body = body.map(toml::Spanned::into_inner);
    let name = label.map(toml::Spanned::into_inner);
    build(row, &section, (body.as_deref(), name.as_deref()), yard, terms, problems);
    (kind == "inertia").then_some(body).flatten()
}

/// The inertia that every body with free vertices has.
fn inertia(
    body: &Built<'_>,
    yard: &Yard<'_>,
    terms: &mut Vec<Box<dyn Term>>,
    problems: &mut Problems<'_>,
) {
    let mut section = Section {
        table: DeTable::new(),
        span: body.section.span.clone(),
        what: body.section.what.clone(),
    };
    if let Some(value) = body.section.table.get("gravity_from") {
        section.put("gravity_from", value.clone());
    }
    let Some(row) = known("inertia", &section, "inertia", yard.registry, problems) else { return };
    build(row, &section, (Some(&body.body.name), None), yard, terms, problems);
}

/// A kind that a scene needs without naming it in an `[[energy]]`.
fn known(
    kind: &str,
    section: &Section<'_>,
    key: &str,
    registry: &Registry,
    problems: &mut Problems<'_>,
) -> Option<&'static Kind> {
    let row = registry.get(kind);
    if row.is_none() {
        let message = format!(
            "{} needs the kind of energy `{kind}`, which this program doesn't link",
            section.what
        );
        problems.error_help(&section.span_of(key), message, suggest::help(kind, registry.names()));
    }
    row
}

fn build(
    kind: &'static Kind,
    section: &Section<'_>,
    (body, name): (Option<&str>, Option<&str>),
    yard: &Yard<'_>,
    terms: &mut Vec<Box<dyn Term>>,
    problems: &mut Problems<'_>,
) {
    let (mut table, mut clean) = section.known_keys(&(kind.schema)(), &COMMON, problems);
    let nothing = World::default();
    let site = Site {
        world: yard.world.unwrap_or(&nothing),
        body: body.and_then(|name| yard.world?.body(name)),
        units: yard.units,
        gravity: yard.gravity,
        contact: yard.contact,
        kind: kind.name,
        name,
    };
    let usable = yard.world.is_some() && (body.is_none() || site.body.is_some());
    loop {
        let mut made = Terms::default();
        match (kind.build)(section.deserializer(table.clone()), &site, &mut made) {
            Ok(()) => {
                if clean && usable {
                    terms.extend(made.into_vec());
                }
                return;
            }
            Err(BuildError::Keys(error)) => {
                let guilty = section.report(&error, clean, &mut table, problems);
                clean = false;
                if !guilty {
                    return;
                }
            }
            // What is said of values means something only where all keys could be read.
            Err(error) => {
                if clean && usable {
                    refuse(&error, section, problems);
                }
                return;
            }
        }
    }
}
