//! How events come in whose key is counted: because keys are limited, or because a fresher one may replace it.

use super::Admission;
use crate::arrival::{Arrival, Why};
use crate::caught::drop_key;
use crate::entry::{Entry, Work};
use crate::shared::Shared;
use core::hash::Hash;

impl<K: Eq + Hash + Clone, E> Shared<K, E> {
    /// Places an event whose key is counted: because keys are limited, or because a fresher one may replace it.
    #[cold]
    pub(super) fn place_counted(
        &self,
        admission: Admission<'_, K, E>,
        (hash, key): (u64, K),
        event: E,
        is_freshest: bool,
        share: usize,
    ) -> Result<(), (Why, Arrival<K, E>)> {
        let (strand, came) = (self.strand_of(hash), self.stamp(admission.number));
        let again = |key, event| match is_freshest {
            true => Arrival::Freshest { hash, key, event },
            false => Arrival::Keyed { hash, key, event },
        };
        // What the key's type does when it is cloned or compared comes before anything is changed.
        let table_key = key.clone();
        let queue = &self.strands[strand];
        let mut back = queue.back();
        let found = back.keyed.find(hash, &key);
        if is_freshest && let Some(place) = back.keyed.freshest(found) {
            let former = core::mem::replace(place, event);
            drop(back);
            self.supersede(former);
            return Ok(());
        }
        let limit = self.settings.key_limit.filter(|_| share != usize::MAX);
        let full = if limit.is_some_and(|limit| back.keyed.events(found) >= limit) {
            Some(Why::KeyFull(strand))
        } else {
            queue.is_full(&mut back, share).then_some(Why::StrandFull(strand))
        };
        if let Some(why) = full {
            drop(back);
            // Not when the event is on its way back: it would be leaked if this panics.
            drop_key(table_key);
            return Err((why, again(key, event)));
        }
        let (event, freshest) = if is_freshest { (None, Some(event)) } else { (Some(event), None) };
        let (slot, unused) = back.keyed.enter(found, hash, table_key, freshest);
        let work = match event {
            Some(event) => Work::Counted(key, event, slot as u32),
            None => Work::Freshest(key, slot as u32),
        };
        let pushed = back.push(Entry { hash, came, work });
        drop(back);
        admission.keep();
        self.pushed(strand, pushed);
        drop(unused);
        Ok(())
    }

    /// Replaces a waiting event by a fresher one, for which no room is needed.
    ///
    /// # Errors
    /// With the fresher one, if none waits.
    #[cold]
    pub(super) fn replace_waiting(&self, arrival: Arrival<K, E>) -> Result<(), Arrival<K, E>> {
        let Arrival::Freshest { hash, key, event } = arrival else { return Err(arrival) };
        // Nobody is told that nothing is left before the former event is gone.
        let _until_dropped = Admission { shared: self, number: self.bound.admit_anyway() };
        // What waits is before a sequential event that has shut the gate, and this one is after it.
        let gate = self.gate.lock();
        if gate.is_shut() {
            return Err(Arrival::Freshest { hash, key, event });
        }
        let mut back = self.strands[self.strand_of(hash)].back();
        let found = back.keyed.find(hash, &key);
        let Some(place) = back.keyed.freshest(found) else {
            drop(back);
            return Err(Arrival::Freshest { hash, key, event });
        };
        let former = core::mem::replace(place, event);
        drop(back);
        drop(gate);
        self.supersede(former);
        Ok(())
    }

    /// A fresher event is in the place of `former`.
    fn supersede(&self, former: E) {
        self.counters[0].superseded();
        drop(former);
    }
}
