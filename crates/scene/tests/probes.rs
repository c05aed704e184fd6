//! Probes, their targets and the conditions of a scene, on shapes with known answers.

use glam::DVec3;
use gusset_builtin as _;
use gusset_scene::{Measured, Scene, read};
use std::path::Path;

/// A box of film without its lid, 1 m wide and 1 m high, with a sphere in it and one above it.
const SCENE: &str = r#"
dt = 0.01
duration = 1
units = { length = "mm", mass = "g", time = "s" }

[[body]]
name = "film"
material = { area_density = "1 kg/m^2" }
[body.shape]
kind = "triangles"
vertices = [
    [0, 0, 0], [1000, 0, 0], [1000, 1000, 0], [0, 1000, 0],
    [0, 0, 1000], [1000, 0, 1000], [1000, 1000, 1000], [0, 1000, 1000],
]
triangles = [
    [0, 2, 1], [0, 3, 2],
    [0, 1, 5], [0, 5, 4], [1, 2, 6], [1, 6, 5], [2, 3, 7], [2, 7, 6], [3, 0, 4], [3, 4, 7],
]

[[body]]
name = "balls"
material = { density = "1000 kg/m^3" }
shape = { kind = "spheres", centres = [[500, 500, 900], [500, 500, 1100]], radii = [10, 10] }

[[energy]]
name = "hand"
kind = "support"
body = "film"
vertices = [4, 5, 6, 7]
stiffness = "2 N/m"
motion = { keys = [{ time = 0 }, { time = 0.01, translate = [0, 0, 500] }] }

[[energy]]
name = "thread"
kind = "tie"
body = "film"
pairs = [[4, 6], [5, 7]]
length = 1400

[[probe]]
name = "inside"
kind = "inside"
body = "balls"
film = "film"
target = { at = 1, at_least = 1 }

[[probe]]
name = "inside the lower half"
kind = "inside"
body = "balls"
film = "film"
vertices = [0, 1, 2, 3]

[[probe]]
name = "stretch"
kind = "stretch"
body = "film"

[[probe]]
name = "hand"
kind = "force"
energy = "hand"

[[probe]]
name = "thread"
kind = "thread-error"

[[probe]]
name = "heights"
kind = "coordinates"
body = "balls"
axis = "z"
target = [
    { from = 0.5, statistic = "range", at_most = 0.8 },
    { at = 1, at_least = "1 m" },
]

[[probe]]
name = "places"
kind = "positions"
body = "film"
vertices = [7, 0]

[[probe]]
name = "speeds"
kind = "speeds"
body = "balls"

[[require]]
name = "open"
at = 0.01
body = "film"
rising = [[0, 1, 2, 3], [4, 5, 6, 7]]
by = 100

[[require]]
name = "fast"
at = 0.5
probe = "speeds"
at_least = "2 m/s"
"#;

fn scene() -> Scene {
    read("box.toml", SCENE, Path::new(""), &[]).unwrap_or_else(|error| panic!("{error}"))
}

/// The probes' numbers at `x` (m), by the name of their column.
fn measure(scene: &mut Scene, x: &[DVec3]) -> impl Fn(&str) -> f64 + use<> {
    let v = vec![DVec3::X; x.len()];
    scene.model.terms.iter_mut().for_each(|term| term.at_time(0.01));
    let mut row = Vec::new();
    let measured = Measured {
        x,
        v: &v,
        terms: &scene.model.terms,
        step: (x, &v, 0.01),
        ..Measured::default()
    };
    scene.probes.measure(&measured, &mut row);
    let columns: Vec<String> = scene.probes.columns().into_iter().map(|c| c.to_string()).collect();
    assert_eq!(row.len(), columns.len());
    move |name: &str| row[columns.iter().position(|c| c == name).expect(name)]
}

#[test]
fn a_box_is_measured() {
    let mut scene = scene();
    let start = scene.state.x.clone();
    let at = measure(&mut scene, &start);
    assert_eq!(at("inside [1]"), 1.0);
    // The floor alone, closed by a fan over its own rim, encloses nothing.
    assert_eq!(at("inside the lower half [1]"), 0.0);
    assert!((at("stretch.min [1]") - 1.0).abs() < 1e-12);
    assert!((at("stretch.max [1]") - 1.0).abs() < 1e-12);
    // Four springs of 2 N/m, each 0.5 m from its target.
    assert!((at("hand.z [N]") - 4.0).abs() < 1e-12 && at("hand.x [N]").abs() < 1e-12);
    assert!((at("thread [m]") - (2.0_f64.sqrt() - 1.4)).abs() < 1e-12);
    assert_eq!([at("heights.0 [m]"), at("heights.1 [m]")], [0.9, 1.1]);
    assert_eq!([at("places.7.y [m]"), at("places.0.z [m]")], [1.0, 0.0]);
    assert_eq!(at("speeds.1 [m/s]"), 1.0);
}

#[test]
fn a_box_that_is_stretched_and_sheared() {
    let mut scene = scene();
    let pulled: Vec<DVec3> = scene.state.x.iter().map(|p| *p * DVec3::new(1.0, 1.0, 2.0)).collect();
    let at = measure(&mut scene, &pulled);
    assert!((at("stretch.max [1]") - 2.0).abs() < 1e-12);
    assert!((at("stretch.min [1]") - 1.0).abs() < 1e-12);
    // Both balls are higher than the box now is: 1.8 m and 2.2 m of 2 m.
    assert_eq!(at("inside [1]"), 1.0);
    let sheared: Vec<DVec3> = scene.state.x.iter().map(|p| *p + DVec3::X * p.z).collect();
    let at = measure(&mut scene, &sheared);
    // Simple shear by 1: the principal stretches are the golden ratio and its inverse.
    let golden = 0.5 * (1.0 + 5.0_f64.sqrt());
    assert!((at("stretch.max [1]") - golden).abs() < 1e-12);
    assert!((at("stretch.min [1]") - 1.0 / golden).abs() < 1e-12);
}

#[test]
fn a_rim_moved_without_its_box_stretches_it() {
    let mut scene = scene();
    let mut x = scene.state.x.clone();
    for corner in &mut x[4..8] {
        corner.z = 0.5;
    }
    let at = measure(&mut scene, &x);
    assert!((at("stretch.min [1]") - 0.5).abs() < 1e-12);
    assert_eq!(at("inside [1]"), 0.0);
    assert!((at("hand.z [N]") - 8.0).abs() < 1e-12);
}

#[test]
fn targets_have_limits_in_their_own_units() {
    let scene = scene();
    let heights = scene.probes.list.iter().find(|p| p.name == "heights").unwrap();
    let [range, at] = &heights.targets[..] else { panic!("{:?}", heights.targets) };
    assert!((range.limits.at_most.unwrap() - 0.8e-3).abs() < 1e-15);
    assert_eq!(at.limits.at_least, Some(1.0));
    let rows = [(0.0, [0.0, 0.0]), (0.5, [1.0, 1.0]), (1.0, [1.0, 1.000_7])];
    let rows = || rows.iter().map(|(t, row)| (*t, &row[..]));
    assert!(range.judge(rows()).unwrap().met && at.judge(rows()).unwrap().met);
}

#[test]
fn a_condition_names_the_columns_that_break_it() {
    let scene = scene();
    let [open, fast] = &scene.requirements[..] else { panic!("{:?}", scene.requirements) };
    assert_eq!((open.step, fast.step), (1, 50));
    let (mut x, world) = (scene.state.x.clone(), &scene.model.world);
    assert_eq!(open.check(&x, &[], world), Ok(()));
    x[5].z = 0.05;
    x[7].z = -0.2;
    let wrong = open.check(&x, &[], world).unwrap_err();
    assert_eq!(
        wrong,
        "`open` does not hold at t = 0.0100 s: 2 of 4 columns do not rise along z: column 1 (`film` vertex 5 is \
         50.000 mm above `film` vertex 1), column 3 (`film` vertex 7 is -200.000 mm above `film` vertex 3)"
    );
    let columns = scene.probes.columns();
    let mut row = vec![3.0; columns.len()];
    assert_eq!(fast.check(&x, &row, world), Ok(()));
    *row.last_mut().unwrap() = 1.5;
    let wrong = fast.check(&x, &row, world).unwrap_err();
    assert!(wrong.contains("`speeds` is 1.5 m/s; it must be at least 2 m/s"), "{wrong}");
}
