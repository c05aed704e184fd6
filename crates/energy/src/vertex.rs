//! Which stencils touch a vertex.

/// For every vertex and corner, the stencils that have the vertex at that corner.
#[derive(Clone, Debug, Default)]
pub(crate) struct Incidence {
    arity: usize,
    /// Where the list of `arity * vertex + corner` begins.
    start: Vec<u32>,
    stencils: Vec<u32>,
}

impl Incidence {
    /// Counting sort of `stencils` (`arity` vertices each) by vertex, then corner; each list by stencil, so that sums have
    /// one order.
    pub(crate) fn new(stencils: &[u32], arity: usize, vertex_count: usize) -> Self {
        let list = |place: usize, vertex: u32| arity * vertex as usize + place % arity;
        let mut start = vec![0_u32; arity * vertex_count + 1];
        for (place, &v) in stencils.iter().enumerate() {
            start[list(place, v) + 1] += 1;
        }
        for k in 1..start.len() {
            start[k] += start[k - 1];
        }
        let mut next = start.clone();
        let mut sorted = vec![0; stencils.len()];
        for (place, &v) in stencils.iter().enumerate() {
            let slot = &mut next[list(place, v)];
            sorted[*slot as usize] = (place / arity) as u32;
            *slot += 1;
        }
        Self { arity, start, stencils: sorted }
    }

    /// Stencils that have `vertex` at `corner`, rising.
    #[inline]
    pub(crate) fn around(&self, vertex: u32, corner: usize) -> &[u32] {
        let list = self.arity * vertex as usize + corner;
        &self.stencils[self.start[list] as usize..self.start[list + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stencils_are_listed_by_vertex_and_corner() {
        let incidence = Incidence::new(&[0, 1, 2, 2, 1, 3, 0, 2, 1], 3, 5);
        assert_eq!(incidence.around(0, 0), [0, 2]);
        assert_eq!(incidence.around(1, 1), [0, 1]);
        assert_eq!(incidence.around(2, 0), [1]);
        assert_eq!(incidence.around(1, 2), [2]);
        assert!(incidence.around(4, 0).is_empty() && incidence.around(3, 0).is_empty());
    }
}
