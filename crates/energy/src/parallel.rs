//! Edges that become parallel: their pair fades, and the ends of the edges, which are pairs of their own, take over.
//!
//! The distance between two edges has a kink where they are parallel, because the closest points jump from one end to
//! the other. So any law of the gap is multiplied there by
//!
//! ```text
//! m(s) = s (2 - s)   for s = sin^2 / 1e-3 < 1,    1 otherwise
//! ```
//!
//! with the sine of the angle between the edges, 1.8 degrees where it sets in: smooth, and 0 for parallel edges (Li and
//! others, "Incremental potential contact", 2020, section 5 of the supplement, in terms of the angle alone).

use crate::batch::Batch;
use crate::contacts::{Row, RowKind, separation};
use crate::element::{At, Blocks, Element};
use crate::fields;
use crate::site::ContactParameters;
use gusset_scalar::{Mat3, Scalar, Vec3};
use std::marker::PhantomData;

/// `sin^2` of the angle below which a pair of edges fades.
const SETS_IN: f64 = 1e-3;

/// A law of the gap between two surfaces, active below `dhat` (m).
pub trait GapLaw: Send + Sync + 'static {
    /// Energy (J).
    fn energy<S: Scalar>(gap: S, dhat: S, stiffness: S) -> S;
    /// First derivative (N).
    fn slope<S: Scalar>(gap: S, dhat: S, stiffness: S) -> S;
    /// Second derivative (N/m).
    fn curvature<S: Scalar>(gap: S, dhat: S, stiffness: S) -> S;
}

impl Row {
    /// Whether the row is of two edges so nearly parallel that it fades.
    pub fn fades(&self) -> bool {
        self.kind == RowKind::EdgeEdge && self.sine_squared < SETS_IN
    }

    /// The factor on the law of this row's gap, where `parameters` ask for one.
    pub fn mollifier(&self, parameters: &ContactParameters) -> f64 {
        if parameters.mollify && self.fades() {
            let s = self.sine_squared / SETS_IN;
            return s * (2.0 - s);
        }
        1.0
    }
}

/// `sin^2` of the angle between the edges `x0 x1` and `x2 x3`.
#[inline(always)]
pub fn sine_squared<S: Scalar>(x: &[Vec3<S>; 4]) -> S {
    let (u, v) = (x[1] - x[0], x[3] - x[2]);
    u.cross(v).norm_squared() / (u.norm_squared() * v.norm_squared())
}

fields! {
    /// A pair of edges that are nearly parallel.
    pub struct Fading<S> {
        /// Weights of the closest points.
        pub weights: [S; 4],
        /// Distance that counts as touching (m).
        pub offset: S,
        /// Gap below which the law acts (m).
        pub dhat: S,
        /// Its stiffness (N/m).
        pub stiffness: S,
    }
}

/// A law of the gap between two edges that fades as they become parallel: `E = m(s) L(g)`.
///
/// The assembled Hessian is `m L'' w_i w_j n n^T + 2 m' L J^T J`, where `J` is the derivative of
/// `u x v / (|u| |v| sqrt(1e-3))` at fixed lengths of the edges `u`, `v`: positive semi-definite, without the mixed terms.
pub struct NearParallel<L>(PhantomData<L>);

impl<L: GapLaw> Element<4> for NearParallel<L> {
    type Params<S: Scalar> = Fading<S>;
    const CLOSED_FORM: bool = true;

    fn energy<S: Scalar>(at: &At<S, 4>, p: &Fading<S>) -> S {
        let gap = separation(&at.x, &p.weights).norm() - p.offset;
        let s = sine_squared(&at.x) / S::lit(SETS_IN);
        // Beyond the edge of its validity a row stays what it is, and behind the surface the law alone decides.
        let s = s.min(S::lit(1.0));
        let law = L::energy(gap, p.dhat, p.stiffness);
        S::select_lt(S::lit(0.0), gap, s * (S::lit(2.0) - s) * law, law)
    }

    #[inline(always)]
    fn closed_form<S: Scalar>(at: &At<S, 4>, p: &Fading<S>, out: &mut Blocks<4, S>) {
        let r = separation(&at.x, &p.weights);
        let distance = r.norm();
        let (n, gap) = (r / distance, distance - p.offset);
        let law = L::energy(gap, p.dhat, p.stiffness);
        let force = L::slope(gap, p.dhat, p.stiffness);
        let bend = L::curvature(gap, p.dhat, p.stiffness).max(S::lit(0.0));

        let (u, v) = (at.x[1] - at.x[0], at.x[3] - at.x[2]);
        let (uu, vv, uv) = (u.norm_squared(), v.norm_squared(), u.dot(v));
        let w = u.cross(v);
        let scale = (uu * vv * S::lit(SETS_IN)).recip();
        let s = (w.norm_squared() * scale).min(S::lit(1.0));
        let (m, slope) = (s * (S::lit(2.0) - s), (S::lit(1.0) - s) * 2.0);
        // Derivatives of s by the two edges, and of m.
        let by_u = (v.cross(w) * scale - u * (s / uu)) * (slope * 2.0 * law);
        let by_v = (w.cross(u) * scale - v * (s / vv)) * (slope * 2.0 * law);
        let turning = [-by_u, by_u, -by_v, by_v];

        let across = n.outer(n) * (bend * m);
        let stiff = slope * 2.0 * law * scale;
        let one = Mat3::identity();
        let of_u = (one * vv - v.outer(v)) * stiff;
        let of_v = (one * uu - u.outer(u)) * stiff;
        let mixed = (u.outer(v) - one * uv) * stiff;
        let sign = [S::lit(-1.0), S::lit(1.0), S::lit(-1.0), S::lit(1.0)];
        for i in 0..4 {
            out.gradient[i] = n * (force * m * p.weights[i]) + turning[i];
            for j in i..4 {
                let turn = match (i < 2, j < 2) {
                    (true, true) => of_u,
                    (false, false) => of_v,
                    _ => mixed,
                };
                out.hessian[i][j] =
                    across * (p.weights[i] * p.weights[j]) + turn * (sign[i] * sign[j]);
            }
        }
    }
}

/// The batch of those rows that fade; its kind is `kind`, as in "barrier-parallel".
pub fn near_parallel<L: GapLaw>(
    kind: &'static str,
    label: String,
    parameters: ContactParameters,
) -> Batch<NearParallel<L>, 4> {
    let ContactParameters { dhat, stiffness, .. } = parameters;
    Batch::new(kind, label, []).with_rows(move |contacts, stencils| {
        for row in contacts.rows.iter().filter(|row| row.gap < dhat && row.fades()) {
            let (weights, offset) = (row.weights, row.offset);
            stencils.push(row.vertices, &Fading { weights, offset, dhat, stiffness });
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{Check, Random};

    struct Quadratic;

    impl GapLaw for Quadratic {
        fn energy<S: Scalar>(gap: S, dhat: S, stiffness: S) -> S {
            stiffness * 0.5 * (dhat - gap).square()
        }

        fn slope<S: Scalar>(gap: S, dhat: S, stiffness: S) -> S {
            stiffness * (gap - dhat)
        }

        fn curvature<S: Scalar>(_: S, _: S, stiffness: S) -> S {
            stiffness
        }
    }

    /// Two edges 1 cm long, `gap` (m) apart and at an angle whose sine is `sine`.
    fn edges(random: &mut Random, gap: f64, sine: f64) -> (At<f64, 4>, Fading<f64>) {
        let mut at = random.at(1e-2);
        let along = random.vector(1.0).normalized();
        let n = random.vector(1.0).cross(along).normalized();
        let turned = along * (1.0 - sine * sine).sqrt() + n.cross(along) * sine;
        let middle = random.vector(1e-2);
        at.x = [
            middle - along * 4e-3,
            middle + along * 6e-3,
            middle + n * gap - turned * 5e-3,
            middle + n * gap + turned * 5e-3,
        ];
        let weights = [0.6, 0.4, -0.5, -0.5];
        (at, Fading { weights, offset: 0.0, dhat: 1e-3, stiffness: 1e3 })
    }

    #[test]
    fn derivatives() {
        Check::<NearParallel<Quadratic>, 4>::new(|random| {
            let (gap, sine) = (random.within(0.1e-3, 0.9e-3), random.within(2e-3, 3e-2));
            edges(random, gap, sine)
        })
        .internal()
        .formula(|at, p| {
            let r = separation(&at.x, &p.weights);
            let (n, gap) = (r.normalized(), r.norm());
            let (u, v) = (at.x[1] - at.x[0], at.x[3] - at.x[2]);
            let s = sine_squared(&at.x) / SETS_IN;
            let (m, slope) = (s * (2.0 - s), 2.0 * (1.0 - s));
            let law = Quadratic::energy(gap, p.dhat, p.stiffness);
            // J by its definition, one column of a displaced vertex at a time.
            let column = |k: usize, axis: usize| {
                let mut e = Vec3::zero();
                e[axis] = if k.is_multiple_of(2) { -1.0 } else { 1.0 };
                let moved = if k < 2 { e.cross(v) } else { u.cross(e) };
                moved / (u.norm() * v.norm() * SETS_IN.sqrt())
            };
            let mut out = Blocks::zero();
            for i in 0..4 {
                for j in 0..4 {
                    let along = m * p.stiffness * p.weights[i] * p.weights[j];
                    out.hessian[i][j] = n.outer(n) * along;
                    for a in 0..3 {
                        for b in 0..3 {
                            let turn = column(i, a).dot(column(j, b));
                            out.hessian[i][j].columns[b][a] += 2.0 * slope * law * turn;
                        }
                    }
                }
            }
            out
        })
        .run();
    }

    #[test]
    fn a_fading_pair_is_whole_where_fading_sets_in_and_gone_when_parallel() {
        let mut random = Random::new(7);
        let energy = |random: &mut Random, sine: f64| {
            let (at, p) = edges(random, 0.5e-3, sine);
            NearParallel::<Quadratic>::energy(&at, &p)
        };
        let whole = 0.5 * 1e3 * 0.5e-3_f64.powi(2);
        for sine in [SETS_IN.sqrt(), 0.1, 1.0] {
            assert!((energy(&mut random, sine) / whole - 1.0).abs() < 1e-9, "{sine}");
        }
        assert!(energy(&mut random, 0.0) < 1e-20 * whole);
        assert!((energy(&mut random, (0.5 * SETS_IN).sqrt()) / whole - 0.75).abs() < 1e-9);
    }
}
