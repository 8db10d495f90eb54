use super::{Lines, Waiting, assign};
use crate::packet::host::{Host, Packet};
use warmcore_policy::Line;
use warmcore_scenario::Parallelism;
use warmcore_units::{CpuId, StackId};

/// Any processor can work on any packet: packets wait in lines.
#[derive(Clone, Debug)]
pub struct PacketLines {
    places: Places,
    lines: Lines,
}

/// Where packets belong that are bound to no stack.
#[derive(Clone, Debug)]
pub(super) struct Places {
    homes: Vec<u32>,
    /// Whether each processor has a stack of its own, or all share one.
    stack_each: bool,
}

impl Places {
    pub(super) fn of(host: &Host) -> Self {
        let homes = assign(host, host.shape.streams, host.shape.processors);
        Self { homes, stack_each: host.scheduling.approach == Parallelism::Hybrid }
    }

    #[inline]
    pub(super) fn stack(&self, cpu: CpuId) -> StackId {
        StackId(if self.stack_each { cpu.0 } else { 0 })
    }

    #[inline]
    pub(super) fn home(&self, packet: &Packet) -> CpuId {
        // Not an index: it is left out where the policy has no use for homes.
        CpuId(self.homes.get(packet.stream.index()).copied().unwrap_or_default())
    }
}

impl Waiting for PacketLines {
    fn none(host: &Host, line: Line) -> Self {
        Self { places: Places::of(host), lines: Lines::none(host.shape.processors, line) }
    }

    #[inline]
    fn stack(&self, _packet: &Packet, cpu: CpuId) -> StackId {
        self.places.stack(cpu)
    }

    #[inline]
    fn home(&self, packet: &Packet) -> CpuId {
        self.places.home(packet)
    }

    #[inline]
    fn admit(&mut self, _packet: Packet) -> bool {
        true
    }

    #[inline]
    fn line_up(&mut self, packet: Packet, at: CpuId) {
        self.lines.of(at).push_back(packet);
    }

    #[inline]
    fn stay(&mut self, _finished: &Packet) -> Option<Packet> {
        None
    }

    #[inline]
    fn take(&mut self, at: CpuId, _finished: Option<&Packet>) -> Option<Packet> {
        self.lines.of(at).pop_front()
    }
}
