//! Rigid motion through keyframes: targets of supports and prescribed motion of obstacles.

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

/// How values go from one key to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Interpolation {
    /// Straight lines.
    #[default]
    Linear,
    /// A cubic through the keys with continuous velocity, at rest at both ends.
    Smooth,
    /// At rest at every key, with the quintic of least jerk between them.
    MinimumJerk,
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
    times: Vec<f64>,
    /// Translation [m] and angle [rad] per key.
    values: Vec<[f64; 4]>,
    interpolation: Interpolation,
    axis: DVec3,
    pivot: DVec3,
}

impl Motion {
    /// Converts to SI units; `key` is the scene key that errors point at.
    pub fn path(&self, units: &Units, key: &'static str) -> Result<Path, BuildError> {
        let times: Vec<f64> = self.keys.iter().map(|k| k.time.si(units)).collect();
        if times.is_empty() {
            return Err(BuildError::value(key, "a motion needs at least one key"));
        }
        if let Some(k) = times.windows(2).position(|t| t[1] <= t[0] || t[1].is_nan()) {
            return Err(BuildError::value(
                key,
                format!(
                    "key {} is at {} s, not after key {k} at {} s; keys stand in order of time",
                    k + 1,
                    times[k + 1],
                    times[k]
                ),
            ));
        }
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
        let values: Vec<[f64; 4]> = self
            .keys
            .iter()
            .map(|k| {
                let [x, y, z] = vector(k.translate);
                [x, y, z, k.rotate.unwrap_or(0.0).to_radians()]
            })
            .collect();
        if values.iter().flatten().chain(&times).any(|v| !v.is_finite()) {
            return Err(BuildError::value(key, "a motion's numbers must be finite"));
        }
        Ok(Path {
            times,
            values,
            interpolation: self.interpolation,
            axis,
            pivot: DVec3::from_array(vector(self.pivot)),
        })
    }
}

impl Path {
    /// Steady motion: velocity [m/s] from time 0 on.
    pub fn steady(velocity: DVec3, until: f64) -> Self {
        let end = velocity * until;
        Self {
            times: vec![0.0, until],
            values: vec![[0.0; 4], [end.x, end.y, end.z, 0.0]],
            interpolation: Interpolation::Linear,
            axis: DVec3::Z,
            pivot: DVec3::ZERO,
        }
    }

    /// Where a point that starts at `point` is at time `t` [s].
    pub fn at(&self, t: f64, point: DVec3) -> DVec3 {
        let [x, y, z, angle] = self.value(t);
        let arm = point - self.pivot;
        let turned = if angle == 0.0 { arm } else { DQuat::from_axis_angle(self.axis, angle) * arm };
        self.pivot + turned + DVec3::new(x, y, z)
    }

    fn value(&self, t: f64) -> [f64; 4] {
        let last = self.times.len() - 1;
        if t <= self.times[0] {
            return self.values[0];
        }
        if t >= self.times[last] {
            return self.values[last];
        }
        let k = self.times.partition_point(|&key| key <= t) - 1;
        let h = self.times[k + 1] - self.times[k];
        let s = (t - self.times[k]) / h;
        let (a, b) = (self.values[k], self.values[k + 1]);
        match self.interpolation {
            Interpolation::Linear => std::array::from_fn(|c| a[c] + s * (b[c] - a[c])),
            Interpolation::MinimumJerk => {
                let e = s * s * s * (10.0 + s * (6.0 * s - 15.0));
                std::array::from_fn(|c| a[c] + e * (b[c] - a[c]))
            }
            Interpolation::Smooth => {
                let (da, db) = (self.slope(k), self.slope(k + 1));
                let (s2, s3) = (s * s, s * s * s);
                std::array::from_fn(|c| {
                    (2.0 * s3 - 3.0 * s2 + 1.0) * a[c]
                        + (s3 - 2.0 * s2 + s) * h * da[c]
                        + (3.0 * s2 - 2.0 * s3) * b[c]
                        + (s3 - s2) * h * db[c]
                })
            }
        }
    }

    /// Velocity at a key: the mean of its two segments, 0 at the ends.
    fn slope(&self, k: usize) -> [f64; 4] {
        if k == 0 || k + 1 == self.times.len() {
            return [0.0; 4];
        }
        let h = self.times[k + 1] - self.times[k - 1];
        std::array::from_fn(|c| (self.values[k + 1][c] - self.values[k - 1][c]) / h)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(interpolation: Interpolation) -> Path {
        Path {
            times: vec![0.0, 1.0, 3.0],
            values: vec![[0.0; 4], [1.0, 0.0, 0.0, 1.0], [3.0, 2.0, 0.0, 1.0]],
            interpolation,
            axis: DVec3::Z,
            pivot: DVec3::ZERO,
        }
    }

    #[test]
    fn passes_through_its_keys_and_holds_outside() {
        use Interpolation::{Linear, MinimumJerk, Smooth};
        for interpolation in [Linear, Smooth, MinimumJerk] {
            let path = path(interpolation);
            for (t, expected) in [(-1.0, 0.0), (0.0, 0.0), (1.0, 1.0), (3.0, 3.0), (9.0, 3.0)] {
                assert!((path.at(t, DVec3::ZERO).x - expected).abs() < 1e-15);
            }
        }
    }

    #[test]
    fn smooth_motion_has_continuous_velocity() {
        let path = path(Interpolation::Smooth);
        let speed = |t: f64| (path.value(t + 1e-6)[0] - path.value(t - 1e-6)[0]) / 2e-6;
        assert!((speed(1.0 - 1e-5) - speed(1.0 + 1e-5)).abs() < 1e-3);
        assert!(speed(1e-4).abs() < 1e-2);
    }

    #[test]
    fn rotates_about_its_pivot() {
        let path = Path { pivot: DVec3::X, ..path(Interpolation::Linear) };
        let p = path.at(1.0, DVec3::new(2.0, 0.0, 0.0));
        assert!((p - DVec3::new(2.0 + 1.0_f64.cos() - 1.0 + 1.0, 1.0_f64.sin(), 0.0)).length() < 1e-12);
    }
}
