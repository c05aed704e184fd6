//! Gmsh MSH, ASCII, versions 2.2 and 4.1.

use std::collections::BTreeMap;

use glam::DVec3;

use super::{At, ReadError, cut, within_limits};
use crate::{MAX_ELEMENTS, MAX_VERTICES, Mesh, surface};

/// Reads MSH text; `file` is for messages.
///
/// Read are triangles and tetrahedra; points and lines count only for groups, which are the
/// physical groups (`physical-7` if one has no name). If there are tetrahedra, the mesh's triangles
/// are their surface. Nodes that no triangle or tetrahedron uses, such as the construction points
/// that Gmsh keeps, are left out; the others keep their order.
pub fn msh(text: &str, file: &str) -> Result<Mesh, ReadError> {
    let mut reader = Reader { file, line: 0, lines: text.trim_start_matches('\u{feff}').lines() };
    let mut data = Data::default();
    let mut version = None;
    while let Some((at, line)) = reader.next_line() {
        let Some(section) = line.strip_prefix('$') else {
            return Err(
                at.error(format!("expected a section such as $Nodes, found `{}`", cut(line)))
            );
        };
        match section {
            "MeshFormat" => version = Some(format(&mut reader)?),
            "PhysicalNames" => physical_names(&mut reader, &mut data)?,
            "Entities" if version == Some(Version::V41) => entities(&mut reader, &mut data)?,
            "Nodes" | "Elements" => match (version, section) {
                (None, _) => return Err(at.error("there is no $MeshFormat before this section")),
                (Some(Version::V22), "Nodes") => nodes_22(&mut reader, &mut data)?,
                (Some(Version::V41), "Nodes") => nodes_41(&mut reader, &mut data)?,
                (Some(Version::V22), _) => elements_22(&mut reader, &mut data)?,
                (Some(Version::V41), _) => elements_41(&mut reader, &mut data)?,
            },
            _ => {}
        }
        reader.skip_to_end(section)?;
    }
    if version.is_none() {
        return Err(At { file, line: 1 }.error("there is no $MeshFormat: this is not an MSH file"));
    }
    data.mesh(file)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    V22,
    V41,
}

struct Node {
    tag: i64,
    position: DVec3,
    line: usize,
}

/// One element that matters: its kind by its number of nodes.
struct Element {
    line: usize,
    /// Node tags; unused ones 0.
    nodes: [i64; 4],
    count: usize,
    /// Dimension and physical tags: of the element in 2.2, of its entity in 4.1.
    dimension: i64,
    physical: Vec<i64>,
}

#[derive(Default)]
struct Data {
    nodes: Vec<Node>,
    elements: Vec<Element>,
    /// Names of physical groups by dimension and tag.
    names: BTreeMap<(i64, i64), String>,
    /// Physical tags of the entities by dimension and tag (4.1).
    entities: BTreeMap<(i64, i64), Vec<i64>>,
}

struct Reader<'a> {
    file: &'a str,
    line: usize,
    lines: std::str::Lines<'a>,
}

impl<'a> Reader<'a> {
    /// The next line that is not empty.
    fn next_line(&mut self) -> Option<(At<'a>, &'a str)> {
        loop {
            let line = self.lines.next()?.trim();
            self.line += 1;
            if !line.is_empty() {
                return Some((At { file: self.file, line: self.line }, line));
            }
        }
    }

    /// The next line inside a section.
    fn row(&mut self) -> Result<Row<'a>, ReadError> {
        match self.next_line() {
            Some((at, line)) if !line.starts_with('$') => {
                Ok(Row { at, tokens: line.split_whitespace() })
            }
            Some((at, line)) => Err(
                at.error(format!("`{}` ends the section before all that it announces", cut(line)))
            ),
            None => Err(At { file: self.file, line: self.line }.error("the file ends too early")),
        }
    }

    fn skip_to_end(&mut self, section: &str) -> Result<(), ReadError> {
        while let Some((_, line)) = self.next_line() {
            if line.strip_prefix("$End") == Some(section) {
                return Ok(());
            }
        }
        let at = At { file: self.file, line: self.line };
        Err(at.error(format!("the file ends without $End{}", cut(section))))
    }
}

/// A line as tokens.
struct Row<'a> {
    at: At<'a>,
    tokens: std::str::SplitWhitespace<'a>,
}

impl Row<'_> {
    fn integer(&mut self, what: &str) -> Result<i64, ReadError> {
        self.at.integer(self.tokens.next(), what)
    }

    fn count(&mut self, what: &str) -> Result<u64, ReadError> {
        self.at.count(self.tokens.next(), what, MAX_VERTICES.max(MAX_ELEMENTS))
    }

    fn point(&mut self) -> Result<DVec3, ReadError> {
        let mut axis = |what| self.at.number(self.tokens.next(), what);
        Ok(DVec3::new(axis("the node's x")?, axis("the node's y")?, axis("the node's z")?))
    }

    fn integers(&mut self, what: &str) -> Result<Vec<i64>, ReadError> {
        let count = self.count(what)?;
        (0..count).map(|_| self.integer(what)).collect()
    }
}

fn format(reader: &mut Reader<'_>) -> Result<Version, ReadError> {
    let mut row = reader.row()?;
    let found = row.tokens.next().unwrap_or_default();
    let version = match found {
        "2.2" => Version::V22,
        "4.1" => Version::V41,
        _ => {
            let message = format!("MSH version `{}`, expected 2.2 or 4.1", cut(found));
            return Err(row.at.error(message));
        }
    };
    if row.integer("the file type")? != 0 {
        return Err(row.at.error("the file is binary, expected ASCII (Gmsh: Mesh.Binary = 0)"));
    }
    Ok(version)
}

fn physical_names(reader: &mut Reader<'_>, data: &mut Data) -> Result<(), ReadError> {
    for _ in 0..reader.row()?.count("the number of physical names")? {
        let mut row = reader.row()?;
        let key = (row.integer("the dimension")?, row.integer("the physical tag")?);
        let name = row.tokens.collect::<Vec<_>>().join(" ");
        data.names.insert(key, name.trim_matches('"').to_owned());
    }
    Ok(())
}

fn entities(reader: &mut Reader<'_>, data: &mut Data) -> Result<(), ReadError> {
    let mut row = reader.row()?;
    let mut counts = [0; 4];
    for count in &mut counts {
        *count = row.count("the number of entities")?;
    }
    for (dimension, count) in (0i64..).zip(counts) {
        for _ in 0..count {
            let mut row = reader.row()?;
            let tag = row.integer("the entity's tag")?;
            for _ in 0..if dimension == 0 { 3 } else { 6 } {
                row.at.number(row.tokens.next(), "a coordinate of the entity")?;
            }
            let physical = row.integers("a physical tag of the entity")?;
            data.entities.insert((dimension, tag), physical);
        }
    }
    Ok(())
}

fn nodes_22(reader: &mut Reader<'_>, data: &mut Data) -> Result<(), ReadError> {
    for _ in 0..reader.row()?.count("the number of nodes")? {
        let mut row = reader.row()?;
        let tag = row.integer("the node's tag")?;
        data.push_node(&mut row, tag)?;
    }
    Ok(())
}

fn nodes_41(reader: &mut Reader<'_>, data: &mut Data) -> Result<(), ReadError> {
    for _ in 0..reader.row()?.count("the number of blocks of nodes")? {
        let mut row = reader.row()?;
        for what in ["the entity's dimension", "the entity's tag", "whether nodes are parametric"] {
            row.integer(what)?;
        }
        let mut tags = Vec::new();
        for _ in 0..row.count("the number of nodes")? {
            tags.push(reader.row()?.integer("the node's tag")?);
        }
        for tag in tags {
            let mut row = reader.row()?;
            data.push_node(&mut row, tag)?; // parametric coordinates may follow
        }
    }
    Ok(())
}

fn elements_22(reader: &mut Reader<'_>, data: &mut Data) -> Result<(), ReadError> {
    for _ in 0..reader.row()?.count("the number of elements")? {
        let mut row = reader.row()?;
        row.integer("the element's tag")?;
        let (count, dimension) = shape(row.at, row.integer("the element's type")?)?;
        let tags = row.integers("a tag of the element")?;
        // The first tag is the physical one; 0 stands for none.
        let physical = tags.first().copied().filter(|&tag| tag != 0).into_iter().collect();
        data.push_element(row, count, dimension, physical)?;
    }
    Ok(())
}

fn elements_41(reader: &mut Reader<'_>, data: &mut Data) -> Result<(), ReadError> {
    for _ in 0..reader.row()?.count("the number of blocks of elements")? {
        let mut row = reader.row()?;
        let entity = (row.integer("the entity's dimension")?, row.integer("the entity's tag")?);
        let (count, dimension) = shape(row.at, row.integer("the elements' type")?)?;
        let physical = data.entities.get(&entity).cloned().unwrap_or_default();
        for _ in 0..row.count("the number of elements")? {
            let mut row = reader.row()?;
            row.integer("the element's tag")?;
            data.push_element(row, count, dimension, physical.clone())?;
        }
    }
    Ok(())
}

/// Nodes and dimension of an element type.
fn shape(at: At<'_>, kind: i64) -> Result<(usize, i64), ReadError> {
    match kind {
        15 => Ok((1, 0)),
        1 => Ok((2, 1)),
        2 => Ok((3, 2)),
        4 => Ok((4, 3)),
        _ => {
            let name = match kind {
                3 => " (quadrangle)",
                5 => " (hexahedron)",
                6 => " (prism)",
                7 => " (pyramid)",
                8..=14 => " (of second order)",
                _ => "",
            };
            Err(at.error(format!(
                "elements of type {kind}{name} can't be used, expected triangles (2) and \
                 tetrahedra (4) of first order"
            )))
        }
    }
}

impl Data {
    fn push_node(&mut self, row: &mut Row<'_>, tag: i64) -> Result<(), ReadError> {
        self.nodes.push(Node { tag, position: row.point()?, line: row.at.line });
        within_limits(self.nodes.len(), 0).map_err(|message| row.at.error(message))
    }

    fn push_element(
        &mut self,
        mut row: Row<'_>,
        count: usize,
        dimension: i64,
        physical: Vec<i64>,
    ) -> Result<(), ReadError> {
        let mut nodes = [0; 4];
        for node in &mut nodes[..count] {
            *node = row.integer("a node of the element")?;
        }
        let line = row.at.line;
        self.elements.push(Element { line, nodes, count, dimension, physical });
        within_limits(0, self.elements.len()).map_err(|message| row.at.error(message))
    }

    fn mesh(mut self, file: &str) -> Result<Mesh, ReadError> {
        // Node tags may have gaps and any order: look them up by bisection.
        let mut order: Vec<u32> = (0..self.nodes.len() as u32).collect();
        order.sort_by_key(|&i| self.nodes[i as usize].tag);
        let tag = |i: u32| self.nodes[i as usize].tag;
        if let Some(pair) = order.windows(2).find(|pair| tag(pair[0]) == tag(pair[1])) {
            let [first, second] = [pair[0], pair[1]].map(|i| &self.nodes[i as usize]);
            let message = format!("the node has the tag {} of line {}", second.tag, first.line);
            return Err(At { file, line: second.line }.error(message));
        }
        let mut used = vec![false; self.nodes.len()];
        for element in &mut self.elements {
            for node in &mut element.nodes[..element.count] {
                let Ok(found) = order.binary_search_by_key(node, |&i| tag(i)) else {
                    let message = format!("the element names node {node}, which doesn't exist");
                    return Err(At { file, line: element.line }.error(message));
                };
                *node = i64::from(order[found]);
                used[order[found] as usize] |= element.dimension >= 2;
            }
        }

        let mut mesh = Mesh::default();
        let mut index = vec![u32::MAX; self.nodes.len()];
        for (i, node) in self.nodes.iter().enumerate() {
            if used[i] {
                index[i] = mesh.positions.len() as u32;
                mesh.positions.push(node.position);
            }
        }
        for element in &self.elements {
            let vertices = element.nodes.map(|node| index[node as usize]);
            match element.count {
                3 => mesh.triangles.push([vertices[0], vertices[1], vertices[2]]),
                4 => mesh.tets.push(vertices),
                _ => {}
            }
            for &physical in &element.physical {
                let name = match self.names.get(&(element.dimension, physical)) {
                    Some(name) if !name.is_empty() => name.clone(),
                    _ => format!("physical-{physical}"),
                };
                let kept = vertices[..element.count].iter().filter(|&&v| v != u32::MAX);
                mesh.groups.entry(name).or_default().extend(kept);
            }
        }
        for group in mesh.groups.values_mut() {
            group.sort_unstable();
            group.dedup();
        }
        if !mesh.tets.is_empty() {
            mesh.triangles = surface(&mesh.tets);
        }
        Ok(mesh)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two triangles with a named edge, and a construction point that is not used.
    const V22: &str = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n\
        $PhysicalNames\n1\n1 7 \"left side\"\n$EndPhysicalNames\n\
        $Nodes\n5\n10 0 0 0\n20 1 0 0\n99 5 5 5\n30 1 1 0\n40 0 1 0\n$EndNodes\n\
        $Elements\n4\n1 15 2 0 1 99\n2 1 2 7 1 10 40\n3 2 2 3 1 10 20 30\n4 2 2 3 1 10 30 40\n\
        $EndElements\n";

    /// One tetrahedron and one of its faces, which is a physical group.
    const V41: &str = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n\
        $PhysicalNames\n1\n2 5 \"base\"\n$EndPhysicalNames\n\
        $Entities\n1 0 1 1\n1 0 0 0 0\n1 0 0 0 1 1 0 1 5 0\n1 0 0 0 1 1 1 0 1 1\n$EndEntities\n\
        $Nodes\n2 4 1 4\n2 1 0 3\n1\n2\n3\n0 0 0\n1 0 0\n0 1 0\n3 1 1 1\n4\n0 0 1 0.5 0.5 0.5\n\
        $EndNodes\n\
        $Elements\n2 2 1 2\n2 1 2 1\n1 1 3 2\n3 1 4 1\n2 1 2 3 4\n$EndElements\n\
        $Periodic\n0\n$EndPeriodic\n";

    fn error(text: &str) -> String {
        msh(text, "part.msh").unwrap_err().to_string()
    }

    #[test]
    fn version_2_triangles_and_groups() {
        let mesh = msh(V22, "part.msh").unwrap();
        mesh.check().unwrap();
        assert_eq!(mesh.positions.len(), 4);
        assert_eq!(mesh.triangles, [[0, 1, 2], [0, 2, 3]]);
        assert_eq!(mesh.groups["left side"], [0, 3]);
        assert_eq!(mesh.groups["physical-3"], [0, 1, 2, 3]);
    }

    #[test]
    fn version_4_tets_and_groups() {
        let mesh = msh(V41, "part.msh").unwrap();
        mesh.check().unwrap();
        assert_eq!(mesh.tets, [[0, 1, 2, 3]]);
        assert_eq!(mesh.triangles.len(), 4);
        assert_eq!(mesh.positions[3], DVec3::Z);
        assert_eq!(mesh.groups["base"], [0, 1, 2]);
    }

    #[test]
    fn errors_name_file_and_line() {
        let e22 = |from: &str, to: &str| error(&V22.replace(from, to));
        assert_eq!(
            e22("20 1 0 0", "20 1 inf 0"),
            "part.msh:11: the node's y is `inf`, expected a finite number"
        );
        assert_eq!(
            e22("10 20 30", "10 20 31"),
            "part.msh:20: the element names node 31, which doesn't exist"
        );
        assert_eq!(e22("20 1 0 0", "10 1 0 0"), "part.msh:11: the node has the tag 10 of line 10");
        assert!(e22("2.2 0", "4.0 0").contains("expected 2.2 or 4.1"));
        assert!(e22("2.2 0", "2.2 1").contains("binary"));
        assert!(e22("3 2 2 3 1 10", "3 3 2 3 1 10 20").contains("type 3 (quadrangle)"));
        assert!(e22("$Nodes\n5", "$Nodes\n7").contains("ends the section"));
        assert!(e22("$Nodes\n5", "$Nodes\n999999999999").contains("expected 0 to"));
        assert!(e22("$EndElements\n", "").contains("without $EndElements"));
        assert!(error("solid\n").starts_with("part.msh:1: expected a section"));
        assert!(error("").contains("not an MSH file"));
    }
}
