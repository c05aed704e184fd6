//! Reading a run folder, finished or not.

use std::path::{Path, PathBuf};

use glam::DVec3;

use crate::body::{BodyInfo, Phase, RunInfo, Source};
use crate::error::{At, OutputError, Result, corrupt};
use crate::manifest::{Manifest, PROBES, SCENE, STEPS, TIMES, read_manifest};
use crate::npy::NpyFile;
use crate::table::Table;

/// A run folder opened for reading; frames are read when asked for.
#[derive(Clone, Debug)]
pub struct RunReader {
    dir: PathBuf,
    pub(crate) manifest: Manifest,
    positions: Vec<NpyFile>,
    times: Vec<f64>,
}

impl RunReader {
    /// Opens a run folder, also one that is still being written or whose run was killed.
    ///
    /// # Errors
    /// When the path is no run folder, was written in another format, or a file is missing or damaged.
    pub fn open(dir: &Path) -> Result<RunReader> {
        let mut manifest = read_manifest(dir)?;
        let array = |name: &str, what: &str| {
            let path = dir.join(name);
            if !path.is_file() {
                return Err(OutputError::Missing { what: what.to_owned(), path });
            }
            NpyFile::open(&path)
        };
        let mut positions = Vec::with_capacity(manifest.files.len());
        for (body, files) in manifest.info.bodies.iter_mut().zip(&manifest.files) {
            let name = &body.name;
            let file = array(&files.positions, &format!("the frames of body `{name}`"))?;
            if file.shape().len() != 3 || file.shape()[1..] != [body.vertices as u64, 3] {
                let (shape, n) = (file.shape(), body.vertices);
                let what = format!("the shape is {shape:?}, body `{name}` needs (frames, {n}, 3)");
                return Err(corrupt(&dir.join(&files.positions), what));
            }
            positions.push(file);
            if let Some(faces) = &files.faces {
                body.faces = array(faces, &format!("the faces of body `{name}`"))?.faces()?;
            }
            if let Some(rest) = &files.rest {
                body.rest = array(rest, &format!("the rest shape of body `{name}`"))?.rows()?;
            }
            body.check()?;
        }
        let times = array(TIMES, "the times of the frames")?;
        let frames = (positions.iter().zip(&manifest.info.bodies))
            .filter(|(_, body)| body.moving)
            .map(|(file, _)| file.frames())
            .fold(times.frames(), u64::min);
        let still = (positions.iter().zip(&manifest.info.bodies))
            .find(|(file, body)| !body.moving && frames > 0 && file.frames() == 0);
        if let Some((_, body)) = still {
            let what = format!("the only frame of body `{}`", body.name);
            return Err(OutputError::Missing { what, path: dir.to_path_buf() });
        }
        let times = times.read(0, frames)?;
        Ok(RunReader { dir: dir.to_path_buf(), manifest, positions, times })
    }

    /// The folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// What `run.json` says, bodies with their faces.
    pub fn info(&self) -> &RunInfo {
        &self.manifest.info
    }

    /// Version of Gusset that wrote the run.
    pub fn gusset_version(&self) -> &str {
        &self.manifest.gusset
    }

    /// What the run amounts to, as far as it was told at its end.
    pub fn summary(&self) -> Option<&serde_json::Value> {
        self.manifest.summary.as_ref()
    }

    /// Number of whole frames.
    pub fn frame_count(&self) -> usize {
        self.times.len()
    }

    /// Path of the resolved scene.
    pub fn scene_path(&self) -> PathBuf {
        self.dir.join(SCENE)
    }

    /// The certificates, one a step; a torn last line is left out.
    pub fn steps(&self) -> Result<Vec<serde_json::Value>> {
        let path = self.dir.join(STEPS);
        let text = std::fs::read_to_string(&path).at("read the step certificates", &path)?;
        let whole = &text[..text.rfind('\n').map_or(0, |end| end + 1)];
        let parse = |(i, line): (usize, &str)| {
            serde_json::from_str(line)
                .map_err(|e| corrupt(&path, format!("line {} is damaged ({e})", i + 1)))
        };
        whole.lines().enumerate().map(parse).collect()
    }

    /// The probe curves, where the run has any.
    pub fn probes(&self) -> Result<Option<Table>> {
        let path = self.dir.join(PROBES);
        if !path.is_file() {
            return Ok(None);
        }
        let text = std::fs::read_to_string(&path).at("read the probes", &path)?;
        Table::parse(&text).map(Some).map_err(|e| corrupt(&path, e.to_string()))
    }
}

impl Source for RunReader {
    fn title(&self) -> &str {
        &self.manifest.info.scene
    }

    fn bodies(&self) -> &[BodyInfo] {
        &self.manifest.info.bodies
    }

    fn times(&self) -> &[f64] {
        &self.times
    }

    fn phases(&self) -> &[Phase] {
        &self.manifest.info.phases
    }

    fn frame(&self, k: usize) -> Result<Vec<Vec<DVec3>>> {
        if k >= self.times.len() {
            let count = self.times.len();
            return Err(OutputError::Shape(format!(
                "frame {k} was asked for; the run has {count}: {}",
                self.dir.display()
            )));
        }
        (self.positions.iter().zip(&self.manifest.info.bodies))
            .map(|(file, body)| file.points(if body.moving { k as u64 } else { 0 }))
            .collect()
    }
}
