//! Text files that grow by whole lines.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::error::{At, Result, corrupt};

/// A text file that grows by whole lines.
#[derive(Debug)]
pub(crate) struct Lines {
    path: PathBuf,
    file: File,
    /// Bytes.
    length: u64,
    pub(crate) count: u64,
}

impl Lines {
    /// Opens the file to go on after its first `count` lines; what is behind them is cut off.
    pub(crate) fn open(path: PathBuf, count: u64) -> Result<Lines> {
        let length = length_of_lines(&path, count)?;
        let file = OpenOptions::new()
            .append(true)
            .create(true)
            .open(&path)
            .at("open the file to append to it", &path)?;
        file.set_len(length).at("cut the file", &path)?;
        Ok(Lines { path, file, length, count })
    }

    pub(crate) fn push(&mut self, line: &str) -> Result<()> {
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

    pub(crate) fn sync(&self) -> Result<()> {
        self.file.sync_data().at("flush the file", &self.path)
    }
}

/// Bytes of the first `count` lines of a file; a file that is not there has no line.
pub(crate) fn length_of_lines(path: &Path, count: u64) -> Result<u64> {
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
