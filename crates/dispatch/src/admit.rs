//! How events come in where there is room.

mod counted;
mod overload;

use crate::arrival::{Arrival, Why};
use crate::caught::drop_caught;
use crate::entry::{Entry, Work};
use crate::error::DispatchError;
use crate::joint::Joint;
use crate::shared::{ABORTED, CLOSED, SHUT, Shared, is_worker};
use crate::strand::Back;
use crate::sync::Arc;
use crate::waits::{Holds, Place};
use core::hash::{BuildHasher, Hash};

/// One event in so many is timed.
const SAMPLED: u64 = 64;

/// An admission that is taken back unless the event comes in.
pub(crate) struct Admission<'a, K, E> {
    pub(crate) shared: &'a Shared<K, E>,
    pub(crate) number: u64,
}

impl<K, E> Admission<'_, K, E> {
    /// The event is in.
    fn keep(self) {
        core::mem::forget(self);
    }
}

impl<K, E> Drop for Admission<'_, K, E> {
    fn drop(&mut self) {
        self.shared.finish_elsewhere(1);
    }
}

impl<K: Eq + Hash + Clone, E> Shared<K, E> {
    /// Dispatches an event with one key. The short way is for what finds nothing in its way.
    ///
    /// # Errors
    /// If the event is refused.
    #[inline]
    pub(crate) fn dispatch_keyed(&self, key: K, event: E) -> Result<(), DispatchError<E>> {
        let hash = self.hasher.hash_one(&key);
        if self.settings.key_limit.is_none() && self.note.is_none() && !is_worker() {
            let strand = self.strand_of(hash);
            let mut back = self.strands[strand].back();
            if back.len() < self.share && self.admit_into(&mut back) {
                let came = self.stamp(back.pushed);
                let pushed = back.push(Entry { hash, came, work: Work::Keyed(key, event) });
                drop(back);
                self.pushed(strand, pushed);
                return Ok(());
            }
            // No worker may come that would return it.
            let has_returned = self.return_lent(&mut back);
            drop(back);
            if has_returned {
                self.tell_of_end();
            }
        }
        self.dispatch(Arrival::Keyed { hash, key, event })
    }

    /// Admits an event into the strand of `back`, if there is room and nothing else in its way.
    #[inline]
    fn admit_into(&self, back: &mut Back<K, E>) -> bool {
        if back.lent == 0 {
            back.lent = self.bound.lend();
        }
        // What is lent is admitted: whoever closes the dispatcher or shuts the gate sees it, or is seen here.
        let is_open = back.lent > 0 && !self.has(CLOSED | SHUT);
        back.lent -= u32::from(is_open);
        is_open
    }

    /// Dispatches what there is room for.
    ///
    /// # Errors
    /// With what was to be dispatched, and why it could not be.
    pub(crate) fn try_dispatch(&self, arrival: Arrival<K, E>) -> Result<(), (Why, Arrival<K, E>)> {
        match self.note {
            None => self.try_admit(arrival),
            Some(note) => self.try_noted(note, arrival),
        }
    }

    /// The same, where whoever waits for the event is told where it will be handled.
    #[cold]
    fn try_noted(
        &self,
        note: fn(&E, Option<Place>),
        arrival: Arrival<K, E>,
    ) -> Result<(), (Why, Arrival<K, E>)> {
        note(arrival.event(), Some(self.place_of(&arrival)));
        self.try_admit(arrival).inspect_err(|(_, arrival)| note(arrival.event(), None))
    }

    #[inline]
    fn try_admit(&self, arrival: Arrival<K, E>) -> Result<(), (Why, Arrival<K, E>)> {
        if let Arrival::Sequential { event } = arrival {
            return self
                .dispatch_sequential(event)
                .map_err(|(why, event)| (why, Arrival::Sequential { event }));
        }
        let admitted =
            if is_worker() { self.bound.admit_follow_up(self.worker_here()) } else { self.bound.admit() };
        let Some(number) = admitted else {
            if self.has(CLOSED) {
                return Err((Why::Closed, arrival));
            }
            if self.take_back_lent() {
                return self.try_dispatch(arrival);
            }
            return self.replace_waiting(arrival).map_err(|arrival| (Why::Full, arrival));
        };
        let admission = Admission { shared: self, number };
        let placed = if self.has(CLOSED | SHUT) {
            self.dispatch_at_gate(admission, arrival)
        } else {
            self.place(admission, arrival, false)
        };
        if self.has(ABORTED) {
            // Workers may have gone, and dropped what was left, before this came in.
            self.discard_if_alone();
        }
        placed
    }

    /// Puts what was admitted into its strand; whatever that holds, if `forced`.
    pub(crate) fn place(
        &self,
        admission: Admission<'_, K, E>,
        arrival: Arrival<K, E>,
        forced: bool,
    ) -> Result<(), (Why, Arrival<K, E>)> {
        let came = self.stamp(admission.number);
        let share = if forced || self.comes_in_anyway() { usize::MAX } else { self.share };
        match arrival {
            Arrival::Keyed { hash, key, event } if self.settings.key_limit.is_none() => {
                let strand = self.strand_of(hash);
                let queue = &self.strands[strand];
                let mut back = queue.back();
                if queue.is_full(&mut back, share) {
                    return Err((Why::StrandFull(strand), Arrival::Keyed { hash, key, event }));
                }
                let pushed = back.push(Entry { hash, came, work: Work::Keyed(key, event) });
                drop(back);
                self.pushed(strand, pushed);
            }
            Arrival::Keyed { hash, key, event } => {
                return self.place_counted(admission, (hash, key), event, false, share);
            }
            Arrival::Freshest { hash, key, event } => {
                return self.place_counted(admission, (hash, key), event, true, share);
            }
            Arrival::Unordered { event } => {
                self.push(Entry {
                    hash: self.own_hash(admission.number),
                    came,
                    work: Work::Unordered(event),
                });
            }
            Arrival::Several { keys, hashes, event } => {
                let is_full = |strand: usize| {
                    let queue = &self.strands[strand];
                    queue.is_full(&mut queue.back(), share)
                };
                let mut strands = hashes.iter().map(|&hash| self.strand_of(hash));
                if let Some(full) = strands.find(|&strand| is_full(strand)) {
                    return Err((Why::StrandFull(full), Arrival::Several { keys, hashes, event }));
                }
                if let Some(me) = self.worker_here() {
                    self.waits.doing(me).dispatched(&Holds::Keys(hashes.clone()));
                }
                let joint = Arc::new(Joint::new(keys, hashes, came, event));
                admission.keep();
                {
                    let _in_one_order = crate::lock(&self.joint);
                    for &hash in &joint.hashes {
                        self.push(Entry { hash, came: 0, work: Work::Part(joint.clone()) });
                    }
                }
                // It may have run already, and this be the last that holds its keys.
                drop_caught(joint);
                return Ok(());
            }
            Arrival::Sequential { .. } => unreachable!("it stands in no strand"),
        }
        admission.keep();
        Ok(())
    }

    /// Puts `entry` into its strand, whatever that holds.
    fn push(&self, entry: Entry<K, E>) {
        let strand = self.strand_of(entry.hash);
        let pushed = self.strands[strand].push(entry);
        self.pushed(strand, pushed);
    }

    /// The time, if the event with this number is one of the sample.
    #[inline]
    fn stamp(&self, number: u64) -> u64 {
        if number.is_multiple_of(SAMPLED) { self.clock.raw().max(1) } else { 0 }
    }

    /// A hash that no other event has, but by chance.
    fn own_hash(&self, number: u64) -> u64 {
        let worker = self.worker_here().map_or(0, |worker| worker as u64 + 1);
        (number ^ worker << 48).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}
