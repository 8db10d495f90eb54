//! Starting the future of an event, which holds the keys until it ends.

use super::Worker;
use super::run::Ended;
use crate::caught::{caught, drop_caught};
use crate::entry::{Entry, Work};
use crate::handler::Handler;
use crate::report::message_of;
use crate::strand::FrontGuard;
use crate::sync::Arc;
use crate::tasks::{AsyncTurn, Held, Running};
use crate::trace::Span;
use core::hash::Hash;

impl<K: Eq + Hash + Clone, E, H: Handler<K, E>> Worker<'_, K, E, H> {
    /// Starts the event of `entry`, without the lock of the strand.
    pub(super) fn start_entry(
        &self,
        strand: usize,
        entry: Entry<K, E>,
        front: FrontGuard<'_, K, E>,
    ) -> Ended {
        drop(front);
        let Entry { hash, mut came, work } = entry;
        let (held, event) = match work {
            Work::Keyed(key, event) => (Held::Key(key, hash), Some(event)),
            Work::Counted(key, event, slot) => {
                self.leave_table(strand, slot, false);
                (Held::Key(key, hash), Some(event))
            }
            Work::Freshest(key, slot) => (Held::Key(key, hash), self.leave_table(strand, slot, true)),
            Work::Unordered(event) => (Held::Hash(hash), Some(event)),
            Work::Part(joint) => {
                if !joint.arrive() {
                    drop_caught(joint);
                    return Ended { events: 0, holds_key: true };
                }
                came = joint.came;
                let event = joint.take();
                (Held::Several(joint), event)
            }
        };
        // Before others can see that it has ended.
        self.shared.counters[self.me].began();
        self.start(held, event, came);
        Ended { events: 1, holds_key: true }
    }

    /// Starts `event`, unless there is none any more or its keys are poisoned.
    pub(super) fn start(&self, held: Held<K, E>, event: Option<E>, came: u64) {
        let held = Arc::new(held);
        let turn = AsyncTurn::new(self.handle.clone(), held.clone());
        let span = Span::new(self.me, || self.about(came));
        let running = Running::new(self.handle.clone(), held.clone(), came, span);
        let is_poisoned = || self.shared.is_poisoned(held.keys());
        let started = caught(|| match event {
            Some(event) if !is_poisoned() => self.handler.start(running, turn, event),
            Some(event) => {
                self.shared.counters[self.me].skipped_poisoned();
                drop_caught(event);
                running.skip();
            }
            None => running.skip(),
        });
        if let Err(panic) = started {
            // Of whoever spawns: the event is counted as its future is dropped.
            self.shared.report(held.keys(), message_of(panic));
        }
        drop_caught(held);
    }
}
