//! What a run counted, as sums, so that what its warm-up counted can be taken off.

use super::measured::Measured;
use warmcore_sim::cluster::Outcome;
use warmcore_sim::cluster::tally::{Breakdown, Count, DeviceTally};

/// Sums over the processors and devices of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Totals {
    /// Cycles of all compute processors until each left the program.
    lifetime: u64,
    /// Those in which they computed, with what caches and memory of their node took.
    busy: u64,
    references: u64,
    remote_misses: u64,
    interrupts: u64,
    messages: u64,
    handlers: u64,
    /// Cycles that events waited for a protocol thread.
    waited: u64,
    /// Handlers on the first node.
    first: Count,
    state_misses: Count,
}

impl Totals {
    /// What `outcome` counted.
    #[must_use]
    pub fn new(outcome: &Outcome) -> Self {
        let of_processors = |of: fn(&Breakdown) -> u64| outcome.processors.iter().map(of).sum::<u64>();
        let devices = || outcome.nodes.iter().map(|node| &node.device);
        let handlers =
            |device: &DeviceTally| sum(device.handlers.values().chain([&device.exchanges]).copied());
        Self {
            lifetime: of_processors(|one| one.end),
            busy: of_processors(Breakdown::computing) + of_processors(|one| one.cache_misses.cycles),
            references: outcome.references(),
            remote_misses: of_processors(|one| one.remote_misses.times),
            interrupts: of_processors(|one| one.interrupts.times),
            messages: outcome.network.messages.values().sum(),
            handlers: devices().map(|device| handlers(device).times).sum(),
            waited: devices().map(|device| device.waited).sum(),
            first: devices().next().map(handlers).unwrap_or_default(),
            state_misses: sum(devices().map(|device| device.state_misses)),
        }
    }

    /// What was counted since `earlier`.
    #[must_use]
    pub const fn since(&self, earlier: &Self) -> Self {
        Self {
            lifetime: self.lifetime.saturating_sub(earlier.lifetime),
            busy: self.busy.saturating_sub(earlier.busy),
            references: self.references.saturating_sub(earlier.references),
            remote_misses: self.remote_misses.saturating_sub(earlier.remote_misses),
            interrupts: self.interrupts.saturating_sub(earlier.interrupts),
            messages: self.messages.saturating_sub(earlier.messages),
            handlers: self.handlers.saturating_sub(earlier.handlers),
            waited: self.waited.saturating_sub(earlier.waited),
            first: less(self.first, earlier.first),
            state_misses: less(self.state_misses, earlier.state_misses),
        }
    }

    /// The figures of a run of `cycles` that counted this.
    #[must_use]
    pub fn measured(&self, cycles: u64) -> Measured {
        Measured {
            cycles,
            references: self.references,
            computing: 100.0 * ratio(self.busy, self.lifetime),
            round_trip: None,
            bandwidth: None,
            remote_misses: self.remote_misses,
            interrupts: self.interrupts,
            messages: self.messages,
            handlers: self.handlers,
            waited: ratio(self.waited, self.handlers),
            occupancy: ratio(self.first.cycles, self.first.times),
            state_miss: ratio(self.state_misses.cycles, self.state_misses.times),
        }
    }
}

fn sum(counts: impl IntoIterator<Item = Count>) -> Count {
    counts.into_iter().fold(Count::default(), |sum, one| Count {
        times: sum.times + one.times,
        cycles: sum.cycles + one.cycles,
    })
}

const fn less(all: Count, earlier: Count) -> Count {
    Count {
        times: all.times.saturating_sub(earlier.times),
        cycles: all.cycles.saturating_sub(earlier.cycles),
    }
}

/// `part / whole`; 0 if there is nothing.
fn ratio(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
}
