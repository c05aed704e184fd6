//! How a step is solved.

use gusset_system::Method;

/// Which decrease the line search asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LineSearch {
    /// `Phi(x + a dx) <= Phi(x) + 1e-4 a grad.dx`.
    #[default]
    Armijo,
    /// Halve while the energy grew and `a > 1e-12`, then take the step (the ball-and-wall article).
    Decrease,
}

/// Which Hessians of the elastic terms give the Newton direction. Contact rows are always projected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Curvature {
    /// Always the positive semi-definite ones of each element, as the bag article has it.
    Projected,
    /// Those far from the solution; near it the exact ones, as long as their sum is positive definite. Projection drops
    /// negative curvature and so converges linearly where a film is compressed; the exact Hessian converges quadratically.
    #[default]
    Adaptive,
}

/// Precision of accepted positions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Storage {
    /// Double.
    #[default]
    F64,
    /// Rounded to single; every gap is checked again after rounding.
    F32,
}

/// Settings of the Newton solver; the defaults are those of the bag article where it gives any.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Length of a step (s).
    pub dt: f64,
    /// Newton stops when no component of the direction is larger (m).
    pub tolerance: f64,
    /// Later tolerances: from a time (s) on, another one (m); by rising time.
    pub tolerance_schedule: Vec<(f64, f64)>,
    /// Most Newton iterations of one attempt.
    pub max_iterations: u32,
    /// Which decrease the line search asks for.
    pub line_search: LineSearch,
    /// Which Hessians give the direction.
    pub curvature: Curvature,
    /// Most halvings of one line search.
    pub max_halvings: u32,
    /// How often a failed step may be cut in half.
    pub max_subdivisions: u32,
    /// Precision of accepted positions.
    pub storage: Storage,
    /// Linear solver.
    pub linear: Method,
    /// End the loop on a small direction before it is applied, not after (the ball-and-wall article).
    pub stop_before_update: bool,
    /// Take the last iterate when the iterations run out (the ball-and-wall article).
    pub accept_exhausted: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            dt: 0.01,
            tolerance: 1e-5,
            tolerance_schedule: Vec::new(),
            max_iterations: 150,
            line_search: LineSearch::Armijo,
            curvature: Curvature::Adaptive,
            max_halvings: 48,
            max_subdivisions: 7,
            storage: Storage::F64,
            linear: Method::Cholesky,
            stop_before_update: false,
            accept_exhausted: false,
        }
    }
}

impl Settings {
    /// The tolerance of a step that ends at time `t` (m).
    pub fn tolerance_at(&self, t: f64) -> f64 {
        let later = self.tolerance_schedule.iter().rev().find(|(from, _)| t > *from);
        later.map_or(self.tolerance, |(_, tolerance)| *tolerance)
    }
}
