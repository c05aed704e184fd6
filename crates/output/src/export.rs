//! Exports of a run: VTK for ParaView, USD and glTF for Blender and others, NumPy arrays, PLY and OBJ sequences.

use std::path::{Path, PathBuf};

use glam::DVec3;

use crate::arrays::write_arrays;
use crate::body::{BodyInfo, Precision, Role, Source};
use crate::error::{At, OutputError, Result};
use crate::gltf::write_glb;
use crate::mesh_files::{Piece, icosphere, write_obj, write_ply};
use crate::usd::write_usd;
use crate::vtk::{Part, write_pvd, write_vtu};

/// File format of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportFormat {
    /// One `.vtu` for each body and frame, and `run.pvd`, which ParaView opens. Spheres are points with a
    /// `radius`; every moving point has its `speed`.
    Vtk,
    /// One `.ply` a frame with all surfaces.
    Ply,
    /// One `.obj` a frame, an object for each body.
    Obj,
    /// `run.glb` with all frames as an animation: morph targets for what deforms, so for a few hundred frames
    /// at most; see [`glb_stride`].
    Glb,
    /// `run.usda` with a time sample for each frame; plays in real time at 24 frames a second.
    Usd,
    /// NumPy arrays by role: `film.npy` (F, V, 3), `faces.npy` (T, 3), `spheres.npy` (F, N, 3), `radii.npy` (N,),
    /// `times.npy` (F,) and others.
    Npy,
}

/// The stride at which a `.glb` has no more than some two hundred shapes, which programs still play well.
pub fn glb_stride(frame_count: usize) -> usize {
    frame_count.saturating_sub(1).div_ceil(200).max(1)
}

/// What is exported.
#[derive(Clone, Debug, PartialEq)]
pub struct ExportOptions {
    /// Format.
    pub format: ExportFormat,
    /// Every `stride`-th frame.
    pub stride: usize,
    /// PLY, OBJ and glTF: spheres as icospheres split so often; `None` leaves spheres out.
    pub sphere_levels: Option<u32>,
    /// NumPy arrays: how positions are stored.
    pub precision: Precision,
}

impl Default for ExportOptions {
    fn default() -> ExportOptions {
        ExportOptions {
            format: ExportFormat::Vtk,
            stride: 1,
            sphere_levels: Some(3),
            precision: Precision::F64,
        }
    }
}

/// Writes the frames into the folder `dir`, which is created; returns the files, the one to open first. Only
/// these files are replaced, whatever else the folder holds stays.
pub fn export(source: &dyn Source, dir: &Path, options: &ExportOptions) -> Result<Vec<PathBuf>> {
    if options.stride == 0 {
        return Err(OutputError::Shape("an export needs a stride of at least 1".to_owned()));
    }
    if let Some(levels @ 7..) = options.sphere_levels {
        return Err(OutputError::Shape(format!(
            "spheres split {levels} times would have {} triangles each; 6 is the limit",
            20_u64.saturating_mul(4_u64.saturating_pow(levels))
        )));
    }
    if source.times().is_empty() {
        return Err(OutputError::Shape("the run has no frame to export yet".to_owned()));
    }
    std::fs::create_dir_all(dir).at("create the export folder", dir)?;
    let shown: Vec<usize> = (0..source.times().len()).step_by(options.stride).collect();
    match options.format {
        ExportFormat::Vtk => export_vtk(source, dir, options),
        ExportFormat::Ply | ExportFormat::Obj => export_meshes(source, dir, options),
        ExportFormat::Npy => write_arrays(source, &shown, options.precision, dir),
        ExportFormat::Glb => {
            let path = dir.join("run.glb");
            write_glb(source, &shown, options.sphere_levels, &path)?;
            Ok(vec![path])
        }
        ExportFormat::Usd => {
            let path = dir.join("run.usda");
            write_usd(source, &shown, &path)?;
            Ok(vec![path])
        }
    }
}

fn export_vtk(source: &dyn Source, dir: &Path, options: &ExportOptions) -> Result<Vec<PathBuf>> {
    let (bodies, times) = (source.bodies(), source.times());
    let mut parts = Vec::new();
    let mut files = vec![dir.join("run.pvd")];
    for (frame, k) in (0..times.len()).step_by(options.stride).enumerate() {
        let positions = source.frame(k)?;
        let (before, after) = (k.saturating_sub(1), (k + 1).min(times.len() - 1));
        let (start, end) = (source.frame(before)?, source.frame(after)?);
        let dt = times[after] - times[before];
        for (b, body) in bodies.iter().enumerate().filter(|(_, body)| body.vertices > 0) {
            // A body that never moves is written once and named in every frame.
            let number = if body.moving { frame } else { 0 };
            let file = format!("body{b:02}-{number:05}.vtu");
            if body.moving || frame == 0 {
                let speed = |(p, q): (&DVec3, &DVec3)| {
                    if dt > 0.0 { ((*q - *p).length() / dt) as f32 } else { 0.0 }
                };
                let speeds: Vec<f32> = start[b].iter().zip(&end[b]).map(speed).collect();
                let radii: Vec<f32> = body.radii.iter().map(|r| *r as f32).collect();
                let mut scalars: Vec<(&str, &[f32])> = vec![("speed", &speeds)];
                if !radii.is_empty() {
                    scalars.push(("radius", &radii));
                }
                let path = dir.join(&file);
                write_vtu(&path, &positions[b], &body.faces, &scalars)?;
                files.push(path);
            }
            parts.push(Part { time: times[k], body: b, name: body.name.clone(), file });
        }
    }
    write_pvd(&files[0], &parts)?;
    Ok(files)
}

fn export_meshes(source: &dyn Source, dir: &Path, options: &ExportOptions) -> Result<Vec<PathBuf>> {
    let sphere = options.sphere_levels.map(icosphere);
    let mut files = Vec::new();
    for (frame, k) in (0..source.times().len()).step_by(options.stride).enumerate() {
        let positions = source.frame(k)?;
        let mut pieces = Vec::new();
        for (body, points) in source.bodies().iter().zip(&positions) {
            let round = matches!(body.role, Role::Spheres);
            if let (true, Some((unit, faces))) = (round, &sphere) {
                pieces.push(spheres(body, points, unit, faces));
            } else if !body.faces.is_empty() {
                let (points, faces) = (points.clone(), body.faces.clone());
                pieces.push(Piece { name: &body.name, points, faces });
            }
        }
        let obj = options.format == ExportFormat::Obj;
        let path = dir.join(format!("frame-{frame:05}.{}", if obj { "obj" } else { "ply" }));
        if obj {
            write_obj(&path, &pieces)?;
        } else {
            write_ply(&path, &pieces)?;
        }
        files.push(path);
    }
    Ok(files)
}

fn spheres<'a>(
    body: &'a BodyInfo,
    centres: &[DVec3],
    unit: &[DVec3],
    faces: &[[u32; 3]],
) -> Piece<'a> {
    let mut piece = Piece { name: &body.name, points: Vec::new(), faces: Vec::new() };
    for (centre, radius) in centres.iter().zip(&body.radii) {
        let first = piece.points.len() as u32;
        piece.points.extend(unit.iter().map(|p| *centre + *p * *radius));
        piece.faces.extend(faces.iter().map(|f| f.map(|v| v + first)));
    }
    piece
}
