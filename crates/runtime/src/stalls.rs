//! The last time a worker was kept from running, shared by all workers.
//!
//! Now and then a hypervisor or an interrupt takes a processor away. The delay of a packet that was
//! there then, or that came while the backlog was processed, says something about the machine and not
//! about scheduling. The effects of a stall end when the system is empty.

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use warmcore_units::Nanos;

/// A stall ends after this many times its length even if the system was never empty since. If it never
/// is, the delays say nothing anyway.
const RECOVERY: f64 = 20.0;

/// The last stall, from its beginning until its effects end.
#[derive(Debug)]
pub(crate) struct LastStall {
    from: AtomicU64,
    /// When its effects end; while it is [open](Self::is_open), they may end earlier.
    until: AtomicU64,
    open: AtomicBool,
}

/// A stall.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stall {
    from: Nanos,
    until: Nanos,
}

impl Stall {
    /// Whether it affects a packet that arrived and finished at these times.
    #[inline]
    pub(crate) fn affects(self, arrived: Nanos, finished: Nanos) -> bool {
        arrived <= self.until && finished >= self.from
    }
}

impl LastStall {
    /// No stall so far.
    pub(crate) fn new() -> Self {
        let never = || AtomicU64::new(f64::NEG_INFINITY.to_bits());
        Self { from: never(), until: never(), open: AtomicBool::new(false) }
    }

    /// Records that a worker did not run from `from` to `until`. If two workers record a stall at once,
    /// the shorter one may remain. Both are far longer than the intervals that do not count as stalls.
    #[cold]
    pub(crate) fn record(&self, from: Nanos, until: Nanos) {
        let (before, over) = (self.from(), self.until());
        let recovered = until + (until - from) * RECOVERY;
        if from > over || from < before {
            self.from.store(from.0.to_bits(), Ordering::Relaxed);
        }
        if recovered > over {
            self.until.store(recovered.0.to_bits(), Ordering::Relaxed);
        }
        self.open.store(true, Ordering::Relaxed);
    }

    /// Whether the effects of the stall end once the system is empty.
    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        self.open.load(Ordering::Relaxed)
    }

    /// Ends the effects of the stall: the system was empty at `now`.
    #[cold]
    pub(crate) fn recovered(&self, now: Nanos) {
        self.open.store(false, Ordering::Relaxed);
        if now < self.until() {
            self.until.store(now.0.to_bits(), Ordering::Relaxed);
        }
    }

    /// When the last stall began, and when its effects end as far as is known.
    #[inline]
    pub(crate) fn last(&self) -> Stall {
        Stall { from: self.from(), until: self.until() }
    }

    #[inline]
    fn from(&self) -> Nanos {
        Nanos(f64::from_bits(self.from.load(Ordering::Relaxed)))
    }

    #[inline]
    fn until(&self) -> Nanos {
        Nanos(f64::from_bits(self.until.load(Ordering::Relaxed)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stall_affects_packets_until_the_system_is_empty() {
        let stalls = LastStall::new();
        assert!(!stalls.last().affects(Nanos(0.0), Nanos(1e9)) && !stalls.is_open());
        stalls.record(Nanos(100.0), Nanos(110.0));
        let affects = |arrived: f64, finished: f64| stalls.last().affects(Nanos(arrived), Nanos(finished));
        assert!(affects(90.0, 115.0) && affects(105.0, 112.0) && affects(300.0, 305.0) && stalls.is_open());
        assert!(!affects(90.0, 95.0));
        stalls.recovered(Nanos(170.0));
        assert!(affects(165.0, 180.0) && !affects(175.0, 180.0) && !stalls.is_open());
        // A stall that begins before the last one is over extends it.
        stalls.record(Nanos(160.0), Nanos(172.0));
        assert!(affects(95.0, 101.0) && affects(200.0, 210.0));
        stalls.recovered(Nanos(200.0));
        stalls.record(Nanos(1000.0), Nanos(1010.0));
        assert!(!affects(205.0, 210.0) && affects(990.0, 1005.0));
    }

    #[test]
    fn a_stall_ends_even_if_the_system_is_never_empty() {
        let stalls = LastStall::new();
        stalls.record(Nanos(100.0), Nanos(110.0));
        assert!(
            stalls.last().affects(Nanos(300.0), Nanos(310.0))
                && !stalls.last().affects(Nanos(311.0), Nanos(320.0))
        );
    }
}
