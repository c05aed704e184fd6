//! Eight box tests at once, with the widest vectors that the machine has.

use wide::{f32x8, i32x8};

use crate::bvh::Box32;

/// Eight boxes side by side, and the largest primitive number inside each. Lanes without a box hold NaN, which overlaps
/// nothing, not even an infinite query.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    pub(crate) low: [f32x8; 3],
    pub(crate) high: [f32x8; 3],
    pub(crate) last: i32x8,
}

/// One way to do the tests; all give the same answers.
pub(crate) trait Lanes: Copy {
    /// Which of the eight boxes overlap `query` and hold a number above `after`, as bits.
    fn overlaps(self, query: &Box32, after: i32, node: &Node) -> u32;
}

/// What every processor can do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Portable;

impl Lanes for Portable {
    #[inline(always)]
    fn overlaps(self, query: &Box32, after: i32, node: &Node) -> u32 {
        let within = |k: usize| {
            node.low[k].simd_le(f32x8::splat(query.high[k]))
                & node.high[k].simd_ge(f32x8::splat(query.low[k]))
        };
        let above = node.last.simd_gt(i32x8::splat(after));
        (within(0) & within(1) & within(2)).to_bitmask() & above.to_bitmask()
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::{__m256, __m256i, _CMP_LE_OQ};

    use pulp::x86::V3;

    use super::{Job, Lanes, Node};
    use crate::bvh::Box32;

    impl Lanes for V3 {
        #[inline(always)]
        fn overlaps(self, query: &Box32, after: i32, node: &Node) -> u32 {
            let (avx, avx2) = (self.avx, self.avx2);
            let within = |k: usize| {
                let low: __m256 = bytemuck::cast(node.low[k].to_array());
                let high: __m256 = bytemuck::cast(node.high[k].to_array());
                avx._mm256_and_ps(
                    avx._mm256_cmp_ps::<_CMP_LE_OQ>(low, avx._mm256_set1_ps(query.high[k])),
                    avx._mm256_cmp_ps::<_CMP_LE_OQ>(avx._mm256_set1_ps(query.low[k]), high),
                )
            };
            let last: __m256i = bytemuck::cast(node.last.to_array());
            let above = avx2._mm256_cmpgt_epi32(last, avx._mm256_set1_epi32(after));
            let inside = avx._mm256_and_ps(avx._mm256_and_ps(within(0), within(1)), within(2));
            let bits = avx._mm256_and_ps(inside, avx._mm256_castsi256_ps(above));
            avx._mm256_movemask_ps(bits).cast_unsigned()
        }
    }

    /// A job with the proof that the processor has the instructions.
    pub(super) struct Vectorized<J> {
        pub(super) job: J,
        pub(super) lanes: V3,
    }

    impl<J: Job> pulp::NullaryFnOnce for Vectorized<J> {
        type Output = J::Output;

        #[inline(always)]
        fn call(self) -> J::Output {
            self.job.run(self.lanes)
        }
    }
}

/// Work that does many box tests.
pub(crate) trait Job {
    type Output;

    /// Does it; to be inlined, so that it is compiled for the instructions that `L` stands for.
    fn run<L: Lanes>(self, lanes: L) -> Self::Output;
}

/// Does a job with the best way for this machine.
pub(crate) fn dispatch<J: Job>(job: J) -> J::Output {
    #[cfg(target_arch = "x86_64")]
    if let Some(lanes) = pulp::x86::V3::try_new() {
        return lanes.vectorize(avx2::Vectorized { job, lanes });
    }
    job.run(Portable)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    struct One<'a>(&'a Box32, i32, &'a Node);

    impl Job for One<'_> {
        type Output = u32;

        #[inline(always)]
        fn run<L: Lanes>(self, lanes: L) -> u32 {
            lanes.overlaps(self.0, self.1, self.2)
        }
    }

    proptest! {
        #[test]
        fn all_ways_agree(
            numbers in proptest::collection::vec(-3i32..4, 48),
            query in [-3i32..4, -3i32..4, -3i32..4],
            last in [0i32..4, 0i32..4, 0i32..4, 0i32..4, 0i32..4, 0i32..4, 0i32..4, 0i32..4],
            after in -1i32..4,
        ) {
            // Equal bounds are common, and so are empty lanes.
            let value = |n: i32| if n == 3 { f32::NAN } else { n as f32 };
            let side = |k: usize| std::array::from_fn(|l| value(numbers[8 * k + l]));
            let node = Node {
                low: [0, 1, 2].map(|k| f32x8::new(side(k))),
                high: [3, 4, 5].map(|k| f32x8::new(side(k))),
                last: i32x8::new(last),
            };
            let query = Box32 { low: query.map(|q| q as f32), high: query.map(|q| q as f32 + 1.0) };
            let expected = (0..8).filter(|&l| {
                last[l] > after
                    && (0..3).all(|k| {
                        node.low[k].to_array()[l] <= query.high[k]
                            && node.high[k].to_array()[l] >= query.low[k]
                    })
            });
            let expected = expected.fold(0, |bits, lane| bits | 1 << lane);
            prop_assert_eq!(One(&query, after, &node).run(Portable), expected);
            prop_assert_eq!(dispatch(One(&query, after, &node)), expected);
        }
    }
}
