//! A bounding volume hierarchy over single-precision boxes: eight children a node, laid out without pointers.
//!
//! Primitives are ordered by halving them along their longest extent, and taken eight at a time; those groups again eight
//! at a time, up to one root. Node `j` of a level has the nodes `8j..8j+8` of the level below, so building and refitting are
//! loops over arrays, and one query tests eight boxes at once.

use glam::DVec3;
use rayon::prelude::*;
use wide::{f32x8, i32x8};

use crate::lanes::{Lanes, Node, Portable};

const WIDTH: usize = 8;

/// From this many primitives on, levels are built in parallel.
const PARALLEL: usize = 8192;

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

    /// Grown by a distance (m) on every side, rounded up.
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

impl Node {
    const EMPTY: Self = Self {
        low: [f32x8::splat(f32::NAN); 3],
        high: [f32x8::splat(f32::NAN); 3],
        last: i32x8::ZERO,
    };

    fn gather(boxes: impl Iterator<Item = (Box32, u32)>) -> Self {
        let mut low = [[f32::NAN; WIDTH]; 3];
        let mut high = [[f32::NAN; WIDTH]; 3];
        let mut last = [0i32; WIDTH];
        for (lane, (b, number)) in boxes.enumerate() {
            for k in 0..3 {
                low[k][lane] = b.low[k];
                high[k][lane] = b.high[k];
            }
            last[lane] = number.cast_signed();
        }
        Self { low: low.map(f32x8::new), high: high.map(f32x8::new), last: i32x8::new(last) }
    }

    fn bounds(&self) -> (Box32, u32) {
        let mut b = Box32::EMPTY;
        for k in 0..3 {
            b.low[k] = self.low[k].to_array().into_iter().fold(f32::INFINITY, f32::min);
            b.high[k] = self.high[k].to_array().into_iter().fold(f32::NEG_INFINITY, f32::max);
        }
        (b, self.last.to_array().into_iter().fold(0, i32::max) as u32)
    }
}

/// The hierarchy over a subset of the primitives of one kind.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bvh {
    /// Primitive numbers, eight a leaf.
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
        self.order = cluster(members, |i| &boxes[i as usize]);
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

    /// Primitive numbers in the order of the leaves.
    pub(crate) fn order(&self) -> &[u32] {
        &self.order
    }

    /// Puts into `leaves` all leaves that hold a number above `after` and whose box overlaps `query`.
    #[inline(always)]
    pub(crate) fn leaves<L: Lanes>(
        &self,
        lanes: L,
        query: &Box32,
        after: i32,
        leaves: &mut Vec<u32>,
        scratch: &mut Vec<u32>,
    ) {
        leaves.clear();
        let Some(top) = self.levels.len().checked_sub(1) else { return };
        leaves.push(0);
        for level in (1..=top).rev() {
            std::mem::swap(leaves, scratch);
            leaves.clear();
            let nodes = &self.nodes[self.levels[level] as usize..];
            for &index in scratch.iter() {
                let mut bits = lanes.overlaps(query, after, &nodes[index as usize]);
                while bits != 0 {
                    leaves.push(WIDTH as u32 * index + bits.trailing_zeros());
                    bits &= bits - 1;
                }
            }
        }
    }

    /// Puts into `found` the primitives of some leaves that are above number `after` and whose box overlaps `query`.
    #[inline(always)]
    pub(crate) fn in_leaves<L: Lanes>(
        &self,
        lanes: L,
        leaves: &[u32],
        query: &Box32,
        after: i32,
        found: &mut Vec<u32>,
    ) {
        // Eight leaves at a time, so that the tests of one don't wait for what is found in another.
        for leaves in leaves.chunks(WIDTH) {
            let mut word = 0;
            for (k, &leaf) in leaves.iter().enumerate() {
                let bits = lanes.overlaps(query, after, &self.nodes[leaf as usize]);
                word |= u64::from(bits) << (WIDTH * k);
            }
            while word != 0 {
                let bit = word.trailing_zeros() as usize;
                word &= word - 1;
                let place = WIDTH * leaves[bit / WIDTH] as usize + bit % WIDTH;
                found.push(self.order[place]);
            }
        }
    }

    /// Calls `visit` with the primitives above number `after` whose box comes within `reach` (m) of `near`, and more that
    /// don't. Each call gives the reach for the rest of the search.
    pub(crate) fn nearest(
        &self,
        near: &Box32,
        after: i32,
        mut reach: f64,
        mut visit: impl FnMut(u32) -> f64,
    ) {
        let Some(top) = self.levels.len().checked_sub(1) else { return };
        let mut query = near.grown(reach);
        // At most seven siblings wait on each of at most eleven levels.
        let mut stack = [(0u32, 0u32); 88];
        let mut depth = 0;
        let (mut level, mut index) = (top, 0);
        loop {
            let node = &self.nodes[self.levels[level] as usize + index as usize];
            let mut bits = Portable.overlaps(&query, after, node);
            while bits != 0 {
                let lane = bits.trailing_zeros();
                bits &= bits - 1;
                if level > 0 {
                    stack[depth] = (level as u32 - 1, WIDTH as u32 * index + lane);
                    depth += 1;
                    continue;
                }
                let shrunk = visit(node.last.to_array()[lane as usize] as u32);
                if shrunk < reach {
                    reach = shrunk;
                    query = near.grown(reach);
                    bits &= Portable.overlaps(&query, after, node);
                }
            }
            let Some(next) = depth.checked_sub(1) else { return };
            depth = next;
            (level, index) = (stack[depth].0 as usize, stack[depth].1);
        }
    }
}

/// The members in the order of a tree that splits them by the centres of their boxes, again and again at the middle of the
/// longest extent, so that every aligned run of eight, sixty-four, ... is compact. Ties by number.
pub(crate) fn cluster<'a>(members: &[u32], box_of: impl Fn(u32) -> &'a Box32) -> Vec<u32> {
    let centre = |member: u32| {
        let b = box_of(member);
        let centre = [0, 1, 2].map(|k| 0.5 * b.low[k] + 0.5 * b.high[k]);
        Centre { place: centre, order: centre.map(ordered), member }
    };
    let mut centres: Vec<Centre> = members.iter().map(|&member| centre(member)).collect();
    split(&mut centres);
    centres.into_iter().map(|centre| centre.member).collect()
}

#[derive(Clone, Copy)]
struct Centre {
    place: [f32; 3],
    /// The same as integers that compare alike.
    order: [i32; 3],
    member: u32,
}

/// Bits that compare like the number; NaN beyond infinity.
fn ordered(x: f32) -> i32 {
    let bits = x.to_bits().cast_signed();
    if bits < 0 { i32::MIN - bits } else { bits }
}

fn split(centres: &mut [Centre]) {
    if centres.len() <= WIDTH {
        return;
    }
    // Split between whole subtrees: the largest power of the width below the count is what one child holds.
    let mut child = WIDTH;
    while child * WIDTH < centres.len() {
        child *= WIDTH;
    }
    let middle = centres.len().div_ceil(child) / 2 * child;
    let mut bounds = Box32::EMPTY;
    for c in centres.iter() {
        bounds = bounds.union(&Box32 { low: c.place, high: c.place });
    }
    let extent = [0, 1, 2].map(|k| bounds.high[k] - bounds.low[k]);
    let axis = (0..3).fold(0, |best, k| if extent[k] > extent[best] { k } else { best });
    let key = |c: &Centre| (c.order[axis], c.member);
    centres.select_nth_unstable_by(middle, |a, b| key(a).cmp(&key(b)));
    let (left, right) = centres.split_at_mut(middle);
    if left.len() >= PARALLEL {
        rayon::join(|| split(left), || split(right));
    } else {
        split(left);
        split(right);
    }
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
        fn finds_what_brute_force_finds(all in boxes(0..700), moved in boxes(700..701), after in 0i32..50) {
            let members: Vec<u32> = (0..all.len() as u32).filter(|i| i % 3 != 1).collect();
            let mut bvh = Bvh::default();
            bvh.build(&members, &all);
            // A refit to other boxes must answer as exactly as a fresh build.
            let moved = &moved[..all.len()];
            for boxes in [&all[..], moved] {
                bvh.update(&members, boxes);
                for query in boxes.iter().take(20) {
                    for after in [-1, after] {
                        let (mut leaves, mut scratch, mut found) = (Vec::new(), Vec::new(), Vec::new());
                        bvh.leaves(Portable, query, after, &mut leaves, &mut scratch);
                        bvh.in_leaves(Portable, &leaves, query, after, &mut found);
                        found.sort_unstable();
                        let expected: Vec<u32> = members
                            .iter()
                            .copied()
                            .filter(|&i| i.cast_signed() > after && overlap(query, &boxes[i as usize]))
                            .collect();
                        prop_assert_eq!(&found, &expected);
                        let mut near = Vec::new();
                        bvh.nearest(query, after, 0.0, |i| { near.push(i); 0.0 });
                        near.sort_unstable();
                        prop_assert!(expected.iter().all(|i| near.binary_search(i).is_ok()));
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
    fn ordered_bits_compare_like_numbers() {
        let numbers = [f32::NEG_INFINITY, -2.0, -1e-30, -0.0, 1e-30, 3.0, f32::INFINITY];
        assert!(numbers.map(ordered).is_sorted());
        assert_eq!(ordered(-0.0), ordered(0.0));
    }

    #[test]
    fn far_from_the_origin_a_small_gap_still_overlaps() {
        let a = Box32::outward(dvec3(0.0, 5000.0, 0.0), dvec3(1.0, 5000.0, 1.0)).grown(5e-4);
        let b = Box32::outward(dvec3(0.0, 5000.0001, 0.0), dvec3(1.0, 5000.0001, 1.0));
        assert!(overlap(&a, &b));
    }
}
