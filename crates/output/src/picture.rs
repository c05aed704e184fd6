//! Pictures of a frame and contact sheets of a run.

use glam::{DVec3, Vec3};
use rayon::prelude::*;

use crate::body::{BodyInfo, Role, Source};
use crate::bounds::{Bounds, Containers, focus, ground_height};
use crate::camera::{Camera, Orbit};
use crate::colour::{ColourMap, Rgb};
use crate::error::{OutputError, Result};
use crate::font;
use crate::image::{Image, text_width};
use crate::light::Lights;
use crate::raster::project;
use crate::shade::Shade;
use crate::surface::Surfaces;

/// Values that colour the bodies.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scalars {
    /// What they are, with the unit: `speed (m/s)`.
    pub label: String,
    /// Values at the two ends of the colour map.
    pub range: [f64; 2],
    /// The colour map.
    pub map: ColourMap,
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
    /// Given values, for each frame drawn, in the same order.
    Values(Vec<Scalars>),
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
    /// Time stamp in the corner, and the name of the phase.
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
        ColourBy::Values(all) if all.len() != frames.len() => {
            let (found, wanted) = (all.len(), frames.len());
            let text = format!("values for {found} frames, of which {wanted} are drawn");
            return Err(OutputError::Shape(text));
        }
        ColourBy::Values(all) => {
            let of = |s: &Scalars| {
                let values = shown.iter().map(|b| s.values.get(*b).cloned().unwrap_or_default());
                Scalars { values: values.collect(), ..s.clone() }
            };
            Some(all.iter().map(of).collect())
        }
    };
    let stage = Stage::new(&bodies, &positions, options);
    let mut images = Vec::with_capacity(frames.len());
    for (i, frame) in positions.iter().enumerate() {
        let scalars = scalars.as_ref().map(|s| &s[i]);
        let mut image = stage.render(&bodies, frame, scalars, options);
        if options.stamp {
            stamp(&mut image, source.times()[frames[i]], phase_at(source, frames[i]));
        }
        // One scale holds for all tiles: the first shows it.
        if let (0, Some(scalars)) = (i, scalars) {
            legend(&mut image, scalars);
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
        let (label, range) = ("speed [m/s]".to_owned(), [0.0, 1.0]);
        all.push(Scalars { label, range, map: ColourMap::Viridis, values });
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
    /// Bodies that hold others.
    see_through: Vec<bool>,
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
        let mut containers = Containers::new(bodies, frames.first().map_or(&[], Vec::as_slice));
        for frame in frames {
            containers.look(bodies, frame);
        }
        let see_through = containers.found;
        Stage { origin, camera, radius: reach, ground, up: up.as_vec3(), sun, see_through }
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
        let map = scalars.map_or(ColourMap::Viridis, |s| s.map);
        let (origin, see_through) = (self.origin, &self.see_through);
        let surfaces =
            Surfaces::new(bodies, positions, &mapped, map, see_through, origin, point_radius);
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

fn text_scale(image: &Image) -> usize {
    (image.height / 330).max(1)
}

/// Writes a line in what stands out from the picture under it.
fn write(image: &mut Image, x: usize, y: usize, text: &str) {
    let scale = text_scale(image);
    let (mut total, mut count) = (0_u64, 1_u64);
    for row in y..(y + font::HEIGHT * scale).min(image.height) {
        for column in x..(x + text_width(text, scale)).min(image.width) {
            let [r, g, b] = image.pixels[row * image.width + column].map(u64::from);
            total += 2 * r + 5 * g + b;
            count += 8;
        }
    }
    let ink: Rgb = if total / count < 110 { [232; 3] } else { [42, 45, 50] };
    image.text(x, y, text, scale, ink);
}

fn stamp(image: &mut Image, time: f64, phase: Option<&str>) {
    let scale = text_scale(image);
    let margin = 5 * scale;
    let y = image.height.saturating_sub(margin + font::HEIGHT * scale);
    write(image, margin, y, &format!("t = {time:.3} s"));
    if let Some(phase) = phase {
        write(image, margin, margin, phase);
    }
}

/// Name of the phase that the step to frame `k` belongs to.
fn phase_at(source: &dyn Source, k: usize) -> Option<&str> {
    let times = source.times();
    // The state at the moment when a phase begins is what the one before has made.
    let within = |start: f64| start < times[k] - 1e-9 || k == 0 && start <= times[0] + 1e-9;
    let phase = source.phases().iter().rev().find(|phase| within(phase.start))?;
    Some(&phase.name)
}

/// The last frame of each phase that has begun, and of what was before the first; empty without phases.
pub fn phase_ends(source: &dyn Source) -> Vec<usize> {
    let times = source.times();
    let mut ends: Vec<usize> = (source.phases().iter().map(|phase| phase.start))
        .filter_map(|start| times.iter().rposition(|time| *time <= start + 1e-9).filter(|k| *k > 0))
        .collect();
    if !source.phases().is_empty() && !times.is_empty() {
        ends.push(times.len() - 1);
    }
    ends.dedup();
    ends
}

/// The colour map with its ends, at the right edge.
fn legend(image: &mut Image, scalars: &Scalars) {
    let scale = text_scale(image);
    let (bar, height) = (7 * scale, image.height * 2 / 5);
    let labels = [number(scalars.range[1]), number(scalars.range[0])];
    let wide = labels.iter().map(|l| text_width(l, scale)).max().unwrap_or(0);
    let margin = 6 * scale;
    let x = image.width.saturating_sub(margin + wide + 3 * scale + bar);
    let y = (image.height - height) / 2;
    for row in 0..height {
        let [r, g, b] = scalars.map.at(1.0 - (row as f32 + 0.5) / height as f32);
        let colour = [r, g, b].map(|c| (c * 255.0 + 0.5) as u8);
        image.fill([x, y + row, bar, 1], colour, 1.0);
    }
    let text = x + bar + 3 * scale;
    write(image, text, y, &labels[0]);
    write(image, text, (y + height).saturating_sub(font::HEIGHT * scale), &labels[1]);
    let title = image.width.saturating_sub(margin + text_width(&scalars.label, scale));
    write(image, title, y.saturating_sub((font::HEIGHT + 4) * scale), &scalars.label);
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
