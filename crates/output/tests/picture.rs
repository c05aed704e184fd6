//! Pictures: the same bytes for any number of threads, what is in front hides what is behind, and no input
//! brings the rasteriser down.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use glam::DVec3;
use gusset_output::{
    BodyInfo, Camera, ColourBy, ColourMap, Frames, Image, PictureOptions, Plane, Role, Scalars,
    contact_sheet, picture, spread,
};

fn square(z: f64, half: f64) -> Vec<DVec3> {
    [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]]
        .map(|[x, y]| DVec3::new(x * half, y * half, z))
        .to_vec()
}

fn sheet(name: &str, colour: [u8; 3]) -> BodyInfo {
    let mut body = BodyInfo::new(name, Role::Film, 4, vec![[0, 1, 2], [0, 2, 3]]);
    body.colour = Some(colour);
    body
}

/// A red sheet, a blue sphere above its middle, two frames of 0.1 s.
fn source() -> Frames {
    let mut ball = BodyInfo::new("ball", Role::Spheres, 1, Vec::new());
    ball.radii = vec![0.3];
    ball.colour = Some([20, 60, 230]);
    Frames {
        title: "test".to_owned(),
        bodies: vec![sheet("sheet", [230, 30, 20]), ball],
        times: vec![0.0, 0.1],
        phases: Vec::new(),
        positions: vec![
            vec![square(0.0, 1.0), vec![DVec3::new(0.0, 0.0, 0.6)]],
            vec![square(0.0, 1.0), vec![DVec3::new(0.0, 0.0, 0.5)]],
        ],
    }
}

fn small() -> PictureOptions {
    let mut options = PictureOptions::default();
    (options.width, options.height, options.samples) = (120, 90, 2);
    options.stamp = false;
    options
}

fn from_above() -> PictureOptions {
    let mut options = small();
    options.orbit.elevation = 90.0;
    options
}

fn at(image: &Image, x: usize, y: usize) -> [u8; 3] {
    image.pixels[y * image.width + x]
}

fn is_red([r, g, b]: [u8; 3]) -> bool {
    r > 100 && g < 90 && b < 90
}

fn is_blue([r, g, b]: [u8; 3]) -> bool {
    b > 100 && r < 120 && g < 140
}

#[test]
fn one_and_two_threads_draw_the_same_bytes() {
    let source = source();
    let draw = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| picture(&source, 0, &small()).unwrap())
    };
    let one = draw(1);
    assert_eq!(one, draw(2));
    assert_eq!(one, draw(5));
    assert_ne!(one, picture(&source, 1, &small()).unwrap());
}

#[test]
fn the_nearer_surface_is_seen() {
    let source = source();
    let image = picture(&source, 0, &from_above()).unwrap();
    assert!(is_blue(at(&image, 60, 45)), "{:?}", at(&image, 60, 45));
    assert!(is_red(at(&image, 60, 20)), "{:?}", at(&image, 60, 20));
    // From below the sheet hides the sphere; there is no ground to look through.
    let mut below = from_above();
    below.orbit.elevation = -90.0;
    let image = picture(&source, 0, &below).unwrap();
    assert!(!image.pixels.iter().any(|p| is_blue(*p)));
    let mut hidden = from_above();
    hidden.hide = vec!["ball".to_owned()];
    let image = picture(&source, 0, &hidden).unwrap();
    assert!(!image.pixels.iter().any(|p| is_blue(*p)));
}

#[test]
fn a_sphere_casts_a_shadow() {
    let mut source = source();
    source.bodies[1].radii = vec![0.2];
    // The sun stands 52 degrees high, so the shadow falls beside the sphere, on the sheet.
    let image = picture(&source, 0, &from_above()).unwrap();
    let red: Vec<u8> = image.pixels.iter().filter(|p| is_red(**p)).map(|p| p[0]).collect();
    let (dark, bright) = (*red.iter().min().unwrap(), *red.iter().max().unwrap());
    assert!(f64::from(dark) < 0.75 * f64::from(bright), "{dark} {bright}");
}

#[test]
fn values_colour_and_a_sheet_has_tiles() {
    let source = source();
    let mut options = from_above();
    options.lines = false;
    let values = vec![vec![0.0; 4], vec![1.0]];
    let label = "gap [mm]".to_owned();
    let map = ColourMap::Viridis;
    let scalars = Scalars { label, range: [0.0, 1.0], map, values };
    options.colour = ColourBy::Values(vec![scalars]);
    let image = picture(&source, 0, &options).unwrap();
    let [r, g, b] = at(&image, 60, 45);
    assert!(r > 150 && g > 150 && b < 120, "the top of the map is yellow: {r} {g} {b}");
    let [r, g, b] = at(&image, 60, 20);
    assert!(b > g && r > g, "its foot is violet: {r} {g} {b}");

    options.colour = ColourBy::Speed;
    let tiles = contact_sheet(&source, &[0, 1, 0], 0, &options).unwrap();
    assert_eq!((tiles.width, tiles.height), (2 * 120 + 3, 2 * 90 + 3));
    assert_eq!(spread(101, 5), [0, 25, 50, 75, 100]);
    assert_eq!(spread(2, 5), [0, 1]);
    assert_eq!(spread(7, 1), [6]);
    assert!(spread(0, 3).is_empty());
}

#[test]
fn any_input_draws() {
    let mut source = source();
    let mut slab = BodyInfo::new("slab", Role::Slab, 0, Vec::new());
    slab.plane = Some(Plane { point: DVec3::new(9.0, 9.0, -0.5), normal: DVec3::Z });
    source.bodies.push(slab);
    source.bodies.push(BodyInfo::new("dust", Role::Points, 3, Vec::new()));
    for frame in &mut source.positions {
        frame.push(Vec::new());
        frame.push(vec![DVec3::splat(0.1), DVec3::NAN, DVec3::new(0.3, f64::INFINITY, 0.0)]);
        frame[0][2] = DVec3::NAN;
    }
    picture(&source, 0, &small()).unwrap();
    // The eye inside the scene, with triangles on both sides of it.
    let mut options = small();
    options.camera = Some(Camera {
        eye: DVec3::new(0.0, 0.0, 0.05),
        target: DVec3::new(1.0, 0.2, 0.0),
        up: DVec3::Z,
        field_of_view: 60.0,
    });
    picture(&source, 1, &options).unwrap();
    options.camera.as_mut().unwrap().target = options.camera.unwrap().eye;
    picture(&source, 1, &options).unwrap();
    // Nothing that moves, nothing at all, no such frame, no pixels.
    for body in &mut source.bodies {
        body.moving = false;
    }
    picture(&source, 0, &small()).unwrap();
    let empty = Frames { times: vec![0.0], positions: vec![Vec::new()], ..Frames::default() };
    picture(&empty, 0, &small()).unwrap();
    assert!(picture(&source, 2, &small()).is_err());
    assert!(picture(&source, 0, &PictureOptions { width: 0, ..small() }).is_err());
    assert!(contact_sheet(&source, &[], 0, &small()).is_ok());
}
