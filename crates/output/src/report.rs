//! A report on several runs as one self-contained HTML page: runs side by side that play in step, curves, tables, remarks.

use std::fmt::Write as _;
use std::path::Path;

use glam::DVec3;

use crate::body::Source;
use crate::bounds::{Bounds, focus};
use crate::embed::{Embedding, embed};
use crate::error::{At, Result};
use crate::html::{SCRIPT, escape, fill};
use crate::plot::{Plot, colour_text};
use crate::probe_plots::thinned;

const PAGE: &str = include_str!("../viewer/src/report.html");
const STYLE: &str = include_str!("../viewer/src/report.css");

/// Bytes of all runs together, as base64.
const ROOM: usize = 26_000_000;

/// Frames from which a view of all runs is found.
const GLANCES: usize = 24;

/// A report.
#[derive(Default)]
pub struct Report<'a> {
    /// Its title.
    pub title: String,
    /// What it is about; an empty line begins a paragraph.
    pub about: String,
    /// Its sections.
    pub sections: Vec<ReportSection<'a>>,
    /// What stands below everything.
    pub end: String,
}

/// Runs that belong together.
#[derive(Default)]
pub struct ReportSection<'a> {
    /// Its title.
    pub title: String,
    /// What it is about; an empty line begins a paragraph.
    pub about: String,
    /// The runs, side by side.
    pub runs: Vec<ReportRun<'a>>,
    /// Corners of the box that the cameras look at (m); where absent, that of what moves.
    pub view: Option<[DVec3; 2]>,
    /// Curves over time.
    pub plots: Vec<Plot>,
    /// Tables.
    pub tables: Vec<ReportTable>,
    /// One sentence or more each.
    pub remarks: Vec<String>,
}

/// A run in a section.
pub struct ReportRun<'a> {
    /// Its name in legends and tables.
    pub name: String,
    /// Its frames; a run may have none.
    pub source: Option<&'a dyn Source>,
    /// What stands below its picture.
    pub note: String,
}

/// A table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReportTable {
    /// What stands above it.
    pub caption: String,
    /// Heads of its columns.
    pub head: Vec<String>,
    /// Its rows.
    pub rows: Vec<Vec<Cell>>,
}

/// A cell of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    /// What stands in it.
    pub text: String,
    /// Rows that it reaches over; 0 counts as 1.
    pub rows: usize,
    /// How it is to be seen.
    pub mark: Option<Mark>,
}

/// How a cell is to be seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// As it should be.
    Good,
    /// Not as it should be.
    Bad,
}

impl Cell {
    /// A cell of one row without a mark.
    pub fn new(text: impl Into<String>) -> Cell {
        Cell { text: text.into(), ..Cell::default() }
    }
}

/// Writes the page; returns its size in bytes.
///
/// # Errors
/// When a frame can't be read, a plot can't be drawn or the page can't be written.
pub fn write_report(report: &Report<'_>, path: &Path) -> Result<usize> {
    let shown = report.sections.iter().flat_map(|section| &section.runs);
    let count = shown.filter(|run| run.source.is_some()).count();
    let room = ROOM / 4 * 3 / count.max(1);
    let mut body = String::new();
    for (number, section) in report.sections.iter().enumerate() {
        section.write(number, room, &mut body)?;
    }
    let mut contents = String::new();
    for (number, section) in report.sections.iter().enumerate().filter(|(_, s)| !s.title.is_empty())
    {
        let _ = write!(contents, "<a href=\"#section-{number}\">{}</a>", escape(&section.title));
    }
    let page = fill(
        PAGE,
        &[
            ("version", env!("CARGO_PKG_VERSION")),
            ("title", &escape(&report.title)),
            ("style", STYLE),
            ("about", &paragraphs(&report.about)),
            ("contents", &contents),
            ("sections", &body),
            ("end", &escape(&report.end)),
            ("script", SCRIPT),
        ],
    );
    let bytes = page.len();
    std::fs::write(path, page).at("write the report", path)?;
    Ok(bytes)
}

impl ReportSection<'_> {
    fn write(&self, number: usize, room: usize, out: &mut String) -> Result<()> {
        let sources = || self.runs.iter().filter_map(|run| run.source);
        let times = || sources().flat_map(|source| source.times().iter().copied());
        let (first, last) =
            times().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), t| (a.min(t), b.max(t)));
        let plays = first <= last;
        let class = if plays { " class=\"runs\"" } else { "" };
        let _ = write!(
            out,
            "<section id=\"section-{number}\"{class} data-from=\"{first}\" data-to=\"{last}\">"
        );
        if !self.title.is_empty() {
            let _ = write!(out, "<h2>{}</h2>", escape(&self.title));
        }
        out.push_str(&paragraphs(&self.about));
        if !self.runs.is_empty() {
            let view = match self.view {
                Some([low, high]) => Bounds { low, high },
                None => common_view(sources())?,
            };
            out.push_str("<div class=\"stages\">");
            for (k, run) in self.runs.iter().enumerate() {
                run.write(k, room, view, out)?;
            }
            out.push_str("</div>");
        }
        if plays {
            out.push_str(CONTROL);
        }
        if !self.plots.is_empty() {
            out.push_str("<div class=\"plots\">");
            for plot in &self.plots {
                write_plot(plot, out)?;
            }
            out.push_str("</div>");
        }
        self.tables.iter().for_each(|table| table.write(out));
        if !self.remarks.is_empty() {
            out.push_str("<ul class=\"remarks\">");
            for remark in &self.remarks {
                let _ = write!(out, "<li>{}</li>", escape(remark));
            }
            out.push_str("</ul>");
        }
        out.push_str("</section>\n");
        Ok(())
    }
}

const CONTROL: &str = "<div class=\"control\"><button class=\"play\" title=\"Play\">▶</button>\
<input class=\"scrub\" type=\"range\" min=\"0\" max=\"1\" step=\"any\" value=\"0\" aria-label=\"Time\">\
<span class=\"time\"></span><select class=\"rate\" title=\"Speed of playback\"><option value=\"0.05\">0.05×</option>\
<option value=\"0.2\">0.2×</option><option value=\"0.5\">0.5×</option><option value=\"1\" selected>1×</option>\
<option value=\"2\">2×</option></select></div>";

impl ReportRun<'_> {
    fn write(&self, number: usize, room: usize, view: Bounds, out: &mut String) -> Result<()> {
        let shown = self.source.filter(|source| !source.times().is_empty());
        let class = if shown.is_some() { " class=\"run\"" } else { "" };
        let _ = write!(
            out,
            "<figure{class}><figcaption><b style=\"background:{}\"></b>{}</figcaption>",
            colour_text(number),
            escape(&self.name)
        );
        match shown {
            None => out.push_str("<div class=\"stage empty\">no frames</div>"),
            Some(source) => {
                let up = DVec3::Z;
                let embedding =
                    Embedding { room, up, gap_range: None, fields: false, view: Some(view) };
                let run = embed(source, None, None, &embedding)?;
                let _ = write!(
                    out,
                    "<div class=\"stage\"><canvas></canvas></div>\
                     <script type=\"application/json\">{}</script><script type=\"text/plain\">{}</script>",
                    run.description(),
                    run.data()
                );
            }
        }
        let _ = write!(out, "<p>{}</p></figure>", escape(&self.note));
        Ok(())
    }
}

/// Box around what moves in all runs.
fn common_view<'a>(sources: impl Iterator<Item = &'a dyn Source>) -> Result<Bounds> {
    let mut view = Bounds::EMPTY;
    for source in sources {
        let (bodies, count) = (source.bodies(), source.times().len());
        let mut boxes = vec![Bounds::EMPTY; bodies.len()];
        for k in (0..count).step_by(count.div_ceil(GLANCES).max(1)) {
            for ((bounds, body), points) in boxes.iter_mut().zip(bodies).zip(source.frame(k)?) {
                bounds.add(body, &points);
            }
        }
        if count > 0 {
            view = view.union(focus(bodies, &boxes));
        }
    }
    Ok(view.or_unit())
}

fn write_plot(plot: &Plot, out: &mut String) -> Result<()> {
    let mut plot = plot.clone();
    for series in &mut plot.series {
        series.points = thinned(&series.points);
    }
    let ([from, to], [left, right]) = plot.horizontal();
    let _ = write!(
        out,
        "<div class=\"plot\" data-from=\"{from}\" data-to=\"{to}\" data-left=\"{left}\" data-right=\"{right}\">{}</div>",
        plot.svg()?
    );
    Ok(())
}

impl ReportTable {
    fn write(&self, out: &mut String) {
        out.push_str("<table>");
        if !self.caption.is_empty() {
            let _ = write!(out, "<caption>{}</caption>", escape(&self.caption));
        }
        out.push_str("<thead><tr>");
        for head in &self.head {
            let _ = write!(out, "<th>{}</th>", escape(head));
        }
        out.push_str("</tr></thead><tbody>");
        for row in &self.rows {
            out.push_str("<tr>");
            for cell in row {
                let class = match cell.mark {
                    None => "",
                    Some(Mark::Good) => " class=\"good\"",
                    Some(Mark::Bad) => " class=\"bad\"",
                };
                let rows = if cell.rows > 1 {
                    format!(" rowspan=\"{}\"", cell.rows)
                } else {
                    String::new()
                };
                let _ = write!(out, "<td{class}{rows}>{}</td>", escape(&cell.text));
            }
            out.push_str("</tr>");
        }
        out.push_str("</tbody></table>");
    }
}

/// Text as paragraphs.
fn paragraphs(text: &str) -> String {
    let texts = text.split("\n\n").map(str::trim).filter(|text| !text.is_empty());
    let mut all = String::new();
    for text in texts {
        let _ = write!(all, "<p>{}</p>", escape(text));
    }
    all
}
