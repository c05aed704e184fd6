//! Values that change with time: keyframes and the stretch of time in which a term is there.

use crate::site::BuildError;
use gusset_units::{Time, Units};
use schemars::JsonSchema;
use serde::Deserialize;

/// How values go from one key to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Interpolation {
    /// Straight lines.
    #[default]
    Linear,
    /// A cubic through the keys with continuous velocity that never swings past them; at rest at both ends and where
    /// a value turns.
    Smooth,
    /// At rest at every key, with the quintic of least jerk between them.
    MinimumJerk,
}

/// `K` numbers over time, through keys. Before the first key its value holds, after the last one its value too.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve<const K: usize> {
    times: Vec<f64>,
    values: Vec<[f64; K]>,
    interpolation: Interpolation,
}

impl<const K: usize> Curve<K> {
    /// A curve through `(time (s), values)` pairs; `key` is the scene key that errors point at.
    pub fn new(
        keys: impl IntoIterator<Item = (f64, [f64; K])>,
        interpolation: Interpolation,
        key: &'static str,
    ) -> Result<Self, BuildError> {
        let (times, values): (Vec<f64>, Vec<[f64; K]>) = keys.into_iter().unzip();
        if times.is_empty() {
            return Err(BuildError::value(key, "needs at least one key"));
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
        if values.iter().flatten().chain(&times).any(|v| !v.is_finite()) {
            return Err(BuildError::value(key, "keys must be finite numbers"));
        }
        Ok(Self { times, values, interpolation })
    }

    /// Straight from the first pair to the second.
    pub(crate) fn line(from: (f64, [f64; K]), to: (f64, [f64; K])) -> Self {
        Self {
            times: vec![from.0, to.0],
            values: vec![from.1, to.1],
            interpolation: Interpolation::Linear,
        }
    }

    /// The values at time `t` (s).
    pub fn at(&self, t: f64) -> [f64; K] {
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

    /// Velocity at a key: the harmonic mean of its two segments, weighted by their lengths, or 0 where they differ in
    /// sign (Fritsch and Butland, A method for constructing local monotone piecewise cubic interpolants, 1984).
    fn slope(&self, k: usize) -> [f64; K] {
        if k == 0 || k + 1 == self.times.len() {
            return [0.0; K];
        }
        let before = self.times[k] - self.times[k - 1];
        let after = self.times[k + 1] - self.times[k];
        std::array::from_fn(|c| {
            let from = (self.values[k][c] - self.values[k - 1][c]) / before;
            let to = (self.values[k + 1][c] - self.values[k][c]) / after;
            if from * to <= 0.0 {
                return 0.0;
            }
            let (w1, w2) = (before + 2.0 * after, 2.0 * before + after);
            (w1 + w2) / (w1 / from + w2 / to)
        })
    }
}

/// When a term is there: in the steps that end after `from` and not after `until`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    from: f64,
    until: f64,
}

impl Window {
    /// All the time.
    pub const ALWAYS: Self = Self { from: f64::NEG_INFINITY, until: f64::INFINITY };

    /// Times of steps are sums of roundings; no step is as short as this (s).
    const SLACK: f64 = 1e-9;

    /// From one time of a scene until another; an end that is absent is open. An error where nothing is left between
    /// them points at `key`.
    pub fn new(
        from: Option<Time>,
        until: Option<Time>,
        units: &Units,
        key: &'static str,
    ) -> Result<Self, BuildError> {
        let from = from.map_or(f64::NEG_INFINITY, |t| t.si(units));
        let until = until.map_or(f64::INFINITY, |t| t.si(units));
        if from < until {
            return Ok(Self { from, until });
        }
        Err(BuildError::value(
            key,
            format!("it ends at {until} s, not after its start at {from} s"),
        ))
    }

    /// From a time (s) on.
    pub fn after(from: f64) -> Self {
        Self { from, ..Self::ALWAYS }
    }

    /// Whether a step that ends at `t` (s) is inside.
    pub fn holds(&self, t: f64) -> bool {
        self.from + Self::SLACK < t && t <= self.until + Self::SLACK
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(interpolation: Interpolation) -> Curve<2> {
        let keys = [(0.0, [0.0, 0.0]), (1.0, [1.0, 0.0]), (3.0, [3.0, 2.0])];
        Curve::new(keys, interpolation, "keys").unwrap()
    }

    #[test]
    fn passes_through_its_keys_and_holds_outside() {
        use Interpolation::{Linear, MinimumJerk, Smooth};
        for interpolation in [Linear, Smooth, MinimumJerk] {
            for (t, expected) in [(-1.0, 0.0), (0.0, 0.0), (1.0, 1.0), (3.0, 3.0), (9.0, 3.0)] {
                assert!((curve(interpolation).at(t)[0] - expected).abs() < 1e-15);
            }
        }
    }

    #[test]
    fn smooth_curves_have_continuous_velocity() {
        let curve = curve(Interpolation::Smooth);
        let speed = |t: f64| (curve.at(t + 1e-6)[0] - curve.at(t - 1e-6)[0]) / 2e-6;
        assert!((speed(1.0 - 1e-5) - speed(1.0 + 1e-5)).abs() < 1e-3);
        assert!(speed(1e-4).abs() < 1e-2);
    }

    #[test]
    fn smooth_curves_never_swing_past_their_keys() {
        let keys = [(0.0, 1.0), (1.0, 1.0), (1.3, 0.2), (2.0, 0.0), (2.1, 0.0), (3.0, 0.5)];
        let keys = keys.map(|(t, v)| (t, [v]));
        let curve = Curve::new(keys, Interpolation::Smooth, "keys").unwrap();
        for pair in keys.windows(2) {
            let (low, high) = (pair[0].1[0].min(pair[1].1[0]), pair[0].1[0].max(pair[1].1[0]));
            for k in 0..=20 {
                let t = pair[0].0 + (pair[1].0 - pair[0].0) * f64::from(k) / 20.0;
                let value = curve.at(t)[0];
                assert!((low - 1e-15..=high + 1e-15).contains(&value), "{value} at {t}");
            }
        }
    }

    #[test]
    fn keys_out_of_order_are_an_error() {
        let error = Curve::new([(0.0, [1.0]), (0.0, [2.0])], Interpolation::Linear, "ramp");
        assert!(error.unwrap_err().to_string().contains("key 1 is at 0 s, not after key 0"));
    }

    #[test]
    fn a_window_holds_for_the_steps_that_end_in_it() {
        let window =
            Window::new(Some(Time::new_si(0.5)), Some(Time::new_si(2.0)), &Units::SI, "until")
                .unwrap();
        let dt = 1.0 / 240.0;
        let holds: Vec<bool> = [120, 121, 480, 481].map(|n| window.holds(f64::from(n) * dt)).into();
        assert_eq!(holds, [false, true, true, false]);
        assert!(
            Window::new(Some(Time::new_si(2.0)), Some(Time::new_si(2.0)), &Units::SI, "until")
                .is_err()
        );
    }
}
