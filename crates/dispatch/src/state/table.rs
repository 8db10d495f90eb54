//! A table of keys and their states.

use hashbrown::HashTable;

pub(crate) struct Table<K, S> {
    /// Slots by key.
    index: HashTable<usize>,
    slots: Vec<Slot<K, S>>,
}

struct Slot<K, S> {
    hash: u64,
    key: K,
    /// `None` while a handler has it, or if it could not be made.
    state: Option<Box<S>>,
}

impl<K, S> Default for Table<K, S> {
    fn default() -> Self {
        Self { index: HashTable::new(), slots: Vec::new() }
    }
}

impl<K, S> Table<K, S> {
    /// The slot of `key`, and the state in it, which is taken out.
    pub(crate) fn take(&mut self, hash: u64, key: &K) -> Option<(usize, Option<Box<S>>)>
    where
        K: Eq,
    {
        let slots = &mut self.slots;
        let &slot = self.index.find(hash, |&slot| slots[slot].key == *key)?;
        Some((slot, slots[slot].state.take()))
    }

    /// A slot for `key`, which has none.
    pub(crate) fn insert(&mut self, hash: u64, key: K) -> usize {
        let slot = self.slots.len();
        self.slots.push(Slot { hash, key, state: None });
        let slots = &self.slots;
        // What the key's type does when it is hashed is done elsewhere.
        self.index.insert_unique(hash, slot, |&slot| slots[slot].hash);
        slot
    }

    pub(crate) fn put_back(&mut self, slot: usize, state: Box<S>) {
        self.slots[slot].state = Some(state);
    }

    /// All keys with their states, which are taken out.
    pub(crate) fn take_all(&mut self) -> Vec<(K, S)> {
        self.index.clear();
        let slots = core::mem::take(&mut self.slots);
        slots.into_iter().filter_map(|slot| Some((slot.key, *slot.state?))).collect()
    }
}
