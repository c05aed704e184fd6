//! Writing a run folder.
//!
//! ```text
//! run.json            scene, clock, bodies (names, roles, vertex counts, radii, colours, file names), version
//! scene.toml          the resolved scene
//! times.npy           (frames,) time of each frame
//! <body>.npy          (frames, n, 3) positions; a body that can't move has one frame
//! <body>-faces.npy    (m, 3) triangles
//! <body>-rest.npy     (n, 3) stress-free positions of a film
//! steps.jsonl         one certificate a step
//! probes.csv          probe curves
//! checkpoints/        states, bit for bit: those of whole intervals, and the last two
//! ```
//!
//! The folder can be read after a kill at any moment, and a resumed run leaves the same bytes as one that
//! was never interrupted: a checkpoint records how far the growing files had come, and resuming cuts them
//! back to it.

use std::fs::File;
use std::path::{Path, PathBuf};

use glam::DVec3;
use serde::Serialize;

use crate::body::{BodyInfo, Precision, RunInfo};
use crate::checkpoint::{self, Checkpoint, Marks};
use crate::error::{At, OutputError, Result, corrupt};
use crate::lines::{Lines, length_of_lines};
use crate::manifest::{
    BodyFiles, CHECKPOINTS, FORMAT, Manifest, PROBES, RUN, SCENE, STEPS, TIMES, body_files, lock,
    read_manifest, replace_manifest,
};
use crate::npy::{NpyWriter, write_faces, write_points};
use crate::restart;
use crate::run_reader::RunReader;
use crate::table::{header_line, row_line};

/// Writes a run folder. Nothing touches the disk before the first step is recorded, so a run that fails
/// before it leaves nothing behind.
#[derive(Debug)]
pub struct RunWriter {
    dir: PathBuf,
    manifest: Manifest,
    scene: String,
    replace: bool,
    /// What was written before the first step.
    early: Early,
    files: Option<Files>,
}

#[derive(Debug, Default)]
struct Early {
    frames: Vec<(f64, Vec<Vec<DVec3>>)>,
    header: Option<Vec<String>>,
    rows: Vec<Vec<f64>>,
    checkpoint: Option<Checkpoint>,
}

/// Open files of the folder.
#[derive(Debug)]
struct Files {
    /// Held open: it carries the lock that keeps a second writer out.
    _lock: File,
    times: NpyWriter,
    bodies: Vec<NpyWriter>,
    steps: Lines,
    probes: Option<Lines>,
}

impl RunWriter {
    /// Prepares a run in `dir`. `scene` is the text of the resolved scene.
    ///
    /// # Errors
    /// When the folder holds anything and `force` is false; with `force`, when what it holds is not a run,
    /// or another process is writing it. An old run is removed at the first step, not before.
    pub fn create(dir: &Path, info: &RunInfo, scene: &str, force: bool) -> Result<RunWriter> {
        for body in &info.bodies {
            body.check()?;
        }
        let mut replace = false;
        if dir.exists() && !dir.is_dir() {
            let reason = "it is a file".to_owned();
            return Err(OutputError::NotARun { reason, dir: dir.to_path_buf() });
        }
        if dir.is_dir() && dir.read_dir().at("list the output folder", dir)?.next().is_some() {
            if !force {
                return Err(OutputError::NotEmpty { dir: dir.to_path_buf() });
            }
            read_manifest(dir)
                .map_err(|_| OutputError::ForeignFolder { dir: dir.to_path_buf() })?;
            drop(lock(dir)?);
            replace = true;
        }
        let manifest = Manifest {
            format: FORMAT,
            gusset: env!("CARGO_PKG_VERSION").to_owned(),
            info: info.clone(),
            files: body_files(&info.bodies),
            summary: None,
        };
        let early = Early::default();
        Ok(RunWriter {
            dir: dir.to_path_buf(),
            manifest,
            scene: scene.to_owned(),
            replace,
            early,
            files: None,
        })
    }

    /// Continues the run in `dir` from its newest usable checkpoint. Frames, `steps.jsonl` and `probes.csv`
    /// are cut back to it.
    ///
    /// # Errors
    /// When `dir` is no run folder, another process is writing it, or no checkpoint can be used.
    pub fn resume(dir: &Path) -> Result<(RunWriter, Checkpoint)> {
        let reader = RunReader::open(dir)?;
        let mut lock = lock(dir)?;
        let mut manifest = reader.manifest;
        let folder = dir.join(CHECKPOINTS);
        let mut reasons = Vec::new();
        for (step, path) in checkpoint::list(&folder)?.into_iter().rev() {
            let usable = checkpoint::read(&path)
                .and_then(|(state, marks)| covered(dir, &manifest, marks).map(|()| (state, marks)));
            let (state, marks) = match usable {
                Ok(found) => found,
                Err(e) => {
                    reasons.push(e.to_string());
                    continue;
                }
            };
            checkpoint::clear(&folder, Some(step))?;
            // What was said of the whole run no longer holds.
            if manifest.summary.take().is_some() {
                lock = replace_manifest(dir, &manifest)?;
            }
            let bodies = (manifest.files.iter().zip(&manifest.info.bodies))
                .map(|(file, body)| {
                    let frames = if body.moving { marks.frames } else { marks.frames.min(1) };
                    NpyWriter::resume(&dir.join(&file.positions), frames)
                })
                .collect::<Result<_>>()?;
            let probes = dir.join(PROBES);
            if marks.probes == 0 && probes.exists() {
                std::fs::remove_file(&probes).at("remove the probes file", &probes)?;
            }
            let files = Files {
                _lock: lock,
                times: NpyWriter::resume(&dir.join(TIMES), marks.frames)?,
                bodies,
                steps: Lines::open(dir.join(STEPS), marks.steps)?,
                probes: (marks.probes > 0)
                    .then(|| Lines::open(probes, marks.probes))
                    .transpose()?,
            };
            let writer = RunWriter {
                dir: dir.to_path_buf(),
                manifest,
                scene: String::new(),
                replace: false,
                early: Early::default(),
                files: Some(files),
            };
            return Ok((writer, state));
        }
        let reason = if reasons.is_empty() {
            "the run was stopped before its first checkpoint".to_owned()
        } else {
            reasons.join("; ")
        };
        Err(OutputError::NoCheckpoint { reason, dir: dir.to_path_buf() })
    }

    /// The folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// What `run.json` says.
    pub fn info(&self) -> &RunInfo {
        &self.manifest.info
    }

    /// Frames written so far.
    pub fn frames(&self) -> u64 {
        self.files.as_ref().map_or(self.early.frames.len() as u64, |f| f.times.frames())
    }

    /// Writes a frame: the positions of each body in metres, in the order of [`RunInfo::bodies`], at `time`
    /// in seconds. Of a body that can't move only the first frame is stored.
    pub fn write_frame(&mut self, positions: &[&[DVec3]], time: f64) -> Result<()> {
        let bodies = &self.manifest.info.bodies;
        let fits = positions.len() == bodies.len()
            && positions.iter().zip(bodies).all(|(p, b)| p.len() == b.vertices);
        if !fits {
            let found: Vec<usize> = positions.iter().map(|p| p.len()).collect();
            let wanted: Vec<usize> = bodies.iter().map(|b| b.vertices).collect();
            return Err(OutputError::Shape(format!(
                "a frame with {found:?} vertices per body; the run has {wanted:?}"
            )));
        }
        let Some(files) = &mut self.files else {
            let positions = positions.iter().map(|p| p.to_vec()).collect();
            self.early.frames.push((time, positions));
            return Ok(());
        };
        files.write_frame(bodies, positions, time)
    }

    /// Appends the certificate of a step to `steps.jsonl`. The first one creates the folder.
    pub fn write_step(&mut self, record: &impl Serialize) -> Result<()> {
        let mut line = serde_json::to_string(record)
            .map_err(|source| OutputError::Json { what: "the step certificate", source })?;
        line.push('\n');
        self.begin()?.steps.push(&line)
    }

    /// Names the probe columns, once; the first is the time in seconds. Name units in brackets: `gap [mm]`.
    pub fn write_probes_header(&mut self, columns: &[impl AsRef<str>]) -> Result<()> {
        let Some(files) = &mut self.files else {
            self.early.header = Some(columns.iter().map(|c| c.as_ref().to_owned()).collect());
            return Ok(());
        };
        if files.probes.is_none() {
            let mut lines = Lines::open(self.dir.join(PROBES), 0)?;
            lines.push(&header_line(columns))?;
            files.probes = Some(lines);
        }
        Ok(())
    }

    /// Whether the probe columns have been named.
    pub fn has_probes(&self) -> bool {
        self.files.as_ref().map_or(self.early.header.is_some(), |files| files.probes.is_some())
    }

    /// Appends a row of probe values.
    pub fn write_probes(&mut self, row: &[f64]) -> Result<()> {
        match &mut self.files {
            None if self.early.header.is_some() => {
                self.early.rows.push(row.to_vec());
                Ok(())
            }
            Some(Files { probes: Some(lines), .. }) => lines.push(&row_line(row)),
            _ => Err(OutputError::Shape("probe values before the probe columns".to_owned())),
        }
    }

    /// Writes a checkpoint, after everything that came before it has reached the disk.
    pub fn write_checkpoint(&mut self, state: &Checkpoint) -> Result<()> {
        let dir = self.dir.join(CHECKPOINTS);
        let Some(files) = &mut self.files else {
            self.early.checkpoint = Some(state.clone());
            return Ok(());
        };
        files.sync()?;
        checkpoint::write(&dir, state, files.marks(), self.manifest.info.checkpoint_interval)
    }

    /// Writes what is still in memory (a run of no steps) and waits until all data has reached the disk. What the run
    /// amounts to, where `summary` says it, becomes part of `run.json`.
    pub fn finish(mut self, summary: Option<serde_json::Value>) -> Result<()> {
        self.begin()?.sync()?;
        if summary.is_some() {
            self.manifest.summary = summary;
            replace_manifest(&self.dir, &self.manifest)?;
        }
        Ok(())
    }

    /// Creates the folder and writes what came before the first step.
    fn begin(&mut self) -> Result<&mut Files> {
        if self.files.is_none() {
            let dir = &self.dir;
            if self.replace {
                remove_run(dir)?;
            }
            std::fs::create_dir_all(dir.join(CHECKPOINTS)).at("create the run folder", dir)?;
            // First of all, so that a folder with any of our files is known as ours.
            let path = dir.join(RUN);
            std::fs::write(&path, self.manifest.text()?).at("write run.json", &path)?;
            let lock = lock(dir)?;
            let path = dir.join(SCENE);
            std::fs::write(&path, &self.scene).at("write the scene", &path)?;

            let Manifest { info, files: names, .. } = &self.manifest;
            let mut bodies = Vec::with_capacity(names.len());
            for (names, body) in names.iter().zip(&info.bodies) {
                if let Some(faces) = &names.faces {
                    write_faces(&dir.join(faces), &body.faces)?;
                }
                if let Some(rest) = &names.rest {
                    write_points(&dir.join(rest), &body.rest)?;
                }
                let shape = [body.vertices as u64, 3];
                bodies.push(NpyWriter::create(
                    &dir.join(&names.positions),
                    info.precision,
                    &shape,
                )?);
            }
            let mut files = Files {
                _lock: lock,
                times: NpyWriter::create(&dir.join(TIMES), Precision::F64, &[])?,
                bodies,
                steps: Lines::open(dir.join(STEPS), 0)?,
                probes: None,
            };
            let early = std::mem::take(&mut self.early);
            if let Some(header) = early.header {
                let mut lines = Lines::open(dir.join(PROBES), 0)?;
                lines.push(&header_line(&header))?;
                for row in early.rows {
                    lines.push(&row_line(&row))?;
                }
                files.probes = Some(lines);
            }
            for (time, positions) in &early.frames {
                let positions: Vec<&[DVec3]> = positions.iter().map(Vec::as_slice).collect();
                files.write_frame(&info.bodies, &positions, *time)?;
            }
            if let Some(state) = early.checkpoint {
                files.sync()?;
                let interval = info.checkpoint_interval;
                checkpoint::write(&dir.join(CHECKPOINTS), &state, files.marks(), interval)?;
            }
            self.files = Some(files);
        }
        Ok(self.files.as_mut().expect("set just above"))
    }
}

impl Files {
    fn write_frame(
        &mut self,
        bodies: &[BodyInfo],
        positions: &[&[DVec3]],
        time: f64,
    ) -> Result<()> {
        let frame = self.times.frames();
        for ((file, body), positions) in self.bodies.iter_mut().zip(bodies).zip(positions) {
            // A frame that failed half-way (disk full) may have left this body one ahead.
            let wanted = if body.moving { frame } else { 0 };
            if file.frames() == wanted {
                file.push_points(positions)?;
            }
        }
        // Last: a frame counts once its time is there.
        self.times.push([time])
    }

    fn marks(&self) -> Marks {
        Marks {
            frames: self.times.frames(),
            steps: self.steps.count,
            probes: self.probes.as_ref().map_or(0, |p| p.count),
        }
    }

    fn sync(&mut self) -> Result<()> {
        self.times.sync()?;
        for body in &mut self.bodies {
            body.sync()?;
        }
        self.steps.sync()?;
        self.probes.as_ref().map_or(Ok(()), Lines::sync)
    }
}

/// Whether the growing files reach as far as the checkpoint says.
pub(crate) fn covered(dir: &Path, manifest: &Manifest, marks: Marks) -> Result<()> {
    let mut arrays = vec![(dir.join(TIMES), marks.frames)];
    for (file, body) in manifest.files.iter().zip(&manifest.info.bodies) {
        let frames = if body.moving { marks.frames } else { marks.frames.min(1) };
        arrays.push((dir.join(&file.positions), frames));
    }
    for (path, frames) in arrays {
        let found = crate::npy::NpyFile::open(&path)?.frames();
        if found < frames {
            return Err(corrupt(&path, format!("holds {found} whole frames, {frames} are needed")));
        }
    }
    for (name, count) in [(STEPS, marks.steps), (PROBES, marks.probes)] {
        length_of_lines(&dir.join(name), count)?;
    }
    Ok(())
}

/// Removes the files of the run in `dir`, and nothing else. `run.json` goes last, so that a kill in between
/// leaves a folder that is still known as a run.
fn remove_run(dir: &Path) -> Result<()> {
    let _lock = lock(dir)?;
    let manifest = read_manifest(dir)?;
    let checkpoints = dir.join(CHECKPOINTS);
    checkpoint::clear(&checkpoints, None)?;
    let mut names = vec![SCENE, TIMES, STEPS, PROBES, restart::JOURNAL];
    names.extend(manifest.files.iter().flat_map(BodyFiles::names).map(String::as_str));
    names.extend(manifest.info.restarts.iter().map(|restart| &*restart.scene_before));
    names.push(RUN);
    for name in names {
        let path = dir.join(name);
        if path.is_file() {
            std::fs::remove_file(&path).at("remove a file of the old run", &path)?;
        }
    }
    // Stays where it holds somebody's files.
    std::fs::remove_dir(&checkpoints).ok();
    Ok(())
}
