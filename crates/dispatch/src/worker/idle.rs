//! What a worker does that finds nothing: it runs a sequential event, looks again, helps one that is stuck, and sleeps.

use super::Worker;
use crate::handler::Handler;
use crate::options::{Binding, Idle};
use crate::shared::{ALONE, NOWHERE, SHUT};
use crate::strand::Front;
use crate::sync::{Access, CHECKED, Ordering, spin_loop, yield_now};
use crate::tasks::Held;
use crate::waits::Holds;
use core::hash::Hash;
use core::time::Duration;
use std::thread::available_parallelism;

/// Searches without success before a worker sleeps, or one that never does yields its processor.
const SEARCHES: u32 = 2_000;
/// Searches after a nap that nobody has ended: those who work are not to be disturbed by it.
const AFTER_NAP: u32 = 2;
/// The shortest nap while others work. At its end, a worker looks whether they are stuck.
const NAP: Duration = Duration::from_millis(1);
/// A nap is doubled so often, if nobody was stuck: each costs more than many events take.
const DOUBLINGS: u32 = 2;

/// Searches without success that workers make before they sleep: next to none where there is one processor,
/// on which nothing comes while they search.
pub(crate) fn longest_search() -> u32 {
    let is_one = || available_parallelism().is_ok_and(|processors| processors.get() == 1);
    if CHECKED || is_one() { AFTER_NAP } else { SEARCHES }
}

/// Of events that take longer, another worker takes some over as soon as it has nothing else to do.
const WORTH_HELPING_NS: u32 = 20_000;

impl<'a, K: Eq + Hash + Clone, E, H: Handler<K, E>> Worker<'a, K, E, H> {
    /// Idle step after `fruitless` failed searches; returns the updated count.
    pub(super) fn rest(&mut self, fruitless: u32) -> u32 {
        let shared = self.shared;
        if fruitless == 0 {
            self.tell();
        }
        if fruitless < self.longest_search {
            spin_loop();
            return fruitless + 1;
        }
        self.tell();
        if let Some((strand, access)) = self.find_stuck() {
            self.begin();
            let handled = self.attend(strand, &access);
            shared.sleepers.end(self.me);
            if handled > 0 {
                // There may be more, and nobody else who comes to it.
                return self.longest_search;
            }
        }
        if shared.settings.idle == Idle::Spin {
            yield_now();
            return self.longest_search / 2;
        }
        let naps = shared.settings.binding == Binding::Dynamic && shared.sleepers.is_another_busy(self.me);
        let longest = naps.then(|| NAP * (1 << self.naps.min(DOUBLINGS)));
        let woken = shared.sleepers.sleep(self.me, longest, || self.has_reason_to_stay(naps));
        self.naps = if woken { 0 } else { self.naps.saturating_add(1) };
        if woken { 0 } else { self.longest_search - AFTER_NAP.min(self.longest_search) }
    }

    /// Whether to stay awake: work may have come before this worker was to be seen as asleep.
    fn has_reason_to_stay(&self, naps: bool) -> bool {
        let shared = self.shared;
        let mut places = 0..shared.attended.len();
        let any_ready = match shared.settings.binding {
            Binding::Static => shared.ready.any(self.me),
            Binding::Dynamic => places.any(|worker| shared.ready.any(worker)),
        };
        // Whoever began to work meanwhile may have seen this one search, and woken nobody to watch.
        let is_unwatched =
            !naps && shared.settings.binding == Binding::Dynamic && shared.sleepers.is_another_busy(self.me);
        any_ready || is_unwatched || shared.is_gate_due() || self.is_over()
    }

    /// Tells those who wait for room, or for the end, if what they wait for is so.
    pub(super) fn tell(&self) {
        self.shared.overloaded.end();
        self.shared.tell_of_room();
        self.shared.tell_if_quiet();
    }

    /// The strand of a worker that has not got on since the last look, or is still at the same strand with slow events, if nobody
    /// else is at its front.
    pub(super) fn find_stuck(&mut self) -> Option<(usize, Access<'a, Front<K, E>>)> {
        let (shared, me) = (self.shared, self.me);
        if shared.settings.binding == Binding::Static {
            return None;
        }
        let (workers, mut stuck) = (shared.attended.len(), None);
        // Another one first each time, so that all are helped in turn.
        self.first = (self.first + 1) % workers;
        let first = self.first;
        let is_slow = shared.pace.load(Ordering::Relaxed) >= WORTH_HELPING_NS;
        for worker in (0..workers).map(|step| (first + step) % workers).filter(|&worker| worker != me) {
            let strand = shared.attended[worker].load(Ordering::Relaxed);
            let now = (strand, shared.bound.finished_by(worker));
            let before = core::mem::replace(&mut self.seen[worker], now);
            let is_stuck = strand != NOWHERE && (before == now || (is_slow && before.0 == strand));
            if is_stuck && stuck.is_none() {
                stuck = shared.strands[strand as usize].help().map(|access| (strand as usize, access));
            }
        }
        stuck
    }

    /// Runs a sequential event, if one may run now.
    pub(super) fn run_alone(&self) -> bool {
        let shared = self.shared;
        if !shared.has(SHUT) {
            return false;
        }
        let event = {
            let mut gate = shared.gate.lock();
            // Nothing is admitted while the gate is shut, but by those who take it back.
            if gate.runs || !shared.is_gate_due() {
                return false;
            }
            let Some(event) = gate.next.take() else { return false };
            gate.runs = true;
            shared.flags.fetch_or(ALONE, Ordering::SeqCst);
            event
        };
        // Before others can see that it has ended.
        shared.counters[self.me].began();
        shared.counters[self.me].attended(1, false);
        if H::ASYNC {
            self.start(Held::All, Some(event), 0);
            return true;
        }
        self.doing.holds(Holds::All);
        self.doing.handles(0, &shared.clock);
        self.handle(&[], event, 0);
        self.doing.holds(Holds::Nothing);
        self.doing.rests();
        shared.open_gate(Some(self.me));
        shared.bound.end_deferred(1);
        self.tell();
        true
    }
}
