//! Checkpoints: the state of a run, bit for bit, with a checksum.
//!
//! Little-endian layout: magic, version, step, time, vertex count, length of the solver's own bytes, how many
//! frames and lines the run's growing files had at that moment, x, v, the solver's bytes, CRC-32 of all before it.
//! A checkpoint is written under a temporary name, flushed to the disk and renamed, so a torn one is never
//! found under its final name unless the disk itself lost data, which the checksum shows.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use glam::DVec3;

use crate::error::{At, OutputError, Result, corrupt};

const MAGIC: &[u8; 8] = b"GUSSETCK";
const VERSION: u64 = 2;
/// How many checkpoints stay whatever their step: the newest, and one before it in case the newest is damaged.
const KEPT: usize = 2;

/// The state from which a run continues to the same bits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Checkpoint {
    /// Steps done.
    pub step: u64,
    /// Simulated time in seconds.
    pub time: f64,
    /// Positions of all vertices of the world, in metres.
    pub x: Vec<DVec3>,
    /// Velocities of all vertices, in m/s.
    pub v: Vec<DVec3>,
    /// Whatever else the solver needs; not looked at here.
    pub extra: Vec<u8>,
}

/// How far the growing files had come when the checkpoint was taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Marks {
    /// Frames.
    pub(crate) frames: u64,
    /// Lines of `steps.jsonl`.
    pub(crate) steps: u64,
    /// Lines of `probes.csv`, its head among them.
    pub(crate) probes: u64,
}

/// `step-000000000120.ckpt`
pub(crate) fn file_name(step: u64) -> String {
    format!("step-{step:012}.ckpt")
}

fn encode(checkpoint: &Checkpoint, marks: Marks) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(80 + checkpoint.x.len() * 48 + checkpoint.extra.len() + 4);
    bytes.extend_from_slice(MAGIC);
    let counts = [
        VERSION,
        checkpoint.step,
        checkpoint.time.to_bits(),
        checkpoint.x.len() as u64,
        checkpoint.extra.len() as u64,
        marks.frames,
        marks.steps,
        marks.probes,
    ];
    bytes.extend(counts.iter().flat_map(|n| n.to_le_bytes()));
    let points = checkpoint.x.iter().chain(&checkpoint.v);
    bytes.extend(points.flat_map(DVec3::to_array).flat_map(f64::to_le_bytes));
    bytes.extend_from_slice(&checkpoint.extra);
    let sum = crc32fast::hash(&bytes);
    bytes.extend_from_slice(&sum.to_le_bytes());
    bytes
}

fn decode(bytes: &[u8], path: &Path) -> Result<(Checkpoint, Marks)> {
    const FIXED: usize = 8 + 8 * 8;
    if bytes.len() < FIXED + 4 || &bytes[..8] != MAGIC {
        return Err(corrupt(path, "not a whole checkpoint"));
    }
    let word = |i: usize| {
        let mut word = [0; 8];
        word.copy_from_slice(&bytes[i..i + 8]);
        u64::from_le_bytes(word)
    };
    if word(8) != VERSION {
        let found = word(8);
        return Err(corrupt(path, format!("checkpoint format {found}, {VERSION} is read")));
    }
    let (vertices, extra) = (word(32), word(40));
    let length = vertices
        .checked_mul(48)
        .and_then(|n| n.checked_add(extra))
        .and_then(|n| n.checked_add(FIXED as u64 + 4));
    let end = bytes.len() - 4;
    let mut sum = [0; 4];
    sum.copy_from_slice(&bytes[end..]);
    if length != Some(bytes.len() as u64)
        || crc32fast::hash(&bytes[..end]) != u32::from_le_bytes(sum)
    {
        return Err(corrupt(path, "the checkpoint is torn: its length or checksum is wrong"));
    }
    let point = |i: usize| {
        let at = |k: usize| f64::from_bits(word(FIXED + 24 * i + 8 * k));
        DVec3::new(at(0), at(1), at(2))
    };
    let n = vertices as usize;
    let checkpoint = Checkpoint {
        step: word(16),
        time: f64::from_bits(word(24)),
        x: (0..n).map(point).collect(),
        v: (n..2 * n).map(point).collect(),
        extra: bytes[FIXED + 48 * n..end].to_vec(),
    };
    Ok((checkpoint, Marks { frames: word(48), steps: word(56), probes: word(64) }))
}

/// Writes the checkpoint into `dir`. Those of every `interval`-th step stay, of the others the newest two.
pub(crate) fn write(
    dir: &Path,
    checkpoint: &Checkpoint,
    marks: Marks,
    interval: u64,
) -> Result<()> {
    if checkpoint.x.len() != checkpoint.v.len() {
        let (x, v) = (checkpoint.x.len(), checkpoint.v.len());
        return Err(OutputError::Shape(format!(
            "a checkpoint of {x} positions and {v} velocities"
        )));
    }
    let name = file_name(checkpoint.step);
    let (path, temporary) = (dir.join(&name), dir.join(format!("{name}.tmp")));
    let save = || {
        let mut file = File::create(&temporary)?;
        file.write_all(&encode(checkpoint, marks))?;
        file.sync_all()?;
        std::fs::rename(&temporary, &path)?;
        sync_folder(dir)
    };
    save().at("write the checkpoint", &path)?;
    let all = list(dir)?;
    for (step, old) in &all[..all.len().saturating_sub(KEPT)] {
        if interval == 0 || !step.is_multiple_of(interval) {
            std::fs::remove_file(old).at("remove an old checkpoint", old)?;
        }
    }
    Ok(())
}

/// Makes a rename in `dir` durable, where the system can open a folder.
pub(crate) fn sync_folder(dir: &Path) -> std::io::Result<()> {
    if cfg!(unix) { File::open(dir)?.sync_all() } else { Ok(()) }
}

/// Reads and checks one checkpoint.
pub(crate) fn read(path: &Path) -> Result<(Checkpoint, Marks)> {
    decode(&std::fs::read(path).at("read the checkpoint", path)?, path)
}

/// The checkpoints in `dir`, oldest first; none when there is no such folder.
pub(crate) fn list(dir: &Path) -> Result<Vec<(u64, PathBuf)>> {
    let mut found = Vec::new();
    if !dir.is_dir() {
        return Ok(found);
    }
    for entry in std::fs::read_dir(dir).at("list the checkpoints", dir)? {
        let path = entry.at("list the checkpoints", dir)?.path();
        let step = path
            .file_name()
            .and_then(|n| n.to_str()?.strip_prefix("step-")?.strip_suffix(".ckpt")?.parse().ok());
        if let Some(step) = step {
            found.push((step, path));
        }
    }
    found.sort();
    Ok(found)
}

/// Removes every checkpoint newer than `keep` (all for `None`), the newest first, so that a kill in between leaves
/// an earlier end of the run; and what a kill left half written.
pub(crate) fn clear(dir: &Path, keep: Option<u64>) -> Result<()> {
    for (step, path) in list(dir)?.into_iter().rev() {
        if keep.is_none_or(|keep| step > keep) {
            std::fs::remove_file(&path).at("remove a checkpoint", &path)?;
        }
    }
    if dir.is_dir() {
        for entry in std::fs::read_dir(dir).at("list the checkpoints", dir)? {
            let path = entry.at("list the checkpoints", dir)?.path();
            let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
            if name.starts_with("step-") && name.ends_with(".ckpt.tmp") {
                std::fs::remove_file(&path).at("remove a half-written checkpoint", &path)?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(step: u64) -> Checkpoint {
        let x = vec![DVec3::new(0.1, -0.0, f64::MIN_POSITIVE / 8.0), DVec3::splat(1.0 / 3.0)];
        let v = vec![DVec3::NEG_INFINITY, DVec3::new(1e-300, step as f64, 2.0)];
        Checkpoint { step, time: step as f64 / 240.0, x, v, extra: vec![7, 0, 255] }
    }

    const MARKS: Marks = Marks { frames: 3, steps: 1234, probes: 99 };

    #[test]
    fn every_bit_comes_back() {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), &sample(120), MARKS, 1).unwrap();
        let (step, path) = list(dir.path()).unwrap().pop().unwrap();
        assert_eq!(step, 120);
        let (found, marks) = read(&path).unwrap();
        assert_eq!((&found, marks), (&sample(120), MARKS));
        assert!(found.x[0].y.is_sign_negative());
    }

    #[test]
    fn whole_intervals_and_the_newest_two_stay() {
        for (interval, kept) in [(0, &[25, 100, 103][1..]), (20, &[0, 20, 100, 103])] {
            let dir = tempfile::tempdir().unwrap();
            for step in [0, 5, 20, 25, 100, 103] {
                write(dir.path(), &sample(step), MARKS, interval).unwrap();
            }
            let steps: Vec<u64> = list(dir.path()).unwrap().iter().map(|c| c.0).collect();
            assert_eq!(steps, kept);
        }
    }

    #[test]
    fn a_torn_or_altered_checkpoint_is_refused() {
        let bytes = encode(&sample(7), MARKS);
        let path = Path::new("step.ckpt");
        assert!(decode(&bytes, path).is_ok());
        for cut in 0..bytes.len() {
            assert!(decode(&bytes[..cut], path).is_err(), "cut at {cut}");
            let mut altered = bytes.clone();
            altered[cut] ^= 0x10;
            assert!(decode(&altered, path).is_err(), "altered at {cut}");
            // Pages that never reached the disk read as zeros.
            let mut zeroed = bytes.clone();
            zeroed[cut..].fill(0);
            assert!(zeroed == bytes || decode(&zeroed, path).is_err(), "zeros from {cut}");
        }
    }

    #[test]
    fn lengths_must_agree() {
        let dir = tempfile::tempdir().unwrap();
        let mut bad = sample(1);
        bad.v.pop();
        assert!(write(dir.path(), &bad, MARKS, 1).is_err());
        assert!(list(dir.path()).unwrap().is_empty());
    }
}
