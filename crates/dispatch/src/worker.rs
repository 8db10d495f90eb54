//! A worker: it binds to a queue, claims events, handles and releases them, and stays while there are
//! more.
//!
//! ```text
//!             found ┌─ attend: claim ─► handle ─► release and claim ─┐
//!  search ──────────┤    ▲                                │ more     │ nothing, or others wait
//!    ▲  │ nothing   │    └────────────────────────────────┘          │
//!    │  ▼           └────────────────────────────────────────────────┤
//!  rest: look again, sleep                                           │
//!    ▲───────────────────────────────────────────────────────────────┘
//! ```
//!
//! It looks at the queues at home first, then at those that nobody attends, and last, under rules that
//! share queues, at those where others are.

use crate::counters::{Claimed, Sample};
use crate::handle::Handle;
use crate::handler::{Handler, Turn};
use crate::label::{ALL, MUCH, NOTHING, Seen};
use crate::options::{Idle, OnPanic, Rule};
use crate::patience::{Patience, Standstill};
use crate::queue::{Claim, Found, Joint};
use crate::report::PanicReport;
use crate::shared::{Lane, Shared};
use crate::sync::{CHECKED, Ordering, spin_loop};
use core::cell::{Cell, RefCell};
use core::hash::Hash;
use core::time::Duration;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A claim is to take about so long: what is claimed waits for nothing else any more, but nobody else
/// can take it either.
const SLICE_NS: u64 = 4_000;
/// Events in a claim at most.
const MOST: u64 = 64;
/// Claims after which a worker looks at other queues though its own has more: checkers see few events.
const STAY: u32 = if CHECKED { 2 } else { 32 };
/// Searches without success before a worker sleeps.
const SEARCHES: u32 = if CHECKED { AFTER_NAP } else { 2_000 };
/// Searches after a sleep that nobody has ended: those who work are not to be disturbed by it.
const AFTER_NAP: u32 = 2;
/// Searches without success after which a worker goes where others are held up, whatever events take there.
const PATIENT: u32 = if CHECKED { 1 } else { 40 * IN_VAIN };
/// A search among queues that others attend counts for so many: it takes their locks.
const IN_VAIN: u32 = 10;
/// Pauses after such a search.
const PAUSES: u32 = if CHECKED { 1 } else { 16 };
/// The longest sleep while somebody works: what that one holds up unexpectedly is found then.
const NAP: Duration = Duration::from_millis(1);

pub(crate) struct Worker<'a, K, E, H> {
    me: usize,
    handle: &'a Handle<K, E>,
    shared: &'a Shared<K, E>,
    handler: &'a H,
    claim: Claim,
    /// Events of a key that are handled together.
    together: Vec<E>,
    patience: Patience,
    standstill: Standstill,
    /// Whether it has slept for a while since it was of use.
    napped: bool,
    /// The queue attended last.
    last: usize,
    /// The last look at the clock.
    looked: u64,
}

impl<'a, K: Eq + Hash + Clone, E, H: Handler<K, E>> Worker<'a, K, E, H> {
    pub(crate) fn new(me: usize, handle: &'a Handle<K, E>, handler: &'a H) -> Self {
        Self {
            me,
            handle,
            shared: &handle.0,
            handler,
            claim: Claim::default(),
            together: Vec::new(),
            patience: Patience::default(),
            standstill: Standstill::new(handle.0.queues.len()),
            napped: false,
            last: me,
            looked: 0,
        }
    }

    /// Works until the dispatcher is closed and empty, or aborted.
    pub(crate) fn run(mut self) {
        self.shared.handle_here(self.me);
        let mut fruitless = 0_u32;
        while !self.is_over() {
            fruitless = if self.search(fruitless) {
                self.napped = false;
                0
            } else {
                self.rest(fruitless.saturating_add(1))
            };
        }
        self.shared.seats.wake_all();
    }

    fn is_over(&self) -> bool {
        let shared = self.shared;
        shared.aborted.load(Ordering::Relaxed)
            || shared.closed.load(Ordering::SeqCst) && shared.pending() == 0 && !self.has_aside()
    }

    /// Attends a queue that has something for it, after so many searches in vain; whether there was one.
    fn search(&mut self, fruitless: u32) -> bool {
        if self.has_aside() && self.shared.put_aside(self.me) {
            self.tell_if_quiet();
        }
        if self.shared.ready.queues().next().is_none() {
            return false;
        }
        let rule = self.shared.settings.rule;
        if self.find(|worker, queue| worker.is_home(queue) && worker.is_free(queue))
            || rule.moves() && self.find(Self::may_take)
        {
            return true;
        }
        rule.shares() && self.patience.is_at_end() && self.join(fruitless >= PATIENT)
    }

    /// Attends a queue where others are, at home first, if what is there takes long enough, or if they make no
    /// progress and it is `urgent`; whether there was one.
    fn join(&mut self, urgent: bool) -> bool {
        let joins = |worker: &Self, queue| {
            worker.is_attended(queue)
                && (worker.shared.is_shared(queue) || urgent && worker.is_at_standstill(queue))
        };
        let joined = self.find(|worker, queue| worker.is_home(queue) && joins(worker, queue))
            || self.find(|worker, queue| !worker.is_home(queue) && joins(worker, queue));
        if joined {
            self.patience.lose();
        } else {
            self.patience.grow();
        }
        joined
    }

    /// Whether nothing has left `queue` since this was asked last.
    fn is_at_standstill(&self, queue: usize) -> bool {
        self.standstill.is_at(queue, self.shared.queues[queue].queue.ring().head())
    }

    /// Whether what its handlers dispatched waits for room.
    #[inline]
    fn has_aside(&self) -> bool {
        self.shared.aside[self.me].has_any()
    }

    fn is_home(&self, queue: usize) -> bool {
        matches!(self.shared.settings.rule, Rule::Window { .. }) || self.shared.home(queue) == self.me
    }

    /// Whether nobody attends `queue`, and something can be done there.
    fn is_free(&self, queue: usize) -> bool {
        self.shared.queues[queue].queue.touched() == NOTHING
    }

    /// Whether somebody attends `queue`.
    fn is_attended(&self, queue: usize) -> bool {
        !matches!(self.shared.queues[queue].queue.touched(), NOTHING | ALL)
    }

    /// Whether this worker is to serve `queue`, which nobody attends: at home, and elsewhere if the
    /// worker at home there has other things to do.
    fn may_take(&self, queue: usize) -> bool {
        let shared = self.shared;
        let home = shared.home(queue);
        let alone = || shared.seats.works(home) || shared.seats.sleeps(home) || shared.is_late(queue);
        self.is_free(queue) && (self.is_home(queue) || shared.settings.rule.moves() && alone())
    }

    /// Attends a queue for which the bit is set and which is `wanted`; whether there was something.
    fn find(&mut self, wanted: impl Fn(&Self, usize) -> bool) -> bool {
        let (shared, last) = (self.shared, self.last);
        let after = shared.ready.queues().filter(|&queue| queue >= last);
        let before = shared.ready.queues().filter(|&queue| queue < last);
        after.chain(before).any(|queue| wanted(self, queue) && self.attend(queue))
    }

    /// Handles what it can of a queue; whether there was anything.
    fn attend(&mut self, queue: usize) -> bool {
        let shared = self.shared;
        let lane = &*shared.queues[queue];
        let note = |found: &Found<K, E>| settle(shared, queue, lane, found);
        let Some(mut found) = lane.queue.try_claim(&mut self.claim, limit(lane), note) else { return false };
        if self.claim.is_empty() && found.joint.is_none() {
            // What stood here for an event that ran elsewhere may be gone now.
            shared.tell_of_room(queue);
            self.tell_if_quiet();
            return false;
        }
        let alone = shared.seats.begin(self.me);
        self.looked = shared.clock.raw();
        let mut rebound = self.last != queue;
        self.last = queue;
        if alone && shared.seats.could_wake() && self.others_wait(queue) {
            shared.seats.wake(shared.home(queue));
        }
        for stay in 1.. {
            let Found { conflicts, false_conflicts, .. } = found;
            self.help_wanted(queue, lane, found.more);
            if let Some(joint) = found.joint.take() {
                self.run_joint(joint);
            }
            let events = self.run_claim(lane);
            let away = shared.home(queue) != self.me;
            let claimed = Claimed { events, conflicts, false_conflicts, away, rebound };
            shared.counters[self.me].claimed(claimed);
            rebound = false;
            let leave = shared.aborted.load(Ordering::Relaxed) || stay % STAY == 0 && self.others_wait(queue);
            if self.has_aside() {
                shared.put_aside(self.me);
            }
            if leave {
                if lane.queue.release(&mut self.claim) {
                    shared.announce(queue, NOTHING);
                }
                shared.tell_of_room(queue);
                break;
            }
            found = lane.queue.turn(&mut self.claim, limit(lane), note);
            shared.tell_of_room(queue);
            if self.claim.is_empty() && found.joint.is_none() {
                break;
            }
        }
        shared.seats.end(self.me);
        self.tell_if_quiet();
        true
    }

    /// Tells those who wait for it, if nothing is left.
    fn tell_if_quiet(&self) {
        let shared = self.shared;
        let closed = || shared.closed.load(Ordering::SeqCst);
        if (shared.quiet.is_awaited() || closed()) && shared.is_quiet() {
            shared.quiet.tell();
            if closed() {
                shared.seats.wake_all();
            }
        }
    }

    /// Whether a queue other than `queue` has something that can be done.
    fn others_wait(&self, queue: usize) -> bool {
        let shared = self.shared;
        shared.ready.queues().any(|other| other != queue && shared.queues[other].queue.touched() != ALL)
    }

    /// Calls another worker to `queue` if there is more than this one can do soon.
    #[inline]
    fn help_wanted(&self, queue: usize, lane: &Lane<K, E>, more: bool) {
        let shared = self.shared;
        if more
            && shared.is_shared(queue)
            && shared.seats.could_wake()
            && lane.queue.touched() == MUCH
            && shared.is_late(queue)
        {
            shared.seats.wake(shared.home(queue));
        }
    }

    /// Handles all events of the claim, however many of them panic; how many.
    #[inline]
    fn run_claim(&mut self, lane: &Lane<K, E>) -> u64 {
        let events = self.claim.len() as u64;
        if events == 0 {
            return 0;
        }
        while let Err(panic) = catch_unwind(AssertUnwindSafe(|| self.run_events(lane))) {
            let keys = lane.queue.last_label(&self.claim).map_or(&[][..], |label| label.key());
            self.panicked(keys, &*panic);
        }
        let now = self.shared.clock.raw();
        let taken = self.shared.clock.delta_as_nanos(self.looked, now) / events;
        self.looked = now;
        let before = u64::from(lane.pace.load(Ordering::Relaxed));
        let pace = if taken > 4 * before { taken } else { (3 * before + taken) / 4 };
        lane.pace.store(pace.clamp(1, u64::from(u32::MAX)) as u32, Ordering::Relaxed);
        events
    }

    #[inline]
    fn run_events(&mut self, lane: &Lane<K, E>) {
        if H::RUNS { self.run_by_key(lane) } else { self.run_one_by_one(lane) }
    }

    #[inline]
    fn run_one_by_one(&mut self, lane: &Lane<K, E>) {
        let (me, handle, shared, handler) = (self.me, self.handle, self.shared, self.handler);
        lane.queue.run(&mut self.claim, |position, label, event| {
            let Some(event) = shared.begin(lane, label, event) else { return };
            let turn = Turn { handle, keys: label.key(), worker: me };
            if shared.is_poisoned(turn.keys) {
                shared.counters[me].skipped_poisoned();
            } else if Sample::takes(position) {
                timed(&turn, lane, position, 1, || handler.handle(&turn, event));
            } else {
                handler.handle(&turn, event);
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
    fn run_joint(&mut self, joint: Joint<K, E>) {
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

    /// Does what is done by those who found nothing, so many times in a row; as how many they count.
    fn rest(&mut self, fruitless: u32) -> u32 {
        let shared = self.shared;
        if fruitless < SEARCHES || shared.settings.idle == Idle::Spin {
            if shared.ready.queues().next().is_none() {
                spin_loop();
                return fruitless;
            }
            (0..PAUSES).for_each(|_| spin_loop());
            return fruitless.saturating_add(IN_VAIN);
        }
        let longest = self.has_reason_to_watch().then_some(NAP);
        let awake = || {
            self.is_over()
                || longest.is_none() && self.may_join_others()
                || shared.ready.queues().any(|queue| self.may_take(queue))
        };
        let woken = shared.seats.sleep(self.me, longest, awake);
        self.napped = !woken;
        self.patience.end();
        if woken { 0 } else { SEARCHES - AFTER_NAP }
    }

    /// Whether to sleep for a while only: as others work, something is to be done, or it was just of use.
    fn has_reason_to_watch(&self) -> bool {
        let seats = &self.shared.seats;
        !self.napped
            || (0..seats.workers()).any(|worker| seats.works(worker))
            || self.has_aside()
            || self.may_join_others()
    }

    /// Whether something waits where others are, who may be held up.
    fn may_join_others(&self) -> bool {
        self.shared.settings.rule.shares() && self.shared.ready.queues().next().is_some()
    }
}

/// Sees to the bit of `queue`, after something was `found` there and while nobody else can look. What
/// changes in a queue later, other than at its tail, is announced later too.
#[inline]
fn settle<K: Eq, E>(shared: &Shared<K, E>, queue: usize, lane: &Lane<K, E>, found: &Found<K, E>) {
    if found.more {
        shared.ready.set(queue);
    } else {
        shared.ready.clear(queue);
        if lane.queue.ring().tail() != found.tail {
            shared.ready.set(queue);
        }
    }
}

/// Events to claim at once from `lane`.
#[inline]
fn limit<K, E>(lane: &Lane<K, E>) -> usize {
    (SLICE_NS / u64::from(lane.pace.load(Ordering::Relaxed).max(1))).clamp(1, MOST) as usize
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
