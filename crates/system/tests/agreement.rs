//! Assembly and the three linear solvers against a dense matrix built entry by entry.

use glam::DVec3;
use gusset_energy::check::Random;
use gusset_energy::{
    At, Batch, Contacts, Element, Local, Psd, Row, RowKind, Scalar, StepState, Term, Want,
    block_index, fields,
};
use gusset_system::{LinearSolver, Method, System};
use nalgebra::{DMatrix, DVector};

fields! { struct Constants<S> { rest: S, stiffness: S } }

struct Spring;

impl Element<2> for Spring {
    type Params<S: Scalar> = Constants<S>;
    fn energy<S: Scalar>(at: &At<S, 2>, p: &Constants<S>) -> S {
        ((at.x[1] - at.x[0]).norm() - p.rest).square() * p.stiffness * 0.5
    }
}

fields! { struct Weights<S> { weights: [S; 4] } }

struct Quadratic;

impl Element<4> for Quadratic {
    type Params<S: Scalar> = Weights<S>;
    const PSD: Psd = Psd::Exact;
    fn energy<S: Scalar>(at: &At<S, 4>, p: &Weights<S>) -> S {
        let r = at.x[0] * p.weights[0]
            + at.x[1] * p.weights[1]
            + at.x[2] * p.weights[2]
            + at.x[3] * p.weights[3];
        r.norm_squared() * 50.0
    }
}

/// Its off-diagonal blocks are not symmetric, so it matters which way round each is added.
struct Area;

impl Element<3> for Area {
    type Params<S: Scalar> = One<S>;
    fn energy<S: Scalar>(at: &At<S, 3>, p: &One<S>) -> S {
        (at.x[1] - at.x[0]).cross(at.x[2] - at.x[0]).norm_squared() * p.mass
    }
}

struct Mass;

fields! { struct One<S> { mass: S } }

impl Element<1> for Mass {
    type Params<S: Scalar> = One<S>;
    const PSD: Psd = Psd::Exact;
    fn energy<S: Scalar>(at: &At<S, 1>, p: &One<S>) -> S {
        (at.x[0] - at.x_start[0]).norm_squared() * p.mass / (at.dt * at.dt) * 0.5
    }
}

const COUNT: usize = 60;

/// Masses, a random net of springs, and rows of which one names a vertex three times.
fn terms(random: &mut Random) -> Vec<Box<dyn Term>> {
    let mut pick = |n: usize| random.within(0.0, n as f64) as u32;
    let springs: Vec<[u32; 2]> =
        (0..3 * COUNT).map(|_| [pick(COUNT), pick(COUNT)]).filter(|[a, b]| a != b).collect();
    let triangles: Vec<([u32; 3], One<f64>)> = (0..2 * COUNT)
        .map(|_| [pick(COUNT), pick(COUNT), pick(COUNT)])
        .filter(|[a, b, c]| a != b && b != c && c != a)
        .map(|corners| (corners, One { mass: 30.0 }))
        .collect();
    let mut rows: Vec<[u32; 4]> =
        (0..40).map(|k| [k, k + 7, (k + 13) % COUNT as u32, (k + 20) % COUNT as u32]).collect();
    rows.push([3, 50, 50, 50]);
    let contacts =
        Batch::<Quadratic, 4>::new("rows", "rows".into(), []).with_rows(|contacts, out| {
            for row in &contacts.rows {
                out.push(row.vertices, &Weights { weights: row.weights });
            }
        });
    let mut contacts: Box<dyn Term> = Box::new(contacts);
    contacts.refresh(&Contacts {
        rows: rows
            .into_iter()
            .map(|vertices| Row {
                vertices,
                weights: [1.0, -0.3, -0.5, -0.2],
                offset: 0.0,
                normal: DVec3::Z,
                gap: 1.0,
                sine_squared: 1.0,
                kind: RowKind::VertexTriangle,
                primitives: [0, 0],
            })
            .collect(),
        slabs: vec![],
    });
    vec![
        Box::new(Batch::<Mass, 1>::new(
            "mass",
            "mass".into(),
            (0..COUNT as u32).map(|v| ([v], One { mass: 1e-3 })),
        )),
        Box::new(Batch::<Spring, 2>::new(
            "spring",
            "springs".into(),
            springs.into_iter().map(|e| (e, Constants { rest: 0.5, stiffness: 200.0 })),
        )),
        Box::new(Batch::<Area, 3>::new("area", "areas".into(), triangles)),
        contacts,
    ]
}

/// The full matrix and gradient, stencil by stencil.
fn dense(terms: &[Box<dyn Term>], at: &StepState<'_>) -> (DMatrix<f64>, DVector<f64>) {
    let n = 3 * at.x.len();
    let (mut h, mut g) = (DMatrix::zeros(n, n), DVector::zeros(n));
    for term in terms {
        let mut local = Local::default();
        local.eval(term.as_ref(), at, Want::Hessian);
        let arity = term.arity();
        let size = 9 * gusset_energy::block_count(arity);
        for (k, stencil) in term.stencils().chunks_exact(arity).enumerate() {
            for i in 0..arity {
                for r in 0..3 {
                    let row = 3 * stencil[i] as usize + r;
                    g[row] += local.gradient[3 * (arity * k + i) + r];
                    for j in 0..arity {
                        for c in 0..3 {
                            let column = 3 * stencil[j] as usize + c;
                            let (a, b, entry) =
                                if i <= j { (i, j, 3 * r + c) } else { (j, i, 3 * c + r) };
                            h[(row, column)] +=
                                local.hessian[size * k + 9 * block_index(arity, a, b) + entry];
                        }
                    }
                }
            }
        }
    }
    (h, g)
}

#[test]
fn assembly_and_solvers_agree_with_a_dense_matrix() {
    let mut random = Random::new(3);
    let terms = terms(&mut random);
    let x: Vec<DVec3> = (0..COUNT).map(|_| DVec3::from(random.vector(1.0).to_array())).collect();
    let zero = vec![DVec3::ZERO; COUNT];
    let at = StepState { x: &x, x_start: &zero, v_start: &zero, dt: 0.01 };
    let fixed: Vec<bool> = (0..COUNT).map(|v| v % 11 == 5).collect();
    let mut system = System::new(&fixed, &terms);
    system.assemble(&terms, &at, Want::Hessian, Vec::new).unwrap();

    let (h, g) = dense(&terms, &at);
    let free: Vec<usize> =
        (0..COUNT).filter(|v| !fixed[*v]).flat_map(|v| [3 * v, 3 * v + 1, 3 * v + 2]).collect();
    let h = DMatrix::from_fn(free.len(), free.len(), |r, c| h[(free[r], free[c])]);
    let g = DVector::from_fn(free.len(), |r, _| g[free[r]]);
    assert!((DVector::from_column_slice(&system.gradient) - &g).amax() < 1e-12 * g.amax());

    let mut product = vec![0.0; free.len()];
    for c in 0..free.len() {
        let unit: Vec<f64> = (0..free.len()).map(|r| f64::from(u8::from(r == c))).collect();
        system.pattern.multiply(&system.values, &unit, &mut product);
        for (r, value) in product.iter().enumerate() {
            assert!((value - h[(r, c)]).abs() < 1e-11 * h.amax(), "entry ({r}, {c})");
        }
    }

    let expected = -h.clone().cholesky().unwrap().solve(&g);
    let pcg = Method::Pcg { tolerance: 1e-12, max_iterations: 2000 };
    for (method, tolerance) in [(Method::Cholesky, 1e-9), (Method::Dense, 1e-9), (pcg, 1e-7)] {
        let mut dx = Vec::new();
        let solution = LinearSolver::new(method).solve(&system, &mut dx).unwrap();
        let error = (DVector::from_vec(dx) - &expected).amax();
        assert!(error < tolerance * expected.amax(), "{method:?}: off by {error:e}");
        assert!(solution.residual < 1e-10, "{method:?}: residual {:e}", solution.residual);
    }
}

#[test]
fn assembly_has_the_same_bits_for_any_number_of_threads() {
    let mut random = Random::new(3);
    let terms = terms(&mut random);
    let x: Vec<DVec3> = (0..COUNT).map(|_| DVec3::from(random.vector(1.0).to_array())).collect();
    let zero = vec![DVec3::ZERO; COUNT];
    let at = StepState { x: &x, x_start: &zero, v_start: &zero, dt: 0.01 };
    let assemble = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut system = System::new(&[false; COUNT], &terms);
            system.assemble(&terms, &at, Want::Hessian, Vec::new).unwrap();
            (system.gradient, system.values)
        })
    };
    let one = assemble(1);
    for threads in [2, 3, 7] {
        assert!(assemble(threads) == one, "{threads} threads");
    }
}

#[test]
fn an_indefinite_system_is_an_error() {
    let terms: Vec<Box<dyn Term>> = vec![Box::new(Batch::<Mass, 1>::new(
        "mass",
        "mass".into(),
        [([0], One { mass: 1.0 }), ([1], One { mass: -1.0 })],
    ))];
    let zero = vec![DVec3::ZERO; 2];
    let x = vec![DVec3::ONE; 2];
    let at = StepState { x: &x, x_start: &zero, v_start: &zero, dt: 0.1 };
    let mut system = System::new(&[false; 2], &terms);
    system.assemble(&terms, &at, Want::Hessian, Vec::new).unwrap();
    let pcg = Method::Pcg { tolerance: 1e-9, max_iterations: 100 };
    for method in [Method::Cholesky, Method::Dense, pcg] {
        let error = LinearSolver::new(method).solve(&system, &mut Vec::new()).unwrap_err();
        assert!(error.to_string().contains("not positive definite"), "{method:?}: {error}");
    }
}

/// Large enough that the pattern is dissected; two sheets that don't touch, or are tied along a line.
#[test]
fn dissected_factors_solve_as_well_as_whole_ones() {
    const SIDE: usize = 36;
    let count = 2 * SIDE * SIDE;
    let vertex = |sheet: usize, i: usize, j: usize| (sheet * SIDE * SIDE + i * SIDE + j) as u32;
    let mut random = Random::new(9);
    let x: Vec<DVec3> = (0..count).map(|_| DVec3::from(random.vector(1.0).to_array())).collect();
    let zero = vec![DVec3::ZERO; count];
    let at = StepState { x: &x, x_start: &zero, v_start: &zero, dt: 0.01 };
    for tied in [false, true] {
        let mut edges = Vec::new();
        for (sheet, i, j) in
            (0..2).flat_map(|s| (0..SIDE).flat_map(move |i| (0..SIDE).map(move |j| (s, i, j))))
        {
            if i + 1 < SIDE {
                edges.push([vertex(sheet, i, j), vertex(sheet, i + 1, j)]);
            }
            if j + 1 < SIDE {
                edges.push([vertex(sheet, i, j), vertex(sheet, i, j + 1)]);
            }
            if tied && sheet == 0 && j == 3 {
                edges.push([vertex(0, i, j), vertex(1, j, i)]);
            }
        }
        let corners = edges.windows(2).map(|e| [e[0][0], e[0][1], e[1][1]]);
        let corners = corners.filter(|[a, b, c]| a != b && b != c && c != a);
        let corners = corners.map(|corners| (corners, One { mass: 100.0 }));
        let masses = (0..count as u32).map(|v| ([v], One { mass: 1e-3 }));
        let springs = edges.iter().map(|e| (*e, Constants { rest: 0.5, stiffness: 2e4 }));
        let terms: Vec<Box<dyn Term>> = vec![
            Box::new(Batch::<Mass, 1>::new("mass", "mass".into(), masses)),
            Box::new(Batch::<Spring, 2>::new("spring", "springs".into(), springs)),
            Box::new(Batch::<Area, 3>::new("area", "areas".into(), corners)),
        ];
        let fixed: Vec<bool> = (0..count).map(|v| v % 101 == 0).collect();
        let mut system = System::new(&fixed, &terms);
        system.assemble(&terms, &at, Want::Hessian, Vec::new).unwrap();
        let solve = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut dx = Vec::new();
                let mut solver = LinearSolver::new(Method::Cholesky);
                let solution = solver.solve(&system, &mut dx).unwrap();
                (dx, solution.residual)
            })
        };
        let (dx, residual) = solve(1);
        assert!(residual < 1e-11, "tied {tied}: residual {residual:e}");
        assert!(solve(2).0 == dx, "tied {tied}: the bits depend on the number of threads");
        let pcg = Method::Pcg { tolerance: 1e-12, max_iterations: 5000 };
        let mut other = Vec::new();
        LinearSolver::new(pcg).solve(&system, &mut other).unwrap();
        let largest = dx.iter().fold(0.0_f64, |a, d| a.max(d.abs()));
        let worst = dx.iter().zip(&other).fold(0.0_f64, |a, (x, y)| a.max((x - y).abs()));
        assert!(worst < 1e-7 * largest, "tied {tied}: off by {worst:e} of {largest:e}");
    }
}
