//! When workers were kept from running: the last such time, as all of them know it.
//!
//! A machine takes a processor away now and then, for a hypervisor's sake or an interrupt's. A
//! packet that was there then, or that came while what had piled up was worked off, tells of the
//! machine and not of scheduling. Once nothing is left of what had piled up, the system is as if
//! nothing had happened; that it is empty shows that, and until then the stall goes on having
//! effects.

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use warmcore_units::Nanos;

/// A stall is taken to be over after so many times its length even if the system was never empty
/// since: where it never is, delays tell nothing anyway.
const RECOVERY: f64 = 20.0;

/// The last disturbed time: from the beginning of a stall until its effects are over.
#[derive(Debug)]
pub(crate) struct LastStall {
    from: AtomicU64,
    /// When its effects are over, at the latest while it is [open](Self::is_open).
    until: AtomicU64,
    open: AtomicBool,
}

impl LastStall {
    pub(crate) fn none() -> Self {
        let never = || AtomicU64::new(f64::NEG_INFINITY.to_bits());
        Self { from: never(), until: never(), open: AtomicBool::new(false) }
    }

    /// A worker did not run from `from` to `until`. Two that say so at once may leave the shorter
    /// time of the two; both are far longer than what they are told apart from.
    #[cold]
    pub(crate) fn mark(&self, from: Nanos, until: Nanos) {
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

    /// Whether it would change anything to know that the system is empty.
    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        self.open.load(Ordering::Relaxed)
    }

    /// The system was empty at `now`.
    #[cold]
    pub(crate) fn recovered(&self, now: Nanos) {
        self.open.store(false, Ordering::Relaxed);
        if now < self.until() {
            self.until.store(now.0.to_bits(), Ordering::Relaxed);
        }
    }

    /// Whether a packet that arrived and was finished at these times met it.
    #[inline]
    pub(crate) fn met(&self, arrived: Nanos, finished: Nanos) -> bool {
        arrived <= self.until() && finished >= self.from()
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
    fn packets_meet_a_stall_until_the_system_was_empty() {
        let stalls = LastStall::none();
        assert!(!stalls.met(Nanos(0.0), Nanos(1e9)) && !stalls.is_open());
        stalls.mark(Nanos(100.0), Nanos(110.0));
        let met = |arrived: f64, finished: f64| stalls.met(Nanos(arrived), Nanos(finished));
        assert!(met(90.0, 115.0) && met(105.0, 112.0) && met(300.0, 305.0) && stalls.is_open());
        assert!(!met(90.0, 95.0));
        stalls.recovered(Nanos(170.0));
        assert!(met(165.0, 180.0) && !met(175.0, 180.0) && !stalls.is_open());
        // One that begins before it is over makes it longer.
        stalls.mark(Nanos(160.0), Nanos(172.0));
        assert!(met(95.0, 101.0) && met(200.0, 210.0));
        stalls.recovered(Nanos(200.0));
        stalls.mark(Nanos(1000.0), Nanos(1010.0));
        assert!(!met(205.0, 210.0) && met(990.0, 1005.0));
    }

    #[test]
    fn where_the_system_is_never_empty_a_stall_is_over_in_the_end() {
        let stalls = LastStall::none();
        stalls.mark(Nanos(100.0), Nanos(110.0));
        assert!(stalls.met(Nanos(300.0), Nanos(310.0)) && !stalls.met(Nanos(311.0), Nanos(320.0)));
    }
}
