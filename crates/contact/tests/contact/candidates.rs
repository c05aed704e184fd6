//! Candidate queries: what they cover, their limit, and pairs of the rest shape.

use glam::{DVec3, dvec3};
use gusset_contact::{
    Candidates, CollisionMesh, PairLists, QueryError, Sweep, pairs_below, smallest_gap,
};

use crate::stack::{DHAT, stack, sweep};

#[test]
fn covers_exactly_its_boxes() {
    let mut mesh = CollisionMesh::new(vec![false, true, true, true], 0.0);
    mesh.add_surface("sheet", 0, &[[0, 1, 2]]);
    let x = vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
    let end: Vec<DVec3> = x.iter().map(|x| *x + dvec3(0.5, 0.0, 0.0)).collect();
    let end = [vec![x[0]], end[1..].to_vec()].concat();
    let mut candidates = Candidates::new(&mesh);
    assert!(!candidates.covers(&x, &x));
    candidates.query(&mesh, &x, &end, 0.25, 0.1, 10).unwrap();
    assert!(candidates.covers(&x, &end));
    let shifted = |v: usize, by: DVec3| {
        let mut x = x.clone();
        x[v] += by;
        x
    };
    assert!(candidates.covers(&shifted(1, dvec3(0.75, 0.25, -0.25)), &x));
    assert!(!candidates.covers(&x, &shifted(1, dvec3(0.8, 0.0, 0.0))));
    assert!(!candidates.covers(&x, &shifted(1, dvec3(0.0, 0.0, 0.26))));
    assert!(!candidates.covers(&x, &shifted(1, DVec3::splat(f64::NAN))));
    // A fixed vertex has no room at all; one that touches nothing has all.
    assert!(!candidates.covers(&shifted(0, dvec3(1e-12, 0.0, 0.0)), &x));
    assert!(candidates.covers(&shifted(3, dvec3(100.0, 0.0, 0.0)), &x));
}

#[test]
fn a_fixed_mesh_that_was_put_elsewhere_is_found_there() {
    let mut mesh = CollisionMesh::new(vec![false, false, false, true, true, true], 0.0);
    mesh.add_surface("floor", 0, &[[0, 1, 2]]);
    mesh.add_surface("sheet", 3, &[[0, 1, 2]]);
    let triangle = [DVec3::ZERO, DVec3::X, DVec3::Z];
    let at = |y: f64| [triangle.map(|x| x + y * DVec3::Y), triangle].concat();
    let mut candidates = Candidates::new(&mesh);
    for (y, found) in [(0.5, false), (0.01, true), (-3.0, false)] {
        candidates.query(&mesh, &at(y), &at(y), 0.0, 0.1, 100).unwrap();
        assert_eq!(!candidates.is_empty(), found);
    }
}

#[test]
fn a_query_with_too_many_pairs_is_refused_whole() {
    let (mesh, x) = stack(16);
    let end: Vec<DVec3> = x.iter().zip(sweep(&x)).map(|(x, dx)| *x + 8.0 * dx).collect();
    let mut candidates = Candidates::new(&mesh);
    candidates.query(&mesh, &x, &end, 0.0, DHAT, usize::MAX).unwrap();
    let all = candidates.len();
    candidates.query(&mesh, &x, &end, 0.0, DHAT, all).unwrap();
    let refused = candidates.query(&mesh, &x, &end, 0.0, DHAT, all - 1);
    assert_eq!(refused, Err(QueryError::TooMany { limit: all - 1 }));
    assert!(candidates.is_empty() && !candidates.covers(&x, &x));
    // Half the sweep fits.
    let half: Vec<DVec3> = x.iter().zip(&end).map(|(a, b)| 0.5 * (*a + *b)).collect();
    candidates.query(&mesh, &x, &half, 0.0, DHAT, all - 1).unwrap();
}

/// Boxes of fixed vertices that a refused query has set are not lost on the trees.
#[test]
fn a_query_after_a_refused_one_finds_fixed_primitives() {
    let mut mesh = CollisionMesh::new(vec![false, false, false, true, true, true], 0.0);
    mesh.add_surface("floor", 0, &[[0, 1, 2]]);
    mesh.add_surface("sheet", 3, &[[0, 1, 2]]);
    let triangle = [DVec3::ZERO, DVec3::X, DVec3::Z];
    let x = [triangle.map(|x| x - 0.05 * DVec3::Y), triangle].concat();
    let mut lost = x.clone();
    lost[5].y = f64::NAN;
    let (mut candidates, mut fresh) = (Candidates::new(&mesh), Candidates::new(&mesh));
    assert!(candidates.query(&mesh, &lost, &lost, 0.0, 0.1, 100).is_err());
    candidates.query(&mesh, &x, &x, 0.0, 0.1, 100).unwrap();
    fresh.query(&mesh, &x, &x, 0.0, 0.1, 100).unwrap();
    assert!(!fresh.is_empty());
    assert_eq!(candidates.lists(), fresh.lists());
    // The same after pairs that came from elsewhere.
    let mut candidates = Candidates::new(&mesh);
    let lists = PairLists::default();
    let elsewhere = Sweep { x: &x, x_end: &x, skin: 0.0, dhat: 0.1, limit: 100 };
    candidates.query_by::<QueryError>(&mesh, &elsewhere, |_| Ok(Some(lists))).unwrap();
    assert!(candidates.is_empty());
    candidates.query(&mesh, &x, &x, 0.0, 0.1, 100).unwrap();
    assert_eq!(candidates.lists(), fresh.lists());
}

#[test]
fn positions_that_are_lost_are_named() {
    let (mesh, mut x) = stack(4);
    x[17].z = f64::NAN;
    let mut candidates = Candidates::new(&mesh);
    let error = candidates.query(&mesh, &x, &x, 0.0, DHAT, usize::MAX).unwrap_err();
    assert_eq!(error, QueryError::NotFinite { vertex: 17 });
    assert!(error.to_string().contains("17"));
}

/// A fine flat grid whose non-neighbours are closer than the contact offset (ppf-contact-solver issue 116).
#[test]
fn pairs_of_the_rest_shape() {
    let mut rest = Vec::new();
    let mut triangles = Vec::new();
    for j in 0..4u32 {
        for i in 0..4u32 {
            rest.push(dvec3(0.002 * f64::from(i), 0.0, 0.002 * f64::from(j)));
            if i < 3 && j < 3 {
                let a = 4 * j + i;
                triangles.extend([[a, a + 1, a + 4], [a + 1, a + 5, a + 4]]);
            }
        }
    }
    let mut mesh = CollisionMesh::new(vec![true; 16], 0.0);
    mesh.add_surface("grid", 0, &triangles);
    for (offset, vt, ee) in
        [(0.001, 0, 0), (0.0014, 0, 0), (0.0015, 18, 36), (0.0021, 90, 190), (0.003, 138, 265)]
    {
        let below = pairs_below(&mesh, &rest, offset).unwrap();
        assert_eq!(below.pairs.vertex_triangle.len(), vt, "{offset}");
        assert_eq!(below.pairs.edge_edge.len(), ee, "{offset}");
        if vt > 0 {
            let smallest = below.smallest.unwrap();
            assert!((smallest.gap - 0.001_414_213_562_373_095_2).abs() < 1e-17);
            assert!(mesh.describe(smallest.pair).contains("`grid`"));
        } else {
            assert!(below.smallest.is_none());
        }
    }
    let all = pairs_below(&mesh, &rest, 1.0).unwrap();
    assert_eq!((all.pairs.vertex_triangle.len(), all.pairs.edge_edge.len()), (234, 412));
    assert!((smallest_gap(&mesh, &rest).unwrap().gap - 0.001_414_213_562_373_095_2).abs() < 1e-17);

    // Excluded, nothing is left at rest within that distance.
    mesh.excluded = pairs_below(&mesh, &rest, 0.0021).unwrap().pairs;
    let mut candidates = Candidates::new(&mesh);
    candidates.query(&mesh, &rest, &rest, 0.0, 0.01, usize::MAX).unwrap();
    assert_eq!(candidates.vertex_triangle.len(), 234 - 90);
    assert_eq!(candidates.edge_edge.len(), 412 - 190);
    assert!(smallest_gap(&mesh, &rest).unwrap().gap > 0.0021);
    assert_eq!(pairs_below(&mesh, &rest, 0.0021).unwrap().pairs, mesh.excluded);
}
