//! What a solver runs on.

use gusset_contact::{CpuDetection, Detection};
use gusset_system::{Backend, CpuBackend};

/// Who evaluates the terms, who detects contact, and what happens where they can't.
pub struct Backends {
    /// Evaluates and assembles terms; may solve systems.
    pub terms: Box<dyn Backend>,
    /// Detects contact.
    pub contact: Box<dyn Detection>,
    /// Whether the CPU takes over from a device that fails; else the step fails.
    pub fallback: bool,
}

impl Default for Backends {
    /// All on the CPU.
    fn default() -> Self {
        Self {
            terms: Box::<CpuBackend>::default(),
            contact: Box::new(CpuDetection),
            fallback: false,
        }
    }
}
