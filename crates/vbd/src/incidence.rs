//! Lists per vertex, stored flat.

/// For every vertex the rows that it is part of, and which corner of each it is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Incidence {
    start: Vec<u32>,
    entries: Vec<u32>,
}

impl Incidence {
    /// Sorts numbered rows of four vertices by vertex. Of a row that repeats its second vertex (two spheres) two corners
    /// count, and of a row of one vertex (a slab's) one.
    pub(crate) fn fill(
        &mut self,
        vertex_count: usize,
        rows: impl Iterator<Item = (u32, [u32; 4])> + Clone,
    ) {
        let corners = |[a, b, c, _]: &[u32; 4]| match (b == c, a == b) {
            (true, true) => 1,
            (true, false) => 2,
            _ => 4,
        };
        self.start.clear();
        self.start.resize(vertex_count + 1, 0);
        for (_, vertices) in rows.clone() {
            for &v in &vertices[..corners(&vertices)] {
                self.start[v as usize + 1] += 1;
            }
        }
        for v in 0..vertex_count {
            self.start[v + 1] += self.start[v];
        }
        self.entries.clear();
        self.entries.resize(self.start[vertex_count] as usize, 0);
        // `start[v]` is moved forward as the list of `v` fills, and back again below.
        for (row, vertices) in rows {
            for (corner, &v) in (0..).zip(&vertices[..corners(&vertices)]) {
                let slot = &mut self.start[v as usize];
                self.entries[*slot as usize] = row << 2 | corner;
                *slot += 1;
            }
        }
        self.start.rotate_right(1);
        self.start[0] = 0;
    }

    /// Rows of a vertex by rising number, with its corner in each.
    #[inline]
    pub(crate) fn around(&self, vertex: u32) -> impl Iterator<Item = (usize, usize)> + '_ {
        let v = vertex as usize;
        let range = self.start[v] as usize..self.start[v + 1] as usize;
        self.entries[range].iter().map(|&entry| ((entry >> 2) as usize, (entry & 3) as usize))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_listed_by_vertex() {
        let rows = [[0, 1, 2, 3], [3, 4, 4, 4], [1, 0, 5, 3]];
        let mut incidence = Incidence::default();
        // A second filling finds nothing of the first.
        for _ in 0..2 {
            incidence.fill(7, (0..).zip(rows));
            let of = |v: u32| incidence.around(v).collect::<Vec<_>>();
            assert_eq!(of(0), [(0, 0), (2, 1)]);
            assert_eq!(of(3), [(0, 3), (1, 0), (2, 3)]);
            assert_eq!(of(4), [(1, 1)], "two spheres repeat the second vertex");
            assert!(of(6).is_empty());
        }
    }
}
