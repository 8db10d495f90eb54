//! Dropping what is left in a dispatcher that was aborted.

use crate::admit::Arrival;
use crate::caught::drop_caught;
use crate::entry::Work;
use crate::shared::Shared;

impl<K, E> Shared<K, E> {
    /// Drops all that waits, whatever its drop does; how many events that were. Only when no worker runs any more.
    pub(crate) fn discard(&self) -> u64 {
        let mut discarded = 0;
        for strand in &self.strands {
            for entry in strand.clear() {
                // All parts of an event hold it, and one of them counts.
                let is_event = if let Work::Part(joint) = &entry.work {
                    joint.take().map(drop_caught).is_some()
                } else {
                    true
                };
                discarded += u64::from(is_event);
                drop_caught(entry);
            }
            let freshest = strand.back().keyed.clear();
            freshest.into_iter().for_each(drop_caught);
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
        self.bound.end_deferred(waiting.len() as u64);
        self.bound.finish_elsewhere(discarded);
        discarded += waiting.len() as u64;
        waiting.into_iter().for_each(drop_caught);
        discarded
    }
}
