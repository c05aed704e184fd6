//! NumPy's `.npy` format: arrays that grow by whole frames, and plain arrays.
//!
//! The header has a fixed size with room for any frame count. A frame is appended and flushed first,
//! then the count in the header is rewritten in place, so `numpy.load` (also with `mmap_mode`) opens the
//! file at any moment, and a process that is killed leaves at worst bytes behind the last counted frame,
//! which every reader ignores. Format: NEP 1, "A Simple File Format for NumPy Arrays".

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use glam::DVec3;

use crate::body::Precision;
use crate::error::{At, OutputError, Result, corrupt};

/// Header size of the files written here: a multiple of 64, as the format asks.
const HEADER: usize = 128;
const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// Element type of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// `<f4`
    F32,
    /// `<f8`
    F64,
    /// `<u4`
    U32,
    /// `<i4`
    I32,
    /// `<i8`
    I64,
}

impl Element {
    fn descr(self) -> &'static str {
        match self {
            Element::F32 => "<f4",
            Element::F64 => "<f8",
            Element::U32 => "<u4",
            Element::I32 => "<i4",
            Element::I64 => "<i8",
        }
    }

    fn bytes(self) -> usize {
        match self {
            Element::F32 | Element::U32 | Element::I32 => 4,
            Element::F64 | Element::I64 => 8,
        }
    }
}

impl From<Precision> for Element {
    fn from(precision: Precision) -> Element {
        match precision {
            Precision::F32 => Element::F32,
            Precision::F64 => Element::F64,
        }
    }
}

/// The 128 bytes before the data.
fn header(element: Element, shape: &[u64]) -> Result<[u8; HEADER]> {
    let sizes: Vec<String> = shape.iter().map(u64::to_string).collect();
    // A Python tuple of one needs its comma.
    let comma = if sizes.len() == 1 { "," } else { "" };
    let (descr, shape_text) = (element.descr(), sizes.join(", "));
    let text =
        format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape_text}{comma}), }}");
    let room = HEADER - 10;
    if text.len() + 1 > room {
        return Err(OutputError::Shape(format!("shape {shape:?} is too long for a .npy header")));
    }
    let mut bytes = [b' '; HEADER];
    bytes[..6].copy_from_slice(MAGIC);
    bytes[6..8].copy_from_slice(&[1, 0]);
    bytes[8..10].copy_from_slice(&(room as u16).to_le_bytes());
    bytes[10..10 + text.len()].copy_from_slice(text.as_bytes());
    bytes[HEADER - 1] = b'\n';
    Ok(bytes)
}

/// An array of shape (frames, tail...) that grows along its first axis.
#[derive(Debug)]
pub struct NpyWriter {
    path: PathBuf,
    file: File,
    element: Element,
    tail: Vec<u64>,
    frames: u64,
    buffer: Vec<u8>,
}

impl NpyWriter {
    /// Creates (or replaces) the file with no frame in it. `tail` is the shape of one frame: `[n, 3]` for
    /// positions, empty for one number a frame.
    pub fn create(path: &Path, precision: Precision, tail: &[u64]) -> Result<NpyWriter> {
        let mut file = File::create(path).at("create the frames file", path)?;
        let element = Element::from(precision);
        let mut shape = vec![0];
        shape.extend_from_slice(tail);
        file.write_all(&header(element, &shape)?).at("write the frames file", path)?;
        let (path, tail) = (path.to_path_buf(), tail.to_vec());
        Ok(NpyWriter { path, file, element, tail, frames: 0, buffer: Vec::new() })
    }

    /// Opens a file of [`NpyWriter::create`] to go on after its first `frames` frames; later ones, whole or
    /// torn, are cut off. Fails without touching the file when it holds fewer.
    pub fn resume(path: &Path, frames: u64) -> Result<NpyWriter> {
        let found = NpyFile::open(path)?;
        if found.frames() < frames {
            let count = found.frames();
            return Err(corrupt(path, format!("holds {count} whole frames, {frames} are needed")));
        }
        if found.offset != HEADER as u64 {
            return Err(corrupt(path, "the header is not one of Gusset's growing arrays"));
        }
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .open(path)
            .at("open the frames file to continue it", path)?;
        let (element, tail) = (found.element, found.shape[1..].to_vec());
        let mut writer =
            NpyWriter { path: path.to_path_buf(), file, element, tail, frames, buffer: Vec::new() };
        // Count first, bytes second: the file is valid between the two.
        writer.write_header()?;
        let end = HEADER as u64 + frames * writer.frame_bytes();
        writer.file.set_len(end).at("cut the frames file", path)?;
        Ok(writer)
    }

    /// Frames written.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    fn frame_bytes(&self) -> u64 {
        self.tail.iter().product::<u64>() * self.element.bytes() as u64
    }

    /// Appends a frame of points; the frame's shape is (n, 3).
    pub fn push_points(&mut self, points: &[DVec3]) -> Result<()> {
        self.push(points.iter().flat_map(DVec3::to_array))
    }

    /// Appends a frame, its numbers in C order.
    pub fn push(&mut self, numbers: impl IntoIterator<Item = f64>) -> Result<()> {
        self.buffer.clear();
        for x in numbers {
            match self.element {
                Element::F32 => self.buffer.extend_from_slice(&(x as f32).to_le_bytes()),
                _ => self.buffer.extend_from_slice(&x.to_le_bytes()),
            }
        }
        let (found, expected) = (self.buffer.len() as u64, self.frame_bytes());
        if found != expected {
            let (found, expected) =
                (found / self.element.bytes() as u64, expected / self.element.bytes() as u64);
            return Err(OutputError::Shape(format!(
                "a frame of {found} numbers where {} holds {expected} a frame",
                self.path.display()
            )));
        }
        // Always to the counted end: what a failed write left there is overwritten.
        let end = HEADER as u64 + self.frames * expected;
        let write = |file: &mut File, buffer: &[u8]| {
            file.seek(SeekFrom::Start(end))?;
            file.write_all(buffer)?;
            file.flush()
        };
        write(&mut self.file, &self.buffer).at("write a frame", &self.path)?;
        self.frames += 1;
        let written = self.write_header();
        if written.is_err() {
            self.frames -= 1;
        }
        written
    }

    fn write_header(&mut self) -> Result<()> {
        let mut shape = vec![self.frames];
        shape.extend_from_slice(&self.tail);
        let bytes = header(self.element, &shape)?;
        let write = |file: &mut File| {
            file.seek(SeekFrom::Start(0))?;
            file.write_all(&bytes)?;
            file.flush()
        };
        write(&mut self.file).at("write the frame count", &self.path)
    }

    /// Waits until the data has reached the disk.
    pub fn sync(&mut self) -> Result<()> {
        self.file.sync_data().at("flush the frames file", &self.path)
    }
}

/// Writes an array whose numbers are these bytes, in C order.
pub fn write_array(
    path: &Path,
    element: Element,
    shape: &[u64],
    numbers: impl IntoIterator<Item = u8>,
) -> Result<()> {
    let mut bytes = header(element, shape)?.to_vec();
    bytes.extend(numbers);
    let (found, wanted) =
        ((bytes.len() - HEADER) as u64, shape.iter().product::<u64>() * element.bytes() as u64);
    if found != wanted {
        let text = format!("{found} bytes for an array of shape {shape:?}, which holds {wanted}");
        return Err(OutputError::Shape(text));
    }
    std::fs::write(path, bytes).at("write the array", path)
}

/// Writes triangles as an (m, 3) array of `<u4`.
pub fn write_faces(path: &Path, faces: &[[u32; 3]]) -> Result<()> {
    let numbers = faces.iter().flatten().flat_map(|i| i.to_le_bytes());
    write_array(path, Element::U32, &[faces.len() as u64, 3], numbers)
}

/// Writes points as an (n, 3) array of `<f8`.
pub fn write_points(path: &Path, points: &[DVec3]) -> Result<()> {
    let numbers = points.iter().flat_map(DVec3::to_array).flat_map(f64::to_le_bytes);
    write_array(path, Element::F64, &[points.len() as u64, 3], numbers)
}

/// An array on disk, read frame by frame.
#[derive(Clone, Debug)]
pub struct NpyFile {
    path: PathBuf,
    element: Element,
    /// As far as whole frames are there.
    shape: Vec<u64>,
    /// Length of the first axis as the header says.
    declared: u64,
    offset: u64,
}

impl NpyFile {
    /// Reads the header. A file shorter than its header says (it was cut or is still being copied) counts
    /// the whole frames that it holds.
    pub fn open(path: &Path) -> Result<NpyFile> {
        let mut file = File::open(path).at("open the array", path)?;
        let length = file.metadata().at("open the array", path)?.len();
        let (element, mut shape, offset) = read_header(&mut file, length, path)?;
        let frame = shape[1..]
            .iter()
            .try_fold(element.bytes() as u64, |a, n| a.checked_mul(*n))
            .ok_or_else(|| corrupt(path, format!("the shape {shape:?} in the header overflows")))?;
        let declared = shape[0];
        if let Some(whole) = (length - offset).checked_div(frame) {
            shape[0] = shape[0].min(whole);
        }
        Ok(NpyFile { path: path.to_path_buf(), element, shape, declared, offset })
    }

    /// Length of the first axis.
    pub fn frames(&self) -> u64 {
        self.shape[0]
    }

    /// The shape, first axis cut to whole frames.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// Element type.
    pub fn element(&self) -> Element {
        self.element
    }

    fn bytes(&self, first: u64, count: u64) -> Result<Vec<u8>> {
        let frame = self.shape[1..].iter().product::<u64>() * self.element.bytes() as u64;
        if first + count > self.shape[0] {
            let frames = self.shape[0];
            return Err(OutputError::Shape(format!(
                "frame {} was asked for, there are {frames}: {}",
                first + count - 1,
                self.path.display()
            )));
        }
        let mut bytes = vec![0; (frame * count) as usize];
        let read = |bytes: &mut [u8]| {
            let mut file = File::open(&self.path)?;
            file.seek(SeekFrom::Start(self.offset + first * frame))?;
            file.read_exact(bytes)
        };
        read(&mut bytes).at("read the array", &self.path)?;
        Ok(bytes)
    }

    /// The numbers of frames `first .. first + count`, in C order.
    pub fn read(&self, first: u64, count: u64) -> Result<Vec<f64>> {
        let bytes = self.bytes(first, count)?;
        Ok(match self.element {
            Element::F32 => words(&bytes).map(|w| f64::from(f32::from_le_bytes(w))).collect(),
            Element::F64 => words(&bytes).map(f64::from_le_bytes).collect(),
            Element::U32 => words(&bytes).map(|w| f64::from(u32::from_le_bytes(w))).collect(),
            Element::I32 => words(&bytes).map(|w| f64::from(i32::from_le_bytes(w))).collect(),
            Element::I64 => words(&bytes).map(|w| i64::from_le_bytes(w) as f64).collect(),
        })
    }

    /// The points of frame `k` of an array of shape (frames, n, 3).
    pub fn points(&self, k: u64) -> Result<Vec<DVec3>> {
        if self.shape.len() != 3 || self.shape[2] != 3 {
            let shape = &self.shape;
            return Err(corrupt(
                &self.path,
                format!("the shape is {shape:?}, (frames, n, 3) is needed"),
            ));
        }
        let numbers = self.read(k, 1)?;
        Ok(numbers.chunks_exact(3).map(DVec3::from_slice).collect())
    }

    /// The rows of an (n, 3) array of points.
    pub fn rows(&self) -> Result<Vec<DVec3>> {
        if self.shape.len() != 2 || self.shape[1] != 3 || self.frames() < self.declared {
            let shape = &self.shape;
            let what = format!("holds an array of shape {shape:?}, a whole (n, 3) is needed");
            return Err(corrupt(&self.path, what));
        }
        let numbers = self.read(0, self.frames())?;
        Ok(numbers.chunks_exact(3).map(DVec3::from_slice).collect())
    }

    /// The rows of an (m, 3) array of indices.
    pub fn faces(&self) -> Result<Vec<[u32; 3]>> {
        let index = matches!(self.element, Element::U32 | Element::I32 | Element::I64);
        if self.shape.len() != 2 || self.shape[1] != 3 || !index {
            let (shape, descr) = (&self.shape, self.element.descr());
            return Err(corrupt(
                &self.path,
                format!(
                    "the array is {descr} of shape {shape:?}; indices of shape (m, 3) are needed"
                ),
            ));
        }
        if self.frames() < self.declared {
            let (found, declared) = (self.frames(), self.declared);
            let what = format!("the file is cut off: it holds {found} of {declared} faces");
            return Err(corrupt(&self.path, what));
        }
        let numbers = self.read(0, self.frames())?;
        let wrong = numbers.iter().find(|i| !(0.0..=f64::from(u32::MAX)).contains(*i));
        if let Some(i) = wrong {
            return Err(corrupt(&self.path, format!("{i} is no vertex index")));
        }
        Ok(numbers.chunks_exact(3).map(|r| [r[0] as u32, r[1] as u32, r[2] as u32]).collect())
    }
}

/// Splits into arrays of `N` bytes.
fn words<const N: usize>(bytes: &[u8]) -> impl Iterator<Item = [u8; N]> + '_ {
    bytes.chunks_exact(N).map(|chunk| {
        let mut word = [0; N];
        word.copy_from_slice(chunk);
        word
    })
}

fn read_header(file: &mut File, length: u64, path: &Path) -> Result<(Element, Vec<u64>, u64)> {
    let bad = |what: &str| corrupt(path, format!("not a readable .npy array: {what}"));
    let mut start = [0; 8];
    file.read_exact(&mut start).map_err(|_| bad("it is shorter than its header"))?;
    if &start[..6] != MAGIC {
        return Err(bad("it does not begin with NumPy's magic bytes"));
    }
    let (size, fixed) = match start[6] {
        1 => {
            let mut size = [0; 2];
            file.read_exact(&mut size).map_err(|_| bad("it is shorter than its header"))?;
            (u64::from(u16::from_le_bytes(size)), 10)
        }
        2 | 3 => {
            let mut size = [0; 4];
            file.read_exact(&mut size).map_err(|_| bad("it is shorter than its header"))?;
            (u64::from(u32::from_le_bytes(size)), 12)
        }
        version => return Err(bad(&format!("format version {version} is unknown"))),
    };
    let offset = fixed + size;
    if offset > length || size > 65_536 {
        return Err(bad("it is shorter than its header"));
    }
    let mut text = vec![0; size as usize];
    file.read_exact(&mut text).map_err(|_| bad("it is shorter than its header"))?;
    let text = String::from_utf8(text).map_err(|_| bad("the header is no text"))?;
    let after = |key: &str| {
        let at = text.find(&format!("'{key}'"))?;
        text[at + key.len() + 2..].trim_start().strip_prefix(':').map(str::trim_start)
    };
    let descr = after("descr").and_then(|t| t.strip_prefix('\'')?.split_once('\''));
    let element = match descr.map(|d| d.0) {
        Some("<f4") => Element::F32,
        Some("<f8") => Element::F64,
        Some("<u4") => Element::U32,
        Some("<i4") => Element::I32,
        Some("<i8") => Element::I64,
        Some(other) => {
            return Err(bad(&format!("element type {other}; <f4, <f8, <u4, <i4 and <i8 are read")));
        }
        None => return Err(bad("the header names no element type")),
    };
    match after("fortran_order") {
        Some(t) if t.starts_with("False") => {}
        Some(t) if t.starts_with("True") => {
            return Err(bad("it is in Fortran order; C order is needed"));
        }
        _ => return Err(bad("the header names no order")),
    }
    let inner = after("shape")
        .and_then(|t| t.strip_prefix('(')?.split_once(')'))
        .ok_or_else(|| bad("the header names no shape"))?;
    let shape: Vec<u64> = inner
        .0
        .split(',')
        .map(str::trim)
        .filter(|t| !t.is_empty())
        .map(str::parse)
        .collect::<Result<_, _>>()
        .map_err(|_| bad("the shape is no list of whole numbers"))?;
    if shape.is_empty() {
        return Err(bad("it holds a single number, not an array"));
    }
    Ok((element, shape, offset))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(k: usize) -> Vec<DVec3> {
        (0..5).map(|i| DVec3::new(k as f64, i as f64 * 0.1, -1.0 / (1 + i + k) as f64)).collect()
    }

    #[test]
    fn grows_by_whole_frames_and_reads_back() {
        let dir = tempfile::tempdir().unwrap();
        for precision in [Precision::F32, Precision::F64] {
            let path = dir.path().join("a.npy");
            let mut writer = NpyWriter::create(&path, precision, &[5, 3]).unwrap();
            assert_eq!(NpyFile::open(&path).unwrap().shape(), [0, 5, 3]);
            for k in 0..12 {
                writer.push_points(&points(k)).unwrap();
                let file = NpyFile::open(&path).unwrap();
                assert_eq!(file.shape(), [k as u64 + 1, 5, 3]);
                for (a, b) in file.points(k as u64).unwrap().iter().zip(points(k)) {
                    let b = if precision == Precision::F32 { b.as_vec3().as_dvec3() } else { b };
                    assert_eq!(*a, b);
                }
            }
            assert!(writer.push_points(&points(0)[1..]).is_err());
            assert_eq!(writer.frames(), 12);
        }
    }

    #[test]
    fn header_is_what_numpy_writes() {
        let bytes = header(Element::F32, &[2521, 481, 3]).unwrap();
        let text = std::str::from_utf8(&bytes[10..]).unwrap();
        let dict = "{'descr': '<f4', 'fortran_order': False, 'shape': (2521, 481, 3), }";
        assert_eq!(text.trim_end(), dict);
        assert!(text.ends_with('\n'));
        let bytes = header(Element::F64, &[7]).unwrap();
        assert!(std::str::from_utf8(&bytes[10..]).unwrap().contains("'shape': (7,), }"));
        assert!(header(Element::F64, &[u64::MAX, u64::MAX, u64::MAX]).is_err());
    }

    /// A kill at any byte of the last write leaves all frames but the last, and they can be continued.
    #[test]
    fn a_frame_torn_at_any_byte_is_ignored() {
        let dir = tempfile::tempdir().unwrap();
        let (path, torn) = (dir.path().join("a.npy"), dir.path().join("torn.npy"));
        let mut writer = NpyWriter::create(&path, Precision::F64, &[5, 3]).unwrap();
        for k in 0..3 {
            writer.push_points(&points(k)).unwrap();
        }
        let before = std::fs::read(&path).unwrap();
        writer.push_points(&points(3)).unwrap();
        let after = std::fs::read(&path).unwrap();
        for cut in before.len()..=after.len() {
            // Data is written before the count: the old header stands over part of the new frame.
            let mut bytes = before[..HEADER].to_vec();
            bytes.extend_from_slice(&after[HEADER..cut]);
            std::fs::write(&torn, &bytes).unwrap();
            let file = NpyFile::open(&torn).unwrap();
            assert_eq!(file.frames(), 3);
            assert_eq!(file.points(2).unwrap(), points(2));
            let mut writer = NpyWriter::resume(&torn, 3).unwrap();
            writer.push_points(&points(3)).unwrap();
            assert_eq!(std::fs::read(&torn).unwrap(), after);
        }
        // A file cut below its own count (a copy that broke off) counts what is whole.
        for cut in 0..after.len() {
            std::fs::write(&torn, &after[..cut]).unwrap();
            match NpyFile::open(&torn) {
                Ok(file) => {
                    assert_eq!(file.frames() as usize, (cut - HEADER) / 120);
                    assert!(NpyWriter::resume(&torn, file.frames() + 1).is_err());
                }
                Err(e) => assert!(cut < HEADER && e.to_string().contains("shorter"), "{e}"),
            }
        }
    }

    #[test]
    fn refuses_what_it_cannot_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.npy");
        let good = header(Element::F64, &[0, 5, 3]).unwrap();
        let text = |from: &str, to: &str| {
            assert_eq!(from.len(), to.len());
            let body = String::from_utf8(good[10..].to_vec()).unwrap().replacen(from, to, 1);
            [&good[..10], body.as_bytes()].concat()
        };
        let cases = [
            (b"hello world, no array".to_vec(), "magic"),
            (text("<f8", ">f8"), "element type >f8"),
            (text("False", "True "), "Fortran"),
            (text("(0, 5", "(0, x"), "whole numbers"),
            (text("(0, 5, 3)", "         "), "no shape"),
            (text("'descr'", "'other'"), "no element type"),
            (text("(0, 5, 3)", "()       "), "single number"),
        ];
        for (bytes, reason) in cases {
            std::fs::write(&path, bytes).unwrap();
            let error = NpyFile::open(&path).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
        std::fs::write(&path, good).unwrap();
        assert!(NpyFile::open(&path).unwrap().faces().is_err());
        assert!(NpyFile::open(&path).unwrap().points(0).is_err());
    }

    #[test]
    fn faces_read_back() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f.npy");
        let faces = vec![[0, 1, 2], [2, 1, 4_000_000_000]];
        write_faces(&path, &faces).unwrap();
        assert_eq!(NpyFile::open(&path).unwrap().faces().unwrap(), faces);
        let bytes = std::fs::read(&path).unwrap();
        std::fs::write(&path, &bytes[..bytes.len() - 12]).unwrap();
        let cut = NpyFile::open(&path).unwrap().faces().unwrap_err().to_string();
        assert!(cut.contains("1 of 2 faces"), "{cut}");
        write_faces(&path, &[]).unwrap();
        assert_eq!(NpyFile::open(&path).unwrap().faces().unwrap(), Vec::<[u32; 3]>::new());
    }
}
