//! The levels of an additive Schwarz preconditioner: domains of up to sixteen connected nodes, each of which is one node of
//! the level above.
//!
//! Zhang's multilevel additive Schwarz, with domains as in Wu, Wang and Wang, "GPU-based multilevel additive Schwarz
//! preconditioner for cloth and deformable body simulation", 2022; here they follow the graph of the matrix, so that they
//! depend on the scene alone and not on where it has moved.

use crate::gather::Lists;
use gusset_system::Pattern;

/// Nodes of a domain.
pub(crate) const DOMAIN: usize = 16;

/// Marks a place of a domain that no node takes.
pub(crate) const NOBODY: u32 = u32::MAX;

const TRANSPOSED: u32 = 1 << 31;
const BOTH: u32 = 1 << 30;

/// A symmetric block matrix's lower triangle: row and column of each block, row >= column.
type Blocks = Vec<[u32; 2]>;

/// One level.
#[derive(Debug)]
pub(crate) struct Level {
    /// [`DOMAIN`] a domain.
    pub(crate) members: Vec<u32>,
    /// Blocks inside each domain: `16 row + column` among its members, and which block.
    pub(crate) inside: Vec<[u32; 2]>,
    pub(crate) inside_starts: Vec<u32>,
    /// Blocks of the level above and what they are summed from; absent on the last level.
    pub(crate) above: Option<(Lists, usize)>,
}

impl Level {
    pub(crate) fn domains(&self) -> usize {
        self.members.len() / DOMAIN
    }
}

/// All levels of a matrix's pattern, the finest first; `most` of them.
pub(crate) fn levels(pattern: &Pattern, most: usize) -> Vec<Level> {
    let mut blocks: Blocks = Vec::with_capacity(pattern.block_count());
    for j in 0..pattern.len() {
        blocks.extend(pattern.rows(j).iter().map(|&row| [row, j as u32]));
    }
    let mut nodes = pattern.len();
    let mut levels = Vec::new();
    loop {
        let members = aggregate(nodes, &blocks);
        let domains = members.len() / DOMAIN;
        // Where hardly anything is connected any more, another level has nothing to say.
        let last = domains <= 1 || levels.len() + 1 == most || 3 * domains > 2 * nodes;
        let (level, above) = level(nodes, members, &blocks, last);
        levels.push(level);
        match above {
            Some(above) => (nodes, blocks) = (domains, above),
            None => return levels,
        }
    }
}

/// Neighbours of each node, in rising order of blocks.
fn neighbours(nodes: usize, blocks: &Blocks) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0_u32; nodes + 1];
    let pairs = || blocks.iter().filter(|[a, b]| a != b).flat_map(|&[a, b]| [(a, b), (b, a)]);
    for (a, _) in pairs() {
        starts[a as usize + 1] += 1;
    }
    for k in 0..nodes {
        starts[k + 1] += starts[k];
    }
    let mut next = starts.clone();
    let mut list = vec![0; starts[nodes] as usize];
    for (a, b) in pairs() {
        list[next[a as usize] as usize] = b;
        next[a as usize] += 1;
    }
    (starts, list)
}

/// Domains, one after the other: each grows from the first node that is left, breadth first.
fn aggregate(nodes: usize, blocks: &Blocks) -> Vec<u32> {
    if nodes <= DOMAIN {
        return (0..DOMAIN as u32).map(|k| if (k as usize) < nodes { k } else { NOBODY }).collect();
    }
    let (starts, list) = neighbours(nodes, blocks);
    let mut taken = vec![false; nodes];
    let mut members = Vec::new();
    let mut domain = Vec::with_capacity(DOMAIN);
    for seed in 0..nodes {
        if taken[seed] {
            continue;
        }
        domain.clear();
        domain.push(seed as u32);
        taken[seed] = true;
        let mut front = 0;
        while front < domain.len() && domain.len() < DOMAIN {
            let node = domain[front] as usize;
            front += 1;
            for &other in &list[starts[node] as usize..starts[node + 1] as usize] {
                if !taken[other as usize] && domain.len() < DOMAIN {
                    taken[other as usize] = true;
                    domain.push(other);
                }
            }
        }
        members.extend_from_slice(&domain);
        members.resize(members.len().next_multiple_of(DOMAIN), NOBODY);
    }
    members
}

fn level(nodes: usize, members: Vec<u32>, blocks: &Blocks, last: bool) -> (Level, Option<Blocks>) {
    let mut place = vec![(0_u32, 0_u32); nodes];
    for (k, &node) in members.iter().enumerate().filter(|m| *m.1 != NOBODY) {
        place[node as usize] = ((k / DOMAIN) as u32, (k % DOMAIN) as u32);
    }
    let domains = members.len() / DOMAIN;
    let mut inside = Vec::new();
    for (block, &[a, b]) in blocks.iter().enumerate() {
        let ((da, pa), (db, pb)) = (place[a as usize], place[b as usize]);
        if da == db {
            inside.push((da, [DOMAIN as u32 * pa + pb, block as u32]));
        }
    }
    inside.sort_by_key(|entry| entry.0);
    let mut inside_starts = vec![0_u32; domains + 1];
    for (domain, _) in &inside {
        inside_starts[*domain as usize + 1] += 1;
    }
    for k in 0..domains {
        inside_starts[k + 1] += inside_starts[k];
    }
    let inside = inside.into_iter().map(|entry| entry.1).collect();

    let (above, coarse) = if last {
        (None, None)
    } else {
        let pair = |&[a, b]: &[u32; 2]| {
            let (a, b) = (place[a as usize].0, place[b as usize].0);
            [a.max(b), a.min(b)]
        };
        let mut coarse: Blocks = blocks.iter().map(pair).collect();
        coarse.sort_unstable_by_key(|&[row, column]| (column, row));
        coarse.dedup();
        let contributions = blocks.iter().enumerate().map(|(block, fine)| {
            let [row, column] = pair(fine);
            let target = coarse.binary_search_by_key(&(column, row), |&[r, c]| (c, r));
            let (a, b) = (place[fine[0] as usize].0, place[fine[1] as usize].0);
            let flag = match a.cmp(&b) {
                std::cmp::Ordering::Less => TRANSPOSED,
                std::cmp::Ordering::Equal if fine[0] != fine[1] => BOTH,
                _ => 0,
            };
            (target.expect("it was collected above") as u32, block as u32 | flag)
        });
        let lists = Lists::new(contributions.collect(), coarse.len());
        (Some((lists, coarse.len())), Some(coarse))
    };
    (Level { members, inside, inside_starts, above }, coarse)
}

/// Every entry of the whole symmetric matrix by rows: starts, then column and block (transposed above the diagonal).
pub(crate) fn rows(pattern: &Pattern) -> (Vec<u32>, Vec<[u32; 2]>) {
    let mut starts = vec![0_u32; pattern.len() + 1];
    for j in 0..pattern.len() {
        for &row in pattern.rows(j) {
            starts[row as usize + 1] += 1;
            if row as usize != j {
                starts[j + 1] += 1;
            }
        }
    }
    for k in 0..pattern.len() {
        starts[k + 1] += starts[k];
    }
    let mut next = starts.clone();
    let mut entries = vec![[0; 2]; starts[pattern.len()] as usize];
    let mut put = |row: usize, entry: [u32; 2]| {
        entries[next[row] as usize] = entry;
        next[row] += 1;
    };
    // Columns rise within each row: those left of the diagonal come from earlier columns, the others from its own.
    let mut block = 0;
    for j in 0..pattern.len() {
        for &row in pattern.rows(j) {
            put(row as usize, [j as u32, block]);
            if row as usize != j {
                put(j, [row, block | TRANSPOSED]);
            }
            block += 1;
        }
    }
    (starts, entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The graph of a grid of `n` by `n` vertices with diagonals.
    fn grid(n: usize) -> Blocks {
        let mut blocks = Vec::new();
        for k in 0..n * n {
            let (x, y) = (k % n, k / n);
            blocks.push([k as u32, k as u32]);
            for (dx, dy) in [(1, 0), (0, 1), (1, 1)] {
                if x + dx < n && y + dy < n {
                    blocks.push([(k + dx + n * dy) as u32, k as u32]);
                }
            }
        }
        blocks.sort_unstable_by_key(|&[r, c]| (c, r));
        blocks
    }

    #[test]
    fn domains_hold_each_node_once() {
        let members = aggregate(400, &grid(20));
        let mut all: Vec<u32> = members.iter().copied().filter(|m| *m != NOBODY).collect();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..400));
        assert!(members.len() <= 2 * 400, "{} places", members.len());
    }

    #[test]
    fn a_level_keeps_every_block() {
        let blocks = grid(20);
        let (level, above) = level(400, aggregate(400, &blocks), &blocks, false);
        let (_, count) = level.above.unwrap();
        assert_eq!(count, above.unwrap().len());
        // The diagonal of every node lies inside a domain.
        assert!(level.inside.len() >= 400);
        assert_eq!(*level.inside_starts.last().unwrap() as usize, level.inside.len());
    }
}
