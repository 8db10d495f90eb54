//! Pointer chasing: cache lines are linked into one cycle in random order, so that each load waits for
//! the one before it and no prefetcher can guess the next. The mean time of a step is the latency of
//! the level that holds the lines.

use crate::clock::{self, Ticks};
use core::hint::black_box;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use warmcore_linux::{MappingError, Pages, Region};
use warmcore_units::Bytes;

/// A cycle of cache lines.
pub(crate) struct Chain {
    memory: Region,
    nodes: usize,
    spacing: usize,
    /// Where the last chase ended and the next one starts.
    at: u32,
}

impl Chain {
    const POINTER: usize = size_of::<u32>();

    /// A cycle through `size` bytes that visits every `spacing`-th byte's line once.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub(crate) fn new(
        size: Bytes,
        spacing: usize,
        pages: Pages,
        rng: &mut Xoshiro256PlusPlus,
    ) -> Result<Self, MappingError> {
        let mut memory = Region::new(size, pages)?;
        let spacing = spacing.max(2 * Self::POINTER);
        let mut order: Vec<u32> = (0..u32::try_from(memory.len() / spacing).unwrap_or(u32::MAX)).collect();
        order.shuffle(rng);
        let successors = order.iter().skip(1).chain(order.first());
        for (&node, &next) in order.iter().zip(successors) {
            let at = node as usize * spacing;
            memory[at..at + Self::POINTER].copy_from_slice(&next.to_ne_bytes());
        }
        Ok(Self { nodes: order.len(), memory, spacing, at: 0 })
    }

    /// Number of lines in the cycle.
    pub(crate) const fn nodes(&self) -> usize {
        self.nodes
    }

    /// Follows the chain for `steps` steps from where the last chase ended. Returns how long that took,
    /// including the reading of the counter.
    #[inline(never)]
    pub(crate) fn chase(&mut self, steps: usize) -> Ticks {
        let start = clock::now();
        let mut node = black_box(self.at);
        for _ in 0..steps {
            let at = node as usize * self.spacing;
            let Some(&next) = self.memory.get(at..).and_then(<[u8]>::first_chunk) else { break };
            node = u32::from_ne_bytes(next);
        }
        self.at = black_box(node);
        clock::now() - start
    }

    /// Writes to every line, as a packet writes to the protocol's lines.
    pub(crate) fn write(&mut self) {
        for node in 0..self.nodes {
            self.memory[node * self.spacing + Self::POINTER] ^= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use std::collections::BTreeSet;

    #[test]
    fn the_chain_is_one_cycle_through_every_line() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut chain = Chain::new(Bytes::kib(64), 256, Pages::Small, &mut rng).unwrap();
        chain.write();
        let mut node = 0;
        let mut seen = BTreeSet::new();
        while seen.insert(node) {
            let at = node as usize * chain.spacing;
            node = u32::from_ne_bytes(*chain.memory[at..].first_chunk().unwrap());
        }
        assert_eq!((seen.len(), node), (chain.nodes(), 0));
        assert_eq!(chain.nodes(), 256);
        assert!(chain.chase(1000) > 0);
    }
}
