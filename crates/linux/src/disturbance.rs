//! Detects whether a measurement was disturbed, by comparing a snapshot before with one after.
//!
//! ```
//! use warmcore_linux::Snapshot;
//! let before = Snapshot::now();
//! let _work = (0..1000_u64).sum::<u64>();
//! let disturbance = Snapshot::now().since(&before);
//! if !disturbance.is_none() {
//!     println!("discard this run: {disturbance}");
//! }
//! ```

use crate::affinity::current_cpu;
use crate::usage::ThreadUsage;
use core::fmt;
use core::iter::Sum;
use core::ops::{Add, AddAssign};
use warmcore_units::CpuId;

/// The cpu and the kernel's counters of this thread at one moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Snapshot {
    cpu: CpuId,
    usage: ThreadUsage,
}

impl Snapshot {
    /// Takes a snapshot of this thread.
    #[must_use]
    pub fn now() -> Self {
        Self { cpu: current_cpu(), usage: ThreadUsage::now() }
    }

    /// The cpu the thread was on.
    #[must_use]
    pub const fn cpu(&self) -> CpuId {
        self.cpu
    }

    /// Returns what happened since `earlier`, a snapshot of the same thread.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Disturbance {
        let (now, then) = (self.usage, earlier.usage);
        Disturbance {
            preemptions: now.involuntary_switches.saturating_sub(then.involuntary_switches),
            waits: now.voluntary_switches.saturating_sub(then.voluntary_switches),
            migrations: u64::from(self.cpu != earlier.cpu),
            page_faults: now.page_faults.saturating_sub(then.page_faults),
        }
    }
}

/// What happened to a thread between two snapshots. Disturbances can be added.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Disturbance {
    /// How often the kernel took the processor away (involuntary context switches).
    pub preemptions: u64,
    /// How often the thread gave up the processor to wait for something (voluntary context switches).
    /// Not counted as a disturbance: an experiment may wait on purpose.
    pub waits: u64,
    /// How often the thread ended on a different cpu than it started on. A thread that left and came
    /// back between two snapshots shows up only in `preemptions` or `waits`; a pinned one cannot
    /// leave.
    pub migrations: u64,
    /// How often a page had to be loaded or mapped.
    pub page_faults: u64,
}

impl Disturbance {
    /// Whether there was no preemption, migration or page fault. Waits are not counted.
    #[must_use]
    pub const fn is_none(&self) -> bool {
        self.preemptions == 0 && self.migrations == 0 && self.page_faults == 0
    }
}

impl Add for Disturbance {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            preemptions: self.preemptions + other.preemptions,
            waits: self.waits + other.waits,
            migrations: self.migrations + other.migrations,
            page_faults: self.page_faults + other.page_faults,
        }
    }
}

impl AddAssign for Disturbance {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for Disturbance {
    fn sum<I: Iterator<Item = Self>>(disturbances: I) -> Self {
        disturbances.fold(Self::default(), Add::add)
    }
}

impl fmt::Display for Disturbance {
    /// `2 preemptions, 1 migration, 0 page faults`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = |count: u64| if count == 1 { "" } else { "s" };
        let Self { preemptions, migrations, page_faults, .. } = *self;
        write!(f, "{preemptions} preemption{}, ", plural(preemptions))?;
        write!(f, "{migrations} migration{}, ", plural(migrations))?;
        write!(f, "{page_faults} page fault{}", plural(page_faults))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Pages, Region, affinity, pin_to};
    use std::time::Duration;
    use warmcore_units::Bytes;

    #[test]
    fn a_thread_that_is_moved_has_migrated() {
        let cpus: Vec<CpuId> = affinity::mask().unwrap().iter().collect();
        let [first, .., last] = cpus[..] else {
            println!("skipped: one cpu only, nowhere to migrate to");
            return;
        };
        let home = pin_to(first).unwrap();
        let before = Snapshot::now();
        let away = pin_to(last).unwrap();
        let disturbance = Snapshot::now().since(&before);
        assert_eq!((before.cpu(), disturbance.migrations), (first, 1));
        assert!(!disturbance.is_none());
        drop(away);
        assert_eq!(Snapshot::now().since(&before).migrations, 0, "it is back");
        drop(home);
    }

    #[test]
    fn a_thread_that_sleeps_has_waited() {
        let before = Snapshot::now();
        std::thread::sleep(Duration::from_millis(1));
        assert!(Snapshot::now().since(&before).waits >= 1);
    }

    #[test]
    fn memory_touched_for_the_first_time_faults() {
        let before = Snapshot::now();
        let region = Region::new(Bytes::kib(64), Pages::Small).unwrap();
        let faults = Snapshot::now().since(&before).page_faults;
        assert!(faults >= 1, "{} bytes came in with {faults} faults", region.len());
    }

    #[test]
    fn disturbances_add_up() {
        let one = Disturbance { preemptions: 1, waits: 2, migrations: 0, page_faults: 3 };
        let sum: Disturbance = [one, one, Disturbance::default()].into_iter().sum();
        assert_eq!(sum.to_string(), "2 preemptions, 0 migrations, 6 page faults");
        assert_eq!(sum.waits, 4);
        assert!(Disturbance { waits: 9, ..Disturbance::default() }.is_none());
    }
}
