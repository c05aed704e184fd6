//! How far a step may go.

use crate::play::Play;
use glam::{DVec3, dvec3};
use gusset_contact::{
    Candidates, CollisionMesh, StepMethod, StepRule, edge_edge, edge_edge_accd, point_triangle,
    step_bound, vertex_triangle_accd,
};
use std::time::{Duration, Instant};

#[path = "../../../crates/contact/tests/contact/queries.rs"]
mod queries;

const ADDITIVE: StepRule =
    StepRule { method: StepMethod::Additive, slack: 0.9, max_iterations: 10_000, slabs: true };
const NORMAL: StepRule = StepRule { method: StepMethod::SeparatingNormal, ..ADDITIVE };

/// The step bound of a mesh that holds nothing but this pair.
fn bound(edges: bool, x: [DVec3; 4], dx: [DVec3; 4], rule: &StepRule) -> f64 {
    let mut mesh = CollisionMesh::new(vec![true; 4], 0.0);
    if edges {
        mesh.edges = vec![[0, 1], [2, 3]];
    } else {
        (mesh.vertices, mesh.triangles) = (vec![0, 1, 2, 3], vec![[1, 2, 3]]);
    }
    let end: [DVec3; 4] = std::array::from_fn(|i| x[i] + dx[i]);
    let mut candidates = Candidates::new(&mesh);
    candidates.query(&mesh, &x, &end, 0.0, 0.0, usize::MAX).unwrap();
    step_bound(&mesh, &candidates, &x, &dx, rule).alpha
}

fn additive(edges: bool, x: [DVec3; 4], dx: [DVec3; 4]) -> f64 {
    if edges {
        edge_edge_accd(x, dx, 0.0, &ADDITIVE)
    } else {
        vertex_triangle_accd(x, dx, 0.0, &ADDITIVE)
    }
}

fn distance(edges: bool, [a, b, c, d]: [DVec3; 4]) -> f64 {
    if edges { edge_edge(a, b, c, d).distance() } else { point_triangle(a, b, c, d).distance() }
}

#[test]
fn a05_separating_at_a_tiny_gap() {
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
    let at = |t: f64| distance(false, std::array::from_fn(|i| x[i] + t * dx[i]));
    assert!((at(0.0) / 5.692_520_353_750_13e-7 - 1.0).abs() < 1e-8);
    assert!((at(1.0) / 6.077_749_542_634_229e-7 - 1.0).abs() < 1e-8);
    assert_eq!(additive(false, x, dx), 1.0);
    // One look along the normal of the start doesn't see that the triangle turns away, and would allow a hundredth.
    for rule in [ADDITIVE, NORMAL] {
        assert_eq!(bound(false, x, dx, &rule), 1.0);
    }
}

#[test]
fn a06_a08_public_queries() {
    for query in &queries::QUERIES {
        let dx: [DVec3; 4] = std::array::from_fn(|i| query.to[i] - query.from[i]);
        let at = |t: f64| distance(query.edges, std::array::from_fn(|i| query.from[i] + t * dx[i]));
        let begin = Instant::now();
        let alpha = additive(query.edges, query.from, dx);
        assert!(begin.elapsed() < Duration::from_millis(10), "{}", query.name);
        let name = query.name;
        match query.hit {
            Some(hit) => assert!(alpha > 0.5 * hit && alpha < hit, "{name}: {alpha} of {hit}"),
            // It misses by rounding error or by half a micrometre: stopping there is right as well.
            None => assert!(alpha > 0.1 && (alpha < 1.0 || at(1.0) > 0.0), "{name}: {alpha}"),
        }
        let normal = bound(query.edges, query.from, dx, &NORMAL);
        assert!(normal > 0.0 && query.hit.is_none_or(|hit| normal < hit), "{name}: {normal}");
        for alpha in [alpha, normal] {
            assert!((0..=100).all(|k| at(alpha * f64::from(k) / 100.0) > 0.0), "{name}");
        }
    }
}

#[test]
fn a06_a_cube_falls_on_a_cube() {
    for rule in ["separating-normal", "accd"] {
        let mut play = Play::read(&format!(
            r#"
            dt = 0.01
            duration = 0.01
            gravity = [0, 0, 0]
            [contact]
            dhat = 0.001
            step_bound = "{rule}"
            [[body]]
            name = "bottom"
            shape = {{ kind = "box-surface", size = [1, 1, 1], cells = [1, 1, 1] }}
            [[body]]
            name = "top"
            shape = {{ kind = "box", size = [1, 1, 1], cells = [1, 1, 1] }}
            translate = [0, 1.01, 0]
            velocity = [0, -10, 0]
            material = {{ young = 1e6, poisson = 0.3, density = 1000 }}
            [[energy]]
            kind = "tet-neo-hookean"
            body = "top"
            "#
        ));
        let begin = Instant::now();
        let alpha = play.step().step_bounds[0];
        assert!(begin.elapsed() < Duration::from_secs(1), "{rule}");
        assert!(alpha > 0.08 && alpha < 0.1, "{rule}: {alpha}; the impact is at 0.1");
        play.assert_sound();
    }
}

#[test]
fn a07_sideways_motion() {
    for d0 in [1e-2, 1e-4, 1e-6, 1e-8] {
        let h = 0.5 * d0;
        let x =
            [dvec3(-1.0, -h, 0.0), dvec3(1.0, -h, 0.0), dvec3(0.0, h, -1.0), dvec3(0.0, h, 1.0)];
        let end = [
            dvec3(-1.001, h, -0.001),
            dvec3(1.001, h, 0.001),
            dvec3(0.001, -h, -0.999),
            dvec3(-0.001, -h, 0.999),
        ];
        let dx: [DVec3; 4] = std::array::from_fn(|i| end[i] - x[i]);
        for alpha in [additive(true, x, dx), bound(true, x, dx, &ADDITIVE)] {
            assert!(alpha > 0.05 && alpha < 0.5, "{d0}: {alpha}");
        }
        // Out of looks, the last safe fraction counts, not 0 and not 1.
        let hasty = StepRule { max_iterations: 1, ..ADDITIVE };
        let alpha = edge_edge_accd(x, dx, 0.0, &hasty);
        assert!(alpha > 0.05 && alpha < 0.5, "{d0}: {alpha}");
        let alpha = bound(true, x, dx, &NORMAL);
        assert!(alpha > 0.05 && alpha < 0.5, "{d0}: {alpha}");
    }
}

#[test]
fn a18_edges_that_move_together() {
    let x = [DVec3::ZERO, DVec3::X, dvec3(0.0, 0.001, 0.0), dvec3(1.0, 0.001, 1e-9)];
    let dx = [dvec3(0.3, -0.5, 0.2); 4];
    assert!((distance(true, x) - 0.001).abs() < 1e-15);
    for rule in [NORMAL, ADDITIVE] {
        assert_eq!(bound(true, x, dx, &rule), 1.0);
    }
    assert!((distance(true, x.map(|x| x + dx[0])) - distance(true, x)).abs() < 1e-12);
}
