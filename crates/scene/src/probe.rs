//! Measurements of a running scene: `[[probe]]` tables, ready to evaluate on plain arrays.

use crate::build::{refuse, resolve};
use crate::config::{Axis, ProbeConfig};
use crate::section::{Problems, Section};
use crate::suggest;
use glam::DVec3;
use gusset_energy::{Contacts, Registry, Selection};
use gusset_mesh::{Body, World};
use gusset_units::Units;
use std::collections::BTreeMap;

/// Head of a column of `probes.csv`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The probe's name, with `.x`, `.y`, `.z` where it has three columns.
    pub name: String,
    /// SI unit of its numbers.
    pub unit: &'static str,
}

impl std::fmt::Display for Column {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} [{}]", self.name, self.unit)
    }
}

/// The smallest gap between two bodies, or of a body to itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyGap {
    /// Indices into the world's bodies.
    pub bodies: [u32; 2],
    /// Distance minus what counts as touching, in m.
    pub gap: f64,
}

/// The smallest gap of every pair of bodies that has a row; sorted by bodies.
pub fn body_gaps(world: &World, contacts: &Contacts) -> Vec<BodyGap> {
    let body = |vertex: u32| world.index_of(vertex).map(|i| i as u32);
    let slabs: Vec<u32> =
        (0..).zip(&world.bodies).filter(|(_, body)| body.slab.is_some()).map(|(i, _)| i).collect();
    let rows = contacts.rows.iter().filter_map(|row| {
        // The first primitive is a vertex, sphere or the edge of vertices 0 and 1; the last vertex is of the second one.
        Some(([body(row.vertices[0])?, body(row.vertices[3])?], row.gap))
    });
    let plates = contacts
        .slabs
        .iter()
        .filter_map(|row| Some(([body(row.vertex)?, *slabs.get(row.slab as usize)?], row.gap)));
    let mut smallest: BTreeMap<[u32; 2], f64> = BTreeMap::new();
    for ([a, b], gap) in rows.chain(plates) {
        let entry = smallest.entry([a.min(b), a.max(b)]).or_insert(gap);
        *entry = entry.min(gap);
    }
    smallest.into_iter().map(|(bodies, gap)| BodyGap { bodies, gap }).collect()
}

/// What probes look at: the state after a step, and what the solver knows of it.
#[derive(Clone, Copy, Debug)]
pub struct Measured<'a> {
    /// Positions in m, one per world vertex.
    pub x: &'a [DVec3],
    /// Velocities in m/s.
    pub v: &'a [DVec3],
    /// Smallest gaps by pair of bodies; pairs that are not there have none.
    pub gaps: &'a [BodyGap],
    /// Energy of each term in J under its label, "hinge of `cloth`".
    pub energies: &'a [(String, f64)],
    /// Contact force on each world vertex in N; empty where nobody computed it.
    pub contact_force: &'a [DVec3],
}

/// A measurement.
#[derive(Clone, Debug)]
pub struct Probe {
    /// Its name.
    pub name: String,
    measure: Measure,
}

/// World vertex indices throughout.
#[derive(Clone, Debug)]
enum Measure {
    Extent(Vec<u32>, usize),
    Mean(Vec<u32>, usize),
    Median(Vec<u32>, usize),
    Min(Vec<u32>, usize),
    Max(Vec<u32>, usize),
    Height { of: Vec<u32>, over: Vec<u32>, axis: usize },
    Position(u32),
    Distance(u32, u32),
    Angle([u32; 4]),
    Speed(Vec<u32>),
    Gap(Vec<u32>),
    Momentum(std::ops::Range<usize>),
    AngularMomentum(std::ops::Range<usize>),
    Energy(Account),
    ContactForce(std::ops::Range<usize>),
}

#[derive(Clone, Debug)]
enum Account {
    Kinetic,
    Gravity,
    Total,
    Kind(String),
}

/// All probes of a scene.
#[derive(Clone, Debug, Default)]
pub struct Probes {
    /// In the order of the file.
    pub list: Vec<Probe>,
    mass: Vec<f64>,
    gravity: DVec3,
}

impl Probes {
    /// Whether any probe needs the smallest gaps between bodies.
    pub fn want_gaps(&self) -> bool {
        self.list.iter().any(|p| matches!(p.measure, Measure::Gap(_)))
    }

    /// Whether any probe needs contact forces.
    pub fn want_contact_force(&self) -> bool {
        self.list.iter().any(|p| matches!(p.measure, Measure::ContactForce(_)))
    }

    /// Heads of the columns, without that of the time.
    pub fn columns(&self) -> Vec<Column> {
        let mut columns = Vec::new();
        for probe in &self.list {
            let (unit, three) = probe.measure.unit();
            if three {
                for axis in ["x", "y", "z"] {
                    columns.push(Column { name: format!("{}.{axis}", probe.name), unit });
                }
            } else {
                columns.push(Column { name: probe.name.clone(), unit });
            }
        }
        columns
    }

    /// Appends one number per column; NaN where something isn't known.
    pub fn measure(&self, at: &Measured<'_>, row: &mut Vec<f64>) {
        for probe in &self.list {
            self.evaluate(&probe.measure, at, row);
        }
    }

    fn evaluate(&self, measure: &Measure, at: &Measured<'_>, row: &mut Vec<f64>) {
        let sum = |range: &std::ops::Range<usize>, of: &dyn Fn(usize) -> DVec3| -> [f64; 3] {
            range.clone().map(of).sum::<DVec3>().to_array()
        };
        match measure {
            Measure::Extent(vertices, axis) => {
                let (low, high) = bounds(at.x, vertices, *axis);
                row.push(high - low);
            }
            Measure::Mean(vertices, axis) => row.push(mean(at.x, vertices, *axis)),
            Measure::Median(vertices, axis) => row.push(median(at.x, vertices, *axis)),
            Measure::Min(vertices, axis) => row.push(bounds(at.x, vertices, *axis).0),
            Measure::Max(vertices, axis) => row.push(bounds(at.x, vertices, *axis).1),
            Measure::Height { of, over, axis } => {
                row.push(median(at.x, of, *axis) - mean(at.x, over, *axis));
            }
            Measure::Position(vertex) => row.extend(at.x[*vertex as usize].to_array()),
            Measure::Distance(a, b) => row.push(at.x[*a as usize].distance(at.x[*b as usize])),
            Measure::Angle(hinge) => row.push(angle(hinge.map(|v| at.x[v as usize])).to_degrees()),
            Measure::Speed(vertices) => {
                row.push(vertices.iter().map(|v| at.v[*v as usize].length()).fold(0.0, f64::max));
            }
            Measure::Gap(bodies) => {
                let counts = |gap: &&BodyGap| match bodies[..] {
                    [] => true,
                    [one] => gap.bodies.contains(&one),
                    [a, b, ..] => gap.bodies == [a, b] || gap.bodies == [b, a],
                };
                let smallest = at.gaps.iter().filter(counts).map(|g| g.gap).reduce(f64::min);
                row.push(smallest.unwrap_or(f64::NAN));
            }
            Measure::Momentum(range) => {
                row.extend(sum(range, &|i| at.v[i] * self.mass[i]));
            }
            Measure::AngularMomentum(range) => {
                row.extend(sum(range, &|i| at.x[i].cross(at.v[i]) * self.mass[i]));
            }
            Measure::Energy(account) => row.push(self.energy(account, at)),
            Measure::ContactForce(_) if at.contact_force.is_empty() => row.extend([f64::NAN; 3]),
            Measure::ContactForce(range) => row.extend(sum(range, &|i| at.contact_force[i])),
        }
    }

    fn energy(&self, account: &Account, at: &Measured<'_>) -> f64 {
        let of_kinds = |wanted: &dyn Fn(&str) -> bool| -> f64 {
            let kind =
                |label: &str| label.split_once(" of ").map_or(label.to_owned(), |l| l.0.to_owned());
            at.energies.iter().filter(|(label, _)| wanted(&kind(label))).map(|(_, e)| e).sum()
        };
        let over_mass = |of: &dyn Fn(usize) -> f64| -> f64 {
            self.mass.iter().enumerate().filter(|(_, m)| **m > 0.0).map(|(i, m)| m * of(i)).sum()
        };
        let kinetic = || over_mass(&|i| 0.5 * at.v[i].length_squared());
        let gravity = || over_mass(&|i| -self.gravity.dot(at.x[i]));
        match account {
            Account::Kinetic => kinetic(),
            Account::Gravity => gravity(),
            Account::Total => kinetic() + gravity() + of_kinds(&|kind| kind != "inertia"),
            Account::Kind(wanted) => of_kinds(&|kind| kind == wanted),
        }
    }
}

impl Measure {
    /// SI unit, and whether there are three columns.
    fn unit(&self) -> (&'static str, bool) {
        match self {
            Self::Extent(..)
            | Self::Mean(..)
            | Self::Median(..)
            | Self::Min(..)
            | Self::Max(..)
            | Self::Height { .. }
            | Self::Distance(..)
            | Self::Gap(_) => ("m", false),
            Self::Position(_) => ("m", true),
            Self::Angle(_) => ("deg", false),
            Self::Speed(_) => ("m/s", false),
            Self::Momentum(_) => ("kg m/s", true),
            Self::AngularMomentum(_) => ("kg m^2/s", true),
            Self::Energy(_) => ("J", false),
            Self::ContactForce(_) => ("N", true),
        }
    }
}

fn bounds(x: &[DVec3], vertices: &[u32], axis: usize) -> (f64, f64) {
    vertices
        .iter()
        .map(|v| x[*v as usize][axis])
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), c| (low.min(c), high.max(c)))
}

fn mean(x: &[DVec3], vertices: &[u32], axis: usize) -> f64 {
    vertices.iter().map(|v| x[*v as usize][axis]).sum::<f64>() / vertices.len() as f64
}

/// The middle one, or the mean of the middle two.
fn median(x: &[DVec3], vertices: &[u32], axis: usize) -> f64 {
    let mut sorted: Vec<f64> = vertices.iter().map(|v| x[*v as usize][axis]).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    if sorted.len().is_multiple_of(2) {
        0.5 * (sorted[middle - 1] + sorted[middle])
    } else {
        sorted[middle]
    }
}

/// Angle at a hinge with opposite vertices a, b and edge c -> d (bag article, section 4).
fn angle([a, b, c, d]: [DVec3; 4]) -> f64 {
    let (n1, n2) = ((c - a).cross(d - a), (d - b).cross(c - b));
    n1.cross(n2).dot((d - c).normalize_or_zero()).atan2(n1.dot(n2))
}

/// Builds the probes of a scene. `world` is `None` where some bodies can't be built: then only keys and names are
/// checked.
pub(crate) fn probes(
    tables: Vec<Section<'_>>,
    world: Option<&World>,
    names: &[String],
    registry: &Registry,
    units: &Units,
    gravity: DVec3,
    problems: &mut Problems<'_>,
) -> Probes {
    let mut list: Vec<Probe> = Vec::new();
    for mut section in tables {
        if let Some(name) = section.table.get("name").and_then(|v| v.get_ref().as_str()) {
            section.what = format!("[[probe]] `{name}`");
        }
        let Some((config, _)) = ProbeConfig::read(section.clone(), problems) else { continue };
        let builder = Builder { section: &section, world, names, registry, units };
        let Some((name, measure)) = builder.build(config, problems) else { continue };
        if list.iter().any(|p| p.name == name) {
            let message = format!("two probes are called `{name}`");
            problems.error(&section.span_of("name"), message);
        }
        list.push(Probe { name, measure });
    }
    let mass = world.map_or_else(Vec::new, |world| world.gather(|b| &b.mass));
    Probes { list, mass, gravity }
}

struct Builder<'a, 'i> {
    section: &'a Section<'i>,
    world: Option<&'a World>,
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
                (s.name, Measure::Speed(vertices))
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
                (on.name, Measure::ContactForce(self.range(Some(&on.body), problems)?))
            }
        })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_of_coordinates() {
        let x: Vec<DVec3> =
            [3.0, -1.0, 2.0, 10.0].into_iter().map(|z| DVec3::new(0.0, 0.0, z)).collect();
        let all = [0, 1, 2, 3];
        assert_eq!(bounds(&x, &all, 2), (-1.0, 10.0));
        assert_eq!(mean(&x, &all, 2), 3.5);
        assert_eq!(median(&x, &all, 2), 2.5);
        assert_eq!(median(&x, &all[..3], 2), 2.0);
    }

    #[test]
    fn a_flat_hinge_has_no_angle() {
        let at = |x: f64, y: f64, z: f64| DVec3::new(x, y, z);
        let flat = angle([at(0.0, 1.0, 0.0), at(0.0, -1.0, 0.0), DVec3::ZERO, DVec3::X]);
        assert_eq!(flat, 0.0);
        let folded = angle([at(0.0, 1.0, 0.0), at(0.0, 0.0, 1.0), DVec3::ZERO, DVec3::X]);
        assert!((folded.abs() - std::f64::consts::FRAC_PI_2).abs() < 1e-15);
    }

    #[test]
    fn columns_and_numbers_agree() {
        let probes = Probes {
            list: vec![
                Probe { name: "p".into(), measure: Measure::Momentum(0..2) },
                Probe { name: "k".into(), measure: Measure::Energy(Account::Kinetic) },
                Probe { name: "e".into(), measure: Measure::Energy(Account::Total) },
                Probe { name: "g".into(), measure: Measure::Gap(vec![0, 1]) },
                Probe { name: "f".into(), measure: Measure::ContactForce(0..2) },
            ],
            mass: vec![2.0, 0.0],
            gravity: DVec3::new(0.0, 0.0, -10.0),
        };
        let mut row = Vec::new();
        probes.measure(
            &Measured {
                x: &[DVec3::Z, DVec3::ZERO],
                v: &[DVec3::X * 3.0, DVec3::X],
                gaps: &[
                    BodyGap { bodies: [1, 0], gap: 0.5 },
                    BodyGap { bodies: [1, 1], gap: 0.25 },
                ],
                energies: &[("inertia of `a`".into(), 100.0), ("hinge of `a`".into(), 1.0)],
                contact_force: &[],
            },
            &mut row,
        );
        assert_eq!(row.len(), probes.columns().len());
        assert_eq!(row[..6], [6.0, 0.0, 0.0, 9.0, 9.0 + 20.0 + 1.0, 0.5]);
        assert!(row[6..].iter().all(|f| f.is_nan()));
        assert_eq!(probes.columns()[0].to_string(), "p.x [kg m/s]");
    }
}
