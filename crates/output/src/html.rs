//! The self-contained HTML view: one file that plays a run in a browser, from disk and without a network.
//!
//! Long or large runs are thinned to every n-th frame so that the file stays below a limit.

use std::path::Path;

use glam::DVec3;

use crate::body::Source;
use crate::embed::{Embedding, Gaps, embed};
use crate::error::{At, Result};
use crate::table::Table;

const PAGE: &str = include_str!("../viewer/src/page.html");
const STYLE: &str = include_str!("../viewer/src/style.css");
pub(crate) const SCRIPT: &str = include_str!("../viewer/dist/viewer.js");

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
    gaps: Option<Gaps<'_>>,
    options: &HtmlOptions,
) -> Result<(String, HtmlReport)> {
    let fixed = SCRIPT.len() + STYLE.len() + PAGE.len() + 64_000;
    // base64 makes four bytes of three.
    let room = options.max_bytes.saturating_sub(fixed) / 4 * 3;
    let embedding =
        Embedding { room, up: options.up, gap_range: options.gap_range, fields: true, view: None };
    let embedded = embed(source, probes, gaps, &embedding)?;
    let page = fill(
        PAGE,
        &[
            ("version", env!("CARGO_PKG_VERSION")),
            ("title", &escape(source.title())),
            ("style", STYLE),
            ("run", &embedded.description()),
            ("data", &embedded.data()),
            ("script", SCRIPT),
        ],
    );
    let report = HtmlReport { bytes: page.len(), ..embedded.report };
    Ok((page, report))
}

/// Fills a page's `{{name}}` places in one pass, so that what is filled in is never searched again.
pub(crate) fn fill(template: &str, parts: &[(&str, &str)]) -> String {
    let length = template.len() + parts.iter().map(|p| p.1.len()).sum::<usize>();
    let mut page = String::with_capacity(length);
    let mut rest = template;
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

/// Text as HTML, also within quotes.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::{BodyInfo, Frames, Role};
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use serde_json::{Value, json};

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
