//! What threads did in all.

use warmcore_units::Nanos;

/// What threads did in all.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct ThreadTotals {
    /// How many threads these are.
    pub(super) threads: u64,
    pub(super) alive: Nanos,
    pub(super) ran: Nanos,
    pub(super) waited: Nanos,
    pub(super) delays: Delays,
    pub(super) dispatches: u64,
    pub(super) migrations: u64,
    pub(super) stops: u64,
    pub(super) uninterruptible: u64,
    pub(super) exits: u64,
    pub(super) wakes: u64,
    pub(super) by_interrupt: u64,
}

/// Scheduling delays: how long threads that were woken up, or are new, waited for a cpu.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Delays {
    /// How many there were.
    pub count: u64,
    /// Their sum.
    pub sum: Nanos,
    /// The longest.
    pub longest: Nanos,
}

impl Delays {
    pub(super) fn push(&mut self, delay: Nanos) {
        self.merge(&Self { count: 1, sum: delay, longest: delay });
    }

    fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.sum += other.sum;
        self.longest = Nanos(self.longest.0.max(other.longest.0));
    }

    /// Their mean; nothing if there are none.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "counts of events")]
    pub fn mean(&self) -> Nanos {
        Nanos(self.sum.0 / self.count.max(1) as f64)
    }
}

impl ThreadTotals {
    pub(super) fn merge(&mut self, other: &Self) {
        self.threads += other.threads;
        self.alive += other.alive;
        self.ran += other.ran;
        self.waited += other.waited;
        self.delays.merge(&other.delays);
        self.dispatches += other.dispatches;
        self.migrations += other.migrations;
        self.stops += other.stops;
        self.uninterruptible += other.uninterruptible;
        self.exits += other.exits;
        self.wakes += other.wakes;
        self.by_interrupt += other.by_interrupt;
    }
}
