//! What is wrong with a scene, and where.

use crate::source::Source;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// Whether a scene can still run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// It can't.
    Error,
    /// It can, but the result may not be what was meant.
    Warning,
}

/// One thing that is wrong with a scene.
#[derive(Clone)]
pub struct Diagnostic {
    /// Whether the scene can still run.
    pub severity: Severity,
    /// What was found and what would be right.
    pub message: String,
    /// The text it is about: the scene file or the command line.
    pub source: Arc<Source>,
    /// Bytes of that text; `None` where it is about the whole.
    pub span: Option<Range<usize>>,
    /// The way out, where there is one to name.
    pub help: Option<String>,
}

impl Diagnostic {
    /// Line and column, both from 1; the column counts characters.
    pub fn line_column(&self) -> Option<(usize, usize)> {
        let start = self.span.as_ref()?.start.min(self.source.text.len());
        let before = self.source.text.get(..start)?;
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Some((before.matches('\n').count() + 1, before[line_start..].chars().count() + 1))
    }

    /// As the Rust compiler would show it: message, `file:line:column`, the line itself, the way out.
    pub fn render(&self, colour: bool) -> String {
        let level = match self.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let mut report = Group::with_title(level.primary_title(&self.message));
        match &self.span {
            Some(span) => {
                let length = self.source.text.len();
                let span = span.start.min(length)..span.end.min(length);
                report = report.element(
                    Snippet::source(&self.source.text)
                        .path(&self.source.name)
                        .annotation(AnnotationKind::Primary.span(span)),
                );
            }
            None => report = report.element(annotate_snippets::Origin::path(&self.source.name)),
        }
        if let Some(help) = &self.help {
            report = report.element(Level::HELP.message(help));
        }
        let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
        renderer.render(&[report])
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

/// Everything that is wrong with a scene, in the order of the file.
#[derive(Clone)]
pub struct SceneError {
    /// At least one error; warnings may stand among them.
    pub diagnostics: Vec<Diagnostic>,
}

impl SceneError {
    /// All diagnostics, one after the other, with a count at the end.
    pub fn render(&self, colour: bool) -> String {
        let mut text = String::new();
        for diagnostic in &self.diagnostics {
            text += &diagnostic.render(colour);
            text += "\n\n";
        }
        let errors = self.diagnostics.iter().filter(|d| d.severity == Severity::Error).count();
        let plural = if errors == 1 { "" } else { "s" };
        text + &format!("{errors} error{plural}; nothing was run or written")
    }
}

impl fmt::Display for SceneError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl std::error::Error for SceneError {}

// A test that unwraps shows what a person would read.
impl fmt::Debug for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for SceneError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
