//! Hookean springs along every edge of a body: an energy to copy.
//!
//! `E = 1/2 k l (d/l - 1)^2` with the stiffness `k`, the rest length `l` and the length `d = |x_1 - x_0|`.

use gusset_energy::{At, BuildError, Element, Energy, Scalar, Site, Terms, fields, register};

/// Hookean springs along every edge of a body.
#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spring {
    /// Force per strain: Young's modulus times cross-section.
    stiffness: gusset_units::Force,
}

fields! { pub struct Edge<S> { rest: S, stiffness: S } }

impl Element<2> for Spring {
    type Params<S: Scalar> = Edge<S>;

    fn energy<S: Scalar>(at: &At<S, 2>, p: &Edge<S>) -> S {
        let strain = (at.x[1] - at.x[0]).norm() / p.rest - 1.0;
        p.stiffness * p.rest * strain * strain * 0.5
    }
}

impl Energy for Spring {
    const KIND: &'static str = "spring";
    const ABOUT: &'static str = "Hookean springs along every edge of a body";

    fn build(self, site: &Site<'_>, out: &mut Terms) -> Result<(), BuildError> {
        let (body, stiffness) = (site.body()?, self.stiffness.si(site.units));
        let rest = |e: &[u32; 2]| body.rest[e[0] as usize].distance(body.rest[e[1] as usize]);
        let edges = body.topology.edges.iter().map(|e| (*e, Edge { rest: rest(e), stiffness }));
        out.push(site.batch::<Spring, 2>(edges)?);
        Ok(())
    }
}

register!(Spring);
