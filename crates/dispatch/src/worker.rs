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

use crate::handle::Handle;
use crate::handler::Handler;
use crate::options::Binding;
use crate::shared::{ABORTED, NOWHERE, Shared};
use crate::strand::{Claimed, Front};
use crate::sync::{Guard, Ordering};
use crate::waits::Doing;
use core::hash::Hash;

/// A worker goes on to the next strand after about so many nanoseconds.
const TURN_NS: u32 = 50_000;
/// And after so many events.
const MOST_EVENTS: u32 = 256;

/// A worker that always has something to do looks so often whether others are stuck.
const TURNS_BETWEEN_LOOKS: u32 = 1_024;

pub(crate) struct Worker<'a, K, E, H> {
    me: usize,
    handle: &'a Handle<K, E>,
    shared: &'a Shared<K, E>,
    handler: &'a H,
    doing: &'a Doing,
    /// The strand that was taken last.
    last: usize,
    /// Events with the same key, which are handled together.
    together: Vec<E>,
    /// Strands attended so far.
    turns: u32,
    /// Naps in a row that nobody has ended.
    naps: u32,
    /// Searches without success before it sleeps.
    searches: u32,
    /// The worker that is looked at first when one is to be helped.
    first: usize,
    /// Where the others were at the last look.
    seen: Box<[(u32, u64)]>,
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
            doing: shared.waits.doing(me),
            last: me,
            together: Vec::new(),
            turns: 0,
            naps: 0,
            first: me,
            searches: idle::searches(),
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
                self.attend(strand, shared.strands[strand].enter());
                self.turns = self.turns.wrapping_add(1);
                if self.turns.is_multiple_of(TURNS_BETWEEN_LOOKS)
                    && let Some((stuck, front)) = self.find_stuck()
                {
                    self.attend(stuck, front);
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

    /// Stops searching, having found something. The last who does wakes another if there is more: nobody was woken for
    /// that as long as somebody searched.
    fn begin(&self) {
        let shared = self.shared;
        let is_last = shared.sleepers.begin(self.me);
        if is_last && shared.settings.binding == Binding::Dynamic {
            let mut workers = 0..shared.attended.len();
            if let Some(home) = workers.find(|&worker| shared.ready.any(worker)) {
                shared.have_it_watched(home);
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
    fn attend(&mut self, strand: usize, mut front: Guard<'a, Front<K, E>>) -> u32 {
        let (shared, me) = (self.shared, self.me);
        let queue = &shared.strands[strand];
        shared.attended[me].store(strand as u32, Ordering::Relaxed);
        let pace = shared.pace.load(Ordering::Relaxed);
        let turn = (TURN_NS / pace.max(1)).clamp(1, MOST_EVENTS);
        let mut handled = 0;
        loop {
            if handled >= turn || shared.has(ABORTED) {
                if queue.leave_early(front) {
                    shared.ready.set(strand);
                }
                break;
            }
            let Some(Claimed { entry, refilled }) = queue.claim(&mut front) else {
                match queue.leave(front) {
                    Ok(()) => break,
                    Err(more) => front = more,
                }
                continue;
            };
            if refilled && front.has_more() && shared.settings.binding == Binding::Dynamic {
                shared.have_it_watched(strand);
            }
            if shared.room_in(strand).may_be_awaited() && queue.count(&front) <= shared.share / 2 {
                // Not under the lock: what is woken belongs to users.
                drop(front);
                shared.room_in(strand).tell();
                front = queue.come_back();
            }
            let hash = entry.hash;
            self.doing.handles(hash, &shared.clock);
            let ended = self.run_entry(strand, entry, front);
            handled += ended.events;
            front = if ended.holds_key { queue.come_back() } else { queue.release(hash) };
        }
        shared.attended[me].store(NOWHERE, Ordering::Relaxed);
        self.doing.rests();
        match H::ASYNC {
            true => shared.counters[me].turned(handled.into()),
            false => shared.counters[me].attended(handled.into(), shared.ready.home(strand) != me),
        }
        self.shared.tell_of_room_in(strand);
        handled
    }
}
