//! A node: the caches of its processors on one bus, and its memory. Transactions are atomic: everything that snoops
//! on the bus changes its state in the event that begins the transaction, and what follows is a matter of time alone.

use super::bus::{Bus, Supplier};
use super::cache::{Cache, Line, LineState};
use super::device::CustomDevice;
use super::memory::{Block, Memory};
use super::paging::Paging;
use super::timing::Timing;
use std::rc::Rc;
use warmcore_coherence::{Access, Tag};
use warmcore_workload::programs::image::PAGE;

/// How many bytes and lines there are of what.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    pub(super) line_bytes: u64,
    pub(super) block_bytes: u64,
    /// The first line of the protocol's tables, beyond the shared address space and the lines of protocol threads.
    pub(super) protocol_lines: Line,
}

impl Sizes {
    /// The block that holds a line of the shared address space.
    pub(super) fn block(&self, line: Line) -> Block {
        (line - 1) >> self.lines_bits()
    }

    /// The lines of a block.
    pub(super) fn lines(&self, block: Block) -> core::ops::Range<Line> {
        let bits = self.lines_bits();
        1 + (block << bits)..1 + ((block + 1) << bits)
    }

    /// How many bits of a line's number say which it is in its block.
    fn lines_bits(&self) -> u32 {
        self.block_bytes.trailing_zeros() - self.line_bytes.trailing_zeros()
    }
}

/// A node of the cluster.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) timing: Timing,
    pub(super) sizes: Sizes,
    pub(super) memory: Rc<Memory>,
    /// The remote page that makes way for another, and who waits for that.
    pub(super) paging: Paging,
    /// Of the compute processors, then of the protocol processors.
    pub(super) caches: Vec<Rc<Cache>>,
    pub(super) bus: Bus,
    pub(super) device: CustomDevice,
    /// The line of which each compute processor waits to be told that it is gone; 0 for none.
    pub(super) watched: Vec<Line>,
    /// The compute processors whose watched line has gone since this was last emptied.
    pub(super) woken: Vec<u32>,
}

/// What comes of a reference on the bus.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Transaction {
    /// The cache has the line; the reference is complete at that time.
    Done(u64),
    /// The fine-grain tag does not allow it; the device knows at that time.
    Fault(u64),
}

impl Node {
    /// Brings `line` into a compute processor's cache so that it can be read or written. The transaction is asked for at `now`.
    pub(super) fn refer(&mut self, cache: usize, line: Line, access: Access, now: u64) -> Transaction {
        let block = self.sizes.block(line);
        let tag = self.memory.tag(block);
        if !tag.permits(access) {
            return Transaction::Fault(self.bus.address(now));
        }
        Transaction::Done(match access {
            Access::Read => {
                let buffered = self.device.buffers_hold(line);
                self.load(cache, line, tag == Tag::ReadWrite, buffered, now)
            }
            Access::Write => {
                let buffered = self.device.buffers_hold(line);
                self.device.buffers_forget(line);
                self.store(cache, line, buffered, now)
            }
        })
    }

    /// Refers to the protocol's own data on behalf of a protocol thread: how long that takes beyond a hit.
    pub(super) fn refer_to_state(&mut self, cache: usize, line: Line, access: Access, now: u64) -> u64 {
        let hits = match access {
            Access::Read => self.caches[cache].can_load(line),
            Access::Write => self.caches[cache].can_store(line) || self.caches[cache].take_exclusive(line),
        };
        if hits {
            return 0;
        }
        let done = match access {
            Access::Read => self.load(cache, line, true, false, now),
            Access::Write => self.store(cache, line, false, now),
        };
        done - now
    }

    fn load(&mut self, cache: usize, line: Line, writable: bool, buffered: bool, now: u64) -> u64 {
        let mut supplied = buffered;
        let mut alone = true;
        for other in self.others(cache) {
            match self.caches[other].state(line) {
                LineState::Invalid => continue,
                LineState::Modified => self.caches[other].change(line, LineState::Owned),
                LineState::Exclusive => self.caches[other].change(line, LineState::Shared),
                LineState::Shared | LineState::Owned => {}
            }
            alone = false;
            supplied |= self.caches[other].state(line) == LineState::Owned;
        }
        let state = if alone && writable { LineState::Exclusive } else { LineState::Shared };
        self.fill(cache, line, state, supplied, now)
    }

    fn store(&mut self, cache: usize, line: Line, buffered: bool, now: u64) -> u64 {
        let mut supplied = buffered;
        let has_copy = self.caches[cache].state(line) != LineState::Invalid;
        for other in self.others(cache) {
            supplied |= matches!(
                self.caches[other].state(line),
                LineState::Owned | LineState::Modified | LineState::Exclusive
            );
            self.lose(other, line);
        }
        if has_copy {
            self.caches[cache].change(line, LineState::Modified);
            return self.bus.address(now) + self.timing.address;
        }
        self.fill(cache, line, LineState::Modified, supplied, now)
    }

    fn fill(&mut self, cache: usize, line: Line, state: LineState, supplied: bool, now: u64) -> u64 {
        let done = self.bus.fill(now, if supplied { Supplier::Cache } else { Supplier::Memory });
        if let Some((victim, before)) = self.caches[cache].victim(line) {
            if before.is_dirty() {
                self.bus.write_back(now);
            }
            self.tell_watcher(cache, victim);
        }
        self.caches[cache].fill(line, state);
        done
    }

    fn others(&self, cache: usize) -> impl Iterator<Item = usize> + use<> {
        (0..self.caches.len()).filter(move |&other| other != cache)
    }

    fn lose(&mut self, cache: usize, line: Line) {
        if self.caches[cache].can_load(line) {
            self.caches[cache].change(line, LineState::Invalid);
            self.tell_watcher(cache, line);
        }
    }

    fn tell_watcher(&mut self, cache: usize, line: Line) {
        if self.watched.get(cache) == Some(&line) {
            self.watched[cache] = 0;
            self.woken.push(cache as u32);
        }
    }

    /// Whether a cache or a block buffer has what is newest of `block`.
    pub(super) fn is_cached(&self, block: Block) -> bool {
        let owns =
            |cache: &Rc<Cache>| self.sizes.lines(block).any(|line| cache.state(line) > LineState::Shared);
        self.sizes.lines(block).any(|line| self.device.buffers_hold(line)) || self.caches.iter().any(owns)
    }

    /// Sets the fine-grain tag of `block`, and takes from the caches what it does not allow.
    pub(super) fn set_tag(&mut self, block: Block, tag: Tag) {
        self.memory.set_tag(block, tag);
        for line in self.sizes.lines(block) {
            for cache in 0..self.caches.len() {
                let before = self.caches[cache].state(line);
                match (tag, before) {
                    (_, LineState::Invalid) | (Tag::ReadWrite, _) => {}
                    (Tag::ReadOnly, _) => self.caches[cache].change(line, LineState::Shared),
                    (Tag::Invalid, _) => self.lose(cache, line),
                }
            }
        }
        if tag == Tag::Invalid {
            self.sizes.lines(block).for_each(|line| self.device.buffers_forget(line));
        }
    }

    /// The lines that protocol thread `thread` has of its own.
    pub(super) fn thread_lines(&self, thread: usize) -> core::ops::Range<Line> {
        let count = self.timing.thread_lines;
        let first = self.sizes.protocol_lines - (1 + thread as Line) * count;
        first..first + count
    }

    /// The line with the entry of the reverse translation table for the page that holds `block`. A page's entries are together.
    pub(super) fn translation_line(&self, block: Block) -> Line {
        let per_page = PAGE / self.sizes.block_bytes;
        let page_lines = 1 + (per_page * self.timing.entry_bytes).div_ceil(self.sizes.line_bytes);
        self.sizes.protocol_lines + (u64::from(block) / per_page * page_lines) as Line
    }

    /// The line with the directory entry, or the cached block's state.
    pub(super) fn entry_line(&self, block: Block) -> Line {
        let in_page = u64::from(block) % (PAGE / self.sizes.block_bytes);
        self.translation_line(block) + 1 + (in_page * self.timing.entry_bytes / self.sizes.line_bytes) as Line
    }
}
