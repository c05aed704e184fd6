//! Kernels of a device, made once each.

use crate::compile;
use crate::source::{self, Source, Stage};
use crate::vulkan::{Device, GpuError, Kernel};
use gusset_energy::{Psd, Shader};
use std::collections::BTreeMap;

/// Arrays of an energy's kernel.
const ELEMENT_ARRAYS: usize = 7;

/// Kernels by the key of their source and their constants.
pub(crate) struct Kernels {
    device: Device,
    made: BTreeMap<(String, Vec<(u32, u32)>), Kernel>,
}

impl Kernels {
    pub(crate) fn new(device: &Device) -> Self {
        Self { device: device.clone(), made: BTreeMap::new() }
    }

    fn make(
        &mut self,
        source: &Source,
        arrays: usize,
        group: u32,
        constants: &[(u32, u32)],
    ) -> Result<Kernel, GpuError> {
        let key = (compile::key(source), constants.to_vec());
        if let Some(kernel) = self.made.get(&key) {
            return Ok(kernel.clone());
        }
        self.device.may_have_kernel(&source.name)?;
        let spirv = compile::spirv(source, &self.device.info().name)?;
        let kernel = Kernel::new(&self.device, &source.name, &spirv, arrays, group, constants)?;
        self.made.insert(key, kernel.clone());
        Ok(kernel)
    }

    /// A kernel of `shaders/kernels/` with so many arrays and threads in a workgroup.
    pub(crate) fn named(
        &mut self,
        name: &str,
        arrays: usize,
        group: u32,
    ) -> Result<Kernel, GpuError> {
        self.make(&source::kernel(name), arrays, group, &[])
    }

    /// The kernels of an energy.
    pub(crate) fn element(&mut self, shader: &Shader) -> Result<ElementKernels, GpuError> {
        let of = |this: &mut Self, stage, psd: Psd| {
            let constants = [(0, source::projection(psd))];
            let constants = if stage == Stage::Exact { &constants[..] } else { &[] };
            source::element(shader, stage)
                .map(|source| this.make(&source, ELEMENT_ARRAYS, 64, constants))
                .transpose()
        };
        let closed = of(self, Stage::ClosedForm, Psd::Exact)?;
        let assembled = match closed {
            Some(closed) => closed,
            None => of(self, Stage::Exact, shader.psd)?.expect("every energy has it"),
        };
        Ok(ElementKernels {
            energy: of(self, Stage::Energy, Psd::Exact)?.expect("every energy has it"),
            exact: of(self, Stage::Exact, Psd::Exact)?.expect("every energy has it"),
            assembled,
        })
    }
}

/// The kernels of one energy.
#[derive(Clone, Debug)]
pub(crate) struct ElementKernels {
    pub(crate) energy: Kernel,
    /// Gradient and exact Hessian.
    pub(crate) exact: Kernel,
    /// Gradient and Hessian as a Newton direction needs it.
    pub(crate) assembled: Kernel,
}

/// All sources that built-in energies and the backend itself need, for those who compile them.
pub fn sources(shaders: &[Shader]) -> Vec<Source> {
    let mut all: Vec<Source> = NAMED.iter().map(|name| source::kernel(name)).collect();
    for shader in shaders {
        let stages = [Stage::Energy, Stage::Exact, Stage::ClosedForm];
        all.extend(stages.into_iter().filter_map(|stage| source::element(shader, stage)));
    }
    all
}

/// Kernels of `shaders/kernels/`.
pub(crate) const NAMED: [&str; 24] = [
    "add_diagonal",
    "cg_direction",
    "cg_dots",
    "cg_multiply",
    "cg_scalar",
    "cg_step",
    "contact_bound",
    "contact_boxes",
    "contact_query",
    "contact_refit",
    "contact_rows",
    "contact_sort",
    "dense_factor",
    "dense_fill",
    "dense_panel",
    "dense_scale",
    "dense_solve",
    "dense_update",
    "gather_blocks",
    "gather_vertices",
    "math",
    "schwarz_apply",
    "schwarz_factor",
    "schwarz_restrict",
];
