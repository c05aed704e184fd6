//! Collects all overlapping pairs of two kinds of primitives from their hierarchies, sorted, within a budget.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use crate::bvh::Box32;
use crate::candidates::Trees;

/// Neighbours that go down the tree together.
const GROUP: usize = 8;

/// Queries of one task; fixed, so that nothing depends on the number of threads.
const CHUNK: usize = 64 * GROUP;

/// A group whose common box meets more leaves than this is taken apart.
const MOST_LEAVES: usize = 128;

/// Primitives to find the partners of.
pub(crate) struct Search<'a, Q, M, K> {
    /// The primitives, each once, neighbours in space close to one another.
    pub(crate) order: &'a [u32],
    /// What is searched.
    pub(crate) partners: &'a Trees,
    /// Whether only partners with a higher number count: both sides are the same list.
    pub(crate) rising: bool,
    /// The box of a primitive, grown by the distance of interest.
    pub(crate) query: Q,
    /// Whether a primitive may move: one that never does has no pairs with fixed ones.
    pub(crate) movable: M,
    /// Whether two primitives may be a pair at all.
    pub(crate) keep: K,
}

/// Counts pairs over all tasks of a query.
pub(crate) struct Budget {
    limit: usize,
    used: AtomicUsize,
}

/// Partners found by one task, and where those of each of its primitives end.
#[derive(Default)]
struct Found {
    partners: Vec<u32>,
    ends: Vec<u32>,
}

impl Budget {
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, used: AtomicUsize::new(0) }
    }

    pub(crate) fn exceeded(&self) -> bool {
        self.used.load(Ordering::Relaxed) > self.limit
    }

    pub(crate) fn spend(&self, pairs: usize) {
        self.used.fetch_add(pairs, Ordering::Relaxed);
    }

    /// Writes all pairs `[i, j]` to `out`, sorted. Stops early, with an incomplete list, once the limit is exceeded;
    /// whether it is depends on the total alone.
    pub(crate) fn collect<Q, M, K>(&self, search: &Search<'_, Q, M, K>, out: &mut Vec<[u32; 2]>)
    where
        Q: Fn(u32) -> Box32 + Sync,
        M: Fn(u32) -> bool + Sync,
        K: Fn(u32, u32) -> bool + Sync,
    {
        let tasks: Vec<Found> =
            search.order.par_chunks(CHUNK).map(|chunk| self.task(search, chunk)).collect();
        if self.exceeded() {
            return;
        }
        // From the order of the search to that of the numbers.
        let mut lists: Vec<&[u32]> = vec![&[]; search.order.len()];
        for (chunk, found) in search.order.chunks(CHUNK).zip(&tasks) {
            let mut start = 0;
            for (&i, &end) in chunk.iter().zip(&found.ends) {
                lists[i as usize] = &found.partners[start..end as usize];
                start = end as usize;
            }
        }
        out.clear();
        out.resize(lists.iter().map(|list| list.len()).sum(), [0; 2]);
        let mut rest = out.as_mut_slice();
        let mut pieces = Vec::with_capacity(lists.len().div_ceil(CHUNK));
        for (first, lists) in (0..).step_by(CHUNK).zip(lists.chunks(CHUNK)) {
            let (piece, after) = rest.split_at_mut(lists.iter().map(|list| list.len()).sum());
            pieces.push((first, lists, piece));
            rest = after;
        }
        pieces.into_par_iter().for_each(|(first, lists, piece)| {
            let pairs =
                (first..).zip(lists).flat_map(|(i, list)| list.iter().map(move |&j| [i, j]));
            for (slot, pair) in piece.iter_mut().zip(pairs) {
                *slot = pair;
            }
        });
    }

    fn task<Q, M, K>(&self, search: &Search<'_, Q, M, K>, chunk: &[u32]) -> Found
    where
        Q: Fn(u32) -> Box32,
        M: Fn(u32) -> bool,
        K: Fn(u32, u32) -> bool,
    {
        let Search { partners, rising, query, movable, keep, .. } = search;
        let mut out = Found::default();
        let (mut moving, mut fixed, mut scratch, mut found) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut counted = 0;
        for group in chunk.chunks(GROUP) {
            if self.exceeded() {
                return out;
            }
            let boxes: [Box32; GROUP] =
                std::array::from_fn(|k| group.get(k).map_or(Box32::EMPTY, |&i| query(i)));
            let after = |i: u32| if *rising { i.cast_signed() } else { -1 };
            let hull = boxes.iter().fold(Box32::EMPTY, |sum, b| sum.union(b));
            let lowest = group.iter().map(|&i| after(i)).min().unwrap_or(-1);
            partners.moving.leaves(&hull, lowest, &mut moving, &mut scratch);
            partners.fixed.leaves(&hull, lowest, &mut fixed, &mut scratch);
            let together = moving.len() + fixed.len() <= MOST_LEAVES;
            for (&i, b) in group.iter().zip(&boxes) {
                if !together {
                    partners.moving.leaves(b, after(i), &mut moving, &mut scratch);
                    partners.fixed.leaves(b, after(i), &mut fixed, &mut scratch);
                }
                found.clear();
                partners.moving.in_leaves(&moving, b, after(i), &mut found);
                if movable(i) {
                    partners.fixed.in_leaves(&fixed, b, after(i), &mut found);
                }
                retain(&mut found, |j| keep(i, j));
                found.sort_unstable();
                out.partners.extend_from_slice(&found);
                out.ends.push(out.partners.len() as u32);
            }
            self.spend(out.partners.len() - counted);
            counted = out.partners.len();
        }
        out
    }
}

/// Keeps the values that `keep` holds for, without a branch.
#[inline(always)]
fn retain(values: &mut Vec<u32>, keep: impl Fn(u32) -> bool) {
    let mut kept = 0;
    for k in 0..values.len() {
        let value = values[k];
        values[kept] = value;
        kept += usize::from(keep(value));
    }
    values.truncate(kept);
}
