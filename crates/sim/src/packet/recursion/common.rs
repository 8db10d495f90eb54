//! One queue for a few processors, first come, first served (after Kiefer & Wolfowitz 1955). Packets start in order of
//! arrival, so that each is settled as it arrives: on an idle processor, or on the one that is free first.

use super::Recursion;
use super::order::Order;
use super::processors::Processors;
use super::service::{Service, packets_left};
use crate::packet::host::{Packet, SimulatedHost};
use crate::packet::system::Finished;
use core::marker::PhantomData;
use warmcore_costs::execution::PrivateTimes;
use warmcore_scenario::Parallelism;
use warmcore_units::{CpuId, Nanos, StackId};
use warmcore_workload::Arrival;

/// The processors, of which `O` chooses an idle one.
pub(super) struct Common<'a, O> {
    processors: Processors,
    /// The home of each stream.
    homes: Vec<u32>,
    /// Whether each processor has a stack of its own.
    own_stacks: bool,
    service: Service<'a>,
    order: PhantomData<O>,
}

impl<'a, O: Order> Common<'a, O> {
    pub(super) fn new(host: &SimulatedHost<'a>, times: PrivateTimes<'a>) -> Self {
        Self {
            processors: Processors::unused(host.shape.processors),
            homes: host.scheduling.homes(&host.layout()),
            own_stacks: host.scheduling.approach == Parallelism::Hybrid,
            service: Service::new(host, times),
            order: PhantomData,
        }
    }
}

impl<O: Order> Recursion for Common<'_, O> {
    #[inline(always)]
    fn arrive(&mut self, packet: Packet, settled: &mut impl FnMut(Finished)) {
        let home = CpuId(self.homes[packet.stream.index()]);
        let key = O::choose(&self.processors, home, packet.arrived);
        let cpu = key.cpu();
        let stack = StackId(if self.own_stacks { cpu.0 } else { 0 });
        let finished = self.service.serve(packet, stack, cpu, key.free());
        self.processors.set(cpu, finished.ended);
        settled(finished);
    }

    fn drain(&mut self, _settled: &mut impl FnMut(Finished)) {}

    fn present(&self, now: Nanos) -> u64 {
        packets_left(self.service.model, self.processors.free(), now)
    }

    fn touch(&self, ahead: &[Arrival]) -> u32 {
        let touch = |arrival: &Arrival| {
            self.homes[arrival.stream.index()] ^ self.service.touch(arrival.stream, StackId(0))
        };
        ahead.iter().fold(0, |sum, arrival| sum ^ touch(arrival))
    }
}
