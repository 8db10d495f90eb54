//! The simulated host under [`Strategy::Home`](super::Strategy::Home), with stealing.

use super::completions::Completions;
use super::delay_cap::DelayCap;
use super::delays::{Delays, ShadowPacket};
use super::footprints::Footprints;
use super::queues::ShadowQueues;
use super::service_times::{ServiceTimes, StackSharing};
use crate::Recency;
use crate::policy::Request;
use alloc::vec::Vec;
use warmcore_units::{CpuId, Nanos};

/// A packet goes to its home, or if that is busy, to the most recently used idle processor; if all are
/// busy, it waits at home. A processor that has finished takes from its own queue, or from the longest if
/// that is empty.
///
/// When and where a waiting packet starts depends on later packets. So the simulation advances from
/// arrival to arrival, and a packet's delay is known when it starts, which may be some arrivals later.
#[derive(Clone, Debug)]
pub(super) struct StealingHost {
    limit: DelayCap,
    idle: Recency,
    busy: Completions,
    /// When each processor finishes, or has finished, its packet.
    ends: Vec<Nanos>,
    queues: ShadowQueues,
    footprints: Footprints,
}

impl StealingHost {
    pub(super) fn new(stacks: StackSharing, processors: u32, limit: DelayCap) -> Self {
        Self {
            limit,
            idle: Recency::filled(processors),
            busy: Completions::default(),
            ends: alloc::vec![Nanos(f64::NEG_INFINITY); processors as usize],
            queues: ShadowQueues::empty(processors, DelayCap::max_waiting(processors)),
            footprints: Footprints::new(stacks, processors),
        }
    }

    /// Handles an arrival, and adds to `delays` the packets that have started since the last one.
    #[inline]
    pub(super) fn arrive(&mut self, packet: &ShadowPacket, times: &ServiceTimes, delays: &mut Delays) {
        let now = packet.request.now;
        self.advance(now, times, delays);
        if let Some(cpu) = self.idle_for(&packet.request) {
            self.idle.remove(cpu.0);
            delays.add(packet, self.start(&packet.request, cpu, now, times));
            self.busy.push(cpu, self.ends[cpu.index()]);
        } else if self.queues.join(packet.request.home, *packet).is_err() {
            delays.add(packet, self.limit.cap_delay(Nanos::INFINITY));
        }
    }

    /// The idle processor that the packet goes to, if there is one.
    #[inline]
    fn idle_for(&self, request: &Request) -> Option<CpuId> {
        if self.idle.contains(request.home.0) {
            return Some(request.home);
        }
        self.idle.newest().map(CpuId)
    }

    /// Advances to `now`: processors finish packets and start waiting ones.
    #[inline]
    fn advance(&mut self, now: Nanos, times: &ServiceTimes, delays: &mut Delays) {
        while let Some(cpu) = self.busy.first_by(now, &self.ends) {
            if let Some(packet) = self.queues.take(cpu) {
                let start = self.ends[cpu.index()];
                delays.add(&packet, self.start(&packet.request, cpu, start, times));
            } else {
                self.busy.remove_first();
                self.idle.push(cpu.0);
            }
        }
    }

    /// Starts the packet of `request` on `cpu` at `start`; returns its delay.
    #[inline]
    fn start(&mut self, request: &Request, cpu: CpuId, start: Nanos, times: &ServiceTimes) -> Nanos {
        let found = self.footprints.visit(request, cpu);
        let end = start + times.get(found, start - self.ends[cpu.index()]);
        self.ends[cpu.index()] = end;
        self.limit.cap_delay(end - request.now)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{request, service_times};
    use super::*;
    use alloc::collections::VecDeque;
    use core::cmp::Reverse;
    use proptest::prelude::*;

    const PROCESSORS: usize = 3;

    fn host() -> StealingHost {
        StealingHost::new(
            StackSharing::Shared,
            PROCESSORS as u32,
            DelayCap::from_service_times(&service_times()),
        )
    }

    fn packet(now: f64, stream: u32) -> ShadowPacket {
        ShadowPacket { request: request(Nanos(now), stream), gathered: Nanos::ZERO, recent: Nanos::ZERO }
    }

    /// How many packets have started after each arrival, and the sum of their delays.
    fn simulated(packets: &[(f64, u32)]) -> Vec<(u32, f64)> {
        let (mut host, mut delays) = (host(), Delays::default());
        let after = packets.iter().map(|&(now, stream)| {
            host.arrive(&packet(now, stream), &service_times(), &mut delays);
            (delays.packets, delays.sums[2])
        });
        after.collect()
    }

    /// A direct implementation of the same rules, to compare with.
    struct Plain {
        /// Idle processors, the most recently used last.
        idle: Vec<usize>,
        /// When each processor finishes the packet in service, if any; and when it last finished.
        running: [Option<f64>; PROCESSORS],
        ended: [f64; PROCESSORS],
        queues: [VecDeque<(f64, u32)>; PROCESSORS],
        /// When each queue last changed, counted in changes of all queues.
        changed: [usize; PROCESSORS],
        footprints: Footprints,
        started: (u32, f64),
    }

    impl Plain {
        fn new() -> Self {
            Self {
                idle: (0..PROCESSORS).collect(),
                running: [None; PROCESSORS],
                ended: [f64::NEG_INFINITY; PROCESSORS],
                queues: [const { VecDeque::new() }; PROCESSORS],
                changed: [0; PROCESSORS],
                footprints: Footprints::new(StackSharing::Shared, PROCESSORS as u32),
                started: (0, 0.0),
            }
        }

        fn start(&mut self, cpu: usize, start: f64, (arrived, stream): (f64, u32)) {
            let found = self.footprints.visit(&request(Nanos(arrived), stream), CpuId::from(cpu));
            let end = start + service_times().get(found, Nanos(start - self.ended[cpu])).0;
            self.running[cpu] = Some(end);
            self.started = (self.started.0 + 1, self.started.1 + (end - arrived));
        }

        fn arrive(&mut self, now: f64, stream: u32) {
            let home = stream as usize;
            if let Some(at) = self.idle.iter().position(|&cpu| cpu == home) {
                self.idle.remove(at);
                self.start(home, now, (now, stream));
            } else if let Some(cpu) = self.idle.pop() {
                self.start(cpu, now, (now, stream));
            } else {
                self.changes(home).push_back((now, stream));
            }
        }

        fn changes(&mut self, queue: usize) -> &mut VecDeque<(f64, u32)> {
            self.changed[queue] = self.changed.iter().max().map_or(0, |latest| latest + 1);
            &mut self.queues[queue]
        }

        /// The longest queue; of several, the one that has had this length for the longest time.
        fn longest(&self) -> usize {
            let order = |&queue: &usize| (self.queues[queue].len(), Reverse(self.changed[queue]));
            (0..PROCESSORS).max_by_key(order).unwrap()
        }

        fn advance(&mut self, now: f64) {
            loop {
                let busy = (0..PROCESSORS).filter_map(|cpu| self.running[cpu].map(|end| (end, cpu)));
                let Some((end, cpu)) = busy.min_by(|a, b| a.0.total_cmp(&b.0)) else { break };
                if end > now {
                    break;
                }
                self.running[cpu] = None;
                self.ended[cpu] = end;
                let own = !self.queues[cpu].is_empty();
                let from = if own { cpu } else { self.longest() };
                match self.changes(from).pop_front() {
                    Some(next) => self.start(cpu, end, next),
                    None => self.idle.push(cpu),
                }
            }
        }
    }

    proptest! {
        #[test]
        fn delays_are_those_of_a_plain_simulation(
            steps in prop::collection::vec((0.0_f64..300.0, 0_u32..3), 0..200),
        ) {
            let mut now = 0.0;
            let packets: Vec<_> = steps.into_iter().map(|(gap, stream)| { now += gap; (now, stream) }).collect();
            let mut plain = Plain::new();
            let expected = packets.iter().map(|&(now, stream)| {
                plain.advance(now);
                plain.arrive(now, stream);
                plain.started
            });
            prop_assert_eq!(simulated(&packets), expected.collect::<Vec<_>>());
        }
    }

    /// Cold packets take 1050 with session and history from elsewhere, 1030 with their own history.
    #[test]
    fn packets_leave_a_busy_home_and_are_stolen() {
        // Four packets of one stream: at home, on the most recently used of the others, on the last
        // processor; the fourth waits for the first to finish.
        let packets = [(0.0, 1), (10.0, 1), (20.0, 1), (30.0, 1), (2_000.0, 0)];
        let sums = [1_050.0, 2_080.0, 3_110.0, 3_110.0];
        let expected: Vec<_> = [1, 2, 3, 3].into_iter().zip(sums).collect();
        let after = simulated(&packets);
        assert_eq!(after[..4], expected);
        // The second finishes at 1040, not at home: so the fourth is hot, with its session from elsewhere.
        assert_eq!(after[4].0, 5);
    }

    #[test]
    fn delays_in_an_overload_are_capped() {
        let (mut host, mut delays) = (host(), Delays::default());
        let most = DelayCap::max_waiting(PROCESSORS as u32);
        for _ in 0..most + 103 {
            host.arrive(&packet(0.0, 1), &service_times(), &mut delays);
        }
        // Three packets in service, and a hundred that found the queues full.
        let limit = DelayCap::from_service_times(&service_times()).cap_delay(Nanos::INFINITY).0;
        assert_eq!(delays.packets, 103);
        assert_eq!(delays.sums[2], 1_050.0 + 2.0 * 1_030.0 + 100.0 * limit);
        host.arrive(&packet(1e9, 1), &service_times(), &mut delays);
        assert_eq!(delays.packets, most + 104);
    }
}
