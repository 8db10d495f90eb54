//! Where a worker goes: to the queues at home first, then to those that nobody attends, and last, under rules
//! that share queues, to those where others are.

use super::Worker;
use super::rest::IN_VAIN;
use crate::handler::Handler;
use crate::label::{ALL, NOTHING};
use crate::options::Rule;
use crate::shared::WORTH_MUCH_NS;
use crate::sync::CHECKED;
use core::hash::Hash;

/// Searches without success after which a worker goes where others are held up, whatever events take there.
const PATIENT: u32 = if CHECKED { 1 } else { 40 * IN_VAIN };

impl<K: Eq + Hash + Clone, E, H: Handler<K, E>> Worker<'_, K, E, H> {
    /// Attends a queue that has something for it, after so many searches in vain; whether there was one.
    pub(super) fn search(&mut self, fruitless: u32) -> bool {
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
        if !rule.shares() || !self.patience.is_at_end() {
            return false;
        }
        self.shared.tell_of_room_anywhere(WORTH_MUCH_NS);
        self.join(fruitless >= PATIENT)
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
    pub(super) fn may_take(&self, queue: usize) -> bool {
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
}
