//! The stack of sheets against what ipctk 1.6.1 finds on the same mesh.

use gusset_contact::{
    Candidates, IntersectionCheck, StepMethod, StepRule, intersections, smallest_gap, step_bound,
};
use gusset_energy::Contacts;

use crate::stack::{DHAT, stack, sweep};

/// ipctk counts each candidate once as well: 47,913 pairs whose boxes come within dhat, 63,295 over the sweep, 36,860 whose swept
/// boxes touch. Its boxes are rounded differently, so a few pairs at the border may differ.
#[test]
fn the_same_pairs_as_ipctk() {
    let (mesh, x) = stack(16);
    let end: Vec<_> = x.iter().zip(sweep(&x)).map(|(x, dx)| *x + dx).collect();
    let mut candidates = Candidates::new(&mesh);
    let mut count = |end: &[glam::DVec3], dhat: f64| {
        candidates.query(&mesh, &x, end, 0.0, dhat, usize::MAX).unwrap();
        candidates.len()
    };
    for (found, theirs) in
        [(count(&x, DHAT), 47_913), (count(&end, DHAT), 63_295), (count(&end, 0.0), 36_860)]
    {
        assert!(found.abs_diff(theirs) < 30, "{found} {theirs}");
    }

    candidates.query(&mesh, &x, &x, 0.0, DHAT, usize::MAX).unwrap();
    let mut contacts = Contacts::default();
    let gap = candidates.rows(&mesh, &x, DHAT, &mut contacts).unwrap();
    assert!((gap.gap - 0.001_062_971_174_542_221_4).abs() < 1e-15);
    assert_eq!(smallest_gap(&mesh, &x).unwrap(), gap);
    assert!(intersections(&mesh, &x, &IntersectionCheck::default()).is_clean());
    assert!(!intersections(&mesh, &end, &IntersectionCheck::default()).is_clean());

    // Tight inclusion with 0.8 of the distance to go allows 0.35693: the impact is at about 0.446.
    let dx = sweep(&x);
    candidates.query(&mesh, &x, &end, 0.0, 0.0, usize::MAX).unwrap();
    for (method, low, high) in
        [(StepMethod::SeparatingNormal, 0.28, 0.30), (StepMethod::Additive, 0.38, 0.41)]
    {
        let rule = StepRule { method, ..StepRule::default() };
        let alpha = step_bound(&mesh, &candidates, &x, &dx, &rule).alpha;
        assert!(alpha > low && alpha < high, "{method:?} {alpha}");
    }
}
