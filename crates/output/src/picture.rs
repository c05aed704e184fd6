//! Pictures of a frame and contact sheets of a run.

use glam::{DVec3, Vec3};
use rayon::prelude::*;

use crate::body::{BodyInfo, Role, Source};
use crate::bounds::{Bounds, focus, ground_height};
use crate::camera::{Camera, Orbit, View};
use crate::colour::{Rgb, to_srgb, viridis};
use crate::error::{OutputError, Result};
use crate::font;
use crate::image::{Image, text_width};
use crate::light::Lights;
use crate::raster::{Band, NOTHING, Projected, Sample, project};
use crate::surface::Surfaces;

/// Values that colour the bodies.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scalars {
    /// What they are, with the unit: `speed [m/s]`.
    pub label: String,
    /// Values at the two ends of the colour map.
    pub range: [f64; 2],
    /// Per body, one value a vertex, or empty where the body keeps its colour.
    pub values: Vec<Vec<f32>>,
}

/// What colours the bodies.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum ColourBy {
    /// Each its own colour.
    #[default]
    Body,
    /// Moving bodies by speed, from the frames before and after.
    Speed,
    /// Given values, for one frame.
    Values(Scalars),
}

/// How a picture is made. `Default` is meant to look good.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::struct_excessive_bools, reason = "independent switches")]
pub struct PictureOptions {
    /// Pixels.
    pub width: usize,
    /// Pixels.
    pub height: usize,
    /// Samples per pixel in each direction.
    pub samples: usize,
    /// From where to look. Distance and target come from the moving bodies.
    pub orbit: Orbit,
    /// A camera of one's own instead.
    pub camera: Option<Camera>,
    /// What colours the bodies.
    pub colour: ColourBy,
    /// Mesh lines on films and solids.
    pub lines: bool,
    /// A ground under the bodies where the scene has no floor of its own.
    pub ground: bool,
    /// Dark background.
    pub dark: bool,
    /// Time stamp in the corner.
    pub stamp: bool,
    /// Bodies left out, by name.
    pub hide: Vec<String>,
}

impl Default for PictureOptions {
    fn default() -> PictureOptions {
        PictureOptions {
            width: 1280,
            height: 800,
            samples: 3,
            orbit: Orbit::default(),
            camera: None,
            colour: ColourBy::Body,
            lines: true,
            ground: true,
            dark: false,
            stamp: true,
            hide: Vec::new(),
        }
    }
}

/// A picture of frame `k`.
pub fn picture(source: &dyn Source, k: usize, options: &PictureOptions) -> Result<Image> {
    let mut images = pictures(source, &[k], options)?;
    images.pop().ok_or_else(|| OutputError::Shape("no frame to draw".to_owned()))
}

/// Several frames as tiles of one image, `columns` in a row (0 chooses), all seen by the same camera and
/// with the same colour scale. `options.width` and `height` are those of a tile.
pub fn contact_sheet(
    source: &dyn Source,
    frames: &[usize],
    columns: usize,
    options: &PictureOptions,
) -> Result<Image> {
    let tiles = pictures(source, frames, options)?;
    let columns = match columns {
        0 => (tiles.len() as f64).sqrt().ceil() as usize,
        n => n,
    };
    let columns = columns.clamp(1, tiles.len().max(1));
    let rows = tiles.len().div_ceil(columns);
    let gap = (options.width / 160).max(1);
    let width = columns * (options.width + gap) + gap;
    let height = rows * (options.height + gap) + gap;
    let mut sheet = Image::new(width, height, if options.dark { [8; 3] } else { [255; 3] });
    for (i, tile) in tiles.iter().enumerate() {
        let (column, row) = (i % columns, i / columns);
        sheet.place(tile, gap + column * (options.width + gap), gap + row * (options.height + gap));
    }
    Ok(sheet)
}

/// `count` frame numbers spread evenly over the run, first and last among them.
pub fn spread(frame_count: usize, count: usize) -> Vec<usize> {
    let count = count.min(frame_count);
    let last = frame_count.saturating_sub(1);
    (0..count)
        .map(|i| if count < 2 { last } else { (i * last + (count - 1) / 2) / (count - 1) })
        .collect()
}

fn pictures(source: &dyn Source, frames: &[usize], options: &PictureOptions) -> Result<Vec<Image>> {
    if options.width == 0 || options.height == 0 || options.samples == 0 {
        return Err(OutputError::Shape("a picture needs width, height and samples".to_owned()));
    }
    let all = source.bodies();
    let shown: Vec<usize> =
        (0..all.len()).filter(|b| !options.hide.contains(&all[*b].name)).collect();
    let bodies: Vec<BodyInfo> = shown.iter().map(|b| all[*b].clone()).collect();
    let mut positions = Vec::with_capacity(frames.len());
    for k in frames {
        let mut frame = source.frame(*k)?;
        positions.push(shown.iter().map(|b| std::mem::take(&mut frame[*b])).collect::<Vec<_>>());
    }
    let scalars = match &options.colour {
        ColourBy::Body => None,
        ColourBy::Speed => Some(speeds(source, frames, &shown)?),
        ColourBy::Values(s) => {
            let values = shown.iter().map(|b| s.values.get(*b).cloned().unwrap_or_default());
            Some(vec![Scalars { values: values.collect(), ..s.clone() }; frames.len()])
        }
    };
    let stage = Stage::new(&bodies, &positions, options);
    let mut images = Vec::with_capacity(frames.len());
    for (i, frame) in positions.iter().enumerate() {
        let scalars = scalars.as_ref().map(|s| &s[i]);
        let mut image = stage.render(&bodies, frame, scalars, options);
        if options.stamp {
            stamp(&mut image, source.times()[frames[i]], options.dark);
        }
        // One scale holds for all tiles: the first shows it.
        if let (0, Some(scalars)) = (i, scalars) {
            legend(&mut image, scalars, options.dark);
        }
        images.push(image);
    }
    Ok(images)
}

/// Speeds of the moving bodies by central differences, with one range for all frames.
fn speeds(source: &dyn Source, frames: &[usize], shown: &[usize]) -> Result<Vec<Scalars>> {
    let times = source.times();
    let mut all = Vec::with_capacity(frames.len());
    let mut top = 0.0_f32;
    for k in frames {
        let (before, after) = (k.saturating_sub(1), (k + 1).min(times.len() - 1));
        let dt = times[after] - times[before];
        let (start, end) = (source.frame(before)?, source.frame(after)?);
        let mut values = Vec::with_capacity(shown.len());
        for b in shown {
            let moving = source.bodies()[*b].moving;
            let speed = |(a, b): (&DVec3, &DVec3)| {
                if dt > 0.0 { ((*b - *a).length() / dt) as f32 } else { 0.0 }
            };
            let body: Vec<f32> = if moving {
                start[*b].iter().zip(&end[*b]).map(speed).collect()
            } else {
                Vec::new()
            };
            top = body.iter().copied().filter(|s| s.is_finite()).fold(top, f32::max);
            values.push(body);
        }
        all.push(Scalars { label: "speed [m/s]".to_owned(), range: [0.0, 1.0], values });
    }
    for scalars in &mut all {
        scalars.range[1] = f64::from(top).max(1e-9);
    }
    Ok(all)
}

/// What all pictures of a sheet share.
struct Stage {
    origin: DVec3,
    camera: Camera,
    /// Radius about the origin within which shadows are cast.
    radius: f64,
    ground: Option<(Vec3, Vec3)>,
    up: Vec3,
    sun: Vec3,
}

impl Stage {
    fn new(bodies: &[BodyInfo], frames: &[Vec<Vec<DVec3>>], options: &PictureOptions) -> Stage {
        let spheres = |moving: bool| {
            let mut points = Vec::new();
            for frame in frames {
                for (body, positions) in bodies.iter().zip(frame) {
                    if body.moving == moving {
                        let radius = |v: usize| body.radii.get(v).copied().unwrap_or(0.0);
                        points.extend(positions.iter().enumerate().map(|(v, p)| (*p, radius(v))));
                    }
                }
            }
            points
        };
        let (mut seen, still) = (spheres(true), spheres(false));
        if seen.is_empty() {
            seen.clone_from(&still);
        }
        let up = options.orbit.up;
        let aspect = options.width as f64 / options.height as f64;
        let camera =
            options.camera.unwrap_or_else(|| Camera::framing(&seen, &options.orbit, aspect));
        let mut boxes = vec![Bounds::EMPTY; bodies.len()];
        for frame in frames {
            for ((b, body), points) in boxes.iter_mut().zip(bodies).zip(frame) {
                b.add(body, points);
            }
        }
        let view = focus(bodies, &boxes);
        let origin = view.centre();
        let size = view.size().length().max(1e-9);
        // Obstacles cast shadows too, but a wide floor must not thin out the depth maps.
        let reach = (still.iter())
            .map(|(p, r)| (*p - origin).length() + r)
            .filter(|d| *d < size * 1.5)
            .fold(size * 0.55, f64::max);
        let slab = bodies.iter().find_map(|b| (b.role == Role::Slab).then_some(b.plane).flatten());
        let ground = if let Some(plane) = slab {
            Some(((plane.point - origin).as_vec3(), plane.normal.as_vec3()))
        } else {
            let height = ground_height(bodies, &boxes, up).filter(|_| options.ground);
            height.map(|height| ((up * (height - origin.dot(up))).as_vec3(), up.as_vec3()))
        };
        // The sun stands behind the camera's left shoulder.
        let sun = Orbit { azimuth: options.orbit.azimuth - 62.0, elevation: 52.0, zoom: 1.0, up };
        let sun = sun.direction().as_vec3();
        Stage { origin, camera, radius: reach, ground, up: up.as_vec3(), sun }
    }

    fn render(
        &self,
        bodies: &[BodyInfo],
        positions: &[Vec<DVec3>],
        scalars: Option<&Scalars>,
        options: &PictureOptions,
    ) -> Image {
        let samples = options.samples;
        let (width, height) = (options.width * samples, options.height * samples);
        let mapped = scalars.map_or(Vec::new(), |s| {
            let [low, high] = s.range;
            let scale = |v: &f32| ((f64::from(*v) - low) / (high - low).max(1e-300)) as f32;
            s.values.iter().map(|body| body.iter().map(scale).collect()).collect()
        });
        let point_radius = self.radius * 0.006;
        let surfaces = Surfaces::new(bodies, positions, &mapped, self.origin, point_radius);
        let lights =
            Lights::new(&surfaces, Vec3::ZERO, self.radius as f32 * 1.05, self.up, self.sun);
        let view = self.camera.view(self.origin, width, height);
        let triangles = project(&surfaces, &view, options.lines, samples as f32);
        let shade = Shade {
            view: &view,
            surfaces: &surfaces,
            lights: &lights,
            ground: self.ground,
            fade: self.radius as f32,
            dark: options.dark,
            height: height as f32,
        };
        let mut image = Image::new(options.width, options.height, [0; 3]);
        let rows = 16;
        image.pixels.par_chunks_mut(rows * options.width).enumerate().for_each(|(i, out)| {
            shade.band(&triangles, i * rows, out, options.width, samples);
        });
        image
    }
}

/// Turns samples into pixels.
struct Shade<'a> {
    view: &'a View,
    surfaces: &'a Surfaces,
    lights: &'a Lights,
    ground: Option<(Vec3, Vec3)>,
    fade: f32,
    dark: bool,
    height: f32,
}

/// The ground's place among the bodies.
const GROUND: u16 = NOTHING - 1;

impl Shade<'_> {
    fn band(
        &self,
        triangles: &[Projected],
        first_row: usize,
        out: &mut [Rgb],
        width: usize,
        samples: usize,
    ) {
        let rows = out.len() / width;
        let wide = width * samples;
        let line_width = samples as f32 * 0.9;
        let (first, tall) = (first_row * samples, rows * samples);
        let mut band = Band::new(self.view, self.surfaces, wide, first, tall, line_width);
        band.draw(triangles);
        self.draw_ground(&mut band);
        let mut group: Vec<(Vec3, Sample)> = Vec::with_capacity(samples * samples);
        for row in 0..rows {
            for column in 0..width {
                group.clear();
                let mut total = Vec3::ZERO;
                for sy in 0..samples {
                    let y = row * samples + sy;
                    for sx in 0..samples {
                        let x = column * samples + sx;
                        let sample = band.samples[y * wide + x];
                        let screen = [x as f32 + 0.5, (band.first + y) as f32 + 0.5];
                        if sample.body == NOTHING {
                            total += self.background(screen[1]);
                        } else {
                            let ray = self.view.ray(screen[0], screen[1]);
                            group.push((self.view.eye + ray * sample.depth, sample));
                        }
                    }
                }
                total += self.shade_group(&group, first as f32 + (row * samples) as f32);
                let colour = total / (samples * samples) as f32;
                out[row * width + column] = colour.to_array().map(|c| to_srgb(shoulder(c)));
            }
        }
    }

    /// Light from the samples of one pixel, summed. Where they lie on one smooth surface, the lights are
    /// evaluated once, at their middle.
    fn shade_group(&self, group: &[(Vec3, Sample)], y: f32) -> Vec3 {
        let Some((_, head)) = group.first() else { return Vec3::ZERO };
        let alike = |s: &Sample| {
            s.body == head.body
                && s.normal.dot(head.normal) > 0.96
                && (s.depth - head.depth).abs() < 0.004 * self.fade
        };
        if group.iter().all(|(_, s)| alike(s)) {
            let n = group.len() as f32;
            let point = group.iter().map(|(p, _)| *p).sum::<Vec3>() / n;
            let normal = group.iter().map(|(_, s)| s.normal).sum::<Vec3>().normalize_or_zero();
            let colour = group.iter().map(|(_, s)| s.colour).sum::<Vec3>() / n;
            return self.shade(point, &Sample { normal, colour, ..*head }, y) * n;
        }
        group.iter().map(|(p, s)| self.shade(*p, s, y)).sum()
    }

    fn shade(&self, p: Vec3, sample: &Sample, y: f32) -> Vec3 {
        if sample.body == GROUND {
            // The ground is the background, darkened by what stands on it.
            let background = self.background(y);
            let (light, _) = self.lights.diffuse(p, sample.normal, 0.0);
            let shadow = light / self.lights.open_ground();
            let far = ((p.length() / self.fade - 1.2) / 2.0).clamp(0.0, 1.0);
            return background * shadow.lerp(Vec3::ONE, far);
        }
        let material = &self.surfaces.materials[sample.body as usize];
        let to_eye = (self.view.eye - p).normalize_or_zero();
        let (light, sun) = self.lights.diffuse(p, sample.normal, material.translucent);
        let shine = material.gloss * sun * self.lights.highlight(sample.normal, to_eye);
        // Grazing views catch some of the sky, which lifts outlines from their background.
        let rim = (1.0 - sample.normal.dot(to_eye).max(0.0)).powi(4) * material.gloss * 0.8;
        sample.colour * light + Vec3::splat(shine + rim * 0.5)
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

fn ink(dark: bool) -> Rgb {
    if dark { [225; 3] } else { [45, 48, 52] }
}

fn text_scale(image: &Image) -> usize {
    (image.height / 330).max(1)
}

fn stamp(image: &mut Image, time: f64, dark: bool) {
    let scale = text_scale(image);
    let margin = 5 * scale;
    let y = image.height.saturating_sub(margin + font::HEIGHT * scale);
    image.text(margin, y, &format!("t = {time:.3} s"), scale, ink(dark));
}

/// The colour map with its ends, at the right edge.
fn legend(image: &mut Image, scalars: &Scalars, dark: bool) {
    let scale = text_scale(image);
    let (bar, height) = (7 * scale, image.height * 2 / 5);
    let labels = [number(scalars.range[1]), number(scalars.range[0])];
    let wide = labels.iter().map(|l| text_width(l, scale)).max().unwrap_or(0);
    let margin = 6 * scale;
    let x = image.width.saturating_sub(margin + wide + 3 * scale + bar);
    let y = (image.height - height) / 2;
    for row in 0..height {
        let [r, g, b] = viridis(1.0 - (row as f32 + 0.5) / height as f32);
        let colour = [r, g, b].map(|c| (c * 255.0 + 0.5) as u8);
        image.fill([x, y + row, bar, 1], colour, 1.0);
    }
    let text = x + bar + 3 * scale;
    image.text(text, y, &labels[0], scale, ink(dark));
    image.text(text, y + height - font::HEIGHT * scale, &labels[1], scale, ink(dark));
    let title = image.width.saturating_sub(margin + text_width(&scalars.label, scale));
    let above = y.saturating_sub((font::HEIGHT + 4) * scale);
    image.text(title, above, &scalars.label, scale, ink(dark));
}

/// A number as short as it reads well.
fn number(x: f64) -> String {
    let size = x.abs();
    if x == 0.0 {
        "0".to_owned()
    } else if (0.01..10_000.0).contains(&size) {
        let digits = (2.0 - size.log10().floor()).max(0.0) as usize;
        format!("{x:.digits$}")
    } else {
        format!("{x:.1e}")
    }
}
