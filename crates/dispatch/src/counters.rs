//! What is counted: by each worker for itself, and of every so many-th event by the clock.

use crate::sync::{AtomicU64, Clock, Ordering};
use core::ops::Range;

/// The clock is asked of one event in so many.
const SAMPLED: u64 = 64;
/// Doublings of a nanosecond that are told apart, the last one open.
const BUCKETS: usize = 40;

/// What a worker counts. Nobody else writes.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    events: AtomicU64,
    claims: AtomicU64,
    conflicts: AtomicU64,
    false_conflicts: AtomicU64,
    rebinds: AtomicU64,
    away: AtomicU64,
    panics: AtomicU64,
    poisoned: AtomicU64,
    /// By whoever sheds, or dispatches what is fresher.
    shed: AtomicU64,
    superseded: AtomicU64,
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

/// When the sampled ones of a queue's events came.
#[derive(Debug)]
pub(crate) struct Sample(Box<[AtomicU64]>);

impl Sample {
    pub(crate) fn new(capacity: usize) -> Self {
        Self((0..(capacity as u64).div_ceil(SAMPLED)).map(|_| AtomicU64::new(0)).collect())
    }

    fn slot(&self, position: u64) -> &AtomicU64 {
        &self.0[(position / SAMPLED) as usize % self.0.len()]
    }

    /// Whether the event at `position` is one of those.
    #[inline]
    pub(crate) fn takes(position: u64) -> bool {
        position.is_multiple_of(SAMPLED)
    }

    /// An event came, and stands at `position`.
    #[inline]
    pub(crate) fn came(&self, position: u64, clock: &Clock) {
        if Self::takes(position) {
            self.note(position, clock);
        }
    }

    /// Events came, and stand at `positions`.
    #[inline]
    pub(crate) fn came_together(&self, positions: Range<u64>, clock: &Clock) {
        let first = positions.start.next_multiple_of(SAMPLED);
        (first..positions.end).step_by(SAMPLED as usize).for_each(|position| self.note(position, clock));
    }

    #[cold]
    fn note(&self, position: u64, clock: &Clock) {
        self.slot(position).store(clock.raw(), Ordering::Relaxed);
    }

    /// When the event at `position` came, if that is known already.
    pub(crate) fn when(&self, position: u64) -> u64 {
        self.slot(position).load(Ordering::Relaxed)
    }
}

/// What has happened since a dispatcher was built.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Metrics {
    /// Events that were handled, those whose handler panicked among them.
    pub events: u64,
    /// Times that a worker took events from a queue: one or several at once.
    pub claims: u64,
    /// Times that a search passed over an event because its key was in use.
    pub conflicts: u64,
    /// Those of them that other [bits](crate::Builder::partition_bits) of the key would have avoided.
    pub false_conflicts: u64,
    /// Times that a worker turned to a queue that another had served last.
    pub rebinds: u64,
    /// Events handled elsewhere than at the home of their queue.
    pub away: u64,
    /// Events whose handler panicked.
    pub panics: u64,
    /// Events that were not handled because their key was poisoned.
    pub poisoned: u64,
    /// Events that were dropped for want of room, or because the dispatcher was closed meanwhile.
    pub shed: u64,
    /// Events that were not handled because a [fresher](crate::Handle::dispatch_freshest) one came.
    pub superseded: u64,
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

/// What a worker reports at the end of a claim.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Claimed {
    pub(crate) events: u64,
    pub(crate) conflicts: u32,
    pub(crate) false_conflicts: u32,
    pub(crate) away: bool,
    pub(crate) rebound: bool,
}

impl Counters {
    #[inline]
    pub(crate) fn claimed(&self, claimed: Claimed) {
        add(&self.events, claimed.events);
        add(&self.claims, u64::from(claimed.events > 0));
        add(&self.conflicts, claimed.conflicts.into());
        add(&self.false_conflicts, claimed.false_conflicts.into());
        add(&self.rebinds, claimed.rebound.into());
        add(&self.away, if claimed.away { claimed.events } else { 0 });
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

    /// A sampled event waited and was handled for so many nanoseconds.
    pub(crate) fn timed(&self, wait: u64, service: u64) {
        self.waits.push(wait);
        self.services.push(service);
    }

    pub(crate) fn add_to(&self, metrics: &mut Metrics) {
        let get = |count: &AtomicU64| count.load(Ordering::Relaxed);
        metrics.events += get(&self.events);
        metrics.claims += get(&self.claims);
        metrics.conflicts += get(&self.conflicts);
        metrics.false_conflicts += get(&self.false_conflicts);
        metrics.rebinds += get(&self.rebinds);
        metrics.away += get(&self.away);
        metrics.panics += get(&self.panics);
        metrics.poisoned += get(&self.poisoned);
        metrics.shed += get(&self.shed);
        metrics.superseded += get(&self.superseded);
        self.waits.add_to(&mut metrics.waits);
        self.services.add_to(&mut metrics.services);
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

#[cfg(all(test, not(any(loom, miri, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn the_sampled_among_events_that_come_together_are_noted() {
        let (sample, clock) = (Sample::new(256), Clock::new());
        let noted = || [0, 64, 128, 192].map(|position| sample.when(position) != 0);
        sample.came_together(1..64, &clock);
        assert_eq!(noted(), [false; 4]);
        sample.came_together(64..129, &clock);
        assert_eq!(noted(), [false, true, true, false]);
        sample.came_together(250..257, &clock);
        assert_eq!(noted(), [true, true, true, false], "the place of 256 is that of 0");
    }
}
