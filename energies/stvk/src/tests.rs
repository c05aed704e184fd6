use super::*;
use glam::DVec3;
use gusset_energy::check::Check;
use gusset_energy::{Mat3, Vec3, vec3};
use nalgebra::{Matrix3x2, SMatrix};

const REST: [DVec3; 3] =
    [DVec3::ZERO, DVec3::new(0.02, 0.001, 0.0), DVec3::new(0.004, 0.015, 0.003)];

fn triangle() -> Triangle<f64> {
    Triangle { rest: Film::at_rest(REST), mu: 3258.62, lambda: 5332.29 }
}

#[test]
fn derivatives_for_small_and_large_strains() {
    let x = REST.map(vec3);
    for size in [2e-4, 2e-3, 6e-3] {
        Check::<StVK, 3>::new(move |random| {
            (random.near(REST.map(|p| p.to_array()), size), triangle())
        })
        .internal()
        .rest(At { x, x_start: x, v_start: [Vec3::zero(); 3], dt: 0.01 }, triangle())
        .formula(|at, p| documented(&at.x, p))
        .run();
    }
}

/// The documented Hessian the long way: `A [dF : D : dF + tr(dF S+ dF^T)]` with an eigen-decomposition of `S`.
fn documented(x: &[Vec3<f64>; 3], p: &Triangle<f64>) -> Blocks<3> {
    let [a, b, c] = p.rest.inverse;
    let rows = [[-a, -b - c], [a, b], [0.0, c]];
    let f = p.rest.deformation(x);
    let f = Matrix3x2::from_fn(|r, k| f.columns[k][r]);
    let one = SMatrix::<f64, 2, 2>::identity();
    let stress_of = |e: &SMatrix<f64, 2, 2>| e * (2.0 * p.mu) + one * (p.lambda * e.trace());
    let eigen = stress_of(&((f.transpose() * f - one) * 0.5)).symmetric_eigen();
    let plus = eigen.eigenvectors
        * SMatrix::<f64, 2, 2>::from_diagonal(&eigen.eigenvalues.map(|v| v.max(0.0)))
        * eigen.eigenvectors.transpose();
    let df = |k: usize| Matrix3x2::from_fn(|r, c| if r == k % 3 { rows[k / 3][c] } else { 0.0 });
    let de = |k: usize| (f.transpose() * df(k) + df(k).transpose() * f) * 0.5;
    let form = |i: usize, j: usize| stress_of(&de(i)).dot(&de(j)) + (df(i) * plus).dot(&df(j));
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
fn agrees_with_its_formula_in_simple_shear() {
    // F = I + g e1 e2^T: eps = [[0, g/2], [g/2, g^2/2]]
    let (g, l) = (0.1, 0.01);
    let rest = [DVec3::ZERO, DVec3::X * l, DVec3::Y * l];
    let x = rest.map(|p| vec3(DVec3::new(p.x + g * p.y, p.y, 0.0)));
    let p = Triangle { rest: Film::at_rest(rest), mu: 2.0, lambda: 3.0 };
    let energy = StVK::energy(&At { x, x_start: x, v_start: x, dt: 0.01 }, &p);
    let density = 2.0 * (g * g / 2.0 + g.powi(4) / 4.0) + 1.5 * (g * g / 2.0_f64).powi(2);
    assert!((energy / (0.5 * l * l * density) - 1.0).abs() < 1e-12);
}
