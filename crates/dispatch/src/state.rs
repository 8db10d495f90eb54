//! State that belongs to keys: a handler is given that of its event's keys, which nobody else touches meanwhile.
//!
//! The states are in tables beside the strands. Whoever handles an event takes the boxes of its keys out, and puts them back
//! after: a table is locked for as long as that takes, not while the handler runs.

mod build;
mod table;

pub use build::{StateBuilder, StatefulDispatcher};

use crate::handler::{Handler, Turn};
use crate::sync::{Arc, Mutex};
use core::hash::{BuildHasher, Hash};
use std::collections::HashMap;
use table::Table;

/// Tables, so that workers seldom meet at one.
const TABLES: usize = if crate::sync::CHECKED { 2 } else { 256 };

/// The states of all keys.
pub(crate) struct States<K, S> {
    tables: Box<[Mutex<Table<K, S>>]>,
}

impl<K, S> States<K, S> {
    fn new() -> Self {
        Self { tables: (0..TABLES).map(|_| Mutex::new(Table::default())).collect() }
    }

    /// Takes out all states.
    fn take_all(&self) -> HashMap<K, S>
    where
        K: Eq + Hash,
    {
        let slots = self.tables.iter().flat_map(|table| crate::lock(table).take_all());
        slots.collect()
    }
}

/// A handler of events and the states of their keys.
pub(crate) struct WithStates<K, S, N, F> {
    states: Arc<States<K, S>>,
    /// Makes the state of a key.
    new: N,
    handle: F,
}

impl<K, E, S, N, F> Handler<K, E> for WithStates<K, S, N, F>
where
    K: Eq + Hash + Clone + Send,
    S: Send,
    N: Fn(&K) -> S + Sync,
    F: Fn(&Turn<'_, K, E>, &mut [Box<S>], E) + Sync,
{
    fn handle(&self, turn: &Turn<'_, K, E>, event: E) {
        let mut taken = Taken { states: &self.states, places: Vec::new(), boxes: Vec::new() };
        for key in turn.keys {
            let hash = turn.handle.0.hasher.hash_one(key);
            let table = (hash >> 32) as usize % TABLES;
            let (slot, state) = taken.take(table, hash, key);
            // The place is kept first: a constructor that panics leaves it empty, and the next event tries again.
            let state = state.unwrap_or_else(|| Box::new((self.new)(key)));
            taken.places.push((table, slot));
            taken.boxes.push(state);
        }
        (self.handle)(turn, &mut taken.boxes, event);
    }
}

/// States that were taken out of their tables, and are put back in the end, however that comes.
struct Taken<'a, K, S> {
    states: &'a States<K, S>,
    places: Vec<(usize, usize)>,
    boxes: Vec<Box<S>>,
}

impl<K: Eq + Clone, S> Taken<'_, K, S> {
    /// The slot of `key`, and its state, if it has one.
    fn take(&self, table: usize, hash: u64, key: &K) -> (usize, Option<Box<S>>) {
        let found = crate::lock(&self.states.tables[table]).take(hash, key);
        found.unwrap_or_else(|| {
            // What the key's type does when it is cloned is done without the lock.
            let key = key.clone();
            (crate::lock(&self.states.tables[table]).insert(hash, key), None)
        })
    }
}

impl<K, S> Drop for Taken<'_, K, S> {
    fn drop(&mut self) {
        for ((table, slot), state) in self.places.drain(..).zip(self.boxes.drain(..)) {
            crate::lock(&self.states.tables[table]).put_back(slot, state);
        }
    }
}
