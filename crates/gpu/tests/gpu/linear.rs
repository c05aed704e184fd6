//! Conjugate gradients of the device against the CPU's factorisation.

use crate::device::device;
use glam::DVec3;
use gusset_builtin::{inertia, neo_hookean};
use gusset_energy::{StepState, Term, Want, fixture};
use gusset_mesh::{Role, World};
use gusset_system::{Backend as _, LinearSolver, Method, SolveError, System};

/// A film of `n` by `n` cells, in metres and newtons.
struct Film {
    terms: Vec<Box<dyn Term>>,
    rest: Vec<DVec3>,
}

impl Film {
    fn new(n: u32) -> Self {
        let side = n + 1;
        let point =
            |k: u32| DVec3::new(f64::from(k / side), f64::from(k % side), 0.0) / f64::from(n);
        let rest: Vec<DVec3> = (0..side * side).map(point).collect();
        let mut triangles = Vec::new();
        for a in (0..n).flat_map(|i| (0..n).map(move |j| i * side + j)) {
            triangles.extend([[a, a + 1, a + side], [a + 1, a + side + 1, a + side]]);
        }
        let world = World::new(vec![fixture::body("film", Role::Film, &rest, &triangles)]);
        let site = fixture::site(&world);
        let keys = "mu = 100.0\nlambda = 50.0";
        let mut terms = fixture::build::<neo_hookean::NeoHookean>(keys, &site).unwrap();
        terms.extend(fixture::build::<inertia::Inertia>("", &site).unwrap());
        Self { terms, rest }
    }

    /// Stretched and waved; `squeezed` below 1 makes exact Hessians indefinite.
    fn moved(&self, squeezed: f64) -> Vec<DVec3> {
        let wave = |p: &DVec3| DVec3::new(p.x * squeezed, p.y * 1.02, 0.01 * (9.0 * p.x).sin());
        self.rest.iter().map(wave).collect()
    }

    fn state<'a>(&'a self, x: &'a [DVec3], dt: f64) -> StepState<'a> {
        StepState { x, x_start: &self.rest, v_start: &self.rest, dt }
    }
}

#[test]
fn directions_are_those_of_a_factorisation() {
    let Some(checked) = device() else { return };
    // One domain, two levels, three levels; some vertices fixed; a diagonal added as a pull adds it.
    for n in [2, 9, 40] {
        let film = Film::new(n);
        let x = film.moved(1.05);
        let state = film.state(&x, 0.3);
        let fixed: Vec<bool> = (0..x.len()).map(|v| v % 11 == 5).collect();
        let mut system = System::new(&fixed, &film.terms);
        let mut backend = checked.backend();
        backend.use_method(Method::Pcg { tolerance: 1e-12, max_iterations: 2000 });
        // Twice, so that what was recorded is used again.
        for pull in [0.0, 3000.0] {
            let none = &mut Vec::new;
            backend.assemble(&film.terms, &state, Want::Hessian, none, &mut system).unwrap();
            system.add_diagonal(1, [1.0, -2.0, 0.5], pull);
            let mut found = Vec::new();
            let solution = backend.solve(&system, &mut found).unwrap().unwrap();
            assert!(solution.residual <= 1e-11, "{}", solution.residual);

            let mut on_cpu = System::new(&fixed, &film.terms);
            on_cpu.assemble(&film.terms, &state, Want::Hessian, Vec::new).unwrap();
            on_cpu.add_diagonal(1, [1.0, -2.0, 0.5], pull);
            let mut expected = Vec::new();
            LinearSolver::new(Method::Cholesky).solve(&on_cpu, &mut expected).unwrap();
            let largest = expected.iter().fold(0.0_f64, |a, d| a.max(d.abs()));
            let off = found.iter().zip(&expected).map(|(f, e)| (f - e).abs()).fold(0.0, f64::max);
            assert!(off <= 1e-8 * largest, "{n} cells, {pull}: {off:e} of {largest:e}");
        }
    }
}

/// Several levels need fewer iterations than inverted diagonal blocks on a stiff film, which is what they are for.
#[test]
fn the_preconditioner_pays() {
    let Some(checked) = device() else { return };
    let film = Film::new(40);
    let x = film.moved(1.02);
    let state = film.state(&x, 1.0);
    let mut system = System::new(&vec![false; x.len()], &film.terms);
    let method = Method::Pcg { tolerance: 1e-8, max_iterations: 5000 };
    let mut backend = checked.backend();
    backend.use_method(method);
    backend.assemble(&film.terms, &state, Want::Hessian, &mut Vec::new, &mut system).unwrap();
    let mut direction = Vec::new();
    let levels = backend.solve(&system, &mut direction).unwrap().unwrap().iterations;
    system.assemble(&film.terms, &state, Want::Hessian, Vec::new).unwrap();
    let diagonal = LinearSolver::new(method).solve(&system, &mut direction).unwrap().iterations;
    eprintln!("{levels} iterations with several levels, {diagonal} with diagonal blocks");
    assert!(2 * levels < diagonal, "{levels} and {diagonal}");
}

#[test]
fn an_indefinite_matrix_is_refused() {
    let Some(checked) = device() else { return };
    let film = Film::new(12);
    let x = film.moved(0.6);
    // Steps so long that inertia does not help.
    let state = film.state(&x, 1e3);
    let mut system = System::new(&vec![false; x.len()], &film.terms);
    let mut backend = checked.backend();
    backend.use_method(Method::Pcg { tolerance: 1e-10, max_iterations: 5000 });
    backend.assemble(&film.terms, &state, Want::ExactHessian, &mut Vec::new, &mut system).unwrap();
    let refused = backend.solve(&system, &mut Vec::new()).unwrap();
    assert!(matches!(refused, Err(SolveError::NotPositiveDefinite)), "{refused:?}");
}
