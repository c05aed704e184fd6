//! What a run has left, read once for all curves and tables.

use crate::check::{self, Look};
use crate::console::Console;
use crate::failure::Failure;
use glam::DVec3;
use gusset_output::{RunReader, Source as _, Table};
use gusset_scene::SeriesSource;
use serde_json::Value;
use std::path::Path;

/// A run with what was measured of it.
pub(super) struct Measured {
    pub(super) reader: RunReader,
    pub(super) probes: Table,
    pub(super) steps: Vec<Value>,
    /// What the independent checker finds, frame by frame.
    pub(super) looks: Vec<Look>,
}

impl Measured {
    /// A run folder; `None` where there is none with a frame.
    pub(super) fn open(path: &Path, console: &Console<'_>) -> Result<Option<Self>, Failure> {
        let Ok(reader) = RunReader::open(path) else { return Ok(None) };
        if reader.frame_count() == 0 {
            return Ok(None);
        }
        let probes = reader.probes()?.unwrap_or_default();
        let steps = reader.steps()?;
        let looks = check::frames(&reader, console)?;
        Ok(Some(Self { reader, probes, steps, looks }))
    }

    /// Why the run could not go on.
    pub(super) fn failed(&self) -> Option<&str> {
        self.reader.summary()?.get("failed")?.as_str()
    }

    /// The bodies whose names fit.
    pub(super) fn bodies(&self, pattern: &str) -> Vec<usize> {
        let bodies = self.reader.bodies().iter().enumerate();
        bodies.filter(|(_, b)| SeriesSource::takes(pattern, &b.name)).map(|(k, _)| k).collect()
    }

    /// Coordinates of a body's vertices along an axis, frame by frame, in the frames of a time (s).
    pub(super) fn coordinates(
        &self,
        body: usize,
        axis: usize,
        window: [f64; 2],
    ) -> Result<Vec<(f64, Vec<f64>)>, Failure> {
        let mut all = Vec::new();
        for (k, time) in self.reader.times().iter().enumerate() {
            if inside(*time, window) {
                let frame = &self.reader.frame(k)?[body];
                all.push((*time, frame.iter().map(|x: &DVec3| x[axis]).collect()));
            }
        }
        Ok(all)
    }
}

/// Times of steps are products with a rounding; no step is as short as this (s).
const SLACK: f64 = 1e-9;

/// Whether a time counts.
pub(super) fn inside(time: f64, [first, last]: [f64; 2]) -> bool {
    first - SLACK <= time && time <= last + SLACK
}
