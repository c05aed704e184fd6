//! Light: a sun with soft edges and an overcast sky, each as a set of directions with a depth map.
//!
//! A depth map stores, seen from far away along one direction, how near the first surface is. A point is lit
//! from that direction when nothing is nearer. Forty-eight directions over the sky give creases and contacts
//! their soft darkening, twenty-four within the sun's disc give it a soft shadow; all of it is a fixed sum, so
//! a picture has the same bytes on every run and for any number of threads.

use glam::Vec3;
use rayon::prelude::*;

use crate::surface::{Surfaces, Triangle};

const SKY: usize = 48;
const SUN: usize = 24;
const SKY_SIZE: usize = 320;
const SUN_SIZE: usize = 640;

/// What is seen along one direction.
struct DepthMap {
    direction: Vec3,
    side: Vec3,
    front: Vec3,
    centre: Vec3,
    /// Texels per metre.
    scale: f32,
    size: usize,
    depth: Vec<f32>,
}

impl DepthMap {
    fn new(
        direction: Vec3,
        centre: Vec3,
        radius: f32,
        size: usize,
        surfaces: &Surfaces,
    ) -> DepthMap {
        let (side, front) = direction.any_orthonormal_pair();
        let scale = size as f32 * 0.5 / radius;
        let depth = vec![f32::NEG_INFINITY; size * size];
        let mut map = DepthMap { direction, side, front, centre, scale, size, depth };
        let solid = |t: &&Triangle| !surfaces.materials[t.body as usize].see_through;
        for triangle in surfaces.triangles.iter().filter(solid) {
            map.draw_triangle(triangle.corners.map(|c| map.locate(c.position)));
        }
        for ball in &surfaces.balls {
            map.draw_ball(map.locate(ball.centre), ball.radius);
        }
        map
    }

    /// Texel coordinates and depth (towards the light, in metres).
    fn locate(&self, p: Vec3) -> Vec3 {
        let d = p - self.centre;
        let half = self.size as f32 * 0.5;
        let (x, y) = (d.dot(self.side) * self.scale, d.dot(self.front) * self.scale);
        Vec3::new(x + half, y + half, d.dot(self.direction))
    }

    fn range(&self, low: f32, high: f32) -> std::ops::Range<usize> {
        let clamp = |x: f32| x.clamp(0.0, self.size as f32) as usize;
        clamp((low - 0.5).ceil())..clamp((high - 0.5).floor() + 1.0)
    }

    fn draw_triangle(&mut self, [a, b, c]: [Vec3; 3]) {
        let area = (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
        if area == 0.0 || !area.is_finite() {
            return;
        }
        let rows = self.range(a.y.min(b.y).min(c.y), a.y.max(b.y).max(c.y));
        let columns = self.range(a.x.min(b.x).min(c.x), a.x.max(b.x).max(c.x));
        for row in rows {
            let y = row as f32 + 0.5;
            for column in columns.clone() {
                let x = column as f32 + 0.5;
                let u = ((x - a.x) * (c.y - a.y) - (y - a.y) * (c.x - a.x)) / area;
                let v = ((b.x - a.x) * (y - a.y) - (b.y - a.y) * (x - a.x)) / area;
                if u >= 0.0 && v >= 0.0 && u + v <= 1.0 {
                    let texel = &mut self.depth[row * self.size + column];
                    *texel = texel.max(a.z + (b.z - a.z) * u + (c.z - a.z) * v);
                }
            }
        }
    }

    fn draw_ball(&mut self, centre: Vec3, radius: f32) {
        let r = radius * self.scale;
        let columns = self.range(centre.x - r, centre.x + r);
        for row in self.range(centre.y - r, centre.y + r) {
            let y = (row as f32 + 0.5 - centre.y) / r;
            for column in columns.clone() {
                let x = (column as f32 + 0.5 - centre.x) / r;
                let rest = 1.0 - x * x - y * y;
                if rest > 0.0 {
                    let texel = &mut self.depth[row * self.size + column];
                    *texel = texel.max(centre.z + radius * rest.sqrt());
                }
            }
        }
    }

    /// Share of light (0..1) that reaches `p` on the side of `normal`, between four texels.
    fn visible(&self, p: Vec3, normal: Vec3) -> f32 {
        // A texel is flat, the surface is not: look from a little above it.
        let lift = 1.5 / self.scale;
        let at = self.locate(p + normal * lift);
        let depth = at.z + lift;
        let (x, y) = (at.x - 0.5, at.y - 0.5);
        let last = (self.size - 1) as f32;
        if !(x >= 0.0 && y >= 0.0 && x < last && y < last) {
            return 1.0;
        }
        let (column, row) = (x as usize, y as usize);
        let (fx, fy) = (x - column as f32, y - row as f32);
        let lit = |i: usize| if self.depth[i] <= depth { 1.0 } else { 0.0 };
        let i = row * self.size + column;
        let low = lit(i) * (1.0 - fx) + lit(i + 1) * fx;
        let high = lit(i + self.size) * (1.0 - fx) + lit(i + self.size + 1) * fx;
        low * (1.0 - fy) + high * fy
    }
}

/// A place to be lit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spot {
    pub(crate) point: Vec3,
    /// Unit normal towards the eye.
    pub(crate) normal: Vec3,
    /// Share of the light on the far side that shines through.
    pub(crate) translucent: f32,
}

/// Light at a spot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lit {
    /// What a matt white surface sends out.
    pub(crate) light: Vec3,
    /// The part of the sun that is seen.
    pub(crate) sun: f32,
}

/// The lights of a picture.
pub(crate) struct Lights {
    up: Vec3,
    sun: Vec3,
    sun_maps: Vec<DepthMap>,
    sky_maps: Vec<DepthMap>,
}

const SUN_LIGHT: Vec3 = Vec3::new(1.12, 1.06, 0.97);
const SKY_LIGHT: Vec3 = Vec3::new(0.46, 0.49, 0.54);
const BOUNCE: Vec3 = Vec3::new(0.20, 0.19, 0.18);

impl Lights {
    /// Lights for surfaces within `radius` of `centre`; the sun stands in direction `sun`.
    pub(crate) fn new(
        surfaces: &Surfaces,
        centre: Vec3,
        radius: f32,
        up: Vec3,
        sun: Vec3,
    ) -> Lights {
        let (side, front) = up.any_orthonormal_pair();
        // A golden-angle spiral: even over the hemisphere (uniform in height), and over a disc.
        let golden = std::f32::consts::PI * (3.0 - 5.0_f32.sqrt());
        let sky = |i: usize| {
            let height = (i as f32 + 0.5) / SKY as f32;
            let (sin, cos) = (i as f32 * golden).sin_cos();
            let flat = (1.0 - height * height).sqrt();
            side * (flat * cos) + front * (flat * sin) + up * height
        };
        let (sun_side, sun_front) = sun.any_orthonormal_pair();
        let disc = |i: usize| {
            let r = 0.06 * ((i as f32 + 0.5) / SUN as f32).sqrt();
            let (sin, cos) = (i as f32 * golden).sin_cos();
            (sun + sun_side * (r * cos) + sun_front * (r * sin)).normalize()
        };
        let map = |direction, size| DepthMap::new(direction, centre, radius, size, surfaces);
        Lights {
            up,
            sun,
            sun_maps: (0..SUN).into_par_iter().map(|i| map(disc(i), SUN_SIZE)).collect(),
            sky_maps: (0..SKY).into_par_iter().map(|i| map(sky(i), SKY_SIZE)).collect(),
        }
    }

    /// Light at each of `spots`. Map by map, so that one map at a time is in the cache.
    pub(crate) fn on(&self, spots: &[Spot]) -> Vec<Lit> {
        let (mut sun, mut seen) = (vec![0.0; spots.len()], vec![0.0; spots.len()]);
        for map in &self.sun_maps {
            for (i, spot) in spots.iter().enumerate() {
                let facing = spot.normal.dot(map.direction);
                if facing > 0.0 {
                    let visible = map.visible(spot.point, spot.normal);
                    sun[i] += facing * visible;
                    seen[i] += visible;
                } else if spot.translucent > 0.0 {
                    sun[i] -= spot.translucent * facing * map.visible(spot.point, -spot.normal);
                }
            }
        }
        let (mut sky, mut open) = (vec![0.0; spots.len()], vec![0.0; spots.len()]);
        for map in &self.sky_maps {
            for (i, spot) in spots.iter().enumerate() {
                let facing = spot.normal.dot(map.direction);
                let side = if facing > 0.0 { spot.normal } else { -spot.normal };
                let visible = map.visible(spot.point, side);
                open[i] += visible;
                sky[i] += visible * if facing > 0.0 { facing } else { -spot.translucent * facing };
            }
        }
        let share = 1.0 / SUN as f32;
        let mix = |(i, spot): (usize, &Spot)| {
            // Uniform directions: the mean of the cosine over the hemisphere is one half.
            let sky = sky[i] * 2.0 / SKY as f32;
            let bounce = open[i] / SKY as f32 * (0.5 - 0.5 * spot.normal.dot(self.up));
            let light = SUN_LIGHT * (sun[i] * share) + SKY_LIGHT * sky + BOUNCE * bounce;
            Lit { light, sun: seen[i] * share }
        };
        spots.iter().enumerate().map(mix).collect()
    }

    /// Light on the level ground where nothing stands in the way.
    pub(crate) fn open_ground(&self) -> Vec3 {
        SUN_LIGHT * self.up.dot(self.sun).max(0.0) + SKY_LIGHT
    }

    /// Highlight of the sun for a viewer in direction `to_eye`.
    pub(crate) fn highlight(&self, normal: Vec3, to_eye: Vec3) -> f32 {
        let half = (self.sun + to_eye).normalize_or_zero();
        normal.dot(half).max(0.0).powi(48)
    }
}
