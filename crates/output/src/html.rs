//! The self-contained HTML view: one file that plays a run in a browser, from disk and without a network.
//!
//! Topology is embedded once; positions as 16-bit steps of each body's box over the whole run, speeds and
//! gaps as one byte a vertex, all in one base64 block. Long or large runs are thinned to every n-th frame so
//! that the file stays below a limit.

use std::fmt::Write as _;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use glam::DVec3;
use serde_json::{Value, json};

use crate::body::Source;
use crate::bounds::{Bounds, Containers, focus, ground_height};
use crate::colour::body_colours;
use crate::curves::curves;
use crate::error::{At, OutputError, Result};
use crate::field::{Field, Scale};
use crate::stretch::Stretch;
use crate::table::Table;

const PAGE: &str = include_str!("../viewer/src/page.html");
const STYLE: &str = include_str!("../viewer/src/style.css");
const SCRIPT: &str = include_str!("../viewer/dist/viewer.js");

/// Gaps of one frame: per body, one a vertex in metres, or `None`. Not finite means that nothing is near.
pub type Gaps<'a> = &'a mut dyn FnMut(usize, &[Vec<DVec3>]) -> Result<Vec<Option<Vec<f32>>>>;

/// How the view is written.
#[derive(Clone, Debug, PartialEq)]
pub struct HtmlOptions {
    /// The file stays below this many bytes by leaving out frames.
    pub max_bytes: usize,
    /// Unit up axis.
    pub up: DVec3,
    /// Gap in metres at the far end of the colour bar; `None` takes the largest.
    pub gap_range: Option<f64>,
}

impl Default for HtmlOptions {
    fn default() -> HtmlOptions {
        HtmlOptions { max_bytes: 40_000_000, up: DVec3::Z, gap_range: None }
    }
}

/// What was written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HtmlReport {
    /// Every `stride`-th frame is in the view.
    pub stride: usize,
    /// Frames in the view.
    pub frames: usize,
    /// Size of the file.
    pub bytes: usize,
    /// Largest rounding error of a coordinate, in metres.
    pub position_error: f64,
}

/// Writes the view to `path`. `gaps`, where given, is asked once for each frame that is shown.
pub fn write_html(
    source: &dyn Source,
    probes: Option<&Table>,
    gaps: Option<Gaps<'_>>,
    options: &HtmlOptions,
    path: &Path,
) -> Result<HtmlReport> {
    let (page, mut report) = html(source, probes, gaps, options)?;
    report.bytes = page.len();
    std::fs::write(path, page).at("write the HTML view", path)?;
    Ok(report)
}

fn html(
    source: &dyn Source,
    probes: Option<&Table>,
    mut gaps: Option<Gaps<'_>>,
    options: &HtmlOptions,
) -> Result<(String, HtmlReport)> {
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
        bodies.iter().map(|b| if b.moving { Stretch::new(b) } else { None }).collect();
    let stretched: usize =
        bodies.iter().zip(&stretches).filter(|(_, s)| s.is_some()).map(|(b, _)| b.vertices).sum();
    let frame_bytes = per_frame * (7 + usize::from(gaps.is_some())) + stretched;
    let probe_bytes = probes.map_or(0, |p| p.rows.len() * p.columns.len() * 4);
    let fixed = SCRIPT.len() + STYLE.len() + PAGE.len() + 64_000;
    // base64 makes four bytes of three.
    let room = (options.max_bytes.saturating_sub(fixed) / 4 * 3).saturating_sub(once + probe_bytes);
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
            if body.moving {
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
    if per_frame > 0 && all_times.len() > 1 {
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

    let mut report = HtmlReport { stride, frames: shown.len(), bytes: 0, position_error };
    let view = focus(bodies, &boxes);
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
    // A `<` in JSON can only stand in a string; escaped, it can't end the script element.
    let run = run.to_string().replace('<', "\\u003c");
    let page = fill(&[
        ("version", env!("CARGO_PKG_VERSION")),
        ("title", &escape(source.title())),
        ("style", STYLE),
        ("run", &run),
        ("data", &STANDARD.encode(&block.bytes)),
        ("script", SCRIPT),
    ]);
    report.bytes = page.len();
    Ok((page, report))
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

/// Fills the page's `{{name}}` places in one pass, so that what is filled in is never searched again.
fn fill(parts: &[(&str, &str)]) -> String {
    let mut page =
        String::with_capacity(PAGE.len() + parts.iter().map(|p| p.1.len()).sum::<usize>());
    let mut rest = PAGE;
    while let Some((before, after)) = rest.split_once("{{") {
        page.push_str(before);
        let (name, after) = after.split_once("}}").expect("the page closes its braces");
        let part = parts.iter().find(|p| p.0 == name).expect("the page names known parts");
        page.push_str(part.1);
        rest = after;
    }
    page.push_str(rest);
    page
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::{BodyInfo, Frames, Role};

    fn frames(count: usize, vertices: usize) -> Frames {
        let body = BodyInfo::new("a </script> & b", Role::Film, vertices, vec![[0, 1, 2]]);
        let point = |k: usize, v: usize| {
            DVec3::new(v as f64 * 0.37, (k as f64 * 0.1).sin(), 0.2 + k as f64 * 1e-3)
        };
        Frames {
            title: "x </title><script>".to_owned(),
            bodies: vec![body],
            times: (0..count).map(|k| k as f64 * 0.01).collect(),
            phases: Vec::new(),
            positions: (0..count)
                .map(|k| vec![(0..vertices).map(|v| point(k, v)).collect()])
                .collect(),
        }
    }

    fn parts(page: &str) -> (Value, Vec<u8>) {
        let between = |start: &str| {
            let at = page.find(start).unwrap() + start.len();
            &page[at..at + page[at..].find("</script>").unwrap()]
        };
        let run = between("<script type=\"application/json\" id=\"run\">");
        let data = between("<script type=\"text/plain\" id=\"data\">");
        (serde_json::from_str(run).unwrap(), STANDARD.decode(data).unwrap())
    }

    #[test]
    fn positions_come_back_within_the_stated_error() {
        let source = frames(5, 4);
        let (page, report) = html(&source, None, None, &HtmlOptions::default()).unwrap();
        let (run, data) = parts(&page);
        assert!(page.contains("<title>x &lt;/title&gt;&lt;script&gt;</title>"));
        assert_eq!(page.matches("</script>").count(), 3);
        assert_eq!(run["bodies"][0]["name"], "a </script> & b");
        let body = &run["bodies"][0];
        let offset = body["positions"].as_u64().unwrap() as usize;
        assert!(report.position_error > 0.0 && report.position_error < 1e-5);
        for (k, frame) in source.positions.iter().enumerate() {
            for (v, p) in frame[0].iter().enumerate() {
                for c in 0..3 {
                    let at = offset + (k * 4 + v) * 6 + 2 * c;
                    let word = f64::from(u16::from_le_bytes([data[at], data[at + 1]]));
                    let number = |key: &str| body[key][c].as_f64().unwrap();
                    let error = (number("low") + number("step") * word - p[c]).abs();
                    assert!(error <= report.position_error * (1.0 + 1e-9));
                }
            }
        }
    }

    #[test]
    fn speeds_and_gaps_keep_small_values() {
        let source = frames(6, 4);
        let mut gap = |k: usize, _: &[Vec<DVec3>]| {
            Ok(vec![Some(vec![1e-5, 1e-3, 2e-3 * k as f32, f32::INFINITY])])
        };
        let (page, _) = html(&source, None, Some(&mut gap), &HtmlOptions::default()).unwrap();
        let (run, data) = parts(&page);
        let field = &run["fields"][1];
        assert!((field["high"].as_f64().unwrap() - 10.0).abs() < 1e-6);
        let at = run["bodies"][0]["fields"]["gap"].as_u64().unwrap() as usize;
        let value = |i: usize| 10.0 * (f64::from(data[at + i]) / 254.0).powi(2);
        assert!((value(1) - 1.0).abs() < 0.03 && (value(0) - 0.01).abs() < 0.002);
        assert_eq!((data[at + 3], &field["colours"][255]), (255, &json!([185, 188, 192])));
        let speed = run["fields"][0]["high"].as_f64().unwrap();
        // Height rises 1 mm in 10 ms, sideways by up to 0.1 rad of a sine.
        assert!((9.0..10.1).contains(&speed), "{speed}");
    }

    #[test]
    fn films_with_a_rest_shape_have_a_stretch_and_probes_share_plots() {
        let mut source = frames(3, 4);
        source.bodies[0].rest.clone_from(&source.positions[0][0]);
        source.bodies[0].faces = vec![[0, 1, 2]];
        let columns = ["time [s]", "force.x [N]", "force.y [N]"].map(str::to_owned).to_vec();
        let rows = vec![vec![0.0, 1.5, -2.0], vec![0.01, f64::NAN, 3.0]];
        let table = Table { columns, rows };
        let (page, _) = html(&source, Some(&table), None, &HtmlOptions::default()).unwrap();
        let (run, data) = parts(&page);
        assert_eq!(run["fields"][1]["name"], "stretch");
        let probes = &run["probes"];
        assert_eq!((&probes["plots"][0]["columns"], &probes["rows"]), (&json!([1, 2]), &json!(2)));
        let at = probes["offset"].as_u64().unwrap() as usize;
        let number =
            |i: usize| f32::from_le_bytes(data[at + 4 * i..at + 4 * i + 4].try_into().unwrap());
        assert_eq!((number(1), number(2), number(5)), (0.01, 1.5, 3.0));
        assert!(number(3).is_nan());
    }

    #[test]
    fn large_runs_are_thinned() {
        let source = frames(200, 400);
        let options = HtmlOptions { max_bytes: SCRIPT.len() + 300_000, ..HtmlOptions::default() };
        let (page, report) = html(&source, None, None, &options).unwrap();
        assert!(report.stride > 1 && page.len() < options.max_bytes, "{report:?} {}", page.len());
        assert_eq!(parts(&page).0["times"].as_array().unwrap().len(), report.frames);
        assert!(html(&Frames::default(), None, None, &options).is_err());
    }
}
