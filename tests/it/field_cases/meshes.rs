//! Meshes that are not what they should be, by scene and by file.

use crate::play::{Play, read, refused, surface};
use crate::tool::Bench;
use gusset_contact::{CollisionMesh, PairKind, pairs_below};
use gusset_mesh::{Topology, measure, read as files};

const HEAD: &str = "dt = 0.01\nduration = 0.1\n";
const FILM: &str = "material = { area_density = 1.0 }";

#[test]
fn a09_a_vertex_of_no_triangle() {
    let x = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [2.0, 2.0, 0.0]];
    let said = refused(&format!("{HEAD}{}", surface("film", &x, &[[0, 1, 2]], FILM)));
    assert!(said.contains("vertex 3"), "{said}");
    let mass = measure::film_mass(&x.map(glam::DVec3::from_array), &[[0, 1, 2]], 1.0);
    let third = 0.5 / 3.0;
    for (mass, expected) in mass.iter().zip([third, third, third, 0.0]) {
        assert!((mass - expected).abs() < 1e-16, "{mass}");
    }
    // Every loader says so, not only the one for triangles in the scene.
    let obj = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 2 2 0\nf 1 2 3\n";
    let said = file("film.obj", obj);
    assert!(said.contains("vertex 3"), "{said}");
}

/// What is said of a scene whose film comes from this file, or "" where it is accepted.
fn file(name: &str, text: &str) -> String {
    let bench = Bench::new();
    bench.write(name, text);
    let scene = format!(
        "{HEAD}[[body]]\nname = \"film\"\n{FILM}\nshape = {{ kind = \"file\", path = \"{name}\" }}\n"
    );
    match gusset_scene::read("case.toml", &scene, &bench.path(""), &[]) {
        Ok(_) => String::new(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a10_duplicate_faces_and_crowded_edges() {
    let x = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [0.0, 0.0, -1.0]];
    let said =
        refused(&format!("{HEAD}{}", surface("film", &x[..3], &[[0, 1, 2], [1, 2, 0]], FILM)));
    assert!(said.contains("triangles 0 and 1"), "{said}");
    let crowded = [[0, 1, 2], [0, 1, 3], [1, 0, 4]];
    let said = refused(&format!("{HEAD}{}", surface("film", &x, &crowded, FILM)));
    assert!(said.contains("0-1") || said.contains("(0, 1)") || said.contains("0 and 1"), "{said}");
    assert!(said.contains("0, 1, 2") || said.contains("0, 1 and 2"), "{said}");
    // Contact alone would count every edge once.
    let mut mesh = CollisionMesh::new(vec![true; 5], 0.0);
    mesh.add_surface("film", 0, &crowded);
    assert_eq!(mesh.edges, [[0, 1], [0, 2], [0, 3], [0, 4], [1, 2], [1, 3], [1, 4]]);
}

#[test]
fn a11_a_boundary_edge_is_no_hinge() {
    let topology = Topology::new(4, &[[0, 1, 2], [0, 2, 3]]).unwrap();
    assert_eq!(topology.edges.len(), 5);
    assert_eq!(topology.boundary_edges.len(), 4);
    assert_eq!(topology.hinges.len(), 1);
    let hinge = &topology.hinges[0];
    let sorted = |[a, b]: [u32; 2]| [a.min(b), a.max(b)];
    assert_eq!((sorted(hinge.edge), sorted(hinge.opposite)), ([0, 2], [1, 3]));
}

/// 4 x 4 vertices, 2 mm apart.
fn grid() -> (Vec<[f64; 3]>, Vec<[u32; 3]>) {
    let x = (0..16).map(|v| [0.002 * f64::from(v % 4), 0.0, 0.002 * f64::from(v / 4)]).collect();
    let mut triangles = Vec::new();
    for j in 0..3 {
        for i in 0..3 {
            let a = 4 * j + i;
            let (b, c, d) = (a + 1, a + 4, a + 5);
            triangles.extend([[a, b, c], [b, d, c]]);
        }
    }
    (x, triangles)
}

#[test]
fn a20_a_contact_offset_above_the_spacing() {
    let smallest = 0.001_414_213_562_373_095_2;
    let (x, triangles) = grid();
    let positions: Vec<glam::DVec3> = x.iter().map(|x| glam::DVec3::from_array(*x)).collect();
    let mut mesh = CollisionMesh::new(vec![true; 16], 0.0);
    mesh.add_surface("airbag", 0, &triangles);
    let all = pairs_below(&mesh, &positions, 1.0).unwrap();
    assert_eq!((all.pairs.vertex_triangle.len(), all.pairs.edge_edge.len()), (234, 412));
    assert!((all.smallest.unwrap().gap - smallest).abs() < 1e-15);

    for (offset, vt, ee) in
        [(0.001, 0, 0), (0.0014, 0, 0), (0.0015, 18, 36), (0.0021, 90, 190), (0.003, 138, 265)]
    {
        let below = pairs_below(&mesh, &positions, offset).unwrap();
        assert_eq!(
            (below.pairs.vertex_triangle.len(), below.pairs.edge_edge.len()),
            (vt, ee),
            "{offset}"
        );
        let text = format!(
            "{HEAD}gravity = [0, 0, 0]\n[contact]\nmin_gap = {offset}\ndhat = 1e-5\n{}\
             [[energy]]\nkind = \"neo-hookean\"\nbody = \"airbag\"\nmu = 100\nlambda = 100\n",
            surface("airbag", &x, &triangles, FILM)
        );
        if offset <= 0.0014 {
            let scene = read(&text);
            assert!(scene.warnings.is_empty(), "{offset}: {:?}", scene.warnings);
            let mut play = Play::new(scene);
            let start = play.state.x.clone();
            for _ in 0..5 {
                assert_eq!(play.step().active, 0, "{offset}");
            }
            let moved = play.state.x.iter().zip(start).map(|(x, start)| x.distance(start));
            assert!(moved.fold(0.0, f64::max) < 1e-15, "no force at rest");
        } else {
            let said = refused(&text);
            assert!(said.contains("1.41421e-3") && said.contains("`airbag`"), "{offset}: {said}");
        }
    }
    assert!(matches!(
        all.smallest.unwrap().pair.kind,
        PairKind::VertexTriangle | PairKind::EdgeEdge
    ));
}

#[test]
fn a22_negative_indices_count_from_the_line() {
    let text = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf -3 -2 -1\nv 0 0 1\nv 1 0 1\nv 0 1 1\nf -3//-3 -2//-2 -1//-1\n";
    match files::obj(text, "blocks.obj") {
        Ok(mesh) => {
            assert_eq!(mesh.triangles, [[0, 1, 2], [3, 4, 5]]);
            assert_eq!(mesh.positions.len(), 6);
        }
        Err(error) => {
            let said = error.to_string();
            assert!(said.contains('8') && said.contains("normal"), "{said}");
        }
    }
    // Without the normals that don't exist there is but one answer.
    let mesh =
        files::obj(&text.replace("//-3", "").replace("//-2", "").replace("//-1", ""), "b.obj");
    let mesh = mesh.unwrap();
    assert_eq!((mesh.triangles, mesh.positions.len()), (vec![[0, 1, 2], [3, 4, 5]], 6));
}

#[test]
fn a23_a_polygon_that_is_not_convex() {
    let text = "v 4 0 0\nv 1 1 0\nv 0 4 0\nv 0 0 0\nf 1 2 3 4\n";
    let mesh = files::obj(text, "chevron.obj").unwrap();
    assert!((measure::total_area(&mesh.positions, &mesh.triangles) - 4.0).abs() < 1e-14);
    let mut faces: Vec<[u32; 3]> = mesh
        .triangles
        .iter()
        .map(|&[a, b, c]| match a.min(b).min(c) {
            least if least == a => [a, b, c],
            least if least == b => [b, c, a],
            _ => [c, a, b],
        })
        .collect();
    faces.sort_unstable();
    assert_eq!(faces, [[0, 1, 3], [1, 2, 3]], "one winding, nothing outside");
    assert_eq!(file("chevron.obj", text), "");
}

#[test]
fn a24_a_tetrahedron_of_negative_volume() {
    let x = [
        [-0.1275, -0.125_174_08, -0.107],
        [-0.139_923_35, -0.132_543_33, -0.107],
        [-0.140_159_45, -0.115, -0.116_707_27],
        [-0.140_484_67, -0.122_876_81, -0.107],
    ];
    let volume = measure::volume(x.map(glam::DVec3::from_array));
    assert!((volume / -2.009_842_827_855_833_4e-7 - 1.0).abs() < 1e-12, "{volume}");
    let scene = |tet: &str| {
        format!(
            "{HEAD}gravity = [0, 0, 0]\n[[body]]\nname = \"lump\"\nmaterial = {{ density = 1000 }}\n\
             [body.shape]\nkind = \"tets\"\nvertices = {x:?}\ntets = [{tet}]\n"
        )
    };
    let said = refused(&scene("[0, 1, 2, 3]"));
    assert!(said.contains("tet 0") && said.contains("-2.0098"), "{said}");
    // In the right order it has its mass.
    let play = Play::read(&scene("[0, 2, 1, 3]"));
    let mass: f64 = play.solver.model().world.body("lump").unwrap().mass.iter().sum();
    assert!((mass / 2.009_842_827_855_833_4e-4 - 1.0).abs() < 1e-12, "{mass}");
}
