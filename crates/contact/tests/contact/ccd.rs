//! Step bounds of single pairs and small scenes against closed forms and exact times of impact.

use glam::{DVec3, dvec3};
use gusset_contact::{
    Candidates, CollisionMesh, PairKind, StepBound, StepMethod, StepRule, edge_edge,
    edge_edge_accd, point_triangle, step_bound, vertex_triangle_accd,
};
use gusset_mesh::SlabShape;

use crate::queries::QUERIES;

const RULE: StepRule = StepRule {
    method: StepMethod::SeparatingNormal,
    slack: 0.9,
    max_iterations: 10_000,
    slabs: true,
};
const ADDITIVE: StepRule = StepRule { method: StepMethod::Additive, ..RULE };

fn bound(mesh: &CollisionMesh, x: &[DVec3], dx: &[DVec3], rule: &StepRule) -> StepBound {
    let end: Vec<DVec3> = x.iter().zip(dx).map(|(x, dx)| *x + *dx).collect();
    let mut candidates = Candidates::new(mesh);
    candidates.query(mesh, x, &end, 0.0, 0.0, usize::MAX).expect("finite");
    step_bound(mesh, &candidates, x, dx, rule)
}

fn accd(edges: bool, x: [DVec3; 4], dx: [DVec3; 4], rule: &StepRule) -> f64 {
    if edges { edge_edge_accd(x, dx, 0.0, rule) } else { vertex_triangle_accd(x, dx, 0.0, rule) }
}

fn distance(edges: bool, x: [DVec3; 4]) -> f64 {
    let [a, b, c, d] = x;
    if edges { edge_edge(a, b, c, d).distance() } else { point_triangle(a, b, c, d).distance() }
}

/// The half-space bound of one pair: what `step_bound` applies to a mesh that holds nothing else.
fn separating_normal(edges: bool, x: [DVec3; 4], dx: [DVec3; 4]) -> f64 {
    let mesh = if edges { two_edges() } else { vertex_and_triangle() };
    bound(&mesh, &x, &dx, &RULE).alpha
}

fn two_edges() -> CollisionMesh {
    let mut mesh = CollisionMesh::new(vec![true; 4], 0.0);
    mesh.edges = vec![[0, 1], [2, 3]];
    mesh
}

fn vertex_and_triangle() -> CollisionMesh {
    let mut mesh = CollisionMesh::new(vec![true; 4], 0.0);
    mesh.triangles = vec![[1, 2, 3]];
    mesh.vertices = vec![0, 1, 2, 3];
    mesh
}

#[test]
fn crossing_vertex_and_edges_stop_at_90_percent() {
    let expected = 0.9 * (6.0 - 0.03) / 12.0;
    assert!((expected - 0.447_75f64).abs() < 1e-15);
    let triangle = [dvec3(-1.0, 0.0, -1.0), dvec3(1.0, 0.0, -1.0), dvec3(0.0, 0.0, 1.0)];
    let vt = [dvec3(0.0, 0.006, 0.0), triangle[0], triangle[1], triangle[2]];
    let ee = [
        dvec3(-1.0, 0.006, 0.0),
        dvec3(1.0, 0.006, 0.0),
        dvec3(0.0, 0.0, -1.0),
        dvec3(0.0, 0.0, 1.0),
    ];
    for (edges, x, moving) in [(false, vt, 1), (true, ee, 2)] {
        let mut mesh = if edges { two_edges() } else { vertex_and_triangle() };
        mesh.min_gap = 30e-6;
        let mut dx = [DVec3::ZERO; 4];
        dx[..moving].fill(dvec3(0.0, -0.012, 0.0));
        for rule in [RULE, ADDITIVE] {
            let found = bound(&mesh, &x, &dx, &rule);
            assert!((found.alpha - expected).abs() < 1e-9, "{found:?}");
            let kind = if edges { PairKind::EdgeEdge } else { PairKind::VertexTriangle };
            assert_eq!(found.limiting.unwrap().kind, kind);
        }
        // Shared out between both sides, in any direction, it is the same.
        let half = dx.map(|d| d + dvec3(0.3, 0.006, -0.1));
        assert!((bound(&mesh, &x, &half, &RULE).alpha - expected).abs() < 1e-9);
        // A little more than the gap: 1 is allowed, and is what comes out.
        dx[..moving].fill(dvec3(0.0, -0.00596, 0.0));
        assert_eq!(bound(&mesh, &x, &dx, &RULE), StepBound { alpha: 1.0, limiting: None });
    }
}

/// A separating pair at a tiny gap (Tight-Inclusion issue 1).
#[test]
fn separating_at_a_tiny_gap() {
    let x = [
        dvec3(0.35, 0.0, 0.35),
        dvec3(0.346_046_436_38, 0.002_784_788_789_6, 0.346_581_211_6),
        dvec3(0.350_008_192_63, -1.576_337_730_4e-6, 0.350_012_142_42),
        dvec3(0.349_038_820_32, -0.001_586_657_509_3, 0.345_601_643_56),
    ];
    let dx = [
        DVec3::ZERO,
        dvec3(1.012_030_078_9e-7, -0.000_140_099_942_48, -8.565_309_189_6e-5),
        dvec3(-9.297_623_963_4e-7, 1.436_116_522_1e-6, 5.516_883_014_5e-7),
        dvec3(0.000_116_492_716_83, -3.617_256_539_8e-5, -4.712_823_791_7e-5),
    ];
    assert!((distance(false, x) / 5.692_520_353_750_13e-7 - 1.0).abs() < 1e-8);
    assert_eq!(accd(false, x, dx, &ADDITIVE), 1.0);
    // A single look can't see that the triangle turns away; where it would stall the solver, others follow.
    assert_eq!(separating_normal(false, x, dx), 1.0);
}

/// No false negative, nothing over-conservative, no NaN, few looks: parallel, coplanar, grazing and degenerate pairs.
#[test]
fn public_queries() {
    for query in &QUERIES {
        let dx: [DVec3; 4] = std::array::from_fn(|i| query.to[i] - query.from[i]);
        let alpha = accd(query.edges, query.from, dx, &ADDITIVE);
        let at = |t: f64| std::array::from_fn(|i| query.from[i] + t * dx[i]);
        match query.hit {
            Some(hit) => {
                assert!(alpha > 0.5 * hit && alpha < hit, "{}: {alpha} of {hit}", query.name);
            }
            // The exact clearance of these is rounding error or 5e-7: stopping there is right too.
            None => assert!(alpha > 0.1 && alpha <= 1.0, "{}: {alpha}", query.name),
        }
        for k in 0..=100 {
            assert!(
                distance(query.edges, at(alpha * f64::from(k) / 100.0)) > 0.0,
                "{}",
                query.name
            );
        }
        let normal = separating_normal(query.edges, query.from, dx);
        assert!(normal > 0.0 && query.hit.is_none_or(|hit| normal < hit), "{}", query.name);
        // One look each is enough to stay safe, and never gives 0 or 1.
        let once = accd(query.edges, query.from, dx, &StepRule { max_iterations: 1, ..ADDITIVE });
        assert!(once > 0.0 && query.hit.is_none_or(|hit| once < hit), "{}", query.name);
    }
}

/// End points that move sideways much more than the edges approach (ipc-toolkit issue 145).
#[test]
fn sideways_motion_costs_few_iterations() {
    for d0 in [1e-2, 1e-4, 1e-6, 1e-8] {
        let h = 0.5 * d0;
        let from =
            [dvec3(-1.0, -h, 0.0), dvec3(1.0, -h, 0.0), dvec3(0.0, h, -1.0), dvec3(0.0, h, 1.0)];
        let to = [
            dvec3(-1.001, h, -0.001),
            dvec3(1.001, h, 0.001),
            dvec3(0.001, -h, -0.999),
            dvec3(-0.001, -h, 0.999),
        ];
        let dx = std::array::from_fn(|i| to[i] - from[i]);
        for max_iterations in [3, 10_000] {
            let rule = StepRule { max_iterations, ..ADDITIVE };
            let alpha = accd(true, from, dx, &rule);
            assert!(alpha > 0.05 && alpha < 0.5, "{d0}: {alpha}");
        }
    }
}

/// Nearly parallel edges that move together (ipc-toolkit issue 232), and cloth carried by a fast body (warp issue 737).
#[test]
fn a_common_motion_costs_nothing() {
    let x = [DVec3::ZERO, DVec3::X, dvec3(0.0, 0.001, 0.0), dvec3(1.0, 0.001, 1e-9)];
    let dx = [dvec3(0.3, -0.5, 0.2); 4];
    for rule in [RULE, ADDITIVE] {
        assert_eq!(bound(&two_edges(), &x, &dx, &rule).alpha, 1.0);
    }
    let moved = x.map(|x| x + dx[0]);
    assert!((distance(true, moved) - distance(true, x)).abs() < 1e-12);

    let mut mesh = CollisionMesh::new(vec![true; 6], 0.0);
    mesh.add_surface("body", 0, &[[0, 1, 2]]);
    mesh.add_surface("cloth", 3, &[[0, 1, 2]]);
    let x = [
        dvec3(-1.0, 0.0, -1.0),
        dvec3(1.0, 0.0, -1.0),
        dvec3(0.0, 0.0, 1.0),
        dvec3(-0.1, 0.002, -0.1),
        dvec3(0.1, 0.002, -0.1),
        dvec3(0.0, 0.002, 0.1),
    ];
    for rule in [RULE, ADDITIVE] {
        assert_eq!(bound(&mesh, &x, &[dvec3(0.05, 0.0, 0.0); 6], &rule).alpha, 1.0);
    }
}

/// A cube falls on another with aligned faces: the impact is at a tenth of the step.
#[test]
fn aligned_cubes() {
    let corners = |low: DVec3| {
        (0..8).map(move |i| low + dvec3((i & 1).into(), (i >> 1 & 1).into(), (i >> 2).into()))
    };
    let faces = [
        [0, 2, 1],
        [1, 2, 3],
        [4, 5, 6],
        [5, 7, 6],
        [0, 1, 4],
        [1, 5, 4],
        [2, 6, 3],
        [3, 6, 7],
        [0, 4, 2],
        [2, 4, 6],
        [1, 3, 5],
        [3, 7, 5],
    ];
    let x: Vec<DVec3> = corners(DVec3::ZERO).chain(corners(dvec3(0.0, 1.01, 0.0))).collect();
    let mut mesh = CollisionMesh::new((0..16).map(|v| v >= 8).collect(), 0.0);
    mesh.add_surface("bottom", 0, &faces);
    mesh.add_surface("top", 8, &faces);
    let dx: Vec<DVec3> =
        (0..16).map(|v| if v >= 8 { dvec3(0.0, -0.1, 0.0) } else { DVec3::ZERO }).collect();
    for rule in [RULE, ADDITIVE] {
        let alpha = bound(&mesh, &x, &dx, &rule).alpha;
        assert!((alpha - 0.09).abs() < 1e-12, "{alpha}");
    }
}

#[test]
fn spheres_and_slabs() {
    let mut mesh = CollisionMesh::new(vec![true; 3], 0.02);
    mesh.add_spheres("balls", 0, &[0.1, 0.2]);
    mesh.add_points("ball", 2, 1);
    mesh.add_slab(
        "wall",
        SlabShape { point: dvec3(5.0, 0.0, 0.0), normal: -DVec3::X, thickness: 0.02 },
    );
    let x = [dvec3(0.0, 0.0, 0.0), dvec3(1.3, 0.0, 0.0), dvec3(4.0, 9.0, 0.0)];
    for rule in [RULE, ADDITIVE] {
        // Gap 1, approach 2.
        let dx = [dvec3(1.5, 0.0, 0.0), dvec3(-0.5, 0.0, 0.0), DVec3::ZERO];
        let found = bound(&mesh, &x, &dx, &rule);
        assert!((found.alpha - 0.45).abs() < 1e-12, "{found:?}");
        assert_eq!(mesh.describe(found.limiting.unwrap()), "`balls` sphere 0 and `balls` sphere 1");
        // Into the front face from 1 m away (0.98 m of gap), and through the slab from there.
        for reach in [2.0, 100.0] {
            let dx = [DVec3::ZERO, DVec3::ZERO, dvec3(reach, 0.0, 0.0)];
            let found = bound(&mesh, &x, &dx, &rule);
            assert!((found.alpha - 0.9 * 0.98 / reach).abs() < 1e-12, "{found:?}");
            assert_eq!(mesh.describe(found.limiting.unwrap()), "`ball` vertex 0 and slab `wall`");
            let open = StepRule { slabs: false, ..rule };
            assert_eq!(bound(&mesh, &x, &dx, &open).alpha, 1.0);
        }
        // From behind, the back face.
        let behind = [x[0], x[1], dvec3(6.02, 0.0, 0.0)];
        let found =
            bound(&mesh, &behind, &[DVec3::ZERO, DVec3::ZERO, dvec3(-1.96, 0.0, 0.0)], &rule);
        assert!((found.alpha - 0.45).abs() < 1e-12, "{found:?}");
    }
}

#[test]
fn a_touching_start_allows_nothing() {
    let x =
        [dvec3(0.0, 0.0, 0.0), dvec3(-1.0, 0.0, -1.0), dvec3(1.0, 0.0, -1.0), dvec3(0.0, 0.0, 1.0)];
    let dx = [dvec3(0.0, 1.0, 0.0), DVec3::ZERO, DVec3::ZERO, DVec3::ZERO];
    for rule in [RULE, ADDITIVE] {
        assert_eq!(bound(&vertex_and_triangle(), &x, &dx, &rule).alpha, 0.0);
    }
}
