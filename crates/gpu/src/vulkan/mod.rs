//! Vulkan, and nothing of the physics: devices, arrays, kernels, command buffers. The only place that talks to it.
//!
//! Memory is never mapped while the device works on it, kernels are bound to exactly the arrays they declare, and every
//! submission is waited for, so the rest of the crate needs no care for any of this.

mod array;
mod device;
mod fault;
mod instance;
mod kernel;
mod recorder;

pub use array::{Array, Binding};
pub use device::{Device, Limits};
pub use fault::Fault;
pub use instance::{DeviceInfo, DeviceKind, Instance};
pub use kernel::Kernel;
pub use recorder::{Recorded, Recorder, Stream, Ticket};

use thiserror::Error;

/// Why something can't be done on a GPU.
#[derive(Clone, Debug, Error)]
pub enum GpuError {
    /// The machine has no Vulkan at all.
    #[error(
        "there is no Vulkan loader on this machine ({0}): install one (Debian: `libvulkan1` and a driver such as \
         `mesa-vulkan-drivers`), or use the CPU with `--backend cpu`"
    )]
    NoLoader(String),
    /// A loader, but nothing behind it.
    #[error(
        "the Vulkan loader finds no device ({0}): install a driver (Debian: `mesa-vulkan-drivers`), or use the CPU with \
         `--backend cpu`"
    )]
    NoDevice(String),
    /// None of the devices will do.
    #[error(
        "no Vulkan device can be used: {0}. `gusset devices` lists them; `--backend cpu` needs none"
    )]
    NoneUsable(String),
    /// The device that was asked for is not there.
    #[error("there is no Vulkan device `{asked}`; this machine has {found}")]
    NoSuchDevice {
        /// Number or name.
        asked: String,
        /// Those that are there.
        found: String,
    },
    /// The device that was asked for can't be used.
    #[error(
        "Vulkan device `{name}` can't be used: {why}. Choose another with `--device`, or `--backend cpu`"
    )]
    NotUsable {
        /// The device.
        name: String,
        /// What it lacks.
        why: String,
    },
    /// No memory for an array.
    #[error(
        "out of memory on the Vulkan device: {bytes} bytes could not be had. Use a smaller scene, another device or \
         `--backend cpu`"
    )]
    OutOfMemory {
        /// Size of the array.
        bytes: u64,
    },
    /// An array is longer than a kernel can see.
    #[error(
        "{what} takes {bytes} bytes, and this Vulkan device lets a kernel see {limit} at once; use `--backend cpu`"
    )]
    TooLarge {
        /// What is stored in it.
        what: &'static str,
        /// Its size.
        bytes: u64,
        /// The device's limit.
        limit: u64,
    },
    /// The device stopped working.
    #[error(
        "the Vulkan device was lost ({0}): its driver was reset or it hung. Results up to the last checkpoint are safe; \
         go on with `--resume`, on the CPU with `--backend cpu`"
    )]
    DeviceLost(String),
    /// A kernel that does not come with the program, and nothing that could make it.
    #[error("the kernel of `{kind}` {why}")]
    NoCompiler {
        /// Kind of energy, or the kernel's own name.
        kind: String,
        /// What is missing, and what would help.
        why: String,
    },
    /// A kernel that can't be made.
    #[error("the kernel of `{kind}`: {message}")]
    Kernel {
        /// Kind of energy, or the kernel's own name.
        kind: String,
        /// What is wrong.
        message: String,
    },
    /// Anything else that Vulkan says.
    #[error("Vulkan: {0}")]
    Other(String),
}

impl GpuError {
    /// Whatever Vulkan reports, by what can be done about it.
    pub(crate) fn of(error: vulkano::Validated<vulkano::VulkanError>) -> Self {
        use vulkano::{Validated, VulkanError};
        match error {
            Validated::Error(error @ (VulkanError::DeviceLost | VulkanError::Timeout)) => {
                Self::DeviceLost(error.to_string())
            }
            Validated::Error(VulkanError::OutOfDeviceMemory | VulkanError::OutOfHostMemory) => {
                Self::OutOfMemory { bytes: 0 }
            }
            Validated::Error(error) => Self::Other(error.to_string()),
            Validated::ValidationError(error) => Self::Other(format!("{error:?}")),
        }
    }

    pub(crate) fn invalid(error: &vulkano::ValidationError) -> Self {
        Self::Other(format!("{error:?}"))
    }
}

impl From<vulkano::VulkanError> for GpuError {
    fn from(error: vulkano::VulkanError) -> Self {
        Self::of(error.into())
    }
}
