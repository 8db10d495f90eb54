//! What a worker does that finds nothing: it looks again, tells those who wait for room of what there is, and sleeps.

use super::Worker;
use crate::handler::Handler;
use crate::options::Idle;
use crate::shared::WORTH_COMING_NS;
use crate::sync::{CHECKED, spin_loop, yield_now};
use core::hash::Hash;
use core::time::Duration;
use std::thread::available_parallelism;

/// Searches without success before a worker sleeps, or one that never does gives way to others on its processor.
const SEARCHES: u32 = 2_000;
/// Searches after a sleep that nobody has ended: those who work are not to be disturbed by it.
const AFTER_NAP: u32 = 2;
/// A search among queues that others attend counts for so many: it takes their locks.
pub(super) const IN_VAIN: u32 = 10;
/// Pauses after such a search.
const PAUSES: u32 = if CHECKED { 1 } else { 16 };
/// The longest sleep while somebody works: what that one holds up unexpectedly is found then.
const NAP: Duration = Duration::from_millis(1);
/// So often it is doubled, as long as nothing is held up: each nap costs the processor that is woken from it more than
/// many events take.
const DOUBLINGS: u32 = 2;

/// How many searches without success the workers of a dispatcher make that is built here: next to none where there
/// is one processor, on which nothing comes while they search.
pub(crate) fn searches() -> u32 {
    let is_one = || available_parallelism().is_ok_and(|processors| processors.get() == 1);
    if CHECKED || is_one() { AFTER_NAP } else { SEARCHES }
}

impl<K: Eq + Hash + Clone, E, H: Handler<K, E>> Worker<'_, K, E, H> {
    /// Does what is done by those who found nothing, so many times in a row; as how many they count.
    pub(super) fn rest(&mut self, fruitless: u32) -> u32 {
        let shared = self.shared;
        if fruitless < shared.searches {
            if shared.ready.queues().next().is_none() {
                spin_loop();
                return fruitless;
            }
            (0..PAUSES).for_each(|_| spin_loop());
            return fruitless.saturating_add(IN_VAIN);
        }
        shared.tell_of_room_anywhere(WORTH_COMING_NS);
        if shared.settings.idle == Idle::Spin {
            yield_now();
            return shared.searches / 2;
        }
        let longest = self.has_reason_to_watch().then(|| self.nap());
        let awake = || {
            self.is_over()
                || longest.is_none() && self.may_join_others()
                || shared.ready.queues().any(|queue| self.may_take(queue))
        };
        let woken = shared.seats.sleep(self.me, longest, awake);
        self.called = woken;
        self.naps = if woken { 0 } else { self.naps.saturating_add(1) };
        self.patience.end();
        if woken { 0 } else { shared.searches - AFTER_NAP }
    }

    /// How long to sleep at most, if something may be held up: not long where that is this worker's own.
    fn nap(&self) -> Duration {
        if self.called || self.has_aside() { NAP } else { NAP * (1 << self.naps.min(DOUBLINGS)) }
    }

    /// Whether to sleep for a while only: as others work, something is to be done, or what it was woken for may be
    /// held up.
    fn has_reason_to_watch(&self) -> bool {
        let seats = &self.shared.seats;
        self.called
            || (0..seats.workers()).any(|worker| seats.works(worker))
            || self.has_aside()
            || self.may_join_others()
    }

    /// Whether something waits where others are, who may be held up.
    fn may_join_others(&self) -> bool {
        self.shared.settings.rule.shares() && self.shared.ready.queues().next().is_some()
    }
}

#[cfg(all(test, not(any(loom, shuttle, miri))))]
mod tests {
    use super::{AFTER_NAP, searches};
    use warmcore_linux::affinity::{mask, pin_to};

    #[test]
    fn on_one_processor_workers_hardly_search_in_vain() {
        let cpu = mask().expect("a mask").iter().last().expect("a thread may run somewhere");
        let _pinned = pin_to(cpu).expect("a processor of this thread's");
        assert_eq!(searches(), AFTER_NAP);
    }
}
