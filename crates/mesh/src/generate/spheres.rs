//! Sets of spheres: on a lattice, or packed at random.

use glam::DVec3;

use super::{at_least, check_counts, positive};
use crate::{MeshError, Problem};

/// Spheres by centre and radius (m).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spheres {
    /// Centres.
    pub centres: Vec<DVec3>,
    /// Radii.
    pub radii: Vec<f64>,
}

/// The `SplitMix64` generator (Steele, Lea and Flood, "Fast splittable pseudorandom number
/// generators", 2014): a few lines that give the same numbers everywhere and for ever.
#[derive(Clone, Debug)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// A generator whose numbers follow from `seed` alone.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub const fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number of [0, 1) with 53 random bits.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A number between `low` and `high`.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + self.unit() * (high - low)
    }
}

/// Spheres of one `radius` on a lattice with `spacing` between centres, the first at the origin.
/// x runs fastest, z slowest. Each centre moves by up to `jitter` along each axis, as `seed` says.
pub fn sphere_lattice(
    counts: [u32; 3],
    spacing: DVec3,
    radius: f64,
    jitter: f64,
    seed: u64,
) -> Result<Spheres, MeshError> {
    positive("the spheres' radius", radius)?;
    for (what, count) in [
        ("the number of spheres in x", counts[0]),
        ("the number of spheres in y", counts[1]),
        ("the number of spheres in z", counts[2]),
    ] {
        at_least(what, count, 1, "at least 1")?;
    }
    let largest_jitter = 0.5 * spacing.min_element() - radius;
    // Also false if something is not a number.
    if !(jitter >= 0.0 && jitter <= largest_jitter && spacing.is_finite()) {
        return Err(Problem::BadSize {
            what: "the spheres' radius plus jitter",
            found: format!("{}", radius + jitter),
            expected: "at most half of the least spacing, else they could overlap",
        }
        .into());
    }
    let [nx, ny, nz] = counts.map(u128::from);
    // 32-bit counts: the product of two fits, the third is checked before multiplying.
    check_counts((nx * ny).saturating_mul(nz), 0)?;

    let mut random = SplitMix64::new(seed);
    let mut centres = Vec::with_capacity((nx * ny * nz) as usize);
    for z in 0..counts[2] {
        for y in 0..counts[1] {
            for x in 0..counts[0] {
                let at = DVec3::new(f64::from(x), f64::from(y), f64::from(z)) * spacing;
                let mut shift = || random.between(-jitter, jitter);
                centres.push(at + DVec3::new(shift(), shift(), shift()));
            }
        }
    }
    let radii = vec![radius; centres.len()];
    Ok(Spheres { centres, radii })
}

/// `count` spheres with radii of `radius[0]` to `radius[1]` at random places inside the box from
/// `low` to `high`, at least `gap` apart. `seed` decides all.
///
/// # Errors
/// Besides bad sizes: when a sphere finds no free place in 10,000 trials. Placing one after the
/// other fills at most about a third of a large box.
pub fn sphere_packing(
    count: u32,
    radius: [f64; 2],
    low: DVec3,
    high: DVec3,
    gap: f64,
    seed: u64,
) -> Result<Spheres, MeshError> {
    const TRIALS: u32 = 10_000;
    positive("the spheres' least radius", radius[0])?;
    positive("the spheres' greatest radius", radius[1])?;
    let sizes_fit = radius[0] <= radius[1] && (high - low).min_element() >= 2.0 * radius[1];
    if !(sizes_fit && gap >= 0.0 && gap.is_finite() && (high - low).is_finite()) {
        return Err(Problem::BadSize {
            what: "the box of the spheres",
            found: format!("{low} to {high}, radii {radius:?}, gap {gap}"),
            expected: "a finite box that holds the greatest sphere, rising radii, gap at least 0",
        }
        .into());
    }
    check_counts(u128::from(count), 0)?;

    let mut random = SplitMix64::new(seed);
    let mut spheres = Spheres::default();
    for placed in 0..count {
        let r = random.between(radius[0], radius[1]);
        let free = (0..TRIALS).find_map(|_| {
            let mut along = |k: usize| random.between(low[k] + r, high[k] - r);
            let centre = DVec3::new(along(0), along(1), along(2));
            let clear = |(&c, &other): (&DVec3, &f64)| {
                c.distance_squared(centre) > (r + other + gap).powi(2)
            };
            spheres.centres.iter().zip(&spheres.radii).all(clear).then_some(centre)
        });
        let Some(centre) = free else {
            return Err(Problem::BadSize {
                what: "the number of spheres",
                found: format!("{count}, of which only {placed} found a place"),
                expected: "fewer or smaller spheres, or a larger box",
            }
            .into());
        };
        spheres.centres.push(centre);
        spheres.radii.push(r);
    }
    Ok(spheres)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn least_gap(spheres: &Spheres) -> f64 {
        let mut least = f64::INFINITY;
        for i in 0..spheres.centres.len() {
            for j in 0..i {
                let distance = spheres.centres[i].distance(spheres.centres[j]);
                least = least.min(distance - spheres.radii[i] - spheres.radii[j]);
            }
        }
        least
    }

    #[test]
    fn generator_gives_its_published_numbers() {
        let mut random = SplitMix64::new(1_234_567);
        let first: Vec<u64> = (0..3).map(|_| random.next_u64()).collect();
        assert_eq!(
            first,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }

    #[test]
    fn lattice_order_and_jitter() {
        let plain = sphere_lattice([2, 2, 2], DVec3::splat(0.1), 0.02, 0.0, 1).unwrap();
        assert_eq!(plain.centres[1], DVec3::new(0.1, 0.0, 0.0));
        assert_eq!(plain.centres[4], DVec3::new(0.0, 0.0, 0.1));
        let moved = sphere_lattice([5, 5, 5], DVec3::splat(0.1), 0.02, 0.03, 1).unwrap();
        assert!(least_gap(&moved) > 0.0);
        assert!(sphere_lattice([2, 2, 2], DVec3::splat(0.1), 0.02, 0.031, 1).is_err());
        assert!(sphere_lattice([u32::MAX; 3], DVec3::ONE, 0.1, 0.0, 1).is_err());
    }

    #[test]
    fn packed_spheres_stay_apart_and_inside() {
        let (low, high) = (DVec3::ZERO, DVec3::splat(0.3));
        let a = sphere_packing(100, [0.01, 0.02], low, high, 1e-3, 7).unwrap();
        assert!(least_gap(&a) > 1e-3);
        for (c, r) in a.centres.iter().zip(&a.radii) {
            assert!((*c - *r).min_element() >= 0.0 && (*c + *r).max_element() <= 0.3);
        }
        assert_eq!(a, sphere_packing(100, [0.01, 0.02], low, high, 1e-3, 7).unwrap());
        assert_ne!(a, sphere_packing(100, [0.01, 0.02], low, high, 1e-3, 8).unwrap());
    }

    #[test]
    fn a_full_box_is_an_error() {
        let error = sphere_packing(100, [0.1, 0.1], DVec3::ZERO, DVec3::splat(0.5), 0.0, 7);
        assert!(error.unwrap_err().to_string().contains("found a place"));
    }
}
