//! The minimum of everything that acts on one vertex while all others stand still, to second order.

use glam::{DVec3, dvec3};
use gusset_energy::{StepState, Term, VertexBlock};
use rayon::prelude::*;

/// Tasks of one thread. No vertex depends on which others its task has, so that results don't depend on their number.
const TASKS: usize = 2;

/// Vertices of one task at least.
const LEAST: usize = 32;

/// Colours with fewer vertices are not worth the threads.
const PARALLEL: usize = 128;

/// Where a vertex goes from here, `-H^-1 g`, by Cholesky's factorisation. A block that is not positive definite, which
/// inertia rules out but for overflow, moves nothing.
#[inline]
pub(crate) fn newton_step(block: &VertexBlock) -> DVec3 {
    let [a, b, c, _, d, e, _, _, f] = block.hessian;
    let l11 = a.sqrt();
    let (l21, l31) = (b / l11, c / l11);
    let l22 = (d - l21 * l21).sqrt();
    let l32 = (e - l31 * l21) / l22;
    let l33 = (f - l31 * l31 - l32 * l32).sqrt();
    let [g1, g2, g3] = block.gradient;
    let y1 = -g1 / l11;
    let y2 = (-g2 - l21 * y1) / l22;
    let y3 = (-g3 - l31 * y1 - l32 * y2) / l33;
    let z = y3 / l33;
    let y = (y2 - l32 * z) / l22;
    let x = (y1 - l21 * y - l31 * z) / l11;
    let step = dvec3(x, y, z);
    if step.is_finite() { step } else { DVec3::ZERO }
}

/// Adds a force and a symmetric stiffness `along n n^T + round I` to a block.
#[inline]
pub(crate) fn add(block: &mut VertexBlock, force: DVec3, n: DVec3, along: f64, round: f64) {
    let gradient = &mut block.gradient;
    gradient[0] -= force.x;
    gradient[1] -= force.y;
    gradient[2] -= force.z;
    let m = n * along;
    let h = &mut block.hessian;
    let (xy, xz, yz) = (m.x * n.y, m.x * n.z, m.y * n.z);
    h[0] += m.x * n.x + round;
    h[4] += m.y * n.y + round;
    h[8] += m.z * n.z + round;
    h[1] += xy;
    h[3] += xy;
    h[2] += xz;
    h[6] += xz;
    h[5] += yz;
    h[7] += yz;
}

/// The largest force and the largest step of some vertices.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Largest {
    /// N.
    pub(crate) force: f64,
    /// m.
    pub(crate) step: f64,
}

impl Largest {
    pub(crate) fn max(self, other: Self) -> Self {
        Self { force: self.force.max(other.force), step: self.step.max(other.step) }
    }
}

/// Buffers of a sweep over the vertices of one colour.
#[derive(Debug, Default)]
pub(crate) struct Sweep {
    blocks: Vec<VertexBlock>,
    /// The step of each vertex of the colour visited last (m).
    pub(crate) steps: Vec<DVec3>,
}

impl Sweep {
    /// Finds the steps of one colour's vertices. `contact` adds what acts beside the terms. Steps are scaled by `ratio`, and
    /// all of a colour by the same factor where an element limits how far it may go.
    pub(crate) fn visit(
        &mut self,
        vertices: &[u32],
        terms: &[Box<dyn Term>],
        at: &StepState<'_>,
        ratio: f64,
        contact: impl Fn(u32, &mut VertexBlock) + Sync,
    ) -> Largest {
        self.blocks.clear();
        self.blocks.resize(vertices.len(), VertexBlock::default());
        self.steps.clear();
        self.steps.resize(vertices.len(), DVec3::ZERO);
        let chunk = |((vertices, blocks), steps): ((&[u32], &mut [VertexBlock]), &mut [DVec3])| {
            for term in terms {
                term.vertex_blocks(at, vertices, blocks);
            }
            let mut largest = Largest::default();
            for ((&v, block), step) in vertices.iter().zip(blocks).zip(steps) {
                contact(v, block);
                *step = newton_step(block) * ratio;
                let force = DVec3::from_array(block.gradient).length();
                largest = largest.max(Largest { force, step: step.abs().max_element() });
            }
            largest
        };
        if vertices.len() < PARALLEL {
            chunk(((vertices, &mut self.blocks), &mut self.steps))
        } else {
            let size = vertices.len().div_ceil(TASKS * rayon::current_num_threads()).max(LEAST);
            vertices
                .par_chunks(size)
                .zip(self.blocks.par_chunks_mut(size))
                .zip(self.steps.par_chunks_mut(size))
                .map(chunk)
                .reduce(Largest::default, Largest::max)
        }
    }
}

/// Largest fraction of one colour's steps that no element objects to.
pub(crate) fn allowed(
    terms: &[Box<dyn Term>],
    x: &[DVec3],
    vertices: &[u32],
    steps: &[DVec3],
    scratch: &mut Vec<DVec3>,
) -> f64 {
    scratch.resize(x.len(), DVec3::ZERO);
    for (&v, step) in vertices.iter().zip(steps) {
        scratch[v as usize] = *step;
    }
    let fraction =
        terms.iter().map(|term| term.max_step_of(x, scratch, vertices)).fold(1.0, f64::min);
    for &v in vertices {
        scratch[v as usize] = DVec3::ZERO;
    }
    fraction
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DMat3;

    #[test]
    fn the_step_solves_the_block() {
        let n = dvec3(1.0, 2.0, -2.0) / 3.0;
        let mut block = VertexBlock::default();
        add(&mut block, dvec3(1.0, 2.0, 3.0), n, 5.0, 2.0);
        add(&mut block, dvec3(-0.5, 0.1, 0.3), DVec3::X, 1.0, 0.0);
        let h = DMat3::from_cols_array(&block.hessian);
        let left = h * newton_step(&block) + DVec3::from_array(block.gradient);
        assert!(left.length() < 1e-14, "{left}");
        assert_eq!(newton_step(&VertexBlock::default()), DVec3::ZERO);
        block.hessian[0] = -1.0;
        assert_eq!(newton_step(&block), DVec3::ZERO);
    }
}
