//! Keys that have something waiting, and how much: kept where there is a limit for each, and for events
//! of which only the freshest counts. Keys of which nothing waits are not in it.
//!
//! Whoever dispatches finds the slot of a key by comparing keys, which may panic; whoever handles is told the slot, and
//! compares none.

use hashbrown::HashTable;

/// The keys of one strand.
pub(crate) struct Keyed<K, E> {
    /// Slots by key.
    index: HashTable<usize>,
    slots: Vec<Option<Waiting<K, E>>>,
    free: Vec<usize>,
}

/// What waits of a key.
struct Waiting<K, E> {
    hash: u64,
    key: K,
    /// Events that were not handled yet.
    events: u64,
    /// The one that stands for all of its kind.
    freshest: Option<E>,
}

impl<K, E> Default for Keyed<K, E> {
    fn default() -> Self {
        Self { index: HashTable::new(), slots: Vec::new(), free: Vec::new() }
    }
}

impl<K, E> Keyed<K, E> {
    /// Takes out all keys and events.
    pub(crate) fn clear(&mut self) -> Vec<(K, Option<E>)> {
        self.index.clear();
        self.free.clear();
        let slots = core::mem::take(&mut self.slots);
        slots.into_iter().flatten().map(|waiting| (waiting.key, waiting.freshest)).collect()
    }

    /// The slot of `key`, if something of it waits.
    pub(crate) fn find(&self, hash: u64, key: &K) -> Option<usize>
    where
        K: Eq,
    {
        let is_it = |&slot: &usize| self.slots[slot].as_ref().is_some_and(|waiting| waiting.key == *key);
        self.index.find(hash, is_it).copied()
    }

    /// How many events of the key in `slot` wait.
    pub(crate) fn events(&self, slot: Option<usize>) -> u64 {
        slot.and_then(|slot| self.slots[slot].as_ref()).map_or(0, |waiting| waiting.events)
    }

    /// The place of an event of the key in `slot` that a fresher one replaces, if one waits.
    pub(crate) fn freshest(&mut self, slot: Option<usize>) -> Option<&mut E> {
        slot.and_then(|slot| self.slots[slot].as_mut()).and_then(|waiting| waiting.freshest.as_mut())
    }

    /// An event of a key comes, kept here if it is one that can be replaced; the slot, `found` or new. `key` is given
    /// back if it was not needed.
    pub(crate) fn enter(
        &mut self,
        found: Option<usize>,
        hash: u64,
        key: K,
        freshest: Option<E>,
    ) -> (usize, Option<K>) {
        if let Some(slot) = found
            && let Some(waiting) = &mut self.slots[slot]
        {
            waiting.events += 1;
            waiting.freshest = freshest.or(waiting.freshest.take());
            return (slot, Some(key));
        }
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() - 1
        });
        self.slots[slot] = Some(Waiting { hash, key, events: 1, freshest });
        let slots = &self.slots;
        let hash_of = |&slot: &usize| slots[slot].as_ref().map_or(0, |waiting| waiting.hash);
        self.index.insert_unique(hash, slot, hash_of);
        (slot, None)
    }

    /// An event of the key in `slot` is handled from now on: the one that is kept here, if it `is_freshest`. Also the key, if
    /// nothing of it waits any more: to be dropped elsewhere.
    pub(crate) fn leave(&mut self, slot: usize, is_freshest: bool) -> (Option<E>, Option<K>) {
        let Some(waiting) = &mut self.slots[slot] else { return (None, None) };
        let event = if is_freshest { waiting.freshest.take() } else { None };
        waiting.events -= 1;
        if waiting.events > 0 {
            return (event, None);
        }
        if let Ok(entry) = self.index.find_entry(waiting.hash, |&other| other == slot) {
            entry.remove();
        }
        self.free.push(slot);
        (event, self.slots[slot].take().map(|waiting| waiting.key))
    }
}
