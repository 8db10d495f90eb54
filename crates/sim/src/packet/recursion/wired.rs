//! Processors that each take their own packets in order of arrival, and share nothing with the others: each is a
//! recursion of its own (Lindley 1952). A packet starts when it arrives or when the one before it ends, whichever is later.
//!
//! Lines that were written here once stay here, so what [`Residency`](warmcore_costs::residency::Residency) keeps of
//! streams, stacks and threads shrinks to whether they were here before.

use super::Recursion;
use super::service::{UNUSED, ends, packets_left};
use crate::packet::host::{Packet, SimulatedHost};
use crate::packet::system::Finished;
use core::hint::select_unpredictable;
use core::mem::replace;
use warmcore_costs::ExecutionModel;
use warmcore_costs::execution::PrivateTimes;
use warmcore_costs::situation::{Experiment, Situation, ThreadStack};
use warmcore_scenario::Parallelism;
use warmcore_units::{CpuId, Nanos};
use warmcore_workload::arrivals::{Arrival, Direction};

/// The processors, and where each stream belongs.
pub(super) struct Wired<'a> {
    model: &'a ExecutionModel,
    times: PrivateTimes<'a>,
    streams: Vec<Stream>,
    processors: Vec<Processor>,
}

/// The home of a stream in the upper bits; in the lowest one, whether its session was written there.
#[derive(Clone, Copy)]
struct Stream(u32);

/// A processor with its stack and its thread.
#[derive(Clone, Copy)]
struct Processor {
    /// When the packets that have arrived so far are finished.
    free: Nanos,
    /// The stream of the last packet received.
    stream: u32,
    /// Whether the history lines of its stack were written here.
    history_here: bool,
    /// Whether its thread ran here.
    thread_here: bool,
}

impl<'a> Wired<'a> {
    /// Whether `host`, which shares neither pools nor caches and has no effects, is one of these.
    pub(super) fn is_enough(host: &SimulatedHost) -> bool {
        let shape = host.shape;
        let own = match host.scheduling.approach {
            // A processor with several stacks stays with one of them while packets wait there.
            Parallelism::Ips => shape.stacks <= shape.processors,
            // The history lines that all packets write migrate between processors.
            Parallelism::Locking => shape.processors == 1,
            Parallelism::Hybrid => true,
        };
        own && host.scheduling.is_wired()
    }

    pub(super) fn new(host: &SimulatedHost<'a>, times: PrivateTimes<'a>) -> Self {
        let homes = host.scheduling.homes(&host.layout());
        // A single processor has written everything itself. Sessions of a processor's own stack never migrate.
        let alone = host.shape.processors == 1;
        let session_here = alone || host.scheduling.approach == Parallelism::Hybrid;
        let unused = Processor { free: UNUSED, stream: u32::MAX, history_here: alone, thread_here: alone };
        Self {
            model: host.model,
            times,
            streams: homes.into_iter().map(|cpu| Stream(cpu << 1 | u32::from(session_here))).collect(),
            processors: vec![unused; host.shape.processors as usize],
        }
    }
}

impl Processor {
    /// The situation of `packet`, which is the next to be served, with its session here or not. Records what it writes.
    #[inline(always)]
    fn situation(&mut self, packet: &Packet, session_here: bool) -> Situation {
        let thread_stack = if self.thread_here { ThreadStack::Cached } else { ThreadStack::Migrates };
        self.thread_here = true;
        let history_here = if packet.direction == Direction::Receive {
            let changes = replace(&mut self.stream, packet.stream.0) != packet.stream.0;
            // No branch, as whether the stream changes cannot be foreseen.
            select_unpredictable(changes, Some(replace(&mut self.history_here, true)), None)
        } else {
            None
        };
        Situation { experiment: Experiment::from_caches(session_here, history_here), thread_stack }
    }
}

impl Recursion for Wired<'_> {
    #[inline(always)]
    fn arrive(&mut self, packet: Packet, settled: &mut impl FnMut(Finished)) {
        let stream = &mut self.streams[packet.stream.index()];
        let (cpu, session_here) = (CpuId(stream.0 >> 1), stream.0 & 1 == 1);
        stream.0 |= 1;
        let processor = &mut self.processors[cpu.index()];
        let situation = processor.situation(&packet, session_here);
        let (started, ended) = ends(self.times, situation, packet.arrived, processor.free);
        processor.free = ended;
        settled(Finished { packet, cpu, situation, started, ended });
    }

    fn drain(&mut self, _settled: &mut impl FnMut(Finished)) {}

    fn present(&self, now: Nanos) -> u64 {
        packets_left(self.model, self.processors.iter().map(|processor| processor.free), now)
    }

    fn touch(&self, ahead: &[Arrival]) -> u32 {
        ahead.iter().fold(0, |sum, arrival| sum ^ self.streams[arrival.stream.index()].0)
    }
}
