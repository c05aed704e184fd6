//! Candidate pairs in the device's memory.

use crate::vulkan::{Array, Device, GpuError, Recorder};
use glam::DVec3;
use gusset_contact::{Candidates, CollisionMesh};
use gusset_energy::{Row, RowKind};
use std::ops::Range;

/// Parts of arrays start at multiples of so many pairs, which suits every device.
const ALIGNED: usize = 64;

/// The kinds in the order of their numbers, which is that of rows.
const KINDS: [RowKind; 4] =
    [RowKind::VertexTriangle, RowKind::EdgeEdge, RowKind::SphereTriangle, RowKind::SphereSphere];

/// World vertices and offsets of all candidate pairs, kind after kind.
pub(super) struct DevicePairs {
    device: Device,
    /// Whose pairs they are, and whether the device has them.
    serial: Option<u64>,
    brought: bool,
    pub(super) stencils: Array<[u32; 4]>,
    pub(super) offsets: Array<f64>,
    vertices: Vec<[u32; 4]>,
    own_offsets: Vec<f64>,
    /// Where each kind's pairs are.
    ranges: [Range<usize>; 4],
}

/// Pairs of one kind that a kernel sees at once.
pub(super) struct Window {
    pub(super) kind: RowKind,
    pub(super) pairs: Range<usize>,
}

impl DevicePairs {
    pub(super) fn new(device: &Device) -> Result<Self, GpuError> {
        Ok(Self {
            device: device.clone(),
            serial: None,
            brought: false,
            stencils: Array::new(device, 0)?,
            offsets: Array::new(device, 0)?,
            vertices: Vec::new(),
            own_offsets: Vec::new(),
            ranges: [0..0, 0..0, 0..0, 0..0],
        })
    }

    /// Takes the pairs of these candidates, unless they are the ones it has.
    pub(super) fn set(&mut self, mesh: &CollisionMesh, candidates: &Candidates) {
        if self.serial == Some(candidates.serial()) {
            return;
        }
        self.vertices.clear();
        self.own_offsets.clear();
        for (range, (kind, list)) in self.ranges.iter_mut().zip(candidates.lists()) {
            let start = self.vertices.len().next_multiple_of(ALIGNED);
            self.vertices.resize(start, [0; 4]);
            self.own_offsets.resize(start, 0.0);
            for &pair in list {
                let (vertices, offset) = mesh.pair_stencil(kind, pair);
                self.vertices.push(vertices);
                self.own_offsets.push(offset);
            }
            *range = start..self.vertices.len();
        }
        self.serial = Some(candidates.serial());
        self.brought = false;
    }

    /// Brings them to the device unless they are there.
    pub(super) fn bring(&mut self, to: &mut Recorder<'_>) -> Result<(), GpuError> {
        if self.brought {
            return Ok(());
        }
        self.stencils.resize(self.vertices.len())?;
        self.offsets.resize(self.own_offsets.len())?;
        to.upload(&self.stencils, 0, &self.vertices)?;
        to.upload(&self.offsets, 0, &self.own_offsets)?;
        self.brought = true;
        Ok(())
    }

    /// All pairs, in batches that a kernel can see the results of at once, were every pair active.
    pub(super) fn batches(&self) -> Vec<Vec<Window>> {
        let most = self.device.limits().storage_range as usize / (9 * size_of::<f64>());
        let most = (most / ALIGNED * ALIGNED).max(ALIGNED);
        let mut batches = vec![Vec::new()];
        let mut room = most;
        for (kind, range) in KINDS.into_iter().zip(&self.ranges) {
            let mut start = range.start;
            while start < range.end {
                if room == 0 {
                    batches.push(Vec::new());
                    room = most;
                }
                let end = range.end.min(start + room);
                batches.last_mut().expect("there is one").push(Window { kind, pairs: start..end });
                // Rounded down, so that every part starts where it may.
                room = (room - (end - start)) / ALIGNED * ALIGNED;
                start = end;
            }
        }
        batches
    }

    /// Kind and primitives of a pair, by its place in the arrays.
    pub(super) fn pair(&self, candidates: &Candidates, place: usize) -> (RowKind, [u32; 2]) {
        let of = self.ranges.iter().position(|range| range.contains(&place));
        let of = of.expect("the device was given this pair");
        let (kind, list) = candidates.lists()[of];
        (kind, list[place - self.ranges[of].start])
    }

    /// The row of a pair, from what the kernel says of it: weights, normal, gap, squared sine.
    pub(super) fn row(&self, candidates: &Candidates, place: usize, r: &[f64; 9]) -> Row {
        let (kind, primitives) = self.pair(candidates, place);
        Row {
            vertices: self.vertices[place],
            weights: [r[0], r[1], r[2], r[3]],
            offset: self.own_offsets[place],
            normal: DVec3::new(r[4], r[5], r[6]),
            gap: r[7],
            sine_squared: r[8],
            kind,
            primitives,
        }
    }
}
