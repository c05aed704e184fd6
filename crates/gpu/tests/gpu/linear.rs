//! The device's linear solvers against the CPU's factorisation.

use crate::device::device;
use glam::DVec3;
use gusset_builtin::{inertia, neo_hookean};
use gusset_energy::{StepState, Term, Want, fixture};
use gusset_gpu::OnDevice;
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

/// Directions by a method for films of so many cells; some vertices fixed; a diagonal added as a pull adds it.
fn directions_agree(method: Method, cells: &[u32]) {
    let Some(checked) = device() else { return };
    for &n in cells {
        let film = Film::new(n);
        let x = film.moved(1.05);
        let state = film.state(&x, 0.3);
        let fixed: Vec<bool> = (0..x.len()).map(|v| v % 11 == 5).collect();
        let mut system = System::new(&fixed, &film.terms);
        let mut backend = checked.backend();
        let choice = backend.use_method(method, system.pattern.len());
        assert!(choice.name.ends_with("on the device"), "{choice:?}");
        let mut bits = Vec::new();
        // Three times, so that what was recorded is used again; the last is to be the same bits.
        for pull in [0.0, 3000.0, 3000.0] {
            let none = &mut Vec::new;
            backend.assemble(&film.terms, &state, Want::Hessian, none, &mut system).unwrap();
            system.add_diagonal(1, [1.0, -2.0, 0.5], pull);
            let mut found = Vec::new();
            let solution = backend.solve(&mut system, &mut found).unwrap().unwrap();
            assert!(solution.residual <= 1e-11, "{}", solution.residual);

            let mut on_cpu = System::new(&fixed, &film.terms);
            on_cpu.assemble(&film.terms, &state, Want::Hessian, Vec::new).unwrap();
            on_cpu.add_diagonal(1, [1.0, -2.0, 0.5], pull);
            let mut expected = Vec::new();
            LinearSolver::new(Method::Cholesky).solve(&on_cpu, &mut expected).unwrap();
            let largest = expected.iter().fold(0.0_f64, |a, d| a.max(d.abs()));
            let off = found.iter().zip(&expected).map(|(f, e)| (f - e).abs()).fold(0.0, f64::max);
            assert!(off <= 1e-8 * largest, "{n} cells, {pull}: {off:e} of {largest:e}");
            bits.push(found.iter().map(|f| f.to_bits()).collect::<Vec<_>>());
        }
        assert!(bits[1] == bits[2] && bits[0] != bits[1]);
    }
}

/// One domain, two levels, three levels.
#[test]
fn directions_of_conjugate_gradients_are_those_of_a_factorisation() {
    directions_agree(Method::Pcg { tolerance: 1e-12, max_iterations: 2000 }, &[2, 9, 40]);
}

/// Less than a tile, just under one, and many.
#[test]
fn directions_of_the_dense_factor_are_those_of_the_sparse_one() {
    directions_agree(Method::Dense, &[1, 2, 3, 9, 20]);
}

/// Where conjugate gradients give up, `auto` has the CPU solve the same system.
#[test]
fn what_does_not_converge_is_left_to_the_cpu() {
    let Some(checked) = device() else { return };
    let film = Film::new(9);
    let x = film.moved(1.05);
    let state = film.state(&x, 0.3);
    let mut system = System::new(&vec![false; x.len()], &film.terms);
    let mut backend = checked.backend();
    let (tolerance, max_iterations) = (1e-12, 2);
    backend.set_solves(OnDevice::Gradients { tolerance, max_iterations, leave: true });
    backend.assemble(&film.terms, &state, Want::Hessian, &mut Vec::new, &mut system).unwrap();
    system.add_diagonal(1, [1.0, -2.0, 0.5], 3000.0);
    assert!(backend.solve(&mut system, &mut Vec::new()).is_none());
    assert_eq!(backend.report().notes.len(), 1);
    let mut on_cpu = System::new(&vec![false; x.len()], &film.terms);
    on_cpu.assemble(&film.terms, &state, Want::Hessian, Vec::new).unwrap();
    on_cpu.add_diagonal(1, [1.0, -2.0, 0.5], 3000.0);
    assert_eq!(system.values, on_cpu.values);
}

#[test]
fn the_choice_is_told() {
    let Some(checked) = device() else { return };
    let mut backend = checked.backend();
    let auto = backend.use_method(Method::Auto, 1000);
    assert!(auto.why.starts_with("auto: 1000 free vertices"), "{auto:?}");
    // A matrix that no kernel could see whole.
    let large = backend.use_method(Method::Dense, 1 << 20);
    assert_eq!((large.on_cpu, large.name.as_str()), (Method::Dense, "dense Cholesky on the CPU"));
    assert!(large.why.contains("1048576 free vertices"), "{large:?}");
    let sparse = backend.use_method(Method::Cholesky, 10);
    assert_eq!(sparse.name, "sparse Cholesky on the CPU");
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
    backend.use_method(method, x.len());
    backend.assemble(&film.terms, &state, Want::Hessian, &mut Vec::new, &mut system).unwrap();
    let mut direction = Vec::new();
    let levels = backend.solve(&mut system, &mut direction).unwrap().unwrap().iterations;
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
    for method in [Method::Pcg { tolerance: 1e-10, max_iterations: 5000 }, Method::Dense] {
        backend.use_method(method, x.len());
        let none = &mut Vec::new;
        backend.assemble(&film.terms, &state, Want::ExactHessian, none, &mut system).unwrap();
        let refused = backend.solve(&mut system, &mut Vec::new()).unwrap();
        assert!(matches!(refused, Err(SolveError::NotPositiveDefinite)), "{refused:?}");
    }
}
