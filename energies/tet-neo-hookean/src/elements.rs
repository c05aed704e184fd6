//! The two laws.

use crate::isotropic::{Principal, assemble};
use crate::path;
use gusset_energy::{At, Blocks, Element, Mat3, Scalar, Vec3, fields};

fields! {
    /// A tetrahedron.
    pub struct Tetrahedron<S> {
        /// Inverse of the rest edges from vertex 0, by column (1/m).
        pub inverse: [Vec3<S>; 3],
        /// Rest volume (m^3).
        pub volume: S,
        /// Shear modulus (Pa).
        pub mu: S,
        /// Second Lamé constant (Pa).
        pub lambda: S,
    }
}

impl<S: Scalar> Tetrahedron<S> {
    /// `F`.
    #[inline(always)]
    pub fn deformation(&self, x: &[Vec3<S>; 4]) -> Mat3<S> {
        Mat3::from_columns(x[1] - x[0], x[2] - x[0], x[3] - x[0]) * Mat3 { columns: self.inverse }
    }
}

impl<S: Scalar> Tetrahedron<S> {
    /// The row by which a corner moves `F`: `dF = dx m^T` (1/m).
    #[inline(always)]
    fn row(&self, corner: usize) -> Vec3<S> {
        let rows = Mat3 { columns: self.inverse }.transpose().columns;
        match corner {
            0 => -(rows[0] + rows[1] + rows[2]),
            _ => rows[corner - 1],
        }
    }
}

/// What both laws are made of, each without loss of digits near rest.
struct Strain<S> {
    /// `J^2 - 1`.
    dilation: S,
    /// `2 I2 + 4 I3` of Green's strain.
    second: S,
}

fn strain<S: Scalar>(f: Mat3<S>) -> Strain<S> {
    let [a, b, c] = f.columns;
    let e = [(a, a), (b, b), (c, c)].map(|(u, v)| (u.dot(v) - 1.0) * 0.5);
    let [e23, e31, e12] = [(b, c), (c, a), (a, b)].map(|(u, v)| u.dot(v) * 0.5);
    let i2 = e[0] * e[1] + e[1] * e[2] + e[2] * e[0] - e12 * e12 - e23 * e23 - e31 * e31;
    let i3 = e[0] * (e[1] * e[2] - e23 * e23) - e12 * (e12 * e[2] - e23 * e31)
        + e31 * (e12 * e23 - e[1] * e31);
    let second = i2 * 2.0 + i3 * 4.0;
    Strain { dilation: (e[0] + e[1] + e[2] + second) * 2.0, second }
}

/// Finite at zero volume and beyond.
pub struct Stable;

impl Element<4> for Stable {
    type Params<S: Scalar> = Tetrahedron<S>;
    const CLOSED_FORM: bool = true;
    const VERTEX_BLOCK: bool = true;

    fn energy<S: Scalar>(at: &At<S, 4>, p: &Tetrahedron<S>) -> S {
        let f = p.deformation(&at.x);
        let (j, Strain { dilation, second }) = (f.det(), strain(f));
        // J - 1 = (J^2 - 1)/(J + 1) keeps its digits near J = 1, and is only used there.
        let near_rest = dilation / (j + 1.0);
        let growth = S::select_lt((j - 1.0).abs(), S::lit(0.5), near_rest, j - 1.0);
        p.volume * ((p.lambda + p.mu * 2.0) * 0.5 * growth * growth - p.mu * second)
    }

    #[inline(always)]
    fn closed_form<S: Scalar>(at: &At<S, 4>, p: &Tetrahedron<S>, out: &mut Blocks<4, S>) {
        let f = p.deformation(&at.x);
        let (mu, bulk) = (p.mu, p.lambda + p.mu);
        let pressure = |j: S| bulk * (j - 1.0) - mu; // lambda' (J - alpha)
        let stress = f * mu + f.cofactor() * pressure(f.det());
        let principal = |[s1, s2, s3]: [S; 3]| {
            let pressure = pressure(s1 * s2 * s3);
            let area = [s2 * s3, s3 * s1, s1 * s2]; // dJ/ds_i
            let s = [s1, s2, s3];
            Principal {
                hessian: std::array::from_fn(|a| {
                    std::array::from_fn(|b| {
                        let own = if a == b { mu } else { pressure * s[3 - a - b] };
                        own + bulk * area[a] * area[b]
                    })
                }),
                twist: s.map(|s| mu + pressure * s),
                flip: s.map(|s| mu - pressure * s),
            }
        };
        assemble(p, f, stress, principal, out);
    }

    /// `V [mu |m|^2 I + lambda' (cof F m)(cof F m)^T]`: along one vertex's motion the second derivative of `J` vanishes.
    #[inline(always)]
    fn vertex_block<S: Scalar>(
        at: &At<S, 4>,
        p: &Tetrahedron<S>,
        _: &[S],
        corner: usize,
    ) -> (Vec3<S>, Mat3<S>) {
        let (f, m, bulk) = (p.deformation(&at.x), p.row(corner), p.lambda + p.mu);
        let area = f.cofactor() * m; // dJ/dx
        let force = f * m * p.mu + area * (bulk * (f.det() - 1.0) - p.mu);
        let round = Mat3::identity() * (p.mu * m.norm_squared());
        (force * p.volume, (round + area.outer(area) * bulk) * p.volume)
    }
}

/// Infinite at zero volume.
pub struct Log;

impl Element<4> for Log {
    type Params<S: Scalar> = Tetrahedron<S>;
    const CLOSED_FORM: bool = true;
    const VERTEX_BLOCK: bool = true;
    const BOUNDS_STEP: bool = true;

    fn energy<S: Scalar>(at: &At<S, 4>, p: &Tetrahedron<S>) -> S {
        let f = p.deformation(&at.x);
        let Strain { dilation, second } = strain(f);
        let log_j = dilation.max(S::lit(-1.0)).ln_1p() * 0.5;
        let shear = (dilation * 0.5 - log_j) - second;
        let density = p.mu * shear + p.lambda * 0.5 * log_j * log_j;
        p.volume * S::select_lt(S::lit(0.0), f.det(), density, S::lit(f64::INFINITY))
    }

    #[inline(always)]
    fn closed_form<S: Scalar>(at: &At<S, 4>, p: &Tetrahedron<S>, out: &mut Blocks<4, S>) {
        let f = p.deformation(&at.x);
        let (mu, lambda) = (p.mu, p.lambda);
        let log_j = strain(f).dilation.max(S::lit(-1.0)).ln_1p() * 0.5;
        let pressure = lambda * log_j - mu;
        let stress = f * mu + f.cofactor() * (pressure / f.det());
        let principal = |s: [S; 3]| Principal {
            hessian: std::array::from_fn(|a| {
                std::array::from_fn(|b| {
                    let own = if a == b { mu - pressure / (s[a] * s[a]) } else { S::lit(0.0) };
                    own + lambda / (s[a] * s[b])
                })
            }),
            twist: std::array::from_fn(|c| mu + pressure / (s[(c + 1) % 3] * s[(c + 2) % 3])),
            flip: std::array::from_fn(|c| mu - pressure / (s[(c + 1) % 3] * s[(c + 2) % 3])),
        };
        assemble(p, f, stress, principal, out);
    }

    /// `V [mu |m|^2 I + (lambda (1 - log J) + mu)/J^2 (cof F m)(cof F m)^T]`.
    #[inline(always)]
    fn vertex_block<S: Scalar>(
        at: &At<S, 4>,
        p: &Tetrahedron<S>,
        _: &[S],
        corner: usize,
    ) -> (Vec3<S>, Mat3<S>) {
        let (f, m) = (p.deformation(&at.x), p.row(corner));
        let log_j = strain(f).dilation.max(S::lit(-1.0)).ln_1p() * 0.5;
        let pressure = p.lambda * log_j - p.mu;
        let growth = f.cofactor() * m / f.det(); // d(log J)/dx
        let round = p.mu * m.norm_squared();
        // The only eigenvalue that can be negative belongs to the direction of growth.
        let along = (p.lambda - pressure).max(-round / growth.norm_squared());
        let block = Mat3::identity() * round + growth.outer(growth) * along;
        ((f * m * p.mu + growth * pressure) * p.volume, block * p.volume)
    }

    fn max_step(x: &[Vec3<f64>; 4], dx: &[Vec3<f64>; 4], _: &Tetrahedron<f64>) -> f64 {
        path::max_step(x, dx)
    }
}
