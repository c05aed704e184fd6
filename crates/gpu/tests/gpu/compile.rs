//! Energies that don't come with the framework: their kernels are compiled when they are used.

use crate::device::device;
use glam::DVec3;
use gusset_energy::{At, Batch, Element, Scalar, StepState, Term, fields};
use gusset_system::Backend as _;

fields! { struct Constants<S> { stiffness: S } }

/// The energy of a spring of no length.
struct Pull;

impl Element<2> for Pull {
    type Params<S: Scalar> = Constants<S>;

    fn energy<S: Scalar>(at: &At<S, 2>, p: &Constants<S>) -> S {
        p.stiffness * (at.x[1] - at.x[0]).norm_squared() * 0.5
    }
}

/// The energy of a stretched stencil on the device, and what is said of it.
fn energy_of(kind: &'static str) -> Option<(f64, Vec<String>)> {
    let checked = device()?;
    if let Err(why) = gusset_gpu::compile::compiler() {
        crate::skip(&format!("no shaderc, so nothing was compiled ({why})"));
        return None;
    }
    let stencils = [([0, 1], Constants { stiffness: 3.0 })];
    let term: Box<dyn Term> = Box::new(Batch::<Pull, 2>::new(kind, kind.to_owned(), stencils));
    let x = [DVec3::ZERO, DVec3::new(0.0, 2.0, 0.0)];
    let at = StepState { x: &x, x_start: &x, v_start: &x, dt: 0.01 };
    let (mut energies, mut backend) = (Vec::new(), checked.backend());
    backend.energies(&[term], &at, &mut energies).unwrap();
    Some((energies[0].value(), backend.report().notes))
}

#[test]
fn an_energy_of_ones_own_is_compiled() {
    let Some((energy, notes)) = energy_of("test-pull") else { return };
    assert!(energy == 6.0 && notes.is_empty(), "{energy}: {notes:?}");
}

/// Names that begin with `gl_` are GLSL's own, so this kind's function is refused. The CPU evaluates it, and it is told why.
#[test]
fn what_glsl_refuses_is_shown_with_kind_and_line() {
    let Some((energy, notes)) = energy_of("gl-pull") else { return };
    let [note] = &notes[..] else { panic!("{notes:?}") };
    assert_eq!(energy, 6.0);
    assert!(note.contains("`gl_pull.") && note.contains("reserved"), "{note}");
    // The line that the compiler names: where the shell calls the function.
    let shown = note.lines().find_map(|l| l.trim().split_once(" | "));
    let (number, line) = shown.unwrap_or_else(|| panic!("no line of GLSL is shown: {note}"));
    assert!(number.parse::<u32>().is_ok() && line.contains("evaluate"), "{note}");
}
