//! Readers: OBJ, PLY and Gmsh MSH.
//!
//! A reader gives the geometry of the file as it is, with valid indices and finite coordinates;
//! whether it makes a good body is for [`Mesh::check`] to say. Polygons are cut into triangles.
//! Errors name file and line. Nothing is allocated on the word of a header alone.

mod msh;
mod obj;
mod ply;
mod polygon;

use std::{fs, io, path::Path};

use crate::{MAX_ELEMENTS, MAX_VERTICES, Mesh};

pub use msh::msh;
pub use obj::obj;
pub use ply::ply;

/// Why a file could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The operating system refused.
    #[error("{file}: {source}")]
    Io {
        /// Name of the file.
        file: String,
        /// What it said.
        source: io::Error,
    },
    /// The name's ending stands for no format that is read.
    #[error("{file}: unknown kind of mesh file `{ending}`; expected .obj, .ply or .msh")]
    Format {
        /// Name of the file.
        file: String,
        /// Its ending.
        ending: String,
    },
    /// Something is wrong in a line of text.
    #[error("{file}:{line}: {message}")]
    Line {
        /// Name of the file.
        file: String,
        /// Line, from 1.
        line: usize,
        /// What was found and what would be right.
        message: String,
    },
    /// Something is wrong in binary data.
    #[error("{file}: at byte {offset}: {message}")]
    Byte {
        /// Name of the file.
        file: String,
        /// Offset from the start of the file.
        offset: usize,
        /// What was found and what would be right.
        message: String,
    },
}

/// Reads a mesh file in the format that its ending says (`.obj`, `.ply`, `.msh`).
pub fn mesh(path: &Path) -> Result<Mesh, ReadError> {
    let file = path.display().to_string();
    let ending = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let reader: fn(&[u8], &str) -> Result<Mesh, ReadError> = match ending.as_str() {
        "obj" => |bytes, file| obj(&String::from_utf8_lossy(bytes), file),
        "ply" => ply,
        "msh" => |bytes, file| msh(&String::from_utf8_lossy(bytes), file),
        _ => return Err(ReadError::Format { file, ending }),
    };
    match fs::read(path) {
        Ok(bytes) => reader(&bytes, &file),
        Err(source) => Err(ReadError::Io { file, source }),
    }
}

/// Where in a text the reader is, for messages.
#[derive(Clone, Copy)]
struct At<'a> {
    file: &'a str,
    line: usize,
}

impl At<'_> {
    fn error(self, message: impl Into<String>) -> ReadError {
        ReadError::Line { file: self.file.to_owned(), line: self.line, message: message.into() }
    }

    /// A finite number.
    fn number(self, token: Option<&str>, what: &str) -> Result<f64, ReadError> {
        let Some(token) = token else {
            return Err(self.error(format!("{what} is missing")));
        };
        match token.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(value),
            Ok(_) => {
                Err(self.error(format!("{what} is `{}`, expected a finite number", cut(token))))
            }
            Err(_) => Err(self.error(format!("{what} is `{}`, expected a number", cut(token)))),
        }
    }

    /// A whole number.
    fn integer(self, token: Option<&str>, what: &str) -> Result<i64, ReadError> {
        let Some(token) = token else {
            return Err(self.error(format!("{what} is missing")));
        };
        token
            .parse()
            .map_err(|_| self.error(format!("{what} is `{}`, expected a whole number", cut(token))))
    }

    /// A count, which also must not be above `limit`.
    fn count(self, token: Option<&str>, what: &str, limit: u64) -> Result<u64, ReadError> {
        let value = self.integer(token, what)?;
        match u64::try_from(value) {
            Ok(count) if count <= limit => Ok(count),
            _ => Err(self.error(format!("{what} is {value}, expected 0 to {limit}"))),
        }
    }
}

/// The start of a token, short enough for a message.
fn cut(token: &str) -> String {
    const SHOWN: usize = 40;
    match token.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &token[..end]),
        None => token.to_owned(),
    }
}

/// Says which limit a file breaks, if it does, before the arrays grow any further.
fn within_limits(vertices: usize, elements: usize) -> Result<(), String> {
    if vertices as u64 > MAX_VERTICES {
        return Err(format!("more than {MAX_VERTICES} vertices"));
    }
    if elements as u64 > MAX_ELEMENTS {
        return Err(format!("more than {MAX_ELEMENTS} elements"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_files_and_unknown_endings_are_named() {
        let error = mesh(Path::new("no/such/file.obj")).unwrap_err().to_string();
        assert!(error.starts_with("no/such/file.obj: "), "{error}");
        let error = mesh(Path::new("mesh.stl")).unwrap_err().to_string();
        assert!(error.contains("`stl`"), "{error}");
    }
}
