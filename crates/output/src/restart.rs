//! Taking a run up again from an earlier state, with another scene if wanted.
//!
//! What has to change in the folder (newer checkpoints go, `run.json` and `scene.toml` are replaced, the scene
//! before is kept under another name, columns of `probes.csv` may change) is written to one file first. A kill
//! before that leaves the run as it was; a kill after it leaves a folder in which [`finish_restart`] does the
//! rest. Frames and lines after the checkpoint are cut off by [`crate::RunWriter::resume`], as always.

use std::io::Write as _;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::body::{BodyInfo, Restart, RunInfo};
use crate::checkpoint::{self, Checkpoint, sync_folder};
use crate::error::{At, OutputError, Result, corrupt};
use crate::manifest::{
    CHECKPOINTS, Manifest, PROBES, SCENE, lock, read_manifest, replace_manifest,
};
use crate::run_folder::covered;
use crate::run_reader::RunReader;
use crate::table::{Table, header_line, row_line};

/// What is still to be done.
pub(crate) const JOURNAL: &str = "restart.json";

#[derive(Debug, Serialize, Deserialize)]
struct Journal {
    step: u64,
    manifest: Manifest,
    scene: String,
    /// File name and text of the scene up to `step`, where it is another one.
    scene_before: Option<(String, String)>,
    /// Files that the record no longer names.
    remove: Vec<String>,
    /// Head of `probes.csv`; empty where the scene has no probes.
    columns: Vec<String>,
}

/// The newest checkpoint at or before `from` (seconds) that a run can continue from.
///
/// # Errors
/// When `dir` is no run folder or has no such checkpoint.
pub fn usable_checkpoint(dir: &Path, from: f64) -> Result<Checkpoint> {
    let manifest = read_manifest(dir)?;
    let tolerance = 1e-6 * manifest.info.dt;
    let (mut reasons, mut later) = (Vec::new(), Vec::new());
    for (_, path) in checkpoint::list(&dir.join(CHECKPOINTS))?.into_iter().rev() {
        let usable = checkpoint::read(&path)
            .and_then(|(state, marks)| covered(dir, &manifest, marks).map(|()| state));
        match usable {
            Ok(state) if state.time <= from + tolerance => return Ok(state),
            Ok(state) => later.push(state.time),
            Err(error) => reasons.push(error.to_string()),
        }
    }
    if later.is_empty() {
        let reason = if reasons.is_empty() {
            "the run was stopped before its first checkpoint".to_owned()
        } else {
            reasons.join("; ")
        };
        return Err(OutputError::NoCheckpoint { reason, dir: dir.to_path_buf() });
    }
    Err(OutputError::TooEarly { from, found: some_times(&later), dir: dir.to_path_buf() })
}

/// The earliest few of falling times, in words.
fn some_times(falling: &[f64]) -> String {
    let mut words: Vec<String> =
        falling.iter().rev().take(4).map(|time| format!("{time:.4} s")).collect();
    if falling.len() > 4 {
        words.push(format!("... {:.4} s", falling[0]));
    }
    words.join(", ")
}

/// The scene that the steps up to `step` were made with.
///
/// # Errors
/// When `dir` is no run folder or has no scene.
pub fn scene_at(dir: &Path, step: u64) -> Result<String> {
    let manifest = read_manifest(dir)?;
    let later = manifest.info.restarts.iter().find(|restart| restart.step >= step);
    let path = dir.join(later.map_or(SCENE, |restart| &*restart.scene_before));
    std::fs::read_to_string(&path).at("read the scene", &path)
}

/// Takes the run in `dir` back to the checkpoint of step `step`, to go on from there with `scene`, whose run is
/// described by `info`; `columns` is the head of its probes. `changes` are what is different in the scene, in words;
/// with none, the record stays as it is. What comes next is [`crate::RunWriter::resume`].
///
/// # Errors
/// When `dir` is no run folder, another process is writing it, it has no such checkpoint, or its frames can't be
/// continued with the new scene. The folder is then as it was.
pub fn restart(
    dir: &Path,
    step: u64,
    info: &RunInfo,
    scene: &str,
    columns: &[String],
    changes: Vec<String>,
) -> Result<()> {
    finish_restart(dir)?;
    let before = RunReader::open(dir)?.manifest;
    let _lock = lock(dir)?;
    same_frames(&before.info, info)?;
    let path = dir.join(CHECKPOINTS).join(checkpoint::file_name(step));
    let (state, marks) = checkpoint::read(&path)?;
    covered(dir, &before, marks)?;

    let scene_now = scene_at(dir, step)?;
    let (mut restarts, gone): (Vec<Restart>, Vec<Restart>) =
        before.info.restarts.iter().cloned().partition(|restart| restart.step < step);
    let scene_before =
        (scene_now != scene).then(|| (format!("scene-until-{step}.toml"), scene_now));
    if let Some((name, _)) = &scene_before {
        let scene_before = name.clone();
        restarts.push(Restart { step, time: state.time, changes, scene_before });
    }
    let kept = |name: &String| restarts.iter().any(|restart| restart.scene_before == *name);
    let remove = gone.into_iter().map(|r| r.scene_before).filter(|name| !kept(name)).collect();
    let journal = Journal {
        step,
        manifest: Manifest {
            gusset: env!("CARGO_PKG_VERSION").to_owned(),
            info: RunInfo { restarts, ..info.clone() },
            summary: None,
            ..before
        },
        scene: scene.to_owned(),
        scene_before,
        remove,
        columns: columns.to_vec(),
    };
    let text = serde_json::to_string(&journal)
        .map_err(|source| OutputError::Json { what: "the restart", source })?;
    replace(&dir.join(JOURNAL), text.as_bytes())?;
    apply(dir, &journal)
}

/// Does the rest of a [`restart`] that was interrupted; nothing where there is none.
///
/// # Errors
/// When another process is writing the run, or a file can't be replaced.
pub fn finish_restart(dir: &Path) -> Result<()> {
    let path = dir.join(JOURNAL);
    if !path.is_file() {
        return Ok(());
    }
    let _lock = lock(dir)?;
    let text = std::fs::read_to_string(&path).at("read the restart", &path)?;
    let journal = serde_json::from_str(&text)
        .map_err(|e| corrupt(&path, format!("the noted restart is damaged ({e})")))?;
    apply(dir, &journal)
}

/// Every step can be done twice, so a kill in between does no harm.
fn apply(dir: &Path, journal: &Journal) -> Result<()> {
    checkpoint::clear(&dir.join(CHECKPOINTS), Some(journal.step))?;
    if let Some((name, text)) = &journal.scene_before {
        replace(&dir.join(name), text.as_bytes())?;
    }
    let _lock = replace_manifest(dir, &journal.manifest)?;
    replace(&dir.join(SCENE), journal.scene.as_bytes())?;
    other_columns(dir, &journal.columns)?;
    for name in &journal.remove {
        let path = dir.join(name);
        if path.is_file() {
            std::fs::remove_file(&path).at("remove the scene of a part that is gone", &path)?;
        }
    }
    let path = dir.join(JOURNAL);
    std::fs::remove_file(&path).at("remove the noted restart", &path)?;
    sync_folder(dir).at("flush the run folder", dir)
}

/// Gives `probes.csv` other columns: values of those that stay are kept, of those that are new not known. The number
/// of lines stays, as checkpoints count them.
fn other_columns(dir: &Path, columns: &[String]) -> Result<()> {
    let path = dir.join(PROBES);
    if columns.is_empty() || !path.is_file() {
        return Ok(());
    }
    let text = std::fs::read_to_string(&path).at("read the probes", &path)?;
    let head = header_line(columns);
    if text.starts_with(&head) {
        return Ok(());
    }
    let old = Table::parse(&text).map_err(|e| corrupt(&path, e.to_string()))?;
    let new = Table::parse(&head)?.columns;
    let source: Vec<Option<usize>> =
        new.iter().map(|name| old.columns.iter().position(|c| c == name)).collect();
    let mut text = head;
    for row in &old.rows {
        let row: Vec<f64> = source.iter().map(|c| c.map_or(f64::NAN, |c| row[c])).collect();
        text += &row_line(&row);
    }
    replace(&path, text.as_bytes())
}

/// Writes a file under another name, flushes and renames it: it is there whole or not at all.
fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let temporary = path.with_extension("tmp");
    let save = || {
        let mut file = std::fs::File::create(&temporary)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&temporary, path)?;
        path.parent().map_or(Ok(()), sync_folder)
    };
    save().at("replace the file", path)
}

/// Whether frames of one description can be continued with those of another.
fn same_frames(old: &RunInfo, new: &RunInfo) -> Result<()> {
    let refuse = |what: String| {
        let rest = "which can't change within a run; keep it, or start a run of its own with --out";
        Err(OutputError::Shape(format!("{what}, {rest}")))
    };
    if old.dt != new.dt {
        return refuse(format!("`dt` was {} s and is {} s", old.dt, new.dt));
    }
    if old.frame_interval != new.frame_interval {
        let (was, is) = (old.frame_interval, new.frame_interval);
        return refuse(format!("frames were written every {was} steps and would be every {is}"));
    }
    if old.precision != new.precision {
        let (was, is) = (old.precision.name(), new.precision.name());
        return refuse(format!("frames were written as {was} and would be as {is}"));
    }
    let names = |info: &RunInfo| {
        let names: Vec<String> = info.bodies.iter().map(|b| format!("`{}`", b.name)).collect();
        names.join(", ")
    };
    if names(old) != names(new) {
        return refuse(format!("the bodies were {} and are {}", names(old), names(new)));
    }
    for (a, b) in old.bodies.iter().zip(&new.bodies) {
        if let Some(what) = other_body(a, b) {
            return refuse(format!("body `{}` has another {what} than before", a.name));
        }
    }
    Ok(())
}

/// What of a body differs that frames depend on. Colour and thickness may change.
fn other_body(a: &BodyInfo, b: &BodyInfo) -> Option<&'static str> {
    let differs = [
        (a.role != b.role, "role"),
        (a.vertices != b.vertices, "number of vertices"),
        (a.moving != b.moving, "part that moves"),
        (a.radii != b.radii, "radius"),
        (a.plane != b.plane, "plane"),
        (a.faces != b.faces, "mesh"),
        (a.rest != b.rest, "stress-free shape"),
    ];
    differs.into_iter().find(|(differs, _)| *differs).map(|(_, what)| what)
}
