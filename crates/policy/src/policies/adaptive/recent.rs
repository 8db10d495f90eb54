//! The simulated host under [`Strategy::Recent`](super::Strategy::Recent).

use super::completions::Completions;
use super::delay_cap::DelayCap;
use super::footprints::{Entries, Footprints};
use super::service_times::{ServiceTimes, StackSharing};
use crate::policy::Request;
use alloc::vec::Vec;
use warmcore_units::{CpuId, Nanos};

/// Processors that serve one queue. Where and when a packet runs is known on arrival, since later
/// packets do not affect it.
///
/// A stack that processes one packet at a time takes its packets one after the other on its current
/// processor. (If another packet was placed behind it there, the stack's next packet goes behind that one:
/// the work is the same.)
#[derive(Clone, Debug)]
pub(super) struct RecentHost {
    limit: DelayCap,
    /// Idle processors, the most recently used last.
    idle: Vec<CpuId>,
    /// When each processor finishes all packets so far.
    ends: Vec<Nanos>,
    busy: Completions,
    /// By stack, if stacks process one packet at a time: where its last packet runs, and when it
    /// finishes.
    stacks: Option<Entries<(CpuId, Nanos)>>,
    footprints: Footprints,
}

impl RecentHost {
    pub(super) fn new(stacks: StackSharing, processors: u32, limit: DelayCap) -> Self {
        let never = Nanos(f64::NEG_INFINITY);
        Self {
            limit,
            idle: (0..processors).map(CpuId).collect(),
            ends: alloc::vec![never; processors as usize],
            busy: Completions::default(),
            stacks: (stacks == StackSharing::Independent).then(|| Entries::filled((CpuId(0), never))),
            footprints: Footprints::new(stacks, processors),
        }
    }

    /// Handles the arrival of a packet; returns its delay.
    #[inline]
    pub(super) fn arrive(&mut self, request: &Request, times: &ServiceTimes) -> Nanos {
        let now = request.now;
        while let Some(cpu) = self.busy.first_by(now, &self.ends) {
            self.busy.remove_first();
            self.idle.push(cpu);
        }
        let (cpu, was_idle) = self.cpu_for(request);
        let before = self.ends[cpu.index()];
        let start = now.max(before);
        let found = self.footprints.visit(request, cpu);
        let end = self.limit.cap_end(now, start + times.get(found, start - before));
        self.ends[cpu.index()] = end;
        if was_idle {
            self.busy.push(cpu, end);
        }
        if let Some(stacks) = &mut self.stacks {
            *stacks.at(request.stack.0) = (cpu, end);
        }
        end - now
    }

    /// Where the packet goes, and whether that processor is idle: the processor on which its stack is
    /// busy, or the most recently used idle processor, or the one that will be free first.
    #[inline]
    fn cpu_for(&mut self, request: &Request) -> (CpuId, bool) {
        if let Some(cpu) = self.cpu_of_busy_stack(request) {
            return (cpu, false);
        }
        if let Some(cpu) = self.idle.pop() {
            return (cpu, true);
        }
        let first = self.busy.first_by(Nanos::INFINITY, &self.ends);
        (first.expect("every processor is idle or busy"), false)
    }

    /// The processor on which the packet's stack is busy, if it is.
    #[inline]
    fn cpu_of_busy_stack(&mut self, request: &Request) -> Option<CpuId> {
        let (cpu, end) = *self.stacks.as_mut()?.at(request.stack.0);
        (end.0 > request.now.0).then_some(cpu)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{request, service_times};
    use super::*;
    use proptest::prelude::*;

    const PROCESSORS: u32 = 3;

    fn host(stacks: StackSharing) -> RecentHost {
        RecentHost::new(stacks, PROCESSORS, DelayCap::from_service_times(&service_times()))
    }

    /// The same delays by linear search: the idle processor that finished last, or the processor that
    /// finishes first.
    fn searched(packets: &[(f64, u32)]) -> Vec<f64> {
        let mut ends: Vec<(f64, u32)> = (0..PROCESSORS).map(|cpu| (f64::NEG_INFINITY, cpu)).collect();
        let mut footprints = Footprints::new(StackSharing::Shared, PROCESSORS);
        let packets = packets.iter().map(|&(now, stream)| {
            ends.sort_by(|(a, left), (b, right)| a.total_cmp(b).then(left.cmp(right)));
            let at = ends.iter().rposition(|&(end, _)| end <= now).unwrap_or(0);
            let (before, cpu) = ends[at];
            let start = now.max(before);
            let found = footprints.visit(&request(Nanos(now), stream), CpuId(cpu));
            ends[at].0 = start + service_times().get(found, Nanos(start - before)).0;
            ends[at].0 - now
        });
        packets.collect()
    }

    proptest! {
        #[test]
        fn delays_equal_those_of_a_linear_search(steps in prop::collection::vec((0.0_f64..300.0, 0_u32..4), 0..100)) {
            let mut now = 0.0;
            let packets: Vec<_> = steps.into_iter().map(|(gap, stream)| { now += gap; (now, stream) }).collect();
            let mut host = host(StackSharing::Shared);
            let delays = packets.iter().map(|&(now, stream)| host.arrive(&request(Nanos(now), stream), &service_times()).0);
            prop_assert_eq!(delays.collect::<Vec<_>>(), searched(&packets));
        }
    }

    #[test]
    fn packets_of_one_stack_follow_each_other_and_others_do_not_wait() {
        let mut host = host(StackSharing::Independent);
        let delays = [(0.0, 1), (10.0, 1), (20.0, 2), (5_000.0, 1)]
            .map(|(now, stream)| host.arrive(&request(Nanos(now), stream), &service_times()).0);
        // The last packet goes to the processor of stream 1, which finished later than that of stream 2.
        assert_eq!(delays, [1_050.0, 1_140.0, 1_050.0, 1_000.0]);
    }
}
