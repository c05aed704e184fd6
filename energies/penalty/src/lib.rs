//! Quadratic penalty, for comparison with the barrier:
//!
//! ```text
//! E = 1/2 k p^2
//! ```
//!
//! At slabs `p` is the depth behind the nearest face and 0 in front of it: nothing acts before the particle is inside,
//! and one that comes closer to the back face than to the front face is pushed out at the back (ball-and-wall article,
//! section 2). Between surfaces `p = max(0, dhat - g)` with the gap `g = |r| - offset`: the force sets in at the distance
//! `dhat`, as for the barrier, but stays finite where surfaces meet, so it does not keep them apart.
//!
//! The assembled Hessian is `k n n^T` at slabs and `k w_i w_j n n^T` between surfaces, wherever `p > 0`.

use gusset_energy::{
    At, Batch, Blocks, BuildError, ContactParameters, Contacts, Element, Energy, GapLaw, Lagged,
    Psd, Row, Scalar, Site, Terms, Vec3, fields, near_parallel, register, separation, vec3,
};

/// Quadratic penalty between all surfaces, with `dhat` and `stiffness` of the scene's `[contact]`.
#[derive(Debug, Default, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Penalty {}

fields! {
    /// A pair of primitives.
    pub struct Pair<S> {
        /// Weights of the closest points.
        pub weights: [S; 4],
        /// Distance below which the penalty acts: `offset + dhat` (m).
        pub reach: S,
        /// `k` (N/m).
        pub stiffness: S,
    }
}

/// The penalty of a pair of primitives.
pub struct RowPenalty;

impl Element<4> for RowPenalty {
    type Params<S: Scalar> = Pair<S>;
    const CLOSED_FORM: bool = true;

    fn energy<S: Scalar>(at: &At<S, 4>, p: &Pair<S>) -> S {
        let depth = (p.reach - separation(&at.x, &p.weights).norm()).max(S::lit(0.0));
        p.stiffness * 0.5 * depth * depth
    }

    #[inline(always)]
    fn closed_form<S: Scalar>(at: &At<S, 4>, p: &Pair<S>, out: &mut Blocks<4, S>) {
        let r = separation(&at.x, &p.weights);
        let distance = r.norm();
        let zero = S::lit(0.0);
        let (n, depth) = (r / distance, (p.reach - distance).max(zero));
        let across = n.outer(n) * S::select_lt(zero, depth, p.stiffness, zero);
        let w = p.weights;
        for i in 0..4 {
            out.gradient[i] = n * (-p.stiffness * depth * w[i]);
            for j in i..4 {
                out.hessian[i][j] = across * (w[i] * w[j]);
            }
        }
    }
}

fields! {
    /// A particle behind a face of a slab.
    pub struct Face<S> {
        /// Unit normal out of the slab.
        pub normal: Vec3<S>,
        /// Where the penalty sets in: `n.p` of the face's points plus the offset (m).
        pub plane: S,
        /// `k` (N/m).
        pub stiffness: S,
    }
}

/// The penalty of a particle behind a face of a slab.
pub struct SlabPenalty;

impl Element<1> for SlabPenalty {
    type Params<S: Scalar> = Face<S>;
    const PSD: Psd = Psd::Exact;
    const CLOSED_FORM: bool = true;

    fn energy<S: Scalar>(at: &At<S, 1>, p: &Face<S>) -> S {
        let depth = (p.plane - p.normal.dot(at.x[0])).max(S::lit(0.0));
        p.stiffness * 0.5 * depth * depth
    }

    #[inline(always)]
    fn closed_form<S: Scalar>(at: &At<S, 1>, p: &Face<S>, out: &mut Blocks<1, S>) {
        let zero = S::lit(0.0);
        let (n, depth) = (p.normal, (p.plane - p.normal.dot(at.x[0])).max(zero));
        out.gradient[0] = n * (-p.stiffness * depth);
        out.hessian[0][0] = n.outer(n) * S::select_lt(zero, depth, p.stiffness, zero);
    }
}

/// The law of the gap, for pairs that fade.
pub struct Law;

impl GapLaw for Law {
    fn energy<S: Scalar>(gap: S, dhat: S, stiffness: S) -> S {
        stiffness * 0.5 * (dhat - gap).max(S::lit(0.0)).square()
    }

    fn slope<S: Scalar>(gap: S, dhat: S, stiffness: S) -> S {
        -stiffness * (dhat - gap).max(S::lit(0.0))
    }

    fn curvature<S: Scalar>(gap: S, dhat: S, stiffness: S) -> S {
        S::select_lt(gap, dhat, stiffness, S::lit(0.0))
    }
}

impl Energy for Penalty {
    const KIND: &'static str = "penalty";
    const ABOUT: &'static str = "Quadratic penalty that pushes surfaces apart, without a guarantee";

    fn build(self, site: &Site<'_>, out: &mut Terms) -> Result<(), BuildError> {
        let contact = site.contact()?;
        let ContactParameters { dhat, stiffness, mollify, .. } = contact;

        let pairs = Batch::<RowPenalty, 4>::new(Self::KIND, site.label(), [])
            .with_rows(move |contacts, stencils| {
                let whole = |row: &&Row| row.gap < dhat && !(mollify && row.fades());
                for row in contacts.rows.iter().filter(whole) {
                    let (weights, reach) = (row.weights, row.offset + dhat);
                    stencils.push(row.vertices, &Pair { weights, reach, stiffness });
                }
            })
            .with_publish(move |contacts: &Contacts, lagged: &mut Lagged| {
                lagged.normal_force.resize(contacts.rows.len(), 0.0);
                for (sum, row) in lagged.normal_force.iter_mut().zip(&contacts.rows) {
                    *sum += stiffness * (dhat - row.gap).max(0.0) * row.mollifier(&contact);
                }
            });
        out.push(pairs);
        if mollify {
            let label = format!("{} of parallel edges", site.label());
            out.push(near_parallel::<Law>("penalty-parallel", label, contact));
        }

        if site.world.bodies.iter().any(|body| body.slab.is_some()) {
            let label = format!("{} at slabs", site.label());
            let faces = Batch::<SlabPenalty, 1>::new("penalty-slab", label, [])
                .with_rows(move |contacts, stencils| {
                    for row in contacts.slabs.iter().filter(|row| row.gap < 0.0) {
                        let (normal, plane) = (vec3(row.normal), row.plane + row.offset);
                        stencils.push([row.vertex], &Face { normal, plane, stiffness });
                    }
                })
                .with_publish(move |contacts: &Contacts, lagged: &mut Lagged| {
                    lagged.slab_normal_force.resize(contacts.slabs.len(), 0.0);
                    for (sum, row) in lagged.slab_normal_force.iter_mut().zip(&contacts.slabs) {
                        *sum += stiffness * (-row.gap).max(0.0);
                    }
                });
            out.push(faces);
        }
        Ok(())
    }
}

register!(Penalty);

#[cfg(test)]
mod tests;
