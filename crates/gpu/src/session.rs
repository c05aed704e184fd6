//! What terms and contact share on a device: one stream of work, and the positions.

use crate::terms::Mirror;
use crate::vulkan::{Device, GpuError, Stream};
use gusset_system::BackendReport;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub(crate) struct Session {
    pub(crate) stream: Stream,
    /// Positions (m): uploaded once for all that looks at them.
    pub(crate) x: Mirror<f64>,
    pub(crate) report: BackendReport,
}

/// A session of several owners, of whom one works at a time.
#[derive(Clone)]
pub(crate) struct Shared(Arc<Mutex<Session>>);

impl Shared {
    pub(crate) fn new(device: &Device) -> Result<Self, GpuError> {
        Ok(Self(Arc::new(Mutex::new(Session {
            stream: Stream::new(device)?,
            x: Mirror::new(device)?,
            report: BackendReport::default(),
        }))))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Session> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
