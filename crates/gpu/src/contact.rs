//! Contact on the device: candidate pairs from hierarchies of boxes, closest points, step bounds.
//!
//! Boxes are those of the CPU, rounded outward to single precision in the same way, so the pairs are the same. The trees are
//! linear bounding volume hierarchies: sorted by Morton code now and then, refitted in between. They only decide how much is
//! looked at. Lists come down once per query and are sorted, so that nothing depends on the order in which threads found
//! them; the sorted pairs go up once and stay for as many evaluations as the candidates serve. Of these only the active rows
//! come down, and of a step bound one number for each workgroup. Slabs, a plane for every particle, stay with the CPU.

mod pairs;
mod query;
mod tree;

use crate::kernels::Kernels;
use crate::session::{Session, Shared};
use crate::vulkan::{Array, Device, GpuError, Kernel, Recorder};
use glam::DVec3;
use gusset_contact::{
    Candidates, CollisionMesh, Detection, DetectionError, Pair, PairGap, StepBound, StepMethod,
    StepRule, Sweep, step_bound_from,
};
use gusset_energy::{Contacts, Row};
use pairs::{DevicePairs, Window};
use query::DeviceQuery;

/// Active rows that there is room for to begin with.
const ROWS: usize = 1 << 12;

/// Detects contact on a Vulkan device.
pub struct DeviceContact {
    device: Device,
    session: Shared,
    /// Made for the mesh of the first call.
    on_device: Option<OnDevice>,
}

/// What lives on the device.
struct OnDevice {
    query: DeviceQuery,
    pairs: DevicePairs,
    rows: Kernel,
    bound: Kernel,
    dx: Array<f64>,
    /// How many rows are active, and which pair each is of.
    active: Array<u32>,
    /// Nine numbers a row.
    results: Array<f64>,
    /// Rows that were active last.
    expected: usize,
    /// The smallest fraction of each workgroup, and whose it is.
    smallest: Array<f64>,
    whose: Array<u32>,
}

#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct RowConstants {
    dhat: f64,
    count: u32,
    kind: u32,
    first: u32,
    room: u32,
}

#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct BoundConstants {
    slack: f64,
    count: u32,
    kind: u32,
    additive: u32,
    most_looks: u32,
    first: u32,
    first_group: u32,
}

impl OnDevice {
    fn new(device: &Device, session: &mut Session, mesh: &CollisionMesh) -> Result<Self, GpuError> {
        let mut kernels = Kernels::new(device);
        Ok(Self {
            query: DeviceQuery::new(device, &mut kernels, &mut session.stream, mesh)?,
            pairs: DevicePairs::new(device)?,
            rows: kernels.named("contact_rows", 5, 64)?,
            bound: kernels.named("contact_bound", 6, 64)?,
            dx: Array::new(device, 3 * mesh.movable.len())?,
            active: Array::new(device, 1 + ROWS)?,
            results: Array::new(device, 9 * ROWS)?,
            expected: 0,
            smallest: Array::new(device, 0)?,
            whose: Array::new(device, 0)?,
        })
    }

    /// Rows with a gap below `dhat`, in the order of the pairs.
    fn rows(
        &mut self,
        session: &mut Session,
        mesh: &CollisionMesh,
        candidates: &Candidates,
        x: &[DVec3],
        dhat: f64,
        out: &mut Vec<Row>,
    ) -> Result<(), GpuError> {
        if candidates.lists().iter().all(|(_, list)| list.is_empty()) {
            return Ok(());
        }
        self.pairs.set(mesh, candidates);
        for batch in self.pairs.batches() {
            self.rows_of(session, &batch, candidates, x, dhat, out)?;
        }
        Ok(())
    }

    /// Active rows of some pairs.
    fn rows_of(
        &mut self,
        session: &mut Session,
        batch: &[Window],
        candidates: &Candidates,
        x: &[DVec3],
        dhat: f64,
        out: &mut Vec<Row>,
    ) -> Result<(), GpuError> {
        let Session { stream, x: x_on_device, report } = session;
        let all = batch.iter().map(|window| window.pairs.len()).sum();
        loop {
            let mut to = stream.begin()?;
            x_on_device.set(&mut to, bytemuck::cast_slice(x))?;
            self.pairs.bring(&mut to)?;
            to.section("upload")?;
            let room = self.active.len() - 1;
            self.record_rows(&mut to, &x_on_device.array, batch, dhat, room)?;
            let guess = (self.expected + self.expected / 4 + 64).min(room);
            let active = to.download(&self.active, 0..1 + guess)?;
            let results = to.download(&self.results, 0..9 * guess)?;
            to.section("download")?;
            report.add_all(to.submit()?);
            let mut active = active.to_vec()?;
            let count = active[0] as usize;
            self.expected = count;
            if count > room {
                // There is no capacity to exceed: more room, and the same again.
                let room = (count + count / 4).min(all);
                self.active.resize(1 + room)?;
                self.results.resize(9 * room)?;
                continue;
            }
            let mut results = results.to_vec()?;
            if count > guess {
                let mut rest = stream.begin()?;
                let more = rest.download(&self.active, 1 + guess..1 + count)?;
                let more_results = rest.download(&self.results, 9 * guess..9 * count)?;
                report.add_all(rest.submit()?);
                active.extend(more.to_vec()?);
                results.extend(more_results.to_vec()?);
            }
            let mut order: Vec<[u32; 2]> =
                active[1..].iter().zip(0..count as u32).map(|(&pair, slot)| [pair, slot]).collect();
            order.sort_unstable();
            let results = results.as_chunks::<9>().0;
            out.extend(order.iter().map(|&[pair, slot]| {
                self.pairs.row(candidates, pair as usize, &results[slot as usize])
            }));
            return Ok(());
        }
    }

    fn record_rows(
        &self,
        to: &mut Recorder<'_>,
        x: &Array<f64>,
        batch: &[Window],
        dhat: f64,
        room: usize,
    ) -> Result<(), GpuError> {
        to.zero_part(&self.active, 0..1)?;
        to.barrier()?;
        for window in batch {
            let range = window.pairs.clone();
            let arrays = [
                x.whole(),
                self.pairs.stencils.part(range.clone()),
                self.pairs.offsets.part(range.clone()),
                self.active.whole(),
                self.results.whole(),
            ];
            let constants = RowConstants {
                dhat,
                count: range.len() as u32,
                kind: window.kind as u32,
                first: range.start as u32,
                room: room as u32,
            };
            to.dispatch(&self.rows, &arrays, &constants, range.len())?;
        }
        to.barrier()?;
        to.section("contact_rows")
    }

    /// The mesh pair that is to stop first, if any is, and at which fraction.
    fn first(
        &mut self,
        session: &mut Session,
        mesh: &CollisionMesh,
        candidates: &Candidates,
        x: &[DVec3],
        dx: &[DVec3],
        rule: &StepRule,
    ) -> Result<Option<(f64, Pair)>, GpuError> {
        if candidates.lists().iter().all(|(_, list)| list.is_empty()) {
            return Ok(None);
        }
        let Session { stream, x: x_on_device, report } = session;
        let mut to = stream.begin()?;
        x_on_device.set(&mut to, bytemuck::cast_slice(x))?;
        self.pairs.set(mesh, candidates);
        self.pairs.bring(&mut to)?;
        self.dx.resize(3 * dx.len())?;
        to.upload(&self.dx, 0, bytemuck::cast_slice(dx))?;
        let windows: Vec<Window> = self.pairs.batches().into_iter().flatten().collect();
        let groups = windows.iter().map(|w| w.pairs.len().div_ceil(64)).sum();
        self.smallest.resize(groups)?;
        self.whose.resize(groups)?;
        to.barrier()?;
        to.section("upload")?;
        let mut first_group = 0;
        for window in &windows {
            let range = window.pairs.clone();
            let arrays = [
                x_on_device.array.whole(),
                self.dx.whole(),
                self.pairs.stencils.part(range.clone()),
                self.pairs.offsets.part(range.clone()),
                self.smallest.whole(),
                self.whose.whole(),
            ];
            let constants = BoundConstants {
                slack: rule.slack,
                count: range.len() as u32,
                kind: window.kind as u32,
                additive: u32::from(rule.method == StepMethod::Additive),
                most_looks: rule.max_iterations,
                first: range.start as u32,
                first_group,
            };
            to.dispatch(&self.bound, &arrays, &constants, range.len())?;
            first_group += range.len().div_ceil(64) as u32;
        }
        to.barrier()?;
        to.section("contact_bound")?;
        let smallest = to.download(&self.smallest, 0..groups)?;
        let whose = to.download(&self.whose, 0..groups)?;
        to.section("download")?;
        report.add_all(to.submit()?);
        // Pairs rise from group to group, so of equal fractions the first is that of the smaller pair.
        let mut first: Option<(f64, u32)> = None;
        for (fraction, pair) in smallest.to_vec()?.into_iter().zip(whose.to_vec()?) {
            if fraction <= 1.0 && first.is_none_or(|(least, _)| fraction < least) {
                first = Some((fraction, pair));
            }
        }
        Ok(first.map(|(fraction, pair)| {
            let (kind, primitives) = self.pairs.pair(candidates, pair as usize);
            (fraction, Pair { kind: kind.into(), primitives })
        }))
    }
}

impl DeviceContact {
    /// Contact on a device that shares positions and staging memory with others.
    pub(crate) fn sharing(device: &Device, session: Shared) -> Self {
        Self { device: device.clone(), session, on_device: None }
    }

    /// Contact alone on an open device.
    pub fn new(device: &Device) -> Result<Self, GpuError> {
        Ok(Self::sharing(device, Shared::new(device)?))
    }

    /// Does some work; after a failure nothing is known of what the device holds.
    fn work<R>(
        &mut self,
        mesh: &CollisionMesh,
        work: impl FnOnce(&mut OnDevice, &mut Session) -> Result<R, GpuError>,
    ) -> Result<R, DetectionError> {
        let mut session = self.session.lock();
        let on_device = match self.on_device.take() {
            Some(made) => Ok(made),
            None => OnDevice::new(&self.device, &mut session, mesh),
        };
        let done = on_device.and_then(|mut on_device| {
            let result = work(&mut on_device, &mut session)?;
            self.on_device = Some(on_device);
            Ok(result)
        });
        done.map_err(|error| {
            session.x.forget();
            DetectionError::Device(error.to_string())
        })
    }
}

impl Detection for DeviceContact {
    fn name(&self) -> String {
        self.device.info().backend_name()
    }

    fn query(
        &mut self,
        mesh: &CollisionMesh,
        sweep: &Sweep<'_>,
        candidates: &mut Candidates,
    ) -> Result<(), DetectionError> {
        candidates.query_by(mesh, sweep, |most| {
            self.work(mesh, |on_device, session| on_device.query.find(session, mesh, sweep, most))
        })
    }

    fn rows(
        &mut self,
        mesh: &CollisionMesh,
        candidates: &Candidates,
        x: &[DVec3],
        dhat: f64,
        out: &mut Contacts,
    ) -> Result<Option<PairGap>, DetectionError> {
        out.rows.clear();
        out.slabs.clear();
        let rows = &mut out.rows;
        self.work(mesh, |on_device, session| {
            on_device.rows(session, mesh, candidates, x, dhat, rows)
        })?;
        candidates.slab_rows(mesh, x, dhat, &mut out.slabs);
        Ok(PairGap::smallest(&out.rows))
    }

    fn step_bound(
        &mut self,
        mesh: &CollisionMesh,
        candidates: &Candidates,
        x: &[DVec3],
        dx: &[DVec3],
        rule: &StepRule,
    ) -> Result<StepBound, DetectionError> {
        let first = self.work(mesh, |on_device, session| {
            on_device.first(session, mesh, candidates, x, dx, rule)
        })?;
        Ok(step_bound_from(mesh, candidates, x, dx, rule, first))
    }
}
