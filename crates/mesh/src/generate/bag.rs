//! The bag of the Newton bag article, and the bin it stands in.

use glam::{DVec2, DVec3};

use super::{Diagonal, at_least, positive, revolve};
use crate::{Mesh, MeshError, Problem};

/// One ring of a [`bag`] (m).
#[derive(Clone, Debug, PartialEq)]
pub struct Ring {
    /// Radius; 0 for the first one, which is the centre vertex.
    pub radius: f64,
    /// Height in the stress-free shape.
    pub z: f64,
    /// Height at the start.
    pub start_z: f64,
    /// Name of a group for this ring, beside its number.
    pub name: Option<String>,
}

/// A bag: its stress-free shape, and where its vertices start.
#[derive(Clone, Debug, PartialEq)]
pub struct Bag {
    /// The stress-free shape.
    pub mesh: Mesh,
    /// Positions at the start (m): the bag with its upper part turned outward.
    pub start: Vec<DVec3>,
}

/// The 16 rings of the bag article's bag, whose neck is ring 11 and whose rim is ring 15: a bottom
/// of radius 60 mm, a wall that widens to 68 mm, and above the neck a flap of 30 mm.
///
/// Of the geometry the article gives the counts and the flap's length; the rest is our choice.
/// At the start everything above ring 9 (group `fold`) is turned inside out about the plane of
/// that ring: a mirror image, so every edge keeps its length.
pub fn bag_rings() -> Vec<Ring> {
    const MM: f64 = 1e3;
    let mut rings: Vec<[f64; 2]> = vec![[0.0, 0.0], [20.0, 0.0], [40.0, 0.0], [60.0, 0.0]];
    // (radius, length of the edge from the ring below), both in mm
    let wall = [
        [60.0, 19.0],
        [60.0, 19.0],
        [60.0, 19.0],
        [60.0, 19.0],
        [60.0, 19.0],
        [65.0, 19.0],
        [68.0, 14.0],
        [68.0, 14.0],
        [68.0, 7.5],
        [68.0, 7.5],
        [68.0, 7.5],
        [68.0, 7.5],
    ];
    for [radius, edge] in wall {
        let [below, z] = rings[rings.len() - 1];
        let widening: f64 = radius - below;
        rings.push([radius, z + (edge * edge - widening * widening).sqrt()]);
    }
    let fold = rings[9][1];
    let named = |k| match k {
        9 => Some("fold"),
        11 => Some("neck"),
        15 => Some("rim"),
        _ => None,
    };
    rings
        .iter()
        .enumerate()
        .map(|(k, &[radius, z])| Ring {
            radius: radius / MM,
            z: z / MM,
            start_z: if k > 9 { 2.0 * fold - z } else { z } / MM,
            name: named(k).map(str::to_owned),
        })
        .collect()
}

/// A bag from its rings, bottom centre first, with `columns` vertices a ring and outward normals
/// (in the stress-free shape). [`bag_rings`] with 32 columns gives 481 vertices and 928 triangles.
///
/// `refine` cuts every edge into that many: rings in between are interpolated, columns multiplied.
/// Groups keep their meaning: `ring-1` ... and `column-0` ... are the given rings and columns, a
/// ring also under its [`name`](Ring::name); `centre` is vertex 0. A column has the vertices of
/// all rings but the centre.
pub fn bag(rings: &[Ring], columns: u32, refine: u32) -> Result<Bag, MeshError> {
    at_least("the bag's number of rings, centre included,", rings.len() as u32, 2, "at least 2")?;
    at_least("the bag's refinement", refine, 1, "at least 1")?;
    if rings[0].radius != 0.0 {
        let (what, found) = ("the radius of the bag's first ring", rings[0].radius.to_string());
        return Err(Problem::BadSize { what, found, expected: "0, the centre" }.into());
    }
    let total_columns = u64::from(columns) * u64::from(refine);
    let total_rings = (rings.len() as u64 - 1) * u64::from(refine) + 1;
    super::check_counts(u128::from(total_columns) * u128::from(total_rings), 0)?;
    let (total_columns, total_rings) = (total_columns as u32, total_rings as u32);

    let mut fine: Vec<[f64; 3]> = Vec::with_capacity(total_rings as usize);
    let shape = |ring: &Ring| [ring.radius, ring.z, ring.start_z];
    fine.push(shape(&rings[0]));
    for pair in rings.windows(2) {
        let (low, high) = (shape(&pair[0]), shape(&pair[1]));
        for part in 1..refine {
            let t = f64::from(part) / f64::from(refine);
            fine.push([0, 1, 2].map(|i| low[i] + t * (high[i] - low[i])));
        }
        fine.push(high);
    }

    let profile =
        |z: usize| fine.iter().map(|ring| DVec2::new(ring[0], ring[z])).collect::<Vec<_>>();
    let mut mesh = revolve(&profile(1), total_columns, Diagonal::Alternating)?;
    let start = revolve(&profile(2), total_columns, Diagonal::Alternating)?.positions;

    let mut add = |name: String, group: Vec<u32>| {
        mesh.groups.insert(name, group);
    };
    add("centre".to_owned(), vec![0]);
    let first_of = |ring: u32| 1 + (ring - 1) * total_columns;
    for (k, ring) in rings.iter().enumerate().skip(1) {
        let first = first_of(k as u32 * refine);
        let group: Vec<u32> = (first..first + total_columns).collect();
        if let Some(name) = &ring.name {
            add(name.clone(), group.clone());
        }
        add(format!("ring-{k}"), group);
    }
    for k in 0..columns {
        let column = (1..total_rings).map(|ring| first_of(ring) + k * refine).collect();
        add(format!("column-{k}"), column);
    }
    Ok(Bag { mesh, start })
}

/// A bin: a closed solid of revolution with a cavity, `columns` corners around, outward normals.
///
/// `outer` and `inner` are the radii of its wall, `bottom` and `top` its ends, `floor` the height
/// of the cavity's floor, all in metres. Groups: `rim` (the upper edges of the wall, outer and
/// inner) and `floor` (the cavity's floor with its centre).
pub fn bin(
    outer: f64,
    inner: f64,
    bottom: f64,
    floor: f64,
    top: f64,
    columns: u32,
) -> Result<Mesh, MeshError> {
    positive("the bin's inner radius", inner)?;
    positive("the thickness of the bin's wall (outer minus inner radius)", outer - inner)?;
    positive("the thickness of the bin's floor (floor minus bottom)", floor - bottom)?;
    positive("the depth of the bin (top minus floor)", top - floor)?;
    let profile = [
        DVec2::new(0.0, bottom),
        DVec2::new(outer, bottom),
        DVec2::new(outer, top),
        DVec2::new(inner, top),
        DVec2::new(inner, floor),
        DVec2::new(0.0, floor),
    ];
    let mut mesh = revolve(&profile, columns, Diagonal::Alternating)?;
    let ring = |k: u32| 1 + k * columns;
    mesh.groups.insert("rim".to_owned(), (ring(1)..ring(3)).collect());
    mesh.groups.insert("floor".to_owned(), (ring(3)..=ring(4)).collect());
    Ok(mesh)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{measure, measure::total_area};

    fn article() -> Bag {
        bag(&bag_rings(), 32, 1).unwrap()
    }

    #[test]
    fn counts_and_groups_of_the_article() {
        let Bag { mesh, start } = article();
        mesh.check().unwrap();
        mesh.check_coincident().unwrap();
        assert_eq!((mesh.positions.len(), start.len(), mesh.triangles.len()), (481, 481, 928));
        assert_eq!(mesh.groups["neck"], (321..=352).collect::<Vec<_>>());
        assert_eq!(mesh.groups["rim"], (449..=480).collect::<Vec<_>>());
        assert_eq!(mesh.groups["ring-1"], (1..=32).collect::<Vec<_>>());
        assert_eq!(mesh.groups["column-3"][..2], [4, 36]);
        let topology = mesh.topology().unwrap();
        assert_eq!(topology.euler_characteristic(&mesh.triangles), 1);
        assert_eq!(topology.boundary_edges.len(), 32);
    }

    #[test]
    fn heights_and_lengths() {
        let Bag { mesh, start } = article();
        // Ring, height of the stress-free shape and at the start [mm].
        for (ring, z, start_z) in [
            (3, 0.0, 0.0),
            (8, 95.0, 95.0),
            (9, 113.330, 113.330),
            (10, 127.005, 99.656),
            (11, 141.005, 85.656),
            (15, 171.005, 55.656),
        ] {
            let v = mesh.groups[&format!("ring-{ring}")][0] as usize;
            assert!((mesh.positions[v].z * 1e3 - z).abs() < 5e-4, "ring {ring}");
            assert!((start[v].z * 1e3 - start_z).abs() < 1e-3, "ring {ring}");
        }
        for k in 0..32 {
            let column = &mesh.groups[&format!("column-{k}")];
            let length = |range: std::ops::Range<usize>| -> f64 {
                let x = |i: usize| mesh.positions[column[i] as usize];
                range.map(|i| (x(i + 1) - x(i)).length()).sum()
            };
            assert!((length(10..14) - 0.030).abs() < 1e-15, "neck to rim");
            assert!((length(2..10) - 0.142).abs() < 1e-15, "edge of the bottom to the neck");
        }
        let mass = total_area(&mesh.positions, &mesh.triangles) * 0.02775;
        assert!((mass * 1e3 - 2.194).abs() < 5e-4, "{mass}");
    }

    #[test]
    fn folding_keeps_every_edge_length_and_only_turns_the_fold() {
        for refine in [1, 2] {
            let Bag { mesh, start } = bag(&bag_rings(), 32, refine).unwrap();
            for [a, b] in mesh.topology().unwrap().edges {
                let length = |x: &[DVec3]| (x[a as usize] - x[b as usize]).length();
                let strain = length(&start) / length(&mesh.positions) - 1.0;
                assert!(strain.abs() < 1e-12, "edge ({a}, {b}): {strain}");
            }
        }
    }

    #[test]
    fn normals_point_outward() {
        let Bag { mesh, .. } = article();
        let normal = |t: [u32; 3]| {
            let [a, b, c] = t.map(|v| mesh.positions[v as usize]);
            ((b - a).cross(c - a), (a + b + c) / 3.0)
        };
        for (i, &t) in mesh.triangles.iter().enumerate() {
            let (n, at) = normal(t);
            if i < 160 {
                assert!(n.z < 0.0, "bottom triangle {i}");
            } else {
                assert!(n.x * at.x + n.y * at.y > 0.0, "wall triangle {i}");
            }
        }
    }

    #[test]
    fn refined_bags_keep_their_groups() {
        let coarse = article();
        let fine = bag(&bag_rings(), 32, 2).unwrap();
        fine.mesh.check().unwrap();
        assert_eq!(fine.mesh.positions.len(), 1 + 30 * 64);
        assert_eq!(fine.mesh.groups.len(), coarse.mesh.groups.len());
        for (name, group) in &coarse.mesh.groups {
            let first =
                |bag: &Bag, name: &str| bag.mesh.positions[bag.mesh.groups[name][0] as usize];
            if name.starts_with("column") {
                let last = |bag: &Bag| bag.start[*bag.mesh.groups[name].last().unwrap() as usize];
                assert!((last(&coarse) - last(&fine)).length() < 1e-15, "{name}");
            } else {
                assert_eq!(first(&coarse, name), first(&fine, name), "{name}");
                assert!(fine.mesh.groups[name].len() >= group.len());
            }
        }
    }

    #[test]
    fn bin_is_a_closed_cup_of_130_vertices() {
        let mesh = bin(65.5e-3, 64e-3, 1e-3, 3e-3, 107e-3, 32).unwrap();
        mesh.check().unwrap();
        assert_eq!(mesh.positions.len(), 130);
        let topology = mesh.topology().unwrap();
        assert!(topology.is_closed());
        assert_eq!(topology.euler_characteristic(&mesh.triangles), 2);
        let polygon = 16.0 * (std::f64::consts::TAU / 32.0).sin();
        let expected = polygon * (65.5e-3f64.powi(2) * 106e-3 - 64e-3f64.powi(2) * 104e-3);
        let volume = measure::enclosed_volume(&mesh.positions, &mesh.triangles);
        assert!((volume / expected - 1.0).abs() < 1e-12, "{volume}");
        assert_eq!(mesh.groups["floor"].len(), 33);
        assert!(bin(64e-3, 65.5e-3, 0.0, 1.0, 2.0, 32).is_err());
    }

    #[test]
    fn too_many_columns_are_refused() {
        assert!(bag(&bag_rings(), 1_000_000_000, 7).is_err());
        assert!(bag(&bag_rings()[1..], 32, 1).is_err());
        assert!(bag(&bag_rings(), 32, 0).is_err());
    }
}
