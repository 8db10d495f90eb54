//! The highest rate at which a system keeps up: the rate at which packets leave it when more
//! arrive than it can process.

use crate::packet::run::{Task, dispatch};
use crate::packet::shape::{Packet, Shape};
use crate::packet::system::System;
use crate::packet::waiting::Waiting;
use warmcore_costs::ExecutionModel;
use warmcore_policy::Policy;
use warmcore_scenario::Combination;
use warmcore_stats::BatchMeans;
use warmcore_units::{Estimate, Nanos, PerSecond, StreamId};

/// The highest rate, and what a packet costs there.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Capacity {
    /// Packets per second.
    pub rate: Estimate<PerSecond>,
    /// Mean service time of a packet when every processor is busy.
    pub service: Estimate<Nanos>,
}

/// Packets that wait for each processor at the start.
const BACKLOG: u32 = 64;
/// Packets that arrive for each that leaves: every line and every stack keeps growing.
const OVERLOAD: usize = 2;
/// Packets that are processed to find the capacity, at least, and for each processor.
const PACKETS: (u64, u64) = (40_000, 2_000);

/// The capacity of `combination` on a host of `shape` with costs of `model`.
///
/// `streams` yields the stream of one packet after the other, without end and each as often as
/// any other. Packets are offered twice as fast as they are processed, so that no processor and
/// no stack runs dry.
pub fn capacity(
    combination: Combination,
    shape: Shape,
    model: &ExecutionModel,
    streams: impl Iterator<Item = StreamId>,
) -> Capacity {
    dispatch(combination, Saturated { combination, shape, model, streams })
}

struct Saturated<'a, S> {
    combination: Combination,
    shape: Shape,
    model: &'a ExecutionModel,
    streams: S,
}

impl<S: Iterator<Item = StreamId>> Task for Saturated<'_, S> {
    type Output = Capacity;

    fn on<P: Policy, W: Waiting>(mut self, policy: P) -> Capacity {
        let processors = self.shape.processors;
        let wanted = PACKETS.0.max(PACKETS.1 * u64::from(processors));
        let mut system = System::<_, W>::new(policy, self.combination, self.shape, self.model);
        let mut now = Nanos::ZERO;
        let backlog = (BACKLOG * processors) as usize;
        self.streams.by_ref().take(backlog).for_each(|stream| system.arrive(Packet { arrived: now, stream }));
        let (mut services, mut intervals) = (BatchMeans::default(), BatchMeans::default());
        while services.observations() < wanted {
            let Some(finished) = system.complete() else { continue };
            services.push(finished.service().0);
            intervals.push((finished.ended - now).0);
            now = finished.ended;
            let offered = self.streams.by_ref().take(OVERLOAD);
            offered.for_each(|stream| system.arrive(Packet { arrived: now, stream }));
        }
        let service = services.steady();
        let interval = intervals.steady_after(service.warmup).interval;
        let rate = PerSecond::every(Nanos(interval.mean));
        Capacity {
            rate: Estimate::new(rate, rate * interval.relative()),
            service: Estimate::new(Nanos(service.interval.mean), Nanos(service.interval.half_width)),
        }
    }
}
