//! Every default number of a scene, in one place, with its reason.

use gusset_units::{Acceleration, Length, Velocity};

/// Earth's gravity, downward with z up, as in most scenes and in the comparisons with other codes.
pub(crate) fn gravity() -> [Acceleration; 3] {
    [0.0, 0.0, -9.81].map(Acceleration::new_si)
}

/// Nowhere: shapes are built about the origin.
pub(crate) fn translate() -> [Length; 3] {
    [Length::new_si(0.0); 3]
}

/// Midsurfaces may come arbitrarily close: the barrier alone keeps them apart. Give the film's thickness to keep its
/// faces apart too.
pub(crate) fn min_gap() -> Length {
    Length::new_si(0.0)
}

/// The value of the articles: slow enough that a resting body creeps by a millimetre in a second at most, fast enough
/// that a step's friction stays smooth.
pub(crate) fn friction_speed() -> Velocity {
    Velocity::new_si(1e-3)
}

/// Largest correction that Newton's method still makes, over dt: a thousandth of a metre per second can't be seen, and
/// is the tolerance at which other codes were measured.
pub(crate) const TOLERANCE_SPEED: f64 = 1e-3;

/// Newton's method needs 3 to 15 iterations a step; 150 (the bag article) leaves room for a hard landing, and more
/// means that a smaller step will do better.
pub(crate) fn max_iterations() -> u32 {
    150
}

/// Sweeps of block descent over a step: what its authors use; more leave less force, at a cost in proportion.
pub(crate) const SWEEPS: u32 = 10;

/// 2^-48 is where the positions of a step no longer differ in double precision.
pub(crate) fn max_halvings() -> u32 {
    48
}

/// A step that fails is tried in 2, 4, ... 128 parts; what still fails then fails for another reason than its length.
pub(crate) fn subdivisions() -> u32 {
    7
}

/// A millionth of a step: parts are counted in 32 bits, and nobody waits for that many.
pub(crate) const MOST_SUBDIVISIONS: u32 = 20;

/// Residual of conjugate gradients: a direction this exact leaves Newton's iteration count as it is.
pub(crate) const PCG_TOLERANCE: f64 = 1e-8;

/// Most iterations of conjugate gradients: with block preconditioning a cloth of 100,000 vertices needs some hundreds.
pub(crate) const PCG_ITERATIONS: u32 = 2000;

/// Every step is a frame: steps are what a run is judged by.
pub(crate) fn frame_every() -> u64 {
    1
}

/// A checkpoint is as large as two frames: one in 50 steps adds 4 % to the folder, a killed run loses seconds to
/// minutes, and a run can be taken up again from any of them.
pub(crate) fn checkpoint_every() -> u64 {
    50
}

/// Part of the way to the first touch that a step may go (both articles).
pub(crate) const SLACK: f64 = 0.9;

/// `stiffness = "auto"`: the barrier is this many times as stiff as the inertia and the weight of a vertex, so that a
/// resting layer stands well inside `dhat` and an impact doesn't compress it to nothing.
pub(crate) const AUTO_STIFFNESS: f64 = 10.0;

/// Candidates are kept while nothing has moved further than this part of `dhat`: a wider skin means fewer searches and more
/// pairs to look at in every evaluation. A search costs about as much as looking at its pairs twice, so it is narrow.
pub(crate) const SKIN_OF_DHAT: f64 = 0.1;
