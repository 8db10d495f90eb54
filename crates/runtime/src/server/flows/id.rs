//! A flow's identity in one word.

/// Names a flow for as long as it is open: its shard, its place there, and how many flows had that place before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in super::super) struct Id {
    pub(in super::super) shard: usize,
    pub(in super::super) number: u32,
    pub(in super::super) generation: u32,
}

impl Id {
    /// The largest generation. A million flows later a place may have the same one again.
    pub(super) const GENERATIONS: u32 = (1 << Self::GENERATION_BITS) - 1;
    const GENERATION_BITS: u32 = 20;

    /// In one word. A server has at most 4,096 shards (for 1,000 workers) and little more than 2^30 flows: so the largest words
    /// are no flow's.
    pub(in super::super) const fn word(self) -> u64 {
        (self.shard as u64) << (32 + Self::GENERATION_BITS)
            | (self.generation as u64) << 32
            | self.number as u64
    }

    pub(in super::super) const fn from_word(word: u64) -> Self {
        Self {
            shard: (word >> (32 + Self::GENERATION_BITS)) as usize,
            number: word as u32,
            generation: (word >> 32) as u32 & Self::GENERATIONS,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_holds_all_of_an_identity() {
        for shard in [0, 1, 4095] {
            for number in [0, 7, 1 << 31] {
                for generation in [0, 3, Id::GENERATIONS] {
                    let id = Id { shard, number, generation };
                    assert_eq!(Id::from_word(id.word()), id);
                    assert!(id.word() < u64::MAX - 1);
                }
            }
        }
    }
}
