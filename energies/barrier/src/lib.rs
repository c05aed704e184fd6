//! Logarithmic barrier between surfaces, in the distance itself:
//!
//! ```text
//! B(g) = -k (g - dhat)^2 log(g/dhat)     0 < g < dhat        r = sum w_i x_i,  g = |r| - offset
//!      = 0                               dhat <= g
//!      = infinite                        g <= 0
//! ```
//!
//! for each contact row: `w` are the weights of the two closest points, so the gap's gradient is `w_i n` with
//! `n = r/|r|`. (Bag article, section 4; Li and others, "Incremental potential contact", 2020, equation 6, is the same
//! function of the squared distance.) The assembled Hessian is `B'' w_i w_j n n^T`: only the positive curvature along
//! the normal.
//!
//! Rows of slabs have `g = n.x - plane - offset` and the same law. Where the scene asks for it, rows of two edges fade as
//! these become parallel ([`NearParallel`](gusset_energy::NearParallel)).

use gusset_energy::{
    At, Batch, Blocks, BuildError, ContactParameters, Contacts, Element, Energy, GapLaw, Lagged,
    Psd, Row, Scalar, Site, Terms, Vec3, fields, near_parallel, register, separation, vec3,
};

/// Logarithmic barrier between all surfaces, with `dhat` and `stiffness` of the scene's `[contact]`.
#[derive(Debug, Default, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Barrier {}

/// `B(g)` (J).
pub fn barrier<S: Scalar>(gap: S, dhat: S, stiffness: S) -> S {
    // Clamped before the logarithm: 0 beyond dhat, infinite (not NaN) behind the surface.
    let gap = gap.max(S::lit(0.0)).min(dhat);
    -stiffness * (gap - dhat).square() * (gap / dhat).ln()
}

/// `B'(g)` (N).
pub fn slope<S: Scalar>(gap: S, dhat: S, stiffness: S) -> S {
    let (a, log) = (gap - dhat, (gap / dhat).ln());
    let inside = -stiffness * (a * 2.0 * log + a * a / gap);
    S::select_lt(a, S::lit(0.0), inside, S::lit(0.0))
}

/// `B''(g)` (N/m).
pub fn curvature<S: Scalar>(gap: S, dhat: S, stiffness: S) -> S {
    let (a, log) = (gap - dhat, (gap / dhat).ln());
    let inside = -stiffness * (log * 2.0 + a * 4.0 / gap - (a / gap).square());
    S::select_lt(a, S::lit(0.0), inside, S::lit(0.0))
}

fields! {
    /// A pair of primitives.
    pub struct Pair<S> {
        /// Weights of the closest points.
        pub weights: [S; 4],
        /// Distance that counts as touching (m).
        pub offset: S,
        /// Gap below which the barrier acts (m).
        pub dhat: S,
        /// `k` (N/m).
        pub stiffness: S,
    }
}

/// The barrier of a pair of primitives.
pub struct RowBarrier;

impl Element<4> for RowBarrier {
    type Params<S: Scalar> = Pair<S>;
    const CLOSED_FORM: bool = true;

    fn energy<S: Scalar>(at: &At<S, 4>, p: &Pair<S>) -> S {
        barrier(separation(&at.x, &p.weights).norm() - p.offset, p.dhat, p.stiffness)
    }

    #[inline(always)]
    fn closed_form<S: Scalar>(at: &At<S, 4>, p: &Pair<S>, out: &mut Blocks<4, S>) {
        let r = separation(&at.x, &p.weights);
        let distance = r.norm();
        let (n, gap) = (r / distance, distance - p.offset);
        let force = slope(gap, p.dhat, p.stiffness);
        let across = n.outer(n) * curvature(gap, p.dhat, p.stiffness).max(S::lit(0.0));
        let w = p.weights;
        for i in 0..4 {
            out.gradient[i] = n * (force * w[i]);
            for j in i..4 {
                out.hessian[i][j] = across * (w[i] * w[j]);
            }
        }
    }
}

fields! {
    /// A particle in front of a slab.
    pub struct Face<S> {
        /// Unit normal out of the slab.
        pub normal: Vec3<S>,
        /// `n.p` of the face's points (m).
        pub plane: S,
        /// Distance that counts as touching (m).
        pub offset: S,
        /// Gap below which the barrier acts (m).
        pub dhat: S,
        /// `k` (N/m).
        pub stiffness: S,
    }
}

/// The barrier of a particle in front of a slab.
pub struct SlabBarrier;

impl Element<1> for SlabBarrier {
    type Params<S: Scalar> = Face<S>;
    const PSD: Psd = Psd::Exact;
    const CLOSED_FORM: bool = true;

    fn energy<S: Scalar>(at: &At<S, 1>, p: &Face<S>) -> S {
        barrier(p.normal.dot(at.x[0]) - p.plane - p.offset, p.dhat, p.stiffness)
    }

    #[inline(always)]
    fn closed_form<S: Scalar>(at: &At<S, 1>, p: &Face<S>, out: &mut Blocks<1, S>) {
        let (n, gap) = (p.normal, p.normal.dot(at.x[0]) - p.plane - p.offset);
        out.gradient[0] = n * slope(gap, p.dhat, p.stiffness);
        out.hessian[0][0] = n.outer(n) * curvature(gap, p.dhat, p.stiffness);
    }
}

/// The law of the gap, for pairs that fade.
pub struct Law;

impl GapLaw for Law {
    fn energy<S: Scalar>(gap: S, dhat: S, stiffness: S) -> S {
        barrier(gap, dhat, stiffness)
    }

    fn slope<S: Scalar>(gap: S, dhat: S, stiffness: S) -> S {
        slope(gap, dhat, stiffness)
    }

    fn curvature<S: Scalar>(gap: S, dhat: S, stiffness: S) -> S {
        curvature(gap, dhat, stiffness)
    }
}

impl Energy for Barrier {
    const KIND: &'static str = "barrier";
    const ABOUT: &'static str = "Logarithmic barrier that keeps surfaces apart";

    fn build(self, site: &Site<'_>, out: &mut Terms) -> Result<(), BuildError> {
        let contact = site.contact()?;
        let ContactParameters { dhat, stiffness, mollify, .. } = contact;
        let force = move |gap: f64| -slope(gap, dhat, stiffness);

        let pairs = Batch::<RowBarrier, 4>::new(Self::KIND, site.label(), [])
            .with_rows(move |contacts, stencils| {
                let whole = |row: &&Row| row.gap < dhat && !(mollify && row.fades());
                for row in contacts.rows.iter().filter(whole) {
                    let (weights, offset) = (row.weights, row.offset);
                    stencils.push(row.vertices, &Pair { weights, offset, dhat, stiffness });
                }
            })
            .with_publish(move |contacts: &Contacts, lagged: &mut Lagged| {
                lagged.normal_force.resize(contacts.rows.len(), 0.0);
                for (sum, row) in lagged.normal_force.iter_mut().zip(&contacts.rows) {
                    *sum += force(row.gap) * row.mollifier(&contact);
                }
            });
        out.push(pairs);
        if mollify {
            let label = format!("{} of parallel edges", site.label());
            out.push(near_parallel::<Law>("barrier-parallel", label, contact));
        }

        if site.world.bodies.iter().any(|body| body.slab.is_some()) {
            let faces = Batch::<SlabBarrier, 1>::new(
                "barrier-slab",
                format!("{} at slabs", site.label()),
                [],
            )
            .with_rows(move |contacts, stencils| {
                for row in contacts.slabs.iter().filter(|row| row.gap < dhat) {
                    let (plane, offset) = (row.plane, row.offset);
                    let normal = vec3(row.normal);
                    stencils.push([row.vertex], &Face { normal, plane, offset, dhat, stiffness });
                }
            })
            .with_publish(move |contacts: &Contacts, lagged: &mut Lagged| {
                lagged.slab_normal_force.resize(contacts.slabs.len(), 0.0);
                for (sum, row) in lagged.slab_normal_force.iter_mut().zip(&contacts.slabs) {
                    *sum += force(row.gap);
                }
            });
            out.push(faces);
        }
        Ok(())
    }
}

register!(Barrier);

#[cfg(test)]
mod tests;
