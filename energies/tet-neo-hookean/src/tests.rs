use super::*;
use crate::isotropic::Stretches;
use glam::DVec3;
use gusset_energy::check::{Check, Random};
use gusset_energy::{
    At, Batch, Blocks, Element, Local, Mat3, StepState, Vec3, Want, block_index, fixture, vec3,
};
use gusset_mesh::{Role, World};
use nalgebra::SMatrix;

const REST: [DVec3; 4] = [
    DVec3::new(0.0, 0.0, 0.0),
    DVec3::new(0.011, 0.001, -0.002),
    DVec3::new(0.002, 0.009, 0.001),
    DVec3::new(-0.001, 0.003, 0.012),
];
const MU: f64 = 3e4;
const LAMBDA: f64 = 7e4;

fn tetrahedron() -> Tetrahedron<f64> {
    let [a, b, c, d] = REST;
    let edges = DMat3::from_cols(b - a, c - a, d - a);
    let inverse = edges.inverse();
    Tetrahedron {
        inverse: [inverse.x_axis, inverse.y_axis, inverse.z_axis].map(vec3),
        volume: edges.determinant() / 6.0,
        mu: MU,
        lambda: LAMBDA,
    }
}

fn state(x: [Vec3<f64>; 4]) -> At<f64, 4> {
    At { x, x_start: x, v_start: [Vec3::zero(); 4], dt: 0.01 }
}

/// The documented Hessian the long way: the traced second derivatives by `F` (those of a tetrahedron whose rest edges are
/// the axes), their negative eigenvalues set to 0, carried over to the vertices.
fn documented<E>(at: &At<f64, 4>, p: &Tetrahedron<f64>) -> Blocks<4>
where
    E: Element<4> + for<'a> Element<4, Params<f64> = Tetrahedron<f64>>,
{
    let f = p.deformation(&at.x);
    let axes = Mat3::identity().columns;
    let unit = Tetrahedron { inverse: axes, volume: 1.0, ..*p };
    let batch = Batch::<E, 4>::new("tet", "tet".to_owned(), [([0, 1, 2, 3], unit)]);
    let mut x = [DVec3::ZERO; 4];
    for (x, column) in x[1..].iter_mut().zip(f.columns) {
        *x = DVec3::from_array(column.to_array());
    }
    let mut local = Local::default();
    let state = StepState { x: &x, x_start: &x, v_start: &x, dt: at.dt };
    local.eval(&batch, &state, Want::ExactHessian);
    let entry = |r: usize, c: usize| {
        let (r, c) = (r.min(c), r.max(c));
        local.hessian[9 * block_index(4, 1 + r / 3, 1 + c / 3) + 3 * (r % 3) + c % 3]
    };
    let eigen = SMatrix::<f64, 9, 9>::from_fn(entry).symmetric_eigen();
    let plus = eigen.eigenvectors
        * SMatrix::<f64, 9, 9>::from_diagonal(&eigen.eigenvalues.map(|v| v.max(0.0)))
        * eigen.eigenvectors.transpose();
    // Vertex i moves column a of F by weights[i][a].
    let [r1, r2, r3] = Mat3 { columns: p.inverse }.transpose().columns;
    let weights = [-(r1 + r2 + r3), r1, r2, r3].map(Vec3::to_array);
    let mut out = Blocks::zero();
    for i in 0..4 {
        for j in 0..4 {
            let sum = |r: usize, c: usize| -> f64 {
                let pairs = (0..3).flat_map(|a| (0..3).map(move |b| (a, b)));
                pairs
                    .map(|(a, b)| weights[i][a] * weights[j][b] * plus[(3 * a + r, 3 * b + c)])
                    .sum()
            };
            let row = |r: usize| Vec3::new(sum(r, 0), sum(r, 1), sum(r, 2)) * p.volume;
            out.hessian[i][j] = Mat3::from_rows(row(0), row(1), row(2));
        }
    }
    out
}

#[test]
fn derivatives_for_small_and_large_strains() {
    let rest = REST.map(|p| p.to_array());
    for size in [1e-4, 1e-3, 2.5e-3] {
        Check::<Stable, 4>::new(move |random| (random.near(rest, size), tetrahedron()))
            .internal()
            .rest(state(REST.map(vec3)), tetrahedron())
            .formula(documented::<Stable>)
            .run();
    }
    for size in [1e-4, 1e-3] {
        Check::<Log, 4>::new(move |random| (random.near(rest, size), tetrahedron()))
            .internal()
            .rest(state(REST.map(vec3)), tetrahedron())
            .formula(documented::<Log>)
            .run();
    }
}

#[test]
fn inverted_and_flat_tetrahedra_have_finite_blocks_under_the_stable_law() {
    let point = [Vec3::new(0.1, 0.2, 0.3); 4];
    let mut flat = REST.map(vec3);
    for x in &mut flat {
        x.z = 0.0;
    }
    let mut check = Check::<Stable, 4>::new(|random| {
        let inverted = REST.map(|p| [p.x, p.y, -p.z]);
        (random.near(inverted, 2e-3), tetrahedron())
    });
    for x in [point, flat] {
        check = check.degenerate(state(x), tetrahedron());
    }
    check.formula(documented::<Stable>).run();
}

#[test]
fn the_logarithm_is_infinite_from_zero_volume_on() {
    for z in [0.0, -0.01] {
        let mut below =
            [Vec3::zero(), Vec3::new(0.01, 0.0, 0.0), Vec3::new(0.0, 0.01, 0.0), Vec3::zero()];
        below[3].z = z;
        assert_eq!(Log::energy(&state(below), &tetrahedron()), f64::INFINITY);
    }
}

#[test]
fn stable_law_is_the_published_one() {
    let published = |f: Mat3<f64>| {
        let bulk = LAMBDA + MU;
        let alpha = 1.0 + MU / bulk;
        0.5 * MU * (f.norm_squared() - 3.0) + 0.5 * bulk * (f.det() - alpha).powi(2)
    };
    let at_rest = published(Mat3::identity());
    let p = tetrahedron();
    let mut random = Random::new(9);
    for size in [1e-3, 5e-3, 3e-2] {
        for _ in 0..100 {
            let at = random.near(REST.map(|p| p.to_array()), size);
            let expected = p.volume * (published(p.deformation(&at.x)) - at_rest);
            let found = Stable::energy(&at, &p);
            let scale = p.volume * at_rest.abs().max(expected.abs() / p.volume);
            assert!((found - expected).abs() < 1e-12 * scale, "{found} against {expected}");
        }
    }
}

/// Energy of a uniform stretch 1 + s from the law as it stands and from the element, relative difference.
#[test]
fn energies_keep_their_digits_near_rest() {
    let l = 0.0625; // a power of two, so that positions are exact
    let rest = [DVec3::ZERO, DVec3::X * l, DVec3::Y * l, DVec3::Z * l];
    let inverse = Mat3::identity().columns.map(|c| c / l);
    let p = Tetrahedron { inverse, volume: l.powi(3) / 6.0, mu: MU, lambda: LAMBDA };
    for s in [1e-3_f64, 1e-5, 1e-7] {
        let t = (1.0 + s) - 1.0; // as rounded
        let at = state(rest.map(|v| vec3(v * (1.0 + s))));
        let growth = t * (3.0 + t * (3.0 + t)); // J - 1
        // (|F|^2 - 3)/2 - (J - 1) = -3/2 t^2 - t^3
        let stable = MU * (-1.5 * t * t - t.powi(3)) + 0.5 * (LAMBDA + MU) * growth * growth;
        // (|F|^2 - 3)/2 - log J = 3 (t - log(1 + t)) + 3/2 t^2
        let series: f64 = (2..30).map(|k| f64::powi(-t, k) / f64::from(k)).sum();
        let log = MU * (3.0 * series + 1.5 * t * t) + 4.5 * LAMBDA * t.ln_1p().powi(2);
        for (name, found, expected) in
            [("stable", Stable::energy(&at, &p), stable), ("log", Log::energy(&at, &p), log)]
        {
            let error = (found / (p.volume * expected) - 1.0).abs();
            assert!(error < 2e-15 / s, "{name}: relative error {error:e} at a strain of {s:e}");
        }
    }
}

#[test]
fn stretches_rebuild_the_matrix() {
    let mut random = Random::new(2);
    let check = |f: Mat3<f64>| {
        let Stretches { left, values, right } = Stretches::of(f);
        let rebuilt = left * Mat3::from_diagonal(values.into()) * right.transpose();
        let error = (rebuilt - f).norm_squared().sqrt();
        assert!(error <= 1e-13 * f.norm_squared().sqrt(), "{f:?} is off by {error:e}");
        for rotation in [left, right] {
            let product = rotation * rotation.transpose() - Mat3::identity();
            assert!(product.norm_squared().sqrt() < 1e-13);
            assert!((rotation.det() - 1.0).abs() < 1e-13);
        }
        assert!(values[0] >= values[1] && values[1] >= values[2].abs() * (1.0 - 1e-12));
    };
    check(Mat3::zero());
    check(Mat3::identity());
    check(Mat3::from_diagonal(Vec3::new(2.0, 0.0, 0.0)));
    check(Mat3::from_diagonal(Vec3::new(1.0, -3.0, 0.5)));
    for _ in 0..200 {
        check(Mat3::from_columns(random.vector(1.0), random.vector(1.0), random.vector(1.0)));
    }
}

fn body(tets: &[[u32; 4]]) -> World {
    let mut body = fixture::body("cube", Role::Solid, &REST, &[]);
    body.tets = tets.to_vec();
    World::new(vec![body])
}

#[test]
fn small_strains_are_hookes() {
    for law in ["stable", "log"] {
        let keys = format!("mu = {MU}\nlambda = {LAMBDA}\nlaw = '{law}'");
        let world = body(&[[0, 1, 2, 3]]);
        let terms = fixture::build::<TetNeoHookean>(&keys, &fixture::site(&world)).unwrap();
        // u = e A x with a symmetric A: E = V e^2 (mu |A|^2 + lambda/2 (tr A)^2)
        let a = DMat3::from_cols_array(&[1.0, 0.3, -0.2, 0.3, -0.5, 0.4, -0.2, 0.4, 0.7]);
        let e = 1e-5;
        let x = REST.map(|p| p + a * p * e);
        let (energy, _) = fixture::forces(&*terms[0], &REST, &x, 0.01);
        let squared: f64 = a.to_cols_array().iter().map(|v| v * v).sum();
        let expected = tetrahedron().volume * e * e * (MU * squared + 0.5 * LAMBDA * 1.2 * 1.2);
        assert!((energy / expected - 1.0).abs() < 1e-4, "{law}: {energy} against {expected}");
    }
}

#[test]
fn mistakes_are_named() {
    let error = |keys: &str, tets: &[[u32; 4]]| {
        let world = body(tets);
        fixture::build::<TetNeoHookean>(keys, &fixture::site(&world)).err().unwrap().to_string()
    };
    let keys = "mu = 1\nlambda = 1";
    assert!(error(keys, &[]).contains("needs tetrahedra"));
    assert!(error(keys, &[[0, 2, 1, 3]]).contains("tetrahedron 0 of `cube`"));
    assert!(error("mu = 1", &[[0, 1, 2, 3]]).contains("without `lambda`"));
    assert!(error("mu = 1\nlambda = -1", &[[0, 1, 2, 3]]).contains("stable where"));
    assert!(error("", &[[0, 1, 2, 3]]).contains("no `young`"));
}

#[test]
fn damping_resists_changes_of_shape_and_no_rigid_motion() {
    let corners = [[0.0, 0.0, 0.0], [1.0, 0.1, 0.0], [0.0, 0.9, 0.2], [0.1, 0.0, 1.1]];
    let points = corners.map(|[x, y, z]| DVec3::new(x, y, z));
    let edges =
        DMat3::from_cols(points[1] - points[0], points[2] - points[0], points[3] - points[0]);
    let inverse = edges.inverse();
    let tet = DampedTetrahedron {
        inverse: [inverse.x_axis, inverse.y_axis, inverse.z_axis].map(vec3),
        volume: edges.determinant() / 6.0,
        damping: 0.4,
    };
    Check::<TetDamping, 4>::new(move |random| {
        let mut at = random.near(corners, 0.2);
        at.x_start = random.near(corners, 0.2).x;
        (at, tet)
    })
    .internal()
    .formula(move |at, p| {
        // Differences of C along every coordinate: C is quadratic, so that they are exact.
        let c = |x: &[Vec3<f64>; 4]| {
            let f = Mat3::from_columns(x[1] - x[0], x[2] - x[0], x[3] - x[0])
                * Mat3 { columns: p.inverse };
            let c = f.transpose() * f;
            [0, 1, 2, 3, 4, 5, 6, 7, 8].map(|k| c.entry(k / 3, k % 3))
        };
        let slopes: Vec<[f64; 9]> = (0..12)
            .map(|k| {
                let moved = |h: f64| {
                    let mut x = at.x;
                    let by = [0, 1, 2].map(|c| if c == k % 3 { h } else { 0.0 });
                    x[k / 3] += Vec3::from(by);
                    c(&x)
                };
                let (low, high) = (moved(-0.5), moved(0.5));
                std::array::from_fn(|i| high[i] - low[i])
            })
            .collect();
        let mut out = Blocks::zero();
        for i in 0..4 {
            for j in 0..4 {
                let entry = |r: usize, s: usize| {
                    let (a, b) = (&slopes[3 * i + r], &slopes[3 * j + s]);
                    a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>() * p.volume * p.damping / at.dt
                };
                let column = |s: usize| Vec3::new(entry(0, s), entry(1, s), entry(2, s));
                out.hessian[i][j] = Mat3::from_columns(column(0), column(1), column(2));
            }
        }
        out
    })
    .run();
    let turn = glam::DQuat::from_scaled_axis(DVec3::new(0.3, -1.0, 2.0));
    let at = At {
        x: points.map(|p| vec3(turn * p + DVec3::ONE)),
        x_start: points.map(vec3),
        v_start: [Vec3::zero(); 4],
        dt: 0.01,
    };
    let mut out = Blocks::zero();
    TetDamping::closed_form(&at, &tet, &mut out);
    assert!(out.gradient.iter().all(|g| g.norm() < 1e-12), "{:?}", out.gradient);
}
