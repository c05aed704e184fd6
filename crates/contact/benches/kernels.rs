//! Collision kernels on the near-contact stack of sheets. `RAYON_NUM_THREADS=1` gives the times of one thread.

use divan::{Bencher, black_box};
use gusset_contact::{
    Candidates, IntersectionCheck, StepMethod, StepRule, intersections, smallest_gap, step_bound,
};
use gusset_energy::Contacts;
use stack::{DHAT, stack, sweep};

#[path = "../tests/contact/stack.rs"]
mod stack;

/// Vertices along one side of each of the four sheets: 1,024 and 10,000 vertices in all.
const SIDES: [usize; 2] = [16, 50];

fn main() {
    divan::main();
}

#[divan::bench(args = SIDES)]
fn candidates(bencher: Bencher<'_, '_>, side: usize) {
    let (mesh, x) = stack(side);
    let mut candidates = Candidates::new(&mesh);
    bencher.bench_local(|| {
        candidates
            .query(&mesh, &x, &x, 0.0, DHAT, usize::MAX)
            .expect("finite positions and no limit");
        black_box(candidates.len())
    });
}

#[divan::bench(args = SIDES)]
fn candidates_swept(bencher: Bencher<'_, '_>, side: usize) {
    let (mesh, x) = stack(side);
    let end: Vec<_> = x.iter().zip(sweep(&x)).map(|(x, dx)| *x + dx).collect();
    let mut candidates = Candidates::new(&mesh);
    bencher.bench_local(|| {
        candidates
            .query(&mesh, &x, &end, 0.0, DHAT, usize::MAX)
            .expect("finite positions and no limit");
        black_box(candidates.len())
    });
}

#[divan::bench(args = SIDES)]
fn candidates_first(bencher: Bencher<'_, '_>, side: usize) {
    let (mesh, x) = stack(side);
    bencher.bench_local(|| {
        let mut candidates = Candidates::new(&mesh);
        candidates
            .query(&mesh, &x, &x, 0.0, DHAT, usize::MAX)
            .expect("finite positions and no limit");
        black_box(candidates.len())
    });
}

#[divan::bench(args = SIDES)]
fn rows(bencher: Bencher<'_, '_>, side: usize) {
    let (mesh, x) = stack(side);
    let mut candidates = Candidates::new(&mesh);
    candidates.query(&mesh, &x, &x, 0.0, DHAT, usize::MAX).expect("finite positions and no limit");
    let mut contacts = Contacts::default();
    bencher.bench_local(|| {
        candidates.rows(&mesh, &x, DHAT, &mut contacts);
        black_box(contacts.rows.len())
    });
}

fn bound(bencher: Bencher<'_, '_>, side: usize, method: StepMethod) {
    let (mesh, x) = stack(side);
    let dx = sweep(&x);
    let end: Vec<_> = x.iter().zip(&dx).map(|(x, dx)| *x + *dx).collect();
    let mut candidates = Candidates::new(&mesh);
    candidates.query(&mesh, &x, &end, 0.0, 0.0, usize::MAX).expect("finite positions and no limit");
    let rule = StepRule { method, ..StepRule::default() };
    bencher.bench_local(|| black_box(step_bound(&mesh, &candidates, &x, &dx, &rule).alpha));
}

#[divan::bench(args = SIDES)]
fn step_bound_separating_normal(bencher: Bencher<'_, '_>, side: usize) {
    bound(bencher, side, StepMethod::SeparatingNormal);
}

#[divan::bench(args = SIDES)]
fn step_bound_additive(bencher: Bencher<'_, '_>, side: usize) {
    bound(bencher, side, StepMethod::Additive);
}

#[divan::bench(args = SIDES)]
fn intersection_check(bencher: Bencher<'_, '_>, side: usize) {
    let (mesh, x) = stack(side);
    let check = IntersectionCheck::default();
    bencher.bench_local(|| black_box(intersections(&mesh, &x, &check).pairs.len()));
}

#[divan::bench(args = SIDES)]
fn smallest_gap_of_all(bencher: Bencher<'_, '_>, side: usize) {
    let (mesh, x) = stack(side);
    bencher.bench_local(|| black_box(smallest_gap(&mesh, &x)));
}
