//! Damping of a solid by the rate of `C = F^T F`, over one step of implicit Euler the energy
//!
//! ```text
//! E = V c/(2 dt) sum_ab (C_ab - C_ab(start))^2
//! ```
//!
//! The assembled Hessian is Gauss-Newton's, `V c/dt sum_ab dC_ab dC_ab^T`; rigid motion is not damped.

use gusset_energy::{At, Blocks, Element, Mat3, Scalar, Vec3, fields};

fields! {
    /// A tetrahedron that resists changes of shape.
    pub struct DampedTetrahedron<S> {
        /// Inverse of the rest edges from vertex 0, by column (1/m).
        pub inverse: [Vec3<S>; 3],
        /// Rest volume (m^3).
        pub volume: S,
        /// Stress per rate of `C` (Pa s).
        pub damping: S,
    }
}

/// Damping of a solid.
pub struct TetDamping;

impl<S: Scalar> DampedTetrahedron<S> {
    #[inline(always)]
    fn deformation(&self, x: &[Vec3<S>; 4]) -> Mat3<S> {
        Mat3::from_columns(x[1] - x[0], x[2] - x[0], x[3] - x[0]) * Mat3 { columns: self.inverse }
    }

    /// `C - C(start)`.
    #[inline(always)]
    fn change(&self, at: &At<S, 4>) -> [[S; 3]; 3] {
        let [now, start] = [&at.x, &at.x_start].map(|x| self.deformation(x).columns);
        std::array::from_fn(|a| {
            std::array::from_fn(|b| now[a].dot(now[b]) - start[a].dot(start[b]))
        })
    }
}

impl Element<4> for TetDamping {
    type Params<S: Scalar> = DampedTetrahedron<S>;
    const CLOSED_FORM: bool = true;

    fn energy<S: Scalar>(at: &At<S, 4>, p: &DampedTetrahedron<S>) -> S {
        let c = p.change(at);
        let diagonal = c[0][0].square() + c[1][1].square() + c[2][2].square();
        let beside = c[0][1].square() + c[1][2].square() + c[2][0].square();
        p.volume * p.damping * (diagonal + beside * 2.0) / (at.dt * 2.0)
    }

    #[inline(always)]
    fn closed_form<S: Scalar>(at: &At<S, 4>, p: &DampedTetrahedron<S>, out: &mut Blocks<4, S>) {
        let f = p.deformation(&at.x).columns;
        let change = p.change(at);
        let scale = p.volume * p.damping / at.dt;
        let rows = Mat3 { columns: p.inverse }.transpose().columns.map(Vec3::to_array);
        let weights: [[S; 3]; 4] = std::array::from_fn(|i| {
            std::array::from_fn(|k| match i {
                0 => -(rows[0][k] + rows[1][k] + rows[2][k]),
                _ => rows[i - 1][k],
            })
        });
        // dC_ab/dx_i = m_a f_b + m_b f_a
        let slope = |i: usize, a: usize, b: usize| f[b] * weights[i][a] + f[a] * weights[i][b];
        *out = Blocks::zero();
        for a in 0..3 {
            for b in a..3 {
                let scale = if a == b { scale } else { scale * 2.0 };
                let slopes: [Vec3<S>; 4] = std::array::from_fn(|i| slope(i, a, b));
                for i in 0..4 {
                    let scaled = slopes[i] * scale;
                    out.gradient[i] += scaled * change[a][b];
                    for j in i..4 {
                        out.hessian[i][j] = out.hessian[i][j] + scaled.outer(slopes[j]);
                    }
                }
            }
        }
    }
}
