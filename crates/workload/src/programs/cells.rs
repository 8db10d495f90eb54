//! Lists of the particles in each cell of a grid, built by all processors together.

use super::cost::{CALL, INTEGER, LOOP, PRIVATE, Pace};
use super::{Address, Image, LockId, SharedMemory};
use core::ops::Range;

/// Locks that the cells share.
const LOCKS: u64 = 2048;

/// Computing to put a particle on a list, or to take it off again.
const LINK: u32 = CALL + 2 * INTEGER;

/// Computing to sort one of a few particles, for each that is there already.
const SORT: u32 = INTEGER + PRIVATE + LOOP;

/// A list for each cell: a word that holds the first particle's address. A word of each particle holds the next one's. The end
/// is 0, which is the address of no particle, because the lists are allocated before.
#[derive(Debug)]
pub(super) struct CellLists {
    heads: Address,
    /// Which word of a particle holds the next one's address.
    link: u64,
    pace: Pace,
}

impl CellLists {
    /// Lists for `cells` cells, shared out to the processors in order, of particles whose word `link` is free.
    pub(super) fn new(image: &mut Image, cells: u64, processors: u32, link: u64, pace: Pace) -> Self {
        Self { heads: image.allocate_shared_out(8 * cells, processors), link, pace }
    }

    /// Empties the lists of `cells`.
    pub(super) fn clear<M: SharedMemory>(&self, memory: &M, cells: Range<u64>) {
        for cell in cells {
            memory.store(self.heads.word(cell), 0);
        }
    }

    /// Puts `particle` on the list of `cell`.
    pub(super) fn insert<M: SharedMemory>(&self, memory: &M, cell: u64, particle: Address) {
        let head = self.heads.word(cell);
        let lock = LockId((cell % LOCKS) as u32);
        memory.compute(self.pace.cycles(LINK));
        memory.acquire(lock);
        memory.store(particle.word(self.link), memory.load(head));
        memory.store(head, particle.0);
        memory.release(lock);
    }

    /// Calls `see` with each particle of `cell`.
    #[inline(always)]
    pub(super) fn for_each<M: SharedMemory>(&self, memory: &M, cell: u64, mut see: impl FnMut(Address)) {
        let mut next = memory.load(self.heads.word(cell));
        while next != 0 {
            let particle = Address(next);
            see(particle);
            next = memory.load(particle.word(self.link));
        }
    }

    /// Sorts the list of `cell` by address, so that its order does not depend on who came first.
    pub(super) fn sort<M: SharedMemory>(&self, memory: &M, cell: u64, private: &mut Vec<Address>) {
        private.clear();
        self.for_each(memory, cell, |particle| private.push(particle));
        private.sort_unstable();
        let mut link = self.heads.word(cell);
        for &particle in &*private {
            memory.store(link, particle.0);
            link = particle.word(self.link);
            memory.compute(self.pace.cycles(LINK));
        }
        memory.store(link, 0);
        let pairs = private.len().saturating_mul(private.len()) / 2;
        memory.compute(self.pace.cycles(SORT * pairs as u32));
    }
}
