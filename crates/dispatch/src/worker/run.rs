//! Handling what was claimed. Whatever users' code does, panics are caught here.

use super::Worker;
use crate::caught::{caught, drop_caught, drop_key};
use crate::entry::{Entry, Work};
use crate::handler::{Handler, Turn};
use crate::joint::Joint;
use crate::shared::NOWHERE;
use crate::strand::FrontGuard;
use crate::sync::{Arc, Ordering};
use crate::trace::Span;
use crate::waits::Holds;
use core::hash::Hash;
use core::slice::from_ref;

/// What became of an entry.
pub(super) struct Ended {
    /// Events that were handled, or skipped.
    pub(super) events: u32,
    /// Whether its key is held on.
    pub(super) holds_key: bool,
}

impl<K: Eq + Hash + Clone, E, H: Handler<K, E>> Worker<'_, K, E, H> {
    /// Handles the event of `entry`, or a run of events that begins with it, without the lock of the strand.
    pub(super) fn run_entry(
        &mut self,
        strand: usize,
        entry: Entry<K, E>,
        front: FrontGuard<'_, K, E>,
    ) -> Ended {
        if H::ASYNC {
            return self.start_entry(strand, entry, front);
        }
        let Entry { hash, came, work } = entry;
        match work {
            Work::Keyed(key, event) => {
                drop(front);
                self.handle(from_ref(&key), event, came);
                drop_key(key);
            }
            Work::Counted(key, event, slot) => {
                drop(front);
                self.leave_table(strand, slot, false);
                self.handle(from_ref(&key), event, came);
                drop_key(key);
            }
            Work::Freshest(key, slot) => {
                drop(front);
                if let Some(event) = self.leave_table(strand, slot, true) {
                    self.handle(from_ref(&key), event, came);
                }
                drop_key(key);
            }
            Work::Unordered(event) => {
                drop(front);
                self.handle(&[], event, came);
            }
            Work::Part(joint) => {
                drop(front);
                return self.arrive(hash, joint);
            }
        }
        self.finished(1);
        Ended { events: 1, holds_key: false }
    }

    /// A part of an event with several keys has come to its key.
    #[cold]
    fn arrive(&self, here: u64, joint: Arc<Joint<K, E>>) -> Ended {
        let runs = joint.arrive();
        if runs {
            if let Some(event) = joint.take() {
                self.doing.holds(Holds::Keys(joint.hashes.clone()));
                self.handle(&joint.keys, event, joint.came);
                self.doing.holds(Holds::Nothing);
            }
            self.shared.release_keys(joint.hashes.iter().filter(|&&hash| hash != here));
        }
        drop_caught(joint);
        if runs {
            self.finished(1);
        }
        Ended { events: u32::from(runs), holds_key: !runs }
    }

    /// An event that is counted in `slot` is handled from now on: the event, if the table has it.
    #[cold]
    pub(super) fn leave_table(&self, strand: usize, slot: u32, has_it: bool) -> Option<E> {
        let (event, key) = self.shared.strands[strand].back().keyed.leave(slot as usize, has_it);
        drop_caught(key);
        // The key has room now, and the handler may wait for who takes it.
        self.shared.tell_of_room_in(strand);
        event
    }

    /// Calls the handler, unless one of `keys` is poisoned.
    #[inline]
    pub(super) fn handle(&self, keys: &[K], event: E, came: u64) {
        let (shared, counters) = (self.shared, &self.shared.counters[self.me]);
        let turn = Turn { handle: self.handle, keys, worker: self.me };
        let span = Span::new(self.me, || self.about(came));
        let _entered = span.enter();
        let result = caught(|| {
            if shared.is_poisoned(keys) {
                counters.skipped_poisoned();
                // Here, where a panic is caught.
                drop(event);
            } else if came == 0 {
                self.handler.handle(&turn, event);
            } else {
                self.timed(came, || self.handler.handle(&turn, event));
            }
        });
        if let Err(panic) = result {
            shared.panicked(self.me, keys, panic);
        }
    }

    /// The strand of what is handled, if it is in one, and how long it waited, if that is known.
    pub(super) fn about(&self, came: u64) -> (Option<usize>, Option<u64>) {
        let strand = self.shared.attended[self.me].load(Ordering::Relaxed);
        let clock = &self.shared.clock;
        let wait = (came != 0).then(|| clock.delta_as_nanos(came, clock.raw().max(came)));
        ((strand != NOWHERE).then_some(strand as usize), wait)
    }

    /// Handles a sampled event by the clock.
    #[cold]
    fn timed(&self, came: u64, handle: impl FnOnce()) {
        let clock = &self.shared.clock;
        let began = clock.raw();
        handle();
        let ended = clock.raw();
        let service = clock.delta_as_nanos(began, ended);
        self.shared.counters[self.me].timed(clock.delta_as_nanos(came.min(began), began), service);
        let before = u64::from(self.shared.pace.load(Ordering::Relaxed));
        // A handler that was interrupted looks slow, but only until the next sample.
        let is_another = service > 4 * before || service < before / 4;
        let pace = if is_another { service } else { (3 * before + service) / 4 };
        self.shared.pace.store(pace.clamp(1, u64::from(u32::MAX)) as u32, Ordering::Relaxed);
    }

    /// So many events have ended.
    #[inline]
    pub(super) fn finished(&self, events: u64) {
        let is_time = self.shared.bound.finish(self.flow, events);
        if is_time && self.shared.room.may_be_awaited() && self.shared.bound.has_much_room() {
            self.shared.tell_of_room();
        }
    }
}
