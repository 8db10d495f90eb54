//! Running what was claimed: each event by its handler, whose panics are caught.

use super::Worker;
use crate::counters::{Claimed, Sample};
use crate::handler::{Handler, Turn};
use crate::label::{NOTHING, Seen};
use crate::options::OnPanic;
use crate::queue::Joint;
use crate::report::PanicReport;
use crate::shared::Lane;
use crate::sync::Ordering;
use core::cell::{Cell, RefCell};
use core::hash::Hash;
use std::panic::{AssertUnwindSafe, catch_unwind};

impl<K: Eq + Hash + Clone, E, H: Handler<K, E>> Worker<'_, K, E, H> {
    /// Handles all events of the claim, however many of them panic; how many, and how many nanoseconds it took
    /// since the last time.
    #[inline]
    pub(super) fn run_claim(&mut self, lane: &Lane<K, E>) -> (u64, u64) {
        let events = self.claim.len() as u64;
        if events == 0 {
            return (0, 0);
        }
        if H::PREPARES {
            // Whatever is wrong with an event shows when it is handled.
            let _ = catch_unwind(AssertUnwindSafe(|| self.prepare(lane)));
        }
        while let Err(panic) = catch_unwind(AssertUnwindSafe(|| self.run_events(lane))) {
            let keys = lane.queue.last_label(&self.claim).map_or(&[][..], |label| label.key());
            self.panicked(keys, &*panic);
        }
        let now = self.shared.clock.raw();
        let taken = self.shared.clock.delta_as_nanos(self.looked, now);
        self.looked = now;
        let (each, before) = (taken / events, u64::from(lane.pace.load(Ordering::Relaxed)));
        let pace = if each > 4 * before { each } else { (3 * before + each) / 4 };
        lane.pace.store(pace.clamp(1, u64::from(u32::MAX)) as u32, Ordering::Relaxed);
        (events, taken)
    }

    /// Shows the handler what it will handle. All at once: what it asks for comes while it asks for more.
    #[inline]
    fn prepare(&self, lane: &Lane<K, E>) {
        lane.queue.look(&self.claim).for_each(|(key, event)| self.handler.prepare(key, event));
    }

    #[inline]
    fn run_events(&mut self, lane: &Lane<K, E>) {
        if H::RUNS { self.run_by_key(lane) } else { self.run_one_by_one(lane) }
    }

    #[inline]
    fn run_one_by_one(&mut self, lane: &Lane<K, E>) {
        let (me, handle, shared, handler) = (self.me, self.handle, self.shared, self.handler);
        let run = |position, keys: &[K], event| {
            let turn = Turn { handle, keys, worker: me };
            if Sample::takes(position) {
                timed(&turn, lane, position, 1, || handler.handle(&turn, event));
            } else {
                handler.handle(&turn, event);
            }
        };
        // While the keys are claimed, nobody else poisons them; and whatever panics here comes here again.
        if self.claim.is_keyed() && shared.settings.key_limit.is_none() && !shared.poisoned.any() {
            return lane.queue.run_keyed(&mut self.claim, |position, key, event| {
                run(position, core::slice::from_ref(key), event);
            });
        }
        lane.queue.run(&mut self.claim, |position, label, event| {
            let Some(event) = shared.begin(lane, label, event) else { return };
            if shared.is_poisoned(label.key()) {
                shared.counters[me].skipped_poisoned();
            } else {
                run(position, label.key(), event);
            }
        });
    }

    fn run_by_key(&mut self, lane: &Lane<K, E>) {
        let (me, handle, shared, handler) = (self.me, self.handle, self.shared, self.handler);
        let (events, sampled) = (RefCell::new(&mut self.together), Cell::new(None));
        let gather = |position, label: Seen<'_, K, E>, event| {
            events.borrow_mut().extend(shared.begin(lane, label, event));
            if Sample::takes(position) {
                sampled.set(Some(position));
            }
        };
        let run = |label: Seen<'_, K, E>| {
            let mut events = events.borrow_mut();
            let turn = Turn { handle, keys: label.key(), worker: me };
            let run = events.len();
            if shared.is_poisoned(turn.keys) {
                (0..events.drain(..).count()).for_each(|_| shared.counters[me].skipped_poisoned());
            } else if let Some(position) = sampled.take() {
                timed(&turn, lane, position, run as u64, || handler.handle_run(&turn, events.drain(..)));
            } else {
                handler.handle_run(&turn, events.drain(..));
            }
        };
        lane.queue.run_by_key(&mut self.claim, gather, run);
    }

    #[cold]
    pub(super) fn run_joint(&mut self, joint: Joint<K, E>) {
        let shared = self.shared;
        match joint {
            Joint::Keys(set) => {
                if let Some(event) = set.take() {
                    self.handle_one(&set.touched.keys, event);
                }
                for part in &set.parts {
                    shared.queues[part.queue].queue.finish_joint(part.position());
                    shared.tell_of_room(part.queue);
                    shared.announce(part.queue, NOTHING);
                }
            }
            Joint::Alone(barrier) => {
                if let Some(event) = barrier.take() {
                    self.handle_one(&[], event);
                }
                for queue in 0..shared.queues.len() {
                    shared.queues[queue].queue.finish_alone();
                    shared.tell_of_room(queue);
                    shared.reopen(queue);
                }
            }
        }
        self.looked = shared.clock.raw();
    }

    fn handle_one(&self, keys: &[K], event: E) {
        let shared = self.shared;
        shared.counters[self.me].claimed(Claimed { events: 1, ..Claimed::default() });
        if shared.is_poisoned(keys) {
            return shared.counters[self.me].skipped_poisoned();
        }
        let turn = Turn { handle: self.handle, keys, worker: self.me };
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| self.handler.handle(&turn, event))) {
            self.panicked(keys, &*panic);
        }
    }

    #[cold]
    fn panicked(&self, keys: &[K], panic: &(dyn core::any::Any + Send)) {
        let shared = self.shared;
        shared.counters[self.me].panicked();
        let keys = || keys.iter();
        shared.reports.add(PanicReport::new(keys().cloned().collect(), panic));
        match shared.settings.on_panic {
            OnPanic::Skip => {}
            OnPanic::Poison => shared.poisoned.add(keys()),
            OnPanic::Stop => shared.abort(),
        }
    }
}

/// Handles a sampled event by the clock, with others if it is one of a run of `events`.
#[cold]
fn timed<K, E>(turn: &Turn<'_, K, E>, lane: &Lane<K, E>, position: u64, events: u64, handle: impl FnOnce()) {
    let clock = &turn.handle.0.clock;
    let began = clock.raw();
    handle();
    let ended = clock.raw();
    let wait = clock.delta_as_nanos(lane.samples.when(position), began);
    turn.handle.0.counters[turn.worker].timed(wait, clock.delta_as_nanos(began, ended) / events);
}
