//! The write buffer behind a write-through cache: stores merge in it and leave block by block.

use super::{Hierarchy, Request};
use crate::observe::Observer;
use crate::{Cause, Owner, WriteBuffer};
use std::collections::VecDeque;
use warmcore_units::Cycles;

/// The blocks that wait. Time is that of the processor before it, in cycles.
#[derive(Clone, Debug)]
pub(super) struct Buffer {
    depth: usize,
    block_bits: u32,
    retire_at: usize,
    max_age: u64,
    waiting: VecDeque<Block>,
    /// When the oldest block, which is being written, will have left.
    leaves: Option<u64>,
    /// When the last block left.
    free: u64,
    now: u64,
    /// By how much `now` is ahead of the processor's clock, which learns of a wait when its reference is served.
    ahead: u64,
}

#[derive(Clone, Copy, Debug)]
struct Block {
    number: u64,
    since: u64,
    owner: Owner,
}

impl Buffer {
    /// An empty buffer; it must have passed [`Description::check`](crate::Description::check).
    pub(super) fn new(described: WriteBuffer) -> Self {
        Self {
            depth: described.depth as usize,
            block_bits: described.block.0.trailing_zeros(),
            retire_at: described.retire_at as usize,
            max_age: described.max_age.map_or(u64::MAX, |age| age.0),
            waiting: VecDeque::new(),
            leaves: None,
            free: 0,
            now: 0,
            ahead: 0,
        }
    }

    /// The processor's last reference took `cycles`, with all waiting.
    #[inline]
    pub(super) fn elapse(&mut self, cycles: u64) {
        self.now += cycles - self.ahead;
        self.ahead = 0;
    }

    /// When the rule lets the oldest block start to leave.
    fn due(&self) -> Option<u64> {
        let oldest = self.waiting.front()?;
        let aged = oldest.since.saturating_add(self.max_age);
        let many = self.waiting.get(self.retire_at - 1).map_or(u64::MAX, |last| last.since);
        Some(aged.min(many).max(self.free))
    }

    /// Merges a store to `block` with one that waits and is not being written.
    fn merge(&self, block: u64) -> bool {
        let open = usize::from(self.leaves.is_some());
        self.waiting.iter().skip(open).any(|waiting| waiting.number == block)
    }

    /// Lets the block that is being written leave if that is before `time` or at it.
    fn leave(&mut self, time: u64) -> bool {
        match self.leaves {
            Some(leaves) if leaves <= time => {
                self.waiting.pop_front();
                self.free = leaves;
                self.leaves = None;
                true
            }
            _ => false,
        }
    }
}

impl<O: Observer> Hierarchy<O> {
    /// Takes a store into the buffer of the cache `at`. Returns what it had to wait for a place.
    pub(super) fn put_off(&mut self, at: u32, store: &Request) -> Cycles {
        let Some(bits) = self.buffer(at).map(|buffer| buffer.block_bits) else { return Cycles(0) };
        let mut waited = 0;
        for block in store.first >> bits..=store.last >> bits {
            waited += self.put_block_off(at, block, store.owner);
        }
        self.caches[at as usize].counts.stalls += Cycles(waited);
        Cycles(waited)
    }

    fn put_block_off(&mut self, at: u32, block: u64, owner: Owner) -> u64 {
        self.catch_up(at);
        let mut waited = 0;
        if self.buffer(at).is_some_and(|buffer| buffer.merge(block)) {
            self.caches[at as usize].counts.merged += 1;
            return 0;
        }
        if self.buffer(at).is_some_and(|buffer| buffer.waiting.len() == buffer.depth) {
            waited = self.push_out(at);
        }
        if let Some(buffer) = self.buffer(at) {
            let since = buffer.now;
            buffer.waiting.push_back(Block { number: block, since, owner });
        }
        self.catch_up(at);
        waited
    }

    /// Waits until no block that overlaps what is `asked` waits in the buffer of the cache `at`.
    pub(super) fn wait_for(&mut self, at: u32, asked: &Request) -> Cycles {
        self.catch_up(at);
        let mut waited = 0;
        while self.buffer(at).is_some_and(|buffer| {
            let blocks = asked.first >> buffer.block_bits..=asked.last >> buffer.block_bits;
            buffer.waiting.iter().any(|waiting| blocks.contains(&waiting.number))
        }) {
            waited += self.push_out(at);
        }
        self.caches[at as usize].counts.stalls += Cycles(waited);
        Cycles(waited)
    }

    /// Writes out all that waits in write buffers, as at the end of a trace.
    pub fn drain(&mut self) {
        for at in 0..self.caches.len() as u32 {
            while self.buffer(at).is_some_and(|buffer| !buffer.waiting.is_empty()) {
                self.push_out(at);
            }
            if let Some(buffer) = self.buffer(at) {
                buffer.ahead = 0;
            }
        }
    }

    /// Waits until the oldest block has left. Returns how long that takes.
    fn push_out(&mut self, at: u32) -> u64 {
        let Some(now) = self.buffer(at).map(|buffer| buffer.now) else { return 0 };
        if self.buffer(at).is_some_and(|buffer| buffer.leaves.is_none()) {
            self.start(at, now);
        }
        let Some(buffer) = self.buffer(at) else { return 0 };
        buffer.leave(u64::MAX);
        let waited = buffer.free.saturating_sub(now);
        buffer.now += waited;
        buffer.ahead += waited;
        waited
    }

    /// Lets all blocks start and leave that do so until now.
    fn catch_up(&mut self, at: u32) {
        while let Some(buffer) = self.buffer(at) {
            let now = buffer.now;
            if buffer.leaves.is_some() {
                if !buffer.leave(now) {
                    return;
                }
            } else {
                match buffer.due() {
                    Some(due) if due <= now => self.start(at, due),
                    _ => return,
                }
            }
        }
    }

    /// Starts to write the oldest block of the buffer of the cache `at`, at `time`.
    fn start(&mut self, at: u32, time: u64) {
        let below = self.caches[at as usize].below;
        let Some(buffer) = self.buffer(at) else { return };
        let Some(&Block { number, owner, .. }) = buffer.waiting.front() else { return };
        let bits = buffer.block_bits;
        let (first, last) = (number << bits, super::last_byte(number, bits));
        let request = Request { first, last, cause: Cause::Drain, write: true, owner };
        let takes = self.descend(below, request).cycles.0;
        if let Some(buffer) = self.buffer(at) {
            buffer.leaves = Some(time + takes);
        }
    }

    fn buffer(&mut self, at: u32) -> Option<&mut Buffer> {
        self.caches[at as usize].buffer.as_deref_mut()
    }
}
