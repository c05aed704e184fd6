//! A run as what a page embeds: a description, and one block of arrays.
//!
//! Topology is embedded once; positions as 16-bit steps of each body's box over the whole run, speeds and
//! gaps as one byte a vertex. Long or large runs are thinned to every n-th frame so that they fit.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use glam::DVec3;
use serde_json::{Value, json};

use crate::body::Source;
use crate::bounds::{Bounds, Containers, focus, ground_height};
use crate::colour::body_colours;
use crate::curves::curves;
use crate::error::{OutputError, Result};
use crate::field::{Field, Scale};
use crate::html::HtmlReport;
use crate::stretch::Stretch;
use crate::table::Table;

/// Gaps of one frame: per body, one a vertex in metres, or `None`. Not finite means that nothing is near.
pub type Gaps<'a> = &'a mut dyn FnMut(usize, &[Vec<DVec3>]) -> Result<Vec<Option<Vec<f32>>>>;

/// What of a run is embedded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Embedding {
    /// Bytes that the block may have, before base64.
    pub(crate) room: usize,
    /// Unit up axis.
    pub(crate) up: DVec3,
    /// Gap in metres at the far end of the colour bar; `None` takes the largest.
    pub(crate) gap_range: Option<f64>,
    /// Whether values that colour bodies are embedded.
    pub(crate) fields: bool,
    /// What the camera looks at; `None` takes what moves.
    pub(crate) view: Option<Bounds>,
}

/// A run, embedded.
pub(crate) struct Embedded {
    run: Value,
    bytes: Vec<u8>,
    pub(crate) report: HtmlReport,
}

impl Embedded {
    /// JSON. A `<` in it can only stand in a string; escaped, it can't end the script element.
    pub(crate) fn description(&self) -> String {
        self.run.to_string().replace('<', "\\u003c")
    }

    /// The block as base64.
    pub(crate) fn data(&self) -> String {
        STANDARD.encode(&self.bytes)
    }
}

/// Embeds a run. `gaps`, where given, is asked once for each frame that is shown.
///
/// # Errors
/// When the run has no frame yet, or a frame can't be read.
pub(crate) fn embed(
    source: &dyn Source,
    probes: Option<&Table>,
    mut gaps: Option<Gaps<'_>>,
    options: &Embedding,
) -> Result<Embedded> {
    let bodies = source.bodies();
    let all_times = source.times();
    if all_times.is_empty() {
        return Err(OutputError::Shape("the run has no frame to show yet".to_owned()));
    }
    let per_frame: usize = bodies.iter().filter(|b| b.moving).map(|b| b.vertices).sum();
    let once: usize = (bodies.iter())
        .map(|b| b.faces.len() * 12 + if b.moving { 0 } else { b.vertices * 6 })
        .sum();
    let stretches: Vec<Option<Stretch>> =
        bodies.iter().map(|b| Stretch::new(b).filter(|_| b.moving && options.fields)).collect();
    let stretched: usize =
        bodies.iter().zip(&stretches).filter(|(_, s)| s.is_some()).map(|(b, _)| b.vertices).sum();
    let scalars = usize::from(options.fields) + usize::from(gaps.is_some());
    let frame_bytes = per_frame * (6 + scalars) + stretched;
    let probe_bytes = probes.map_or(0, |p| p.rows.len() * p.columns.len() * 4);
    let room = options.room.saturating_sub(once + probe_bytes);
    let fit = (room / frame_bytes.max(1)).max(1);
    let stride = all_times.len().div_ceil(fit);
    let shown: Vec<usize> = (0..all_times.len()).step_by(stride).collect();

    // First pass: boxes and fields.
    let mut boxes = vec![Bounds::EMPTY; bodies.len()];
    let mut speed = vec![Vec::new(); bodies.len()];
    let mut gap = vec![Vec::new(); bodies.len()];
    let mut stretch = vec![Vec::new(); bodies.len()];
    let mut containers = Containers::new(bodies, &source.frame(0)?);
    let mut window = Window::new(source);
    for k in &shown {
        let (before, after) = (k.saturating_sub(1), (k + 1).min(all_times.len() - 1));
        window.load(before, after)?;
        let (start, frame, end) = (window.get(before), window.get(*k), window.get(after));
        let dt = all_times[after] - all_times[before];
        for (b, body) in bodies.iter().enumerate() {
            boxes[b].add(body, &frame[b]);
            if let Some(of_body) = &stretches[b] {
                stretch[b].extend(of_body.of(&frame[b]));
            }
            if body.moving && options.fields {
                let rate = if dt > 0.0 { 1.0 / dt } else { 0.0 };
                let pairs = start[b].iter().zip(&end[b]);
                speed[b].extend(pairs.map(|(p, q)| ((*q - *p).length() * rate) as f32));
            }
        }
        containers.look(bodies, frame);
        if let Some(gaps) = &mut gaps {
            let found = gaps(*k, frame)?;
            for (b, body) in bodies.iter().enumerate().filter(|(_, body)| body.moving) {
                match found.get(b).and_then(Option::as_ref) {
                    Some(values) if values.len() == body.vertices => gap[b].extend(values),
                    _ => gap[b].extend(std::iter::repeat_n(f32::NAN, body.vertices)),
                }
            }
        }
    }
    let mut fields = Vec::new();
    if options.fields && per_frame > 0 && all_times.len() > 1 {
        fields.push(Field { name: "speed", unit: "m/s", scale: Scale::FromZero, values: speed });
    }
    if gaps.is_some() && per_frame > 0 {
        let top = options.gap_range.map(|g| g * 1e3);
        for value in gap.iter_mut().flatten() {
            *value *= 1e3;
        }
        fields.push(Field { name: "gap", unit: "mm", scale: Scale::Gap(top), values: gap });
    }
    if stretched > 0 {
        fields.push(Field { name: "stretch", unit: "%", scale: Scale::Around, values: stretch });
    }

    // Second pass: the block of arrays, described by `run`.
    let mut block = Block::default();
    let mut described: Vec<Value> = Vec::with_capacity(bodies.len());
    let mut position_error = 0.0_f64;
    let steps: Vec<(DVec3, DVec3)> = boxes.iter().map(grid).collect();
    for (b, (body, colour)) in bodies.iter().zip(body_colours(bodies)).enumerate() {
        let [red, green, blue] = colour;
        let (low, step) = steps[b];
        if body.vertices > 0 {
            position_error = position_error.max(step.max_element() * 0.5);
        }
        let faces = block.begin();
        body.faces.iter().flatten().for_each(|i| block.bytes.extend_from_slice(&i.to_le_bytes()));
        described.push(json!({
            "name": body.name,
            "role": body.role,
            "vertices": body.vertices,
            "moving": body.moving,
            "colour": format!("#{red:02x}{green:02x}{blue:02x}"),
            "radii": body.radii,
            "plane": body.plane,
            "seeThrough": containers.found[b],
            "faces": { "offset": faces, "count": body.faces.len() },
            "low": low,
            "step": step,
            "fields": {},
        }));
    }
    let mut offsets = Vec::with_capacity(bodies.len());
    for (b, body) in bodies.iter().enumerate() {
        let offset = block.begin();
        let frames = if body.moving { shown.len() } else { 1 };
        block.bytes.resize(offset + frames * body.vertices * 6, 0);
        described[b]["positions"] = json!(offset);
        offsets.push(offset);
    }
    for (i, k) in shown.iter().enumerate() {
        let frame = source.frame(*k)?;
        for (b, body) in bodies.iter().enumerate().filter(|(_, body)| body.moving || i == 0) {
            let at = offsets[b] + i * body.vertices * 6;
            let out = &mut block.bytes[at..at + body.vertices * 6];
            quantise(&frame[b], steps[b], out);
        }
    }
    let mut field_info = Vec::with_capacity(fields.len());
    for field in &fields {
        let coding = field.coding();
        for b in 0..bodies.len() {
            let offset = block.begin();
            if !field.values[b].is_empty() {
                block.bytes.extend(field.values[b].iter().map(|value| coding.encode(*value)));
                described[b]["fields"][field.name] = json!(offset);
            }
        }
        field_info.push(field.describe(&coding));
    }
    let probes = probes.filter(|p| p.columns.len() > 1 && !p.rows.is_empty());
    let probes = probes.map(|table| describe_probes(table, &mut block));

    let report = HtmlReport { stride, frames: shown.len(), bytes: 0, position_error };
    let view = options.view.unwrap_or_else(|| focus(bodies, &boxes));
    let times: Vec<f64> = shown.iter().map(|k| all_times[*k]).collect();
    let run = json!({
        "times": times,
        "stride": stride,
        "phases": source.phases(),
        "bodies": described,
        "fields": field_info,
        "up": options.up,
        "box": { "low": view.low, "high": view.high },
        "ground": ground_height(bodies, &boxes, options.up),
        "probes": probes,
        "info": info(&report, all_times.len()),
    });
    Ok(Embedded { run, bytes: block.bytes, report })
}

/// Low corner and step of the 16-bit grid over a box.
fn grid(bounds: &Bounds) -> (DVec3, DVec3) {
    let b = bounds.or_unit();
    (b.low, b.size() / f64::from(u16::MAX))
}

fn info(report: &HtmlReport, total: usize) -> String {
    let (frames, version) = (report.frames, env!("CARGO_PKG_VERSION"));
    let mut text = format!("Gusset {version}. ");
    if report.stride == 1 {
        let _ = write!(text, "{frames} frames. ");
    } else {
        let stride = report.stride;
        let _ = write!(text, "{frames} of {total} frames: one in {stride}. ");
    }
    let error = report.position_error * 1e6;
    let _ = write!(text, "Coordinates are rounded by {error:.2} µm at most.");
    text
}

/// Columns one after the other in single precision, and which of them share a plot.
fn describe_probes(table: &Table, block: &mut Block) -> Value {
    let offset = block.begin();
    for c in 0..table.columns.len() {
        block.bytes.extend(table.column(c).flat_map(|x| (x as f32).to_le_bytes()));
    }
    let plots: Vec<Value> = curves(table)
        .iter()
        .map(|group| {
            json!({
                "title": group.title(), "factor": group.shown.0,
                "columns": group.columns, "labels": group.labels,
            })
        })
        .collect();
    json!({ "offset": offset, "rows": table.rows.len(), "plots": plots })
}

fn quantise(points: &[DVec3], (low, step): (DVec3, DVec3), out: &mut [u8]) {
    for (p, bytes) in points.iter().zip(out.chunks_exact_mut(6)) {
        for c in 0..3 {
            let steps = if step[c] > 0.0 { ((p[c] - low[c]) / step[c]).round() } else { 0.0 };
            let word = steps.clamp(0.0, f64::from(u16::MAX)) as u16;
            bytes[2 * c..2 * c + 2].copy_from_slice(&word.to_le_bytes());
        }
    }
}

/// Arrays one after the other, each at a multiple of four bytes.
#[derive(Default)]
struct Block {
    bytes: Vec<u8>,
}

impl Block {
    fn begin(&mut self) -> usize {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        self.bytes.len()
    }
}

/// The last few frames read, so that speeds cost no second reading.
struct Window<'a> {
    source: &'a dyn Source,
    frames: Vec<(usize, Vec<Vec<DVec3>>)>,
}

impl<'a> Window<'a> {
    fn new(source: &'a dyn Source) -> Window<'a> {
        Window { source, frames: Vec::with_capacity(3) }
    }

    /// Holds the frames `first ..= last` and no other.
    fn load(&mut self, first: usize, last: usize) -> Result<()> {
        self.frames.retain(|(k, _)| (first..=last).contains(k));
        for k in first..=last {
            if !self.frames.iter().any(|(held, _)| *held == k) {
                self.frames.push((k, self.source.frame(k)?));
            }
        }
        Ok(())
    }

    fn get(&self, k: usize) -> &[Vec<DVec3>] {
        let held = self.frames.iter().find(|(held, _)| *held == k);
        &held.expect("loaded just before").1
    }
}
