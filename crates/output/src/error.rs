//! What can go wrong with the files of a run.

use std::io;
use std::path::{Path, PathBuf};

/// An error of this crate; the path comes last so that a long one does not hide the reason.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OutputError {
    /// The operating system refused.
    #[error("cannot {action}: {source}: {}", .path.display())]
    Io {
        /// What was tried, as a verb with its object ("read the frames").
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The output folder holds something and `force` was not given.
    #[error(
        "the output folder is not empty; choose another with --out, continue the run in it with --resume, \
         or replace that run with --force: {}", .dir.display()
    )]
    NotEmpty {
        /// The folder.
        dir: PathBuf,
    },
    /// `force` was given, but what the folder holds is not a run.
    #[error(
        "the output folder holds files but no run (`run.json` is missing or is not Gusset's), so --force removes \
         nothing in it; choose an empty or new folder with --out: {}", .dir.display()
    )]
    ForeignFolder {
        /// The folder.
        dir: PathBuf,
    },
    /// Another process holds the run folder's lock.
    #[error("another process is writing this run; wait for it or stop it: {}", .dir.display())]
    Locked {
        /// The folder.
        dir: PathBuf,
    },
    /// The path is no run folder.
    #[error("not a run folder: {reason}: {}", .dir.display())]
    NotARun {
        /// Why not.
        reason: String,
        /// The path.
        dir: PathBuf,
    },
    /// The folder was written in a format that this version does not read.
    #[error(
        "the run has format {found} (written by Gusset {gusset}), this version reads format {expected}; \
         read it with the version that wrote it, or run the scene again: {}", .dir.display()
    )]
    Version {
        /// Format number found.
        found: u64,
        /// Format number that this version reads and writes.
        expected: u64,
        /// The version that wrote the folder.
        gusset: String,
        /// The folder.
        dir: PathBuf,
    },
    /// A file of the run is missing.
    #[error("the run folder lacks {what}: {}", .path.display())]
    Missing {
        /// What the file holds.
        what: String,
        /// Where it should be.
        path: PathBuf,
    },
    /// A file is damaged.
    #[error("{what}: {}", .path.display())]
    Corrupt {
        /// What was found and what would be right.
        what: String,
        /// The file.
        path: PathBuf,
    },
    /// There is no checkpoint to continue from.
    #[error("nothing to resume from: {reason}; start the run again with --force: {}", .dir.display())]
    NoCheckpoint {
        /// Why each candidate was refused.
        reason: String,
        /// The folder.
        dir: PathBuf,
    },
    /// No checkpoint is early enough.
    #[error(
        "the run has no checkpoint at or before {from} s; it has some at {found}: {}", .dir.display()
    )]
    TooEarly {
        /// The time asked for, in seconds.
        from: f64,
        /// Times of those that there are.
        found: String,
        /// The folder.
        dir: PathBuf,
    },
    /// The caller's arrays do not fit the run.
    #[error("{0}")]
    Shape(String),
    /// A value can't be written as JSON.
    #[error("cannot write {what} as JSON: {source}")]
    Json {
        /// What was written.
        what: &'static str,
        /// serde's reason.
        source: serde_json::Error,
    },
    /// A PNG could not be encoded.
    #[error("cannot encode the picture: {0}")]
    Png(#[from] png::EncodingError),
    /// A plot could not be drawn.
    #[error("cannot draw the plot: {0}")]
    Plot(String),
}

/// Result of this crate.
pub type Result<T, E = OutputError> = std::result::Result<T, E>;

/// Adds the path and the intention to a system error.
pub(crate) trait At<T> {
    fn at(self, action: &'static str, path: &Path) -> Result<T>;
}

impl<T> At<T> for io::Result<T> {
    fn at(self, action: &'static str, path: &Path) -> Result<T> {
        self.map_err(|source| OutputError::Io { action, path: path.to_path_buf(), source })
    }
}

/// A damaged file.
pub(crate) fn corrupt(path: &Path, what: impl Into<String>) -> OutputError {
    OutputError::Corrupt { what: what.into(), path: path.to_path_buf() }
}
