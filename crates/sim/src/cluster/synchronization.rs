//! Locks and barriers, made of loads, stores and atomic updates of simulated shared memory, so that they cause the traffic that
//! they would. The thesis does not say how its locks and barriers work; these are plain ones that scale to its machines.
//!
//! - A lock is a *ticket lock*: who wants it takes the next ticket with an atomic update, and waits until that is served.
//!   Both words are in one block of the protocol, so that a lock that nobody wants costs one block.
//! - A barrier *counts twice*: processors count on a word of their node, and the last of a node counts for it on a word of all
//!   nodes. The very last begins the next episode, for which all wait.
//!
//! Who waits for a word to change has it in its cache, where loads of it cost no traffic. It loads it again when the line has
//! been taken away. A word's line and its block hold no other lock or barrier. Space is given out at first use.

use super::processor::{Processor, Wait, Yield};
use super::tally::Episode;
use core::cell::{Cell, RefCell};
use std::collections::HashMap;
use warmcore_workload::programs::image::PAGE;
use warmcore_workload::programs::{Address, BarrierId, LockId, SharedMemory};

/// Where the words of locks and barriers are.
#[derive(Debug)]
pub(super) struct Synchronization {
    start: u64,
    next: Cell<u64>,
    end: u64,
    stride: u64,
    node_processors: u32,
    nodes: u32,
    locks: RefCell<HashMap<LockId, Address>>,
    barriers: RefCell<HashMap<BarrierId, Address>>,
    pub(super) episodes: RefCell<Vec<Episode>>,
}

impl Synchronization {
    /// Gives out the pages of `pages`, in pieces of `block_bytes`, for `nodes` nodes of `node_processors`.
    pub(super) fn new(
        pages: core::ops::Range<u32>,
        block_bytes: u64,
        nodes: u32,
        node_processors: u32,
    ) -> Self {
        Self {
            start: u64::from(pages.start) * PAGE,
            next: Cell::new(u64::from(pages.start) * PAGE),
            end: u64::from(pages.end) * PAGE,
            stride: block_bytes,
            node_processors,
            nodes,
            locks: RefCell::default(),
            barriers: RefCell::default(),
            episodes: RefCell::default(),
        }
    }

    /// Space for `blocks` blocks, if there is.
    fn allocate(&self, blocks: u64) -> Option<Address> {
        let at = self.next.get();
        let next = at + blocks * self.stride;
        (next <= self.end).then(|| {
            self.next.set(next);
            Address(at)
        })
    }

    fn lock(&self, lock: LockId) -> Option<Address> {
        let known = self.locks.borrow().get(&lock).copied();
        known.or_else(|| {
            let at = self.allocate(1)?;
            self.locks.borrow_mut().insert(lock, at);
            Some(at)
        })
    }

    /// The block of the episode, that of all nodes, then that of each node.
    fn barrier(&self, barrier: BarrierId) -> Option<Address> {
        let known = self.barriers.borrow().get(&barrier).copied();
        known.or_else(|| {
            let at = self.allocate(u64::from(self.nodes) + 2)?;
            self.barriers.borrow_mut().insert(barrier, at);
            Some(at)
        })
    }
}

/// Word of a lock: the next ticket.
const NEXT: u64 = 0;
/// Word of a lock: the ticket that is served.
const SERVED: u64 = 1;

impl Processor<'_> {
    pub(super) fn acquire_lock(&self, lock: LockId) {
        self.synchronize(Wait::Lock(lock), || {
            let at = self.placed(self.local().synchronization.lock(lock));
            let ticket = self.update(at.word(NEXT), |next| next + 1);
            let mut served = self.load(at.word(SERVED));
            while served != ticket {
                served = self.wait_for_change(at.word(SERVED), served);
            }
        });
    }

    pub(super) fn release_lock(&self, lock: LockId) {
        self.synchronize(Wait::Lock(lock), || {
            let at = self.placed(self.local().synchronization.lock(lock));
            self.update(at.word(SERVED), |served| served + 1);
        });
    }

    pub(super) fn meet(&self, barrier: BarrierId) {
        self.synchronize(Wait::Barrier(barrier), || {
            let space = &self.local().synchronization;
            let at = self.placed(space.barrier(barrier));
            let block = |number: u64| Address(at.0 + number * space.stride);
            let (episode, nodes_here) = (block(0), block(1));
            let node = self.local().number / space.node_processors;
            let processors_here = block(2 + u64::from(node));
            let before = self.load(episode);
            let is_last = |counter: Address, of: u32| {
                self.update(counter, |count| (count + 1) % u64::from(of)) + 1 == u64::from(of)
            };
            if is_last(processors_here, space.node_processors) && is_last(nodes_here, space.nodes) {
                let cycles = self.local().clock.get();
                space.episodes.borrow_mut().push(Episode { barrier, cycles });
                self.store(episode, before + 1);
            } else {
                self.wait_for_change(episode, before);
            }
        });
    }

    fn placed(&self, at: Option<Address>) -> Address {
        let space = &self.local().synchronization;
        at.unwrap_or_else(|| self.give_up(Yield::NoSpace { bytes: space.end - space.start }))
    }

    /// Does what takes part in `wait`, and keeps account of it.
    fn synchronize(&self, wait: Wait, part: impl FnOnce()) {
        let local = self.local();
        let start = local.clock.get();
        local.synchronizing.set(Some(wait));
        self.uninterrupted(part);
        local.synchronizing.set(None);
        local.synchronized.set(local.synchronized.get() + local.clock.get() - start);
    }
}
