//! The highest rate at which a system keeps up. It is measured as the rate at which packets leave when more
//! arrive than can be processed.

use crate::completions::NEVER;
use crate::packet::busiest::{BusiestServer, ServerKind};
use crate::packet::dispatch::{SystemTask, dispatch};
use crate::packet::features::ModelFeatures;
use crate::packet::feed::Feed;
use crate::packet::host::{Packet, Shape, SimulatedHost};
use crate::packet::outcome::{Ended, nanos};
use crate::packet::system::System;
use serde::{Deserialize, Serialize};
use warmcore_policy::Policy;
use warmcore_policy::dispatch::Waiting;
use warmcore_stats::batches::BatchMeans;
use warmcore_units::{Estimate, Nanos, PerSecond};
use warmcore_workload::Arrivals;

/// The highest rate of a host, and the cost of a packet at that rate.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Capacity {
    /// Packets per second.
    pub rate: Estimate<PerSecond>,
    /// Mean service time of a packet when every processor is busy.
    pub service: Estimate<Nanos>,
}

/// The highest rate of a host, and what sets it.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Bound {
    /// The highest rate that the host keeps up with.
    pub capacity: Capacity,
    /// What all processors together keep up with, none of them ever idle.
    pub all: Estimate<PerSecond>,
    /// The stack or wired processor that sets the rate; `None` if all processors together do.
    pub busiest: Option<BusiestServer>,
}

impl Bound {
    /// The bound of a host that processes packets at the rate of `all` if it is never idle, and whose busiest server is
    /// measured. While it may be as quick as all together, the capacity lies between what it certainly keeps up with and
    /// what all do.
    pub(super) fn with(all: Capacity, busiest: Option<BusiestServer>) -> Self {
        let Some(server) = busiest else { return Self { capacity: all, all: all.rate, busiest } };
        let [least, most] =
            [server.rate.mean.0 - server.rate.half(), server.rate.mean.0 + server.rate.half()];
        let most_of_all = all.rate.mean.0 + all.rate.half();
        if most < all.rate.mean.0 - all.rate.half() || !most.is_finite() {
            return Self { capacity: Capacity { rate: server.rate, ..all }, all: all.rate, busiest };
        }
        // A policy may do worse when more arrives than can be processed.
        let is_quicker = server.kind == ServerKind::Processor && least > most_of_all;
        let ends = [
            least.min(all.rate.mean.0 - all.rate.half()),
            if is_quicker { most } else { most.min(most_of_all) },
        ];
        let middle = f64::midpoint(ends[0], ends[1]);
        let rate = Estimate::new(PerSecond(middle), PerSecond(ends[1] - middle));
        Self { capacity: Capacity { rate, ..all }, all: all.rate, busiest: None }
    }
}

/// From this fraction of the capacity on, a rate is near it: queues fluctuate so slowly that no usual run is
/// long enough to know their mean.
pub const NEAR_CAPACITY: f64 = 0.9;
/// From this fraction on, growing queues do not show that a host is saturated.
const AT_CAPACITY: f64 = 0.99;
/// A rate certainly exceeds the capacity if it is this many half-widths above it: of hosts that just keep up,
/// fewer than one in ten thousand is called saturated.
const CERTAIN: f64 = 2.0;

/// Packets that wait for each processor at the start of the measurement.
const BACKLOG: usize = 64;
/// Packets that arrive for each one that leaves, so that every queue and every stack keeps
/// growing.
const OVERLOAD: usize = 2;
/// Packets processed to find the capacity: at least the first number, and the second for each processor.
const PACKETS: (u64, u64) = (40_000, 2_000);

impl Capacity {
    /// Whether `rate` certainly exceeds the capacity.
    #[must_use]
    pub fn is_exceeded_by(&self, rate: PerSecond) -> bool {
        rate.0 > self.rate.mean.0 + CERTAIN * self.rate.half()
    }

    /// Whether the capacity certainly exceeds `rate`.
    #[must_use]
    pub fn suffices_for(&self, rate: PerSecond) -> bool {
        rate.0 < self.rate.mean.0 - CERTAIN * self.rate.half()
    }

    /// Whether `rate` is near the capacity ([`NEAR_CAPACITY`]) or above it.
    #[must_use]
    pub fn is_near(&self, rate: PerSecond) -> bool {
        rate.0 >= self.rate.mean.0 * NEAR_CAPACITY
    }

    /// Whether `rate` is so close to the capacity that growing queues show nothing. Just below it, queue
    /// lengths wander as far in one run as just above it: with constant arrivals on wired streams at 0.9995
    /// of the capacity, the queues of 11 in 30 points grew in every run.
    #[must_use]
    pub fn is_at(&self, rate: PerSecond) -> bool {
        rate.0 > self.rate.mean.0 * AT_CAPACITY && !self.is_exceeded_by(rate)
    }

    /// How well the mean delay at `rate` is known, after a run that did not know the capacity ended as `ended`.
    #[must_use]
    pub fn judge(&self, rate: PerSecond, ended: Ended) -> Ended {
        match ended {
            Ended::Exhausted if !self.suffices_for(rate) => Ended::Unknown,
            Ended::HeavyTailed if rate.0 >= self.rate.mean.0 => Ended::Unknown,
            Ended::Exhausted if self.is_near(rate) => Ended::NearCapacity,
            ended => ended,
        }
    }

    /// The capacity of a host that `rate` has saturated. If `rate` is not above it, the host does better when
    /// it is never idle than when it just keeps up, because caches and pools are in another state. The
    /// highest rate then is lower, by an unknown amount.
    pub(super) fn of_saturated(self, rate: PerSecond) -> Self {
        if rate.0 > self.rate.mean.0 { self } else { self.unknown() }
    }

    /// The same mean service time, with an unknown error unless service times have a variance.
    #[must_use]
    pub fn with_service_known(self, has_variance: bool) -> Self {
        let unknown = Estimate::new(self.service.mean, Nanos::INFINITY);
        Self { service: if has_variance { self.service } else { unknown }, ..self }
    }

    /// The same rate, with an unknown error.
    #[must_use]
    pub fn unknown(self) -> Self {
        Self { rate: Estimate::new(self.rate.mean, PerSecond(f64::INFINITY)), ..self }
    }
}

/// The capacity of `host` for packets like those of `arrivals`, whose arrival times are ignored.
///
/// Packets are offered twice as fast as they are processed, so that no processor and no stack runs dry. If
/// streams have unequal rates, this is what the host processes under overload; the stacks or processors of
/// its busiest streams keep up with less.
pub fn capacity(host: &SimulatedHost, arrivals: &mut dyn Arrivals) -> Capacity {
    capacity_over(wanted(host.shape), host, arrivals)
}

/// As [`capacity`], from this many `packets`.
pub(super) fn capacity_over(packets: u64, host: &SimulatedHost, arrivals: &mut dyn Arrivals) -> Capacity {
    dispatch(host, Saturated { shape: host.shape, feed: Feed::new(arrivals), packets })
}

pub(super) struct Saturated<'s> {
    pub(super) shape: Shape,
    pub(super) feed: Feed<'s>,
    pub(super) packets: u64,
}

impl SystemTask for Saturated<'_> {
    type Output = Capacity;

    fn run<P: Policy, W: Waiting<Job = Packet>, F: ModelFeatures>(
        mut self,
        mut system: System<P, W, F>,
    ) -> Capacity {
        let Shape { processors, .. } = self.shape;
        let mut now = Nanos::ZERO;
        let mut more = (0..processors).all(|_| self.offer(&mut system, BACKLOG, now));
        // The service time, and the time between completions.
        let mut completions = BatchMeans::<2>::default();
        while more && completions.observations() < self.packets {
            if system.next_event() >= NEVER {
                // A policy of one's own may let packets wait while all processors are idle.
                more = self.offer(&mut system, OVERLOAD, now);
                continue;
            }
            let Some(finished) = system.step() else { continue };
            completions.push([finished.service().0, (finished.ended - now).0]);
            now = finished.ended;
            more = self.offer(&mut system, OVERLOAD, now);
        }
        let [service, gap] = completions.steady().intervals;
        let rate = PerSecond::every(Nanos(gap.mean));
        Capacity { rate: Estimate::new(rate, rate * gap.relative()), service: nanos(service) }
    }
}

impl Saturated<'_> {
    /// How many packets a host of this `shape` is offered until `packets` of them are finished.
    pub(super) fn offered(shape: Shape, packets: u64) -> u64 {
        OVERLOAD as u64 * packets + BACKLOG as u64 * u64::from(shape.processors)
    }

    /// Offers `wanted` packets `now`. Returns whether the source still had that many.
    fn offer<P: Policy, W: Waiting<Job = Packet>, F: ModelFeatures>(
        &mut self,
        system: &mut System<P, W, F>,
        wanted: usize,
        now: Nanos,
    ) -> bool {
        let offered = self.feed.take(wanted).map(|packet| system.arrive(Packet { arrived: now, ..packet }));
        offered.count() == wanted
    }
}

/// Packets needed to find the capacity of a host of this shape.
pub(super) fn wanted(shape: Shape) -> u64 {
    PACKETS.0.max(PACKETS.1 * u64::from(shape.processors)).max(shape.settled())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exhausted_run_is_judged_by_its_distance_from_the_capacity() {
        let capacity = Capacity {
            rate: Estimate::new(PerSecond(1_000.0), PerSecond(10.0)),
            service: Estimate::new(Nanos(1.0), Nanos(0.0)),
        };
        let judged = |rate| capacity.judge(PerSecond(rate), Ended::Exhausted);
        assert_eq!(
            [890.0, 910.0, 979.0].map(judged),
            [Ended::Exhausted, Ended::NearCapacity, Ended::NearCapacity]
        );
        assert_eq!([981.0, 1_019.0].map(judged), [Ended::Unknown; 2]);
        assert_eq!([1_019.0, 1_021.0].map(|rate| capacity.is_exceeded_by(PerSecond(rate))), [false, true]);
        assert_eq!(capacity.judge(PerSecond(1_000.0), Ended::Precise), Ended::Precise);
        assert_eq!(capacity.judge(PerSecond(950.0), Ended::HeavyTailed), Ended::HeavyTailed);
    }
}
