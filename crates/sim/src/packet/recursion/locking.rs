//! Streams wired to processors that share one stack. Each processor takes its packets in order of arrival, but the history
//! lines that all packets write migrate between processors in the order in which packets *start*: those that wait
//! must be started in that order. So a start is the only event, where there are an arrival and a completion otherwise;
//! and one of a packet that finds its processor idle needs no queue.

use super::Recursion;
use super::processors::{Key, least};
use super::service::{Service, UNUSED, packets_left};
use crate::completions::{Completions, FEW, NEVER, Pending};
use crate::packet::host::{Packet, SimulatedHost};
use crate::packet::system::Finished;
use core::hint::select_unpredictable;
use std::collections::VecDeque;
use warmcore_costs::execution::PrivateTimes;
use warmcore_units::{CpuId, Nanos, StackId};
use warmcore_workload::Arrival;

/// The processors and their queues.
pub(super) struct Locking<'a, S> {
    homes: Vec<u32>,
    processors: Vec<Processor>,
    /// When the first waiting packet of each processor starts.
    starts: S,
    waiting: u64,
    service: Service<'a>,
}

struct Processor {
    /// When the packets that it has started are finished.
    free: Nanos,
    queue: VecDeque<Packet>,
}

/// When the first waiting packet of each processor starts.
pub(super) trait Starts {
    /// None, for so many processors.
    fn none(processors: u32) -> Self;

    /// The first start and its processor, if that is at `now` or before.
    fn first(&self, now: Nanos) -> Option<CpuId>;

    /// The first packet of `cpu`, at which none waited, starts at `at`.
    fn add(&mut self, cpu: CpuId, at: Nanos);

    /// The first start has happened, at `cpu`. The next packet there starts at `at`, if one `waits`.
    fn advance(&mut self, cpu: CpuId, at: Nanos, waits: bool);
}

/// The starts at a few processors.
pub(super) struct FewStarts([u64; FEW]);

impl Starts for FewStarts {
    fn none(_processors: u32) -> Self {
        Self([Key::NONE.bits(); FEW])
    }

    #[inline(always)]
    fn first(&self, now: Nanos) -> Option<CpuId> {
        let first = least(self.0);
        first.is_idle(now).then(|| first.cpu())
    }

    #[inline(always)]
    fn add(&mut self, cpu: CpuId, at: Nanos) {
        self.0[cpu.index() % FEW] = Key::new(cpu, at).bits();
    }

    #[inline(always)]
    fn advance(&mut self, cpu: CpuId, at: Nanos, waits: bool) {
        // Nobody foresees whether one waits.
        let next = select_unpredictable(waits, Key::new(cpu, at).bits(), Key::NONE.bits());
        self.0[cpu.index() % FEW] = next;
    }
}

impl Starts for Completions {
    fn none(processors: u32) -> Self {
        Self::new(processors)
    }

    #[inline(always)]
    fn first(&self, now: Nanos) -> Option<CpuId> {
        let (cpu, at) = Pending::first(self);
        // Those that are not pending are late, but a drain waits for ever.
        (at <= now && at < NEVER).then_some(cpu)
    }

    #[inline(always)]
    fn add(&mut self, cpu: CpuId, at: Nanos) {
        self.start(cpu, at);
    }

    #[inline(always)]
    fn advance(&mut self, cpu: CpuId, at: Nanos, waits: bool) {
        if waits {
            self.restart_first(cpu, at);
        } else {
            self.finish_first(cpu);
        }
    }
}

/// The stack that all packets visit.
const STACK: StackId = StackId(0);

impl<'a, S: Starts> Locking<'a, S> {
    pub(super) fn new(host: &SimulatedHost<'a>, times: PrivateTimes<'a>) -> Self {
        let processors = host.shape.processors;
        let idle = || Processor { free: UNUSED, queue: VecDeque::new() };
        Self {
            homes: host.scheduling.homes(&host.layout()),
            processors: (0..processors).map(|_| idle()).collect(),
            starts: S::none(processors),
            waiting: 0,
            service: Service::new(host, times),
        }
    }

    /// Starts the packets whose processor is free at `now` or before.
    #[inline(always)]
    fn start_until(&mut self, now: Nanos, settled: &mut impl FnMut(Finished)) {
        while let Some(cpu) = self.starts.first(now) {
            let Processor { free, queue } = &mut self.processors[cpu.index()];
            let Some(packet) = queue.pop_front() else { return };
            self.waiting -= 1;
            let finished = self.service.serve(packet, STACK, cpu, *free);
            *free = finished.ended;
            self.starts.advance(cpu, finished.ended, !queue.is_empty());
            settled(finished);
        }
    }
}

impl<S: Starts> Recursion for Locking<'_, S> {
    #[inline(always)]
    fn arrive(&mut self, packet: Packet, settled: &mut impl FnMut(Finished)) {
        self.start_until(packet.arrived, settled);
        let cpu = CpuId(self.homes[packet.stream.index()]);
        let Processor { free, queue } = &mut self.processors[cpu.index()];
        if *free <= packet.arrived {
            let finished = self.service.serve(packet, STACK, cpu, *free);
            *free = finished.ended;
            settled(finished);
            return;
        }
        if queue.is_empty() {
            self.starts.add(cpu, *free);
        }
        queue.push_back(packet);
        self.waiting += 1;
    }

    fn drain(&mut self, settled: &mut impl FnMut(Finished)) {
        self.start_until(Nanos::INFINITY, settled);
    }

    fn present(&self, now: Nanos) -> u64 {
        let free = self.processors.iter().map(|processor| processor.free);
        packets_left(self.service.model, free, now) + self.waiting
    }

    fn touch(&self, ahead: &[Arrival]) -> u32 {
        let touch = |arrival: &Arrival| {
            self.homes[arrival.stream.index()] ^ self.service.touch(arrival.stream, STACK)
        };
        ahead.iter().fold(0, |sum, arrival| sum ^ touch(arrival))
    }
}
