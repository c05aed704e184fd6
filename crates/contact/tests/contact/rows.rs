//! Active rows: numbers, order, and what they must not depend on.

use glam::{DVec3, dvec3};
use gusset_contact::{Candidates, CollisionMesh, PairKind, smallest_gap};
use gusset_energy::{Contacts, RowKind};
use gusset_mesh::SlabShape;
use rayon::ThreadPoolBuilder;

use crate::stack::{DHAT, stack, sweep};

fn rows(mesh: &CollisionMesh, x: &[DVec3], dhat: f64) -> Contacts {
    let mut candidates = Candidates::new(mesh);
    candidates.query(mesh, x, x, 0.0, dhat, usize::MAX).expect("finite");
    let mut contacts = Contacts::default();
    candidates.rows(mesh, x, dhat, &mut contacts);
    contacts
}

/// One vertex over 48 static triangles (newton issue 4249): no slots that overflow.
#[test]
fn one_vertex_near_very_many_triangles() {
    let mut mesh = CollisionMesh::new((0..145).map(|v| v == 144).collect(), 0.0);
    let mut x = Vec::new();
    for k in 0..48 {
        let y = -1e-5 * f64::from(k);
        x.extend([dvec3(-1.0, y, -1.0), dvec3(1.0, y, -1.0), dvec3(0.0, y, 1.0)]);
        mesh.add_surface("plate", 3 * k as u32, &[[0, 1, 2]]);
    }
    x.push(dvec3(0.0, 0.0005, 0.0));
    mesh.vertices.push(144);
    let dhat = 1e-3;
    let contacts = rows(&mesh, &x, dhat);
    assert_eq!(contacts.rows.len(), 48);
    for (k, row) in contacts.rows.iter().enumerate() {
        assert!((row.gap - (0.0005 + 1e-5 * k as f64)).abs() < 1e-18);
        assert_eq!(row.kind, RowKind::VertexTriangle);
        assert_eq!(row.primitives[1], k as u32);
    }
    let slope = |g: f64| 2.0 * (g - dhat) * (g / dhat).ln() + (g - dhat).powi(2) / g;
    let sum: f64 = contacts.rows.iter().map(|row| slope(row.gap)).sum();
    assert!((sum - 0.017_929_056_555_678_405).abs() < 1e-15);
}

/// Single precision has a spacing of 0.5 mm there (ifc-lite issue 2600); the gap is 0.1 mm.
#[test]
fn far_from_the_origin() {
    let lower = [
        dvec3(4999.0, 5000.0, 4999.0),
        dvec3(5001.0, 5000.0, 4999.0),
        dvec3(5000.0, 5000.0, 5001.0),
    ];
    let centre = dvec3(5000.0, 5000.0, 5000.0);
    let upper = lower.map(|x| (centre + 0.1 * (x - centre)).with_y(5000.0001));
    let x = [lower, upper].concat();
    let mut mesh = CollisionMesh::new((0..6).map(|v| v >= 3).collect(), 0.0);
    mesh.add_surface("floor", 0, &[[0, 1, 2]]);
    mesh.add_surface("sheet", 3, &[[0, 1, 2]]);
    let contacts = rows(&mesh, &x, 5e-4);
    assert_eq!(contacts.rows.len(), 3);
    for row in &contacts.rows {
        assert!((row.gap - 0.000_100_000_000_202_271_62).abs() < 1e-12, "{}", row.gap);
    }
    assert!((smallest_gap(&mesh, &x).unwrap().gap - 1.000_000_002e-4).abs() < 1e-12);
}

#[test]
fn every_kind_with_its_offset() {
    let mut mesh = CollisionMesh::new(vec![true; 10], 0.02);
    mesh.add_surface("low", 0, &[[0, 1, 2]]);
    mesh.add_surface("high", 3, &[[0, 1, 2]]);
    mesh.add_spheres("balls", 6, &[0.1, 0.3]);
    mesh.add_points("grains", 8, 2);
    let plate = SlabShape { point: DVec3::ZERO, normal: DVec3::X, thickness: 0.02 };
    mesh.add_slab("plate", SlabShape { point: dvec3(20.0, 0.0, 0.0), ..plate });
    let x = [
        dvec3(-1.0, 0.0, -1.0),
        dvec3(1.0, 0.0, -1.0),
        dvec3(0.0, 0.0, 1.0),
        dvec3(0.0, 0.05, -0.5),
        dvec3(5.0, 0.5, 5.0),
        dvec3(5.0, 0.5, 6.0),
        dvec3(0.0, -0.15, 0.0),
        dvec3(0.0, -0.57, 0.0),
        dvec3(20.05, 7.0, 0.0),
        dvec3(19.985, 7.0, 0.0),
    ];
    let contacts = rows(&mesh, &x, 0.05);
    let found: Vec<_> = contacts.rows.iter().map(|row| (row.kind, row.primitives)).collect();
    assert_eq!(found[0], (RowKind::VertexTriangle, [3, 0]));
    assert!(found.contains(&(RowKind::SphereTriangle, [0, 0])));
    assert!(found.contains(&(RowKind::SphereSphere, [0, 1])));
    for row in &contacts.rows {
        let r: DVec3 = (0..4).map(|i| row.weights[i] * x[row.vertices[i] as usize]).sum();
        assert!((r.length() - row.offset - row.gap).abs() < 1e-15);
        assert!(r.normalize().distance(row.normal) < 1e-13);
        let (gap, offset) = match row.kind {
            RowKind::VertexTriangle | RowKind::EdgeEdge => (row.gap, 0.02),
            RowKind::SphereTriangle => (0.15 - 0.11, 0.11),
            RowKind::SphereSphere => (0.42 - 0.4, 0.4),
        };
        assert!((row.offset - offset).abs() < 1e-15 && (row.gap - gap).abs() < 1e-15);
    }
    let name = mesh.describe(&contacts.rows[0]);
    assert_eq!(name, "`high` vertex 0 and `low` triangle 0");

    // In front of the slab, and inside it, nearer to the back: 15 mm behind the front, 5 mm to the back.
    let [front, inside] = contacts.slabs[..] else { panic!("{:?}", contacts.slabs) };
    assert_eq!((front.vertex, front.normal, front.plane), (8, DVec3::X, 20.0));
    assert!((front.gap - 0.03).abs() < 1e-14);
    assert_eq!((inside.vertex, inside.normal), (9, -DVec3::X));
    assert!((inside.gap - (-0.005 - 0.02)).abs() < 1e-14);
    let smallest = smallest_gap(&mesh, &x).unwrap();
    assert_eq!((smallest.pair.kind, smallest.gap), (PairKind::VertexSlab, inside.gap));
}

#[test]
fn the_middle_of_a_slab_belongs_to_its_front() {
    let mut mesh = CollisionMesh::new(vec![true], 0.0);
    mesh.add_points("ball", 0, 1);
    let wall = SlabShape { point: dvec3(0.5, 0.0, 0.0), normal: -DVec3::X, thickness: 0.25 };
    mesh.add_slab("wall", wall);
    for (x, normal, gap) in [
        (0.625, -DVec3::X, -0.125),
        (0.6875, DVec3::X, -0.0625),
        (0.75, DVec3::X, 0.0),
        (0.5, -DVec3::X, 0.0),
        (0.375, -DVec3::X, 0.125),
    ] {
        let contacts = rows(&mesh, &[dvec3(x, 0.0, 0.0)], 0.2);
        assert_eq!((contacts.slabs[0].normal, contacts.slabs[0].gap), (normal, gap), "{x}");
    }
}

#[test]
fn overlapping_spheres_are_reported_and_finite() {
    let mut mesh = CollisionMesh::new(vec![true; 2], 0.0);
    mesh.add_spheres("balls", 0, &[0.05, 0.05]);
    let x = [dvec3(0.1, 0.2, 0.3); 2];
    let mut candidates = Candidates::new(&mesh);
    candidates.query(&mesh, &x, &x, 0.0, 1e-3, usize::MAX).unwrap();
    let mut contacts = Contacts::default();
    let smallest = candidates.rows(&mesh, &x, 1e-3, &mut contacts).unwrap();
    assert_eq!(smallest.gap, -0.1);
    assert_eq!(mesh.describe(smallest.pair), "`balls` sphere 0 and `balls` sphere 1");
    assert_eq!(contacts.rows[0].normal, DVec3::ZERO);
    assert!(contacts.rows[0].weights.iter().all(|w| w.is_finite()));
}

#[test]
fn rows_depend_on_the_positions_alone() {
    let (mesh, x) = stack(16);
    let expected = rows(&mesh, &x, DHAT);
    assert!(expected.rows.is_sorted_by_key(|row| (row.kind, row.primitives)));
    let moved: Vec<DVec3> = x.iter().zip(sweep(&x)).map(|(x, dx)| *x - 0.3 * dx).collect();
    let mut candidates = Candidates::new(&mesh);
    let mut contacts = Contacts::default();
    // Wider boxes, around other positions, by trees refitted from others.
    candidates.query(&mesh, &moved, &x, 0.0, DHAT, usize::MAX).unwrap();
    assert!(candidates.covers(&x, &moved));
    let smallest = candidates.rows(&mesh, &x, DHAT, &mut contacts);
    assert_eq!(contacts, expected);
    let stencils: Vec<[u32; 4]> = candidates.stencils(&mesh).collect();
    assert_eq!(stencils.len(), candidates.len());
    assert!(contacts.rows.iter().all(|row| stencils.contains(&row.vertices)));
    assert_eq!(smallest, candidates.smallest_gap(&mesh, &x));
    candidates.query(&mesh, &x, &x, 2e-3, 2.0 * DHAT, usize::MAX).unwrap();
    candidates.rows(&mesh, &x, DHAT, &mut contacts);
    assert_eq!(contacts, expected);
}

#[test]
fn the_same_bits_with_one_and_two_threads() {
    use gusset_contact::{IntersectionCheck, StepMethod, StepRule, intersections, step_bound};
    let (mesh, x) = stack(24);
    let dx = sweep(&x);
    let end: Vec<DVec3> = x.iter().zip(&dx).map(|(x, dx)| *x + *dx).collect();
    let run = |threads: usize| {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut candidates = Candidates::new(&mesh);
            candidates.query(&mesh, &x, &end, 1e-3, DHAT, usize::MAX).unwrap();
            let mut contacts = Contacts::default();
            let smallest = candidates.rows(&mesh, &x, DHAT, &mut contacts);
            let additive = StepRule { method: StepMethod::Additive, ..StepRule::default() };
            let bounds = [StepRule::default(), additive]
                .map(|rule| step_bound(&mesh, &candidates, &x, &dx, &rule));
            let report = intersections(&mesh, &end, &IntersectionCheck::default());
            assert!(!report.pairs.is_empty());
            let lists = (candidates.vertex_triangle.clone(), candidates.edge_edge.clone());
            (lists, contacts, smallest, bounds, report, smallest_gap(&mesh, &end))
        })
    };
    let one = run(1);
    for _ in 0..3 {
        assert_eq!(one, run(2));
    }
}
