//! The built-in intervening work: references with temporal and spatial locality, and code, that
//! displace the protocol from the caches as an ordinary program would.
//!
//! * **Temporal locality.** The block that is referenced next is drawn log-uniformly: the 2^k
//!   most popular blocks together get the same share for every octave k. So the number of
//!   distinct lines grows with the number of references as a power below one, as in the traces of
//!   Singh, Stone & Thiebaut 1992, until tens of MiB have been touched.
//! * **Spatial locality.** A block of four lines is referenced at eight successive words, from a
//!   random word on. Popular blocks are scattered over the memory, not side by side.
//! * **Loads and stores**, three to one.
//! * **Code.** After every few blocks a piece of straight code runs, drawn from many in the same
//!   log-uniform way, so that instruction lines are displaced as well.

use crate::baton::Alarm;
use crate::clock::{self, Ticks, Timer};
use crate::error::{CalibrateError, RunError};
use core::hint::black_box;
use rand::RngExt;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use warmcore_linux::{CodeBlock, Pages, Region};
use warmcore_units::Bytes;

/// The memory the work refers to: larger than any cache it is to displace.
const MEMORY_BITS: u32 = 26;
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
/// Bytes of an average instruction: what makes fetching code comparable with referring to data.
const INSTRUCTION: u64 = 8;
/// Odd, so that multiplying by it modulo a power of two visits every block once.
const SCATTER: usize = 0x9e37_79b1;

/// The work and its state; it goes on where it was interrupted.
pub(crate) struct Workload {
    memory: Region,
    code: Vec<CodeBlock>,
    rng: Xoshiro256PlusPlus,
    references: u64,
    worked: Ticks,
}

impl Workload {
    /// Work drawn from `seed`.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub(crate) fn new(seed: u64) -> Result<Self, CalibrateError> {
        let memory = Region::new(Bytes(1 << MEMORY_BITS), Pages::Small)?;
        // Where code cannot be made, data alone is referred to.
        let code = (0..1 << PIECES_BITS).map_while(|_| CodeBlock::new(PIECE).ok()).collect();
        Ok(Self { memory, code, rng: Xoshiro256PlusPlus::seed_from_u64(seed), references: 0, worked: 0 })
    }

    /// Works for `duration` ticks of the counter; how many it really were.
    ///
    /// # Errors
    /// If the alarm goes off meanwhile.
    #[inline(never)]
    pub(crate) fn run(&mut self, duration: Ticks, alarm: &Alarm<'_>) -> Result<Ticks, RunError> {
        let start = clock::now();
        loop {
            for _ in 0..BLOCKS_PER_PIECE {
                self.refer_to_a_block();
            }
            self.run_a_piece();
            let worked = clock::now() - start;
            if worked >= duration {
                self.worked += worked;
                return Ok(worked);
            }
            alarm.check()?;
        }
    }

    #[inline]
    fn refer_to_a_block(&mut self) {
        let random = self.rng.random::<u64>();
        let rank = log_uniform(random, MEMORY_BITS - BLOCK_BITS);
        let block = rank.wrapping_mul(SCATTER) % (1 << (MEMORY_BITS - BLOCK_BITS));
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

    /// References, to data and to instructions, per microsecond of work so far.
    pub(crate) fn references_per_us(&self, timer: &Timer) -> Option<f64> {
        let worked = timer.nanos(self.worked as f64).micros();
        (self.references > 0 && worked > 0.0).then(|| self.references as f64 / worked)
    }

    /// What a profile says of this work.
    pub(crate) fn description(&self) -> String {
        let memory = Bytes(1 << MEMORY_BITS);
        let code = Bytes(self.code.len() as u64 * PIECE.0);
        format!(
            "built-in: loads and stores (3:1) to {memory} of data and {code} of code, blocks and pieces drawn log-uniformly by popularity"
        )
    }
}

/// A number from 1 to `2^bits - 1`: each octave below `2^bits` is equally likely, and each number
/// in an octave.
#[inline]
fn log_uniform(random: u64, bits: u32) -> usize {
    let octave = ((random & 0xffff_ffff) * u64::from(bits)) >> 32;
    let within = (random >> 32) & ((1 << octave) - 1);
    (1 << octave | within) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn work_lasts_at_least_as_long_as_asked_and_counts_its_references() {
        let timer = Timer::calibrate();
        let stop = AtomicBool::new(false);
        let alarm = Alarm::new(&stop);
        let mut workload = Workload::new(1).unwrap();
        assert_eq!(workload.references_per_us(&timer), None);
        for duration in [0, 1_000, 1_000_000] {
            assert!(workload.run(duration, &alarm).unwrap() >= duration);
        }
        assert!(workload.references_per_us(&timer).unwrap() > 0.0);
        stop.store(true, Ordering::Relaxed);
        assert!(matches!(workload.run(u64::MAX, &alarm), Err(RunError::Interrupted)));
    }

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
        let blocks = 1_usize << (MEMORY_BITS - BLOCK_BITS);
        let mut seen = vec![false; blocks];
        for rank in 0..blocks {
            let block = rank.wrapping_mul(SCATTER) % blocks;
            assert!(!std::mem::replace(&mut seen[block], true));
        }
    }
}
