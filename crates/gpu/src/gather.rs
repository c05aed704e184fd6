//! Which stencil gives what to which number of the system, in an order that never changes.

use crate::vulkan::{Array, Device, GpuError, Recorder};
use gusset_energy::{block_count, block_index};
use gusset_system::{FIXED, Pattern};
use rayon::prelude::*;

/// A block that is added transposed, since the stencil names its vertices the other way round.
const TRANSPOSED: u32 = 1 << 31;
/// Both the block and its transpose: a stencil that names one vertex twice.
const BOTH: u32 = 1 << 30;

/// Contributions by target, in compressed rows of those targets that have any.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Lists {
    targets: Vec<u32>,
    starts: Vec<u32>,
    contributions: Vec<u32>,
}

impl Lists {
    /// From pairs of a target (below `range`) and a contribution; each target keeps their order.
    pub(crate) fn new(mut pairs: Vec<(u32, u32)>, range: usize) -> Self {
        if 4 * pairs.len() < range {
            pairs.par_sort_by_key(|p| p.0);
        } else {
            pairs = counting_sort(&pairs, range);
        }
        let mut lists = Self::default();
        for (target, contribution) in pairs {
            if lists.targets.last() != Some(&target) {
                lists.targets.push(target);
                lists.starts.push(lists.contributions.len() as u32);
            }
            lists.contributions.push(contribution);
        }
        lists.starts.push(lists.contributions.len() as u32);
        lists
    }
}

/// Stable, by target.
fn counting_sort(pairs: &[(u32, u32)], range: usize) -> Vec<(u32, u32)> {
    let mut next = vec![0_u32; range + 1];
    for &(target, _) in pairs {
        next[target as usize + 1] += 1;
    }
    for k in 0..range {
        next[k + 1] += next[k];
    }
    let mut out = vec![(0, 0); pairs.len()];
    for &pair in pairs {
        let slot = &mut next[pair.0 as usize];
        out[*slot as usize] = pair;
        *slot += 1;
    }
    out
}

/// What the stencils of some terms give, collected term after term.
pub(crate) struct Collector<'p> {
    pattern: &'p Pattern,
    blocks: Vec<(u32, u32)>,
    vertices: Vec<(u32, u32)>,
    /// Blocks and corners of the stencils so far.
    next_block: u32,
    next_corner: u32,
}

impl<'p> Collector<'p> {
    pub(crate) fn new(pattern: &'p Pattern) -> Self {
        Self { pattern, blocks: Vec::new(), vertices: Vec::new(), next_block: 0, next_corner: 0 }
    }

    /// Adds stencils of `arity` world vertices each, all of whose blocks the pattern has.
    pub(crate) fn add(&mut self, stencils: &[u32], arity: usize) {
        for stencil in stencils.chunks_exact(arity) {
            for i in 0..arity {
                let a = self.pattern.index(stencil[i]);
                if a == FIXED {
                    continue;
                }
                self.vertices.push((a, self.next_corner + i as u32));
                for j in i..arity {
                    let b = self.pattern.index(stencil[j]);
                    if b == FIXED {
                        continue;
                    }
                    let target = self.pattern.block(a, b).expect("the pattern has every block");
                    let block = self.next_block + block_index(arity, i, j) as u32;
                    let flag = match a.cmp(&b) {
                        std::cmp::Ordering::Less => TRANSPOSED,
                        std::cmp::Ordering::Equal if i != j => BOTH,
                        _ => 0,
                    };
                    self.blocks.push((target as u32, block | flag));
                }
            }
            self.next_block += block_count(arity) as u32;
            self.next_corner += arity as u32;
        }
    }

    /// Lists by vertex, and by block for each window of `window` blocks, counted from the window's start.
    pub(crate) fn finish(self, window: usize) -> (Lists, Vec<Lists>) {
        let count = self.pattern.block_count();
        let vertices = Lists::new(self.vertices, self.pattern.len());
        if count <= window {
            return (vertices, vec![Lists::new(self.blocks, count)]);
        }
        let mut parts = vec![Vec::new(); count.div_ceil(window)];
        for (target, contribution) in self.blocks {
            let part = target as usize / window;
            parts[part].push(((target as usize % window) as u32, contribution));
        }
        (vertices, parts.into_iter().map(|part| Lists::new(part, window)).collect())
    }
}

/// Lists in the device's memory.
pub(crate) struct DeviceLists {
    pub(crate) targets: Array<u32>,
    pub(crate) starts: Array<u32>,
    pub(crate) contributions: Array<u32>,
}

impl DeviceLists {
    pub(crate) fn new(device: &Device) -> Result<Self, GpuError> {
        let array = || Array::new(device, 0);
        Ok(Self { targets: array()?, starts: array()?, contributions: array()? })
    }

    pub(crate) fn set(&mut self, to: &mut Recorder<'_>, lists: &Lists) -> Result<(), GpuError> {
        let pairs = [
            (&mut self.targets, &lists.targets),
            (&mut self.starts, &lists.starts),
            (&mut self.contributions, &lists.contributions),
        ];
        for (array, data) in pairs {
            array.resize(data.len())?;
            to.upload(array, 0, data)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_keep_the_order_of_their_pairs() {
        let pairs = vec![(3, 10), (1, 11), (3, 12), (0, 13), (1, 14)];
        let few = Lists::new(pairs.clone(), 1000);
        assert_eq!(few, Lists::new(pairs, 4));
        assert_eq!(few.targets, [0, 1, 3]);
        assert_eq!(few.starts, [0, 1, 3, 5]);
        assert_eq!(few.contributions, [13, 11, 14, 10, 12]);
        assert_eq!(Lists::new(Vec::new(), 4).starts, [0]);
    }
}
