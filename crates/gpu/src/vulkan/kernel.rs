//! Kernels: compute pipelines whose arguments are arrays and a few constants.

use super::{Device, GpuError};
use std::collections::BTreeMap;
use std::sync::Arc;
use vulkano::descriptor_set::layout::{
    DescriptorSetLayout, DescriptorSetLayoutBinding, DescriptorSetLayoutCreateInfo, DescriptorType,
};
use vulkano::pipeline::compute::ComputePipelineCreateInfo;
use vulkano::pipeline::layout::{PipelineLayoutCreateInfo, PushConstantRange};
use vulkano::pipeline::{ComputePipeline, PipelineLayout, PipelineShaderStageCreateInfo};
use vulkano::shader::{ShaderModule, ShaderModuleCreateInfo, ShaderStages, SpecializationConstant};

/// Bytes of constants that every dispatch passes.
pub(super) const CONSTANTS: usize = 64;

/// A kernel of a device.
#[derive(Clone, Debug)]
pub struct Kernel {
    pub(super) name: Arc<str>,
    pub(super) pipeline: Arc<ComputePipeline>,
    pub(super) set: Arc<DescriptorSetLayout>,
    pub(super) bindings: usize,
    pub(super) group: u32,
}

impl Kernel {
    /// Makes a kernel from SPIR-V whose workgroups have `group` threads and which has `bindings` arrays, numbered from 0.
    /// `specialise` sets its specialisation constants of type `uint`.
    pub fn new(
        device: &Device,
        name: &str,
        spirv: &[u32],
        bindings: usize,
        group: u32,
        specialise: &[(u32, u32)],
    ) -> Result<Self, GpuError> {
        let failed = |message: String| GpuError::Kernel { kind: name.to_owned(), message };
        let info = ShaderModuleCreateInfo::new(spirv);
        // SAFETY: shaderc made the words and vulkano reads them; kernels keep within the arrays they are bound to.
        let module = unsafe { ShaderModule::new(Arc::clone(&device.inner), info) }
            .map_err(|e| failed(format!("{e:?}")))?;
        let constants =
            specialise.iter().map(|&(id, value)| (id, SpecializationConstant::U32(value)));
        let module =
            module.specialize(constants.collect()).map_err(|e| failed(format!("{e:?}")))?;
        let entry = module.entry_point("main").ok_or_else(|| failed("it has no `main`".into()))?;

        // By hand and not from the module: an array that a kernel doesn't touch has a place all the same.
        let binding = DescriptorSetLayoutBinding {
            stages: ShaderStages::COMPUTE,
            ..DescriptorSetLayoutBinding::descriptor_type(DescriptorType::StorageBuffer)
        };
        let set = DescriptorSetLayoutCreateInfo {
            bindings: (0..bindings as u32)
                .map(|k| (k, binding.clone()))
                .collect::<BTreeMap<_, _>>(),
            ..DescriptorSetLayoutCreateInfo::default()
        };
        let set = DescriptorSetLayout::new(Arc::clone(&device.inner), set).map_err(GpuError::of)?;
        let layout = PipelineLayoutCreateInfo {
            set_layouts: vec![Arc::clone(&set)],
            push_constant_ranges: vec![PushConstantRange {
                stages: ShaderStages::COMPUTE,
                offset: 0,
                size: CONSTANTS as u32,
            }],
            ..PipelineLayoutCreateInfo::default()
        };
        let layout =
            PipelineLayout::new(Arc::clone(&device.inner), layout).map_err(GpuError::of)?;
        let stage = PipelineShaderStageCreateInfo::new(entry);
        let pipeline = ComputePipeline::new(
            Arc::clone(&device.inner),
            device.pipelines.clone(),
            ComputePipelineCreateInfo::stage_layout(stage, layout),
        )
        .map_err(|e| failed(format!("{e:?}")))?;
        Ok(Self { name: name.into(), pipeline, set, bindings, group })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }
}
