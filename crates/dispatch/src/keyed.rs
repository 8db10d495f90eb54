//! Keys that have something waiting, and how much: kept where there is a limit for each, and for events
//! of which only the freshest counts. Keys of which nothing waits are not in it.

use core::hash::Hash;
use hashbrown::HashMap;

/// The keys of one queue.
#[derive(Debug)]
pub(crate) struct Keyed<K, E> {
    waiting: HashMap<K, Waiting<E>>,
}

/// What waits of a key.
#[derive(Debug)]
struct Waiting<E> {
    /// Events that were not handled yet.
    events: u64,
    /// The one that stands for all of its kind.
    freshest: Option<E>,
}

impl<K, E> Default for Keyed<K, E> {
    fn default() -> Self {
        Self { waiting: HashMap::new() }
    }
}

impl<K, E> Keyed<K, E> {
    /// Takes out all events.
    pub(crate) fn clear(&mut self) -> Vec<E> {
        core::mem::take(&mut self.waiting).into_iter().filter_map(|(_, waiting)| waiting.freshest).collect()
    }
}

impl<K: Eq + Hash + Clone, E> Keyed<K, E> {
    /// How many events of `key` wait.
    pub(crate) fn events(&self, key: &K) -> u64 {
        self.waiting.get(key).map_or(0, |waiting| waiting.events)
    }

    /// Whether an event of `key` waits that a fresher one replaces.
    pub(crate) fn has_freshest(&self, key: &K) -> bool {
        self.waiting.get(key).is_some_and(|waiting| waiting.freshest.is_some())
    }

    /// Puts `event` in the place of the freshest of `key` that waits, which is given back.
    pub(crate) fn replace(&mut self, key: &K, event: E) -> Option<E> {
        self.waiting.get_mut(key).and_then(|waiting| waiting.freshest.replace(event))
    }

    /// An event of `key` is there, kept here if it is one that can be replaced.
    pub(crate) fn enter(&mut self, key: &K, freshest: Option<E>) {
        let nothing = || Waiting { events: 0, freshest: None };
        let waiting = self.waiting.entry_ref(key).or_insert_with(nothing);
        waiting.events += 1;
        waiting.freshest = freshest.or(waiting.freshest.take());
    }

    /// An event of `key` is handled from now on: the one that is kept here, if it `is_freshest`.
    pub(crate) fn leave(&mut self, key: &K, is_freshest: bool) -> Option<E> {
        let waiting = self.waiting.get_mut(key)?;
        let event = if is_freshest { waiting.freshest.take() } else { None };
        waiting.events -= 1;
        if waiting.events == 0 {
            self.waiting.remove(key);
        }
        event
    }
}
