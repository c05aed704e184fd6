//! Random scenes against all pairs: nothing is missed, and no step that the bounds allow closes a gap.

use glam::DVec3;
use gusset_contact::{
    Candidates, CollisionMesh, StepMethod, StepRule, edge_edge, point_triangle, smallest_gap,
    step_bound,
};
use gusset_energy::{Contacts, RowKind};
use proptest::prelude::*;

const VERTICES: usize = 36;
const SPHERES: usize = 6;
const COUNT: usize = VERTICES + SPHERES;

#[derive(Debug)]
struct Scene {
    mesh: CollisionMesh,
    x: Vec<DVec3>,
    dx: Vec<DVec3>,
}

fn vector(size: f64) -> impl Strategy<Value = DVec3> {
    [-size..size, -size..size, -size..size].prop_map(DVec3::from)
}

fn scene(motion: f64) -> impl Strategy<Value = Scene> {
    let triangles = proptest::collection::vec([0u32..36, 0u32..36, 0u32..36], 4..40);
    let x = proptest::collection::vec(vector(1.0), COUNT);
    let dx = proptest::collection::vec(vector(motion), COUNT);
    let fixed = proptest::collection::vec(prop::bool::weighted(0.4), COUNT);
    let radii = proptest::collection::vec(0.01..0.1, SPHERES);
    (triangles, x, dx, fixed, radii, 0.0..0.02f64).prop_map(
        |(triangles, x, mut dx, fixed, radii, min_gap)| {
            let triangles: Vec<[u32; 3]> =
                triangles.into_iter().filter(|[a, b, c]| a != b && b != c && c != a).collect();
            let mut mesh = CollisionMesh::new(fixed.iter().map(|f| !f).collect(), min_gap);
            mesh.add_surface("soup", 0, &triangles);
            mesh.add_spheres("balls", VERTICES as u32, &radii);
            for (dx, fixed) in dx.iter_mut().zip(&fixed) {
                if *fixed {
                    *dx = DVec3::ZERO;
                }
            }
            Scene { mesh, x, dx }
        },
    )
}

/// Every pair with its gap at `x`, in the order of rows.
fn all_gaps(mesh: &CollisionMesh, x: &[DVec3]) -> Vec<(RowKind, [u32; 2], f64)> {
    let at = |v: u32| x[v as usize];
    let moves = |vertices: &[u32]| vertices.iter().any(|&v| mesh.movable[v as usize]);
    let triangle =
        |p: DVec3, t: [u32; 3]| point_triangle(p, at(t[0]), at(t[1]), at(t[2])).distance();
    let mut out = Vec::new();
    for (i, &v) in (0..).zip(&mesh.vertices) {
        for (j, &t) in (0..).zip(&mesh.triangles) {
            if !t.contains(&v) && moves(&[v, t[0], t[1], t[2]]) {
                let gap = triangle(at(v), t) - mesh.min_gap;
                out.push((RowKind::VertexTriangle, [i, j], gap));
            }
        }
    }
    for (i, &e) in (0..).zip(&mesh.edges) {
        for (j, &f) in (i + 1..).zip(&mesh.edges[i as usize + 1..]) {
            if !e.iter().any(|v| f.contains(v)) && moves(&[e, f].concat()) {
                let gap = edge_edge(at(e[0]), at(e[1]), at(f[0]), at(f[1])).distance();
                out.push((RowKind::EdgeEdge, [i, j], gap - mesh.min_gap));
            }
        }
    }
    for (i, s) in (0..).zip(&mesh.spheres) {
        for (j, &t) in (0..).zip(&mesh.triangles) {
            if moves(&[s.vertex, t[0], t[1], t[2]]) {
                let gap = triangle(at(s.vertex), t) - mesh.sphere_offset(s);
                out.push((RowKind::SphereTriangle, [i, j], gap));
            }
        }
    }
    for (i, s) in (0..).zip(&mesh.spheres) {
        for (j, t) in (i + 1..).zip(&mesh.spheres[i as usize + 1..]) {
            if moves(&[s.vertex, t.vertex]) {
                let gap = at(s.vertex).distance(at(t.vertex)) - (s.radius + t.radius);
                out.push((RowKind::SphereSphere, [i, j], gap));
            }
        }
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn rows_are_all_pairs_within_dhat(scene in scene(0.5), skin in 0.0..0.2, dhat in 0.01..0.3, at in 0.0..1.0) {
        let Scene { mesh, x, dx } = scene;
        let place = |t: f64| -> Vec<DVec3> { x.iter().zip(&dx).map(|(x, dx)| *x + t * dx).collect() };
        let mut candidates = Candidates::new(&mesh);
        let mut contacts = Contacts::default();
        // A first query elsewhere makes the second one a refit.
        candidates.query(&mesh, &place(-1.0), &place(-1.0), 0.0, dhat, usize::MAX).unwrap();
        candidates.query(&mesh, &x, &place(1.0), skin, dhat, usize::MAX).unwrap();
        for list in [&candidates.vertex_triangle, &candidates.edge_edge, &candidates.sphere_triangle, &candidates.sphere_sphere] {
            prop_assert!(list.is_sorted_by(|a, b| a < b));
        }
        // Anywhere on the way, and a skin beside it.
        let here: Vec<DVec3> = place(at)
            .into_iter()
            .enumerate()
            .map(|(v, x)| if mesh.movable[v] { x + 0.99 * skin * DVec3::new(1.0, -1.0, 1.0) } else { x })
            .collect();
        prop_assert!(candidates.covers(&here, &x));
        let smallest = candidates.rows(&mesh, &here, dhat, &mut contacts);
        let found: Vec<_> = contacts.rows.iter().map(|row| (row.kind, row.primitives, row.gap)).collect();
        let mut expected = all_gaps(&mesh, &here);
        let least = expected.iter().map(|row| row.2).reduce(f64::min);
        prop_assert_eq!(smallest_gap(&mesh, &here).map(|s| s.gap), least);
        expected.retain(|row| row.2 < dhat);
        prop_assert_eq!(&found, &expected);
        prop_assert_eq!(smallest.map(|s| s.gap), expected.iter().map(|row| row.2).reduce(f64::min));
    }

    #[test]
    fn allowed_steps_keep_every_gap(scene in scene(2.0), slack in 0.1..0.95) {
        let Scene { mut mesh, x, dx } = scene;
        // What overlaps at the start is left out of the scene.
        let touching: Vec<_> = all_gaps(&mesh, &x).into_iter().filter(|row| row.2 < 1e-6).collect();
        for (kind, pair, _) in touching {
            match kind {
                RowKind::VertexTriangle => mesh.excluded.vertex_triangle.push(pair),
                RowKind::EdgeEdge => mesh.excluded.edge_edge.push(pair),
                RowKind::SphereTriangle | RowKind::SphereSphere => return Ok(()),
            }
        }
        let end: Vec<DVec3> = x.iter().zip(&dx).map(|(x, dx)| *x + *dx).collect();
        let mut candidates = Candidates::new(&mesh);
        candidates.query(&mesh, &x, &end, 0.0, 0.0, usize::MAX).unwrap();
        let start: Vec<f64> = all_gaps(&mesh, &x).into_iter().map(|row| row.2).collect();
        let excluded = |row: &(RowKind, [u32; 2], f64)| match row.0 {
            RowKind::VertexTriangle => mesh.excluded.vertex_triangle.contains(&row.1),
            RowKind::EdgeEdge => mesh.excluded.edge_edge.contains(&row.1),
            _ => false,
        };
        let mut alphas = Vec::new();
        for method in [StepMethod::SeparatingNormal, StepMethod::Additive] {
            let rule = StepRule { method, slack, ..StepRule::default() };
            let bound = step_bound(&mesh, &candidates, &x, &dx, &rule);
            prop_assert!(bound.alpha > 0.0 && bound.alpha <= 1.0);
            prop_assert_eq!(bound.limiting.is_none(), bound.alpha == 1.0);
            for k in 1..=40 {
                let t = bound.alpha * f64::from(k) / 40.0;
                let there: Vec<DVec3> = x.iter().zip(&dx).map(|(x, dx)| *x + t * *dx).collect();
                for (row, start) in all_gaps(&mesh, &there).iter().zip(&start) {
                    // The half-space bound keeps 1 - slack of each gap that limits; nothing may close.
                    prop_assert!(row.2 > 0.0 || excluded(row), "{row:?} from {start} at {t}");
                }
            }
            // The lists may hold more; the bound is the same.
            let mut wide = Candidates::new(&mesh);
            wide.query(&mesh, &x, &end, 0.3, 0.1, usize::MAX).unwrap();
            prop_assert_eq!(step_bound(&mesh, &wide, &x, &dx, &rule), bound);
            alphas.push(bound.alpha);
        }
        // Following pairs costs no length, up to what the slack leaves at the very end of a step.
        prop_assert!(alphas[1] >= alphas[0] * slack);
    }
}
