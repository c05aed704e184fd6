//! VTK XML for ParaView: one unstructured grid (`.vtu`) for each body and frame, one collection (`.pvd`).
//!
//! Arrays stand in the XML as base64, so the files are valid XML and open in ParaView and meshio.
//! Format: "VTK XML Formats" of the VTK user's guide; an inline array is its length in bytes (`UInt64`)
//! followed by the numbers, encoded together.

use std::fmt::Write as _;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use glam::DVec3;

use crate::error::{At, Result};

/// VTK's numbers of cell types.
const VERTEX: u8 = 1;
const TRIANGLE: u8 = 5;

/// Writes points with triangles (or, without any, as single points) and one number a point for each of
/// `scalars`.
pub(crate) fn write_vtu(
    path: &Path,
    points: &[DVec3],
    faces: &[[u32; 3]],
    scalars: &[(&str, &[f32])],
) -> Result<()> {
    let n = points.len();
    let (cells, corners, kind) =
        if faces.is_empty() { (n, 1, VERTEX) } else { (faces.len(), 3, TRIANGLE) };
    let mut xml = String::new();
    xml += "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" \
            byte_order=\"LittleEndian\" header_type=\"UInt64\">\n<UnstructuredGrid>\n";
    let _ = writeln!(xml, "<Piece NumberOfPoints=\"{n}\" NumberOfCells=\"{cells}\">\n<Points>");
    let numbers = points.iter().flat_map(DVec3::to_array).flat_map(f64::to_le_bytes);
    array(&mut xml, "Points", "Float64", 3, numbers);
    xml += "</Points>\n<Cells>\n";
    if faces.is_empty() {
        array(&mut xml, "connectivity", "Int64", 1, (0..n as u64).flat_map(u64::to_le_bytes));
    } else {
        let indices = faces.iter().flatten().flat_map(|i| u64::from(*i).to_le_bytes());
        array(&mut xml, "connectivity", "Int64", 1, indices);
    }
    let ends = (1..=cells as u64).flat_map(|c| (c * corners).to_le_bytes());
    array(&mut xml, "offsets", "Int64", 1, ends);
    array(&mut xml, "types", "UInt8", 1, std::iter::repeat_n(kind, cells));
    xml += "</Cells>\n<PointData>\n";
    for (name, values) in scalars {
        array(&mut xml, name, "Float32", 1, values.iter().flat_map(|v| v.to_le_bytes()));
    }
    xml += "</PointData>\n</Piece>\n</UnstructuredGrid>\n</VTKFile>\n";
    std::fs::write(path, xml).at("write the VTU file", path)
}

fn array(
    xml: &mut String,
    name: &str,
    kind: &str,
    components: usize,
    data: impl Iterator<Item = u8>,
) {
    let mut bytes = vec![0; 8];
    bytes.extend(data);
    let length = (bytes.len() - 8) as u64;
    bytes[..8].copy_from_slice(&length.to_le_bytes());
    // One component is the default; naming it makes some readers give a column instead of a list.
    let many = if components == 1 {
        String::new()
    } else {
        format!(" NumberOfComponents=\"{components}\"")
    };
    let _ = write!(xml, "<DataArray type=\"{kind}\" Name=\"{name}\"{many} format=\"binary\">");
    STANDARD.encode_string(&bytes, xml);
    xml.push_str("</DataArray>\n");
}

/// One file of a collection.
pub(crate) struct Part {
    pub(crate) time: f64,
    pub(crate) body: usize,
    pub(crate) name: String,
    pub(crate) file: String,
}

/// Writes the collection that ties the files of all frames and bodies together.
pub(crate) fn write_pvd(path: &Path, parts: &[Part]) -> Result<()> {
    let mut xml = String::from(
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\" byte_order=\"LittleEndian\">\n<Collection>\n",
    );
    for Part { time, body, name, file } in parts {
        let name = name.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
        let _ = writeln!(
            xml,
            "<DataSet timestep=\"{time}\" part=\"{body}\" name=\"{name}\" file=\"{file}\"/>"
        );
    }
    xml += "</Collection>\n</VTKFile>\n";
    std::fs::write(path, xml).at("write the PVD file", path)
}
