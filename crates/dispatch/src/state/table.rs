//! A table of keys and their states.

use hashbrown::HashTable;

/// States among which the one is found that was unused longest.
const SAMPLE: usize = 16;
/// Room that a table keeps, in states. More is given back when seven eighths of it are empty.
const KEPT: usize = 64;

pub(super) struct Table<K, S> {
    slots: HashTable<Slot<K, S>>,
    /// Uses of states so far, each of which is the last of one slot at most.
    uses: u64,
    /// The bucket where the next search for an old state begins.
    hand: usize,
}

struct Slot<K, S> {
    hash: u64,
    key: K,
    /// `None` while a handler has it.
    state: Option<Box<S>>,
    /// The number and the epoch of its last use.
    used: u64,
    epoch: u64,
}

/// A state that was taken out for good, and its key.
pub(super) struct Removed<K, S> {
    pub(super) hash: u64,
    pub(super) key: K,
    pub(super) state: Box<S>,
}

impl<K, S> Slot<K, S> {
    fn removed(self) -> Option<Removed<K, S>> {
        let Self { hash, key, state, .. } = self;
        state.map(|state| Removed { hash, key, state })
    }
}

impl<K, S> Table<K, S> {
    /// An empty table, which counts uses from `uses` on.
    pub(super) fn new(uses: u64) -> Self {
        Self { slots: HashTable::new(), uses, hand: 0 }
    }

    /// Lends the state of `key`, with the number of its last use, by which it is put back.
    #[inline]
    pub(super) fn take(&mut self, hash: u64, key: &K) -> Option<(u64, Box<S>)>
    where
        K: Eq,
    {
        let slot = self.slots.find_mut(hash, |slot| slot.hash == hash && slot.key == *key)?;
        Some((slot.used, slot.state.take()?))
    }

    /// Makes a place for `key`, whose state is in use from now on; the number of that.
    pub(super) fn insert(&mut self, hash: u64, key: K) -> u64 {
        self.uses += 1;
        let slot = Slot { hash, key, state: None, used: self.uses, epoch: 0 };
        // What the key's type does when it is hashed is done elsewhere.
        self.slots.insert_unique(hash, slot, |slot| slot.hash);
        self.uses
    }

    /// Puts back a state that was taken; the number of this use.
    ///
    /// # Errors
    /// With `state`, if all were taken meanwhile.
    #[inline]
    pub(super) fn put_back(
        &mut self,
        hash: u64,
        used: u64,
        epoch: u64,
        state: Box<S>,
    ) -> Result<u64, Box<S>> {
        let Some(slot) = self.slots.find_mut(hash, |slot| slot.used == used) else { return Err(state) };
        self.uses += 1;
        (slot.used, slot.epoch, slot.state) = (self.uses, epoch, Some(state));
        Ok(self.uses)
    }

    /// Takes out the key of a state that was taken.
    pub(super) fn remove_taken(&mut self, hash: u64, used: u64) -> Option<K> {
        let slot = self.slots.find_entry(hash, |slot| slot.used == used).ok()?.remove().0;
        self.give_room_back();
        Some(slot.key)
    }

    /// Takes out `key` and its state. `Err` if a handler has it.
    pub(super) fn remove(&mut self, hash: u64, key: &K) -> Result<Option<Removed<K, S>>, ()>
    where
        K: Eq,
    {
        let Ok(slot) = self.slots.find_entry(hash, |slot| slot.hash == hash && slot.key == *key) else {
            return Ok(None);
        };
        if slot.get().state.is_none() {
            return Err(());
        }
        let slot = slot.remove().0;
        self.give_room_back();
        Ok(slot.removed())
    }

    /// Takes out the state that was unused longest among the next 16 that no handler has, if it `is_due` by the epoch of
    /// its last use.
    pub(super) fn remove_oldest(&mut self, is_due: impl FnOnce(u64) -> bool) -> Option<Removed<K, S>> {
        let buckets = self.slots.num_buckets();
        let mut seen = 0;
        let mut oldest: Option<(&Slot<K, S>, usize)> = None;
        for _ in 0..buckets {
            let bucket = self.hand % buckets;
            self.hand = bucket + 1;
            let slot = self.slots.get_bucket(bucket).filter(|slot| slot.state.is_some());
            let Some(slot) = slot else { continue };
            if oldest.is_none_or(|(oldest, _)| slot.used < oldest.used) {
                oldest = Some((slot, bucket));
            }
            seen += 1;
            if seen == SAMPLE {
                break;
            }
        }
        let (_, bucket) = oldest.filter(|(oldest, _)| is_due(oldest.epoch))?;
        let slot = self.slots.get_bucket_entry(bucket).ok()?.remove().0;
        self.give_room_back();
        slot.removed()
    }

    /// The same, where the next search is to find more of the same kind: it begins where this one has found something.
    pub(super) fn remove_one_of_many(&mut self, is_due: impl FnOnce(u64) -> bool) -> Option<Removed<K, S>> {
        let hand = self.hand;
        let removed = self.remove_oldest(is_due)?;
        self.hand = hand;
        Some(removed)
    }

    /// Takes out all states that no handler has and that are `idle` by the epoch of their last use.
    pub(super) fn remove_idle(&mut self, idle: impl Fn(u64) -> bool) -> Vec<Removed<K, S>> {
        let is_idle = |slot: &mut Slot<K, S>| slot.state.is_some() && idle(slot.epoch);
        let removed = self.slots.extract_if(is_idle).filter_map(Slot::removed).collect();
        self.give_room_back();
        removed
    }

    /// Takes out all keys with their states.
    pub(super) fn remove_all(&mut self) -> impl Iterator<Item = (K, S)> + use<K, S> {
        let slots = core::mem::take(&mut self.slots);
        slots.into_iter().filter_map(|slot| Some((slot.key, *slot.state?)))
    }

    fn give_room_back(&mut self) {
        let (room, states) = (self.slots.capacity(), self.slots.len());
        if room > KEPT && states < room / 8 {
            self.slots.shrink_to(2 * states, |slot| slot.hash);
        }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::Table;

    #[test]
    fn a_table_gives_room_back() {
        let mut table = Table::<u64, u64>::new(0);
        for key in 0..1_000 {
            let used = table.insert(key, key);
            table.put_back(key, used, 0, Box::new(key)).unwrap();
        }
        let most = table.slots.allocation_size();
        let removed = core::iter::from_fn(|| table.remove_oldest(|_| true)).take(990).count();
        assert_eq!((removed, table.slots.len()), (990, 10));
        assert!(table.slots.allocation_size() < most / 20, "of {most} bytes");
    }
}
