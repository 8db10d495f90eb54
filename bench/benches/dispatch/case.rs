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

/// Counts in a cache line.
const LINE: usize = 64 / size_of::<AtomicU32>();
/// Keys that have a cache line each for their count, as what handlers keep for a key has: else those who
/// handle different keys would write to the same lines. More would not fit into caches any more, and share
/// lines; two keys of a line are rarely handled at once then.
const KEYS_WITH_LINES: usize = 1_024;

/// Events, and what their handler needs: made anew for every run.
pub(crate) struct Case {
    events: Arc<[Event]>,
    count: usize,
    keys: usize,
    turns: u64,
    /// How many events of each key were handled, every `step`-th.
    handled: Vec<AtomicU32>,
    step: usize,
    wrong: AtomicU64,
}

impl Case {
    /// The first `count` of `events`, for whose `keys` so many turns of work are done each.
    pub(crate) fn new(events: Arc<[Event]>, count: usize, keys: usize, turns: u64) -> Self {
        let step = if keys <= KEYS_WITH_LINES { LINE } else { 1 };
        let handled = (0..keys * step).map(|_| AtomicU32::new(0)).collect();
        Self { events, count, keys, turns, handled, step, wrong: AtomicU64::new(0) }
    }

    pub(crate) fn events(&self) -> &[Event] {
        &self.events[..self.count]
    }

    pub(crate) fn keys(&self) -> usize {
        self.keys
    }

    /// Handles an event: the work, and the check.
    #[inline(never)]
    pub(crate) fn handle(&self, event: Event) {
        let handled = self.handled(event);
        if handled.load(Ordering::Relaxed) != event.number {
            self.wrong.fetch_add(1, Ordering::Relaxed);
        }
        work(self.turns);
        handled.store(event.number + 1, Ordering::Relaxed);
    }

    /// What an event's handler reads and writes: how many of its key were handled.
    #[inline]
    pub(crate) fn handled(&self, event: Event) -> &AtomicU32 {
        &self.handled[event.key as usize * self.step]
    }

    /// How often an event was not the next of its key, or was left out.
    pub(crate) fn violations(&self) -> u64 {
        let handled: u64 =
            self.handled.iter().map(|handled| u64::from(handled.load(Ordering::Relaxed))).sum();
        self.wrong.load(Ordering::Relaxed) + (self.count as u64).abs_diff(handled)
    }
}
