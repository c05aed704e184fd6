//! The intersection checker on hard small inputs, and its two searches against each other.

use glam::{DVec3, dvec3};
use gusset_contact::{
    CollisionMesh, IntersectionCheck, IntersectionReport, Search, intersections, smallest_gap,
    triangles_intersect,
};
use gusset_mesh::SlabShape;
use proptest::prelude::*;

use crate::subdivided;

fn check(mesh: &CollisionMesh, x: &[DVec3]) -> IntersectionReport {
    let sweep = intersections(mesh, x, &IntersectionCheck::default());
    let all = IntersectionCheck { search: Search::BruteForce, fixed: false };
    assert_eq!(sweep, intersections(mesh, x, &all));
    sweep
}

const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

/// Coplanar, one corner inside the other triangle and one at the same place (axom issue 152).
#[test]
fn coplanar_and_touching_in_every_order() {
    let a = [
        dvec3(76.648, 54.6752, 15.0012),
        dvec3(76.648, 54.6752, 14.5542),
        dvec3(76.582, 54.6752, 14.7879),
    ];
    let b = [
        dvec3(76.6252, 54.6752, 14.892),
        dvec3(76.582, 54.6752, 14.7879),
        dvec3(76.5617, 54.6752, 14.7929),
    ];
    for i in ORDERS {
        for j in ORDERS {
            let (a, b) = (i.map(|i| a[i]), j.map(|j| b[j]));
            assert!(triangles_intersect(a, b) && triangles_intersect(b, a));
        }
    }
    let mut mesh = CollisionMesh::new(vec![true; 6], 0.0);
    mesh.add_surface("left", 0, &[[0, 1, 2]]);
    mesh.add_surface("right", 3, &[[0, 1, 2]]);
    let x = [a, b].concat();
    let report = check(&mesh, &x);
    assert_eq!(report.describe(&mesh, 5), "`left` triangle 0 and `right` triangle 0 intersect");
    assert_eq!(smallest_gap(&mesh, &x).unwrap().gap, 0.0);
}

#[test]
fn no_false_positive_on_a_subdivided_triangle() {
    let mut mesh = CollisionMesh::new(vec![true; 15], 0.0);
    mesh.add_surface("disk", 0, &subdivided::TRIANGLES);
    assert_eq!((mesh.vertices.len(), mesh.edges.len()), (15, 30));
    assert!(check(&mesh, &subdivided::X).is_clean());
    let gap = smallest_gap(&mesh, &subdivided::X).unwrap();
    assert!((gap.gap - 0.007_071_318_802_016_211).abs() < 1e-15, "{gap:?}");
}

#[test]
fn pairs_with_common_vertices() {
    let sheet = |x: &[DVec3], triangles: &[[u32; 3]]| {
        let mut mesh = CollisionMesh::new(vec![true; x.len()], 0.0);
        mesh.add_surface("sheet", 0, triangles);
        check(&mesh, x).pairs.len()
    };
    let (o, x, y, z) = (DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z);
    // One common corner: open, piercing, and lying in the other's plane inside or beside it.
    let fan = [[0, 1, 2], [0, 3, 4]];
    assert_eq!(sheet(&[o, x, y, -x, -y], &fan), 0);
    assert_eq!(sheet(&[o, x, y, x + y - z, x + y + z], &fan), 1);
    assert_eq!(sheet(&[o, x, y, 0.3 * x + 0.1 * y, 0.1 * x + 0.3 * y], &fan), 1);
    assert_eq!(sheet(&[o, x, y, x - y, -y], &fan), 0);
    // A common edge: flat, folded, folded onto itself.
    let hinge = [[0, 1, 2], [1, 0, 3]];
    assert_eq!(sheet(&[o, x, y, -y], &hinge), 0);
    assert_eq!(sheet(&[o, x, y, 0.9 * y + 1e-300 * z], &hinge), 0);
    assert_eq!(sheet(&[o, x, y, 0.9 * y], &hinge), 1);
    // The same triangle twice.
    assert_eq!(sheet(&[o, x, y], &[[0, 1, 2], [2, 0, 1]]), 1);
}

#[test]
fn triangles_without_area() {
    let t = [DVec3::ZERO, DVec3::X, DVec3::Y];
    let needle = |a: DVec3, b: DVec3| [a, b, 0.5 * (a + b)];
    let through = needle(dvec3(0.25, 0.25, -1.0), dvec3(0.25, 0.25, 1.0));
    let inside = needle(dvec3(0.25, 0.25, 0.0), dvec3(0.375, 0.25, 0.0));
    let beside = needle(dvec3(1.25, 0.25, 0.0), dvec3(2.0, 0.25, 0.0));
    let above = needle(dvec3(0.25, 0.25, 0.5), dvec3(0.25, 0.25, 1.0));
    let point = [dvec3(0.25, 0.5, 0.0); 3];
    for (other, expected) in
        [(through, true), (inside, true), (beside, false), (above, false), (point, true)]
    {
        assert_eq!(triangles_intersect(t, other), expected);
        assert_eq!(triangles_intersect(other, t), expected);
    }
    assert!(triangles_intersect(point, point) && !triangles_intersect(point, above));
}

#[test]
fn spheres_slabs_and_lost_positions() {
    let mut mesh = CollisionMesh::new(vec![true, true, true, true, true, false], 0.0);
    mesh.add_spheres("balls", 0, &[0.05, 0.05]);
    mesh.add_surface("sheet", 2, &[[0, 1, 2]]);
    mesh.add_points("grain", 5, 1);
    let wall = SlabShape { point: dvec3(0.0, 2.0, 0.0), normal: DVec3::Y, thickness: 0.1 };
    mesh.add_slab("wall", wall);
    let mut x = vec![
        dvec3(0.1, 0.2, 0.3),
        dvec3(0.1, 0.2, 0.3),
        dvec3(-1.0, 0.2, 0.26),
        dvec3(1.0, 0.2, 0.26),
        dvec3(0.0, 3.0, 0.26),
        dvec3(0.0, 1.95, 0.0),
    ];
    let report = check(&mesh, &x);
    let expected = "`balls` sphere 0 and `sheet` triangle 0 intersect\n\
        `balls` sphere 1 and `sheet` triangle 0 intersect\n\
        `balls` sphere 0 and `balls` sphere 1 intersect\n\
        `sheet` edge 1 (vertices 0-2) and slab `wall` intersect\n\
        and 1 more";
    assert_eq!(report.describe(&mesh, 4), expected);
    // The fixed grain in the wall counts only where fixed pairs do.
    let fixed = IntersectionCheck { fixed: true, ..IntersectionCheck::default() };
    assert_eq!(intersections(&mesh, &x, &fixed).pairs.len(), report.pairs.len() + 1);
    // Two spheres with one centre (rapier issue 60): a definite answer and no NaN.
    assert_eq!(smallest_gap(&mesh, &x).unwrap().gap, -0.1);
    x[4].y = f64::NAN;
    let report = check(&mesh, &x);
    assert_eq!(report.not_finite, [4]);
    assert!(!report.is_clean() && report.describe(&mesh, 9).contains("`sheet` vertex 2 has no"));
}

fn corner() -> impl Strategy<Value = DVec3> {
    // A small lattice makes coplanar, collinear and coinciding corners common, and its sums are exact.
    prop_oneof![
        [0i32..4, 0i32..4, 0i32..4].prop_map(|[x, y, z]| dvec3(x.into(), y.into(), z.into())),
        [0.0..4.0, 0.0..4.0, 0.0..4.0].prop_map(|x: [f64; 3]| DVec3::from(x)),
    ]
}

fn triangle() -> impl Strategy<Value = [DVec3; 3]> {
    [corner(), corner(), corner()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    /// Against distances: another algorithm, inexact near 0 only.
    #[test]
    fn agrees_with_distances(a in triangle(), b in triangle()) {
        let mut mesh = CollisionMesh::new(vec![true; 6], 0.0);
        mesh.add_surface("a", 0, &[[0, 1, 2]]);
        mesh.add_surface("b", 3, &[[0, 1, 2]]);
        // Closed triangles that meet have an edge of one that meets the other, so split edges into points to see it.
        let meet = triangles_intersect(a, b);
        let gap = smallest_gap(&mesh, &[a, b].concat()).unwrap().gap;
        if gap < -1e-12 || (gap == 0.0 && meet) {
            return Ok(());
        }
        let pierced = |a: [DVec3; 3], b: [DVec3; 3]| {
            let n = (b[1] - b[0]).cross(b[2] - b[0]);
            (0..3).any(|i| {
                let (p, q) = (a[i], a[(i + 1) % 3]);
                let (hp, hq) = ((p - b[0]).dot(n), (q - b[0]).dot(n));
                if hp * hq >= 0.0 {
                    return false;
                }
                let x = p + hp / (hp - hq) * (q - p);
                (0..3).all(|j| (b[(j + 1) % 3] - b[j]).cross(x - b[j]).dot(n) >= 0.0)
            })
        };
        let expected = gap < 1e-12 || pierced(a, b) || pierced(b, a);
        if (1e-12..1e-9).contains(&gap) {
            return Ok(());
        }
        prop_assert_eq!(meet, expected, "gap {}", gap);
    }

    #[test]
    fn order_does_not_matter(a in triangle(), b in triangle()) {
        let meet = triangles_intersect(a, b);
        for i in ORDERS {
            prop_assert_eq!(triangles_intersect(i.map(|i| a[i]), b), meet);
            prop_assert_eq!(triangles_intersect(b, i.map(|i| a[i])), meet);
        }
    }
}

proptest! {
    #[test]
    fn both_searches_agree(
        x in proptest::collection::vec(corner(), 30),
        triangles in proptest::collection::vec([0u32..24, 0u32..24, 0u32..24], 1..60),
        radii in proptest::collection::vec(0.0..0.5f64, 6),
    ) {
        let triangles: Vec<[u32; 3]> =
            triangles.into_iter().filter(|[a, b, c]| a != b && b != c && c != a).collect();
        let mut mesh = CollisionMesh::new((0..30).map(|v| v % 3 > 0).collect(), 0.0);
        mesh.add_surface("soup", 0, &triangles);
        mesh.add_spheres("balls", 24, &radii);
        check(&mesh, &x);
    }
}
