//! What a run shows of itself while it goes.

use crate::console::{Console, duration, metres};
use gusset_solve::StepRecord;
use indicatif::ProgressBar;
use std::time::{Duration, Instant};

/// Time between lines where there is no bar.
const QUIET: Duration = Duration::from_secs(10);

/// Warnings about iterations that are shown in full.
const JUMPS_SHOWN: u32 = 5;

/// A bar on a terminal, a line now and then elsewhere.
pub(super) struct Progress {
    bar: ProgressBar,
    begin: Instant,
    first: u64,
    last: u64,
    line_at: Instant,
    jumps: Jumps,
}

impl Progress {
    /// For the steps `first + 1 ..= last`.
    pub(super) fn new(console: &Console<'_>, first: u64, last: u64) -> Self {
        let bar = console.bar(last, "{bar:30.cyan} step {pos}/{len}  {msg}");
        bar.set_position(first);
        let now = Instant::now();
        Self { bar, begin: now, first, last, line_at: now, jumps: Jumps::default() }
    }

    /// After a step.
    pub(super) fn step(&mut self, record: &StepRecord, console: &mut Console<'_>) {
        console.stepped(record.step);
        let done = record.step - self.first;
        let elapsed = self.begin.elapsed().as_secs_f64();
        let rate = done as f64 / elapsed.max(1e-9);
        let left = (self.last - record.step) as f64 / rate.max(1e-9);
        let gap = record.smallest_gap.as_ref().map_or("none".to_owned(), |g| metres(g.gap));
        let rate = if rate >= 1.0 {
            format!("{rate:.1} steps/s")
        } else {
            format!("{} a step", duration(1.0 / rate))
        };
        let state = format!(
            "t {:.4} s  iterations {}  gap {gap}  {rate}  left {}",
            record.time,
            record.iterations,
            duration(left)
        );
        self.bar.set_message(state.clone());
        self.bar.set_position(record.step);
        if self.bar.is_hidden() && self.line_at.elapsed() >= QUIET {
            self.line_at = Instant::now();
            console.message(format_args!("step {}/{}  {state}", record.step, self.last));
        }
        if let Some(usual) = self.jumps.notice(record.iterations) {
            let text = format!(
                "warning: step {} (t = {:.6} s) took {} iterations where {usual} are usual{}",
                record.step,
                record.time,
                record.iterations,
                if self.jumps.noticed == JUMPS_SHOWN {
                    "; more of these are not shown"
                } else {
                    ""
                }
            );
            if self.jumps.noticed <= JUMPS_SHOWN {
                self.message(&text, console);
            }
        }
    }

    /// A message that does not cut through the bar.
    pub(super) fn message(&self, text: &str, console: &mut Console<'_>) {
        self.bar.suspend(|| console.message(text));
    }

    /// Takes the bar away.
    pub(super) fn end(&self) {
        self.bar.finish_and_clear();
    }
}

/// Notices when a step takes far more iterations than the steps before it: something has just become hard.
#[derive(Default)]
struct Jumps {
    /// How many steps took 0, 1, 2, ... iterations.
    counts: Vec<u64>,
    steps: u64,
    jumping: bool,
    noticed: u32,
}

impl Jumps {
    /// Steps before the median means anything.
    const LEAST_STEPS: u64 = 8;
    /// A jump is more than this many times the median, and ...
    const FACTOR: u32 = 4;
    /// ... more than this.
    const LEAST_ITERATIONS: u32 = 20;

    /// The median so far if this step is the first of a jump.
    fn notice(&mut self, iterations: u32) -> Option<u32> {
        let median = self.median();
        let jumps = self.steps >= Self::LEAST_STEPS
            && iterations > Self::LEAST_ITERATIONS
            && iterations > Self::FACTOR * median;
        let first = jumps && !self.jumping;
        self.jumping = jumps;
        let i = iterations as usize;
        if self.counts.len() <= i {
            self.counts.resize(i + 1, 0);
        }
        self.counts[i] += 1;
        self.steps += 1;
        self.noticed += u32::from(first);
        first.then_some(median)
    }

    fn median(&self) -> u32 {
        let mut below = 0;
        for (iterations, count) in (0..).zip(&self.counts) {
            below += count;
            if 2 * below >= self.steps {
                return iterations;
            }
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_jump_is_noticed_once() {
        let mut jumps = Jumps::default();
        for _ in 0..10 {
            assert_eq!(jumps.notice(4), None);
        }
        assert_eq!(jumps.notice(16), None, "4 times the median is not more than it");
        assert_eq!(jumps.notice(30), Some(4));
        assert_eq!(jumps.notice(50), None, "still the same jump");
        assert_eq!(jumps.notice(4), None);
        assert_eq!(jumps.notice(21), Some(4));
    }

    #[test]
    fn a_hard_start_is_no_jump() {
        let mut jumps = Jumps::default();
        assert_eq!(jumps.notice(90), None);
        assert_eq!(jumps.notice(1), None);
    }
}
