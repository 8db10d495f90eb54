//! A processor's translation look-aside buffer: 256 entries, direct-mapped (Falsafi 1998, §1.3.1).

use core::cell::Cell;

/// Entries of a TLB.
pub(super) const ENTRIES: usize = 256;

/// The pages that are translated without a look at the page table.
#[derive(Debug)]
pub(super) struct Tlb {
    /// One more than the page in each entry; 0 for none.
    entries: [Cell<u32>; ENTRIES],
}

impl Tlb {
    pub(super) const fn new() -> Self {
        Self { entries: [const { Cell::new(0) }; ENTRIES] }
    }

    /// Whether `page` is translated.
    #[inline(always)]
    pub(super) fn has(&self, page: u32) -> bool {
        self.entries[page as usize % ENTRIES].get() == page + 1
    }

    /// Forgets `page`, which has left memory.
    pub(super) fn forget(&self, page: u32) {
        if self.has(page) {
            self.entries[page as usize % ENTRIES].set(0);
        }
    }

    /// Takes in `page`.
    pub(super) fn load(&self, page: u32) {
        self.entries[page as usize % ENTRIES].set(page + 1);
    }
}
