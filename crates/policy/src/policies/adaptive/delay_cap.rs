//! How long packets are followed in a shadow.

use super::costs::Costs;
use warmcore_units::Nanos;

/// The longest delay that is followed: a choice under which lines only grow is bad enough with
/// this one, and must not have to work off more when the load falls.
#[derive(Clone, Copy, Debug)]
pub(super) struct DelayCap(Nanos);

impl DelayCap {
    /// Of the hottest packets, how many such a delay takes.
    const PACKETS: u32 = 500;

    pub(super) fn from_costs(costs: &Costs) -> Self {
        Self(costs.hottest() * f64::from(Self::PACKETS))
    }

    /// Packets of whom more need not wait on `processors` processors: the last of so many does for
    /// about so long.
    pub(super) fn max_waiting(processors: u32) -> u32 {
        processors.saturating_mul(Self::PACKETS)
    }

    /// `delay`, or as much of it as is followed.
    #[inline]
    pub(super) fn cap_delay(self, delay: Nanos) -> Nanos {
        Nanos(delay.0.min(self.0.0))
    }

    /// `end`, or as late as is followed at `now`.
    #[inline]
    pub(super) fn cap_end(self, now: Nanos, end: Nanos) -> Nanos {
        Nanos(end.0.min(now.0 + self.0.0))
    }
}
