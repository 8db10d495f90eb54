//! A worker: it takes a strand that has something to do, attends it for a while, and goes on to the next.
//!
//! ```text
//!  take a strand ─► claim ─► handle ─► release, claim the next ─┐
//!     ▲      │ none   ▲                          │ more        │ nothing, or the turn is over
//!     │      ▼        └──────────────────────────┘             │
//!     │    idle: search again, help, sleep                     │
//!     └────────────────────────────────────────────────────────┘
//! ```
//!
//! It takes strands that are at home here first, and others' when there are none (under
//! [`Binding::Dynamic`]). An idle worker **helps**: where another has not got on for a while, it attends the same strand,
//! and claims events of other keys.

mod idle;
mod run;
mod start;

use crate::bound::Flow;
use crate::caught::{caught, drop_caught, drop_key};
use crate::entry::{Entry, Work};
use crate::handle::Handle;
use crate::handler::{Handler, Turn};
use crate::options::Binding;
use crate::shared::{ABORTED, NOWHERE, POISONED, Shared};
use crate::strand::{Front, FrontGuard};
use crate::sync::{Access, Ordering};
use crate::trace::wants_spans;
use crate::waits::Doing;
use core::hash::Hash;
use core::slice::from_ref;

/// A worker goes on to the next strand after about so many nanoseconds.
const TURN_NS: u32 = 1_000_000;
/// And after so many events.
const MOST_EVENTS: u32 = 2_048;

/// Events after which a worker looks whether somebody waits for room in its strand. It does so when it leaves, too.
const LOOK_FOR_WAITERS: u32 = 16;

/// A worker that always has something to do looks so often whether others are stuck.
const TURNS_BETWEEN_LOOKS: u32 = 1_024;

pub(crate) struct Worker<'a, K, E, H> {
    me: usize,
    handle: &'a Handle<K, E>,
    shared: &'a Shared<K, E>,
    handler: &'a H,
    flow: &'a Flow,
    doing: &'a Doing,
    /// The strand that was taken last.
    last: usize,
    /// Strands attended so far.
    turns: u32,
    /// Naps in a row that nobody has ended.
    naps: u32,
    /// Searches without success before it sleeps.
    longest_search: u32,
    /// The worker that is looked at first when one is to be helped.
    first: usize,
    /// Where the others were at the last look.
    seen: Box<[(u32, u64)]>,
}

/// A worker's stay at a strand.
struct Visit<K> {
    strand: usize,
    /// Events after which the turn is over.
    turn: u32,
    /// Events that were handled so far.
    handled: u32,
    /// Of the event in hand.
    hash: u64,
    /// Of the event in hand, if it has one key.
    key: Option<K>,
}

impl<'a, K: Eq + Hash + Clone, E, H: Handler<K, E>> Worker<'a, K, E, H> {
    pub(crate) fn new(me: usize, handle: &'a Handle<K, E>, handler: &'a H) -> Self {
        let shared = &*handle.0;
        let seen = vec![(NOWHERE, 0); shared.attended.len()].into();
        Self {
            me,
            handle,
            shared,
            handler,
            flow: shared.bound.of_worker(me),
            doing: shared.waits.doing(me),
            last: me,
            turns: 0,
            naps: 0,
            first: me,
            longest_search: idle::longest_search(),
            seen,
        }
    }

    /// Works until the dispatcher is closed and empty, or aborted.
    pub(crate) fn run(mut self) {
        let shared = self.shared;
        let mut fruitless = 0;
        // Every worker begins as one that searches.
        let mut searches = true;
        while !self.is_over() {
            if let Some(strand) = self.take() {
                if core::mem::take(&mut searches) {
                    self.begin();
                }
                fruitless = 0;
                self.last = strand;
                self.attend(strand, &shared.strands[strand].own());
                self.turns = self.turns.wrapping_add(1);
                if self.turns.is_multiple_of(TURNS_BETWEEN_LOOKS)
                    && let Some((stuck, access)) = self.find_stuck()
                {
                    shared.have_it_watched(stuck);
                    self.attend(stuck, &access);
                }
            } else if !self.run_alone() {
                if !core::mem::replace(&mut searches, true) {
                    shared.sleepers.end(self.me);
                }
                fruitless = self.rest(fruitless);
            }
        }
        self.tell();
        // The others may be over too.
        shared.sleepers.wake_all();
    }

    /// Stops searching, having found something. The last who does wakes another if there is more, or if somebody else works
    /// who may be stuck: nobody was woken for that as long as somebody searched.
    fn begin(&self) {
        let shared = self.shared;
        let is_last = shared.sleepers.begin(self.me);
        if is_last && shared.settings.binding == Binding::Dynamic {
            let mut workers = 0..shared.attended.len();
            if let Some(home) = workers.find(|&worker| shared.ready.any(worker)) {
                shared.have_it_watched(home);
            } else if shared.sleepers.do_several_work() {
                shared.have_it_watched(self.me);
            }
        }
    }

    /// Whether there is nothing left to do for ever.
    fn is_over(&self) -> bool {
        self.shared.has(ABORTED) || self.shared.is_over()
    }

    /// A strand that has something to do.
    #[inline]
    fn take(&self) -> Option<usize> {
        let (ready, workers) = (&self.shared.ready, self.shared.attended.len());
        let others = if self.shared.settings.binding == Binding::Dynamic { workers } else { 1 };
        (0..others).find_map(|step| ready.take((self.me + step) % workers, self.last))
    }

    /// Handles events of `strand` until it has none that may run, or the turn is over; how many.
    fn attend(&mut self, strand: usize, access: &Access<'_, Front<K, E>>) -> u32 {
        let (shared, me) = (self.shared, self.me);
        shared.attended[me].store(strand as u32, Ordering::Relaxed);
        let mut visit = Visit { strand, turn: self.turn(), handled: 0, hash: 0, key: None };
        while let Err(panic) = caught(|| self.run_events(&mut visit, access)) {
            let key = visit.key.take();
            shared.panicked(self.me, key.as_slice(), panic);
            drop_caught(key);
            self.finished(1);
            visit.handled += 1;
            shared.strands[strand].release(&mut access.lock(), visit.hash);
        }
        shared.attended[me].store(NOWHERE, Ordering::Relaxed);
        self.doing.rests();
        shared.counters[me].attended(visit.handled.into(), shared.ready.home(strand) != me);
        shared.tell_of_room_in(strand);
        if shared.room.may_be_awaited() {
            shared.tell_of_room();
        }
        visit.handled
    }

    /// How many events take a turn, at the pace of those that were timed last.
    fn turn(&self) -> u32 {
        (TURN_NS / self.shared.pace.load(Ordering::Relaxed).max(1)).clamp(1, MOST_EVENTS)
    }

    /// The loop of [`attend`](Self::attend). It panics where the handler of an event with one key does.
    fn run_events(&mut self, visit: &mut Visit<K>, access: &Access<'_, Front<K, E>>) {
        let shared = self.shared;
        let (queue, room) = (&shared.strands[visit.strand], shared.room_in(visit.strand));
        let mut front = access.lock();
        loop {
            let mut flags = shared.flags.load(Ordering::SeqCst);
            if visit.handled >= visit.turn || flags & ABORTED != 0 {
                if queue.leave_early(front) {
                    shared.ready.set(visit.strand);
                }
                return;
            }
            if visit.handled.is_multiple_of(LOOK_FOR_WAITERS)
                && room.may_be_awaited()
                && queue.has_much_room(shared.share)
            {
                // Not under the lock: what is woken belongs to users.
                drop(front);
                room.tell();
                front = access.lock();
                flags = shared.flags.load(Ordering::SeqCst);
            }
            if let Some(entry) = front.claim() {
                visit.hash = entry.hash;
                match entry.work {
                    Work::Keyed(key, event)
                        if !H::ASYNC && entry.came == 0 && flags & POISONED == 0 && !wants_spans() =>
                    {
                        drop(front);
                        self.doing.handles(visit.hash, &shared.clock);
                        self.handle_keyed(visit.key.insert(key), event);
                        drop_key(visit.key.take());
                        self.finished(1);
                        visit.handled += 1;
                        front = access.lock();
                        queue.release(&mut front, visit.hash);
                    }
                    work => front = self.run_other(visit, Entry { work, ..entry }, front, access),
                }
            } else if let Some(entry) = front.claim_past_held() {
                front = self.run_other(visit, entry, front, access);
            } else {
                let give_back = |unused| shared.bound.give_back(self.flow, unused);
                let Ok(refilled) = queue.refill_or_leave(front, give_back) else { return };
                front = refilled;
                if front.has_several() && shared.settings.binding == Binding::Dynamic {
                    shared.have_it_watched(visit.strand);
                }
            }
        }
    }

    /// Handles an entry that is no ordinary one; back at the front.
    #[cold]
    fn run_other<'f>(
        &mut self,
        visit: &mut Visit<K>,
        entry: Entry<K, E>,
        front: FrontGuard<'f, K, E>,
        access: &'f Access<'_, Front<K, E>>,
    ) -> FrontGuard<'f, K, E> {
        let hash = entry.hash;
        visit.hash = hash;
        self.doing.handles(hash, &self.shared.clock);
        let ended = self.run_entry(visit.strand, entry, front);
        visit.handled += ended.events;
        // The pace may be another now.
        visit.turn = visit.turn.min(visit.handled + self.turn());
        let mut front = access.lock();
        if !ended.holds_key {
            self.shared.strands[visit.strand].release(&mut front, hash);
        }
        front
    }

    #[inline]
    fn handle_keyed(&self, key: &K, event: E) {
        let turn = Turn { handle: self.handle, keys: from_ref(key), worker: self.me };
        self.handler.handle(&turn, event);
    }
}
