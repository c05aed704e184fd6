//! Terms evaluated and assembled on a GPU through Vulkan, in double precision.
//!
//! The kernels come from the energies themselves: [`source`] puts a hand-written shell around the GLSL of a traced energy,
//! [`compile`] finds its SPIR-V (checked in, cached, or made by shaderc), and [`VulkanBackend`] runs it behind the same
//! [`Backend`](gusset_system::Backend) as the CPU. [`DeviceContact`] is its counterpart for contact, behind
//! [`Detection`](gusset_contact::Detection). Sums have the CPU's order and there are no atomic additions of floating-point
//! numbers, so results are the same bits from run to run.

mod assembly;
mod backend;
mod choice;
pub mod compile;
mod contact;
mod dense;
mod gather;
mod hierarchy;
mod kernels;
mod linear;
mod matrix;
pub mod measure;
mod session;
pub mod source;
mod terms;
#[expect(
    unsafe_code,
    reason = "Vulkan is a C interface; everything else in the crate goes through this module"
)]
pub mod vulkan;

pub use backend::VulkanBackend;
pub use choice::OnDevice;
pub use contact::DeviceContact;
pub use kernels::sources;
pub use vulkan::{DeviceInfo, DeviceKind, GpuError, Instance};
