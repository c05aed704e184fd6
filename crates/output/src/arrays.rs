//! NumPy arrays by role: all films in one array of positions and one of triangles, all spheres in one.
//!
//! ```text
//! times.npy      (F,)       seconds
//! film.npy       (F, V, 3)  positions of the vertices of all films, in metres
//! faces.npy      (T, 3)     int32, their triangles, as indices into film.npy
//! spheres.npy    (F, N, 3)  centres of all spheres
//! radii.npy      (N,)       their radii
//! bodies.json    which part of which array is which body
//! ```
//!
//! Solids, obstacles and points are `solid.npy`, `obstacle.npy` and `points.npy` with `solid-faces.npy` and
//! `obstacle-faces.npy`; where nothing in an array moves, it has one frame.

use std::path::{Path, PathBuf};

use glam::DVec3;
use serde_json::json;

use crate::body::{BodyInfo, Precision, Role, Source};
use crate::error::{At, OutputError, Result};
use crate::npy::{Element, NpyWriter, write_array};

/// An array of positions under way.
struct Group {
    members: Vec<usize>,
    moving: bool,
    writer: NpyWriter,
}

/// File name, role and file name of the triangles.
const GROUPS: [(&str, Role, Option<&str>); 5] = [
    ("film.npy", Role::Film, Some("faces.npy")),
    ("spheres.npy", Role::Spheres, None),
    ("solid.npy", Role::Solid, Some("solid-faces.npy")),
    ("obstacle.npy", Role::Obstacle, Some("obstacle-faces.npy")),
    ("points.npy", Role::Points, None),
];

/// Writes the frames `shown` of a run into the folder; returns the files.
pub(crate) fn write_arrays(
    source: &dyn Source,
    shown: &[usize],
    precision: Precision,
    dir: &Path,
) -> Result<Vec<PathBuf>> {
    let bodies = source.bodies();
    let (mut files, mut groups, mut described) = (Vec::new(), Vec::new(), Vec::new());
    for (name, role, faces) in GROUPS {
        let members: Vec<usize> = (0..bodies.len())
            .filter(|b| bodies[*b].role == role && bodies[*b].vertices > 0)
            .collect();
        if members.is_empty() {
            continue;
        }
        let (mut count, mut triangles, mut radii) = (0, Vec::new(), Vec::new());
        for b in &members {
            let BodyInfo { name: body, vertices, .. } = &bodies[*b];
            described
                .push(json!({ "body": body, "array": name, "first": count, "vertices": vertices }));
            triangles.extend(bodies[*b].faces.iter().map(|face| face.map(|v| v + count as u32)));
            radii.extend_from_slice(&bodies[*b].radii);
            count += vertices;
        }
        let path = dir.join(name);
        let moving = members.iter().any(|b| bodies[*b].moving);
        let writer = NpyWriter::create(&path, precision, &[count as u64, 3])?;
        groups.push(Group { members, moving, writer });
        files.push(path);
        if let Some(faces) = faces {
            files.push(dir.join(faces));
            let numbers = triangles.iter().flatten().flat_map(|i| i.cast_signed().to_le_bytes());
            let shape = [triangles.len() as u64, 3];
            write_array(&dir.join(faces), Element::I32, &shape, numbers)?;
        }
        if role == Role::Spheres {
            let path = dir.join("radii.npy");
            let numbers = radii.iter().flat_map(|r| r.to_le_bytes());
            write_array(&path, Element::F64, &[radii.len() as u64], numbers)?;
            files.push(path);
        }
    }
    let path = dir.join("times.npy");
    let mut times = NpyWriter::create(&path, Precision::F64, &[])?;
    files.push(path);
    for (i, k) in shown.iter().enumerate() {
        let frame = source.frame(*k)?;
        for group in groups.iter_mut().filter(|group| group.moving || i == 0) {
            let points = group.members.iter().flat_map(|b| &frame[*b]);
            group.writer.push(points.flat_map(DVec3::to_array))?;
        }
        times.push([source.times()[*k]])?;
    }
    let path = dir.join("bodies.json");
    let text = serde_json::to_string_pretty(&described)
        .map_err(|source| OutputError::Json { what: "the list of bodies", source })?;
    std::fs::write(&path, text + "\n").at("write the list of bodies", &path)?;
    files.push(path);
    Ok(files)
}
