//! How far all vertices may go along their displacements together before something touches.
//!
//! Two interchangeable methods. The **separating normal** looks once: at the start, the two closest points define a slab of
//! empty space between the (convex) primitives, and the primitives can't meet before their motion along its normal has used
//! it up (bag article, section 4). Where that would leave less than a tenth of the step, which is where solvers stall, a
//! pair is followed further. **Additive CCD** (Li et al. 2021, "Codimensional Incremental Potential Contact",
//! section 5) repeats that argument from the positions reached, with the normal there, so that sliding and turning pairs
//! are stopped later. Both are conservative, both work with the displacements relative to one vertex of the pair, so that a
//! common motion costs nothing.

use std::sync::atomic::{AtomicU64, Ordering};

use glam::DVec3;
use gusset_energy::RowKind;
use rayon::prelude::*;

use crate::additive::advance;
use crate::rows::{CHUNK, Stencil};
use crate::{Candidates, CollisionMesh, Pair, PairKind};

/// How far pairs are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum StepMethod {
    /// One half-space argument from the start positions.
    #[default]
    SeparatingNormal,
    /// The half-space argument repeated along the way.
    Additive,
}

/// What a step bound keeps to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepRule {
    /// How far pairs are followed.
    pub method: StepMethod,
    /// Share of a gap that a step may use up, in (0, 1).
    pub slack: f64,
    /// Positions that additive CCD looks at for one pair, at most; then the last safe one counts.
    pub max_iterations: u32,
    /// Whether slabs bound the step; not where a penalty lets particles into them.
    pub slabs: bool,
}

impl Default for StepRule {
    fn default() -> Self {
        Self {
            method: StepMethod::SeparatingNormal,
            slack: 0.9,
            max_iterations: 10_000,
            slabs: true,
        }
    }
}

/// A pair whose separating normal allows less than this fraction is followed further.
const SHORT: f64 = 0.1;

/// The largest common fraction of the displacements, and the pair that limits it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepBound {
    /// In [0, 1]; 0 only where a pair touches or overlaps at the start.
    pub alpha: f64,
    /// `None` where `alpha` is 1.
    pub limiting: Option<Pair>,
}

/// The largest common fraction of the displacements `dx` from `x` that the rule allows. Candidates have to cover `x` and
/// `x + dx`. Only pairs whose swept boxes, grown by the offset, overlap are counted, so the result depends on `x` and `dx`
/// alone and not on what else the candidate lists hold. All of `x` and `dx` must be finite.
pub fn step_bound(
    mesh: &CollisionMesh,
    candidates: &Candidates,
    x: &[DVec3],
    dx: &[DVec3],
    rule: &StepRule,
) -> StepBound {
    // Shared only to skip pairs that can't be the first: a bound that arrives late costs time, never changes the result.
    let shared = AtomicU64::new(1f64.to_bits());
    // A constant kind lets the compiler make one loop for each.
    let first = [
        first_of(mesh, &candidates.vertex_triangle, x, dx, rule, &shared, RowKind::VertexTriangle),
        first_of(mesh, &candidates.edge_edge, x, dx, rule, &shared, RowKind::EdgeEdge),
        first_of(mesh, &candidates.sphere_triangle, x, dx, rule, &shared, RowKind::SphereTriangle),
        first_of(mesh, &candidates.sphere_sphere, x, dx, rule, &shared, RowKind::SphereSphere),
    ]
    .into_iter()
    .flatten()
    .fold(None, |a, b| Some(earlier(a, b)));
    step_bound_from(mesh, candidates, x, dx, rule, first)
}

/// The same where it is known which mesh pair is to stop first, and at which fraction of the displacements.
pub fn step_bound_from(
    mesh: &CollisionMesh,
    candidates: &Candidates,
    x: &[DVec3],
    dx: &[DVec3],
    rule: &StepRule,
    mut first: Option<(f64, Pair)>,
) -> StepBound {
    if rule.slabs {
        for &[particle, slab] in &candidates.particle_slab {
            let row = candidates.slab_row(mesh, x, particle, slab);
            let approach = -row.normal.dot(dx[row.vertex as usize]);
            let fraction = fraction_of(row.gap, approach, rule);
            if fraction <= 1.0 {
                let pair = Pair { kind: PairKind::VertexSlab, primitives: [row.vertex, slab] };
                first = Some(earlier(first, (fraction, pair)));
            }
        }
    }
    match first {
        Some((fraction, pair)) => StepBound {
            alpha: match rule.method {
                StepMethod::SeparatingNormal => rule.slack * fraction,
                StepMethod::Additive => fraction,
            },
            limiting: Some(pair),
        },
        None => StepBound { alpha: 1.0, limiting: None },
    }
}

/// The pair of one list that is to stop first, if any is.
#[inline(always)]
fn first_of(
    mesh: &CollisionMesh,
    list: &[[u32; 2]],
    x: &[DVec3],
    dx: &[DVec3],
    rule: &StepRule,
    shared: &AtomicU64,
    kind: RowKind,
) -> Option<(f64, Pair)> {
    let of_chunk = |chunk: &[[u32; 2]]| {
        let mut first: Option<(f64, Pair)> = None;
        for &primitives in chunk {
            // Non-negative floats compare like their bits.
            let best = f64::from_bits(shared.load(Ordering::Relaxed));
            let stencil = mesh.stencil(kind, primitives);
            let fraction = mesh_fraction(&stencil, x, dx, best, rule);
            if fraction <= best {
                shared.fetch_min(fraction.to_bits(), Ordering::Relaxed);
                first = Some(earlier(first, (fraction, Pair { kind: kind.into(), primitives })));
            }
        }
        first
    };
    let chunks: Vec<Option<(f64, Pair)>> = list.par_chunks(CHUNK).map(of_chunk).collect();
    chunks.into_iter().flatten().fold(None, |a, b| Some(earlier(a, b)))
}

/// The lower fraction; of equal ones the smaller pair.
fn earlier(a: Option<(f64, Pair)>, b: (f64, Pair)) -> (f64, Pair) {
    match a {
        Some(a) if a.0 < b.0 || (a.0 == b.0 && a.1 <= b.1) => a,
        _ => b,
    }
}

/// The fraction of its displacement at which a mesh pair is to stop, or infinity where that is above `best`.
#[inline(always)]
fn mesh_fraction(stencil: &Stencil, x: &[DVec3], dx: &[DVec3], best: f64, rule: &StepRule) -> f64 {
    let (x, dx) = (stencil.gather(x), stencil.gather(dx));
    if swept_boxes_apart(stencil.kind, &x, &dx, stencil.offset) {
        return f64::INFINITY;
    }
    let relative = dx.map(|d| d - dx[0]);
    // No pair comes closer by more than this, and a pair that needs more to matter is passed over. The margins keep
    // rounding from deciding which pairs those are.
    let reach = best * relative_motion(stencil.kind, &relative) / rule.slack * (1.0 + 1e-9);
    let limit = stencil.offset + reach + 1e-12 * stencil.offset;
    let Some(closest) = stencil.closest_within(x, limit * limit) else {
        return f64::INFINITY;
    };
    let distance = closest.distance();
    let gap = distance - stencil.offset;
    if !(gap > 0.0) {
        return 0.0;
    }
    match rule.method {
        StepMethod::SeparatingNormal => {
            let approach = approach(stencil.kind, closest.r / distance, &relative);
            let fraction = fraction_of(gap, approach, rule);
            if fraction >= SHORT || fraction > best {
                return fraction;
            }
            // The slack comes later, and once only.
            let (kind, best) = (stencil.kind, best * rule.slack);
            let further = advance(kind, &x, &relative, stencil.offset, closest, best, rule);
            fraction.max(further / rule.slack)
        }
        StepMethod::Additive => {
            advance(stencil.kind, &x, &relative, stencil.offset, closest, best, rule)
        }
    }
}

/// The fraction for a gap that shrinks by at most `approach` over the whole step.
fn fraction_of(gap: f64, approach: f64, rule: &StepRule) -> f64 {
    if !(gap > 0.0) {
        return 0.0;
    }
    if approach <= 0.0 {
        return f64::INFINITY;
    }
    match rule.method {
        StepMethod::SeparatingNormal => gap / approach,
        StepMethod::Additive => rule.slack * gap / approach,
    }
}

/// By how much the two primitives come closer along the unit vector `n` (from the second to the first) in the whole step:
/// an upper bound, since the motion of any point lies between those of its primitive's vertices.
#[inline(always)]
pub(crate) fn approach(kind: RowKind, n: DVec3, dx: &[DVec3; 4]) -> f64 {
    let u = dx.map(|d| n.dot(d));
    match kind {
        RowKind::VertexTriangle | RowKind::SphereTriangle => u[1].max(u[2]).max(u[3]) - u[0],
        RowKind::EdgeEdge => u[2].max(u[3]) - u[0].min(u[1]),
        RowKind::SphereSphere => u[1] - u[0],
    }
}

/// An upper bound of [`approach`] over all directions.
#[inline(always)]
fn relative_motion(kind: RowKind, dx: &[DVec3; 4]) -> f64 {
    // dx[0] is 0: displacements are relative to it.
    let l = [dx[1], dx[2], dx[3]].map(DVec3::length_squared);
    match kind {
        RowKind::EdgeEdge => l[0].sqrt() + l[1].max(l[2]).sqrt(),
        _ => l[0].max(l[1]).max(l[2]).sqrt(),
    }
}

/// Whether the boxes that the two primitives sweep, grown by the offset, have no point in common.
#[inline(always)]
fn swept_boxes_apart(kind: RowKind, x: &[DVec3; 4], dx: &[DVec3; 4], offset: f64) -> bool {
    let low = |i: usize| x[i].min(x[i] + dx[i]);
    let high = |i: usize| x[i].max(x[i] + dx[i]);
    let (a, b) = match kind {
        RowKind::VertexTriangle | RowKind::SphereTriangle => {
            ((low(0), high(0)), (low(1).min(low(2)).min(low(3)), high(1).max(high(2)).max(high(3))))
        }
        RowKind::EdgeEdge => {
            ((low(0).min(low(1)), high(0).max(high(1))), (low(2).min(low(3)), high(2).max(high(3))))
        }
        RowKind::SphereSphere => ((low(0), high(0)), (low(1), high(1))),
    };
    (a.0 - offset).cmpgt(b.1).any() || (b.0 - offset).cmpgt(a.1).any()
}
