use super::*;
use glam::DVec3;
use gusset_energy::check::{Check, Random};
use gusset_energy::fixture;
use gusset_energy::{Mat3, vec3};
use gusset_mesh::{Material, Role, World};
use nalgebra::{Matrix3x2, SMatrix};

/// Constants of a 30 um polyethylene film (N/m).
const MU: f64 = 3258.62;
const LAMBDA: f64 = 5332.29;

const REST: [DVec3; 3] =
    [DVec3::ZERO, DVec3::new(0.02, 0.001, 0.0), DVec3::new(0.004, 0.015, 0.003)];

fn triangle() -> Triangle<f64> {
    Triangle { rest: Film::at_rest(REST), mu: MU, lambda: LAMBDA }
}

fn near_rest(random: &mut Random, size: f64) -> At<f64, 3> {
    random.near(REST.map(|p| p.to_array()), size)
}

#[test]
fn derivatives_for_small_and_large_strains() {
    for size in [2e-4, 2e-3, 6e-3] {
        Check::<NeoHookean, 3>::new(move |random| (near_rest(random, size), triangle()))
            .internal()
            .rest(
                At {
                    x: REST.map(vec3),
                    x_start: REST.map(vec3),
                    v_start: [Vec3::zero(); 3],
                    dt: 0.01,
                },
                triangle(),
            )
            .formula(|at, p| documented(&at.x, p))
            .run();
    }
}

/// The documented Hessian the long way: through the 6x9 derivative of F, an eigen-decomposition of `C` and `S`.
fn documented(x: &[Vec3<f64>; 3], p: &Triangle<f64>) -> Blocks<3> {
    let [a, b, c] = p.rest.inverse;
    let rows = [[-a, -b - c], [a, b], [0.0, c]];
    let f = p.rest.deformation(x);
    let f = Matrix3x2::from_fn(|r, k| f.columns[k][r]);
    let metric = f.transpose() * f;
    let log_j = 0.5 * metric.determinant().ln();
    let inverse = metric.try_inverse().unwrap();
    let m = p.mu - p.lambda * log_j;
    let stress = SMatrix::<f64, 2, 2>::identity() * p.mu - inverse * m;
    let eigen = stress.symmetric_eigen();
    let plus = eigen.eigenvectors
        * SMatrix::<f64, 2, 2>::from_diagonal(&eigen.eigenvalues.map(|v| v.max(0.0)))
        * eigen.eigenvectors.transpose();
    let root = {
        let e = inverse.symmetric_eigen();
        e.eigenvectors
            * SMatrix::<f64, 2, 2>::from_diagonal(&e.eigenvalues.map(f64::sqrt))
            * e.eigenvectors.transpose()
    };
    // a = C^-1/2 deps C^-1/2 for each of the nine coordinates
    let variation: Vec<_> = (0..9)
        .map(|k| {
            let df = Matrix3x2::from_fn(|r, c| if r == k % 3 { rows[k / 3][c] } else { 0.0 });
            let de = (f.transpose() * df + df.transpose() * f) * 0.5;
            (df, root * de * root)
        })
        .collect();
    let form = |i: usize, j: usize| {
        let ((df, a), (dg, b)) = (&variation[i], &variation[j]);
        let deviator =
            |m: &SMatrix<f64, 2, 2>| m - SMatrix::<f64, 2, 2>::identity() * (0.5 * m.trace());
        (p.lambda + m).max(0.0) * a.trace() * b.trace()
            + 2.0 * m.max(0.0) * deviator(a).dot(&deviator(b))
            + (df * plus).dot(dg)
    };
    let mut out = Blocks::zero();
    for i in 0..3 {
        for j in 0..3 {
            let row = |r: usize| {
                let e = |c: usize| p.rest.area * form(3 * i + r, 3 * j + c);
                Vec3::new(e(0), e(1), e(2))
            };
            out.hessian[i][j] = Mat3::from_rows(row(0), row(1), row(2));
        }
    }
    out
}

#[test]
fn energy_keeps_its_digits_near_rest() {
    // Uniform stretch 1 + s of both axes, exactly: eps = s + s^2/2, log J = 2 log(1 + s). In powers of s,
    // E = A [4 mu (s^2/2 - s^3/6 ..) + ..]; compared with a series that is exact to 1e-16 for these s.
    for s in [1e-3_f64, 1e-5, 1e-7] {
        let mut random = Random::new(3);
        let mut worst = 0.0_f64;
        for _ in 0..200 {
            // Powers of two: a rest shape of which positions and their products are exact.
            let l = 2.0_f64.powi(-((random.within(3.0, 9.0)) as i32));
            let rest = [DVec3::ZERO, DVec3::new(l, 0.0, 0.0), DVec3::new(0.0, l, 0.0)];
            let p = Triangle { rest: Film::at_rest(rest), mu: MU, lambda: LAMBDA };
            let x = rest.map(|v| vec3(v * (1.0 + s)));
            let at = At { x, x_start: x, v_start: [Vec3::zero(); 3], dt: 0.01 };
            let stretch = (1.0 + s) - 1.0; // as rounded
            let t = stretch;
            let log = t.ln_1p();
            // s + s^2/2 - 2 log(1+s) + s + s^2/2 = 2 (s - log(1+s)) + s^2, and s - log(1+s) by its series
            let series: f64 = (2..30).map(|k| f64::powi(-t, k) / f64::from(k)).sum();
            let exact = 0.5 * l * l * (MU * (2.0 * series + t * t) + LAMBDA * 2.0 * log * log);
            worst = worst.max((NeoHookean::energy(&at, &p) / exact - 1.0).abs());
        }
        // With `tr eps - log J` as it stands, the error would be about 1e-16/s^2 (0.01 at the last of these).
        assert!(worst < 1e-15 / s, "relative error {worst:e} at a strain of {s:e}");
    }
}

#[test]
fn collapse_has_infinite_energy() {
    let x = [Vec3::zero(), Vec3::new(0.02, 0.0, 0.0), Vec3::new(0.03, 0.0, 0.0)];
    let at = At { x, x_start: x, v_start: x, dt: 0.01 };
    assert_eq!(NeoHookean::energy(&at, &triangle()), f64::INFINITY);
}

#[test]
fn small_strains_are_those_of_a_plate_under_plane_stress() {
    // Pulled along x with free sides, a film of Young's modulus E and thickness h has the tension E h per strain.
    let (young, nu, h) = (315e6, 0.45, 30e-6);
    let material = Material {
        young: Some(young),
        poisson: Some(nu),
        thickness: Some(h),
        ..Material::default()
    };
    let square = [DVec3::ZERO, DVec3::X, DVec3::new(1.0, 1.0, 0.0), DVec3::Y];
    let mut body = fixture::body("film", Role::Film, &square, &[[0, 1, 2], [0, 2, 3]]);
    body.material = material;
    let world = World::new(vec![body]);
    let terms = fixture::build::<NeoHookean>("", &fixture::site(&world)).unwrap();
    let strain = 1e-6;
    let pulled = square.map(|p| DVec3::new(p.x * (1.0 + strain), p.y * (1.0 - nu * strain), 0.0));
    let (energy, forces) = fixture::forces(&*terms[0], &square, &pulled, 0.01);
    let tension = -(forces[1].x + forces[2].x) / strain;
    assert!((tension / (young * h) - 1.0).abs() < 1e-5, "{tension}");
    assert!(forces.iter().all(|f| f.y.abs() < 1e-5 * young * h * strain));
    assert!((energy / (0.5 * young * h * strain * strain) - 1.0).abs() < 1e-5);
}

#[test]
fn constants_come_together_or_from_the_material() {
    let world = World::new(vec![fixture::body("film", Role::Film, &REST, &[[0, 1, 2]])]);
    let build = |keys: &str| {
        fixture::build::<NeoHookean>(keys, &fixture::site(&world)).err().map(|e| e.to_string())
    };
    assert_eq!(build("mu = 1e4\nlambda = '6667 N/m'"), None);
    assert_eq!(build("mu = 1e4").unwrap(), "`mu`: is given without `lambda`");
    assert!(build("").unwrap().contains("no `young`"));
    assert!(
        build("mu = 1\nlambda = -2")
            .unwrap()
            .contains("stable where mu and mu + lambda are above 0")
    );
}

#[test]
fn the_stable_law_for_small_and_large_strains() {
    for size in [2e-4, 2e-3, 6e-3] {
        let still = REST.map(vec3);
        Check::<Stable, 3>::new(move |random| (near_rest(random, size), triangle()))
            .internal()
            .rest(At { x: still, x_start: still, v_start: [Vec3::zero(); 3], dt: 0.01 }, triangle())
            .vertex_formula(|at, p, corner| {
                let [f1, f2] = p.rest.deformation(&at.x).columns;
                let [c1, c2] = p.rest.row(corner);
                let (bulk, normal) = (p.lambda + p.mu, f1.cross(f2));
                let j = normal.norm();
                let unit = normal * (1.0 / j);
                let (q, w) = (f2.cross(unit) * c1 + unit.cross(f1) * c2, f2 * c1 - f1 * c2);
                let r = (bulk * (j - 1.0 - p.mu / bulk)).max(0.0) / j;
                let round = p.mu * (c1 * c1 + c2 * c2) + r * w.norm_squared();
                let block = Mat3::identity() * round + q.outer(q) * (bulk - r) - w.outer(w) * r;
                block * p.rest.area
            })
            .run();
    }
}

#[test]
fn the_stable_law_is_exact_where_the_film_is_stretched() {
    // Where J > alpha the block of a vertex is the exact one.
    Check::<Stable, 3>::new(|random| {
        let mut at = near_rest(random, 2e-3);
        at.x = at.x.map(|x| x * 1.6);
        (at, triangle())
    })
    .run();
}

#[test]
fn the_stable_law_is_finite_without_area() {
    let line = [Vec3::new(0.0, 0.0, 0.0), Vec3::new(0.01, 0.0, 0.0), Vec3::new(0.02, 0.0, 0.0)];
    for x in [line, [Vec3::zero(); 3]] {
        let at = At { x, x_start: x, v_start: [Vec3::zero(); 3], dt: 0.01 };
        Check::<Stable, 3>::new(|random| (near_rest(random, 2e-3), triangle()))
            .vertex_formula(|at, p, corner| Stable::vertex_block(at, p, &[], corner).1)
            .degenerate(at, triangle())
            .run();
    }
}

/// All laws have the same plane stress modulus: the energy of a small uniaxial stretch.
#[test]
fn laws_agree_for_small_strains() {
    let stretched = |by: f64| {
        let turn = |p: DVec3| Vec3::new(p.x * (1.0 + by), p.y, p.z);
        let x = REST.map(turn);
        At { x, x_start: x, v_start: [Vec3::zero(); 3], dt: 0.01 }
    };
    for by in [1e-5, -1e-5] {
        let at = stretched(by);
        let (log, stable) =
            (NeoHookean::energy(&at, &triangle()), Stable::energy(&at, &triangle()));
        assert!((log / stable - 1.0).abs() < 20.0 * by.abs(), "{log} {stable}");
    }
}

#[test]
fn keys_of_the_stable_law() {
    let mut body = fixture::body("film", Role::Film, &REST, &[[0, 1, 2]]);
    body.material = Material::default();
    let world = World::new(vec![body]);
    let build = |keys: &str| fixture::build::<NeoHookean>(keys, &fixture::site(&world));
    let keys = "mu = 1\nlambda = 2\nlaw = 'stable'\ndamping = 0.1";
    assert_eq!(build(keys).unwrap().len(), 2);
    assert!(build("mu = 1\nlambda = 2\ndamping = -0.1").is_err());
    assert!(build("mu = 1\nlambda = 2\nlaw = 'linear'").is_err());
}
