//! The longest delay that the shadow simulation counts.

use super::service_times::ServiceTimes;
use warmcore_units::Nanos;

/// The longest delay that is counted. A strategy whose queues only grow is bad enough with this delay,
/// and must not have to work off more when the load falls.
#[derive(Clone, Copy, Debug)]
pub(super) struct DelayCap(Nanos);

impl DelayCap {
    /// The cap in units of the shortest service time.
    const PACKETS: u32 = 500;

    pub(super) fn from_service_times(times: &ServiceTimes) -> Self {
        Self(times.hottest() * f64::from(Self::PACKETS))
    }

    /// How many packets may wait for `processors` processors: the last of them waits for about the cap.
    pub(super) fn max_waiting(processors: u32) -> u32 {
        processors.saturating_mul(Self::PACKETS)
    }

    /// `delay`, at most the cap.
    #[inline]
    pub(super) fn cap_delay(self, delay: Nanos) -> Nanos {
        Nanos(delay.0.min(self.0.0))
    }

    /// The finish time `end`, at most the cap after `now`.
    #[inline]
    pub(super) fn cap_end(self, now: Nanos, end: Nanos) -> Nanos {
        Nanos(end.0.min(now.0 + self.0.0))
    }
}
