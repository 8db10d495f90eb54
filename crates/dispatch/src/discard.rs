//! Dropping what is left in a dispatcher that was aborted.

use crate::arrival::Arrival;
use crate::caught::drop_caught;
use crate::entry::Work;
use crate::shared::{ABORTED, Shared};
use crate::sync::Ordering;

impl<K, E> Shared<K, E> {
    /// A worker has ended. The last one drops what an abort has left.
    pub(crate) fn end_worker(&self) {
        if self.workers_left.fetch_sub(1, Ordering::SeqCst) == 1 && self.has(ABORTED) {
            self.discard();
        }
    }

    /// Drops what came after the last worker has ended.
    #[cold]
    pub(crate) fn discard_if_alone(&self) {
        if self.workers_left.load(Ordering::SeqCst) == 0 {
            self.discard();
        }
    }

    /// Drops all that waits, whatever its drop does, and counts it.
    pub(crate) fn discard(&self) {
        let (mut discarded, mut unused) = (0, 0);
        for strand in &self.strands {
            for entry in strand.clear() {
                // All parts of an event hold it, and one of them counts.
                let is_event = if let Work::Part(joint) = &entry.work {
                    joint.take().map(drop_caught).is_some()
                } else {
                    true
                };
                discarded += u64::from(is_event);
                entry.work.drop_caught();
            }
            let (lent, keyed) = {
                let mut back = strand.back();
                (core::mem::take(&mut back.lent), back.keyed.clear())
            };
            unused += lent;
            for (key, freshest) in keyed {
                drop_caught(key);
                drop_caught(freshest);
            }
        }
        let waiting: Vec<_> = {
            let mut gate = self.gate.lock();
            gate.next
                .take()
                .map(|event| Arrival::Sequential { event })
                .into_iter()
                .chain(gate.behind.drain(..))
                .collect()
        };
        let deferred = waiting.len() as u64;
        waiting.into_iter().for_each(|arrival| drop_caught(arrival.into_event()));
        self.discarded.fetch_add(discarded + deferred, Ordering::SeqCst);
        // Nobody is told that nothing is left before all is counted and gone.
        self.bound.end_deferred(deferred);
        self.bound.finish_elsewhere(discarded + u64::from(unused));
        self.tell_everybody();
    }
}
