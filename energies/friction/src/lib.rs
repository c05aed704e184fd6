//! Coulomb friction with normal forces and directions from the start of the step:
//!
//! ```text
//! E = load (sqrt(t.t + eps^2) - eps)       t = (I - n n^T) sum w_i (x_i - x_start_i)
//! load = mu_f * normal force               eps = dt * friction_speed
//! ```
//!
//! The force `load t/sqrt(t.t + eps^2)` opposes the sliding `t` of the step and reaches the Coulomb limit at sliding
//! speeds well above `friction_speed`. (Bag article, section 4; Li and others, "Incremental potential contact", 2020,
//! section 5, use another smoothing.) Normal forces, weights and normals are those of the step's start: rows that
//! become active within a step push at once and rub from the next step on.
//!
//! The smoothing has a price: under a static tangential load F below the limit, the contact creeps at the speed
//! `friction_speed F/sqrt(load^2 - F^2)`.
//!
//! The energy is convex, so its exact Hessian is used: with `s = sqrt(t.t + eps^2)`, the block of vertices i and j is
//! `w_i w_j load [(I - n n^T)/s - t t^T/s^3]`.

use gusset_energy::{
    At, Batch, Blocks, BuildError, ContactParameters, Element, Energy, Mat3, Psd, Scalar, Site,
    Terms, Vec3, fields, register, separation, vec3,
};

/// Coulomb friction between all surfaces, with `friction` and `friction_speed` of the scene's `[contact]`.
#[derive(Debug, Default, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Friction {}

fields! {
    /// A pair of primitives that rub.
    pub struct Pair<S> {
        /// Weights of the closest points at the start of the step.
        pub weights: [S; 4],
        /// Unit normal at the start of the step.
        pub normal: Vec3<S>,
        /// Coulomb limit: coefficient times normal force (N).
        pub load: S,
        /// Sliding speed of the smoothing (m/s).
        pub speed: S,
    }
}

fields! {
    /// A particle that rubs on a slab.
    pub struct Face<S> {
        /// Unit normal out of the slab.
        pub normal: Vec3<S>,
        /// Coulomb limit: coefficient times normal force (N).
        pub load: S,
        /// Sliding speed of the smoothing (m/s).
        pub speed: S,
    }
}

/// Smoothed length of the sliding `t`, `sqrt(t.t + eps^2) - eps`, written without the difference: it is 0 at rest and
/// keeps its digits near it.
fn length<S: Scalar>(t: Vec3<S>, eps: S) -> S {
    t.norm_squared() / (t.norm_eps(eps) + eps)
}

/// The part of `u` along the surface.
#[inline(always)]
fn tangential<S: Scalar>(u: Vec3<S>, n: Vec3<S>) -> Vec3<S> {
    u - n * n.dot(u)
}

/// Force (N) and stiffness (N/m) by the sliding `t`.
#[inline(always)]
fn derivatives<S: Scalar>(t: Vec3<S>, n: Vec3<S>, load: S, eps: S) -> (Vec3<S>, Mat3<S>) {
    let s = t.norm_eps(eps);
    let stiffness = load / s;
    let unit = t / s;
    (t * stiffness, (Mat3::identity() - n.outer(n) - unit.outer(unit)) * stiffness)
}

/// Friction of a pair of primitives.
pub struct RowFriction;

/// Motion of the first closest point relative to the second one since the start of the step.
#[inline(always)]
fn motion<S: Scalar>(at: &At<S, 4>, w: &[S; 4]) -> Vec3<S> {
    separation(&std::array::from_fn(|i| at.x[i] - at.x_start[i]), w)
}

impl Element<4> for RowFriction {
    type Params<S: Scalar> = Pair<S>;
    const PSD: Psd = Psd::Exact;
    const CLOSED_FORM: bool = true;

    fn energy<S: Scalar>(at: &At<S, 4>, p: &Pair<S>) -> S {
        let t = tangential(motion(at, &p.weights), p.normal);
        p.load * length(t, at.dt * p.speed)
    }

    #[inline(always)]
    fn closed_form<S: Scalar>(at: &At<S, 4>, p: &Pair<S>, out: &mut Blocks<4, S>) {
        let w = p.weights;
        let t = tangential(motion(at, &w), p.normal);
        let (force, stiffness) = derivatives(t, p.normal, p.load, at.dt * p.speed);
        for i in 0..4 {
            out.gradient[i] = force * w[i];
            for j in i..4 {
                out.hessian[i][j] = stiffness * (w[i] * w[j]);
            }
        }
    }
}

/// Friction of a particle on a slab.
pub struct SlabFriction;

impl Element<1> for SlabFriction {
    type Params<S: Scalar> = Face<S>;
    const PSD: Psd = Psd::Exact;
    const CLOSED_FORM: bool = true;

    fn energy<S: Scalar>(at: &At<S, 1>, p: &Face<S>) -> S {
        let t = tangential(at.x[0] - at.x_start[0], p.normal);
        p.load * length(t, at.dt * p.speed)
    }

    #[inline(always)]
    fn closed_form<S: Scalar>(at: &At<S, 1>, p: &Face<S>, out: &mut Blocks<1, S>) {
        let t = tangential(at.x[0] - at.x_start[0], p.normal);
        let (force, stiffness) = derivatives(t, p.normal, p.load, at.dt * p.speed);
        out.gradient[0] = force;
        out.hessian[0][0] = stiffness;
    }
}

impl Energy for Friction {
    const KIND: &'static str = "friction";
    const ABOUT: &'static str = "Coulomb friction with normal forces of the step's start";

    fn build(self, site: &Site<'_>, out: &mut Terms) -> Result<(), BuildError> {
        let ContactParameters { friction, friction_speed: speed, .. } = site.contact()?;
        if !(friction >= 0.0 && speed > 0.0) {
            return Err(BuildError::other(format!(
                "`[contact]` has friction = {friction} and friction_speed = {speed} m/s; friction needs a coefficient \
                 of 0 or more and a speed above 0"
            )));
        }
        if friction == 0.0 {
            return Ok(());
        }
        let pairs = Batch::<RowFriction, 4>::new(Self::KIND, site.label(), []).with_lag(
            move |contacts, lagged, stencils| {
                for (row, &force) in contacts.rows.iter().zip(&lagged.normal_force) {
                    if force > 0.0 {
                        let (weights, normal) = (row.weights, vec3(row.normal));
                        let pair = Pair { weights, normal, load: friction * force, speed };
                        stencils.push(row.vertices, &pair);
                    }
                }
            },
        );
        out.push(pairs);
        if site.world.bodies.iter().any(|body| body.slab.is_some()) {
            let label = format!("{} at slabs", site.label());
            let faces = Batch::<SlabFriction, 1>::new("friction-slab", label, []).with_lag(
                move |contacts, lagged, stencils| {
                    for (row, &force) in contacts.slabs.iter().zip(&lagged.slab_normal_force) {
                        if force > 0.0 {
                            let face =
                                Face { normal: vec3(row.normal), load: friction * force, speed };
                            stencils.push([row.vertex], &face);
                        }
                    }
                },
            );
            out.push(faces);
        }
        Ok(())
    }
}

register!(Friction);

#[cfg(test)]
mod tests;
