//! Distances, barriers, and which pairs meet.

use crate::play::{Play, forces, read, refused, surface, term};
use glam::{DVec3, dvec3};
use gusset_barrier::{barrier, curvature, slope};
use gusset_contact::{
    Candidates, CollisionMesh, Pair, PairKind, edge_edge, point_triangle, smallest_gap,
    triangles_intersect,
};
use gusset_energy::{Contacts, RowKind};

#[path = "../../../crates/contact/tests/contact/subdivided.rs"]
mod subdivided;

fn close(a: f64, b: f64, relative: f64) -> bool {
    (a - b).abs() <= relative * b.abs()
}

/// Rows of all pairs closer than the scene's `dhat`, as the solver finds them.
fn rows(mesh: &CollisionMesh, x: &[DVec3], dhat: f64) -> Contacts {
    let mut candidates = Candidates::new(mesh);
    candidates.query(mesh, x, x, 0.0, dhat, usize::MAX).unwrap();
    let mut contacts = Contacts::default();
    candidates.rows(mesh, x, dhat, &mut contacts);
    contacts
}

#[test]
fn a01_edges_almost_in_one_line() {
    let a = [
        dvec3(-0.818_181_812_763_214_1, 0.073_941_159_961_546_27, 0.090_909_108_519_554_15),
        dvec3(-0.818_181_812_763_214_1, 0.073_941_161_500_775_77, 0.272_727_280_855_178_83),
    ];
    let b = [
        dvec3(-0.818_181_812_763_214_1, 0.073_941_163_540_152_72, 0.454_545_468_091_964_8),
        dvec3(-0.818_181_812_763_214_1, 0.073_941_167_300_585_32, 0.636_363_625_526_428_2),
    ];
    let exact = 0.181_818_187_236_785_94;
    for swap in 0..8 {
        let turn = |e: [DVec3; 2], bit: i32| if swap >> bit & 1 == 1 { [e[1], e[0]] } else { e };
        let [p, q] = [turn(a, 0), turn(b, 1)];
        let [p, q] = if swap >> 2 & 1 == 1 { [q, p] } else { [p, q] };
        let closest = edge_edge(p[0], p[1], q[0], q[1]);
        assert!((closest.distance() - exact).abs() < 1e-15, "{swap}: {closest:?}");
        // The gradient of the distance is weight times unit vector: only two ends have one.
        assert_eq!(closest.weights.iter().filter(|w| **w == 0.0).count(), 2, "{closest:?}");
        assert_eq!(closest.weights.iter().filter(|w| w.abs() == 1.0).count(), 2, "{closest:?}");
    }
    let closest = edge_edge(a[0], a[1], b[0], b[1]);
    assert_eq!(closest.weights, [0.0, 1.0, -1.0, 0.0], "ends ea1 and eb0");
    let n = closest.r / closest.distance();
    assert!(n.distance(dvec3(0.0, -1.1217e-8, -1.0)) < 1e-12, "{n}");
    assert!(close(barrier(closest.distance(), 0.2, 1.0), 3.150_746_882_404_441e-5, 1e-12));
}

#[test]
fn a02_a_triangle_without_area() {
    let p = dvec3(1.100_000_02, -7.900_000_1, 16.587_999_3);
    let a = dvec3(2.276_999_95, -7.900_000_1, 16.318_000_8);
    let b = dvec3(-0.569_999_993, -8.100_000_38, 16.607_000_4);
    for t in [[a, b, b], [b, a, b], [b, b, a]] {
        let closest = point_triangle(p, t[0], t[1], t[2]);
        assert!(close(closest.distance(), 0.171_478_265_901_441_52, 1e-12), "{closest:?}");
        assert!(closest.weights.iter().all(|w| w.is_finite()));
        assert!(closest.weights.iter().sum::<f64>().abs() < 1e-15);
    }
    let body = surface(
        "sliver",
        &[a, b, b].map(|p| p.to_array()),
        &[[0, 1, 2]],
        "material = { area_density = 0.2 }",
    );
    let said = refused(&format!("dt = 0.01\nduration = 0.1\n{body}"));
    assert!(said.contains("triangle 0 is degenerate: vertices 1 and 2 coincide"), "{said}");
}

#[test]
fn a03_coplanar_triangles_that_touch() {
    let a = [[76.648, 54.6752, 15.0012], [76.648, 54.6752, 14.5542], [76.582, 54.6752, 14.7879]];
    let b = [[76.6252, 54.6752, 14.892], [76.582, 54.6752, 14.7879], [76.5617, 54.6752, 14.7929]];
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    for i in orders {
        for j in orders {
            let (a, b) = (i.map(|k| a[k]), j.map(|k| b[k]));
            for (first, second) in [(a, b), (b, a)] {
                let [p, q] = [first, second].map(|t| t.map(DVec3::from_array));
                assert!(triangles_intersect(p, q));
                let text = format!(
                    "dt = 0.01\nduration = 0.1\n[contact]\ndhat = 0.001\n{}{}",
                    surface("one", &first, &[[0, 1, 2]], "material = { area_density = 0.2 }"),
                    surface("two", &second, &[[0, 1, 2]], "material = { area_density = 0.2 }")
                );
                let said = refused(&text);
                assert!(said.contains("`one` triangle 0 and `two` triangle 0"), "{said}");
            }
        }
    }
}

#[test]
fn a04_a_clean_mesh_is_accepted() {
    let x: Vec<[f64; 3]> = subdivided::X.iter().map(DVec3::to_array).collect();
    let body = surface(
        "disk",
        &x,
        &subdivided::TRIANGLES,
        "material = { area_density = 0.2, young = 1e6, poisson = 0.3, thickness = 1e-3 }",
    );
    let text = format!(
        "dt = 0.01\nduration = 0.1\ngravity = [0, 0, 0]\n[contact]\ndhat = 0.007\n{body}\
         [[energy]]\nkind = \"neo-hookean\"\nbody = \"disk\"\n"
    );
    let scene = read(&text);
    assert!(scene.warnings.is_empty(), "{:?}", scene.warnings);
    let mut play = Play::new(scene);
    assert_eq!(play.mesh.edges.len(), 30);
    let gap = play.gap();
    assert!((gap.gap - 0.007_071_318_802_016_211).abs() < 1e-15, "{gap:?}");
    // Subdivision makes many pairs as close as that but for rounding; triangles 1 and 3 are among them.
    let mut closest = CollisionMesh::new(vec![true; 15], 0.0);
    closest.add_surface("disk", 0, &[1, 3].map(|t: usize| subdivided::TRIANGLES[t]));
    assert!((smallest_gap(&closest, &subdivided::X).unwrap().gap - gap.gap).abs() < 1e-15);
    let record = play.step();
    assert_eq!((record.active, &record.smallest_gap), (0, &None), "no contact at rest");
}

#[test]
fn a14_the_barrier_joins_smoothly() {
    let dhat = 1e-3;
    let d = 0.5 * dhat;
    assert!(close(barrier(d, dhat, 1.0) / dhat.powi(2), 0.173_286_795_139_986_32, 1e-13));
    assert!(close(slope(d, dhat, 1.0) / dhat, -1.193_147_180_559_945_4, 1e-13));
    assert!(close(curvature(d, dhat, 1.0), 6.386_294_361_119_891, 1e-13));
    for beyond in [1.0, 1.000_001, 2.0] {
        let d = beyond * dhat;
        assert_eq!([barrier(d, dhat, 1.0), slope(d, dhat, 1.0), curvature(d, dhat, 1.0)], [0.0; 3]);
    }
    let inside = 0.999_999 * dhat;
    // What rounding leaves of 1 - x: ten digits.
    assert!(close(curvature(inside, dhat, 1.0), 6.0e-6, 1e-5));
    assert!(close(slope(inside, dhat, 1.0), -3.0e-12 * dhat, 1e-5));
    for x in [1e-4, 1e-3, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 0.999] {
        let (d, h) = (x * dhat, 1e-5 * dhat * f64::min(x, 1.0 - x));
        let difference = |f: &dyn Fn(f64) -> f64| (f(d + h) - f(d - h)) / (2.0 * h);
        let first = difference(&|d| barrier(d, dhat, 1.0));
        let second = difference(&|d| slope(d, dhat, 1.0));
        assert!(close(first, slope(d, dhat, 1.0), 1e-6), "{x}: {first}");
        assert!(close(second, curvature(d, dhat, 1.0), 1e-6), "{x}: {second}");
    }
}

#[test]
fn a15_one_vertex_near_48_triangles() {
    let mut plates = Vec::new();
    for k in 0..48 {
        let y = -1e-5 * f64::from(k);
        plates.extend([[-1.0, y, -1.0], [1.0, y, -1.0], [0.0, y, 1.0]]);
    }
    let triangles: Vec<[u32; 3]> = (0..48).map(|k| [3 * k, 3 * k + 1, 3 * k + 2]).collect();
    // The particle is a film's lowest corner; the others are out of reach.
    let film = [[0.0, 0.0005, 0.0], [0.2, 1.0, 0.0], [-0.2, 1.0, 0.0]];
    let mut scene = read(&format!(
        "dt = 0.01\nduration = 0.1\ngravity = [0, 0, 0]\n[contact]\ndhat = 0.001\nstiffness = 7\n{}{}",
        surface("plates", &plates, &triangles, "role = \"obstacle\""),
        surface("film", &film, &[[0, 1, 2]], "material = { area_density = 0.2 }")
    ));
    let mesh = CollisionMesh::from_world(&scene.model.world, 0.0);
    let contacts = rows(&mesh, &scene.state.x, 1e-3);
    let mut gaps: Vec<f64> = contacts.rows.iter().map(|row| row.gap).collect();
    gaps.sort_by(f64::total_cmp);
    assert_eq!(gaps.len(), 48, "none is dropped, and plates don't touch plates");
    for (k, gap) in (0..).zip(&gaps) {
        assert!((gap - (0.0005 + 1e-5 * f64::from(k))).abs() < 1e-15, "{k}: {gap}");
    }
    assert!(contacts.rows.iter().all(|row| row.kind == RowKind::VertexTriangle));
    // All of them push.
    scene.model.terms.iter_mut().for_each(|term| term.refresh(&contacts));
    let (_, force) = forces(term(&scene.model.terms, "barrier"), &scene.state.x);
    let expected = 7.0 * 0.017_929_056_555_678_405;
    assert!(force[144].distance(dvec3(0.0, expected, 0.0)) < 1e-12 * expected, "{}", force[144]);
    let mut play = Play::new(scene);
    play.step();
    play.assert_sound();
}

#[test]
fn a25_spheres_with_one_centre() {
    let text = "dt = 0.01\nduration = 0.1\n[contact]\ndhat = 0.001\n[[body]]\nname = \"balls\"\n\
        material = { density = 1000 }\n\
        shape = { kind = \"spheres\", centres = [[0.1, 0.2, 0.3], [0.1, 0.2, 0.3]], radii = [0.05] }\n";
    let said = refused(text);
    assert!(said.contains("`balls` sphere 0 and `balls` sphere 1"), "{said}");
    // Without contact they may stand where they like; the kernel has a definite answer and no NaN.
    let scene = read(text);
    let mesh = CollisionMesh::from_world(&scene.model.world, 0.0);
    let found = smallest_gap(&mesh, &scene.state.x).unwrap();
    assert_eq!(found.pair, Pair { kind: PairKind::SphereSphere, primitives: [0, 1] });
    assert_eq!(found.gap, -0.1);
    let contacts = rows(&mesh, &scene.state.x, 1e-3);
    assert_eq!((contacts.rows.len(), contacts.rows[0].normal), (1, DVec3::ZERO));
}

#[test]
fn a31_a_small_object_on_a_very_large_triangle() {
    let corners = [[0.0, 0.0, 0.0], [100.0, 320.0, 0.0], [0.0, 320.0, 0.0]];
    let p = [28.879_913_33, 260.534_301_76, 0.000_361_360_55];
    let [a, b, c] = corners.map(DVec3::from_array);
    let closest = point_triangle(DVec3::from_array(p), a, b, c);
    assert!(close(closest.distance(), 0.000_361_360_55, 1e-9), "{closest:?}");
    assert!((closest.r / closest.distance()).distance(DVec3::Z) < 1e-9, "{closest:?}");
    assert!(closest.weights.iter().all(|w| *w != 0.0), "inside the face");
    // In a scene its contact acts, as vertex and face.
    let up = |dx: f64, dz: f64| [p[0] + dx, p[1], p[2] + dz];
    let film = [p, up(0.2, 0.3), up(-0.2, 0.3)];
    let mut play = Play::read(&format!(
        "dt = 0.01\nduration = 0.1\ngravity = [0, 0, 0]\n[contact]\ndhat = 0.001\nstiffness = 1\n{}{}",
        surface("ground", &corners, &[[0, 1, 2]], "role = \"obstacle\""),
        surface("speck", &film, &[[0, 1, 2]], "material = { area_density = 0.2 }")
    ));
    let contacts = rows(&play.mesh, &play.state.x, 1e-3);
    assert_eq!(contacts.rows.len(), 1);
    assert_eq!(contacts.rows[0].kind, RowKind::VertexTriangle);
    play.step();
    assert!(play.x("speck")[0].z > p[2], "it is pushed away");
    play.assert_sound();
}
