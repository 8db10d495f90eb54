//! State that belongs to keys: a handler is given that of its event's keys, which nobody else touches meanwhile.
//!
//! The states are in tables beside the strands. Whoever handles an event takes those of its keys out, and puts them back
//! after: a table is locked for as long as that takes, not while the handler runs.
//!
//! **Dropping.** Workers drop states between two events, as [`limits`] says: never one that a handler has. Before the table is
//! free again, the hash of the key is among those that **leave**, until its `on_drop` has returned. Whoever finds no state of
//! a key looks there, and waits. Droppers never wait, and waiters never drop: so there is no circle.

mod build;
mod handler;
mod limits;
#[cfg(all(test, shuttle))]
mod schedules;
mod table;

pub use build::{StateBuilder, StatefulDispatcher};
pub use handler::{Several, StateHandler, Then};

use crate::sync::{AtomicBool, AtomicU64, Clock, Condvar, Lock, Mutex, Ordering};
use core::hash::Hash;
use crossbeam_utils::CachePadded;
use limits::{Count, Epochs, Limits};
use std::collections::HashMap;
use std::sync::PoisonError;
use table::{Removed, Table};

/// Tables, so that workers seldom meet at one.
const TABLES: u64 = if crate::sync::CHECKED { 2 } else { 256 };
/// States that a table has room for at least, where they are limited: the oldest is that of a table.
const LEAST_SHARE: u64 = 64;

/// One use of a table in so many looks for idle states. While some are found, every event does.
const USES_BETWEEN_LOOKS: u64 = 32;

type Locked<T> = CachePadded<Lock<T>>;

/// The states of all keys.
struct States<K, S> {
    tables: Box<[Locked<Table<K, S>>]>,
    limits: Limits,
    count: Count,
    epochs: Epochs,
    /// The table where the next old state is searched for.
    next: AtomicU64,
    /// Whether the last search found an idle state.
    found_idle: AtomicBool,
    leaving: Mutex<Vec<Leaving>>,
    left: Condvar,
}

/// A key whose state is being dropped.
struct Leaving {
    hash: u64,
    /// Whether somebody waits for the end of that.
    is_awaited: bool,
}

impl<K, S> States<K, S> {
    fn new(limits: Limits) -> Self {
        let tables = limits.most.map_or(TABLES, |most| (most / LEAST_SHARE).clamp(1, TABLES));
        // A power of two.
        let tables = 1 << tables.ilog2();
        Self {
            // Each counts from another number, so that they do not all look for idle states at the same time.
            tables: (0..tables).map(|number| CachePadded::new(Lock::new(Table::new(number)))).collect(),
            limits,
            count: Count::default(),
            epochs: Epochs::default(),
            next: AtomicU64::new(0),
            found_idle: AtomicBool::new(false),
            leaving: Mutex::new(Vec::new()),
            left: Condvar::new(),
        }
    }

    #[inline]
    fn table(&self, hash: u64) -> &Lock<Table<K, S>> {
        &self.tables[(hash >> 32) as usize & (self.tables.len() - 1)]
    }

    /// Makes a place for the state of `key`, which a handler has; the number of this use.
    fn insert(&self, hash: u64, key: K) -> u64 {
        self.count.add();
        self.table(hash).lock().insert(hash, key)
    }

    /// Takes out the key of `state`, which a handler has. It leaves until it was [dropped](Self::dropped).
    fn remove_taken(&self, hash: u64, used: u64, state: Box<S>) -> Option<Removed<K, S>> {
        let mut table = self.table(hash).lock();
        let key = table.remove_taken(hash, used)?;
        self.count.subtract(1);
        Some(self.leaves(Removed { hash, key, state }))
    }

    /// Takes out the state of `key`. `Err` if a handler has it, or it is being dropped.
    fn remove(&self, hash: u64, key: &K) -> Result<Option<Removed<K, S>>, ()>
    where
        K: Eq,
    {
        let removed = self.table(hash).lock().remove(hash, key)?;
        self.count.subtract(removed.is_some().into());
        if removed.is_none() && crate::lock(&self.leaving).iter().any(|leaving| leaving.hash == hash) {
            return Err(());
        }
        Ok(removed)
    }

    /// Whether there are too many.
    #[inline]
    fn has_excess(&self) -> bool {
        self.limits.most.is_some_and(|most| self.count.get() > most)
    }

    /// Takes out a state if there are too many, and handlers do not have all of them. It leaves until it was
    /// [dropped](Self::dropped).
    fn remove_excess(&self) -> Option<Removed<K, S>> {
        let most = self.limits.most?;
        let mut tables = self.tables.iter().take_while(|_| self.count.get() > most);
        tables.find_map(|_| {
            let mut table = self.tables[self.next_table()].lock();
            let removed = table.remove_oldest(|_| self.count.subtract_if_above(most))?;
            Some(self.leaves(removed))
        })
    }

    /// The same of an idle one, if one is found in a table, or the next time in the next one.
    fn remove_idle(&self) -> Option<Removed<K, S>> {
        let table = self.next.load(Ordering::Relaxed) as usize & (self.tables.len() - 1);
        let mut table = self.tables[table].lock();
        let removed = table.remove_one_of_many(|used| self.epochs.is_idle(used));
        if self.found_idle.load(Ordering::Relaxed) != removed.is_some() {
            self.found_idle.store(removed.is_some(), Ordering::Relaxed);
        }
        if removed.is_none() {
            self.next_table();
        }
        self.count.subtract(removed.is_some().into());
        removed.map(|removed| self.leaves(removed))
    }

    /// Drops all that are idle by `drop_state`; how many those are.
    fn sweep(&self, drop_state: impl Fn(K, Box<S>)) -> u64 {
        let mut count = 0;
        for table in &self.tables {
            let mut table = table.lock();
            let removed = table.remove_idle(|used| self.epochs.is_idle(used));
            let leaving: Vec<_> = removed.into_iter().map(|removed| self.leaves(removed)).collect();
            drop(table);
            self.count.subtract(leaving.len() as u64);
            count += leaving.len() as u64;
            for Removed { hash, key, state } in leaving {
                drop_state(key, state);
                self.dropped(hash);
            }
        }
        count
    }

    /// Looks at the clock, by which states become idle.
    fn look_at(&self, clock: &Clock) {
        if let Some(longest) = self.limits.epoch {
            self.epochs.look(clock, longest);
        }
    }

    /// The table where something old is searched for; the next one from now on.
    fn next_table(&self) -> usize {
        self.next.fetch_add(1, Ordering::Relaxed) as usize & (self.tables.len() - 1)
    }

    /// Notes that a state is being dropped. Its table is locked.
    fn leaves(&self, removed: Removed<K, S>) -> Removed<K, S> {
        crate::lock(&self.leaving).push(Leaving { hash: removed.hash, is_awaited: false });
        removed
    }

    /// Whether to look for idle states, after the use of a table with this number.
    #[inline]
    fn is_time_to_look(&self, used: u64) -> bool {
        used.is_multiple_of(USES_BETWEEN_LOOKS) || self.found_idle.load(Ordering::Relaxed)
    }

    /// A state that was taken out has been dropped.
    fn dropped(&self, hash: u64) {
        let mut leaving = crate::lock(&self.leaving);
        let place = leaving.iter().position(|leaving| leaving.hash == hash);
        let is_awaited = place.is_some_and(|place| leaving.swap_remove(place).is_awaited);
        drop(leaving);
        if is_awaited {
            self.left.notify_all();
        }
    }

    /// Waits until no state of a key with this hash is being dropped.
    fn wait_until_dropped(&self, hash: u64) {
        if self.limits.any() {
            let mut all = crate::lock(&self.leaving);
            while let Some(leaving) = all.iter_mut().find(|leaving| leaving.hash == hash) {
                leaving.is_awaited = true;
                all = self.left.wait(all).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }

    /// Takes out all states that no handler has.
    fn remove_all(&self) -> HashMap<K, S>
    where
        K: Eq + Hash,
    {
        let mut states = HashMap::new();
        for table in &self.tables {
            // What the key's type does when it is hashed is done without the lock.
            let removed = table.lock().remove_all();
            states.extend(removed);
        }
        self.count.subtract(states.len() as u64);
        states
    }
}
