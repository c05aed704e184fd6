//! Who solves the linear systems, and how.

use crate::dense::DenseCholesky;
use crate::vulkan::{Device, DeviceKind};
use gusset_system::{LinearChoice, Method};

/// What of the linear systems a device solves itself.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum OnDevice {
    /// Nothing: they are assembled there and factorised on the CPU.
    #[default]
    Nothing,
    /// All of it, by dense Cholesky.
    Dense,
    /// All of it, by conjugate gradients preconditioned with Schwarz levels.
    Gradients {
        /// Relative residual at which they stop.
        tolerance: f64,
        /// Most iterations.
        max_iterations: u32,
        /// Systems on which they don't converge are left to the CPU, else they are errors.
        leave: bool,
    },
}

/// Free vertices up to which `auto` takes dense Cholesky on a graphics processor. Factorising a dense matrix of 3n rows takes 9n^3
/// operations, and three dispatches for each 32 rows that wait for one another; at this size both are about a millisecond on
/// any processor with double precision, and neither blocks nor factor travel. The CPU's sparse factorisation takes as long.
/// This is reckoned: no graphics processor has been measured.
const DENSE: usize = 256;

/// Free vertices from which on `auto` takes conjugate gradients there. The CPU needs a third of a second for the factor of a
/// cloth of this size, and time and memory grow faster than the cloth; an iteration reads the matrix once. Reckoned as well.
const GRADIENTS: usize = 20_000;

/// What `auto` asks of conjugate gradients: exact enough not to cost Newton iterations.
const TOLERANCE: f64 = 1e-8;
const MAX_ITERATIONS: u32 = 2000;

/// Chooses for `free` vertices on a device.
pub(crate) fn choose(device: &Device, wanted: Method, free: usize) -> (OnDevice, LinearChoice) {
    let dense_fits = free <= DenseCholesky::most_vertices(device);
    let software = device.info().kind == DeviceKind::Software;
    let asked = "as asked for".to_owned();
    match wanted {
        Method::Dense if dense_fits => (OnDevice::Dense, dense(Method::Dense, asked)),
        Method::Dense => {
            let why = format!(
                "the matrix of {free} free vertices is larger than a kernel of this device can see"
            );
            (OnDevice::Nothing, LinearChoice { why, ..LinearChoice::on_cpu(wanted, free) })
        }
        Method::Cholesky => (OnDevice::Nothing, LinearChoice::on_cpu(wanted, free)),
        Method::Pcg { tolerance, max_iterations } => {
            let there = OnDevice::Gradients { tolerance, max_iterations, leave: false };
            (there, gradients(wanted, asked))
        }
        // What software calls its device is the CPU itself, where the sparse factor is the fastest at every size. Measured, in
        // milliseconds a Newton iteration, sparse, dense and conjugate gradients: 0.004, 1 and 4 for the two triangles of
        // `reference/vt`; 5, 11 000 and 400 for `bench/drape-32`; 50, too large and 2 000 for `bench/drape-64`.
        Method::Auto if software => {
            let why = format!("auto: {free} free vertices, and the device is software");
            (
                OnDevice::Nothing,
                LinearChoice { why, ..LinearChoice::on_cpu(Method::Cholesky, free) },
            )
        }
        Method::Auto if free <= DENSE && dense_fits => {
            let why = format!("auto: {free} free vertices, up to {DENSE}");
            (OnDevice::Dense, dense(Method::Cholesky, why))
        }
        Method::Auto if free >= GRADIENTS => {
            let why = format!("auto: {free} free vertices, from {GRADIENTS} on");
            let (tolerance, max_iterations) = (TOLERANCE, MAX_ITERATIONS);
            let there = OnDevice::Gradients { tolerance, max_iterations, leave: true };
            (there, gradients(Method::Cholesky, why))
        }
        Method::Auto => {
            let why = format!("auto: {free} free vertices, from {DENSE} to {GRADIENTS}");
            (
                OnDevice::Nothing,
                LinearChoice { why, ..LinearChoice::on_cpu(Method::Cholesky, free) },
            )
        }
    }
}

fn dense(on_cpu: Method, why: String) -> LinearChoice {
    LinearChoice { on_cpu, name: "dense Cholesky on the device".to_owned(), why }
}

fn gradients(on_cpu: Method, why: String) -> LinearChoice {
    let name = "conjugate gradients with Schwarz levels on the device".to_owned();
    LinearChoice { on_cpu, name, why }
}
