//! PLY, the Stanford polygon format: ASCII, and binary of either byte order.

use std::str::SplitWhitespace;

use glam::DVec3;

use super::{At, ReadError, polygon};
use crate::{MAX_ELEMENTS, MAX_VERTICES, Mesh};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    F32,
    F64,
}

impl Kind {
    fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "char" | "int8" => Self::I8,
            "uchar" | "uint8" => Self::U8,
            "short" | "int16" => Self::I16,
            "ushort" | "uint16" => Self::U16,
            "int" | "int32" => Self::I32,
            "uint" | "uint32" => Self::U32,
            "float" | "float32" => Self::F32,
            "double" | "float64" => Self::F64,
            _ => return None,
        })
    }

    fn is_integer(self) -> bool {
        !matches!(self, Self::F32 | Self::F64)
    }
}

#[derive(Debug)]
struct Property {
    name: String,
    kind: Kind,
    /// Type of the length, if it is a list.
    length: Option<Kind>,
}

#[derive(Debug)]
struct Element {
    name: String,
    count: u64,
    properties: Vec<Property>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoding {
    Ascii,
    LittleEndian,
    BigEndian,
}

struct Header {
    encoding: Encoding,
    elements: Vec<Element>,
    /// Bytes and lines that it takes.
    size: usize,
    lines: usize,
}

/// Reads PLY data; `file` is for messages.
///
/// Read are the `vertex` element's `x`, `y`, `z` and the `face` element's `vertex_indices` (or
/// `vertex_index`); other elements and properties are passed over.
pub fn ply(bytes: &[u8], file: &str) -> Result<Mesh, ReadError> {
    let header = header(bytes, file)?;
    let body = &bytes[header.size..];
    if header.encoding == Encoding::Ascii {
        let text = String::from_utf8_lossy(body);
        let mut lines = text.lines();
        let first = lines.next().unwrap_or_default().split_whitespace();
        let source = Text { file, line: header.lines + 1, lines, tokens: first };
        return elements(&header.elements, source);
    }
    let big = header.encoding == Encoding::BigEndian;
    elements(&header.elements, Binary { file, bytes, offset: header.size, big })
}

fn header(bytes: &[u8], file: &str) -> Result<Header, ReadError> {
    let mut encoding = None;
    let mut elements: Vec<Element> = Vec::new();
    let (mut size, mut line) = (0, 0);
    loop {
        line += 1;
        let at = At { file, line };
        let rest = &bytes[size..];
        // A header line is short: in other data, don't search to the end of it.
        let window = &rest[..rest.len().min(4096)];
        let Some(end) = window.iter().position(|&b| b == b'\n') else {
            let what = if line == 1 { "the first line is not `ply`" } else { "no `end_header`" };
            return Err(at.error(format!("{what}: this is not a PLY file")));
        };
        size += end + 1;
        let content = String::from_utf8_lossy(&rest[..end]);
        let mut tokens = content.split_whitespace();
        let keyword = tokens.next();
        if line == 1 {
            if keyword != Some("ply") {
                return Err(at.error("the first line is not `ply`: this is not a PLY file"));
            }
            continue;
        }
        match keyword {
            Some("format") => {
                encoding = match (tokens.next(), tokens.next()) {
                    (Some("ascii"), Some("1.0")) => Some(Encoding::Ascii),
                    (Some("binary_little_endian"), Some("1.0")) => Some(Encoding::LittleEndian),
                    (Some("binary_big_endian"), Some("1.0")) => Some(Encoding::BigEndian),
                    _ => {
                        return Err(at.error(
                            "expected the format `ascii 1.0`, `binary_little_endian 1.0` or \
                             `binary_big_endian 1.0`",
                        ));
                    }
                };
            }
            Some("element") => {
                let name = tokens.next().unwrap_or_default().to_owned();
                let limit = match name.as_str() {
                    "vertex" => MAX_VERTICES,
                    "face" => MAX_ELEMENTS,
                    _ => i64::MAX as u64,
                };
                let count = at.count(tokens.next(), &format!("the count of `{name}`"), limit)?;
                elements.push(Element { name, count, properties: Vec::new() });
            }
            Some("property") => {
                let property = property(at, tokens)?;
                let Some(element) = elements.last_mut() else {
                    return Err(at.error("a property stands before the first element"));
                };
                element.properties.push(property);
            }
            Some("end_header") => break,
            Some("comment" | "obj_info") | None => {}
            Some(other) => {
                return Err(at.error(format!("unknown word `{}` in the header", super::cut(other))));
            }
        }
    }
    let Some(encoding) = encoding else {
        return Err(At { file, line }.error("the header has no `format`"));
    };
    Ok(Header { encoding, elements, size, lines: line })
}

fn property(at: At<'_>, mut tokens: SplitWhitespace<'_>) -> Result<Property, ReadError> {
    let kind = |token: Option<&str>| {
        token.and_then(Kind::parse).ok_or_else(|| {
            let found = super::cut(token.unwrap_or_default());
            at.error(format!("unknown type `{found}` of a property"))
        })
    };
    let (length, kind) = match tokens.next() {
        Some("list") => {
            let length = kind(tokens.next())?;
            if !length.is_integer() {
                return Err(at.error("the length of a list must be an integer type"));
            }
            (Some(length), kind(tokens.next())?)
        }
        token => (None, kind(token)?),
    };
    let Some(name) = tokens.next() else {
        return Err(at.error("a property without a name"));
    };
    Ok(Property { name: name.to_owned(), kind, length })
}

/// Where values come from. A value is exact: all integer types fit into a double.
trait Source {
    fn value(&mut self, kind: Kind) -> Result<f64, ReadError>;
    /// Line or byte of what was read last.
    fn place(&self) -> usize;
    fn error_at(&self, place: usize, message: String) -> ReadError;
    fn error(&self, message: String) -> ReadError {
        self.error_at(self.place(), message)
    }
}

struct Text<'a> {
    file: &'a str,
    line: usize,
    lines: std::str::Lines<'a>,
    tokens: SplitWhitespace<'a>,
}

impl Source for Text<'_> {
    fn value(&mut self, kind: Kind) -> Result<f64, ReadError> {
        loop {
            if let Some(token) = self.tokens.next() {
                let at = At { file: self.file, line: self.line };
                return if kind.is_integer() {
                    at.integer(Some(token), "a value").map(|value| value as f64)
                } else {
                    // Not a number is allowed in what is passed over.
                    token.parse().or_else(|_| at.number(Some(token), "a value"))
                };
            }
            let Some(next) = self.lines.next() else {
                return Err(self.error("the file ends before all that its header says".into()));
            };
            self.line += 1;
            self.tokens = next.split_whitespace();
        }
    }

    fn place(&self) -> usize {
        self.line
    }

    fn error_at(&self, line: usize, message: String) -> ReadError {
        At { file: self.file, line }.error(message)
    }
}

struct Binary<'a> {
    file: &'a str,
    bytes: &'a [u8],
    offset: usize,
    big: bool,
}

impl Binary<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], ReadError> {
        let Some(mut array) = self.bytes[self.offset..].first_chunk::<N>().copied() else {
            return Err(self.error("the file ends before all that its header says".into()));
        };
        self.offset += N;
        if self.big {
            array.reverse();
        }
        Ok(array)
    }
}

impl Source for Binary<'_> {
    fn value(&mut self, kind: Kind) -> Result<f64, ReadError> {
        Ok(match kind {
            Kind::I8 => f64::from(i8::from_le_bytes(self.take()?)),
            Kind::U8 => f64::from(u8::from_le_bytes(self.take()?)),
            Kind::I16 => f64::from(i16::from_le_bytes(self.take()?)),
            Kind::U16 => f64::from(u16::from_le_bytes(self.take()?)),
            Kind::I32 => f64::from(i32::from_le_bytes(self.take()?)),
            Kind::U32 => f64::from(u32::from_le_bytes(self.take()?)),
            Kind::F32 => f64::from(f32::from_le_bytes(self.take()?)),
            Kind::F64 => f64::from_le_bytes(self.take()?),
        })
    }

    fn place(&self) -> usize {
        self.offset
    }

    fn error_at(&self, offset: usize, message: String) -> ReadError {
        ReadError::Byte { file: self.file.to_owned(), offset, message }
    }
}

fn elements(elements: &[Element], mut source: impl Source) -> Result<Mesh, ReadError> {
    let mut mesh = Mesh::default();
    let vertex_count = elements.iter().find(|e| e.name == "vertex").map_or(0, |e| e.count);
    // Faces may stand before the vertices, so polygons are cut at the end.
    let mut polygons: Vec<u32> = Vec::new();
    let mut outlines: Vec<(usize, usize)> = Vec::new(); // number of corners, place
    for element in elements {
        let is_vertex = element.name == "vertex";
        let is_face = element.name == "face";
        let axis: Vec<Option<usize>> = element
            .properties
            .iter()
            .map(|p| {
                let plain = is_vertex && p.length.is_none();
                ["x", "y", "z"].iter().position(|axis| plain && *axis == p.name)
            })
            .collect();
        let corners = |p: &Property| {
            is_face && p.length.is_some() && matches!(&*p.name, "vertex_indices" | "vertex_index")
        };
        if is_vertex && element.count > 0 && !(0..3).all(|k| axis.contains(&Some(k))) {
            return Err(source.error("the vertices have no properties x, y and z".into()));
        }
        if is_face && element.count > 0 && !element.properties.iter().any(corners) {
            return Err(source.error("the faces have no list `vertex_indices`".into()));
        }
        if element.properties.is_empty() {
            continue; // whatever its count is, it takes no data
        }
        for index in 0..element.count {
            let mut position = DVec3::ZERO;
            for (property, axis) in element.properties.iter().zip(&axis) {
                let Some(length) = property.length else {
                    let value = source.value(property.kind)?;
                    if let Some(axis) = *axis {
                        if !value.is_finite() {
                            let message = format!(
                                "{} of vertex {index} is {value}, expected a finite number",
                                property.name
                            );
                            return Err(source.error(message));
                        }
                        position[axis] = value;
                    }
                    continue;
                };
                let length = source.value(length)?;
                if length < 0.0 {
                    return Err(source.error(format!("a list has the length {length}")));
                }
                let wanted = corners(property);
                if wanted && length > polygon::MAX_CORNERS as f64 {
                    return Err(source.error(format!("face {index} has {length} corners")));
                }
                for _ in 0..length as u64 {
                    let value = source.value(property.kind)?;
                    if wanted {
                        if !(value >= 0.0 && value < vertex_count as f64 && value.fract() == 0.0) {
                            let message = format!(
                                "face {index} names vertex {value}, but there are {vertex_count}"
                            );
                            return Err(source.error(message));
                        }
                        polygons.push(value as u32);
                    }
                }
                if wanted {
                    outlines.push((length as usize, source.place()));
                }
            }
            if is_vertex {
                mesh.positions.push(position);
            }
        }
    }

    let mut rest = &polygons[..];
    for (index, &(length, place)) in outlines.iter().enumerate() {
        let corners;
        (corners, rest) = rest.split_at(length);
        let outline: Vec<DVec3> = corners.iter().map(|&v| mesh.positions[v as usize]).collect();
        let cut = polygon::triangulate(&outline)
            .map_err(|message| source.error_at(place, format!("face {index}: {message}")))?;
        mesh.triangles.extend(cut.into_iter().map(|t| t.map(|k| corners[k])));
        super::within_limits(0, mesh.triangles.len()).map_err(|message| source.error(message))?;
    }
    Ok(mesh)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ASCII: &str = "ply\nformat ascii 1.0\ncomment two triangles and a tag\n\
        element vertex 4\nproperty double x\nproperty double y\nproperty uchar red\n\
        property double z\nelement face 1\nproperty list uchar int vertex_indices\n\
        element tag 1\nproperty list int float values\nend_header\n\
        0 0 255 0\n1 0 255 0\n1 1 0 0.5\n0 1 0\n0.5\n4 0 1 2 3\n2 nan 3\n";

    fn error(text: &str) -> String {
        ply(text.as_bytes(), "cloth.ply").unwrap_err().to_string()
    }

    /// The same quad in binary, vertices after the faces.
    fn binary(big: bool) -> Vec<u8> {
        let order = if big { "big" } else { "little" };
        let mut bytes = format!(
            "ply\nformat binary_{order}_endian 1.0\nelement face 1\n\
             property list uchar ushort vertex_index\nproperty int flags\nelement vertex 4\n\
             property float x\nproperty float y\nproperty float z\nend_header\n"
        )
        .into_bytes();
        let put = |bytes: &mut Vec<u8>, mut value: Vec<u8>| {
            if big {
                value.reverse();
            }
            bytes.extend(value);
        };
        bytes.push(4);
        for v in 0..4u16 {
            put(&mut bytes, v.to_le_bytes().to_vec());
        }
        put(&mut bytes, 7i32.to_le_bytes().to_vec());
        for x in [[0.0f32, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.5], [0.0, 1.0, 0.5]] {
            for value in x {
                put(&mut bytes, value.to_le_bytes().to_vec());
            }
        }
        bytes
    }

    #[test]
    fn all_encodings_give_the_same_mesh() {
        let mesh = ply(ASCII.as_bytes(), "cloth.ply").unwrap();
        assert_eq!(mesh.positions[2], DVec3::new(1.0, 1.0, 0.5));
        assert_eq!(mesh.triangles, [[0, 1, 2], [0, 2, 3]]);
        for big in [false, true] {
            assert_eq!(ply(&binary(big), "cloth.ply").unwrap(), mesh);
        }
    }

    #[test]
    fn errors_name_line_or_byte() {
        let line = |from: &str, to: &str| error(&ASCII.replace(from, to));
        assert_eq!(
            line("1 1 0 0.5", "1 nan 0 0.5"),
            "cloth.ply:16: y of vertex 2 is NaN, expected a finite number"
        );
        assert_eq!(line("1 1 0", "1 one 0"), "cloth.ply:16: a value is `one`, expected a number");
        assert_eq!(
            line("4 0 1 2 3", "4 0 1 2 4"),
            "cloth.ply:19: face 0 names vertex 4, but there are 4"
        );
        assert!(line("4 0 1 2 3", "4 0 1 2 -3").contains("names vertex -3"));
        assert!(line("4 0 1 2 3", "4 0 1 0 1").starts_with("cloth.ply:19: face 0: "));
        assert!(line("2 nan 3", "2 nan").contains("cloth.ply:20: the file ends"));
        assert!(line("double z", "double w").contains("no properties x, y and z"));
        assert!(line("ascii", "text").starts_with("cloth.ply:2: expected the format"));
        assert!(error("obj\n").contains("not a PLY file"));
        assert!(error("ply\nformat ascii 1.0\n").contains("end_header"));
        let mut short = binary(false);
        short.truncate(short.len() - 1);
        let error = ply(&short, "cloth.ply").unwrap_err().to_string();
        assert!(error.starts_with("cloth.ply: at byte "), "{error}");
    }

    #[test]
    fn huge_counts_are_refused_or_not_believed() {
        assert!(error(&ASCII.replace("vertex 4", "vertex 1000000000")).contains("134217728"));
        assert!(error(&ASCII.replace("vertex 4", "vertex -1")).contains("expected 0 to"));
        let promised = ASCII.replace("face 1", "face 200000000");
        assert!(error(&promised).contains("expected a whole number"));
        let empty = "ply\nformat ascii 1.0\nelement nothing 9000000000000000000\nend_header\n";
        assert_eq!(ply(empty.as_bytes(), "empty.ply").unwrap(), Mesh::default());
    }

    proptest! {
        #[test]
        fn damaged_files_are_read_or_refused(
            big: bool, at in 0usize..300, byte: u8, length in 0usize..300,
        ) {
            let mut bytes = binary(big);
            let last = bytes.len() - 1;
            bytes[at.min(last)] = byte;
            bytes.truncate(length.max(50));
            let _ = ply(&bytes, "damaged.ply");
        }
    }
}
