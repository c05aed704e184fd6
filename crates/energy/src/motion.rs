//! Rigid motion through keyframes: targets of supports and prescribed motion of obstacles.

use crate::curve::{Curve, Interpolation};
use crate::site::BuildError;
use glam::{DQuat, DVec3};
use gusset_units::{Length, Time, Units};
use schemars::JsonSchema;
use serde::Deserialize;

/// One instant of a motion.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Key {
    /// When.
    pub time: Time,
    /// Displacement from the start.
    #[serde(default)]
    pub translate: Option<[Length; 3]>,
    /// Angle about the motion's axis since the start, in degrees.
    #[serde(default)]
    pub rotate: Option<f64>,
}

/// Keyframed rigid motion: rotation about an axis through a pivot, then translation. Before the first key its value
/// holds, after the last one its value too.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Motion {
    /// The keys, in order of time.
    pub keys: Vec<Key>,
    /// How values go from one key to the next.
    #[serde(default)]
    pub interpolation: Interpolation,
    /// Direction of the rotation axis; needs no unit length.
    #[serde(default)]
    pub axis: Option<[f64; 3]>,
    /// A point on the rotation axis; the origin when absent.
    #[serde(default)]
    pub pivot: Option<[Length; 3]>,
}

/// A [`Motion`] in SI units, ready to evaluate.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// Translation (m) and angle (rad).
    curve: Curve<4>,
    axis: DVec3,
    pivot: DVec3,
}

impl Motion {
    /// Converts to SI units; `key` is the scene key that errors point at.
    pub fn path(&self, units: &Units, key: &'static str) -> Result<Path, BuildError> {
        let axis = match self.axis {
            Some(axis) => DVec3::from_array(axis).try_normalize().ok_or_else(|| {
                BuildError::value(key, format!("the axis {axis:?} has no direction"))
            })?,
            None if self.keys.iter().any(|k| k.rotate.is_some()) => {
                return Err(BuildError::value(key, "a motion that rotates needs an `axis`"));
            }
            None => DVec3::Z,
        };
        let vector = |v: Option<[Length; 3]>| v.map_or([0.0; 3], |v| v.map(|c| c.si(units)));
        let keys = self.keys.iter().map(|k| {
            let [x, y, z] = vector(k.translate);
            (k.time.si(units), [x, y, z, k.rotate.unwrap_or(0.0).to_radians()])
        });
        let pivot = DVec3::from_array(vector(self.pivot));
        if !pivot.is_finite() {
            return Err(BuildError::value(key, format!("the pivot {pivot} must be finite")));
        }
        Ok(Path { curve: Curve::new(keys, self.interpolation, key)?, axis, pivot })
    }
}

impl Path {
    /// Steady motion: velocity (m/s) from time 0 on.
    pub fn steady(velocity: DVec3, until: f64) -> Self {
        let end = velocity * until;
        let curve = Curve::line((0.0, [0.0; 4]), (until, [end.x, end.y, end.z, 0.0]));
        Self { curve, axis: DVec3::Z, pivot: DVec3::ZERO }
    }

    /// Where a point that starts at `point` is at time `t` (s).
    pub fn at(&self, t: f64, point: DVec3) -> DVec3 {
        let [x, y, z, angle] = self.curve.at(t);
        let arm = point - self.pivot;
        let turned =
            if angle == 0.0 { arm } else { DQuat::from_axis_angle(self.axis, angle) * arm };
        self.pivot + turned + DVec3::new(x, y, z)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotates_about_its_pivot() {
        let curve = Curve::line((0.0, [0.0; 4]), (1.0, [1.0, 0.0, 0.0, 1.0]));
        let path = Path { curve, axis: DVec3::Z, pivot: DVec3::X };
        let p = path.at(1.0, DVec3::new(2.0, 0.0, 0.0));
        assert!((p - DVec3::new(2.0 + 1.0_f64.cos(), 1.0_f64.sin(), 0.0)).length() < 1e-12);
    }
}
