//! From `[[probe]]` tables to probes.

use super::geometry::{Stretch, Wall};
use super::{Account, Group, Measure, Probe, Probes, target};
use crate::build::{refuse, resolve};
use crate::config::{Axis, ProbeConfig};
use crate::section::{Problems, Section};
use crate::suggest;
use glam::DVec3;
use gusset_energy::{Registry, Selection, Term, registry};
use gusset_mesh::{Body, World};
use gusset_units::Units;

/// Where a thread of kind `tie` keeps its length among its constants, and whether it pushes.
pub(super) const LENGTH: usize = 1;
/// See [`LENGTH`].
pub(super) const PUSH: usize = 2;

/// Builds the probes of a scene. `world` is `None` where some bodies can't be built: then only keys and names are
/// checked.
pub(crate) fn probes(
    tables: Vec<Section<'_>>,
    world: Option<&World>,
    terms: &[Box<dyn Term>],
    names: &[String],
    units: &Units,
    gravity: DVec3,
    problems: &mut Problems<'_>,
) -> Probes {
    let mut list: Vec<Probe> = Vec::new();
    for mut section in tables {
        if let Some(name) = section.table.get("name").and_then(|v| v.get_ref().as_str()) {
            section.what = format!("[[probe]] `{name}`");
        }
        let targets = section.take("target");
        let Some((config, _)) = ProbeConfig::read(section.clone(), &["target"], problems) else {
            continue;
        };
        let builder =
            Builder { section: &section, world, terms, names, registry: registry(), units };
        let Some((name, measure)) = builder.build(config, problems) else { continue };
        if list.iter().any(|p| p.name == name) {
            let message = format!("two probes are called `{name}`");
            problems.error(&section.span_of("name"), message);
        }
        let mut probe = Probe { name, targets: Vec::new(), measure };
        if let Some(value) = targets {
            probe.targets = target::read(value, &probe, units, problems);
        }
        list.push(probe);
    }
    let mass = world.map_or_else(Vec::new, |world| world.gather(|b| &b.mass));
    Probes { list, mass, gravity }
}

struct Builder<'a, 'i> {
    section: &'a Section<'i>,
    world: Option<&'a World>,
    terms: &'a [Box<dyn Term>],
    names: &'a [String],
    registry: &'a Registry,
    units: &'a Units,
}

impl Builder<'_, '_> {
    fn build(&self, config: ProbeConfig, problems: &mut Problems<'_>) -> Option<(String, Measure)> {
        let axis = |axis: Axis| axis as usize;
        Some(match config {
            ProbeConfig::Extent(c) => (
                c.name,
                Measure::Extent(
                    self.select(&c.body, &c.vertices, "vertices", problems)?,
                    axis(c.axis),
                ),
            ),
            ProbeConfig::Mean(c) => (
                c.name,
                Measure::Mean(
                    self.select(&c.body, &c.vertices, "vertices", problems)?,
                    axis(c.axis),
                ),
            ),
            ProbeConfig::Median(c) => (
                c.name,
                Measure::Median(
                    self.select(&c.body, &c.vertices, "vertices", problems)?,
                    axis(c.axis),
                ),
            ),
            ProbeConfig::Min(c) => (
                c.name,
                Measure::Min(
                    self.select(&c.body, &c.vertices, "vertices", problems)?,
                    axis(c.axis),
                ),
            ),
            ProbeConfig::Max(c) => (
                c.name,
                Measure::Max(
                    self.select(&c.body, &c.vertices, "vertices", problems)?,
                    axis(c.axis),
                ),
            ),
            ProbeConfig::Height(h) => {
                let of = self.select(&h.body, &h.of, "of", problems);
                let over = self.select(&h.body, &h.over, "over", problems);
                (h.name, Measure::Height { of: of?, over: over?, axis: axis(h.axis) })
            }
            ProbeConfig::Position(p) => (
                p.name,
                Measure::Position(self.vertex(&p.body, p.vertex, "body", "vertex", problems)?),
            ),
            ProbeConfig::Distance(d) => {
                let [a, b] = [0, 1].map(|k| {
                    self.vertex(&d.bodies[k], d.vertices[k], "bodies", "vertices", problems)
                });
                (d.name, Measure::Distance(a?, b?))
            }
            ProbeConfig::Angle(h) => {
                let body = self.body(&h.body, "body", problems)?;
                let [low, high] = [h.edge[0].min(h.edge[1]), h.edge[0].max(h.edge[1])];
                let hinge = body.topology.hinges.iter().find(|hinge| {
                    let [c, d] = hinge.edge;
                    [c.min(d), c.max(d)] == [low, high]
                });
                let Some(hinge) = hinge else {
                    let message = format!(
                        "`{}` has no edge ({low}, {high}) with a face on either side",
                        body.name
                    );
                    problems.error(&self.section.span_of("edge"), message);
                    return None;
                };
                (h.name, Measure::Angle(hinge.vertices().map(|v| v + body.first)))
            }
            ProbeConfig::Speed(s) => {
                let vertices = match &s.body {
                    Some(body) => self.select(body, &s.vertices, "vertices", problems)?,
                    None if s.vertices == Selection::All => {
                        (0..self.world?.vertex_count() as u32).collect()
                    }
                    None => {
                        let message = "a selection of vertices needs a `body`";
                        problems.error(&self.section.span_of("vertices"), message);
                        return None;
                    }
                };
                (s.name, Measure::Speed(vertices, s.across.map(axis)))
            }
            ProbeConfig::Positions(g) => {
                (g.name, Measure::Positions(self.group(&g.body, &g.vertices, problems)?))
            }
            ProbeConfig::Coordinates(c) => {
                let group = self.group(&c.body, &c.vertices, problems)?;
                (c.name, Measure::Coordinates(group, axis(c.axis)))
            }
            ProbeConfig::Speeds(g) => {
                (g.name, Measure::Speeds(self.group(&g.body, &g.vertices, problems)?))
            }
            ProbeConfig::Stretch(on) => {
                let body = self.film(&on.body, "body", problems)?;
                (on.name, Measure::Stretch(Stretch::new(body)))
            }
            ProbeConfig::Intersections(n) => (n.name, Measure::Intersections),
            ProbeConfig::Inside(i) => {
                let vertices = self.select(&i.body, &Selection::All, "body", problems);
                let film = self.film(&i.film, "film", problems)?;
                let part =
                    resolve(&i.vertices, film, self.units, "vertices", self.section, problems);
                let Some(wall) = Wall::new(film, &part) else {
                    let message =
                        format!("no triangle of `{}` has all its vertices there", film.name);
                    problems.error(&self.section.span_of("vertices"), message);
                    return None;
                };
                (i.name, Measure::Inside(vertices?, wall))
            }
            ProbeConfig::Force(f) => {
                let terms = self.energies(&f.energy, |term| !term.dynamic(), problems);
                let range = self.range(f.body.as_deref(), problems)?;
                (f.name, Measure::Force(terms?, range, f.axis.map(axis)))
            }
            ProbeConfig::ThreadError(t) => {
                let threads = self.energies(&t.energy, |term| term.kind() == "tie", problems)?;
                (t.name, Measure::Threads(threads))
            }
            ProbeConfig::Gap(g) => {
                if g.between.len() > 2 {
                    let message = "a gap is between two bodies at most";
                    problems.error(&self.section.span_of("between"), message);
                    return None;
                }
                let indices: Vec<Option<u32>> = g
                    .between
                    .iter()
                    .map(|name| {
                        let body = self.body(name, "between", problems)?;
                        let bodies = &self.world?.bodies;
                        Some(bodies.iter().position(|b| b.name == body.name)? as u32)
                    })
                    .collect();
                (g.name, Measure::Gap(indices.into_iter().collect::<Option<_>>()?))
            }
            ProbeConfig::Momentum(w) => {
                (w.name, Measure::Momentum(self.range(w.body.as_deref(), problems)?))
            }
            ProbeConfig::AngularMomentum(w) => {
                (w.name, Measure::AngularMomentum(self.range(w.body.as_deref(), problems)?))
            }
            ProbeConfig::Energy(e) => {
                let account = match e.of.as_str() {
                    "kinetic" => Account::Kinetic,
                    "gravity" => Account::Gravity,
                    "total" => Account::Total,
                    kind if self.registry.get(kind).is_some() => Account::Kind(kind.to_owned()),
                    other => {
                        let known = ["kinetic", "gravity", "total"].into_iter();
                        let help = suggest::help(other, known.chain(self.registry.names()));
                        let message = format!("unknown energy `{other}`");
                        problems.error_help(&self.section.span_of("of"), message, help);
                        return None;
                    }
                };
                (e.name, Measure::Energy(account))
            }
            ProbeConfig::ContactForce(on) => {
                if self.body(&on.body, "body", problems)?.slab.is_some() {
                    let message = format!(
                        "`{}` is a slab, which has no vertices that forces act on; probe the bodies that lie on it",
                        on.body
                    );
                    problems.error(&self.section.span_of("body"), message);
                    return None;
                }
                {
                    let range = self.range(Some(&on.body), problems)?;
                    (on.name, Measure::ContactForce(range, on.axis.map(axis)))
                }
            }
        })
    }

    /// Indices of the terms of an energy, by its name, or of all energies of a kind, as far as they `fit`.
    fn energies(
        &self,
        energy: &str,
        fit: impl Fn(&dyn Term) -> bool,
        problems: &mut Problems<'_>,
    ) -> Option<Vec<usize>> {
        self.world?;
        let called = |term: &dyn Term| {
            let name = term.label().strip_prefix(term.kind())?.strip_prefix(" `")?;
            Some(name.split_once('`')?.0.to_owned())
        };
        let fitting: Vec<(usize, &dyn Term)> =
            (0..).zip(self.terms).map(|(k, t)| (k, &**t)).filter(|(_, t)| fit(*t)).collect();
        let found: Vec<usize> = fitting
            .iter()
            .filter(|(_, t)| t.kind() == energy || called(*t).as_deref() == Some(energy))
            .map(|(k, _)| *k)
            .collect();
        if found.is_empty() {
            let names: Vec<String> = fitting.iter().filter_map(|(_, t)| called(*t)).collect();
            let kinds = fitting.iter().map(|(_, t)| t.kind());
            let known = suggest::help(energy, names.iter().map(String::as_str).chain(kinds));
            let message =
                format!("`{energy}` is no energy of this scene that this can be asked of");
            problems.error_help(&self.section.span_of("energy"), message, known);
            return None;
        }
        Some(found)
    }

    /// The body of that name, if it has triangles with a rest shape.
    fn film(&self, name: &str, key: &str, problems: &mut Problems<'_>) -> Option<&Body> {
        let body = self.body(name, key, problems)?;
        if body.triangles.is_empty() {
            problems.error(&self.section.span_of(key), format!("`{name}` has no triangles"));
            return None;
        }
        Some(body)
    }

    fn group(
        &self,
        body: &str,
        vertices: &Selection,
        problems: &mut Problems<'_>,
    ) -> Option<Group> {
        let vertices = self.select(body, vertices, "vertices", problems)?;
        Some(Group { vertices, first: self.body(body, "body", problems)?.first })
    }

    /// The body of that name; an error where the scene has none.
    fn body(&self, name: &str, key: &str, problems: &mut Problems<'_>) -> Option<&Body> {
        if !self.names.iter().any(|n| n == name) {
            let help = suggest::help(name, self.names.iter().map(String::as_str));
            let message = format!("there is no body `{name}`");
            problems.error_help(&self.section.span_of(key), message, help);
        }
        self.world?.body(name)
    }

    fn select(
        &self,
        body: &str,
        vertices: &Selection,
        key: &'static str,
        problems: &mut Problems<'_>,
    ) -> Option<Vec<u32>> {
        let body = self.body(body, "body", problems)?;
        let local = resolve(vertices, body, self.units, key, self.section, problems);
        (!local.is_empty()).then(|| local.iter().map(|v| v + body.first).collect())
    }

    fn vertex(
        &self,
        body: &str,
        vertex: u32,
        body_key: &str,
        key: &'static str,
        problems: &mut Problems<'_>,
    ) -> Option<u32> {
        let body = self.body(body, body_key, problems)?;
        if vertex as usize >= body.vertex_count() {
            let message = format!(
                "vertex {vertex} does not exist: `{}` has {} vertices",
                body.name,
                body.vertex_count()
            );
            refuse(&gusset_energy::BuildError::value(key, message), self.section, problems);
            return None;
        }
        Some(vertex + body.first)
    }

    fn range(
        &self,
        body: Option<&str>,
        problems: &mut Problems<'_>,
    ) -> Option<std::ops::Range<usize>> {
        match body {
            Some(name) => self.body(name, "body", problems).map(Body::range),
            None => Some(0..self.world?.vertex_count()),
        }
    }
}
