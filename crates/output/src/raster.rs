//! A z-buffer in bands of rows: for every sample the nearest surface.

use glam::Vec3;

use crate::camera::View;
use crate::colour::{ColourMap, to_linear};
use crate::surface::{Ball, Corner, Surfaces, Triangle};

/// No surface.
pub(crate) const NOTHING: u16 = u16::MAX;

/// The nearest surface at one sample.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    /// Distance along the view direction in metres.
    pub(crate) depth: f32,
    /// Unit normal towards the eye.
    pub(crate) normal: Vec3,
    /// Colour of the surface in linear light.
    pub(crate) colour: Vec3,
    pub(crate) body: u16,
}

impl Sample {
    const EMPTY: Sample =
        Sample { depth: f32::INFINITY, normal: Vec3::ZERO, colour: Vec3::ZERO, body: NOTHING };
}

/// A triangle in front of the eye, in screen coordinates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Projected {
    screen: [[f32; 2]; 3],
    /// 1 / depth.
    inverse: [f32; 3],
    corners: [Corner; 3],
    body: u16,
    /// Rows that it can touch.
    rows: [f32; 2],
    /// Strength of the mesh lines, 0 for none.
    lines: f32,
}

/// Projects the triangles, cutting off what lies behind the eye. Mesh lines fade where the mesh is finer than
/// about five picture elements (`per_pixel` samples each).
pub(crate) fn project(
    surfaces: &Surfaces,
    view: &View,
    lines: bool,
    per_pixel: f32,
) -> Vec<Projected> {
    let mut projected = Vec::with_capacity(surfaces.triangles.len());
    for triangle in &surfaces.triangles {
        let (cut, count) = clip(triangle, view);
        for i in 1..count.saturating_sub(1) {
            let corners = [cut[0], cut[i], cut[i + 1]];
            let local = corners.map(|c| view.local(c.position));
            let screen = local.map(|p| view.screen(p));
            let y = screen.map(|s| s[1]);
            let rows = [y[0].min(y[1]).min(y[2]).floor(), y[0].max(y[1]).max(y[2]).ceil()];
            let strength = if lines && surfaces.materials[triangle.body as usize].lines {
                let area = double_area(&screen).abs().sqrt() / per_pixel;
                ((area - 4.0) / 6.0).clamp(0.0, 1.0)
            } else {
                0.0
            };
            projected.push(Projected {
                screen,
                inverse: local.map(|p| 1.0 / p.z),
                corners,
                body: triangle.body,
                rows,
                lines: strength,
            });
        }
    }
    projected
}

fn double_area([a, b, c]: &[[f32; 2]; 3]) -> f32 {
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}

/// The part of a triangle in front of the near plane: 0, 3 or 4 corners.
fn clip(triangle: &Triangle, view: &View) -> ([Corner; 4], usize) {
    let c = &triangle.corners;
    let depth = c.map(|c| view.local(c.position).z - view.near);
    let mut out = [c[0]; 4];
    let mut count = 0;
    for i in 0..3 {
        let j = (i + 1) % 3;
        if depth[i] > 0.0 {
            out[count] = c[i];
            count += 1;
        }
        if (depth[i] > 0.0) != (depth[j] > 0.0) {
            let t = depth[i] / (depth[i] - depth[j]);
            out[count] = Corner {
                position: c[i].position.lerp(c[j].position, t),
                normal: c[i].normal.lerp(c[j].normal, t),
                scalar: c[i].scalar + (c[j].scalar - c[i].scalar) * t,
            };
            count += 1;
        }
    }
    (out, count)
}

/// Samples of the rows `first .. first + rows`.
pub(crate) struct Band<'a> {
    pub(crate) view: &'a View,
    pub(crate) surfaces: &'a Surfaces,
    pub(crate) width: usize,
    pub(crate) first: usize,
    pub(crate) rows: usize,
    pub(crate) samples: Vec<Sample>,
    /// Samples per pixel in each direction.
    pub(crate) per_pixel: usize,
    /// Width of mesh lines in samples.
    line_width: f32,
}

impl<'a> Band<'a> {
    pub(crate) fn new(
        view: &'a View,
        surfaces: &'a Surfaces,
        width: usize,
        first: usize,
        rows: usize,
        per_pixel: usize,
    ) -> Band<'a> {
        let samples = vec![Sample::EMPTY; width * rows];
        let line_width = per_pixel as f32 * 0.9;
        Band { view, surfaces, width, first, rows, samples, per_pixel, line_width }
    }

    pub(crate) fn draw(&mut self, triangles: &[Projected]) {
        let (first, end) = (self.first as f32, (self.first + self.rows) as f32);
        for triangle in triangles {
            if triangle.rows[1] >= first && triangle.rows[0] <= end {
                self.draw_triangle(triangle);
            }
        }
        for ball in &self.surfaces.balls {
            self.draw_ball(ball);
        }
    }

    fn rows_between(&self, low: f32, high: f32) -> std::ops::Range<usize> {
        let (first, end) = (self.first as f32, (self.first + self.rows) as f32);
        let clamp = |y: f32| y.clamp(first, end) as usize;
        clamp((low - 0.5).ceil())..clamp((high - 0.5).floor() + 1.0)
    }

    fn columns_between(&self, low: f32, high: f32) -> std::ops::Range<usize> {
        let clamp = |x: f32| x.clamp(0.0, self.width as f32) as usize;
        clamp((low - 0.5).ceil())..clamp((high - 0.5).floor() + 1.0)
    }

    fn draw_triangle(&mut self, triangle: &Projected) {
        let s = &triangle.screen;
        let area = double_area(s);
        if area == 0.0 || !area.is_finite() {
            return;
        }
        let see_through = self.surfaces.materials[triangle.body as usize].see_through;
        let x = s.map(|p| p[0]);
        let y = s.map(|p| p[1]);
        let columns = self.columns_between(x[0].min(x[1]).min(x[2]), x[0].max(x[1]).max(x[2]));
        let length: [f32; 3] = std::array::from_fn(|i| {
            let (a, b) = (s[(i + 1) % 3], s[(i + 2) % 3]);
            (b[0] - a[0]).hypot(b[1] - a[1]).max(1e-6)
        });
        for row in self.rows_between(y[0].min(y[1]).min(y[2]), y[0].max(y[1]).max(y[2])) {
            let py = row as f32 + 0.5;
            for column in columns.clone() {
                let px = column as f32 + 0.5;
                let twice: [f32; 3] = std::array::from_fn(|i| {
                    let (a, b) = (s[(i + 1) % 3], s[(i + 2) % 3]);
                    (b[0] - a[0]) * (py - a[1]) - (b[1] - a[1]) * (px - a[0])
                });
                let weight = twice.map(|t| t / area);
                if weight.iter().any(|w| *w < 0.0) {
                    continue;
                }
                let inverse: f32 = (0..3).map(|i| weight[i] * triangle.inverse[i]).sum();
                let depth = 1.0 / inverse;
                if see_through && !shows(column, row, self.per_pixel) {
                    continue;
                }
                let sample = &mut self.samples[(row - self.first) * self.width + column];
                if depth >= sample.depth {
                    continue;
                }
                // Corner values are linear in space, so over the screen they are with 1 / depth.
                let w: [f32; 3] = std::array::from_fn(|i| weight[i] * triangle.inverse[i] * depth);
                let c = &triangle.corners;
                let normal = c[0].normal * w[0] + c[1].normal * w[1] + c[2].normal * w[2];
                let scalar = c[0].scalar * w[0] + c[1].scalar * w[1] + c[2].scalar * w[2];
                // Which side is seen is the flat triangle's matter, not the smooth normal's.
                let flat = (c[1].position - c[0].position).cross(c[2].position - c[0].position);
                let front = flat.dot(self.view.eye - c[0].position) >= 0.0;
                let mut normal = normal.normalize_or_zero();
                if !front {
                    normal = -normal;
                }
                let material = &self.surfaces.materials[triangle.body as usize];
                let own = if front { material.colour } else { material.back };
                let mut colour = surface_colour(self.surfaces.map, scalar, own);
                if triangle.lines > 0.0 {
                    let distance =
                        (0..3).map(|i| twice[i].abs() / length[i]).fold(f32::INFINITY, f32::min);
                    if distance < self.line_width * 0.5 {
                        colour *= 1.0 - 0.38 * triangle.lines;
                    }
                }
                *sample = Sample { depth, normal, colour, body: triangle.body };
            }
        }
    }

    fn draw_ball(&mut self, ball: &Ball) {
        let view = self.view;
        let local = view.local(ball.centre);
        let nearest = local.z - ball.radius;
        if nearest <= view.near {
            return;
        }
        let [x, y] = view.screen(local);
        // Seen off the axis a sphere is an ellipse; this square holds it.
        let tilt = (local.x.hypot(local.y) / local.z).hypot(1.0);
        let reach = view.focal * ball.radius * tilt / nearest + 1.0;
        let columns = self.columns_between(x - reach, x + reach);
        let to_eye = view.eye - ball.centre;
        let rest = to_eye.length_squared() - ball.radius * ball.radius;
        let own = self.surfaces.materials[ball.body as usize].colour;
        for row in self.rows_between(y - reach, y + reach) {
            for column in columns.clone() {
                let ray = view.ray(column as f32 + 0.5, row as f32 + 0.5);
                let (a, b) = (ray.length_squared(), ray.dot(to_eye));
                let under = b * b - a * rest;
                if under < 0.0 {
                    continue;
                }
                let depth = (-b - under.sqrt()) / a;
                let sample = &mut self.samples[(row - self.first) * self.width + column];
                if depth < sample.depth && depth > view.near {
                    let normal = (to_eye + ray * depth) / ball.radius;
                    let colour = surface_colour(self.surfaces.map, ball.scalar, own);
                    *sample = Sample { depth, normal, colour, body: ball.body };
                }
            }
        }
    }
}

fn surface_colour(map: ColourMap, scalar: f32, own: Vec3) -> Vec3 {
    if scalar.is_nan() { own } else { Vec3::from_array(map.at(scalar).map(to_linear)) }
}

/// Whether a see-through surface is drawn at a sample: an even share of them, of which pixels take the mean. All layers of
/// a body share the samples, so that it is as clear where four walls stand behind each other as where there is one.
fn shows(column: usize, row: usize, per_pixel: usize) -> bool {
    match per_pixel {
        2 => (column + 2 * row).is_multiple_of(4),
        n => (column + row).is_multiple_of(n.max(3)),
    }
}
