//! Where a command writes: results to one stream, messages to another.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;
use std::fmt::Display;
use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};

/// The two streams of a command, and what may be drawn on them.
pub(crate) struct Console<'a> {
    out: &'a mut (dyn Write + Send),
    messages: &'a mut (dyn Write + Send),
    /// Whether the messages go to a terminal: progress bars and colour.
    terminal: bool,
    /// Whether the result is one JSON object.
    json: bool,
    /// Where steps of a run are counted, for those who watch several.
    steps: Option<&'a AtomicU64>,
    lost: Option<io::Error>,
}

impl<'a> Console<'a> {
    pub(crate) fn new(
        out: &'a mut (dyn Write + Send),
        messages: &'a mut (dyn Write + Send),
        terminal: bool,
        json: bool,
    ) -> Self {
        Self { out, messages, terminal, json, steps: None, lost: None }
    }

    /// A console on which the steps of a run are counted.
    pub(crate) fn counting(self, steps: &'a AtomicU64) -> Self {
        Self { steps: Some(steps), ..self }
    }

    /// A step of a run has been made.
    pub(crate) fn stepped(&self, step: u64) {
        if let Some(steps) = self.steps {
            steps.store(step, Ordering::Relaxed);
        }
    }

    /// Whether the result is wanted as one JSON object.
    pub(crate) fn wants_json(&self) -> bool {
        self.json
    }

    /// Whether messages may be coloured.
    pub(crate) fn colour(&self) -> bool {
        self.terminal && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
    }

    /// A line of the result.
    pub(crate) fn line(&mut self, text: impl Display) {
        let written = writeln!(self.out, "{text}").and_then(|()| self.out.flush());
        self.keep(written);
    }

    /// A line of the result for people; nothing where JSON is wanted.
    pub(crate) fn say(&mut self, text: impl Display) {
        if !self.json {
            self.line(text);
        }
    }

    /// The result as JSON.
    pub(crate) fn object(&mut self, value: &impl Serialize) {
        match serde_json::to_string_pretty(value) {
            Ok(text) => self.line(text),
            Err(error) => self.keep(Err(error.into())),
        }
    }

    /// A message. Nobody may be there to read it, which is no failure.
    pub(crate) fn message(&mut self, text: impl Display) {
        writeln!(self.messages, "{text}").and_then(|()| self.messages.flush()).ok();
    }

    /// A bar on the terminal, or nothing.
    pub(crate) fn bar(&self, length: u64, template: &str) -> ProgressBar {
        if !self.terminal || self.json {
            return ProgressBar::hidden();
        }
        let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::stderr());
        match ProgressStyle::with_template(template) {
            Ok(style) => bar.with_style(style.progress_chars("━╸─")),
            Err(_) => bar,
        }
    }

    /// Why the result could not be written. A reader that has seen enough (`| head`) is no failure.
    pub(crate) fn lost(self) -> Option<io::Error> {
        self.lost.filter(|error| error.kind() != io::ErrorKind::BrokenPipe)
    }

    fn keep(&mut self, written: io::Result<()>) {
        if let (Err(error), None) = (written, &self.lost) {
            self.lost = Some(error);
        }
    }
}

/// The number that reads best: four digits, an SI prefix and the unit.
pub(crate) fn metres(length: f64) -> String {
    let size = length.abs();
    let (factor, unit) = match size {
        _ if !length.is_finite() => return format!("{length} m"),
        _ if size == 0.0 => (1.0, "m"),
        _ if size >= 1.0 => (1.0, "m"),
        _ if size >= 1e-3 => (1e3, "mm"),
        _ if size >= 1e-6 => (1e6, "um"),
        _ => (1e9, "nm"),
    };
    let value = length * factor;
    let digits = if value.abs() >= 100.0 {
        1
    } else if value.abs() >= 10.0 {
        2
    } else {
        3
    };
    format!("{value:.digits$} {unit}")
}

/// "3 steps", "1 step".
pub(crate) fn count(number: u64, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// A duration for people: "12.3 s", "4 min 05 s", "2 h 07 min".
pub(crate) fn duration(seconds: f64) -> String {
    if !seconds.is_finite() || seconds < 0.0 {
        return "?".to_owned();
    }
    let whole = seconds.round() as u64;
    match whole {
        0..10 => format!("{seconds:.2} s"),
        10..60 => format!("{seconds:.1} s"),
        60..3600 => format!("{} min {:02} s", whole / 60, whole % 60),
        _ => format!("{} h {:02} min", whole / 3600, whole % 3600 / 60),
    }
}

/// Bytes for people.
pub(crate) fn bytes(size: u64) -> String {
    let mib = size as f64 / (1024.0 * 1024.0);
    if mib >= 1024.0 { format!("{:.2} GiB", mib / 1024.0) } else { format!("{mib:.0} MiB") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        for (length, text) in [
            (0.0, "0.000 m"),
            (2.5, "2.500 m"),
            (0.0123, "12.30 mm"),
            (-3.0e-5, "-30.00 um"),
            (4.0e-10, "0.400 nm"),
            (f64::INFINITY, "inf m"),
        ] {
            assert_eq!(metres(length), text);
        }
        assert_eq!(duration(3.217), "3.22 s");
        assert_eq!(duration(245.0), "4 min 05 s");
        assert_eq!(duration(7620.0), "2 h 07 min");
        assert_eq!(duration(f64::NAN), "?");
        assert_eq!(count(1, "frame"), "1 frame");
        assert_eq!(bytes(3 << 29), "1.50 GiB");
    }

    struct Closed(io::ErrorKind);

    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_closed_pipe_is_no_failure_but_a_full_disk_is() {
        for (kind, fails) in
            [(io::ErrorKind::BrokenPipe, false), (io::ErrorKind::StorageFull, true)]
        {
            let (mut out, mut messages) = (Closed(kind), Closed(kind));
            let mut console = Console::new(&mut out, &mut messages, false, false);
            console.line("one");
            console.message("two");
            assert_eq!(console.lost().is_some(), fails);
        }
    }
}
