//! A block buffer: a small direct-mapped cache in the device, through which blocks move between the network and the node's
//! memory or caches (Falsafi 1998, §4.1 and §5.2.1; 2 Kbytes, §5.3.1).

use super::memory::Block;

/// Which blocks a buffer holds that have come from the network and are not in memory.
#[derive(Clone, Debug)]
pub(super) struct BlockBuffer {
    /// One more than the block's number; 0 for none.
    entries: Box<[u32]>,
}

impl BlockBuffer {
    pub(super) fn new(entries: usize) -> Self {
        Self { entries: vec![0; entries].into_boxed_slice() }
    }

    /// Takes in `block`. Whether another one must be written to memory for that.
    pub(super) fn take(&mut self, block: Block) -> bool {
        let entry = &mut self.entries[block as usize % self.entries.len()];
        let makes_way = *entry != 0 && *entry != block + 1;
        *entry = block + 1;
        makes_way
    }

    /// Whether `block` is here.
    pub(super) fn holds(&self, block: Block) -> bool {
        self.entries[block as usize % self.entries.len()] == block + 1
    }

    /// Forgets `block`: the copy here is no longer the newest.
    pub(super) fn forget(&mut self, block: Block) {
        if self.holds(block) {
            self.entries[block as usize % self.entries.len()] = 0;
        }
    }
}
