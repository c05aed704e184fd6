//! Values that colour bodies in the HTML view: one byte a vertex and frame, and a colour for each byte.

use serde_json::{Value, json};

use crate::colour::{ColourMap, Rgb};
use crate::stretch::stretch_reach;

/// How values become bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Scale {
    /// From zero to what 99.5 % of the values stay below.
    FromZero,
    /// From zero to this far, or to the largest; small values are bright and the last byte stands for none.
    Gap(Option<f64>),
    /// Around zero.
    Around,
}

/// The byte of a vertex that has no value.
const NONE: u8 = 255;
/// Its colour.
const GREY: Rgb = [185, 188, 192];

/// A field over all bodies and frames.
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) unit: &'static str,
    pub(crate) scale: Scale,
    /// Per body, vertex after vertex and frame after frame; empty where the body has none.
    pub(crate) values: Vec<Vec<f32>>,
}

/// A field's way from values to bytes and colours.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Coding {
    scale: Scale,
    /// Values of the first and the last byte that stand for one.
    range: [f64; 2],
    /// Values at the ends of the colour bar.
    bar: [f64; 2],
}

impl Field {
    pub(crate) fn coding(&self) -> Coding {
        let all = || self.values.iter().flatten().copied().filter(|v| v.is_finite());
        let max = f64::from(all().fold(0.0_f32, f32::max)).max(1e-12);
        let (range, bar) = match self.scale {
            Scale::FromZero => {
                // A few wild vertices must not leave everything else dark.
                let mut values: Vec<f32> = all().collect();
                let top = if values.is_empty() {
                    max
                } else {
                    let nearly = (values.len() - 1) * 995 / 1000;
                    let (_, top, _) = values.select_nth_unstable_by(nearly, f32::total_cmp);
                    f64::from(*top).max(max * 1e-3)
                };
                ([0.0, max], [0.0, top])
            }
            Scale::Gap(top) => ([0.0, max], [0.0, top.unwrap_or(max).max(1e-12)]),
            Scale::Around => {
                let reach = stretch_reach(all());
                ([-reach, reach], [-reach, reach])
            }
        };
        Coding { scale: self.scale, range, bar }
    }

    /// What the page is told of the field.
    pub(crate) fn describe(&self, coding: &Coding) -> Value {
        let all = || self.values.iter().flatten().copied().filter(|v| v.is_finite());
        let beyond = [
            all().any(|v| f64::from(v) < coding.bar[0] - 1e-6 * coding.bar[0].abs()),
            all().any(|v| f64::from(v) > coding.bar[1] * (1.0 + 1e-6)),
        ];
        let colours: Vec<Rgb> = (0..=u8::MAX).map(|byte| coding.colour(byte)).collect();
        let mut bar = coding.map().samples().to_vec();
        if coding.reversed() {
            bar.reverse();
        }
        json!({
            "name": self.name, "unit": self.unit, "colours": colours, "bar": bar,
            "low": coding.bar[0], "high": coding.bar[1], "beyond": beyond,
        })
    }
}

impl Coding {
    fn map(&self) -> ColourMap {
        if self.scale == Scale::Around { ColourMap::Diverging } else { ColourMap::Viridis }
    }

    fn reversed(&self) -> bool {
        matches!(self.scale, Scale::Gap(_))
    }

    /// Values from zero are stored by their square roots, so that small ones keep their digits.
    pub(crate) fn encode(&self, value: f32) -> u8 {
        if !value.is_finite() {
            return NONE;
        }
        let [low, high] = self.range;
        let share = ((f64::from(value) - low) / (high - low)).clamp(0.0, 1.0);
        let share = if self.scale == Scale::Around { share } else { share.sqrt() };
        (share * f64::from(NONE - 1) + 0.5) as u8
    }

    fn decode(&self, byte: u8) -> f64 {
        let [low, high] = self.range;
        let share = f64::from(byte) / f64::from(NONE - 1);
        let share = if self.scale == Scale::Around { share } else { share * share };
        low + (high - low) * share
    }

    fn colour(&self, byte: u8) -> Rgb {
        if byte == NONE {
            return GREY;
        }
        let [low, high] = self.bar;
        let t = ((self.decode(byte) - low) / (high - low)).clamp(0.0, 1.0) as f32;
        let colour = self.map().at(if self.reversed() { 1.0 - t } else { t });
        colour.map(|c| (c * 255.0 + 0.5) as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coding(scale: Scale, values: &[f32]) -> Coding {
        Field { name: "f", unit: "", scale, values: vec![values.to_vec(), Vec::new()] }.coding()
    }

    #[test]
    fn small_values_keep_their_digits() {
        let gap = coding(Scale::Gap(None), &[0.01, 1.0, 10.0, f32::INFINITY]);
        for value in [0.01_f32, 0.1, 1.0, 10.0] {
            let found = gap.decode(gap.encode(value));
            assert!((found - f64::from(value)).abs() < 0.02 * f64::from(value).sqrt(), "{found}");
        }
        assert_eq!((gap.encode(f32::INFINITY), gap.colour(NONE)), (NONE, GREY));
        assert_eq!(gap.colour(0), [253, 231, 37], "what is near is bright");
        assert_ne!(gap.encode(10.0), NONE);
    }

    #[test]
    fn stretch_is_grey_at_rest() {
        let stretch = coding(Scale::Around, &[-10.0, 0.0, 10.0, f32::NAN]);
        assert_eq!(stretch.colour(stretch.encode(0.0)), [221; 3]);
        for value in [-9.1, -3.0, 0.0, 4.9] {
            assert!((stretch.decode(stretch.encode(value)) - f64::from(value)).abs() <= 0.04);
        }
        let [low, high] = [-5.0, 5.0].map(|v| stretch.colour(stretch.encode(v)));
        assert!(low[2] > low[0] && high[0] > high[2], "blue where pressed, red where pulled");
    }

    #[test]
    fn a_few_wild_values_do_not_leave_the_rest_dark() {
        let mut values = vec![1.0; 1000];
        values[7] = 100.0;
        let speed = coding(Scale::FromZero, &values);
        assert_eq!((speed.bar, speed.range), ([0.0, 1.0], [0.0, 100.0]));
        assert!(coding(Scale::FromZero, &[]).bar[1] > 0.0);
    }
}
