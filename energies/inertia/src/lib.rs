//! Inertia and constant forces, as the energy of one implicit Euler step:
//!
//! ```text
//! E = m |x - y|^2 / (2 dt^2),    y = x_start + dt v_start + dt^2 (g + f/m)
//! ```
//!
//! Its gradient is zero where the particle moves as if nothing else acted on it. (Martin, Thomaszewski, Grinspun and
//! Gross, "Example-based elastic materials", 2011, equation 3; bag article, section 4.)

use glam::DVec3;
use gusset_energy::{
    At, Blocks, BuildError, Element, Energy, Mat3, OneOrEach, Psd, Scalar, Selection, Site, Terms,
    Vec3, Window, fields, register, vec3,
};
use gusset_mesh::Mobility;
use gusset_units::{Force, Time};

/// Inertia, gravity and constant forces on the free vertices of a body.
#[derive(Debug, Default, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Inertia {
    /// When gravity sets in: one time, or one per vertex. From the start when absent.
    #[serde(default)]
    gravity_from: Option<OneOrEach<Time>>,
    /// Constant force on every vertex.
    #[serde(default)]
    force: Option<[Force; 3]>,
    /// Constant forces on some vertices, in addition.
    #[serde(default)]
    loads: Vec<Load>,
}

/// A constant force on each of some vertices.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Load {
    /// Vertices that it acts on.
    vertices: Selection,
    /// Force on each of them.
    force: [Force; 3],
}

fields! {
    /// A particle.
    pub struct Particle<S> {
        /// Mass (kg).
        pub mass: S,
        /// Gravity (m/s^2).
        pub gravity: Vec3<S>,
        /// Constant force (N).
        pub force: Vec3<S>,
    }
}

impl Element<1> for Inertia {
    type Params<S: Scalar> = Particle<S>;
    const PSD: Psd = Psd::Exact;
    const CLOSED_FORM: bool = true;
    const WIDE: bool = true;

    fn energy<S: Scalar>(at: &At<S, 1>, p: &Particle<S>) -> S {
        let y = target(at, p);
        p.mass * (at.x[0] - y).norm_squared() / (at.dt * at.dt * 2.0)
    }

    #[inline(always)]
    fn closed_form<S: Scalar>(at: &At<S, 1>, p: &Particle<S>, out: &mut Blocks<1, S>) {
        let stiffness = p.mass / (at.dt * at.dt);
        out.gradient[0] = (at.x[0] - target(at, p)) * stiffness;
        out.hessian[0][0] = Mat3::identity() * stiffness;
    }
}

/// Where the particle would go on its own.
#[inline(always)]
fn target<S: Scalar>(at: &At<S, 1>, p: &Particle<S>) -> Vec3<S> {
    let velocity = at.v_start[0] + (p.gravity + p.force / p.mass) * at.dt;
    at.x_start[0] + velocity * at.dt
}

impl Energy for Inertia {
    const KIND: &'static str = "inertia";
    const ABOUT: &'static str = "Inertia, gravity and constant forces of free vertices";

    fn build(self, site: &Site<'_>, out: &mut Terms) -> Result<(), BuildError> {
        let body = site.body()?;
        let moving: Vec<u32> = (0..body.vertex_count() as u32)
            .filter(|&v| body.mobility[v as usize] == Mobility::Free)
            .collect();
        if let Some(v) = moving.iter().find(|&&v| body.mass[v as usize].max(0.0) == 0.0) {
            return Err(BuildError::other(format!(
                "{} is free and has a mass of {} kg: give it mass (is it part of no element?) or fix it",
                site.world.describe(v + body.first),
                body.mass[*v as usize]
            )));
        }
        let force = self.forces(site)?;
        let gravity = vec3(site.gravity);
        let mut batch = site.batch::<Self, 1>(moving.iter().map(|&v| {
            let (mass, force) = (body.mass[v as usize], vec3(force[v as usize]));
            ([v], Particle { mass, gravity, force })
        }))?;
        if let Some(from) = self.gravity_from {
            let from = from.map(|time| Window::after(time.si(site.units)));
            let from = from.each(body.vertex_count(), "gravity_from")?;
            let from: Vec<Window> = moving.iter().map(|&v| from[v as usize]).collect();
            batch = batch.with_schedule(Window::ALWAYS, move |t, k, particle| {
                particle.gravity = if from[k].holds(t) { gravity } else { Vec3::zero() };
            });
        }
        out.push(batch);
        Ok(())
    }
}

impl Inertia {
    /// The constant force on each vertex of the body (N).
    fn forces(&self, site: &Site<'_>) -> Result<Vec<DVec3>, BuildError> {
        let body = site.body()?;
        let si = |force: [Force; 3]| DVec3::from_array(force.map(|f| f.si(site.units)));
        let mut forces = vec![self.force.map_or(DVec3::ZERO, si); body.vertex_count()];
        for load in &self.loads {
            for v in load.vertices.resolve(body, site.units, "loads")? {
                forces[v as usize] += si(load.force);
            }
        }
        Ok(forces)
    }
}

register!(Inertia);

#[cfg(test)]
mod tests;
