//! From samples to pixels: light, highlights, the ground and the background.

use glam::Vec3;

use crate::camera::View;
use crate::colour::{Rgb, to_srgb};
use crate::light::{Lights, Lit, Spot};
use crate::raster::{Band, NOTHING, Projected, Sample};
use crate::surface::Surfaces;

/// Turns samples into pixels.
pub(crate) struct Shade<'a> {
    pub(crate) view: &'a View,
    pub(crate) surfaces: &'a Surfaces,
    pub(crate) lights: &'a Lights,
    pub(crate) ground: Option<(Vec3, Vec3)>,
    pub(crate) fade: f32,
    pub(crate) dark: bool,
    pub(crate) height: f32,
}

/// What a pixel shows, or a part of it.
struct Surface {
    /// Index in the band.
    pixel: usize,
    /// Samples that it stands for.
    weight: f32,
    point: Vec3,
    normal: Vec3,
    colour: Vec3,
    body: u16,
}

/// The ground's place among the bodies.
const GROUND: u16 = NOTHING - 1;

impl Shade<'_> {
    /// Draws the rows of `out`, the first of which is row `first_row` of the picture.
    pub(crate) fn band(
        &self,
        triangles: &[Projected],
        first_row: usize,
        out: &mut [Rgb],
        width: usize,
        samples: usize,
    ) {
        let rows = out.len() / width;
        let wide = width * samples;
        let (first, tall) = (first_row * samples, rows * samples);
        let mut band = Band::new(self.view, self.surfaces, wide, first, tall, samples);
        band.draw(triangles);
        self.draw_ground(&mut band);
        // What the pixels show, first without light; then all lights at once; then both together.
        let mut totals = vec![Vec3::ZERO; rows * width];
        let mut surfaces = Vec::with_capacity(rows * width);
        let mut group: Vec<(Vec3, Sample)> = Vec::with_capacity(samples * samples);
        for row in 0..rows {
            for column in 0..width {
                group.clear();
                let pixel = row * width + column;
                for sy in 0..samples {
                    let y = row * samples + sy;
                    for sx in 0..samples {
                        let x = column * samples + sx;
                        let sample = band.samples[y * wide + x];
                        let screen = [x as f32 + 0.5, (band.first + y) as f32 + 0.5];
                        let ray = self.view.ray(screen[0], screen[1]);
                        let point = self.view.eye + ray * sample.depth;
                        if sample.body == NOTHING
                            || sample.body == GROUND && self.ground_fade(point) >= 1.0
                        {
                            totals[pixel] += self.background(screen[1]);
                        } else {
                            group.push((point, sample));
                        }
                    }
                }
                self.gather(&group, pixel, &mut surfaces);
            }
        }
        let spots: Vec<Spot> = surfaces.iter().map(|s| self.spot(s)).collect();
        for (surface, lit) in surfaces.iter().zip(self.lights.on(&spots)) {
            let y = (first + surface.pixel / width * samples) as f32;
            totals[surface.pixel] += self.shade(surface, lit, y) * surface.weight;
        }
        for (pixel, total) in out.iter_mut().zip(totals) {
            let colour = total / (samples * samples) as f32;
            *pixel = colour.to_array().map(|c| to_srgb(shoulder(c)));
        }
    }

    /// The samples of one pixel as surfaces to be lit: one where they lie on one smooth surface, else each.
    fn gather(&self, group: &[(Vec3, Sample)], pixel: usize, out: &mut Vec<Surface>) {
        let Some((_, head)) = group.first() else { return };
        let alike = |s: &Sample| {
            s.body == head.body
                && s.normal.dot(head.normal) > 0.96
                && (s.depth - head.depth).abs() < 0.004 * self.fade
        };
        if group.iter().all(|(_, s)| alike(s)) {
            let weight = group.len() as f32;
            let point = group.iter().map(|(p, _)| *p).sum::<Vec3>() / weight;
            let normal = group.iter().map(|(_, s)| s.normal).sum::<Vec3>().normalize_or_zero();
            let colour = group.iter().map(|(_, s)| s.colour).sum::<Vec3>() / weight;
            out.push(Surface { pixel, weight, point, normal, colour, body: head.body });
            return;
        }
        out.extend(group.iter().map(|(point, s)| {
            let (point, normal, colour) = (*point, s.normal, s.colour);
            Surface { pixel, weight: 1.0, point, normal, colour, body: s.body }
        }));
    }

    fn spot(&self, surface: &Surface) -> Spot {
        let material = self.surfaces.materials.get(surface.body as usize);
        let translucent = material.map_or(0.0, |m| m.translucent);
        Spot { point: surface.point, normal: surface.normal, translucent }
    }

    fn shade(&self, surface: &Surface, lit: Lit, y: f32) -> Vec3 {
        if surface.body == GROUND {
            // The ground is the background, darkened by what stands on it.
            let shadow = lit.light / self.lights.open_ground();
            return self.background(y) * shadow.lerp(Vec3::ONE, self.ground_fade(surface.point));
        }
        let material = &self.surfaces.materials[surface.body as usize];
        let to_eye = (self.view.eye - surface.point).normalize_or_zero();
        let shine = material.gloss * lit.sun * self.lights.highlight(surface.normal, to_eye);
        // Grazing views catch some of the sky, which lifts outlines from their background.
        let rim = (1.0 - surface.normal.dot(to_eye).max(0.0)).powi(4) * material.gloss * 0.4;
        surface.colour * lit.light + Vec3::splat(shine + rim)
    }

    /// 0 among the bodies, 1 where the ground has become the background.
    fn ground_fade(&self, point: Vec3) -> f32 {
        ((point.length() / self.fade - 1.2) / 2.0).clamp(0.0, 1.0)
    }

    fn draw_ground(&self, band: &mut Band<'_>) {
        let Some((point, normal)) = self.ground else { return };
        let above = (self.view.eye - point).dot(normal);
        if above <= 0.0 {
            return;
        }
        for row in 0..band.rows {
            for column in 0..band.width {
                let ray = self.view.ray(column as f32 + 0.5, (band.first + row) as f32 + 0.5);
                let down = -ray.dot(normal);
                let sample = &mut band.samples[row * band.width + column];
                let depth = above / down;
                if down > 1e-6 && depth < sample.depth {
                    *sample = Sample { depth, normal, colour: Vec3::ONE, body: GROUND };
                }
            }
        }
    }

    fn background(&self, y: f32) -> Vec3 {
        let t = (y / self.height).clamp(0.0, 1.0);
        let (top, bottom) = if self.dark {
            (Vec3::new(0.030, 0.034, 0.042), Vec3::new(0.075, 0.080, 0.090))
        } else {
            (Vec3::new(0.78, 0.82, 0.86), Vec3::new(0.93, 0.93, 0.92))
        };
        top.lerp(bottom, t)
    }
}

/// Bends light above 0.75 towards white instead of cutting it off.
fn shoulder(c: f32) -> f32 {
    const KNEE: f32 = 0.75;
    if c <= KNEE { c } else { 1.0 - (1.0 - KNEE) * (-(c - KNEE) / (1.0 - KNEE)).exp() }
}
