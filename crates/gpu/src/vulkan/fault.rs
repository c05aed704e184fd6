//! Faults that tests ask for: what seldom happens by itself has to be run as well.

use super::GpuError;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a device is to suffer. It does not recover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It is lost after so many submissions.
    Lost(u64),
    /// Its memory ends after so many allocations.
    OutOfMemory(u64),
}

impl Fault {
    /// Reads `lost:12` or `memory:12`.
    pub fn parse(text: &str) -> Option<Self> {
        let (what, after) = text.split_once(':')?;
        let after = after.parse().ok()?;
        match what {
            "lost" => Some(Self::Lost(after)),
            "memory" => Some(Self::OutOfMemory(after)),
            _ => None,
        }
    }
}

/// Counts down to the faults of a device.
#[derive(Clone, Debug, Default)]
pub(super) struct Faults {
    submissions: Option<Arc<AtomicU64>>,
    allocations: Option<Arc<AtomicU64>>,
    /// A kind of energy whose kernels nothing can compile.
    pub(super) no_kernels_of: Option<&'static str>,
}

/// Whether the count has come to its end.
fn over(left: Option<&Arc<AtomicU64>>) -> bool {
    let down = |left: &Arc<AtomicU64>| {
        left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1)).is_err()
    };
    left.is_some_and(down)
}

impl Faults {
    pub(super) fn add(&mut self, fault: Fault) {
        match fault {
            Fault::Lost(after) => self.submissions = Some(Arc::new(AtomicU64::new(after))),
            Fault::OutOfMemory(after) => self.allocations = Some(Arc::new(AtomicU64::new(after))),
        }
    }

    /// Before a submission.
    pub(super) fn submission(&self) -> Result<(), GpuError> {
        if over(self.submissions.as_ref()) {
            return Err(GpuError::DeviceLost("a fault that was asked for".to_owned()));
        }
        Ok(())
    }

    /// Before a kernel is looked for.
    pub(super) fn kernel(&self, name: &str) -> Result<(), GpuError> {
        match self.no_kernels_of {
            Some(kind) if name.split('.').next() == Some(kind) => Err(GpuError::NoCompiler {
                kind: name.to_owned(),
                why: "can't be compiled: a fault that was asked for".to_owned(),
            }),
            _ => Ok(()),
        }
    }

    /// Before an allocation.
    pub(super) fn allocation(&self, bytes: u64) -> Result<(), GpuError> {
        if over(self.allocations.as_ref()) { Err(GpuError::OutOfMemory { bytes }) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_come_after_so_many_and_stay() {
        let mut faults = Faults::default();
        assert!(faults.submission().is_ok() && faults.allocation(1).is_ok());
        faults.add(Fault::parse("lost:2").unwrap());
        faults.add(Fault::parse("memory:0").unwrap());
        let lost: Vec<bool> = (0..4).map(|_| faults.clone().submission().is_err()).collect();
        assert_eq!(lost, [false, false, true, true]);
        assert!(matches!(faults.allocation(7), Err(GpuError::OutOfMemory { bytes: 7 })));
        assert_eq!(Fault::parse("lost"), None);
        assert_eq!(Fault::parse("found:1"), None);
    }
}
