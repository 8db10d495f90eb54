//! How events come in, and what becomes of them where there is no room.

use crate::caught::drop_caught;
use crate::entry::{Entry, Work};
use crate::error::DispatchError;
use crate::joint::Joint;
use crate::options::{Binding, Overload};
use crate::shared::{ABORTED, ALONE, CLOSED, SHUT, Shared, is_worker};
use crate::slow::SlowWait;
use crate::strand::Back;
use crate::sync::{Arc, Ordering};
use crate::waits::{Holds, Place};
use core::hash::{BuildHasher, Hash};
use core::time::Duration;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

/// One event in so many is timed.
const SAMPLED: u64 = 64;

/// What is to be dispatched.
pub(crate) enum Arrival<K, E> {
    Keyed { hash: u64, key: K, event: E },
    Freshest { hash: u64, key: K, event: E },
    Several { keys: Box<[K]>, hashes: Box<[u64]>, event: E },
    Unordered { event: E },
    Sequential { event: E },
}

/// Why something did not come in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Why {
    /// There is no room in the dispatcher.
    Full,
    /// There is no room in this strand.
    StrandFull(usize),
    /// The key, which is in this strand, has as many events waiting as it may.
    KeyFull(usize),
    Closed,
}

impl<K, E> Arrival<K, E> {
    pub(crate) fn into_event(self) -> E {
        match self {
            Self::Keyed { event, .. }
            | Self::Freshest { event, .. }
            | Self::Several { event, .. }
            | Self::Unordered { event }
            | Self::Sequential { event } => event,
        }
    }

    fn event(&self) -> &E {
        match self {
            Self::Keyed { event, .. }
            | Self::Freshest { event, .. }
            | Self::Several { event, .. }
            | Self::Unordered { event }
            | Self::Sequential { event } => event,
        }
    }

    pub(crate) fn refused(self, why: Why) -> DispatchError<E> {
        match why {
            Why::Full | Why::StrandFull(_) => DispatchError::Full(self.into_event()),
            Why::KeyFull(_) => DispatchError::KeyFull(self.into_event()),
            Why::Closed => DispatchError::Closed(self.into_event()),
        }
    }
}

/// An admission that is taken back unless the event comes in.
struct Admission<'a, K, E> {
    shared: &'a Shared<K, E>,
    number: u64,
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
    #[inline]
    pub(crate) fn keyed(&self, key: K, event: E) -> Arrival<K, E> {
        Arrival::Keyed { hash: self.hasher.hash_one(&key), key, event }
    }

    pub(crate) fn freshest(&self, key: K, event: E) -> Arrival<K, E> {
        Arrival::Freshest { hash: self.hasher.hash_one(&key), key, event }
    }

    pub(crate) fn several(&self, keys: impl IntoIterator<Item = K>, event: E) -> Arrival<K, E> {
        let mut distinct: Vec<(u64, K)> = Vec::new();
        for key in keys {
            let hash = self.hasher.hash_one(&key);
            if !distinct.iter().any(|(other, same)| *other == hash && *same == key) {
                distinct.push((hash, key));
            }
        }
        if distinct.len() <= 1 {
            return match distinct.pop() {
                Some((hash, key)) => Arrival::Keyed { hash, key, event },
                None => Arrival::Unordered { event },
            };
        }
        let mut hashes: Vec<u64> = distinct.iter().map(|&(hash, _)| hash).collect();
        hashes.sort_unstable();
        hashes.dedup();
        let keys = distinct.into_iter().map(|(_, key)| key).collect();
        Arrival::Several { keys, hashes: hashes.into(), event }
    }

    /// Where what arrives will be handled.
    fn place_of(&self, arrival: &Arrival<K, E>) -> Place {
        let needs = match arrival {
            Arrival::Keyed { hash, .. } | Arrival::Freshest { hash, .. } => Holds::Key(*hash),
            Arrival::Several { hashes, .. } => Holds::Keys(hashes.clone()),
            Arrival::Unordered { .. } => Holds::Nothing,
            Arrival::Sequential { .. } => Holds::All,
        };
        self.place_that(needs)
    }

    /// Where an event with `key` will be handled.
    pub(crate) fn place_of_key(&self, key: &K) -> Place {
        self.place_that(Holds::Key(self.hasher.hash_one(key)))
    }

    fn place_that(&self, needs: Holds) -> Place {
        let home = |hash| self.ready.home(self.strand_of(hash));
        let worker = match needs {
            Holds::Key(hash) if self.settings.binding == Binding::Static => Some(home(hash)),
            _ => None,
        };
        Place { waits: self.waits.clone(), needs, worker }
    }

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
            // No worker may come that would give it back.
            let unused = core::mem::take(&mut back.lent);
            drop(back);
            self.give_back(unused);
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

    /// Dispatches, and waits for room if that is what is to be done where there is none.
    ///
    /// # Errors
    /// If the event is refused.
    pub(crate) fn dispatch(&self, arrival: Arrival<K, E>) -> Result<(), DispatchError<E>> {
        match self.try_dispatch(arrival) {
            Ok(()) => Ok(()),
            Err((why, arrival)) => self.overloaded(why, arrival, None),
        }
    }

    /// The same, but waits for `longest` at most.
    ///
    /// # Errors
    /// If the event is refused, or the time is over.
    pub(crate) fn dispatch_within(
        &self,
        arrival: Arrival<K, E>,
        longest: Duration,
    ) -> Result<(), DispatchError<E>> {
        self.try_dispatch(arrival).or_else(|(why, arrival)| self.overloaded(why, arrival, Some(longest)))
    }

    #[cold]
    fn overloaded(
        &self,
        mut why: Why,
        mut arrival: Arrival<K, E>,
        longest: Option<Duration>,
    ) -> Result<(), DispatchError<E>> {
        let since = Instant::now();
        let left = || longest.map(|longest| longest.saturating_sub(since.elapsed()));
        if why != Why::Closed {
            self.overloaded.begin();
        }
        loop {
            if why == Why::Closed || self.settings.overload == Overload::Reject {
                return Err(arrival.refused(why));
            }
            if self.settings.overload == Overload::Shed {
                self.shed();
                return Ok(());
            }
            if is_worker() || left().is_some_and(|left| left.is_zero()) {
                return Err(arrival.refused(why));
            }
            let place = why;
            let slow = SlowWait::begin(Some(&self.waits), || self.describe_room(place));
            self.room_of(why).wait_for(left, || slow.until(self.may_try(why, &arrival)));
            match self.try_dispatch(arrival) {
                Ok(()) => return Ok(()),
                Err(again) => (why, arrival) = again,
            }
        }
    }

    fn describe_room(&self, why: Why) -> String {
        let place = match why {
            Why::Full | Why::Closed => "the dispatcher".to_owned(),
            Why::StrandFull(strand) => format!("strand {strand}"),
            Why::KeyFull(strand) => format!("a key of strand {strand}"),
        };
        format!("room in {place} ({} events are in)", self.bound.events())
    }

    /// Whether it is worth the while to try again: there is room, or there never will be.
    pub(crate) fn may_try(&self, why: Why, arrival: &Arrival<K, E>) -> bool {
        let has_room = match (why, arrival) {
            (
                Why::KeyFull(strand),
                Arrival::Keyed { hash, key, .. } | Arrival::Freshest { hash, key, .. },
            ) => {
                let keyed = &self.strands[strand].back().keyed;
                let events = keyed.events(keyed.find(*hash, key));
                self.settings.key_limit.is_none_or(|limit| events < limit)
            }
            (Why::StrandFull(strand) | Why::KeyFull(strand), _) => {
                let queue = &self.strands[strand];
                !queue.is_full(&mut queue.back(), self.share)
            }
            (Why::Full, _) => self.take_back_lent() || self.bound.has_room(),
            (Why::Closed, _) => true,
        };
        has_room || self.has(CLOSED)
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

    /// Dispatches what comes while the gate is shut, or the dispatcher closed.
    #[cold]
    fn dispatch_at_gate(
        &self,
        admission: Admission<'_, K, E>,
        arrival: Arrival<K, E>,
    ) -> Result<(), (Why, Arrival<K, E>)> {
        if self.has(CLOSED) {
            return Err((Why::Closed, arrival));
        }
        let mut gate = self.gate.lock();
        if !gate.is_shut() {
            // It opened meanwhile, and what waited there has gone before.
            drop(gate);
            return self.place(admission, arrival, false);
        }
        self.bound.defer();
        if self.has(CLOSED) {
            self.bound.end_deferred(1);
            return Err((Why::Closed, arrival));
        }
        gate.behind.push_back(arrival);
        Ok(())
    }

    /// Dispatches an event that runs alone.
    #[cold]
    fn dispatch_sequential(&self, event: E) -> Result<(), (Why, E)> {
        let has_room = if is_worker() { self.bound.has_room_for_follow_up() } else { self.bound.has_room() };
        if !has_room {
            if self.take_back_lent() {
                return self.dispatch_sequential(event);
            }
            let why = if self.has(CLOSED) { Why::Closed } else { Why::Full };
            return Err((why, event));
        }
        {
            let mut gate = self.gate.lock();
            self.bound.defer();
            if self.has(CLOSED) {
                drop(gate);
                self.bound.end_deferred(1);
                self.tell_if_quiet();
                return Err((Why::Closed, event));
            }
            if gate.is_shut() {
                gate.behind.push_back(Arrival::Sequential { event });
            } else {
                gate.next = Some(event);
                self.flags.fetch_or(SHUT, Ordering::SeqCst);
            }
        }
        self.see_to_gate();
        Ok(())
    }

    /// Lets in what waits at the gate, up to the next sequential event. On the thread of `worker`, if it is one.
    pub(crate) fn open_gate(&self, worker: Option<usize>) {
        let mut gate = self.gate.lock();
        gate.runs = false;
        self.flags.fetch_and(!ALONE, Ordering::SeqCst);
        while let Some(arrival) = gate.behind.pop_front() {
            if let Arrival::Sequential { event } = arrival {
                gate.next = Some(event);
                return;
            }
            let admission = Admission { shared: self, number: self.bound.admit_deferred(worker) };
            // The comparison of keys may panic: the event is lost then, and nothing else.
            let placed = catch_unwind(AssertUnwindSafe(|| self.place(admission, arrival, true).is_ok()));
            if !placed.unwrap_or(false) {
                self.shed();
            }
        }
        self.flags.fetch_and(!SHUT, Ordering::SeqCst);
    }

    /// Puts what was admitted into its strand; whatever that holds, if `forced`.
    fn place(
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

    /// Places an event whose key is counted: because keys are limited, or because a fresher one may replace it.
    #[cold]
    fn place_counted(
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
            self.counters[0].superseded();
            drop(former);
            return Ok(());
        }
        let limit = self.settings.key_limit.filter(|_| share != usize::MAX);
        if limit.is_some_and(|limit| back.keyed.events(found) >= limit) {
            return Err((Why::KeyFull(strand), again(key, event)));
        }
        if queue.is_full(&mut back, share) {
            return Err((Why::StrandFull(strand), again(key, event)));
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
    fn replace_waiting(&self, arrival: Arrival<K, E>) -> Result<(), Arrival<K, E>> {
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
        self.counters[0].superseded();
        drop(former);
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
