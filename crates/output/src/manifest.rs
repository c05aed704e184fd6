//! `run.json`: what a run folder holds, and the lock on it.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::body::{BodyInfo, RunInfo};
use crate::checkpoint::sync_folder;
use crate::error::{At, OutputError, Result};

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
    /// What the run amounts to, as far as it was told at its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) summary: Option<serde_json::Value>,
}

impl Manifest {
    pub(crate) fn text(&self) -> Result<String> {
        let text = serde_json::to_string_pretty(self)
            .map_err(|source| OutputError::Json { what: "run.json", source })?;
        Ok(text + "\n")
    }
}

/// Replaces `run.json`, whose lock is held; returns the lock on the new file, which is taken before it is there.
pub(crate) fn replace_manifest(dir: &Path, manifest: &Manifest) -> Result<File> {
    let text = manifest.text()?;
    let (path, temporary) = (dir.join(RUN), dir.join("run.tmp"));
    let save = || {
        let mut file = File::create(&temporary)?;
        // Some network file systems have no locks.
        file.try_lock().ok();
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        std::fs::rename(&temporary, &path)?;
        sync_folder(dir)?;
        Ok(file)
    };
    save().at("replace run.json", &path)
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
    pub(crate) fn names(&self) -> impl Iterator<Item = &String> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::Role;

    #[test]
    fn file_names_are_plain_and_distinct() {
        let names =
            ["cloth", "a/../b", "cloth", "Cloth", "times", "cloth-faces", "", ".hidden", "x"];
        let face = vec![[0, 1, 2]];
        let bodies: Vec<BodyInfo> =
            names.iter().map(|n| BodyInfo::new(*n, Role::Film, 3, face.clone())).collect();
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
