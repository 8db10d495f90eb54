//! What a worker does that finds nothing: it looks again, and sleeps.

use super::Worker;
use crate::handler::Handler;
use crate::options::Idle;
use crate::sync::{CHECKED, spin_loop, yield_now};
use core::hash::Hash;
use core::time::Duration;

/// Searches without success before a worker sleeps, or one that never does gives way to others on its processor.
const SEARCHES: u32 = if CHECKED { AFTER_NAP } else { 2_000 };
/// As how many they count after it has.
const AGAIN: u32 = SEARCHES / 2;
/// Searches after a sleep that nobody has ended: those who work are not to be disturbed by it.
const AFTER_NAP: u32 = 2;
/// A search among queues that others attend counts for so many: it takes their locks.
pub(super) const IN_VAIN: u32 = 10;
/// Pauses after such a search.
const PAUSES: u32 = if CHECKED { 1 } else { 16 };
/// The longest sleep while somebody works: what that one holds up unexpectedly is found then.
const NAP: Duration = Duration::from_millis(1);

impl<K: Eq + Hash + Clone, E, H: Handler<K, E>> Worker<'_, K, E, H> {
    /// Does what is done by those who found nothing, so many times in a row; as how many they count.
    pub(super) fn rest(&mut self, fruitless: u32) -> u32 {
        let shared = self.shared;
        if fruitless < SEARCHES {
            if shared.ready.queues().next().is_none() {
                spin_loop();
                return fruitless;
            }
            (0..PAUSES).for_each(|_| spin_loop());
            return fruitless.saturating_add(IN_VAIN);
        }
        if shared.settings.idle == Idle::Spin {
            yield_now();
            return AGAIN;
        }
        let longest = self.has_reason_to_watch().then_some(NAP);
        let awake = || {
            self.is_over()
                || longest.is_none() && self.may_join_others()
                || shared.ready.queues().any(|queue| self.may_take(queue))
        };
        let woken = shared.seats.sleep(self.me, longest, awake);
        self.called = woken;
        self.patience.end();
        if woken { 0 } else { SEARCHES - AFTER_NAP }
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
