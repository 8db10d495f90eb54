//! The built-in other work: data references with temporal and spatial locality, and code. It displaces
//! the protocol from the caches as an ordinary program would.
//!
//! * **Temporal locality.** The next block is drawn log-uniformly by popularity: the blocks of rank 2^k
//!   to 2^(k+1) - 1 together get the same share for every octave k. So the number of distinct lines grows
//!   with the number of references as a power below one, as in the traces of Singh, Stone & Thiebaut
//!   1992, until all of the memory has been touched.
//! * **Spatial locality.** A block of four lines is referenced at eight successive words, from a
//!   random word on. Popular blocks are scattered over the memory, not side by side.
//! * **Loads and stores**, three to one.
//! * **Code.** After every few blocks a piece of straight code runs, drawn from many in the same
//!   log-uniform way, so that instruction lines are displaced as well.

use super::Work;
use core::hint::black_box;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use warmcore_linux::{CodeBlock, MappingError, Pages, Region};
use warmcore_units::Bytes;

const BLOCK_BITS: u32 = 8;
const WORD: usize = 8;
const WORDS_PER_BLOCK: usize = (1 << BLOCK_BITS) / WORD;
/// References to a block each time it is chosen; every fourth is a store.
const REFERENCES_PER_BLOCK: usize = 8;
/// Pieces of code, and the size of each.
const PIECES_BITS: u32 = 8;
const PIECE: Bytes = Bytes::kib(1);
/// Blocks referenced between two pieces of code.
const BLOCKS_PER_PIECE: u64 = 4;
/// Bytes of an average instruction, to compare instruction fetches with data references.
const INSTRUCTION: u64 = 8;
/// Odd, so that multiplying by it modulo a power of two visits every block once.
const SCATTER: usize = 0x9e37_79b1;

/// The work and its state. Each step continues where the last one ended.
pub struct BuiltIn {
    memory: Region,
    /// Log2 of the memory's size in bytes.
    bits: u32,
    code: Vec<CodeBlock>,
    rng: Xoshiro256PlusPlus,
    blocks: u64,
    references: u64,
}

impl BuiltIn {
    /// The default size of the memory: larger than any cache it is to displace.
    pub const MEMORY: Bytes = Bytes(1 << 26);

    /// Creates work on `memory` bytes of data, rounded up to a power of two and at least 4 KiB, drawn
    /// from `seed`.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub fn new(memory: Bytes, seed: u64) -> Result<Self, MappingError> {
        let size = Bytes(memory.0.max(4096).next_power_of_two());
        Ok(Self {
            memory: Region::new(size, Pages::Small)?,
            bits: size.0.ilog2(),
            // If code cannot be generated, the work references data only.
            code: (0..1 << PIECES_BITS).map_while(|_| CodeBlock::new(PIECE).ok()).collect(),
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            blocks: 0,
            references: 0,
        })
    }

    #[inline]
    fn refer_to_a_block(&mut self) {
        let random = self.rng.random::<u64>();
        let rank = log_uniform(random, self.bits - BLOCK_BITS);
        let block = rank.wrapping_mul(SCATTER) % (1 << (self.bits - BLOCK_BITS));
        let first = (random >> 56) as usize % (WORDS_PER_BLOCK - REFERENCES_PER_BLOCK + 1);
        let start = (block << BLOCK_BITS) + first * WORD;
        let words = &mut self.memory[start..start + REFERENCES_PER_BLOCK * WORD];
        for (position, word) in words.as_chunks_mut::<WORD>().0.iter_mut().enumerate() {
            if position % 4 == 3 {
                word[0] = word[0].wrapping_add(1);
            } else {
                black_box(word[0]);
            }
        }
        self.references += REFERENCES_PER_BLOCK as u64;
    }

    #[inline]
    fn run_a_piece(&mut self) {
        let piece = log_uniform(self.rng.random(), PIECES_BITS);
        if let Some(code) = self.code.get(piece) {
            code.run();
            self.references += code.size().0 / INSTRUCTION;
        }
    }

    /// References so far, to data and to instructions.
    #[must_use]
    pub const fn references(&self) -> u64 {
        self.references
    }

    /// The description of this work in a profile.
    #[must_use]
    pub fn description(&self) -> String {
        let memory = Bytes(1 << self.bits);
        let code = Bytes(self.code.len() as u64 * PIECE.0);
        format!(
            "built-in: loads and stores (3:1) to {memory} of data and {code} of code, blocks and pieces drawn log-uniformly by popularity"
        )
    }
}

impl Work for BuiltIn {
    /// References one block, and after every few blocks runs a piece of code.
    #[inline]
    fn step(&mut self) {
        self.refer_to_a_block();
        self.blocks += 1;
        if self.blocks.is_multiple_of(BLOCKS_PER_PIECE) {
            self.run_a_piece();
        }
    }
}

/// Maps `random` to a number from 1 to `2^bits - 1`. All octaves are equally likely, and so are all
/// numbers within an octave.
#[inline]
fn log_uniform(random: u64, bits: u32) -> usize {
    let octave = ((random & 0xffff_ffff) * u64::from(bits)) >> 32;
    let within = (random >> 32) & ((1 << octave) - 1);
    (1 << octave | within) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_octave_is_equally_popular() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(2);
        let mut octaves = [0_u32; 10];
        for _ in 0..100_000 {
            let number = log_uniform(rng.random(), 10);
            assert!((1..1024).contains(&number));
            octaves[number.ilog2() as usize] += 1;
        }
        // 10,000 are expected in each, with a standard deviation of 95.
        assert!(octaves.iter().all(|count| (9_000..11_000).contains(count)), "{octaves:?}");
    }

    #[test]
    fn blocks_are_scattered_one_to_one() {
        let blocks = 1_usize << (26 - BLOCK_BITS);
        let mut seen = vec![false; blocks];
        for rank in 0..blocks {
            let block = rank.wrapping_mul(SCATTER) % blocks;
            assert!(!std::mem::replace(&mut seen[block], true));
        }
    }
}
