//! What is counted: by each worker for itself, and of a sample of the events by the clock.

use crate::sync::{AtomicU64, Ordering};

/// Doublings of a nanosecond that are told apart, the last one open.
const BUCKETS: usize = 40;

/// What a worker counts. Nobody else writes.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    events: AtomicU64,
    turns: AtomicU64,
    away: AtomicU64,
    panics: AtomicU64,
    poisoned: AtomicU64,
    /// By whoever sheds, or dispatches what is fresher.
    shed: AtomicU64,
    superseded: AtomicU64,
    cancelled: AtomicU64,
    waits: Histogram,
    services: Histogram,
}

#[derive(Debug)]
struct Histogram([AtomicU64; BUCKETS]);

impl Default for Histogram {
    fn default() -> Self {
        Self(core::array::from_fn(|_| AtomicU64::new(0)))
    }
}

/// What has happened since a dispatcher was built.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Stats {
    /// Events that came to their turn: those whose handler panicked, whose key was poisoned, or whose future has begun
    /// among them.
    pub events: u64,
    /// Times that a worker attended a strand and handled something.
    pub turns: u64,
    /// Events handled by another worker than the one at home at their strand.
    pub away: u64,
    /// Events whose handler panicked.
    pub panics: u64,
    /// Events that were not handled because their key was poisoned.
    pub poisoned: u64,
    /// Events that were dropped for want of room, or because the dispatcher was closed meanwhile.
    pub shed: u64,
    /// Events that were not handled because a [fresher](crate::Handle::dispatch_freshest) one came.
    pub superseded: u64,
    /// Events that were dropped because the dispatcher was aborted.
    pub discarded: u64,
    /// Events whose future was dropped before it had ended.
    pub cancelled: u64,
    /// Events that are in, those that run among them.
    pub depth: u64,
    /// How long events waited, by a sample.
    pub waits: Times,
    /// How long their handlers took, by the same sample.
    pub services: Times,
}

/// Counts of times, in buckets that double.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Times {
    /// `counts[i]`: times of at least 2^i nanoseconds (0 for the first), and below 2^(i + 1).
    pub counts: Vec<u64>,
}

impl Times {
    /// How many.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// An upper bound, in nanoseconds, of the time that a fraction `p` does not exceed: less than twice
    /// too high. `None` if there are no times.
    #[must_use]
    pub fn quantile(&self, p: f64) -> Option<u64> {
        let wanted = (p.clamp(0.0, 1.0) * self.count() as f64).ceil().max(1.0);
        let mut below = 0;
        let bucket = self.counts.iter().position(|&count| {
            below += count;
            below as f64 >= wanted
        })?;
        Some(2 << bucket)
    }
}

impl Counters {
    /// An event has begun that no worker will count as [finished](crate::bound::Bound::finish).
    pub(crate) fn began(&self) {
        add(&self.events, 1);
    }

    /// A turn at a strand has ended, in which so many events were handled or started; `away` from its home.
    #[inline]
    pub(crate) fn attended(&self, events: u64, away: bool) {
        add(&self.away, if away { events } else { 0 });
        add(&self.turns, u64::from(events > 0));
    }

    pub(crate) fn panicked(&self) {
        add(&self.panics, 1);
    }

    pub(crate) fn skipped_poisoned(&self) {
        add(&self.poisoned, 1);
    }

    pub(crate) fn shed(&self) {
        self.shed.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn superseded(&self) {
        self.superseded.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn cancelled(&self) {
        add(&self.cancelled, 1);
    }

    /// A sampled event waited and was handled for so many nanoseconds.
    pub(crate) fn timed(&self, wait: u64, service: u64) {
        self.waits.push(wait);
        self.services.push(service);
    }

    pub(crate) fn add_to(&self, stats: &mut Stats) {
        let get = |count: &AtomicU64| count.load(Ordering::Relaxed);
        stats.events += get(&self.events);
        stats.turns += get(&self.turns);
        stats.away += get(&self.away);
        stats.panics += get(&self.panics);
        stats.poisoned += get(&self.poisoned);
        stats.shed += get(&self.shed);
        stats.superseded += get(&self.superseded);
        stats.cancelled += get(&self.cancelled);
        self.waits.add_to(&mut stats.waits);
        self.services.add_to(&mut stats.services);
    }
}

impl Histogram {
    fn push(&self, nanos: u64) {
        add(&self.0[(nanos.max(1).ilog2() as usize).min(BUCKETS - 1)], 1);
    }

    fn add_to(&self, times: &mut Times) {
        times.counts.resize(BUCKETS, 0);
        for (sum, count) in times.counts.iter_mut().zip(&self.0) {
            *sum += count.load(Ordering::Relaxed);
        }
    }
}

/// Adds to a counter that nobody else writes.
#[inline]
fn add(counter: &AtomicU64, more: u64) {
    if more > 0 {
        counter.store(counter.load(Ordering::Relaxed) + more, Ordering::Relaxed);
    }
}
