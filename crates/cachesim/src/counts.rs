//! What a hierarchy has counted.

use crate::Kind;
use core::fmt;
use core::ops::Index;
use warmcore_units::Cycles;

/// A cache of a hierarchy: its place in [`Description::caches`](crate::Description::caches).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CacheId(pub u32);

impl CacheId {
    /// As an index into a table with an entry for each cache.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Why a cache is asked for a line.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Cause {
    /// For a processor's reference. A store that brings a line into a nearer write-back cache is a store here too.
    Reference(Kind),
    /// Because a nearer cache prefetches.
    Prefetch,
    /// For a block of stores from a write buffer.
    Drain,
}

impl Cause {
    /// How many there are.
    pub const COUNT: usize = 5;

    /// All of them, in the order of their indices.
    pub const ALL: [Self; Self::COUNT] = [
        Self::Reference(Kind::Fetch),
        Self::Reference(Kind::Load),
        Self::Reference(Kind::Store),
        Self::Prefetch,
        Self::Drain,
    ];

    /// As an index into a table of [`Cause::COUNT`].
    #[must_use]
    #[inline]
    pub const fn index(self) -> usize {
        match self {
            Self::Reference(kind) => kind as usize,
            Self::Prefetch => 3,
            Self::Drain => 4,
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Reference(Kind::Fetch) => "fetch",
            Self::Reference(Kind::Load) => "load",
            Self::Reference(Kind::Store) => "store",
            Self::Prefetch => "prefetch",
            Self::Drain => "drained store",
        })
    }
}

/// What one cache has counted. Numbers of lines, except the accesses of references that straddle lines
/// under [`Straddling::Whole`](crate::Straddling::Whole).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CacheCounts {
    pub(crate) accesses: [u64; Cause::COUNT],
    pub(crate) misses: [u64; Cause::COUNT],
    /// Lines that made way for others.
    pub displaced: u64,
    /// Lines that another processor's store took away.
    pub invalidated: u64,
    /// Lines that went because an inclusive cache lost them.
    pub excluded: u64,
    /// Lines that were changed here and had to be written further away when they went.
    pub written_back: u64,
    /// Lines that were brought in ahead of a reference.
    pub prefetched: u64,
    /// Stores that its write buffer merged with a waiting block.
    pub merged: u64,
    /// What references waited for its write buffer.
    pub stalls: Cycles,
}

impl CacheCounts {
    /// How often it was asked because of `cause`.
    #[must_use]
    pub fn accesses(&self, cause: Cause) -> u64 {
        self.accesses[cause.index()]
    }

    /// How often that missed.
    #[must_use]
    pub fn misses(&self, cause: Cause) -> u64 {
        self.misses[cause.index()]
    }

    pub(crate) fn add(&mut self, other: &Self) {
        for cause in 0..Cause::COUNT {
            self.accesses[cause] += other.accesses[cause];
            self.misses[cause] += other.misses[cause];
        }
        self.displaced += other.displaced;
        self.invalidated += other.invalidated;
        self.excluded += other.excluded;
        self.written_back += other.written_back;
        self.prefetched += other.prefetched;
        self.merged += other.merged;
        self.stalls += other.stalls;
    }

    /// Accesses for all processors' references.
    #[must_use]
    pub fn references(&self) -> u64 {
        Kind::ALL.iter().map(|&kind| self.accesses(Cause::Reference(kind))).sum()
    }

    /// Misses of all processors' references.
    #[must_use]
    pub fn reference_misses(&self) -> u64 {
        Kind::ALL.iter().map(|&kind| self.misses(Cause::Reference(kind))).sum()
    }
}

/// What all caches, and memory, have counted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Counts {
    /// Each cache, as in [`Description::caches`](crate::Description::caches).
    pub caches: Vec<CacheCounts>,
    /// Times that memory was asked for a line.
    pub memory_reads: u64,
    /// Times that a line or a store was written to memory.
    pub memory_writes: u64,
}

impl Index<CacheId> for Counts {
    type Output = CacheCounts;
    fn index(&self, cache: CacheId) -> &CacheCounts {
        &self.caches[cache.index()]
    }
}
