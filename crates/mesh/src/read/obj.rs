//! Wavefront OBJ.

use std::collections::BTreeMap;

use glam::DVec3;

use super::{At, ReadError, cut, polygon, within_limits};
use crate::Mesh;

/// A face as written: 0-based vertices, and where.
struct Face {
    line: usize,
    corners: Vec<i64>,
    group: usize,
}

/// Reads OBJ text; `file` is for messages.
///
/// Read are `v` (a colour or weight after the three coordinates is ignored), `f` in all its forms
/// (`v`, `v/vt`, `v//vn`, `v/vt/vn`; negative indices count back from the vertices read so far),
/// and `o` and `g`, whose faces' vertices become groups. Everything else is passed over.
pub fn obj(text: &str, file: &str) -> Result<Mesh, ReadError> {
    let mut positions = Vec::new();
    let mut faces: Vec<Face> = Vec::new();
    let mut group_names: Vec<String> = vec![String::new()];
    let mut group = 0;

    for (line, content) in logical_lines(text) {
        let at = At { file, line };
        let content = content.split('#').next().unwrap_or_default();
        let mut tokens = content.split_whitespace();
        match tokens.next() {
            Some("v") => {
                let mut coordinate = |what| at.number(tokens.next(), what);
                let (x, y) = (coordinate("the vertex's x")?, coordinate("the vertex's y")?);
                positions.push(DVec3::new(x, y, coordinate("the vertex's z")?));
            }
            Some("f") => {
                let corners = tokens
                    .map(|token| corner(at, token, positions.len()))
                    .collect::<Result<Vec<i64>, _>>()?;
                faces.push(Face { line, corners, group });
            }
            Some("o" | "g") => {
                let name = tokens.collect::<Vec<_>>().join(" ");
                group = group_names.iter().position(|n| *n == name).unwrap_or_else(|| {
                    group_names.push(name);
                    group_names.len() - 1
                });
            }
            _ => {}
        }
        within_limits(positions.len(), faces.len()).map_err(|message| at.error(message))?;
    }

    let mut triangles = Vec::new();
    let mut groups: Vec<Vec<u32>> = vec![Vec::new(); group_names.len()];
    for face in &faces {
        let at = At { file, line: face.line };
        let count = positions.len();
        if let Some(bad) = face.corners.iter().find(|&&v| v as usize >= count) {
            let message = format!("the face names vertex {}, but there are {count}", bad + 1);
            return Err(at.error(message));
        }
        let corners: Vec<u32> = face.corners.iter().map(|&v| v as u32).collect();
        let outline: Vec<DVec3> = corners.iter().map(|&v| positions[v as usize]).collect();
        let cut = polygon::triangulate(&outline).map_err(|message| at.error(message))?;
        triangles.extend(cut.into_iter().map(|t| t.map(|k| corners[k])));
        within_limits(count, triangles.len()).map_err(|message| at.error(message))?;
        groups[face.group].extend(corners);
    }
    let groups: BTreeMap<String, Vec<u32>> = group_names
        .into_iter()
        .zip(groups)
        .filter(|(name, group)| !name.is_empty() && !group.is_empty())
        .map(|(name, mut group)| {
            group.sort_unstable();
            group.dedup();
            (name, group)
        })
        .collect();
    Ok(Mesh { positions, triangles, tets: Vec::new(), groups })
}

/// The 0-based vertex of a corner such as `7/1/2` or `-3//-3`, with `count` vertices read so far.
/// A vertex that is still to come is allowed here.
fn corner(at: At<'_>, token: &str, count: usize) -> Result<i64, ReadError> {
    let mut parts = token.split('/');
    let index = at.integer(parts.next(), "a corner's vertex")?;
    for other in parts.filter(|part| !part.is_empty()) {
        at.integer(Some(other), "a corner's texture coordinate or normal")?;
    }
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    match index {
        1.. => Ok(index - 1),
        0 => Err(at.error("a corner names vertex 0, but vertices are numbered from 1")),
        _ if index >= -count => Ok(count + index),
        _ => {
            let token = cut(token);
            Err(at.error(format!(
                "the corner `{token}` counts back beyond the {count} vertices above"
            )))
        }
    }
}

/// Lines with their numbers; one that ends in a backslash is joined with the next.
fn logical_lines(text: &str) -> impl Iterator<Item = (usize, std::borrow::Cow<'_, str>)> {
    let mut lines = text.trim_start_matches('\u{feff}').lines().enumerate();
    std::iter::from_fn(move || {
        let (index, first) = lines.next()?;
        let Some(start) = first.trim_end().strip_suffix('\\') else {
            return Some((index + 1, first.into()));
        };
        let mut joined = start.to_owned();
        for (_, next) in lines.by_ref() {
            joined.push(' ');
            if let Some(part) = next.trim_end().strip_suffix('\\') {
                joined.push_str(part);
            } else {
                joined.push_str(next);
                break;
            }
        }
        Some((index + 1, joined.into()))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::measure;

    fn error(text: &str) -> String {
        obj(text, "cloth.obj").unwrap_err().to_string()
    }

    #[test]
    fn negative_indices_count_back_from_their_own_line() {
        // mikedh/trimesh#2556, #2364
        let mesh = obj(
            "v 0 0 0\nv 1 0 0\nv 0 1 0\nf -3 -2 -1\nv 0 0 1\nv 1 0 1\nv 0 1 1\n\
             f -3//-3 -2//-2 -1//-1\n",
            "blocks.obj",
        )
        .unwrap();
        assert_eq!(mesh.triangles, [[0, 1, 2], [3, 4, 5]]);
        assert_eq!(mesh.positions.len(), 6);
    }

    #[test]
    fn polygons_that_are_not_convex_keep_their_area() {
        // tinyobjloader/tinyobjloader#150: a fan would have area 12.
        let mesh = obj("v 4 0 0\nv 1 1 0\nv 0 4 0\nv 0 0 0\nf 1 2 3 4\n", "arrow.obj").unwrap();
        assert_eq!(mesh.triangles, [[3, 0, 1], [1, 2, 3]]);
        assert_eq!(measure::total_area(&mesh.positions, &mesh.triangles), 4.0);
        mesh.check().unwrap();
    }

    #[test]
    fn forms_of_corners_groups_and_line_ends() {
        let mesh = obj(
            "# a comment\r\no patch one\r\nv 0 0 0 1.0\nv 1 0 0 0.5 0.5 0.5 # colour\nv 1 1 0\n\
             v 0 1 0\nvt 0 0\nvn 0 0 1\ns off\nusemtl red\nf 1/1/1 2/1/1 \\\n 3/1/1\ng two\n\
             f 1/1 3/1 4/1\n",
            "forms.obj",
        )
        .unwrap();
        assert_eq!(mesh.triangles, [[0, 1, 2], [0, 2, 3]]);
        assert_eq!(mesh.groups["patch one"], [0, 1, 2]);
        assert_eq!(mesh.groups["two"], [0, 2, 3]);
    }

    #[test]
    fn errors_name_file_and_line() {
        assert_eq!(
            error("v 0 0 0\nv 1 x 0\n"),
            "cloth.obj:2: the vertex's y is `x`, expected a number"
        );
        assert_eq!(
            error("v 0 0 nan\n"),
            "cloth.obj:1: the vertex's z is `nan`, expected a finite number"
        );
        assert_eq!(error("v 0 0\n"), "cloth.obj:1: the vertex's z is missing");
        let three = "v 0 0 0\nv 1 0 0\nv 0 1 0\n";
        for (face, message) in [
            ("f 1 2 4", "cloth.obj:4: the face names vertex 4, but there are 3"),
            ("f 1 2 0", "cloth.obj:4: a corner names vertex 0, but vertices are numbered from 1"),
            ("f 1 2 -4", "cloth.obj:4: the corner `-4` counts back beyond the 3 vertices above"),
            ("f 1 2 b", "cloth.obj:4: a corner's vertex is `b`, expected a whole number"),
            ("f 1 2", "cloth.obj:4: a face has 2 corners, expected at least 3"),
        ] {
            assert_eq!(error(&format!("{three}{face}\n")), message);
        }
        assert!(error("v 0 0 0\nf 1 9223372036854775807 1").contains("there are 1"));
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "([vfog#] ?[-0-9/. ax]*\\\\?\n){0,20}") {
            let _ = obj(&text, "any.obj");
        }
    }
}
