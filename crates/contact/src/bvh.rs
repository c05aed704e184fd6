//! A bounding volume hierarchy over single-precision boxes: eight children a node, laid out without pointers.
//!
//! Primitives are sorted along a space-filling (Morton) curve and taken eight at a time; those groups again eight at a
//! time, up to one root. Node `j` of a level has the nodes `8j..8j+8` of the level below, so building and refitting are
//! loops over arrays, and one query tests eight boxes at once.

use glam::DVec3;
use rayon::prelude::*;
use wide::f32x8;

const WIDTH: usize = 8;

/// From this many primitives on, levels are built in parallel.
const PARALLEL: usize = 16_384;

/// A box in single precision that contains its double-precision original.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Box32 {
    pub(crate) low: [f32; 3],
    pub(crate) high: [f32; 3],
}

impl Box32 {
    /// Contains nothing, overlaps nothing.
    pub(crate) const EMPTY: Self = Self { low: [f32::INFINITY; 3], high: [f32::NEG_INFINITY; 3] };

    /// Rounded outward by `4 eps (1 + |coordinate|)` per side, which covers the conversion and the growing of a query.
    pub(crate) fn outward(low: DVec3, high: DVec3) -> Self {
        let down = |c: f64| c as f32 - 4.0 * f32::EPSILON * (1.0 + (c as f32).abs());
        let up = |c: f64| c as f32 + 4.0 * f32::EPSILON * (1.0 + (c as f32).abs());
        Self { low: low.to_array().map(down), high: high.to_array().map(up) }
    }

    #[inline]
    pub(crate) fn union(&self, other: &Self) -> Self {
        let mut out = *self;
        for k in 0..3 {
            out.low[k] = out.low[k].min(other.low[k]);
            out.high[k] = out.high[k].max(other.high[k]);
        }
        out
    }

    /// Grown by a distance [m] on every side, rounded up.
    #[inline]
    pub(crate) fn grown(&self, by: f64) -> Self {
        let by = (by * (1.0 + 4.0 * f64::from(f32::EPSILON))) as f32;
        Self { low: self.low.map(|c| c - by), high: self.high.map(|c| c + by) }
    }

    /// Half the surface area: what a query's cost grows with.
    fn half_area(&self) -> f32 {
        let [x, y, z] = [0, 1, 2].map(|k| (self.high[k] - self.low[k]).max(0.0));
        x * y + y * z + z * x
    }
}

/// Eight boxes side by side, and the largest primitive number inside each.
#[derive(Clone, Copy, Debug)]
struct Node {
    low: [f32x8; 3],
    high: [f32x8; 3],
    last: [u32; WIDTH],
}

impl Node {
    const EMPTY: Self = Self {
        low: [f32x8::splat(f32::INFINITY); 3],
        high: [f32x8::splat(f32::NEG_INFINITY); 3],
        last: [0; WIDTH],
    };

    fn gather(boxes: impl Iterator<Item = (Box32, u32)>) -> Self {
        let mut low = [[f32::INFINITY; WIDTH]; 3];
        let mut high = [[f32::NEG_INFINITY; WIDTH]; 3];
        let mut last = [0; WIDTH];
        for (lane, (b, number)) in boxes.enumerate() {
            for k in 0..3 {
                low[k][lane] = b.low[k];
                high[k][lane] = b.high[k];
            }
            last[lane] = number;
        }
        Self { low: low.map(f32x8::new), high: high.map(f32x8::new), last }
    }

    fn bounds(&self) -> (Box32, u32) {
        let mut b = Box32::EMPTY;
        for k in 0..3 {
            b.low[k] = self.low[k].to_array().into_iter().fold(f32::INFINITY, f32::min);
            b.high[k] = self.high[k].to_array().into_iter().fold(f32::NEG_INFINITY, f32::max);
        }
        (b, self.last.into_iter().fold(0, u32::max))
    }
}

/// A query box, each bound repeated eight times.
struct Query {
    low: [f32x8; 3],
    high: [f32x8; 3],
}

impl Query {
    fn new(b: &Box32) -> Self {
        Self { low: b.low.map(f32x8::splat), high: b.high.map(f32x8::splat) }
    }

    /// Which of the eight boxes it overlaps, as bits.
    #[inline(always)]
    fn overlaps(&self, node: &Node) -> u32 {
        let x = node.low[0].simd_le(self.high[0]) & node.high[0].simd_ge(self.low[0]);
        let y = node.low[1].simd_le(self.high[1]) & node.high[1].simd_ge(self.low[1]);
        let z = node.low[2].simd_le(self.high[2]) & node.high[2].simd_ge(self.low[2]);
        (x & y & z).to_bitmask() as u32
    }
}

/// The hierarchy over a subset of the primitives of one kind.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bvh {
    /// Primitive numbers along the curve, eight a leaf.
    order: Vec<u32>,
    /// All levels, leaves first, the root last.
    nodes: Vec<Node>,
    /// Where each level starts in `nodes`.
    levels: Vec<u32>,
    /// Sum of the leaves' half areas when the order was made.
    built_area: f64,
}

impl Bvh {
    /// Orders the primitives `members` anew and builds all levels. `boxes` is indexed by primitive.
    pub(crate) fn build(&mut self, members: &[u32], boxes: &[Box32]) {
        self.order = morton_order(members, boxes);
        self.levels.clear();
        let (mut start, mut count) = (0, members.len().div_ceil(WIDTH));
        while count > 0 {
            self.levels.push(start as u32);
            start += count;
            if count == 1 {
                break;
            }
            count = count.div_ceil(WIDTH);
        }
        self.nodes.clear();
        self.nodes.resize(start, Node::EMPTY);
        self.refit(boxes);
        self.built_area = self.leaf_area();
    }

    /// Brings the boxes up to date: keeps the order while it still serves, else builds anew. The answers of a query are
    /// the same set either way.
    pub(crate) fn update(&mut self, members: &[u32], boxes: &[Box32]) {
        if self.order.len() == members.len() && !members.is_empty() {
            self.refit(boxes);
            // Not `>`: an area that is no number also asks for a new order.
            if self.leaf_area() <= 1.25 * self.built_area {
                return;
            }
        }
        self.build(members, boxes);
    }

    /// Recomputes all boxes in the present order.
    fn refit(&mut self, boxes: &[Box32]) {
        for level in 0..self.levels.len() {
            let start = self.levels[level] as usize;
            let end = self.levels.get(level + 1).map_or(self.nodes.len(), |&next| next as usize);
            let (below, nodes) = self.nodes[..end].split_at_mut(start);
            if level == 0 {
                let order = &self.order;
                let fill = |(j, node): (usize, &mut Node)| {
                    let group = &order[WIDTH * j..order.len().min(WIDTH * (j + 1))];
                    *node = Node::gather(group.iter().map(|&i| (boxes[i as usize], i)));
                };
                if order.len() >= PARALLEL {
                    nodes.par_iter_mut().enumerate().with_min_len(256).for_each(fill);
                } else {
                    nodes.iter_mut().enumerate().for_each(fill);
                }
            } else {
                let below = &below[self.levels[level - 1] as usize..];
                for (j, node) in nodes.iter_mut().enumerate() {
                    let group = &below[WIDTH * j..below.len().min(WIDTH * (j + 1))];
                    *node = Node::gather(group.iter().map(Node::bounds));
                }
            }
        }
    }

    fn leaf_area(&self) -> f64 {
        let leaves = self.levels.get(1).map_or(self.nodes.len(), |&next| next as usize);
        self.nodes[..leaves].iter().map(|leaf| f64::from(leaf.bounds().0.half_area())).sum()
    }

    /// Calls `found` with every primitive above number `after` whose box overlaps `query`, in no particular order.
    #[inline]
    pub(crate) fn query(&self, query: &Box32, after: Option<u32>, mut found: impl FnMut(u32)) {
        let Some(top) = self.levels.len().checked_sub(1) else { return };
        let query = Query::new(query);
        let after = after.map_or(0, |after| after + 1);
        // At most seven siblings wait on each of at most eleven levels.
        let mut stack = [(0u32, 0u32); 88];
        let mut depth = 0;
        let (mut level, mut index) = (top, 0);
        loop {
            let node = &self.nodes[self.levels[level] as usize + index as usize];
            let mut bits = query.overlaps(node);
            while bits != 0 {
                let lane = bits.trailing_zeros();
                bits &= bits - 1;
                if node.last[lane as usize] < after {
                    continue;
                }
                if level == 0 {
                    found(node.last[lane as usize]);
                } else {
                    stack[depth] = (level as u32 - 1, WIDTH as u32 * index + lane);
                    depth += 1;
                }
            }
            let Some(next) = depth.checked_sub(1) else { return };
            depth = next;
            (level, index) = (stack[depth].0 as usize, stack[depth].1);
        }
    }
}

/// The members sorted along a Morton curve through the centres of their boxes; ties by number.
fn morton_order(members: &[u32], boxes: &[Box32]) -> Vec<u32> {
    let bounds =
        members.iter().fold(Box32::EMPTY, |sum, &member| sum.union(&boxes[member as usize]));
    let extent = (0..3).map(|k| bounds.high[k] - bounds.low[k]).fold(0.0, f32::max);
    let scale = if extent > 0.0 { 1023.0 / extent } else { 0.0 };
    let code = |member: u32| {
        let b = &boxes[member as usize];
        let [x, y, z] = [0, 1, 2].map(|k| {
            // A cast from NaN gives 0 and from too large a number the largest: any order is a valid one.
            spread((((0.5 * (b.low[k] + b.high[k])) - bounds.low[k]) * scale) as u32)
        });
        u64::from(x | y << 1 | z << 2) << 32 | u64::from(member)
    };
    let mut keys: Vec<u64> = members.iter().map(|&member| code(member)).collect();
    if keys.len() >= PARALLEL {
        keys.par_sort_unstable();
    } else {
        keys.sort_unstable();
    }
    keys.into_iter().map(|key| key as u32).collect()
}

/// The lowest ten bits, two zeros after each.
fn spread(x: u32) -> u32 {
    let x = x.min(1023);
    let x = (x | x << 16) & 0x0300_00ff;
    let x = (x | x << 8) & 0x0300_f00f;
    let x = (x | x << 4) & 0x030c_30c3;
    (x | x << 2) & 0x0924_9249
}

#[cfg(test)]
mod tests {
    use glam::dvec3;
    use proptest::prelude::*;

    use super::*;

    fn boxes(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Box32>> {
        let one = ([-1.0..1.0, -1.0..1.0, -1.0..1.0], [0.0..0.3, 0.0..0.3, 0.0..0.3]);
        let one = one.prop_map(|(low, size): ([f64; 3], [f64; 3])| {
            let low = DVec3::from(low);
            Box32::outward(low, low + DVec3::from(size))
        });
        proptest::collection::vec(one, count)
    }

    fn overlap(a: &Box32, b: &Box32) -> bool {
        (0..3).all(|k| a.low[k] <= b.high[k] && a.high[k] >= b.low[k])
    }

    proptest! {
        #[test]
        fn finds_what_brute_force_finds(all in boxes(0..700), moved in boxes(700..701), after in 0u32..50) {
            let members: Vec<u32> = (0..all.len() as u32).filter(|i| i % 3 != 1).collect();
            let mut bvh = Bvh::default();
            bvh.build(&members, &all);
            // A refit to other boxes must answer as exactly as a fresh build.
            let moved = &moved[..all.len()];
            for boxes in [&all[..], moved] {
                bvh.update(&members, boxes);
                for query in boxes.iter().take(20) {
                    for after in [None, Some(after)] {
                        let mut found = Vec::new();
                        bvh.query(query, after, |i| found.push(i));
                        found.sort_unstable();
                        let expected: Vec<u32> = members
                            .iter()
                            .copied()
                            .filter(|&i| after.is_none_or(|a| i > a) && overlap(query, &boxes[i as usize]))
                            .collect();
                        prop_assert_eq!(&found, &expected);
                    }
                }
            }
        }

        #[test]
        fn outward_boxes_contain(low in -1e6..1e6f64, size in 0.0..1e3f64, by in 0.0..1e3f64) {
            let b = Box32::outward(DVec3::splat(low), DVec3::splat(low + size)).grown(by);
            prop_assert!(f64::from(b.low[0]) < low - by && f64::from(b.high[2]) > low + size + by);
        }
    }

    #[test]
    fn far_from_the_origin_a_small_gap_still_overlaps() {
        let a = Box32::outward(dvec3(0.0, 5000.0, 0.0), dvec3(1.0, 5000.0, 1.0)).grown(5e-4);
        let b = Box32::outward(dvec3(0.0, 5000.0001, 0.0), dvec3(1.0, 5000.0001, 1.0));
        assert!(overlap(&a, &b));
    }
}
