//! Every kind of element with random states: 100,000 stencils each.

use crate::terms::{Scale, scales};
use glam::DVec3;
use gusset_builtin::{
    barrier, drag, friction, hinge, inertia, neo_hookean, penalty, stvk, support, tet_neo_hookean,
    tie,
};
use gusset_energy::check::Random;
use gusset_energy::membrane::Film;
use gusset_energy::viscosity::{DampedFilm, FilmDamping};
use gusset_energy::{
    At, Batch, Element, Fading, NearParallel, Program, Shader, StepState, Term, Vec3, fixture,
    registry,
};
use gusset_mesh::{Role, World};
use gusset_template::Spring;
use std::any::type_name;
use std::path::Path;

/// What agreement of the device with the CPU is asked for, relative to the largest intermediate term of each stencil.
pub(crate) const ALGEBRAIC: f64 = 1e-12;
/// The same where logarithms or angles are involved.
pub(crate) const TRANSCENDENTAL: f64 = 1e-9;

/// Stencils of one kind with vertices of their own.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// Type of the element.
    pub(crate) element: &'static str,
    pub(crate) tolerance: f64,
    /// Vertices of one stencil, or of a few that share them.
    pub(crate) group: usize,
    /// To be taken out: states are borrowed from the rest.
    pub(crate) term: Option<Box<dyn Term>>,
    pub(crate) x: Vec<DVec3>,
    pub(crate) x_start: Vec<DVec3>,
    pub(crate) v_start: Vec<DVec3>,
    /// How large the terms are that the stencils of such a batch are summed of.
    pub(crate) scales: fn(&dyn Term, &StepState<'_>) -> Vec<Scale>,
}

/// A random state and constants of an element.
type Sampler<'a, E, const N: usize> =
    &'a dyn Fn(&mut Random) -> (At<f64, N>, <E as Element<N>>::Params<f64>);

/// Calls `visit` for each kind of element.
trait Visit {
    fn visit<E: Element<N>, const N: usize>(
        &mut self,
        name: &'static str,
        tolerance: f64,
        sample: Sampler<'_, E, N>,
    );
}

struct Shaders(Vec<Shader>);

impl Visit for Shaders {
    fn visit<E: Element<N>, const N: usize>(
        &mut self,
        name: &'static str,
        _: f64,
        _: Sampler<'_, E, N>,
    ) {
        // As scenes name them: both laws of a solid are one kind.
        let kind = name.split(' ').next().unwrap();
        self.0.push(Program::shared::<E, N>().shader(kind));
    }
}

/// GLSL of every kind that comes with the framework. That of the template is compiled like a user's.
pub(crate) fn shaders() -> Vec<Shader> {
    let mut shaders = Shaders(Vec::new());
    visit_all(&mut shaders);
    shaders.0
}

struct Cases(Vec<Case>, usize);

impl Visit for Cases {
    fn visit<E: Element<N>, const N: usize>(
        &mut self,
        name: &'static str,
        tolerance: f64,
        sample: Sampler<'_, E, N>,
    ) {
        let mut random = Random::new(3);
        let (mut x, mut x_start, mut v_start) = (Vec::new(), Vec::new(), Vec::new());
        let mut stencils = Vec::with_capacity(self.1);
        for k in 0..self.1 {
            let (at, params) = sample(&mut random);
            let points = |v: [Vec3<f64>; N]| v.map(|p| DVec3::from_array(p.to_array()));
            x.extend(points(at.x));
            x_start.extend(points(at.x_start));
            v_start.extend(points(at.v_start));
            stencils.push((std::array::from_fn(|i| (N * k + i) as u32), params));
        }
        let kind = name.split(' ').next().unwrap();
        let term: Box<dyn Term> = Box::new(Batch::<E, N>::new(kind, name.to_owned(), stencils));
        self.0.push(Case {
            name,
            element: type_name::<E>(),
            group: N,
            tolerance,
            term: Some(term),
            x,
            x_start,
            v_start,
            scales: scales::<E, N>,
        });
    }
}

/// So many random stencils of every kind.
pub(crate) fn cases(count: usize) -> Vec<Case> {
    let mut cases = Cases(Vec::new(), count);
    visit_all(&mut cases);
    cases.0.push(springs(count));
    cases.0
}

/// The template's springs, built as a scene builds them: three on each of many triangles.
fn springs(count: usize) -> Case {
    let mut random = Random::new(4);
    let mut points = |size: f64| -> Vec<DVec3> {
        (0..3 * count.div_ceil(3))
            .map(|_| DVec3::from_array(random.vector(size).to_array()))
            .collect()
    };
    let (rest, x, x_start, v_start) = (points(1.0), points(1.0), points(1.0), points(1.0));
    let triangles: Vec<[u32; 3]> =
        (0..rest.len() as u32 / 3).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
    let world = World::new(vec![fixture::body("springs", Role::Film, &rest, &triangles)]);
    let mut site = fixture::site(&world);
    site.kind = "spring";
    let term = fixture::build::<Spring>("stiffness = 3.0", &site).unwrap().pop();
    Case {
        name: "spring",
        element: type_name::<Spring>(),
        group: 3,
        tolerance: ALGEBRAIC,
        term,
        x,
        x_start,
        v_start,
        scales: scales::<Spring, 2>,
    }
}

const TRIANGLE: [[f64; 3]; 3] = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
const HINGE: [[f64; 3]; 4] = [[0.5, 1.0, 0.0], [0.5, -1.0, 0.0], [0.0; 3], [1.0, 0.0, 0.0]];
const TET: [[f64; 3]; 4] = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

fn film(r: &mut Random) -> Film<f64> {
    let mut point =
        |p: [f64; 3]| DVec3::from_array(p) + DVec3::from_array(r.vector(0.2).to_array());
    Film::at_rest(TRIANGLE.map(&mut point))
}

fn unit(r: &mut Random) -> Vec3<f64> {
    let v = r.vector(1.0);
    if v.norm() > 0.1 { v.normalized() } else { Vec3::new(0.0, 0.0, 1.0) }
}

/// Weights of closest points between two edges or a vertex and a triangle.
fn weights(r: &mut Random) -> [f64; 4] {
    let (s, t) = (r.within(0.0, 1.0), r.within(0.0, 1.0));
    if r.within(0.0, 1.0) < 0.5 {
        [1.0 - s, s, t - 1.0, -t]
    } else {
        let (b, c) = (s * t, s * (1.0 - t));
        [1.0, b + c - 1.0, -b, -c]
    }
}

/// A tetrahedron of rest edges near the axes, in metres and pascals of rubber.
fn tetrahedron(r: &mut Random) -> tet_neo_hookean::Tetrahedron<f64> {
    let axes = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    tet_neo_hookean::Tetrahedron {
        inverse: axes.map(|a| Vec3::from(a) + r.vector(0.1)),
        volume: r.within(0.1, 0.2),
        mu: r.within(1e4, 1e5),
        lambda: r.within(1e4, 1e6),
    }
}

/// A state of rows with a distance between the closest points around `distance`.
fn row(r: &mut Random, weights: [f64; 4], distance: f64) -> At<f64, 4> {
    let mut at: At<f64, 4> = r.at(1.0);
    let now = gusset_energy::separation(&at.x, &weights);
    let wanted = unit(r) * (distance * r.within(0.2, 1.2));
    let shift = (wanted - now) / (weights[0] + weights[1]);
    let first_two = if weights[1] > 0.0 { 2 } else { 1 };
    let shift = if first_two == 1 { wanted - now } else { shift };
    for x in &mut at.x[..first_two] {
        *x += shift;
    }
    at
}

fn visit_all(v: &mut impl Visit) {
    v.visit::<inertia::Inertia, 1>("inertia", ALGEBRAIC, &|r| {
        let params = inertia::Particle {
            mass: r.within(1e-4, 1.0),
            gravity: r.vector(10.0),
            force: r.vector(1.0),
        };
        (r.at(1.0), params)
    });
    v.visit::<drag::Drag, 1>("drag", ALGEBRAIC, &|r| {
        (r.at(1.0), drag::Particle { drag: r.within(0.0, 1.0) })
    });
    v.visit::<support::Support, 1>("support", ALGEBRAIC, &|r| {
        (r.at(1.0), support::Spring { stiffness: r.within(0.0, 1e3), target: r.vector(1.0) })
    });
    v.visit::<tie::Tie, 2>("tie", ALGEBRAIC, &|r| {
        let push = if r.within(0.0, 1.0) < 0.5 { 0.0 } else { 1.0 };
        let (stiffness, length) = (r.within(1.0, 1e3), r.within(0.0, 1.0));
        (r.at(0.5), tie::Thread { stiffness, length, push })
    });
    v.visit::<neo_hookean::NeoHookean, 3>("neo-hookean", TRANSCENDENTAL, &|r| {
        let (mu, lambda) = (r.within(10.0, 1e3), r.within(10.0, 1e3));
        (r.near(TRIANGLE, 0.25), neo_hookean::Triangle { rest: film(r), mu, lambda })
    });
    v.visit::<neo_hookean::Stable, 3>("neo-hookean stable", ALGEBRAIC, &|r| {
        let (mu, lambda) = (r.within(10.0, 1e3), r.within(10.0, 1e3));
        (r.near(TRIANGLE, 0.5), neo_hookean::Triangle { rest: film(r), mu, lambda })
    });
    v.visit::<FilmDamping, 3>("neo-hookean damping", ALGEBRAIC, &|r| {
        (r.near(TRIANGLE, 0.5), DampedFilm { rest: film(r), damping: r.within(0.1, 10.0) })
    });
    v.visit::<stvk::StVK, 3>("stvk", ALGEBRAIC, &|r| {
        let (mu, lambda) = (r.within(10.0, 1e3), r.within(10.0, 1e3));
        (r.near(TRIANGLE, 0.5), stvk::Triangle { rest: film(r), mu, lambda })
    });
    v.visit::<hinge::Hinge, 4>("hinge", TRANSCENDENTAL, &|r| {
        let angle = r.within(-3.0, 3.0);
        let stiffness = r.within(1e-6, 1.0);
        let (rest_sin, rest_cos) = angle.sin_cos();
        (r.near(HINGE, 0.6), hinge::Edge { stiffness, rest_cos, rest_sin })
    });
    v.visit::<hinge::DampedHinge, 4>("hinge damping", TRANSCENDENTAL, &|r| {
        let (rest_sin, rest_cos) = r.within(-3.0, 3.0).sin_cos();
        let (stiffness, damping) = (r.within(1e-6, 1.0), r.within(1e-6, 1.0));
        let mut at = r.near(HINGE, 0.6);
        at.x_start = r.near(HINGE, 0.6).x;
        (at, hinge::DampedEdge { elastic: [stiffness, rest_cos, rest_sin], damping })
    });
    v.visit::<tet_neo_hookean::TetDamping, 4>("tet-neo-hookean damping", ALGEBRAIC, &|r| {
        let tet_neo_hookean::Tetrahedron { inverse, volume, .. } = tetrahedron(r);
        let damping = r.within(1.0, 1e3);
        (r.near(TET, 0.8), tet_neo_hookean::DampedTetrahedron { inverse, volume, damping })
    });
    v.visit::<tet_neo_hookean::Stable, 4>("tet-neo-hookean stable", ALGEBRAIC, &|r| {
        (r.near(TET, 0.8), tetrahedron(r))
    });
    v.visit::<tet_neo_hookean::Log, 4>("tet-neo-hookean log", TRANSCENDENTAL, &|r| {
        (r.near(TET, 0.25), tetrahedron(r))
    });
    v.visit::<barrier::RowBarrier, 4>("barrier", TRANSCENDENTAL, &|r| {
        let weights = weights(r);
        let (dhat, offset) = (r.within(1e-4, 1e-2), r.within(0.0, 1e-5));
        let at = row(r, weights, dhat);
        (at, barrier::Pair { weights, offset, dhat, stiffness: r.within(1.0, 1e5) })
    });
    v.visit::<barrier::SlabBarrier, 1>("barrier-slab", TRANSCENDENTAL, &|r| {
        let (at, normal) = (r.at::<1>(1.0), unit(r));
        let dhat = r.within(1e-4, 1e-2);
        let plane = normal.dot(at.x[0]) - dhat * r.within(0.1, 1.2);
        (at, barrier::Face { normal, plane, offset: 0.0, dhat, stiffness: r.within(1.0, 1e5) })
    });
    v.visit::<penalty::RowPenalty, 4>("penalty", ALGEBRAIC, &|r| {
        let weights = weights(r);
        let reach = r.within(1e-4, 1e-2);
        let at = row(r, weights, reach);
        (at, penalty::Pair { weights, reach, stiffness: r.within(1.0, 1e5) })
    });
    v.visit::<penalty::SlabPenalty, 1>("penalty-slab", ALGEBRAIC, &|r| {
        let (at, normal) = (r.at::<1>(1.0), unit(r));
        let plane = normal.dot(at.x[0]) + r.within(-1e-3, 1e-2);
        (at, penalty::Face { normal, plane, stiffness: r.within(1.0, 1e5) })
    });
    v.visit::<NearParallel<barrier::Law>, 4>("barrier-parallel", TRANSCENDENTAL, &fading);
    v.visit::<NearParallel<penalty::Law>, 4>("penalty-parallel", ALGEBRAIC, &fading);
    v.visit::<friction::RowFriction, 4>("friction", ALGEBRAIC, &|r| {
        let (weights, normal) = (weights(r), unit(r));
        let speed = r.within(1e-4, 1e-1);
        let mut at: At<f64, 4> = r.at(1.0);
        at.x_start = std::array::from_fn(|i| at.x[i] - r.vector(speed * 0.02));
        (at, friction::Pair { weights, normal, load: r.within(0.0, 10.0), speed })
    });
    v.visit::<friction::SlabFriction, 1>("friction-slab", ALGEBRAIC, &|r| {
        let (normal, speed) = (unit(r), r.within(1e-4, 1e-1));
        let mut at: At<f64, 1> = r.at(1.0);
        at.x_start = [at.x[0] - r.vector(speed * 0.02)];
        (at, friction::Face { normal, load: r.within(0.0, 10.0), speed })
    });
}

/// Two edges 1 cm long that are nearly parallel.
fn fading(r: &mut Random) -> (At<f64, 4>, Fading<f64>) {
    let mut at = r.at(1e-2);
    let along = unit(r);
    let n = unit(r).cross(along).normalized();
    let (gap, sine) = (r.within(0.1e-3, 1.1e-3), r.within(0.0, 3e-2));
    let turned = along * (1.0 - sine * sine).sqrt() + n.cross(along) * sine;
    let middle = r.vector(1e-2);
    at.x = [
        middle - along * 4e-3,
        middle + along * 6e-3,
        middle + n * gap - turned * 5e-3,
        middle + n * gap + turned * 5e-3,
    ];
    (at, Fading { weights: [0.6, 0.4, -0.5, -0.5], offset: 1e-5, dhat: 1e-3, stiffness: 1e3 })
}

/// Every registered kind has a case, so that a new one is not forgotten.
#[test]
fn no_kind_is_left_out() {
    let covered: Vec<&str> = cases(1).iter().map(|c| c.name.split(' ').next().unwrap()).collect();
    for kind in registry().iter() {
        assert!(covered.contains(&kind.name), "`{}` is not compared with the device", kind.name);
    }
}

/// Nor any element: a kind may be made of several, and the registry knows only kinds.
#[test]
fn no_element_is_left_out() {
    let covered: Vec<&str> = cases(1).iter().map(|c| c.element).collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut crates = vec![root.join("crates/energy")];
    crates.extend(std::fs::read_dir(root.join("energies")).unwrap().map(|e| e.unwrap().path()));
    let mut found = 0;
    for folder in crates {
        let package = folder.file_name().unwrap().to_str().unwrap().replace('-', "_");
        for_each_source(&folder.join("src"), &mut |path, text| {
            for line in text.lines().filter(|line| line.starts_with("impl")) {
                let Some((_, rest)) = line.split_once(" Element<") else { continue };
                let Some((_, rest)) = rest.split_once("> for ") else { continue };
                let end = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
                let name = format!("::{}", &rest[..end]);
                let of_crate = format!("gusset_{package}::");
                let is = |c: &&str| {
                    c.starts_with(&of_crate)
                        && c.split('<').next().is_some_and(|c| c.ends_with(&name))
                };
                assert!(covered.iter().any(is), "{}: no case has {name}", path.display());
                found += 1;
            }
        });
    }
    assert!(found > 15, "the sources of the energies are not where they were");
}

fn for_each_source(folder: &Path, visit: &mut impl FnMut(&Path, &str)) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            for_each_source(&path, visit);
        } else if path.extension().is_some_and(|e| e == "rs") && !path.ends_with("tests.rs") {
            visit(&path, &std::fs::read_to_string(&path).unwrap());
        }
    }
}
