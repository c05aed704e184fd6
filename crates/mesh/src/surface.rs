//! The surface of a tetrahedral mesh.

/// The triangles that belong to one tetrahedron only, directed outward for tetrahedra of positive
/// volume, in the order of the tetrahedra.
pub fn surface(tets: &[[u32; 4]]) -> Vec<[u32; 3]> {
    let mut faces: Vec<([u32; 3], u32)> = Vec::with_capacity(4 * tets.len());
    let all: Vec<[u32; 3]> = tets
        .iter()
        .flat_map(|&[i, j, k, l]| [[i, k, j], [j, k, l], [i, j, l], [i, l, k]])
        .collect();
    for (index, face) in all.iter().enumerate() {
        let mut key = *face;
        key.sort_unstable();
        faces.push((key, index as u32));
    }
    faces.sort_unstable();
    let mut outer: Vec<u32> = faces
        .chunk_by(|a, b| a.0 == b.0)
        .filter(|set| set.len() == 1)
        .map(|set| set[0].1)
        .collect();
    outer.sort_unstable();
    outer.into_iter().map(|index| all[index as usize]).collect()
}
