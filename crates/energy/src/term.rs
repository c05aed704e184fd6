//! The seam between energies and solvers: many stencils of one kind behind one virtual call per pass.

use crate::contacts::Contacts;
use crate::shader::Shader;
use glam::DVec3;

/// Positions that a term is evaluated at, with what it may look back to.
#[derive(Clone, Copy, Debug)]
pub struct StepState<'a> {
    /// Positions (m), one per world vertex.
    pub x: &'a [DVec3],
    /// Positions at the start of the step (m).
    pub x_start: &'a [DVec3],
    /// Velocities at the start of the step (m/s).
    pub v_start: &'a [DVec3],
    /// Length of the step (s).
    pub dt: f64,
}

/// How much of a term is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// Gradients.
    Gradient,
    /// Gradients and Hessian blocks made positive semi-definite, as a Newton direction needs them.
    Hessian,
    /// Gradients and the exact Hessian, which may be indefinite; for checks.
    ExactHessian,
}

/// Results per stencil, stencil after stencil; reused between passes, so nothing is allocated once warm.
#[derive(Clone, Debug, Default)]
pub struct Local {
    /// `3 * arity` numbers a stencil (N).
    pub gradient: Vec<f64>,
    /// `9 * block_count(arity)` numbers a stencil (N/m): upper 3x3 blocks in the order of [`block_index`], row-major;
    /// empty where only gradients were wanted.
    pub hessian: Vec<f64>,
}

impl Local {
    /// Makes room for all stencils of `term` and evaluates it.
    pub fn eval(&mut self, term: &dyn Term, at: &StepState<'_>, want: Want) {
        let (count, arity) = (term.count(), term.arity());
        self.gradient.resize(count * 3 * arity, 0.0);
        let blocks = if want == Want::Gradient { 0 } else { block_count(arity) };
        self.hessian.resize(count * 9 * blocks, 0.0);
        term.eval(at, want, &mut self.gradient, &mut self.hessian);
    }
}

/// One vertex's share of a term: gradient and diagonal Hessian block, as block-descent solvers need it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct VertexBlock {
    /// `dE/dx_i` (N).
    pub gradient: [f64; 3],
    /// `d2E/dx_i2` (N/m), row-major, positive semi-definite.
    pub hessian: [f64; 9],
}

/// Normal forces of the rows that were active at the start of a step: what barriers publish and friction reads.
#[derive(Clone, Debug, Default)]
pub struct Lagged {
    /// `-B'(g)` (N) for each of [`Contacts::rows`].
    pub normal_force: Vec<f64>,
    /// The same for each of [`Contacts::slabs`].
    pub slab_normal_force: Vec<f64>,
}

/// Number of upper 3x3 blocks of a stencil with `arity` vertices.
pub const fn block_count(arity: usize) -> usize {
    arity * (arity + 1) / 2
}

/// Position of block `(i, j)`, `i <= j`, among the upper blocks, row by row.
pub const fn block_index(arity: usize, i: usize, j: usize) -> usize {
    i * arity - i * (i + 1) / 2 + j
}

/// All stencils of one kind on one body, as solvers see them.
///
/// [`Batch`](crate::Batch) implements this for every [`Element`](crate::Element). Implement it by hand only for what no
/// element can say: an analytic eigen-system, an affine body.
pub trait Term: Send + Sync {
    /// The kind's name: `neo-hookean`.
    fn kind(&self) -> &'static str;

    /// What and on which body, for messages: "neo-hookean of `cloth`".
    fn label(&self) -> &str;

    /// Vertices per stencil.
    fn arity(&self) -> usize;

    /// World vertex indices, `arity` per stencil. Those of a dynamic term change with [`Term::refresh`].
    fn stencils(&self) -> &[u32];

    /// Number of stencils.
    fn count(&self) -> usize {
        self.stencils().len() / self.arity()
    }

    /// Constants per stencil and how many there are of them.
    fn params(&self) -> (&[f64], usize);

    /// Whether the stencils are contact rows, refreshed before every evaluation.
    fn dynamic(&self) -> bool {
        false
    }

    /// Whether stencils and constants stay as they are for good, so that a copy of them elsewhere need not be compared.
    fn constant(&self) -> bool {
        false
    }

    /// Keyframes, releases: the term as it is for a step that ends at `t` (s); called once per step before anything
    /// else.
    fn at_time(&mut self, t: f64) {
        let _ = t;
    }

    /// Takes the start of a step whose vertices are going to be visited one by one: until the next call,
    /// [`Term::vertex_blocks`] is asked about this step alone. Without it every visit looks back to the start anew.
    fn begin(&mut self, at: &StepState<'_>) {
        let _ = at;
    }

    /// Adds this term's normal forces for the rows at the start of the step.
    fn publish(&self, contacts: &Contacts, lagged: &mut Lagged) {
        let _ = (contacts, lagged);
    }

    /// Takes what other terms published for the rows at the start of the step; may replace the stencils.
    fn lag(&mut self, contacts: &Contacts, lagged: &Lagged) {
        let _ = (contacts, lagged);
    }

    /// Takes the rows of the positions that are evaluated next.
    fn refresh(&mut self, contacts: &Contacts) {
        let _ = contacts;
    }

    /// Energy per stencil (J); `out` is resized.
    fn energy(&self, at: &StepState<'_>, out: &mut Vec<f64>);

    /// Gradients and Hessian blocks per stencil, laid out as in [`Local`]; every number is overwritten. `hessian` is
    /// empty where only gradients are wanted.
    fn eval(&self, at: &StepState<'_>, want: Want, gradient: &mut [f64], hessian: &mut [f64]);

    /// Adds each listed vertex's gradient and diagonal block to the entry of `out` with the same position.
    fn vertex_blocks(&self, at: &StepState<'_>, vertices: &[u32], out: &mut [VertexBlock]);

    /// Largest fraction of `dx` that no stencil objects to.
    fn max_step(&self, x: &[DVec3], dx: &[DVec3]) -> f64;

    /// Largest fraction of `dx` that no stencil around some vertices objects to, where those alone move.
    fn max_step_of(&self, x: &[DVec3], dx: &[DVec3], vertices: &[u32]) -> f64 {
        let _ = vertices;
        self.max_step(x, dx)
    }

    /// Whether the term acts at the time that [`Term::at_time`] last set; otherwise all its numbers are 0.
    fn active(&self) -> bool {
        true
    }

    /// GLSL text of one stencil's energy, gradient and Hessian; traced anew each time.
    fn shader(&self) -> Shader;
}
