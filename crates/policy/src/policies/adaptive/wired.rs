//! A simulated host whose streams are wired to processors.

use super::delay_cap::DelayCap;
use super::footprints::Footprints;
use super::service_times::{ServiceTimes, StackSharing};
use crate::policy::Request;
use alloc::vec::Vec;
use warmcore_units::{CpuId, Nanos};

/// Each processor serves its own streams in order of arrival, so a packet's delay follows from when
/// its processor finishes the packet before (Lindley 1952).
#[derive(Clone, Debug)]
pub(super) struct WiredHost {
    wiring: Wiring,
    limit: DelayCap,
    /// When each processor finishes all packets so far.
    ends: Vec<Nanos>,
    footprints: Footprints,
}

/// Which processor streams are wired to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Wiring {
    /// Each to its home.
    Homes,
    /// All to the first processor.
    First,
}

impl WiredHost {
    pub(super) fn new(wiring: Wiring, stacks: StackSharing, processors: u32, limit: DelayCap) -> Self {
        Self {
            wiring,
            limit,
            ends: alloc::vec![Nanos(f64::NEG_INFINITY); processors as usize],
            footprints: Footprints::new(stacks, processors),
        }
    }

    /// Handles the arrival of a packet; returns its delay.
    #[inline]
    pub(super) fn arrive(&mut self, request: &Request, times: &ServiceTimes) -> Nanos {
        let now = request.now;
        let cpu = match self.wiring {
            Wiring::Homes => request.home,
            Wiring::First => CpuId(0),
        };
        let end = &mut self.ends[cpu.index()];
        let start = now.max(*end);
        let found = self.footprints.visit(request, cpu);
        *end = self.limit.cap_end(now, start + times.get(found, start - *end));
        *end - now
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{request, service_times};
    use super::*;

    fn host(wiring: Wiring, stacks: StackSharing) -> WiredHost {
        WiredHost::new(wiring, stacks, 4, DelayCap::from_service_times(&service_times()))
    }

    #[test]
    fn a_packet_waits_for_those_before_it_at_its_home() {
        let mut host = host(Wiring::Homes, StackSharing::PerProcessor);
        // The first packet on a processor is cold and writes history: 1000 + 20.
        let delays = [(0.0, 1), (10.0, 2), (20.0, 1), (5_000.0, 1)]
            .map(|(now, stream)| host.arrive(&request(Nanos(now), stream), &service_times()).0);
        assert_eq!(delays, [1_020.0, 1_020.0, 1_100.0, 1_000.0]);
    }

    #[test]
    fn on_one_processor_packets_wait_for_all_streams() {
        let mut host = host(Wiring::First, StackSharing::PerProcessor);
        let delays = [(0.0, 1), (10.0, 1), (20.0, 2)]
            .map(|(now, stream)| host.arrive(&request(Nanos(now), stream), &service_times()).0);
        assert_eq!(delays, [1_020.0, 1_110.0, 1_220.0]);
    }
}
