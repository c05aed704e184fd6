//! Energies that don't come with the framework: their kernels are compiled when they are used.

use crate::device::device;
use glam::DVec3;
use gusset_energy::{At, Batch, Element, Scalar, StepState, Term, fields};
use gusset_system::{AssemblyError, Backend as _};

fields! { struct Constants<S> { stiffness: S } }

/// The energy of a spring of no length.
struct Pull;

impl Element<2> for Pull {
    type Params<S: Scalar> = Constants<S>;

    fn energy<S: Scalar>(at: &At<S, 2>, p: &Constants<S>) -> S {
        p.stiffness * (at.x[1] - at.x[0]).norm_squared() * 0.5
    }
}

fn energy_of(kind: &'static str) -> Option<Result<f64, AssemblyError>> {
    let checked = device()?;
    if let Err(why) = gusset_gpu::compile::compiler() {
        crate::skip(&format!("no shaderc, so nothing was compiled ({why})"));
        return None;
    }
    let stencils = [([0, 1], Constants { stiffness: 3.0 })];
    let term: Box<dyn Term> = Box::new(Batch::<Pull, 2>::new(kind, kind.to_owned(), stencils));
    let x = [DVec3::ZERO, DVec3::new(0.0, 2.0, 0.0)];
    let at = StepState { x: &x, x_start: &x, v_start: &x, dt: 0.01 };
    let mut energies = Vec::new();
    let done = checked.backend().energies(&[term], &at, &mut energies);
    Some(done.map(|()| energies[0].value()))
}

#[test]
fn an_energy_of_ones_own_is_compiled() {
    let Some(energy) = energy_of("test-pull") else { return };
    assert_eq!(energy.unwrap(), 6.0);
}

/// Names that begin with `gl_` are GLSL's own, so this kind's function is refused.
#[test]
fn what_glsl_refuses_is_shown_with_kind_and_line() {
    let Some(energy) = energy_of("gl-pull") else { return };
    let error = energy.unwrap_err().to_string();
    assert!(error.contains("`gl_pull.") && error.contains("reserved"), "{error}");
    // The line that the compiler names: where the shell calls the function.
    let shown = error.lines().find_map(|l| l.trim().split_once(" | "));
    let (number, line) = shown.unwrap_or_else(|| panic!("no line of GLSL is shown: {error}"));
    assert!(number.parse::<u32>().is_ok() && line.contains("evaluate"), "{error}");
}
