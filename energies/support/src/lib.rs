//! Springs to targets in space: a hand that holds, carries and lets go.
//!
//! ```text
//! E = 1/2 k |x - target(t)|^2
//! ```
//!
//! Targets and stiffness follow keyframes; the term is gone once released (bag article, section 5).

mod targets;

use gusset_energy::{
    At, Blocks, BuildError, Curve, Element, Energy, Interpolation, Mat3, Motion, OneOrEach, Psd,
    Scalar, Selection, Site, Terms, Vec3, Window, fields, non_negative, register, vec3,
};
use gusset_units::{Length, Stiffness, Time};

/// Springs that hold vertices at targets in space.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Support {
    /// Vertices that are held.
    vertices: Selection,
    /// Stiffness of each vertex's spring: one for all, or a list.
    #[serde(default)]
    stiffness: Option<OneOrEach<Stiffness>>,
    /// Stiffness over time, in place of `stiffness`; straight lines between the keys.
    #[serde(default)]
    stiffness_keys: Vec<StiffnessKey>,
    /// Rigid motion that carries the start positions along; they stay where they are when it and `targets` are absent.
    #[serde(default)]
    motion: Option<Motion>,
    /// Targets over time, in place of `motion`.
    #[serde(default)]
    targets: Vec<TargetKey>,
    /// How `targets` go from one key to the next.
    #[serde(default)]
    interpolation: Interpolation,
    /// By how much `targets` and `stiffness_keys` come later for each vertex: one for all, or a list that is repeated
    /// along the selection. So hands act one after the other.
    #[serde(default)]
    delay: Option<OneOrEach<Time>>,
    /// When the support sets in.
    #[serde(default)]
    from: Option<Time>,
    /// When it lets go.
    #[serde(default)]
    release: Option<Time>,
}

/// The stiffness at one time.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StiffnessKey {
    /// When.
    time: Time,
    /// Stiffness of every vertex's spring.
    stiffness: Stiffness,
}

/// The targets at one time.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TargetKey {
    /// When.
    time: Time,
    /// Target of each vertex, in the order of the selection; a single one is shared by all.
    #[serde(default)]
    positions: Vec<[Length; 3]>,
    /// In place of `positions`: on a circle about a vertical axis.
    #[serde(default)]
    circle: Option<Circle>,
}

/// Targets on a circle in a horizontal plane, each vertex in the direction in which it starts as seen from the middle
/// of its body.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Circle {
    /// Where the axis stands in x and y.
    #[serde(default)]
    centre: [Length; 2],
    /// Distance from the axis: one for all, or a list that is repeated along the selection (two values make a star).
    radius: OneOrEach<Length>,
    /// Height in z: one for all, or a list that is repeated along the selection.
    height: OneOrEach<Length>,
}

fields! {
    /// A spring to a point in space.
    pub struct Spring<S> {
        /// `k` (N/m).
        pub stiffness: S,
        /// Its far end (m).
        pub target: Vec3<S>,
    }
}

impl Element<1> for Support {
    type Params<S: Scalar> = Spring<S>;
    const PSD: Psd = Psd::Exact;
    const CLOSED_FORM: bool = true;

    fn energy<S: Scalar>(at: &At<S, 1>, p: &Spring<S>) -> S {
        p.stiffness * 0.5 * (at.x[0] - p.target).norm_squared()
    }

    #[inline(always)]
    fn closed_form<S: Scalar>(at: &At<S, 1>, p: &Spring<S>, out: &mut Blocks<1, S>) {
        out.gradient[0] = (at.x[0] - p.target) * p.stiffness;
        out.hessian[0][0] = Mat3::identity() * p.stiffness;
    }
}

impl Energy for Support {
    const KIND: &'static str = "support";
    const ABOUT: &'static str = "Springs that hold vertices at moving targets";

    fn build(self, site: &Site<'_>, out: &mut Terms) -> Result<(), BuildError> {
        let body = site.body()?;
        let held = self.vertices.resolve(body, site.units, "vertices")?;
        let window = Window::new(self.from, self.release, site.units, "release")?;
        let ramp = self.ramp(site)?;
        let stiffness = match (&ramp, &self.stiffness) {
            (Some(ramp), None) => vec![ramp.at(0.0)[0]; held.len()],
            (None, Some(given)) => {
                given.clone().map(|k| k.si(site.units)).each(held.len(), "stiffness")?
            }
            _ => {
                return Err(BuildError::value(
                    "stiffness",
                    "a support takes either `stiffness` or `stiffness_keys`",
                ));
            }
        };
        for &k in &stiffness {
            non_negative(k, "stiffness", "N/m")?;
        }
        let delay = match &self.delay {
            Some(delay) => delay
                .clone()
                .map(|t| t.si(site.units))
                .cycled(held.len())
                .map_err(|found| BuildError::value("delay", found))?,
            None => vec![0.0; held.len()],
        };
        let targets = self.targets(&body.start, &held, site)?;
        let springs = held.iter().zip(&stiffness).enumerate().map(|(k, (&v, &stiffness))| {
            ([v], Spring { stiffness, target: vec3(targets.at(0.0, k)) })
        });
        let batch = site.batch::<Self, 1>(springs)?;
        out.push(batch.with_schedule(window, move |t, k, spring| {
            let t = t - delay[k];
            spring.target = vec3(targets.at(t, k));
            if let Some(ramp) = &ramp {
                spring.stiffness = ramp.at(t)[0];
            }
        }));
        Ok(())
    }
}

impl Support {
    /// Stiffness over time (N/m).
    fn ramp(&self, site: &Site<'_>) -> Result<Option<Curve<1>>, BuildError> {
        if self.stiffness_keys.is_empty() {
            return Ok(None);
        }
        let mut keys = Vec::with_capacity(self.stiffness_keys.len());
        for key in &self.stiffness_keys {
            let stiffness = non_negative(key.stiffness.si(site.units), "stiffness_keys", "N/m")?;
            keys.push((key.time.si(site.units), [stiffness]));
        }
        Curve::new(keys, Interpolation::Linear, "stiffness_keys").map(Some)
    }
}

register!(Support);

#[cfg(test)]
mod tests;
