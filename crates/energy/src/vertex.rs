//! Which stencils touch a vertex.

/// For every vertex, the stencils around it and which corner it is of each.
#[derive(Clone, Debug, Default)]
pub(crate) struct Incidence {
    start: Vec<u32>,
    entries: Vec<(u32, u32)>,
}

impl Incidence {
    /// Counting sort of `stencils` (`arity` vertices each) by vertex; entries of a vertex are ordered by corner, then
    /// stencil, so that sums have one order and equal corners stand together.
    pub(crate) fn new(stencils: &[u32], arity: usize, vertex_count: usize) -> Self {
        let mut start = vec![0_u32; vertex_count + 1];
        for &v in stencils {
            start[v as usize + 1] += 1;
        }
        for v in 0..vertex_count {
            start[v + 1] += start[v];
        }
        let mut next = start.clone();
        let mut entries = vec![(0, 0); stencils.len()];
        for corner in 0..arity {
            for (stencil, vertices) in stencils.chunks_exact(arity).enumerate() {
                let slot = &mut next[vertices[corner] as usize];
                entries[*slot as usize] = (stencil as u32, corner as u32);
                *slot += 1;
            }
        }
        Self { start, entries }
    }

    /// `(stencil, corner)` pairs of a vertex.
    pub(crate) fn around(&self, vertex: u32) -> &[(u32, u32)] {
        let v = vertex as usize;
        &self.entries[self.start[v] as usize..self.start[v + 1] as usize]
    }
}
