//! Drag against still surroundings, with the velocity from the start of the step:
//!
//! ```text
//! force = -c m v_start,    E = c m v_start . (x - x_start)
//! ```
//!
//! The force is explicit, so its energy is linear in the positions and has no Hessian (bag article, section 3). A step
//! takes the fraction `c dt` of the velocity: keep that well below 1.

use gusset_energy::{
    At, Blocks, BuildError, Element, Energy, Psd, Scalar, Site, Terms, fields, non_negative,
    register,
};
use gusset_mesh::Mobility;
use gusset_units::Rate;

/// Drag in proportion to mass and velocity.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Drag {
    /// Rate at which free motion decays, 12 per second when absent.
    #[serde(default = "default_rate")]
    rate: Rate,
}

fn default_rate() -> Rate {
    Rate::new_si(12.0)
}

fields! {
    /// A particle in still air.
    pub struct Particle<S> {
        /// Drag per velocity, `c m` (kg/s).
        pub drag: S,
    }
}

impl Element<1> for Drag {
    type Params<S: Scalar> = Particle<S>;
    const PSD: Psd = Psd::Exact;
    const CLOSED_FORM: bool = true;

    fn energy<S: Scalar>(at: &At<S, 1>, p: &Particle<S>) -> S {
        p.drag * at.v_start[0].dot(at.x[0] - at.x_start[0])
    }

    #[inline(always)]
    fn closed_form<S: Scalar>(at: &At<S, 1>, p: &Particle<S>, out: &mut Blocks<1, S>) {
        *out = Blocks::zero();
        out.gradient[0] = at.v_start[0] * p.drag;
    }
}

impl Energy for Drag {
    const KIND: &'static str = "drag";
    const ABOUT: &'static str = "Explicit drag in proportion to mass and velocity";

    fn build(self, site: &Site<'_>, out: &mut Terms) -> Result<(), BuildError> {
        let body = site.body()?;
        let rate = non_negative(self.rate.si(site.units), "rate", "1/s")?;
        let free = |v: &u32| body.mobility[*v as usize] == Mobility::Free;
        out.push(
            site.batch::<Self, 1>(
                (0..body.vertex_count() as u32)
                    .filter(free)
                    .map(|v| ([v], Particle { drag: rate * body.mass[v as usize] })),
            )?,
        );
        Ok(())
    }
}

register!(Drag);

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DVec3;
    use gusset_energy::check::Check;
    use gusset_energy::{Local, StepState, Want, fixture};
    use gusset_mesh::{Role, World};

    #[test]
    fn derivatives() {
        Check::<Drag, 1>::new(|random| {
            (random.at(1.0), Particle { drag: random.within(0.1, 2.0) })
        })
        .run();
    }

    #[test]
    fn force_is_against_the_velocity_of_the_start() {
        let mut body = fixture::body("film", Role::Points, &[DVec3::ZERO, DVec3::X], &[]);
        body.mass = vec![0.5, 1.0];
        body.mobility[1] = Mobility::Fixed;
        let world = World::new(vec![body]);
        let terms = fixture::build::<Drag>("", &fixture::site(&world)).unwrap();
        assert_eq!(terms[0].stencils(), [0]);
        let (x, v) = ([DVec3::ZERO; 2], [DVec3::new(0.0, 2.0, -1.0); 2]);
        let mut local = Local::default();
        let state = StepState { x: &x, x_start: &x, v_start: &v, dt: 0.01 };
        local.eval(&*terms[0], &state, Want::Hessian);
        assert_eq!(local.gradient, [0.0, 12.0, -6.0]); // minus the force -12 * 0.5 * v
        assert_eq!(local.hessian, [0.0; 9]);
        assert!(fixture::build::<Drag>("rate = '-12 1/s'", &fixture::site(&world)).is_err());
    }
}
