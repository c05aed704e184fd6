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

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use glam::DVec3;
use serde::{Deserialize, Serialize};

use crate::body::{BodyInfo, Precision, RunInfo};
use crate::checkpoint::{self, Checkpoint, Marks};
use crate::error::{At, OutputError, Result, corrupt};
use crate::npy::{NpyWriter, write_faces, write_points};
use crate::restart;
use crate::run_reader::RunReader;
use crate::table::{header_line, row_line};

/// Format number in `run.json`; grows when an older reader would misread the folder.
pub(crate) const FORMAT: u64 = 1;
pub(crate) const RUN: &str = "run.json";
pub(crate) const SCENE: &str = "scene.toml";
pub(crate) const TIMES: &str = "times.npy";
pub(crate) const STEPS: &str = "steps.jsonl";
pub(crate) const PROBES: &str = "probes.csv";
pub(crate) const CHECKPOINTS: &str = "checkpoints";

/// `run.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Manifest {
    pub(crate) format: u64,
    pub(crate) gusset: String,
    #[serde(flatten)]
    pub(crate) info: RunInfo,
    /// Per body, file names inside the folder.
    pub(crate) files: Vec<BodyFiles>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct BodyFiles {
    pub(crate) positions: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) faces: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) rest: Option<String>,
}

impl BodyFiles {
    fn names(&self) -> impl Iterator<Item = &String> {
        std::iter::once(&self.positions).chain(&self.faces).chain(&self.rest)
    }
}

/// File names for the bodies: their names where those are plain and distinct.
pub(crate) fn body_files(bodies: &[BodyInfo]) -> Vec<BodyFiles> {
    let mut taken = BTreeSet::from(["times".to_owned()]);
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    let mut files = Vec::with_capacity(bodies.len());
    for body in bodies {
        let mut stem: String = body.name.chars().map(plain).collect();
        if stem.is_empty() || stem.starts_with('.') {
            stem.insert(0, '_');
        }
        let base = stem.clone();
        let mut copy = 1;
        // Lower case too: some file systems fold it.
        let all =
            |stem: &str| ["", "-faces", "-rest"].map(|end| format!("{stem}{end}").to_lowercase());
        while all(&stem).iter().any(|name| taken.contains(name)) {
            copy += 1;
            stem = format!("{base}-{copy}");
        }
        taken.extend(all(&stem));
        files.push(BodyFiles {
            positions: format!("{stem}.npy"),
            faces: (!body.faces.is_empty()).then(|| format!("{stem}-faces.npy")),
            rest: (!body.rest.is_empty()).then(|| format!("{stem}-rest.npy")),
        });
    }
    files
}

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

/// A text file that grows by whole lines.
#[derive(Debug)]
struct Lines {
    path: PathBuf,
    file: File,
    /// Bytes.
    length: u64,
    count: u64,
}

impl Lines {
    /// Opens the file to go on after its first `count` lines; what is behind them is cut off.
    fn open(path: PathBuf, count: u64) -> Result<Lines> {
        let length = length_of_lines(&path, count)?;
        let file = OpenOptions::new()
            .append(true)
            .create(true)
            .open(&path)
            .at("open the file to append to it", &path)?;
        file.set_len(length).at("cut the file", &path)?;
        Ok(Lines { path, file, length, count })
    }

    fn push(&mut self, line: &str) -> Result<()> {
        let written = self.file.write_all(line.as_bytes()).and_then(|()| self.file.flush());
        if let Err(source) = written {
            // Whole lines only: take back what a full disk let through.
            self.file.set_len(self.length).at("take back half a line", &self.path)?;
            return Err(source).at("append a line", &self.path);
        }
        self.length += line.len() as u64;
        self.count += 1;
        Ok(())
    }

    fn sync(&self) -> Result<()> {
        self.file.sync_data().at("flush the file", &self.path)
    }
}

/// Bytes of the first `count` lines of a file; a file that is not there has no line.
fn length_of_lines(path: &Path, count: u64) -> Result<u64> {
    if count == 0 {
        return Ok(0);
    }
    let text =
        if path.is_file() { std::fs::read(path).at("read the file", path)? } else { Vec::new() };
    let (mut length, mut found) = (0, 0);
    for line in text.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n")) {
        length += line.len() as u64;
        found += 1;
        if found == count {
            return Ok(length);
        }
    }
    Err(corrupt(path, format!("holds {found} whole lines, {count} are needed")))
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
        let lock = lock(dir)?;
        let manifest = reader.manifest;
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

    /// Writes what is still in memory (a run of no steps) and waits until all data has reached the disk.
    pub fn finish(mut self) -> Result<()> {
        self.begin()?.sync()
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
            let text = serde_json::to_string_pretty(&self.manifest)
                .map_err(|source| OutputError::Json { what: "run.json", source })?;
            std::fs::write(&path, text + "\n").at("write run.json", &path)?;
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

/// Reads `run.json`, checks its version and that its file names stay inside the folder.
pub(crate) fn read_manifest(dir: &Path) -> Result<Manifest> {
    let not_a_run = |reason: String| OutputError::NotARun { reason, dir: dir.to_path_buf() };
    if !dir.is_dir() {
        let reason = if dir.exists() { "it is a file" } else { "there is no such folder" };
        return Err(not_a_run(reason.to_owned()));
    }
    let path = dir.join(RUN);
    if !path.is_file() {
        return Err(not_a_run("it has no `run.json`".to_owned()));
    }
    let text = std::fs::read_to_string(&path).at("read run.json", &path)?;
    let value: serde_json::Value = serde_json::from_str(&text)
        .map_err(|e| not_a_run(format!("its `run.json` is damaged ({e})")))?;
    let Some(found) = value.get("format").and_then(serde_json::Value::as_u64) else {
        return Err(not_a_run("its `run.json` names no format, so it is not Gusset's".to_owned()));
    };
    if found != FORMAT {
        let gusset = value.get("gusset").and_then(|g| g.as_str()).unwrap_or("?").to_owned();
        return Err(OutputError::Version {
            found,
            expected: FORMAT,
            gusset,
            dir: dir.to_path_buf(),
        });
    }
    let manifest: Manifest = serde_json::from_value(value)
        .map_err(|e| not_a_run(format!("its `run.json` is damaged ({e})")))?;
    let scenes = manifest.info.restarts.iter().map(|restart| &restart.scene_before);
    for name in manifest.files.iter().flat_map(BodyFiles::names).chain(scenes) {
        if name.contains(['/', '\\', ':']) || name.starts_with('.') {
            return Err(not_a_run(format!("its `run.json` points out of the folder: `{name}`")));
        }
    }
    if manifest.files.len() != manifest.info.bodies.len() {
        return Err(not_a_run("its `run.json` has not one file for each body".to_owned()));
    }
    Ok(manifest)
}

/// Takes the folder's lock; it is given back when the file is dropped or the process ends.
pub(crate) fn lock(dir: &Path) -> Result<File> {
    let path = dir.join(RUN);
    let file = File::open(&path).at("open run.json", &path)?;
    match file.try_lock() {
        Err(std::fs::TryLockError::WouldBlock) => {
            Err(OutputError::Locked { dir: dir.to_path_buf() })
        }
        // Some network file systems have no locks; running there is better than not running.
        Ok(()) | Err(std::fs::TryLockError::Error(_)) => Ok(file),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_are_plain_and_distinct() {
        let names =
            ["cloth", "a/../b", "cloth", "Cloth", "times", "cloth-faces", "", ".hidden", "x"];
        let face = vec![[0, 1, 2]];
        let bodies: Vec<BodyInfo> =
            names.iter().map(|n| BodyInfo::new(*n, crate::Role::Film, 3, face.clone())).collect();
        let files = body_files(&bodies);
        let mut all: Vec<String> = files
            .iter()
            .flat_map(|f| [f.positions.clone(), f.faces.clone().unwrap()])
            .map(|n| n.to_lowercase())
            .collect();
        assert_eq!(files[0].positions, "cloth.npy");
        assert_eq!(files[1].positions, "a_.._b.npy");
        assert_eq!(files[7].positions, "_.hidden.npy");
        assert!(all.iter().all(|n| !n.contains('/') && n != "times.npy"));
        let count = all.len();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}
