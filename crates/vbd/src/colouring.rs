//! Colours of vertices such that no element has two vertices of the same colour: those of one colour can be moved at the
//! same time.
//!
//! Vertices are taken in the order of a maximum-cardinality search and given the smallest free colour, which needs few
//! colours on meshes; then vertices move from large colours to small ones, so that each gives about the same amount of
//! parallel work.

use gusset_energy::Term;

/// Sweeps of the balancing.
const BALANCING_SWEEPS: usize = 16;

/// Balanced enough: the largest colour has at most this many times the vertices of the smallest.
const BALANCED: f64 = 1.1;

/// The free vertices by colour.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Colouring {
    /// World indices, rising, of each colour's vertices.
    pub colours: Vec<Vec<u32>>,
}

/// Which vertices share an element.
struct Graph {
    start: Vec<u32>,
    neighbours: Vec<u32>,
}

impl Graph {
    fn new(free: &[bool], terms: &[Box<dyn Term>]) -> Self {
        let mut edges: Vec<[u32; 2]> = Vec::new();
        for term in terms.iter().filter(|term| !term.dynamic() && term.arity() > 1) {
            for stencil in term.stencils().chunks_exact(term.arity()) {
                for (k, &a) in stencil.iter().enumerate() {
                    for &b in &stencil[k + 1..] {
                        if a != b && free[a as usize] && free[b as usize] {
                            edges.extend([[a, b], [b, a]]);
                        }
                    }
                }
            }
        }
        edges.sort_unstable();
        edges.dedup();
        let mut start = vec![0; free.len() + 1];
        for edge in &edges {
            start[edge[0] as usize + 1] += 1;
        }
        for v in 0..free.len() {
            start[v + 1] += start[v];
        }
        Self { start, neighbours: edges.into_iter().map(|edge| edge[1]).collect() }
    }

    fn of(&self, vertex: u32) -> &[u32] {
        let v = vertex as usize;
        &self.neighbours[self.start[v] as usize..self.start[v + 1] as usize]
    }

    /// Always the vertex with the most neighbours already taken, the latest of those.
    fn maximum_cardinality_order(&self, free: &[bool]) -> Vec<u32> {
        let count = free.len();
        let mut taken = vec![false; count];
        let mut weight = vec![0_usize; count];
        // Vertices by weight; what has moved on to a larger weight is skipped when it comes up.
        let mut buckets: Vec<Vec<u32>> =
            vec![(0..count as u32).rev().filter(|&v| free[v as usize]).collect()];
        let mut order = Vec::new();
        let mut top = 0;
        loop {
            let Some(v) = buckets[top].pop() else {
                if top == 0 {
                    return order;
                }
                top -= 1;
                continue;
            };
            if taken[v as usize] || weight[v as usize] != top {
                continue;
            }
            taken[v as usize] = true;
            order.push(v);
            for &w in self.of(v) {
                if !taken[w as usize] {
                    weight[w as usize] += 1;
                    let heavier = weight[w as usize];
                    if buckets.len() <= heavier {
                        buckets.push(Vec::new());
                    }
                    buckets[heavier].push(w);
                    top = top.max(heavier);
                }
            }
        }
    }
}

impl Colouring {
    /// Colours the vertices that are `free` by the stencils of all terms but contact rows.
    pub fn new(free: &[bool], terms: &[Box<dyn Term>]) -> Self {
        const NONE: usize = usize::MAX;
        let graph = Graph::new(free, terms);
        let mut colour = vec![NONE; free.len()];
        let mut sizes: Vec<usize> = Vec::new();
        let mut used: Vec<bool> = Vec::new();
        let order = graph.maximum_cardinality_order(free);
        for &v in &order {
            used.clear();
            used.resize(sizes.len(), false);
            for &w in graph.of(v) {
                if colour[w as usize] != NONE {
                    used[colour[w as usize]] = true;
                }
            }
            let smallest = used.iter().position(|used| !used).unwrap_or(sizes.len());
            if smallest == sizes.len() {
                sizes.push(0);
            }
            sizes[smallest] += 1;
            colour[v as usize] = smallest;
        }
        balance(&graph, &order, &mut colour, &mut sizes);
        let mut colours: Vec<Vec<u32>> = vec![Vec::new(); sizes.len()];
        for (v, &c) in (0..).zip(&colour) {
            if c != NONE {
                colours[c].push(v);
            }
        }
        Self { colours }
    }
}

/// Moves vertices to the smallest colour that none of their neighbours has, while that evens out the sizes.
fn balance(graph: &Graph, order: &[u32], colour: &mut [usize], sizes: &mut [usize]) {
    let mut used = vec![false; sizes.len()];
    for _ in 0..BALANCING_SWEEPS {
        let mut moved = false;
        for &v in order {
            let (low, high) = sizes.iter().fold((usize::MAX, 0), |(l, h), &s| (l.min(s), h.max(s)));
            if high as f64 <= BALANCED * low as f64 {
                return;
            }
            let own = colour[v as usize];
            used.fill(false);
            for &w in graph.of(v) {
                used[colour[w as usize]] = true;
            }
            let open = (0..sizes.len()).filter(|&c| !used[c] && sizes[c] + 1 < sizes[own]);
            if let Some(better) = open.min_by_key(|&c| sizes[c]) {
                sizes[own] -= 1;
                sizes[better] += 1;
                colour[v as usize] = better;
                moved = true;
            }
        }
        if !moved {
            return;
        }
    }
}
