//! What is fetched and never used: words of a line that nobody asks for before it goes.

use super::{Lookup, Loss, Observer};
use crate::check::MAX_LINE;
use crate::{CacheId, Description};
use hashbrown::HashMap;
use warmcore_units::Bytes;

/// Watches which words of the lines that came were asked for: "the percentage of instructions that remain unused in each
/// cache block" (Mosberger et al. 1996, §4.4.4, Table 9).
#[derive(Clone, Debug)]
pub struct Unused {
    caches: Vec<Words>,
    /// The words that were asked for of each line that is there, a bit each.
    here: HashMap<(CacheId, u64), u64>,
    gone: Vec<Use>,
}

/// How the lines of one cache are divided.
#[derive(Clone, Copy, Debug)]
struct Words {
    bits: u32,
    in_line: u32,
}

/// How much of what came was used, in words.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Use {
    /// Words that were fetched.
    pub fetched: u64,
    /// Words of these that nobody asked for.
    pub unused: u64,
}

impl Use {
    /// The unused part, 0 to 1; 0 if nothing was fetched.
    #[must_use]
    pub fn unused_part(&self) -> f64 {
        if self.fetched == 0 { 0.0 } else { self.unused as f64 / self.fetched as f64 }
    }
}

impl Unused {
    /// For the caches of `description`, in words of `word` bytes: a power of two, rounded up if it is not. No more than 64
    /// words of a line are told apart: those of longer lines are larger.
    #[must_use]
    pub fn new(description: &Description, word: Bytes) -> Self {
        let words = |line: u64| {
            // Caches with other lines are never built, and nothing is watched.
            let line = line.clamp(1, MAX_LINE.0);
            let word = word.0.clamp(1, line).next_power_of_two().max(line / 64);
            Words { bits: word.trailing_zeros(), in_line: (line / word) as u32 }
        };
        Self {
            caches: description.caches.iter().map(|cache| words(cache.geometry.line.0)).collect(),
            here: HashMap::new(),
            gone: vec![Use::default(); description.caches.len()],
        }
    }

    /// How much of what came into `cache` was used, with what is still there.
    #[must_use]
    pub fn get(&self, cache: CacheId) -> Use {
        let here = self.here.iter().filter(|&(&(other, _), _)| other == cache);
        here.fold(self.gone[cache.index()], |sum, (_, &used)| sum.with(self.caches[cache.index()], used))
    }
}

impl Use {
    fn with(self, words: Words, used: u64) -> Self {
        let unused = words.in_line - used.count_ones();
        Self { fetched: self.fetched + u64::from(words.in_line), unused: self.unused + u64::from(unused) }
    }
}

impl Observer for Unused {
    fn looked_up(&mut self, lookup: &Lookup) {
        if !lookup.present {
            return;
        }
        let Words { bits, .. } = self.caches[lookup.cache.index()];
        let used = self.here.entry((lookup.cache, lookup.line)).or_default();
        // What is prefetched is not asked for.
        if lookup.cause != crate::Cause::Prefetch {
            let (first, last) = (lookup.offset >> bits, (lookup.offset + lookup.bytes - 1) >> bits);
            *used |= u64::MAX >> (63 - (last - first)) << first;
        }
    }

    fn lost(&mut self, loss: &Loss) {
        if let Some(used) = self.here.remove(&(loss.cache, loss.line)) {
            let gone = &mut self.gone[loss.cache.index()];
            *gone = gone.with(self.caches[loss.cache.index()], used);
        }
    }
}
