//! The flows of a server, by their peers' addresses.
//!
//! Flows lie in shards, each behind a lock: one for each worker where flows have a worker, whose lock then is always
//! free, otherwise more than workers. A flow's state is taken out while a handler has it, so that no lock is held then and no
//! two handlers have it at once. Requests that come meanwhile wait at the flow.

mod id;
mod shard;
mod timers;

pub(super) use id::Id;
pub(super) use shard::{Entered, Finished, Removed, Shard, TimerChange, Waiting};

use core::hash::{BuildHasher, Hash};
use core::time::Duration;
use crossbeam_utils::CachePadded;
use hashbrown::DefaultHashBuilder;
use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// No time: later than any.
pub(super) const NEVER: u64 = timers::NEVER;

type LockedShard<S, L> = CachePadded<Mutex<Shard<S, L>>>;

/// All flows, with states `S` and links `L` to their peers.
#[derive(Debug)]
pub(super) struct Flows<S, L> {
    shards: Box<[LockedShard<S, L>]>,
    hasher: DefaultHashBuilder,
    /// Whether each worker has a shard to itself.
    by_worker: bool,
}

impl<S, L: Clone> Flows<S, L> {
    /// No flows, which expire after `idle`.
    pub(super) fn new(workers: usize, by_worker: bool, idle: Duration) -> Self {
        let shards = if by_worker { workers } else { (4 * workers).next_power_of_two() };
        let idle = nanos(idle);
        Self {
            shards: (0..shards).map(|_| CachePadded::new(Mutex::new(Shard::new(idle)))).collect(),
            hasher: DefaultHashBuilder::default(),
            by_worker,
        }
    }

    /// Whether each worker has a shard to itself.
    pub(super) const fn are_by_worker(&self) -> bool {
        self.by_worker
    }

    /// The shard of a peer whose request `worker` received.
    pub(super) fn shard_of(&self, peer: &SocketAddr, worker: usize) -> usize {
        if self.by_worker {
            return worker;
        }
        let mut hasher = self.hasher.build_hasher();
        peer.hash(&mut hasher);
        core::hash::Hasher::finish(&hasher) as usize & (self.shards.len() - 1)
    }

    /// Locks a shard.
    pub(super) fn lock(&self, shard: usize) -> MutexGuard<'_, Shard<S, L>> {
        // No code of the user runs under the lock, so a poisoned one is as good.
        self.shards[shard].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How `peer` is reached, if it has a flow.
    pub(super) fn find(&self, peer: &SocketAddr) -> Option<L> {
        if self.by_worker {
            return self.numbers().find_map(|shard| self.lock(shard).find(peer));
        }
        self.lock(self.shard_of(peer, 0)).find(peer)
    }

    /// The numbers of all shards.
    pub(super) fn numbers(&self) -> core::ops::Range<usize> {
        0..self.shards.len()
    }
}

/// A length of time in nanoseconds, not beyond 292 years: so that it can be added to a time of a server.
pub(super) fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX).min(u64::MAX / 2)
}
