//! What is watched while a trace goes through caches: misses by block, and words of fetched lines that nobody executes; of
//! the nearest cache for instructions both also by line.

use super::columns::Columns;
use super::summary::{Misses, Words};
use hashbrown::{HashMap, HashSet};
use warmcore_cachesim::observe::{Lookup, Loss};
use warmcore_cachesim::{CacheId, Cause, Description, Kind, Observer};

/// The column of the nearest cache for instructions.
const INSTRUCTIONS: u8 = 0;

/// Watches one round of a trace. An [`Owner`](warmcore_cachesim::Owner) is a block.
#[derive(Clone, Debug)]
pub(super) struct Watch {
    /// The column of each cause in each cache.
    table: Vec<[Option<u8>; Cause::COUNT]>,
    columns: usize,
    /// Lines that have been in each cache.
    seen: Vec<HashSet<u64>>,
    /// By block and then by column.
    misses: Vec<Misses>,
    lines: Lines,
}

impl Watch {
    /// For caches of `description` and so many `blocks`. A word has `word` bytes, a power of two.
    pub(super) fn new(description: &Description, columns: &Columns, blocks: usize, word: u64) -> Self {
        let cache = columns.headings[0].cache;
        Self {
            table: columns.table(description),
            columns: columns.headings.len(),
            seen: vec![HashSet::new(); description.caches.len()],
            misses: vec![Misses::default(); blocks * columns.headings.len()],
            lines: Lines::new(cache, description.caches[cache.index()].geometry.line.0, word, blocks),
        }
    }

    /// Counts anew; what the caches hold and once held stays known.
    pub(super) fn restart(&mut self) {
        self.misses.fill(Misses::default());
        self.lines.restart();
    }

    /// Forgets which lines have been in `cache`.
    pub(super) fn forget(&mut self, cache: CacheId) {
        self.seen[cache.index()].clear();
    }

    /// What each line of the nearest cache for instructions did since counting began, by its number; lines that did nothing
    /// are left out.
    pub(super) fn lines(&self) -> HashMap<u64, (Misses, Words)> {
        let mut lines = self.lines.by_line.clone();
        for (&line, came) in self.lines.here.iter().filter(|(_, came)| came.counted) {
            lines.entry(line).or_default().1 += came.words(self.lines.in_line);
        }
        lines
    }

    /// The misses of `block`, column by column.
    pub(super) fn misses(&self, block: usize) -> &[Misses] {
        &self.misses[block * self.columns..][..self.columns]
    }

    /// The words of the lines that came for each block since counting began, with those that are still there.
    pub(super) fn words(&self) -> Vec<Words> {
        let mut words = self.lines.gone.clone();
        for came in self.lines.here.values().filter(|came| came.counted) {
            words[came.block as usize] += came.words(self.lines.in_line);
        }
        words
    }
}

impl Observer for Watch {
    #[inline]
    fn looked_up(&mut self, lookup: &Lookup) {
        if lookup.cache == self.lines.cache {
            self.lines.looked_up(lookup);
        }
        if lookup.hit || !lookup.present {
            return;
        }
        let first = self.seen[lookup.cache.index()].insert(lookup.line);
        if let Some(column) = self.table[lookup.cache.index()][lookup.cause.index()] {
            let at = lookup.owner.0 as usize * self.columns + usize::from(column);
            let miss = Misses { misses: 1, replacements: u64::from(!first) };
            self.misses[at] += miss;
            if column == INSTRUCTIONS {
                self.lines.by_line.entry(lookup.line).or_default().0 += miss;
            }
        }
    }

    fn lost(&mut self, loss: &Loss) {
        if loss.cache == self.lines.cache {
            self.lines.lost(loss.line);
        }
    }
}

/// The lines of the nearest cache for instructions.
#[derive(Clone, Debug)]
struct Lines {
    cache: CacheId,
    word_bits: u32,
    in_line: u32,
    here: HashMap<u64, Came>,
    /// By block.
    gone: Vec<Words>,
    /// By line: misses, and words of the times that it has gone.
    by_line: HashMap<u64, (Misses, Words)>,
}

/// A line that a block brought in.
#[derive(Clone, Copy, Debug)]
struct Came {
    block: u32,
    /// Whether it came since counting began.
    counted: bool,
    /// Its words that were executed, a bit each.
    used: u64,
}

impl Came {
    const fn words(self, in_line: u32) -> Words {
        Words { fetched: in_line as u64, unused: (in_line - self.used.count_ones()) as u64 }
    }
}

impl Lines {
    /// No more than 64 words of a line are told apart.
    fn new(cache: CacheId, line: u64, word: u64, blocks: usize) -> Self {
        let word = word.clamp(1, line).max(line / 64);
        Self {
            cache,
            word_bits: word.trailing_zeros(),
            in_line: (line / word) as u32,
            here: HashMap::new(),
            gone: vec![Words::default(); blocks],
            by_line: HashMap::new(),
        }
    }

    fn restart(&mut self) {
        self.here.values_mut().for_each(|came| came.counted = false);
        self.gone.fill(Words::default());
        self.by_line.clear();
    }

    #[inline]
    fn looked_up(&mut self, lookup: &Lookup) {
        let fetched = lookup.cause == Cause::Reference(Kind::Fetch);
        if !lookup.hit && lookup.present && (fetched || lookup.cause == Cause::Prefetch) {
            self.here.insert(lookup.line, Came { block: lookup.owner.0, counted: true, used: 0 });
        }
        if !fetched {
            return;
        }
        if let Some(came) = self.here.get_mut(&lookup.line) {
            let first = lookup.offset >> self.word_bits;
            let last = (lookup.offset + lookup.bytes - 1) >> self.word_bits;
            came.used |= u64::MAX >> (63 - (last - first)) << first;
        }
    }

    fn lost(&mut self, line: u64) {
        if let Some(came) = self.here.remove(&line)
            && came.counted
        {
            let words = came.words(self.in_line);
            self.gone[came.block as usize] += words;
            self.by_line.entry(line).or_default().1 += words;
        }
    }
}
