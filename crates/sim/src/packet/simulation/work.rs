//! What each processor and each stack has to do for the packets that arrive.

use crate::packet::dispatch::SystemTask;
use crate::packet::features::ModelFeatures;
use crate::packet::feed::Feed;
use crate::packet::host::Packet;
use crate::packet::run::next;
use crate::packet::system::System;
use warmcore_policy::dispatch::Waiting;
use warmcore_policy::{Policy, Queues};
use warmcore_units::{Nanos, PerSecond};
use warmcore_workload::{Arrival, Arrivals};

/// Arrivals that can be given again, at any rate.
pub(super) struct Recorded {
    arrivals: Vec<Arrival>,
    /// The time between packets in these arrivals.
    gap: Nanos,
}

impl Recorded {
    /// The next `wanted` packets of `source`, or a few more; fewer if it ends.
    pub(super) fn new(source: &mut dyn Arrivals, wanted: u64) -> Self {
        const BLOCK: usize = 256;
        let nothing = Arrival::single(Nanos::ZERO, warmcore_units::StreamId(0));
        let mut block = [nothing; BLOCK];
        let (mut arrivals, mut packets) = (Vec::new(), 0);
        while packets < wanted {
            let filled = source.fill(&mut block);
            let filled = &block[..filled];
            packets += filled.iter().map(|arrival| u64::from(arrival.packets)).sum::<u64>();
            arrivals.extend_from_slice(filled);
            if filled.is_empty() {
                break;
            }
        }
        let span = arrivals.last().map_or(0.0, |last: &Arrival| last.at.0);
        if span == 0.0 {
            // All come at once, and say nothing of times.
            (0_u32..).zip(&mut arrivals).for_each(|(index, arrival)| arrival.at = Nanos(index.into()));
        }
        let span = arrivals.last().map_or(1.0, |last| last.at.0.max(1.0));
        Self { arrivals, gap: Nanos(span / packets.max(1) as f64) }
    }

    /// The same packets in the same order, at `rate`: the first arrivals, until `packets` have come.
    pub(super) fn at(&self, rate: PerSecond, packets: u64) -> Again<'_> {
        let mut come = 0;
        let is_missing = |arrival: &&Arrival| {
            let is_missing = come < packets;
            come += u64::from(arrival.packets);
            is_missing
        };
        let wanted = self.arrivals.iter().take_while(is_missing).count();
        Again { left: &self.arrivals[..wanted], scale: rate.interval() / self.gap }
    }
}

/// Recorded arrivals at another rate.
pub(super) struct Again<'a> {
    left: &'a [Arrival],
    scale: f64,
}

impl Arrivals for Again<'_> {
    fn fill(&mut self, block: &mut [Arrival]) -> usize {
        let filled = block.len().min(self.left.len());
        let (now, later) = self.left.split_at(filled);
        for (place, &arrival) in block.iter_mut().zip(now) {
            *place = Arrival { at: arrival.at * self.scale, ..arrival };
        }
        self.left = later;
        filled
    }
}

/// The work for one packet.
#[derive(Clone, Copy)]
pub(super) struct PacketWork {
    pub(super) arrived: Nanos,
    pub(super) stream: u32,
    pub(super) cpu: u32,
    pub(super) stack: u32,
    pub(super) service: Nanos,
}

/// The work for all packets, in order of arrival, and who the servers are.
pub(super) struct WorkRecord {
    pub(super) packets: Vec<PacketWork>,
    /// How long after the last arrival the last packet was finished, as a fraction of the time of the last arrival.
    pub(super) late: f64,
    /// Whether packets wait for a certain processor.
    pub(super) processors: bool,
    /// Whether packets wait for a certain stack.
    pub(super) stacks: bool,
}

/// Lets all packets arrive and waits until all are finished: so the work that a server has not done yet when the last one
/// arrives counts as well. What a packet takes after that, while other processors are idle, says nothing: it is taken to be what
/// those before it took at its server on average.
pub(super) struct WorkRecorder<'s> {
    pub(super) feed: Feed<'s>,
}

impl SystemTask for WorkRecorder<'_> {
    type Output = WorkRecord;

    fn run<P: Policy, W: Waiting<Job = Packet>, F: ModelFeatures>(
        mut self,
        mut system: System<P, W, F>,
    ) -> WorkRecord {
        let (mut packets, mut started) = (Vec::new(), Vec::new());
        while let Some(finished) = next(&mut self.feed, &mut system) {
            started.push(finished.started.0);
            packets.push(PacketWork {
                arrived: finished.packet.arrived,
                stream: finished.packet.stream.0,
                cpu: finished.cpu.0,
                stack: system.stack(&finished.packet, finished.cpu).0,
                service: finished.service(),
            });
        }
        let end = packets
            .iter()
            .zip(&started)
            .fold(0.0, |end, (packet, started)| (started + packet.service.0).max(end));
        let last = packets.iter().fold(0.0, |last, packet: &PacketWork| packet.arrived.0.max(last));
        let late = (end - last).max(0.0) / last.max(1.0);
        let server = |packet: &PacketWork| if W::HOLDS_STACK { packet.stack } else { packet.cpu };
        replace_late(&mut packets, &started, last, server);
        packets.sort_by(|one, other| one.arrived.0.total_cmp(&other.arrived.0));
        WorkRecord { packets, late, processors: P::QUEUES == Queues::PerProcessor, stacks: W::HOLDS_STACK }
    }
}

/// Gives `packets` that started after the `last` arrival the mean service time of those that started before it at the same
/// server, if there are any.
fn replace_late(packets: &mut [PacketWork], started: &[f64], last: f64, server: impl Fn(&PacketWork) -> u32) {
    let servers = packets.iter().map(&server).max().map_or(0, |last| last as usize + 1);
    let mut before = vec![(0.0, 0.0); servers];
    for (packet, _) in packets.iter().zip(started).filter(|of| *of.1 <= last) {
        let (count, sum) = &mut before[server(packet) as usize];
        *count += 1.0;
        *sum += packet.service.0;
    }
    for (packet, _) in packets.iter_mut().zip(started).filter(|of| *of.1 > last) {
        let (count, sum) = before[server(packet) as usize];
        if count > 0.0 {
            packet.service = Nanos(sum / count);
        }
    }
}
