//! Projected Hessians of isotropic solids, from their principal stretches.
//!
//! With `F = U diag(s) V^T` (rotations U and V, the last stretch negative for an inverted element), the second variation
//! of an isotropic energy density falls apart in the frame `dG = U^T dF V`: one 3x3 form on the diagonal of `dG`, whose
//! matrix is the Hessian of the density by the stretches, and for each pair (a, b) a twist `(dG_ab - dG_ba)/sqrt 2` and a
//! flip `(dG_ab + dG_ba)/sqrt 2`. (Smith, de Goes and Kim, "Analytic eigensystems for isotropic distortion energies",
//! 2019, section 4.)

use crate::eigen;
use crate::elements::Tetrahedron;
use gusset_energy::{Blocks, Mat3, Scalar, Vec3};

/// Second derivatives of an isotropic density by the principal stretches (Pa).
pub struct Principal<S> {
    /// Hessian by the stretches.
    pub hessian: [[S; 3]; 3],
    /// Eigenvalue of the twist in the plane across each axis: `(psi_a + psi_b)/(s_a + s_b)`.
    pub twist: [S; 3],
    /// Eigenvalue of the flip in the plane across each axis: `(psi_a - psi_b)/(s_a - s_b)`.
    pub flip: [S; 3],
}

/// `F = U diag(s) V^T` with rotations U and V; only the smallest stretch can be negative.
pub struct Stretches<S> {
    /// U.
    pub left: Mat3<S>,
    /// s, in falling order of magnitude.
    pub values: [S; 3],
    /// V.
    pub right: Mat3<S>,
}

impl<S: Scalar> Stretches<S> {
    /// Of any matrix, singular ones included.
    pub fn of(f: Mat3<S>) -> Self {
        let [a, b, c] = f.columns;
        let (ab, bc, ca) = (a.dot(b), b.dot(c), c.dot(a));
        let metric = [[a.dot(a), ab, ca], [ab, b.dot(b), bc], [ca, bc, c.dot(c)]];
        let (values, axes) = eigen::symmetric(metric);
        let (_, [v1, v2, _]) = eigen::sorted(values, axes);
        let right = Mat3::from_columns(v1, v2, v1.cross(v2));
        let [f1, f2, f3] = (f * right).columns;
        let u1 = direction(f1, Vec3::lit([1.0, 0.0, 0.0]));
        let u2 = direction(f2 - u1 * u1.dot(f2), across(u1));
        let u3 = u1.cross(u2);
        let values = [u1.dot(f1), u2.dot(f2), u3.dot(f3)];
        Self { left: Mat3::from_columns(u1, u2, u3), values, right }
    }
}

/// Unit vector along `v`, or the other where `v` is zero.
fn direction<S: Scalar>(v: Vec3<S>, other: Vec3<S>) -> Vec3<S> {
    let length = v.norm();
    Vec3::select_lt(S::lit(f64::MIN_POSITIVE.sqrt()), length, v / length, other)
}

/// Some unit vector normal to the unit vector `u`.
fn across<S: Scalar>(u: Vec3<S>) -> Vec3<S> {
    let (x, y) = (Vec3::lit([1.0, 0.0, 0.0]), Vec3::lit([0.0, 1.0, 0.0]));
    let axis = Vec3::select_lt(u.x.abs(), S::lit(0.6), x, y);
    u.cross(axis).normalized()
}

/// Gradient and projected Hessian of `volume * psi(F)` from the first Piola stress and the law's second derivatives by
/// the stretches.
pub fn assemble<S: Scalar>(
    p: &Tetrahedron<S>,
    f: Mat3<S>,
    stress: Mat3<S>,
    law: impl Fn([S; 3]) -> Principal<S>,
    out: &mut Blocks<4, S>,
) {
    let zero = S::lit(0.0);
    let Stretches { left, values, right } = Stretches::of(f);
    let principal = law(values);
    let diagonal = positive_part(principal.hessian);
    // On the pair (a, b) across axis c: mean (dG_ab^2 + dG_ba^2) + 2 half dG_ab dG_ba, each times 1/2.
    let (twist, flip) = (principal.twist.map(|t| t.max(zero)), principal.flip.map(|f| f.max(zero)));
    let mean: [S; 3] = std::array::from_fn(|c| (flip[c] + twist[c]) * 0.5);
    let half: [S; 3] = std::array::from_fn(|c| (flip[c] - twist[c]) * 0.5);

    // Vertex i moves F by dx_i m_i^T, with m_i the rows of the inverse rest edges; in the frame, by (U^T dx_i)(V^T m_i)^T.
    let [r1, r2, r3] = Mat3 { columns: p.inverse }.transpose().columns;
    let rows = [r1, r2, r3];
    let framed = rows.map(|m| (right.transpose() * m).to_array());
    let back = left.transpose();
    for i in 0..3 {
        out.gradient[i + 1] = stress * rows[i] * p.volume;
        for j in i..3 {
            let (m, n) = (framed[i], framed[j]);
            let entry = |a: usize, b: usize| {
                if a == b {
                    let (c, d) = ((a + 1) % 3, (a + 2) % 3);
                    // dG_ac belongs to the pair across d, dG_ad to the one across c.
                    diagonal[a][a] * m[a] * n[a] + mean[d] * m[c] * n[c] + mean[c] * m[d] * n[d]
                } else {
                    diagonal[a][b] * m[a] * n[b] + half[3 - a - b] * m[b] * n[a]
                }
            };
            let row = |a: usize| Vec3::new(entry(a, 0), entry(a, 1), entry(a, 2)) * p.volume;
            out.hessian[i + 1][j + 1] = left * Mat3::from_rows(row(0), row(1), row(2)) * back;
        }
    }
    close(out);
}

/// Vertex 0 takes what is left: gradients and rows of blocks sum to zero.
fn close<S: Scalar>(out: &mut Blocks<4, S>) {
    let [_, g1, g2, g3] = out.gradient;
    out.gradient[0] = -(g1 + g2 + g3);
    let h = &mut out.hessian;
    let (h12, h13, h23) = (h[1][2], h[1][3], h[2][3]);
    h[0][1] = -(h[1][1] + h12.transpose() + h13.transpose());
    h[0][2] = -(h12 + h[2][2] + h23.transpose());
    h[0][3] = -(h13 + h23 + h[3][3]);
    h[0][0] = -(h[0][1] + h[0][2] + h[0][3]);
}

/// The part of a symmetric 3x3 matrix with positive eigenvalues.
fn positive_part<S: Scalar>(m: [[S; 3]; 3]) -> [[S; 3]; 3] {
    let zero = S::lit(0.0);
    // Sylvester's criterion: positive definite where all of these are above 0.
    let minor = m[0][0] * m[1][1] - m[0][1] * m[0][1];
    let det = Mat3::from_columns(m[0].into(), m[1].into(), m[2].into()).det();
    let least = m[0][0].min(minor).min(det);
    if S::known_le(S::lit(f64::MIN_POSITIVE), least) {
        return m;
    }
    let (values, axes) = eigen::symmetric(m);
    let plus = eigen::compose(values.map(|v| v.max(zero)), axes);
    let part = |r: usize, c: usize| S::select_lt(zero, least, m[r][c], plus.entry(r, c));
    std::array::from_fn(|r| std::array::from_fn(|c| part(r, c)))
}
