//! Candidates, rows and step bounds of the device against the CPU's.

use crate::device::device;
use glam::{DVec3, dvec3};
use gusset_contact::{
    Candidates, CollisionMesh, Detection as _, DetectionError, QueryError, StepMethod, StepRule,
    Sweep, step_bound,
};
use gusset_energy::Contacts;
use gusset_energy::check::Random;
use gusset_gpu::DeviceContact;

/// Layers of a wavy sheet of `n` by `n` cells, some of them fixed, with spheres between.
fn stack(n: u32, layers: u32) -> (CollisionMesh, Vec<DVec3>) {
    let mut random = Random::new(u64::from(n));
    let side = n + 1;
    let count = (side * side * layers) as usize;
    let spheres = 12 * layers as usize;
    let mut movable = vec![true; count + spheres];
    let mut x = Vec::new();
    let mut triangles = Vec::new();
    for i in 0..side {
        for j in 0..side {
            if i < n && j < n {
                let a = i * side + j;
                triangles.extend([[a, a + 1, a + side], [a + 1, a + side + 1, a + side]]);
            }
        }
    }
    for layer in 0..layers {
        for k in 0..side * side {
            let (u, v) = (f64::from(k / side), f64::from(k % side));
            let height = 0.05 * f64::from(layer) + random.within(-0.02, 0.02);
            x.push(dvec3(u + random.within(-0.2, 0.2), v, height) / f64::from(n));
        }
    }
    for _ in 0..spheres {
        let v = random.vector(0.5);
        x.push(dvec3(0.5 + v.x, 0.5 + v.y, 0.01 * v.z));
    }
    movable[..(side * side) as usize].fill(false);
    let mut mesh = CollisionMesh::new(movable, 1e-4);
    for layer in 0..layers {
        mesh.add_surface("sheet", layer * side * side, &triangles);
    }
    let radii: Vec<f64> = (0..spheres).map(|k| 0.004 + 1e-4 * k as f64).collect();
    mesh.add_spheres("spheres", count as u32, &radii);
    (mesh, x)
}

fn sweep<'a>(x: &'a [DVec3], x_end: &'a [DVec3], skin: f64, dhat: f64) -> Sweep<'a> {
    Sweep { x, x_end, skin, dhat, limit: usize::MAX }
}

fn missing(of: &[[u32; 2]], in_: &[[u32; 2]]) -> usize {
    of.iter().filter(|pair| in_.binary_search(pair).is_err()).count()
}

/// Not one pair of the CPU's is missing, from a first build of the trees and from refitted ones; and none is there that the
/// CPU lacks.
#[test]
fn no_candidate_is_missing() {
    let Some(checked) = device() else { return };
    for (n, layers) in [(1, 2), (3, 3), (20, 4)] {
        let (mesh, x) = stack(n, layers);
        let mut contact = DeviceContact::new(&checked.device).unwrap();
        let (mut on_device, mut on_cpu) = (Candidates::new(&mesh), Candidates::new(&mesh));
        let mut random = Random::new(2);
        let mut x = x;
        for round in 0..4 {
            let end: Vec<DVec3> = x
                .iter()
                .zip(&mesh.movable)
                .map(|(p, m)| {
                    let d = random.vector(0.02);
                    if *m { *p + dvec3(d.x, d.y, d.z) } else { *p }
                })
                .collect();
            let (skin, dhat) = (0.001, 0.004 * f64::from(round + 1));
            on_cpu.query(&mesh, &x, &end, skin, dhat, usize::MAX).unwrap();
            contact.query(&mesh, &sweep(&x, &end, skin, dhat), &mut on_device).unwrap();
            for ((_, e), (_, f)) in on_cpu.lists().into_iter().zip(on_device.lists()) {
                assert_eq!((missing(e, f), missing(f, e)), (0, 0), "{n} cells, round {round}");
                assert!(f.is_sorted_by(|a, b| a < b), "each once");
            }
            // The limit counts the same pairs on both sides.
            let all = on_cpu.len();
            for (limit, enough) in [(all, true), (all - 1, false)] {
                let sweep = Sweep { limit, ..sweep(&x, &end, skin, dhat) };
                let done = contact.query(&mesh, &sweep, &mut on_device);
                let too_many = Err(DetectionError::Query(QueryError::TooMany { limit }));
                assert_eq!(done, if enough { Ok(()) } else { too_many });
            }
            x = end;
        }
        assert!(!on_cpu.is_empty());
    }
}

#[test]
fn rows_and_step_bounds_are_those_of_the_cpu() {
    let Some(checked) = device() else { return };
    let (mesh, x) = stack(16, 3);
    // A kernel that sees little at once goes through the pairs in several parts.
    let part = DeviceContact::new(&checked.device.clone().with_storage_range(400_000)).unwrap();
    let mut contacts = vec![DeviceContact::new(&checked.device).unwrap(), part];
    let (mut on_device, mut on_cpu) = (Candidates::new(&mesh), Candidates::new(&mesh));
    let mut random = Random::new(8);
    for scale in [1e-4, 3e-3, 0.02] {
        let dx: Vec<DVec3> = mesh
            .movable
            .iter()
            .map(|m| {
                let d = random.vector(scale);
                if *m { dvec3(d.x, d.y, d.z) } else { DVec3::ZERO }
            })
            .collect();
        let end: Vec<DVec3> = x.iter().zip(&dx).map(|(x, d)| *x + *d).collect();
        let dhat = 0.005;
        on_cpu.query(&mesh, &x, &end, 0.0, dhat, usize::MAX).unwrap();
        let mut expected = Contacts::default();
        let smallest = on_cpu.rows(&mesh, &x, dhat, &mut expected);
        assert!(expected.rows.len() > 100, "{}", expected.rows.len());
        for contact in &mut contacts {
            contact.query(&mesh, &sweep(&x, &end, 0.0, dhat), &mut on_device).unwrap();
            let mut found = Contacts::default();
            let found_smallest = contact.rows(&mesh, &on_device, &x, dhat, &mut found).unwrap();
            assert_eq!(found_smallest.map(|s| s.pair), smallest.map(|s| s.pair));
            assert_eq!(found.rows.len(), expected.rows.len());
            let same = found.rows.iter().zip(&expected.rows).filter(|(f, e)| f == e).count();
            eprintln!("{same} of {} rows are the CPU's to the bit", found.rows.len());
            for (f, e) in found.rows.iter().zip(&expected.rows) {
                assert_eq!((f.vertices, f.kind, f.primitives), (e.vertices, e.kind, e.primitives));
                assert!((f.sine_squared - e.sine_squared).abs() <= 1e-12);
                assert!((f.gap - e.gap).abs() <= 1e-15 && f.normal.distance(e.normal) <= 1e-12);
                assert!(f.weights.iter().zip(e.weights).all(|(a, b)| (a - b).abs() <= 1e-12));
            }
        }
    }
}

/// Sheets that come near each other, none of which touches another at the start.
#[test]
fn step_bounds_are_those_of_the_cpu() {
    let Some(checked) = device() else { return };
    let (mut mesh, x) = stack(16, 3);
    mesh.spheres.clear();
    let part = DeviceContact::new(&checked.device.clone().with_storage_range(400_000)).unwrap();
    let mut contacts = vec![DeviceContact::new(&checked.device).unwrap(), part];
    let (mut on_device, mut on_cpu) = (Candidates::new(&mesh), Candidates::new(&mesh));
    let mut random = Random::new(8);
    let mut bounds = Vec::new();
    for scale in [1e-5, 1e-3, 3e-3, 0.02] {
        let dx: Vec<DVec3> = mesh
            .movable
            .iter()
            .map(|m| {
                let d = random.vector(scale);
                if *m { dvec3(d.x, d.y, d.z) } else { DVec3::ZERO }
            })
            .collect();
        let end: Vec<DVec3> = x.iter().zip(&dx).map(|(x, d)| *x + *d).collect();
        on_cpu.query(&mesh, &x, &end, 0.0, 0.005, usize::MAX).unwrap();
        for contact in &mut contacts {
            contact.query(&mesh, &sweep(&x, &end, 0.0, 0.005), &mut on_device).unwrap();
            for method in [StepMethod::SeparatingNormal, StepMethod::Additive] {
                let rule = StepRule { method, ..StepRule::default() };
                let expected = step_bound(&mesh, &on_cpu, &x, &dx, &rule);
                let found = contact.step_bound(&mesh, &on_device, &x, &dx, &rule).unwrap();
                let (f, e) = (found.alpha, expected.alpha);
                assert!((f - e).abs() <= 1e-12, "{method:?}: {f} and {e}");
                assert_eq!(found.limiting, expected.limiting, "{method:?}");
                bounds.push(f);
            }
        }
    }
    eprintln!("{bounds:?}");
    assert!(bounds.iter().any(|a| *a > 0.0 && *a < 1.0) && bounds.contains(&1.0), "{bounds:?}");
}

#[test]
fn degenerate_pairs_are_those_of_the_cpu() {
    let Some(checked) = device() else { return };
    let mut random = Random::new(12);
    let mut mesh = CollisionMesh::new(vec![true; 6 * 200], 0.0);
    let mut x = Vec::new();
    // Two triangles each on a coarse lattice: parallel, coplanar, touching, without area.
    for k in 0..200_u32 {
        let place = dvec3(10.0 * f64::from(k), 0.0, 0.0);
        for _ in 0..6 {
            let p = random.vector(2.49);
            x.push(place + dvec3(p.x.round(), p.y.round(), p.z.round()));
        }
        mesh.add_surface("a", 6 * k, &[[0, 1, 2]]);
        mesh.add_surface("b", 6 * k + 3, &[[0, 1, 2]]);
    }
    let mut on_cpu = Candidates::new(&mesh);
    let dhat = 3.0;
    on_cpu.query(&mesh, &x, &x, 0.0, dhat, usize::MAX).unwrap();
    let mut expected = Contacts::default();
    on_cpu.rows(&mesh, &x, dhat, &mut expected);
    let mut contact = DeviceContact::new(&checked.device).unwrap();
    let mut on_device = Candidates::new(&mesh);
    contact.query(&mesh, &sweep(&x, &x, 0.0, dhat), &mut on_device).unwrap();
    assert_eq!(on_device.lists(), on_cpu.lists());
    let mut found = Contacts::default();
    contact.rows(&mesh, &on_device, &x, dhat, &mut found).unwrap();
    assert_eq!(found.rows.len(), expected.rows.len());
    for (f, e) in found.rows.iter().zip(&expected.rows) {
        assert_eq!((f.gap, f.weights, f.normal), (e.gap, e.weights, e.normal));
    }
}
