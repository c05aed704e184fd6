//! Measurements of a running scene: `[[probe]]` tables, ready to evaluate on plain arrays.

mod build;
mod geometry;
mod target;

pub(crate) use build::probes;
pub use target::{Judged, Limits, Statistic, Target};
pub(crate) use target::{limits, si};

use geometry::{Stretch, Wall, angle, bounds, mean, median};
use glam::DVec3;
use gusset_energy::{Contacts, Local, StepState, Term, Want};
use gusset_mesh::World;
use std::collections::BTreeMap;
use std::ops::Range;

/// Head of a column of `probes.csv`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The probe's name, with what tells its columns apart where it has several: `.x`, `.min`, `.3`, `.3.x`.
    pub name: String,
    /// SI unit of its numbers; 1 for counts and ratios.
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
#[derive(Clone, Copy, Default)]
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
    /// Pairs of primitives that intersect; `None` where nobody looked.
    pub intersections: Option<usize>,
    /// The terms of the model as they are in the step that has led here.
    pub terms: &'a [Box<dyn Term>],
    /// Positions in m and velocities in m/s from which that step started, and its length in s.
    pub step: (&'a [DVec3], &'a [DVec3], f64),
}

/// A measurement.
#[derive(Clone, Debug)]
pub struct Probe {
    /// Its name.
    pub name: String,
    /// What it is to reach.
    pub targets: Vec<Target>,
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
    Height {
        of: Vec<u32>,
        over: Vec<u32>,
        axis: usize,
    },
    Position(u32),
    Positions(Group),
    Coordinates(Group, usize),
    Distance(u32, u32),
    Angle([u32; 4]),
    /// Which vertices, and the axis along which motion doesn't count.
    Speed(Vec<u32>, Option<usize>),
    Speeds(Group),
    Gap(Vec<u32>),
    Momentum(Range<usize>),
    AngularMomentum(Range<usize>),
    Energy(Account),
    /// All axes, or one.
    ContactForce(Range<usize>, Option<usize>),
    /// Terms by index, and the vertices that they act on.
    Force(Vec<usize>, Range<usize>, Option<usize>),
    Stretch(Stretch),
    /// Terms by index.
    Threads(Vec<usize>),
    Intersections,
    Inside(Vec<u32>, Wall),
}

/// Vertices that have columns of their own.
#[derive(Clone, Debug)]
struct Group {
    /// World vertex indices.
    vertices: Vec<u32>,
    /// First vertex of their body: columns are numbered from there.
    first: u32,
}

impl Group {
    fn columns(&self, axes: &[&str]) -> Vec<String> {
        let of = |v: &u32| {
            let k = v - self.first;
            axes.iter().map(move |axis| format!(".{k}{axis}"))
        };
        self.vertices.iter().flat_map(of).collect()
    }
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

    /// Whether any probe needs the energies of terms.
    pub fn want_energies(&self) -> bool {
        let of_terms = |a: &Account| matches!(a, Account::Total | Account::Kind(_));
        self.list.iter().any(|p| matches!(&p.measure, Measure::Energy(a) if of_terms(a)))
    }

    /// Whether any probe needs contact forces.
    pub fn want_contact_force(&self) -> bool {
        self.list.iter().any(|p| matches!(p.measure, Measure::ContactForce(..)))
    }

    /// Whether any probe needs to know what intersects.
    pub fn want_intersections(&self) -> bool {
        self.list.iter().any(|p| matches!(p.measure, Measure::Intersections))
    }

    /// Heads of the columns, without that of the time.
    pub fn columns(&self) -> Vec<Column> {
        self.list.iter().flat_map(Probe::columns).collect()
    }

    /// Appends one number per column; NaN where something isn't known.
    pub fn measure(&self, at: &Measured<'_>, row: &mut Vec<f64>) {
        for probe in &self.list {
            self.evaluate(&probe.measure, at, row);
        }
    }

    fn evaluate(&self, measure: &Measure, at: &Measured<'_>, row: &mut Vec<f64>) {
        let sum = |range: &Range<usize>, of: &dyn Fn(usize) -> DVec3| -> [f64; 3] {
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
            Measure::Speed(vertices, across) => {
                let speed = |v: &u32| {
                    let mut v = at.v[*v as usize];
                    if let Some(axis) = across {
                        v[*axis] = 0.0;
                    }
                    v.length()
                };
                row.push(vertices.iter().map(speed).fold(0.0, f64::max));
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
            Measure::ContactForce(_, axis) if at.contact_force.is_empty() => {
                along([f64::NAN; 3], *axis, row);
            }
            Measure::ContactForce(range, axis) => {
                along(sum(range, &|i| at.contact_force[i]), *axis, row);
            }
            Measure::Force(terms, range, axis) => {
                along(force(terms, range, at).to_array(), *axis, row);
            }
            Measure::Positions(group) => {
                row.extend(group.vertices.iter().flat_map(|v| at.x[*v as usize].to_array()));
            }
            Measure::Coordinates(group, axis) => {
                row.extend(group.vertices.iter().map(|v| at.x[*v as usize][*axis]));
            }
            Measure::Speeds(group) => {
                row.extend(group.vertices.iter().map(|v| at.v[*v as usize].length()));
            }
            Measure::Stretch(stretch) => row.extend(stretch.bounds(at.x)),
            Measure::Threads(terms) => row.push(thread_error(terms, at)),
            Measure::Intersections => row.push(at.intersections.map_or(f64::NAN, |n| n as f64)),
            Measure::Inside(vertices, wall) => {
                let inside = vertices.iter().filter(|v| wall.encloses(at.x[**v as usize], at.x));
                row.push(inside.count() as f64);
            }
        }
    }

    fn energy(&self, account: &Account, at: &Measured<'_>) -> f64 {
        let of_kinds = |wanted: &dyn Fn(&str) -> bool| -> f64 {
            let kind = |label: &str| label.split(' ').next().is_some_and(wanted);
            at.energies.iter().filter(|(label, _)| kind(label)).map(|(_, e)| e).sum()
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

impl Probe {
    /// Heads of its columns.
    pub fn columns(&self) -> Vec<Column> {
        let unit = self.measure.unit();
        let head = |tail: String| Column { name: format!("{}{tail}", self.name), unit };
        self.measure.columns().into_iter().map(head).collect()
    }
}

impl Measure {
    /// What comes after the probe's name in the head of each column.
    fn columns(&self) -> Vec<String> {
        let axes = [".x", ".y", ".z"];
        match self {
            Self::Positions(group) => group.columns(&axes),
            Self::Coordinates(group, _) | Self::Speeds(group) => group.columns(&[""]),
            Self::Stretch(_) => vec![".min".to_owned(), ".max".to_owned()],
            Self::Position(_)
            | Self::Momentum(_)
            | Self::AngularMomentum(_)
            | Self::ContactForce(_, None)
            | Self::Force(_, _, None) => axes.map(str::to_owned).to_vec(),
            _ => vec![String::new()],
        }
    }

    /// SI unit.
    fn unit(&self) -> &'static str {
        match self {
            Self::Extent(..)
            | Self::Mean(..)
            | Self::Median(..)
            | Self::Min(..)
            | Self::Max(..)
            | Self::Height { .. }
            | Self::Distance(..)
            | Self::Gap(_)
            | Self::Position(_)
            | Self::Positions(_)
            | Self::Coordinates(..)
            | Self::Threads(_) => "m",
            Self::Angle(_) => "deg",
            Self::Speed(..) | Self::Speeds(_) => "m/s",
            Self::Momentum(_) => "kg m/s",
            Self::AngularMomentum(_) => "kg m^2/s",
            Self::Energy(_) => "J",
            Self::ContactForce(..) | Self::Force(..) => "N",
            Self::Stretch(_) | Self::Intersections | Self::Inside(..) => "1",
        }
    }
}

/// Appends a vector, or its component along an axis.
fn along(vector: [f64; 3], axis: Option<usize>, row: &mut Vec<f64>) {
    match axis {
        Some(axis) => row.push(vector[axis]),
        None => row.extend(vector),
    }
}

/// Sum of the forces (N) of some terms on the vertices of a range.
fn force(terms: &[usize], range: &Range<usize>, at: &Measured<'_>) -> DVec3 {
    let (x_start, v_start, dt) = at.step;
    let state = StepState { x: at.x, x_start, v_start, dt };
    let mut local = Local::default();
    let mut sum = DVec3::ZERO;
    for term in terms.iter().map(|k| &at.terms[*k]) {
        local.eval(&**term, &state, Want::Gradient);
        for (vertex, gradient) in term.stencils().iter().zip(local.gradient.as_chunks::<3>().0) {
            if range.contains(&(*vertex as usize)) {
                sum -= DVec3::from_array(*gradient);
            }
        }
    }
    sum
}

/// By how much (m) the thread farthest from its length misses it; 0 without threads.
fn thread_error(terms: &[usize], at: &Measured<'_>) -> f64 {
    let miss = |term: &dyn Term| {
        let (params, width) = term.params();
        let threads = term.stencils().as_chunks::<2>().0.iter().zip(params.chunks_exact(width));
        let error = |(&[i, j], thread): (&[u32; 2], &[f64])| {
            let excess = at.x[i as usize].distance(at.x[j as usize]) - thread[build::LENGTH];
            // A thread that may hang slack is never too short.
            if excess < 0.0 { -excess * thread[build::PUSH].min(1.0) } else { excess }
        };
        threads.map(error).fold(0.0, f64::max)
    };
    terms.iter().map(|k| miss(&*at.terms[*k])).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probe(name: &str, measure: Measure) -> Probe {
        Probe { name: name.into(), targets: Vec::new(), measure }
    }

    #[test]
    fn columns_and_numbers_agree() {
        let probes = Probes {
            list: vec![
                probe("p", Measure::Momentum(0..2)),
                probe("k", Measure::Energy(Account::Kinetic)),
                probe("e", Measure::Energy(Account::Total)),
                probe("g", Measure::Gap(vec![0, 1])),
                probe("f", Measure::ContactForce(0..2, None)),
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
                ..Measured::default()
            },
            &mut row,
        );
        assert_eq!(row.len(), probes.columns().len());
        assert_eq!(row[..6], [6.0, 0.0, 0.0, 9.0, 9.0 + 20.0 + 1.0, 0.5]);
        assert!(row[6..].iter().all(|f| f.is_nan()));
        assert_eq!(probes.columns()[0].to_string(), "p.x [kg m/s]");
    }
}
