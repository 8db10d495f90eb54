//! What the scheduler counts, summed over cpus.

use crate::skeleton::types::cpu_state;
use std::fmt;
use std::ops::Sub;

/// Counts since the scheduler was loaded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Counts {
    searches: u64,
    kept: u64,
    dispatches: u64,
    migrations: u64,
    yields: u64,
    preemptions: u64,
    ticks: u64,
    longest_wait_ns: u64,
}

impl Counts {
    /// Sums what the cpus counted.
    pub(crate) fn sum(cpus: &[cpu_state]) -> Self {
        cpus.iter().fold(Self::default(), |sum, cpu| Self {
            searches: sum.searches + cpu.searches,
            kept: sum.kept + cpu.kept,
            dispatches: sum.dispatches + cpu.dispatches,
            migrations: sum.migrations + cpu.migrations,
            yields: sum.yields + cpu.yields,
            preemptions: sum.preemptions + cpu.preemptions,
            ticks: sum.ticks + cpu.ticks,
            longest_wait_ns: sum.longest_wait_ns.max(cpu.longest_wait_ns),
        })
    }
}

impl Sub for Counts {
    type Output = Self;

    /// What was counted since `earlier`. The longest wait is that since the scheduler was loaded.
    fn sub(self, earlier: Self) -> Self {
        Self {
            searches: self.searches - earlier.searches,
            kept: self.kept - earlier.kept,
            dispatches: self.dispatches - earlier.dispatches,
            migrations: self.migrations - earlier.migrations,
            yields: self.yields - earlier.yields,
            preemptions: self.preemptions - earlier.preemptions,
            ticks: self.ticks - earlier.ticks,
            longest_wait_ns: self.longest_wait_ns,
        }
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { searches, kept, dispatches, migrations, yields, preemptions, ticks, longest_wait_ns } =
            self;
        write!(f, "{searches} searches, {kept} went on, {dispatches} dispatches, {migrations} migrations, ")?;
        #[expect(clippy::cast_precision_loss, reason = "printed to a microsecond")]
        let wait = *longest_wait_ns as f64 / 1e6;
        write!(f, "{yields} yields, {preemptions} preemptions, {ticks} ticks, longest wait {wait:.3} ms")
    }
}
