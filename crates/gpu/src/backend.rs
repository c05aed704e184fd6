//! The Vulkan backend.

use crate::assembly::Assembly;
use crate::choice::{self, OnDevice};
use crate::contact::DeviceContact;
use crate::dense::DenseCholesky;
use crate::kernels::Kernels;
use crate::linear::{ConjugateGradients, Ending};
use crate::session::{Session, Shared};
use crate::terms::{At, DeviceTerm, Mirror, Start, flat};
use crate::vulkan::{Array, Device, GpuError, Instance, Recorder};
use gusset_energy::{StepState, Term, Want};
use gusset_system::{
    AssemblyError, Backend, BackendReport, Compensated, LinearChoice, Method, Solution, SolveError,
    System,
};
use std::collections::BTreeSet;

/// Evaluates and assembles terms on a Vulkan device.
pub struct VulkanBackend {
    session: Shared,
    resident: Resident,
    /// What of the linear systems is solved here.
    solves: OnDevice,
    dense: Option<DenseCholesky>,
    gradients: Option<ConjugateGradients>,
    /// Nine numbers a block, as they came down.
    blocks: Vec<f64>,
    per_stencil: Vec<f64>,
}

/// What lives on the device.
struct Resident {
    device: Device,
    kernels: Kernels,
    start: Start,
    terms: Vec<DeviceTerm>,
    /// What was said of terms that the CPU evaluates.
    said: BTreeSet<String>,
    assembly: Assembly,
    energies: Array<f64>,
    sums: Array<f64>,
}

impl Resident {
    fn new(device: &Device) -> Result<Self, GpuError> {
        let mut kernels = Kernels::new(device);
        Ok(Self {
            start: Start::new(device)?,
            terms: Vec::new(),
            said: BTreeSet::new(),
            assembly: Assembly::new(device, &mut kernels)?,
            energies: Array::new(device, 0)?,
            sums: Array::new(device, 0)?,
            kernels,
            device: device.clone(),
        })
    }

    /// Brings terms and positions up to date.
    fn update(
        &mut self,
        to: &mut Recorder<'_>,
        x: &mut Mirror<f64>,
        report: &mut BackendReport,
        terms: &[Box<dyn Term>],
        at: &StepState<'_>,
    ) -> Result<(), GpuError> {
        self.make(report, terms)?;
        for (mine, term) in self.terms.iter_mut().zip(terms) {
            mine.set(to, term.as_ref())?;
        }
        x.set(to, flat(at.x))?;
        self.start.set(to, at)
    }

    /// Makes the kernels of terms that are not those of last time.
    fn make(
        &mut self,
        report: &mut BackendReport,
        terms: &[Box<dyn Term>],
    ) -> Result<(), GpuError> {
        let same = self.terms.len() == terms.len()
            && self.terms.iter().zip(terms).all(|(mine, term)| mine.is(term.as_ref()));
        if same {
            return Ok(());
        }
        self.forget();
        for term in terms {
            let (mine, why) = DeviceTerm::new(&self.device, &mut self.kernels, term.as_ref())?;
            self.terms.push(mine);
            let note = why
                .map(|why| format!("{} is evaluated on the CPU: its kernel {why}", term.label()));
            report.notes.extend(note.filter(|note| self.said.insert(note.clone())));
        }
        Ok(())
    }

    /// After a failure nothing is known of what the device holds.
    fn forget(&mut self) {
        self.terms.clear();
        self.start.forget();
        self.assembly.forget();
    }

    /// Records the energies of all terms: of each stencil, and sums of 64 of them.
    fn record_energies(
        &mut self,
        to: &mut Recorder<'_>,
        x: &Array<f64>,
        terms: &[Box<dyn Term>],
        at: &StepState<'_>,
    ) -> Result<(), GpuError> {
        let at = At { x, start: &self.start, host: at };
        self.energies.resize(terms.iter().map(|t| t.count()).sum())?;
        self.sums.resize(terms.iter().map(|t| 2 * t.count().div_ceil(64)).sum())?;
        to.barrier()?;
        to.section("upload")?;
        let most = self.device.limits().storage_range;
        let (mut energy_at, mut sum_at) = (0, 0);
        for (mine, term) in self.terms.iter().zip(terms) {
            let mut first = 0;
            while let Some(kernels) = &mine.kernels
                && first < term.count()
                && term.active()
            {
                let count = (term.count() - first).min(mine.at_once(most));
                let energies = (&self.energies, energy_at + first);
                let sums = (&self.sums, sum_at + first / 64);
                mine.energies(to, kernels, at, first..first + count, energies, sums)?;
                first += count;
            }
            energy_at += term.count();
            sum_at += term.count().div_ceil(64);
        }
        to.barrier()
    }
}

impl VulkanBackend {
    /// Opens a device of this machine: that with the given number or name, else the most wanted one.
    pub fn open(wanted: Option<&str>) -> Result<Self, GpuError> {
        let instance = Instance::new(std::env::var_os("GUSSET_VULKAN_VALIDATION").is_some())?;
        let device = Device::open(&instance, wanted)?;
        #[cfg(feature = "fault-injection")]
        let device = match std::env::var("GUSSET_VULKAN_FAULT") {
            Ok(text) => match crate::vulkan::Fault::parse(&text) {
                Some(fault) => device.with_fault(fault),
                None => {
                    return Err(GpuError::Other(format!("no fault: GUSSET_VULKAN_FAULT={text}")));
                }
            },
            Err(_) => device,
        };
        Self::new(&device)
    }

    /// A backend on an open device.
    pub fn new(device: &Device) -> Result<Self, GpuError> {
        Ok(Self {
            session: Shared::new(device)?,
            resident: Resident::new(device)?,
            solves: OnDevice::Nothing,
            dense: None,
            gradients: None,
            blocks: Vec::new(),
            per_stencil: Vec::new(),
        })
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.resident.device
    }

    /// Sets what of the linear systems is solved on the device.
    pub fn set_solves(&mut self, solves: OnDevice) {
        self.solves = solves;
    }

    fn solve_dense(
        &mut self,
        system: &System,
        direction: &mut Vec<f64>,
    ) -> Result<Solution, Ending> {
        if self.dense.is_none() {
            let made = DenseCholesky::new(&self.resident.device, &mut self.resident.kernels)?;
            self.dense = Some(made);
        }
        let solver = self.dense.as_mut().expect("it was made above");
        let blocks = &self.resident.assembly.blocks;
        solver.solve(&mut self.session.lock(), blocks, system, direction)
    }

    fn solve_gradients(
        &mut self,
        system: &System,
        tolerance: f64,
        max_iterations: u32,
        direction: &mut Vec<f64>,
    ) -> Result<Solution, Ending> {
        if self.gradients.is_none() {
            let made = ConjugateGradients::new(&self.resident.device, &mut self.resident.kernels)?;
            self.gradients = Some(made);
        }
        let solver = self.gradients.as_mut().expect("it was made above");
        let blocks = &self.resident.assembly.blocks;
        let session = &mut self.session.lock();
        solver.solve(session, blocks, system, tolerance, max_iterations, direction)
    }

    /// Brings the matrix down for the CPU to solve with, whatever was added to it included.
    fn leave(&mut self, system: &mut System) -> Result<(), GpuError> {
        let Session { stream, report, .. } = &mut *self.session.lock();
        let mut to = stream.begin()?;
        let blocks = &self.resident.assembly.blocks;
        let down = to.download(blocks, 0..blocks.len())?;
        to.submit()?;
        self.blocks.resize(blocks.len(), 0.0);
        down.read(&mut self.blocks)?;
        system.take_blocks(&self.blocks);
        let note = "conjugate gradients did not converge; the CPU factorises such systems";
        if self.resident.said.insert(note.to_owned()) {
            report.notes.push(note.to_owned());
        }
        Ok(())
    }

    /// After a failure nothing is known of what the device holds.
    fn forget(&mut self) {
        self.dense.iter_mut().for_each(DenseCholesky::forget);
        self.gradients.iter_mut().for_each(ConjugateGradients::forget);
        self.resident.forget();
        self.session.lock().x.forget();
    }

    /// Contact on the same device, with the same positions.
    pub fn contact(&self) -> DeviceContact {
        DeviceContact::sharing(self.device(), self.session.clone())
    }

    /// Makes the kernels of these terms, so that what can't be made is known before the first step.
    pub fn prepare(&mut self, terms: &[Box<dyn Term>]) -> Result<(), GpuError> {
        self.resident.make(&mut self.session.lock().report, terms)
    }

    fn try_assemble(
        &mut self,
        terms: &[Box<dyn Term>],
        at: &StepState<'_>,
        want: Want,
        system: &mut System,
    ) -> Result<bool, GpuError> {
        let Session { stream, x, report } = &mut *self.session.lock();
        let mut to = stream.begin()?;
        self.resident.update(&mut to, x, report, terms, at)?;
        let Resident { assembly, terms: on_device, start, .. } = &mut self.resident;
        let pattern = (&system.pattern, system.version());
        let at = At { x: &x.array, start, host: at };
        assembly.record(&mut to, pattern, terms, on_device, at, want != Want::Hessian)?;
        let gradient = to.download(&assembly.gradient, 0..assembly.gradient.len())?;
        // What is solved on the device stays there.
        let stays = self.solves != OnDevice::Nothing;
        let down = if stays { 0 } else { assembly.blocks.len() };
        let blocks = to.download(&assembly.blocks, 0..down)?;
        let status = to.download(&assembly.status, 0..1)?;
        to.section("download")?;
        report.add_all(to.submit()?);
        gradient.read(&mut system.gradient)?;
        system.forget_added();
        if !stays {
            self.blocks.resize(down, 0.0);
            blocks.read(&mut self.blocks)?;
            system.take_blocks(&self.blocks);
        }
        Ok(status.to_vec()? == [0])
    }

    fn try_energies(
        &mut self,
        terms: &[Box<dyn Term>],
        at: &StepState<'_>,
        out: &mut Vec<Compensated>,
    ) -> Result<(), GpuError> {
        let Session { stream, x, report } = &mut *self.session.lock();
        let mut to = stream.begin()?;
        self.resident.update(&mut to, x, report, terms, at)?;
        self.resident.record_energies(&mut to, &x.array, terms, at)?;
        let sums = to.download(&self.resident.sums, 0..self.resident.sums.len())?;
        to.section("download")?;
        report.add_all(to.submit()?);
        let sums = sums.to_vec()?;
        let mut first = 0;
        out.clear();
        for (mine, term) in self.resident.terms.iter().zip(terms) {
            let mut sum = Compensated::default();
            let end = first + 2 * term.count().div_ceil(64);
            if mine.kernels.is_none() {
                term.energy(at, &mut self.per_stencil);
                sum = Compensated::of(&self.per_stencil);
            } else if term.active() {
                for pair in sums[first..end].chunks_exact(2) {
                    sum.add_sum(Compensated::from_parts(pair[0], pair[1]));
                }
            }
            first = end;
            out.push(sum);
        }
        Ok(())
    }

    /// Seconds of one product of the matrix that was last solved with on the device and a vector: the fastest of some.
    pub fn time_multiply(&mut self, system: &System, tries: u32) -> Result<f64, GpuError> {
        let blocks = &self.resident.assembly.blocks;
        let stream = &mut self.session.lock().stream;
        match &self.gradients {
            Some(solver) => solver.time_multiply(stream, blocks, system, tries),
            None => Err(GpuError::Other("nothing was solved on the device".to_owned())),
        }
    }

    /// Energy of every stencil of every term (J), term after term, as the device computes it.
    pub fn stencil_energies(
        &mut self,
        terms: &[Box<dyn Term>],
        at: &StepState<'_>,
    ) -> Result<Vec<f64>, GpuError> {
        let Session { stream, x, report } = &mut *self.session.lock();
        let mut to = stream.begin()?;
        self.resident.update(&mut to, x, report, terms, at)?;
        self.resident.record_energies(&mut to, &x.array, terms, at)?;
        let energies = to.download(&self.resident.energies, 0..self.resident.energies.len())?;
        to.submit()?;
        energies.to_vec()
    }
}

fn failed(error: &GpuError) -> AssemblyError {
    AssemblyError::Device(error.to_string())
}

impl Backend for VulkanBackend {
    fn name(&self) -> String {
        self.device().info().backend_name()
    }

    fn assemble(
        &mut self,
        terms: &[Box<dyn Term>],
        at: &StepState<'_>,
        want: Want,
        near: &mut dyn FnMut() -> Vec<[u32; 4]>,
        system: &mut System,
    ) -> Result<(), AssemblyError> {
        system.cover(terms, &mut *near);
        match self.try_assemble(terms, at, want, system) {
            Ok(true) => Ok(()),
            Ok(false) => {
                // Something is not finite; the CPU says which stencil.
                system.assemble(terms, at, want, near)?;
                Err(AssemblyError::Device(
                    "the device's sums are not finite where the CPU's are".to_owned(),
                ))
            }
            Err(error) => {
                self.forget();
                Err(failed(&error))
            }
        }
    }

    fn energies(
        &mut self,
        terms: &[Box<dyn Term>],
        at: &StepState<'_>,
        out: &mut Vec<Compensated>,
    ) -> Result<(), AssemblyError> {
        self.try_energies(terms, at, out).map_err(|error| {
            self.forget();
            failed(&error)
        })
    }

    fn use_method(&mut self, wanted: Method, free: usize) -> LinearChoice {
        let (solves, choice) = choice::choose(self.device(), wanted, free);
        self.solves = solves;
        choice
    }

    fn solve(
        &mut self,
        system: &mut System,
        direction: &mut Vec<f64>,
    ) -> Option<Result<Solution, SolveError>> {
        let solved = match self.solves {
            OnDevice::Nothing => return None,
            OnDevice::Dense => self.solve_dense(system, direction),
            OnDevice::Gradients { tolerance, max_iterations, .. } => {
                self.solve_gradients(system, tolerance, max_iterations, direction)
            }
        };
        let leave = matches!(self.solves, OnDevice::Gradients { leave: true, .. });
        let solved = match solved {
            Err(Ending::Solve(SolveError::NoConvergence { .. })) if leave => {
                self.leave(system).map_err(Ending::Gpu).err().map(Err)
            }
            other => Some(other),
        };
        solved.map(|solved| {
            solved.map_err(|ending| match ending {
                Ending::Solve(error) => error,
                Ending::Gpu(error) => {
                    self.forget();
                    SolveError::Device(error.to_string())
                }
            })
        })
    }

    fn report(&mut self) -> BackendReport {
        std::mem::take(&mut self.session.lock().report)
    }
}
