//! Where the held vertices are to go.

use crate::{Circle, Support, TargetKey};
use glam::{DVec2, DVec3, Vec3Swizzles as _};
use gusset_energy::{BuildError, Curve, OneOrEach, Path, Site};
use gusset_units::Length;

/// Where the targets are, one per held vertex.
pub(crate) enum Targets {
    /// Start positions carried by a rigid motion.
    Carried(Path, Vec<DVec3>),
    /// Each on its own way.
    Keyed(Vec<Curve<3>>),
    /// Fixed.
    Still(Vec<DVec3>),
}

impl Targets {
    /// The target (m) of the `k`-th held vertex at time `t` (s).
    pub(crate) fn at(&self, t: f64, k: usize) -> DVec3 {
        match self {
            Self::Carried(path, start) => path.at(t, start[k]),
            Self::Keyed(curves) => DVec3::from_array(curves[k].at(t)),
            Self::Still(start) => start[k],
        }
    }
}

impl Support {
    /// Targets of the vertices `held` of a body whose positions at the start (m) are `body`.
    pub(crate) fn targets(
        &self,
        body: &[DVec3],
        held: &[u32],
        site: &Site<'_>,
    ) -> Result<Targets, BuildError> {
        let start: Vec<DVec3> = held.iter().map(|&v| body[v as usize]).collect();
        match (&self.motion, self.targets.is_empty()) {
            (Some(motion), true) => Ok(Targets::Carried(motion.path(site.units, "motion")?, start)),
            (None, true) => Ok(Targets::Still(start)),
            (Some(_), false) => {
                Err(BuildError::value("targets", "a support takes either `motion` or `targets`"))
            }
            (None, false) => {
                let middle = body.iter().sum::<DVec3>() / body.len() as f64;
                let directions: Vec<DVec2> =
                    start.iter().map(|p| (p.xy() - middle.xy()).normalize_or_zero()).collect();
                let mut keys = Vec::with_capacity(self.targets.len());
                for key in &self.targets {
                    keys.push((key.time.si(site.units), key.positions(&directions, site)?));
                }
                let curve = |k: usize| {
                    let through = keys.iter().map(|(time, at)| (*time, at[k].to_array()));
                    Curve::new(through, self.interpolation, "targets")
                };
                Ok(Targets::Keyed((0..held.len()).map(curve).collect::<Result<_, _>>()?))
            }
        }
    }
}

impl TargetKey {
    /// One target (m) for each of the horizontal `directions` in which the held vertices start.
    fn positions(&self, directions: &[DVec2], site: &Site<'_>) -> Result<Vec<DVec3>, BuildError> {
        let count = directions.len();
        let time = self.time.si(site.units);
        let wrong = |found: String| BuildError::value("targets", format!("at {time} s: {found}"));
        match (&self.circle, &self.positions[..]) {
            (Some(circle), []) => circle.positions(directions, site),
            (None, [one]) => Ok(vec![point(*one, site); count]),
            (None, each) if each.len() == count => {
                Ok(each.iter().map(|p| point(*p, site)).collect())
            }
            (None, []) => Err(wrong("neither `positions` nor a `circle`".to_owned())),
            (None, some) => Err(wrong(format!(
                "{} positions where {count} are needed, or one for all",
                some.len()
            ))),
            (Some(_), _) => Err(wrong("give either `positions` or a `circle`".to_owned())),
        }
    }
}

fn point(position: [Length; 3], site: &Site<'_>) -> DVec3 {
    DVec3::from_array(position.map(|c| c.si(site.units)))
}

impl Circle {
    fn positions(&self, directions: &[DVec2], site: &Site<'_>) -> Result<Vec<DVec3>, BuildError> {
        let along = |lengths: &OneOrEach<Length>, what: &str| {
            let lengths = lengths.clone().map(|l| l.si(site.units));
            lengths
                .cycled(directions.len())
                .map_err(|found| BuildError::value("targets", format!("`{what}` {found}")))
        };
        let (radius, height) = (along(&self.radius, "radius")?, along(&self.height, "height")?);
        let centre = DVec2::from_array(self.centre.map(|c| c.si(site.units)));
        let place = |k: usize| (centre + directions[k] * radius[k]).extend(height[k]);
        Ok((0..directions.len()).map(place).collect())
    }
}
