//! What a run is about: events, what is done with each, and the check of their order.

use crate::work::work;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// An event: the `number`-th of its key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    pub(crate) key: u32,
    pub(crate) number: u32,
}

impl Event {
    /// Events with these keys, of which there are `keys`.
    pub(crate) fn numbered(keys: usize, sequence: impl Iterator<Item = u32>) -> Arc<[Self]> {
        let mut numbers = vec![0; keys];
        let numbered = sequence.map(|key| {
            let next = &mut numbers[key as usize];
            *next += 1;
            Self { key, number: *next - 1 }
        });
        numbered.collect()
    }
}

/// Events, and what their handler needs: made anew for every run.
pub(crate) struct Case {
    events: Arc<[Event]>,
    count: usize,
    turns: u64,
    next: Vec<AtomicU32>,
    wrong: AtomicU64,
}

impl Case {
    /// The first `count` of `events`, for whose `keys` so many turns of work are done each.
    pub(crate) fn new(events: Arc<[Event]>, count: usize, keys: usize, turns: u64) -> Self {
        let next = (0..keys).map(|_| AtomicU32::new(0)).collect();
        Self { events, count, turns, next, wrong: AtomicU64::new(0) }
    }

    pub(crate) fn events(&self) -> &[Event] {
        &self.events[..self.count]
    }

    pub(crate) fn keys(&self) -> usize {
        self.next.len()
    }

    /// Handles an event: the work, and the check.
    #[inline(never)]
    pub(crate) fn handle(&self, event: Event) {
        let next = &self.next[event.key as usize];
        if next.load(Ordering::Relaxed) != event.number {
            self.wrong.fetch_add(1, Ordering::Relaxed);
        }
        work(self.turns);
        next.store(event.number + 1, Ordering::Relaxed);
    }

    /// How often an event was not the next of its key, or was left out.
    pub(crate) fn violations(&self) -> u64 {
        let handled: u64 = self.next.iter().map(|next| u64::from(next.load(Ordering::Relaxed))).sum();
        self.wrong.load(Ordering::Relaxed) + (self.count as u64).abs_diff(handled)
    }
}
