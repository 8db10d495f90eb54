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
//! | module | holds |
//! |---|---|
//! | [`search`], [`patience`] | where it goes, and how often to queues that others attend |
//! | [`extent`] | how much it takes at once, and how long it stays |
//! | [`run`] | handlers, by event or by key, and their panics |
//! | [`rest`] | what it does that finds nothing |

use crate::counters::Claimed;
use crate::handle::Handle;
use crate::handler::Handler;
use crate::label::{ALL, MUCH, NOTHING};
use crate::queue::{Claim, Found};
use crate::shared::{Lane, Shared};
use crate::sync::Ordering;
use core::hash::Hash;
use extent::Stay;
use patience::{Patience, Standstill};
pub(crate) use rest::searches;

mod extent;
mod patience;
mod rest;
mod run;
mod search;

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
    /// Whether it was woken, and has found nothing since.
    called: bool,
    /// Sleeps that nobody has ended, since it found something.
    naps: u32,
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
            called: false,
            naps: 0,
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
                (self.called, self.naps) = (false, 0);
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

    /// Whether what its handlers dispatched waits for room.
    #[inline]
    fn has_aside(&self) -> bool {
        self.shared.aside[self.me].has_any()
    }

    /// Handles what it can of a queue; whether there was anything.
    fn attend(&mut self, queue: usize) -> bool {
        let shared = self.shared;
        let lane = &*shared.queues[queue];
        let note = |found: &Found<K, E>| settle(shared, queue, lane, found);
        let limit = self.limit(queue, lane);
        let Some(mut found) = lane.queue.try_claim(&mut self.claim, limit, note) else { return false };
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
        let mut stay = Stay::default();
        loop {
            let Found { conflicts, false_conflicts, .. } = found;
            self.help_wanted(queue, lane, found.more);
            if let Some(joint) = found.joint.take() {
                self.run_joint(joint);
            }
            let (events, taken) = self.run_claim(lane);
            let away = shared.home(queue) != self.me;
            let claimed = Claimed { events, conflicts, false_conflicts, away, rebound };
            shared.counters[self.me].claimed(claimed);
            rebound = false;
            let leave = shared.aborted.load(Ordering::Relaxed)
                || stay.is_over(taken, lane) && self.others_wait(queue);
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
            let limit = self.limit(queue, lane);
            found = lane.queue.turn(&mut self.claim, limit, note);
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
