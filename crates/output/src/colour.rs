//! Colours: of bodies by role, of numbers by a perceptually uniform map.

use crate::body::{BodyInfo, Role};

/// An sRGB colour.
pub(crate) type Rgb = [u8; 3];

const FILMS: [Rgb; 5] =
    [[42, 157, 143], [231, 111, 81], [69, 123, 157], [233, 180, 76], [132, 94, 166]];
const SOLIDS: [Rgb; 4] = [[224, 122, 95], [91, 142, 125], [61, 90, 128], [242, 177, 72]];
const SPHERES: [Rgb; 4] = [[240, 166, 60], [214, 84, 68], [88, 140, 196], [120, 170, 90]];
const OBSTACLES: [Rgb; 3] = [[186, 184, 178], [160, 168, 176], [196, 184, 168]];

/// The colour of each body: its own, or the next of its role.
pub(crate) fn body_colours(bodies: &[BodyInfo]) -> Vec<Rgb> {
    let mut used = [0; 4];
    let mut colours = Vec::with_capacity(bodies.len());
    for body in bodies {
        let (family, palette): (usize, &[Rgb]) = match body.role {
            Role::Film => (0, &FILMS),
            Role::Solid => (1, &SOLIDS),
            Role::Spheres | Role::Points => (2, &SPHERES),
            Role::Obstacle | Role::Slab => (3, &OBSTACLES),
        };
        let next = palette[used[family] % palette.len()];
        if body.colour.is_none() {
            used[family] += 1;
        }
        colours.push(body.colour.unwrap_or(next));
    }
    colours
}

/// How numbers become colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ColourMap {
    /// Viridis, dark to bright: the default colour map of matplotlib (S. van der Walt and N. Smith, 2015).
    #[default]
    Viridis,
    /// Blue below, grey at, red above the middle (K. Moreland, "Diverging Color Maps for Scientific Visualization", 2009).
    Diverging,
}

const VIRIDIS: [Rgb; 10] = [
    [68, 1, 84],
    [72, 40, 120],
    [62, 73, 137],
    [49, 104, 142],
    [38, 130, 142],
    [31, 158, 137],
    [53, 183, 121],
    [110, 206, 88],
    [181, 222, 43],
    [253, 231, 37],
];

const DIVERGING: [Rgb; 9] = [
    [59, 76, 192],
    [98, 130, 234],
    [141, 176, 254],
    [184, 208, 249],
    [221, 221, 221],
    [245, 196, 173],
    [244, 154, 123],
    [222, 96, 77],
    [180, 4, 38],
];

impl ColourMap {
    /// Evenly spaced samples.
    pub(crate) fn samples(self) -> &'static [Rgb] {
        match self {
            ColourMap::Viridis => &VIRIDIS,
            ColourMap::Diverging => &DIVERGING,
        }
    }

    /// The map at `t` in 0..1, sRGB components in 0..1.
    pub(crate) fn at(self, t: f32) -> [f32; 3] {
        let samples = self.samples();
        let x = if t.is_finite() { t.clamp(0.0, 1.0) } else { 0.0 } * (samples.len() - 1) as f32;
        let i = (x as usize).min(samples.len() - 2);
        let f = x - i as f32;
        std::array::from_fn(|c| {
            let (a, b) = (f32::from(samples[i][c]), f32::from(samples[i + 1][c]));
            (a + (b - a) * f) / 255.0
        })
    }
}

/// sRGB component (0..1) to linear light.
pub(crate) fn to_linear(s: f32) -> f32 {
    if s <= 0.040_45 { s / 12.92 } else { ((s + 0.055) / 1.055).powf(2.4) }
}

/// Linear light to an sRGB byte.
pub(crate) fn to_srgb(linear: f32) -> u8 {
    let l = linear.clamp(0.0, 1.0);
    let s = if l <= 0.003_130_8 { l * 12.92 } else { 1.055 * l.powf(1.0 / 2.4) - 0.055 };
    (s * 255.0 + 0.5) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn srgb_round_trip() {
        for byte in 0..=255_u8 {
            assert_eq!(to_srgb(to_linear(f32::from(byte) / 255.0)), byte);
        }
    }

    #[test]
    fn viridis_grows_in_brightness() {
        let light = |t: f32| {
            let [r, g, b] = ColourMap::Viridis.at(t).map(to_linear);
            0.2126 * r + 0.7152 * g + 0.0722 * b
        };
        for i in 0..100 {
            assert!(light((i + 1) as f32 / 100.0) > light(i as f32 / 100.0));
        }
        assert_eq!(ColourMap::Viridis.at(f32::NAN), ColourMap::Viridis.at(-1.0));
        assert_eq!(ColourMap::Diverging.at(0.5), [221.0 / 255.0; 3]);
    }

    #[test]
    fn bodies_of_one_role_differ() {
        let film = |name: &str| BodyInfo::new(name, Role::Film, 0, Vec::new());
        let mut own = film("b");
        own.colour = Some([1, 2, 3]);
        let colours = body_colours(&[film("a"), own, film("c")]);
        assert_eq!(colours, [FILMS[0], [1, 2, 3], FILMS[1]]);
    }
}
