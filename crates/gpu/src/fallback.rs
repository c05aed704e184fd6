//! A device that may fail, with the CPU behind it.

use crate::backend::VulkanBackend;
use gusset_energy::{StepState, Term, Want};
use gusset_system::{
    AssemblyError, Backend, BackendReport, Compensated, CpuBackend, Method, Solution, SolveError,
    System,
};

/// Works on the device for as long as it can, then on the CPU: what `auto` promises.
pub struct WithFallback {
    device: Option<VulkanBackend>,
    cpu: CpuBackend,
    report: BackendReport,
}

impl WithFallback {
    /// Of a device that works so far.
    pub fn new(device: VulkanBackend) -> Self {
        Self { device: Some(device), cpu: CpuBackend::default(), report: BackendReport::default() }
    }

    /// Does something on the device if there is one that can; keeps why it can't.
    fn on_device<R>(
        &mut self,
        work: impl FnOnce(&mut VulkanBackend) -> Result<R, AssemblyError>,
    ) -> Option<Result<R, AssemblyError>> {
        let device = self.device.as_mut()?;
        let name = device.name();
        match work(device) {
            Err(AssemblyError::Device(why)) => {
                self.give_up(&name, &why);
                None
            }
            other => Some(other),
        }
    }
}

impl WithFallback {
    fn give_up(&mut self, name: &str, why: &str) {
        if let Some(mut device) = self.device.take() {
            self.report = device.report();
        }
        self.report.notes.push(format!("{name} failed, and the CPU has taken over: {why}"));
    }
}

impl Backend for WithFallback {
    fn name(&self) -> String {
        self.device.as_ref().map_or_else(|| self.cpu.name(), Backend::name)
    }

    fn assemble(
        &mut self,
        terms: &[Box<dyn Term>],
        at: &StepState<'_>,
        want: Want,
        near: &mut dyn FnMut() -> Vec<[u32; 4]>,
        system: &mut System,
    ) -> Result<(), AssemblyError> {
        let done = self.on_device(|device| device.assemble(terms, at, want, near, system));
        done.unwrap_or_else(|| self.cpu.assemble(terms, at, want, near, system))
    }

    fn energies(
        &mut self,
        terms: &[Box<dyn Term>],
        at: &StepState<'_>,
        out: &mut Vec<Compensated>,
    ) -> Result<(), AssemblyError> {
        let done = self.on_device(|device| device.energies(terms, at, out));
        done.unwrap_or_else(|| self.cpu.energies(terms, at, out))
    }

    fn use_method(&mut self, method: Method) {
        if let Some(device) = &mut self.device {
            device.use_method(method);
        }
    }

    fn solve(
        &mut self,
        system: &System,
        direction: &mut Vec<f64>,
    ) -> Option<Result<Solution, SolveError>> {
        let device = self.device.as_mut()?;
        let solved = device.solve(system, direction)?;
        if let Err(SolveError::Device(why)) = &solved {
            // The matrix is lost with the device. This attempt fails; the solver makes another, and the CPU assembles it.
            let name = device.name();
            self.give_up(&name, why);
        }
        Some(solved)
    }

    fn report(&mut self) -> BackendReport {
        let report = std::mem::take(&mut self.report);
        match &mut self.device {
            Some(device) => device.report(),
            None => report,
        }
    }
}
