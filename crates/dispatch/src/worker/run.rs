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
            Work::Keyed(key, event) if H::RUNS => {
                return self.run_together(strand, (hash, key, event), came, front);
            }
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
        event
    }

    /// Handles a run of events with the same key.
    fn run_together(
        &mut self,
        strand: usize,
        (hash, key, event): (u64, K, E),
        came: u64,
        mut front: FrontGuard<'_, K, E>,
    ) -> Ended {
        let mut others = Vec::new();
        let is_alike = |entry: &Entry<K, E>| matches!(entry.work, Work::Keyed(..));
        self.shared.strands[strand].take_run(&mut front, hash, is_alike, |entry| others.push(entry));
        drop(front);
        let events = 1 + others.len() as u32;
        let mut run = Run { key, events: core::mem::take(&mut self.together) };
        run.events.push(event);
        for entry in others {
            let Work::Keyed(key, event) = entry.work else { unreachable!("only such entries are taken") };
            // Hashes that agree do not make keys the same.
            let is_same = caught(|| key == run.key).unwrap_or_else(|panic| {
                drop_caught(panic);
                false
            });
            if !is_same {
                self.handle_run(&mut run, came);
                drop_key(core::mem::replace(&mut run.key, key));
            } else {
                drop_key(key);
            }
            run.events.push(event);
        }
        self.handle_run(&mut run, came);
        drop_key(run.key);
        self.together = run.events;
        self.finished(events.into());
        Ended { events, holds_key: false }
    }

    fn handle_run(&self, run: &mut Run<K, E>, came: u64) {
        let (keys, count) = (from_ref(&run.key), run.events.len() as u64);
        self.guarded(keys, count, came, |handler, turn| handler.handle_run(turn, run.events.drain(..)));
        // What a skipped run leaves; a handler's panic has dropped the rest.
        drop_caught(run.events.drain(..));
        run.events.clear();
    }

    #[inline]
    pub(super) fn handle(&self, keys: &[K], event: E, came: u64) {
        self.guarded(keys, 1, came, |handler, turn| handler.handle(turn, event));
    }

    /// Calls the handler for so many events, unless their keys are poisoned.
    #[inline]
    fn guarded(&self, keys: &[K], events: u64, came: u64, handle: impl FnOnce(&H, &Turn<'_, K, E>)) {
        let (shared, counters) = (self.shared, &self.shared.counters[self.me]);
        let turn = Turn { handle: self.handle, keys, worker: self.me };
        let span = Span::new(self.me, events, || self.about(came));
        let _entered = span.enter();
        let result = caught(|| {
            if shared.is_poisoned(keys) {
                counters.skipped_poisoned(events);
                // What is skipped is dropped here, where a panic is caught.
                drop(handle);
            } else if came == 0 {
                handle(self.handler, &turn);
            } else {
                self.timed(came, events, || handle(self.handler, &turn));
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
    fn timed(&self, came: u64, events: u64, handle: impl FnOnce()) {
        let clock = &self.shared.clock;
        let began = clock.raw();
        handle();
        let ended = clock.raw();
        let service = clock.delta_as_nanos(began, ended) / events.max(1);
        self.shared.counters[self.me].timed(clock.delta_as_nanos(came.min(began), began), service);
        let before = u64::from(self.shared.pace.load(Ordering::Relaxed));
        let pace = if service > 4 * before { service } else { (3 * before + service) / 4 };
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

/// Events of one key, to be handled together.
struct Run<K, E> {
    key: K,
    events: Vec<E>,
}
