//! Collects all overlapping pairs of two kinds of primitives from their hierarchies, sorted, within a budget.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use crate::bvh::Box32;
use crate::candidates::Trees;
use crate::lanes::{Job, Lanes, dispatch};

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

/// Memory of a search, kept from query to query.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    tasks: Vec<Found>,
    /// For each primitive the task that found its partners, and their range in that task's list.
    places: Vec<[u32; 3]>,
}

/// Partners found by one task, where those of each of its primitives end, and what the task works with.
#[derive(Clone, Debug, Default)]
struct Found {
    partners: Vec<u32>,
    ends: Vec<u32>,
    moving: Vec<u32>,
    fixed: Vec<u32>,
    level: Vec<u32>,
    of_one: Vec<u32>,
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
    pub(crate) fn collect<Q, M, K>(
        &self,
        search: &Search<'_, Q, M, K>,
        Scratch { tasks, places }: &mut Scratch,
        out: &mut Vec<[u32; 2]>,
    ) where
        Q: Fn(u32) -> Box32 + Sync,
        M: Fn(u32) -> bool + Sync,
        K: Fn(u32, u32) -> bool + Sync,
    {
        let count = search.order.len();
        tasks.resize_with(tasks.len().max(count.div_ceil(CHUNK)), Found::default);
        search.order.par_chunks(CHUNK).zip(tasks.as_mut_slice()).for_each(|(chunk, out)| {
            dispatch(Task { budget: self, search, chunk, out });
        });
        if self.exceeded() {
            return;
        }
        // From the order of the search to that of the numbers.
        places.clear();
        places.resize(count, [0; 3]);
        let mut total = 0;
        for ((task, chunk), found) in (0..).zip(search.order.chunks(CHUNK)).zip(&*tasks) {
            let mut start = 0;
            for (&i, &end) in chunk.iter().zip(&found.ends) {
                places[i as usize] = [task, start, end];
                start = end;
            }
            total += found.partners.len();
        }
        out.clear();
        out.resize(total, [0; 2]);
        let mut rest = out.as_mut_slice();
        let mut pieces = Vec::with_capacity(count.div_ceil(CHUNK));
        for (first, places) in (0..).step_by(CHUNK).zip(places.chunks(CHUNK)) {
            let size = places.iter().map(|[_, start, end]| (end - start) as usize).sum();
            let (piece, after) = rest.split_at_mut(size);
            pieces.push((first, places, piece));
            rest = after;
        }
        let tasks = &*tasks;
        pieces.into_par_iter().for_each(|(first, places, piece)| {
            let mut rest = piece;
            for (i, &[task, start, end]) in (first..).zip(places) {
                let partners = &tasks[task as usize].partners[start as usize..end as usize];
                let (slots, after) = rest.split_at_mut(partners.len());
                for (slot, &j) in slots.iter_mut().zip(partners) {
                    *slot = [i, j];
                }
                rest = after;
            }
        });
    }
}

/// The search for a run of primitives.
struct Task<'a, 'b, Q, M, K> {
    budget: &'a Budget,
    search: &'a Search<'b, Q, M, K>,
    chunk: &'a [u32],
    out: &'a mut Found,
}

impl<Q, M, K> Job for Task<'_, '_, Q, M, K>
where
    Q: Fn(u32) -> Box32,
    M: Fn(u32) -> bool,
    K: Fn(u32, u32) -> bool,
{
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Search { partners, rising, query, movable, keep, .. } = self.search;
        let Found { partners: out, ends, moving, fixed, level, of_one: found } = self.out;
        out.clear();
        ends.clear();
        let mut counted = 0;
        for group in self.chunk.chunks(GROUP) {
            if self.budget.exceeded() {
                return;
            }
            let boxes: [Box32; GROUP] =
                std::array::from_fn(|k| group.get(k).map_or(Box32::EMPTY, |&i| query(i)));
            let after = |i: u32| if *rising { i.cast_signed() } else { -1 };
            let hull = boxes.iter().fold(Box32::EMPTY, |sum, b| sum.union(b));
            let lowest = group.iter().map(|&i| after(i)).min().unwrap_or(-1);
            partners.moving.leaves(lanes, &hull, lowest, moving, level);
            partners.fixed.leaves(lanes, &hull, lowest, fixed, level);
            let together = moving.len() + fixed.len() <= MOST_LEAVES;
            for (&i, b) in group.iter().zip(&boxes) {
                if !together {
                    partners.moving.leaves(lanes, b, after(i), moving, level);
                    partners.fixed.leaves(lanes, b, after(i), fixed, level);
                }
                found.clear();
                partners.moving.in_leaves(lanes, moving, b, after(i), found);
                if movable(i) {
                    partners.fixed.in_leaves(lanes, fixed, b, after(i), found);
                }
                retain(found, |j| keep(i, j));
                sort(found);
                out.extend_from_slice(found);
                ends.push(out.len() as u32);
            }
            self.budget.spend(out.len() - counted);
            counted = out.len();
        }
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

/// Sorts distinct numbers. Most lists are short: there, the place of each is how many are smaller, counted for eight at a
/// time and without a branch.
#[inline(always)]
fn sort(values: &mut [u32]) {
    const SHORT: usize = 32;
    const EIGHT: usize = 8;
    let count = values.len();
    if count > SHORT {
        values.sort_unstable();
        return;
    }
    let (mut all, mut places) = ([u32::MAX; SHORT], [0u32; SHORT]);
    all[..count].copy_from_slice(values);
    let eights = count.div_ceil(EIGHT);
    for &value in &values[..] {
        let groups = places.as_chunks_mut::<EIGHT>().0.iter_mut().zip(all.as_chunks::<EIGHT>().0);
        for (places, others) in groups.take(eights) {
            for k in 0..EIGHT {
                places[k] += u32::from(value < others[k]);
            }
        }
    }
    for (&value, &place) in all[..count].iter().zip(&places) {
        values[place as usize] = value;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sorts_distinct_numbers(numbers in proptest::collection::hash_set(0u32..10_000, 0..50)) {
            let mut numbers: Vec<u32> = numbers.into_iter().collect();
            let mut expected = numbers.clone();
            expected.sort_unstable();
            super::sort(&mut numbers);
            prop_assert_eq!(numbers, expected);
        }
    }
}
