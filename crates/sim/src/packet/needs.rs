//! How many packets runs need: traffic and queues must have forgotten how they began many times before figures have an error
//! that is known.

use crate::packet::capacity::wanted;
use crate::packet::host::Shape;
use warmcore_scenario::{Mixing, PacketScenario};
use warmcore_units::PerSecond;

/// The run that measures the capacity takes this many times the packets after which the traffic has forgotten
/// its start.
const FORGOTTEN: f64 = 200.0;
/// A run gives an interval only after this many times those packets, divided by the square of the share of
/// the capacity that is left: queues remember bursts for longer than arrivals do, by about that square. With
/// phases that overload a host at times (its capacity is 78,000 packets a second; 60,000 arrive, modulated
/// with a ratio of 10, of 5 and 0.5 ms), 267 of 300 intervals held for runs of 900 such times, and 192 of 200
/// for 2,000; at a load of 0.85, 177 of 200 for 2,700.
const FORGOTTEN_BY_QUEUES: f64 = 125.0;
/// Near the capacity a run is long from this many packets on, divided by the square of the share that is left.
const LONG: f64 = 500.0;
/// The share of the capacity that is left is taken to be at least this. Nearer to the capacity delays have no
/// intervals anyway.
const LEAST_LEFT: f64 = 0.1;
/// Packets processed to find the capacity, at most, unless the host itself needs more. If the traffic needs
/// more, as it does when a few streams send all of it, the error of the capacity is unknown.
const CAPACITY_PACKETS: u64 = 1_000_000;

/// Whether a run of so many `packets` is long for what queues remember at this `load`, so that near the capacity too its spread shows
/// how far its mean is off. That is decided by its length alone: a run that merely seems precise had shorter queues than usual. Of
/// 400 runs of 40,000 packets at 0.96 of the capacity, 12 seemed to be within 5%; 2 of these held the mean.
#[must_use]
pub fn outlasts_queues(packets: u64, load: f64) -> bool {
    packets as f64 * (1.0 - load).powi(2) >= LONG
}

/// Whether a run of so many `packets` is long enough at this `load` that how it began hardly changes its mean. The spread of several
/// such runs then shows how far their mean is off.
pub(super) fn forgets_start(packets: u64, load: f64) -> bool {
    packets as f64 * (1.0 - load).powi(2) >= FORGOTTEN_BY_QUEUES
}

/// What the runs of a host under the traffic of a scenario need.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RunNeeds {
    shape: Shape,
    traffic: Mixing,
    /// Of the service times.
    is_heavy_tailed: bool,
    has_variance: bool,
}

impl RunNeeds {
    /// The needs of a host of this shape under the traffic of `scenario` at `rate`.
    #[must_use]
    pub fn new(shape: Shape, scenario: &PacketScenario, rate: PerSecond) -> Self {
        let service = &scenario.service.distribution;
        Self {
            shape,
            traffic: scenario.traffic.mixing(rate),
            is_heavy_tailed: service.is_heavy_tailed(),
            has_variance: service.squared_variation().is_finite(),
        }
    }

    /// How soon arrivals and service times become independent of the start.
    #[must_use]
    pub fn mixing(&self) -> Mixing {
        if self.is_heavy_tailed { Mixing::Slowly } else { self.traffic }
    }

    /// Packets before which a run at this `load`, a fraction of the capacity, is too short for an interval.
    #[must_use]
    pub fn settled(&self, load: f64) -> u64 {
        self.after(FORGOTTEN.max(FORGOTTEN_BY_QUEUES / (1.0 - load).clamp(LEAST_LEFT, 1.0).powi(2)))
    }

    /// Whether service times have a variance. Without one no mean of theirs has an interval.
    #[must_use]
    pub fn has_variance(&self) -> bool {
        self.has_variance
    }

    /// Packets to process to find the capacity, and whether its error is known then.
    #[must_use]
    pub fn capacity(&self) -> (u64, bool) {
        let most = CAPACITY_PACKETS.max(wanted(self.shape));
        let wanted = wanted(self.shape).max(self.after(FORGOTTEN));
        let is_known = wanted <= most && self.has_variance && self.traffic != Mixing::Slowly;
        (wanted.min(most), is_known)
    }

    /// This many `times` the packets after which the traffic forgets its start, but enough for the host to
    /// settle.
    fn after(&self, times: f64) -> u64 {
        let forgotten = match self.mixing() {
            Mixing::After(packets) => (packets * times) as u64,
            Mixing::Never | Mixing::Slowly => 0,
        };
        forgotten.max(self.shape.settled())
    }
}
