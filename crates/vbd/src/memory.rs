//! What a step leaves to the next beside positions and velocities; checkpoints keep it.

use glam::DVec3;
use gusset_energy::{Row, SlabRow};

/// Which pair a multiplier belongs to: kind and primitives of a row, or vertex and slab.
pub(crate) type Key = [u32; 3];

/// Kind of a slab's key, beyond those of rows.
const SLAB: u32 = 4;

/// The key of a row.
pub(crate) fn key(row: &Row) -> Key {
    [row.kind as u32, row.primitives[0], row.primitives[1]]
}

/// The key of a slab's row.
pub(crate) fn slab_key(slab: &SlabRow) -> Key {
    [SLAB, slab.vertex, slab.slab]
}

/// Multipliers of a pair.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Multipliers {
    /// Normal (N).
    pub(crate) normal: f64,
    /// Within the plane (N).
    pub(crate) tangential: DVec3,
}

/// Multipliers of all pairs, by rising key.
pub(crate) type Remembered = Vec<(Key, Multipliers)>;

/// What the next step starts from.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Memory {
    /// Of contact rows.
    pub(crate) multipliers: Remembered,
    /// Velocities that the step before began with (m/s); empty before the first.
    pub(crate) v_before: Vec<DVec3>,
}

/// Bytes of a vector.
const VECTOR: usize = 24;

/// Bytes of a pair: three indices and four numbers.
const PAIR: usize = 44;

impl Memory {
    /// Little-endian: the number of velocities, the velocities, and the pairs.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let size = 8 + VECTOR * self.v_before.len() + PAIR * self.multipliers.len();
        let mut bytes = Vec::with_capacity(size);
        bytes.extend((self.v_before.len() as u64).to_le_bytes());
        for f in self.v_before.iter().flat_map(DVec3::to_array) {
            bytes.extend(f.to_le_bytes());
        }
        for (key, m) in &self.multipliers {
            for k in key {
                bytes.extend(k.to_le_bytes());
            }
            let [x, y, z] = m.tangential.to_array();
            for f in [m.normal, x, y, z] {
                bytes.extend(f.to_le_bytes());
            }
        }
        bytes
    }

    /// The inverse of [`Self::to_bytes`], of a model with so many vertices.
    pub(crate) fn from_bytes(bytes: &[u8], vertex_count: usize) -> Result<Self, String> {
        if bytes.is_empty() {
            return Ok(Self::default());
        }
        let (count, rest) = bytes.split_first_chunk().ok_or("it ends within its first number")?;
        let count = u64::from_le_bytes(*count);
        if count != 0 && count != vertex_count as u64 {
            return Err(format!("it has velocities of {count} vertices, not of {vertex_count}"));
        }
        let (velocities, pairs) = rest
            .split_at_checked(VECTOR * count as usize)
            .ok_or_else(|| format!("it ends within the velocities of {count} vertices"))?;
        if !pairs.len().is_multiple_of(PAIR) {
            return Err(format!("{} bytes of multipliers are not whole pairs", pairs.len()));
        }
        let vector = |bytes: &[u8], from: usize| {
            let number =
                |k: usize| f64::from_le_bytes(std::array::from_fn(|i| bytes[from + 8 * k + i]));
            DVec3::new(number(0), number(1), number(2))
        };
        let pair = |pair: &[u8]| {
            let key = std::array::from_fn(|k| {
                u32::from_le_bytes(std::array::from_fn(|i| pair[4 * k + i]))
            });
            let normal = f64::from_le_bytes(std::array::from_fn(|i| pair[12 + i]));
            (key, Multipliers { normal, tangential: vector(pair, 20) })
        };
        Ok(Self {
            multipliers: pairs.chunks_exact(PAIR).map(pair).collect(),
            v_before: velocities.chunks_exact(VECTOR).map(|bytes| vector(bytes, 0)).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_say_all_of_it() {
        let tangential = DVec3::new(0.5, -2.0, 1e-300);
        let memory = Memory {
            multipliers: vec![([0, 7, 9], Multipliers { normal: 3.25, tangential }); 3],
            v_before: vec![DVec3::new(1.0, 2.0, 3.0), DVec3::NEG_X],
        };
        let bytes = memory.to_bytes();
        assert_eq!(Memory::from_bytes(&bytes, 2), Ok(memory));
        assert_eq!(Memory::from_bytes(&[], 2), Ok(Memory::default()));
        assert!(Memory::from_bytes(&bytes, 3).is_err());
        for end in [4, 20, bytes.len() - 1] {
            assert!(Memory::from_bytes(&bytes[..end], 2).is_err());
        }
    }
}
