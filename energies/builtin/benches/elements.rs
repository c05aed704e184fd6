//! Time of one element of each kind: energy, gradient, traced Hessian before projection, Hessian as it is assembled (the
//! closed form, where a kind has one), step bound and vertex blocks.
//!
//! `cargo bench -p gusset-builtin`; one thread, and a thousand elements a sample: microseconds a sample are nanoseconds
//! an element. The throughput column is elements per second.

use divan::Bencher;
use divan::counter::ItemsCount;
use glam::DVec3;
use gusset_builtin::{
    barrier, drag, friction, hinge, inertia, neo_hookean, penalty, stvk, support, tet_neo_hookean,
    tie,
};
use gusset_energy::check::Random;
use gusset_energy::membrane::Film;
use gusset_energy::{Batch, Element, Local, StepState, Term, Vec3, VertexBlock, Want};

const COUNT: usize = 1000;

const KINDS: [&str; 12] = [
    "inertia",
    "drag",
    "support",
    "tie",
    "neo-hookean",
    "stvk",
    "hinge",
    "tet stable",
    "tet log",
    "barrier",
    "penalty",
    "friction",
];

const TRIANGLE: [DVec3; 3] = [DVec3::ZERO, DVec3::X, DVec3::Y];
const HINGE: [DVec3; 4] =
    [DVec3::new(0.5, 1.0, 0.0), DVec3::new(0.5, -1.0, 0.0), DVec3::ZERO, DVec3::X];
const TET: [DVec3; 4] = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];

fn main() {
    rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build_global()
        .expect("no pool has been started");
    divan::main();
}

/// Many elements of one kind, each with vertices of its own near a rest shape.
struct Case {
    term: Box<dyn Term>,
    x: Vec<DVec3>,
    start: Vec<DVec3>,
}

impl Case {
    fn new<E: Element<N>, const N: usize>(
        rest: [DVec3; N],
        params: impl Fn() -> E::Params<f64>,
    ) -> Self {
        let mut random = Random::new(1);
        let mut near = || {
            let points = (0..COUNT).flat_map(|_| rest);
            let mut moved = |p: DVec3| p + DVec3::from_array(random.vector(0.05).to_array());
            points.map(&mut moved).collect::<Vec<_>>()
        };
        let (x, start) = (near(), near());
        let stencils = (0..COUNT).map(|k| (std::array::from_fn(|i| (N * k + i) as u32), params()));
        Self { term: Box::new(Batch::<E, N>::new("kind", "case".to_owned(), stencils)), x, start }
    }

    fn of(kind: &str) -> Self {
        let (z, weights) = (Vec3::new(0.0, 0.0, 1.0), [1.0, -0.3, -0.3, -0.4]);
        let film = || Film::at_rest(TRIANGLE);
        let (mu, lambda) = (2.0, 3.0);
        let tet = || tet_neo_hookean::Tetrahedron {
            inverse: [Vec3::new(1.0, 0.0, 0.0), Vec3::new(0.0, 1.0, 0.0), z],
            volume: 1.0 / 6.0,
            mu,
            lambda,
        };
        match kind {
            "inertia" => Self::new::<inertia::Inertia, 1>([DVec3::ZERO], || inertia::Particle {
                mass: 1.0,
                gravity: z,
                force: z,
            }),
            "drag" => Self::new::<drag::Drag, 1>([DVec3::ZERO], || drag::Particle { drag: 1.0 }),
            "support" => Self::new::<support::Support, 1>([DVec3::ZERO], || support::Spring {
                stiffness: 2.0,
                target: z,
            }),
            "tie" => Self::new::<tie::Tie, 2>([DVec3::ZERO, DVec3::X], || tie::Thread {
                stiffness: 2.0,
                length: 0.9,
                push: 1.0,
            }),
            "neo-hookean" => Self::new::<neo_hookean::NeoHookean, 3>(TRIANGLE, || {
                neo_hookean::Triangle { rest: film(), mu, lambda }
            }),
            "stvk" => {
                Self::new::<stvk::StVK, 3>(TRIANGLE, || stvk::Triangle { rest: film(), mu, lambda })
            }
            "hinge" => Self::new::<hinge::Hinge, 4>(HINGE, || hinge::Edge {
                stiffness: 2.0,
                rest_cos: 1.0,
                rest_sin: 0.0,
            }),
            "tet stable" => Self::new::<tet_neo_hookean::Stable, 4>(TET, tet),
            "tet log" => Self::new::<tet_neo_hookean::Log, 4>(TET, tet),
            "barrier" => Self::new::<barrier::RowBarrier, 4>(TET, || barrier::Pair {
                weights,
                offset: 0.0,
                dhat: 2.0,
                stiffness: 2.0,
            }),
            "penalty" => Self::new::<penalty::RowPenalty, 4>(TET, || penalty::Pair {
                weights,
                reach: 2.0,
                stiffness: 2.0,
            }),
            "friction" => Self::new::<friction::RowFriction, 4>(TET, || friction::Pair {
                weights,
                normal: z,
                load: 2.0,
                speed: 1.0,
            }),
            other => panic!("no case for `{other}`"),
        }
    }

    fn state(&self) -> StepState<'_> {
        StepState { x: &self.x, x_start: &self.start, v_start: &self.start, dt: 0.01 }
    }

    fn eval(&self, bencher: Bencher<'_, '_>, want: Want) {
        let mut local = Local::default();
        bencher.counter(ItemsCount::new(COUNT)).bench_local(|| {
            local.eval(&*self.term, &self.state(), want);
            divan::black_box(&mut local);
        });
    }
}

#[divan::bench(args = KINDS)]
fn a_energy(bencher: Bencher<'_, '_>, kind: &str) {
    let case = Case::of(kind);
    let mut out = Vec::new();
    bencher.counter(ItemsCount::new(COUNT)).bench_local(|| {
        case.term.energy(&case.state(), &mut out);
        divan::black_box(&mut out);
    });
}

#[divan::bench(args = KINDS)]
fn b_gradient(bencher: Bencher<'_, '_>, kind: &str) {
    Case::of(kind).eval(bencher, Want::Gradient);
}

#[divan::bench(args = KINDS)]
fn c_traced_hessian(bencher: Bencher<'_, '_>, kind: &str) {
    Case::of(kind).eval(bencher, Want::ExactHessian);
}

#[divan::bench(args = KINDS)]
fn d_assembled_hessian(bencher: Bencher<'_, '_>, kind: &str) {
    Case::of(kind).eval(bencher, Want::Hessian);
}

#[divan::bench(args = KINDS)]
fn e_step_bound(bencher: Bencher<'_, '_>, kind: &str) {
    let case = Case::of(kind);
    let dx: Vec<DVec3> = case.x.iter().zip(&case.start).map(|(a, b)| *a - *b).collect();
    bencher.counter(ItemsCount::new(COUNT)).bench_local(|| case.term.max_step(&case.x, &dx));
}

/// All vertices, so one block a corner of each element.
#[divan::bench(args = KINDS)]
fn f_vertex_blocks(bencher: Bencher<'_, '_>, kind: &str) {
    let case = Case::of(kind);
    let vertices: Vec<u32> = (0..case.x.len() as u32).collect();
    let mut blocks = vec![VertexBlock::default(); vertices.len()];
    bencher.counter(ItemsCount::new(vertices.len())).bench_local(|| {
        case.term.vertex_blocks(&case.state(), &vertices, &mut blocks);
        divan::black_box(&mut blocks);
    });
}
