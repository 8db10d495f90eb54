//! What a packet costs that starts when its processor is free.

use crate::completions::on_clock;
use crate::packet::host::{Packet, SimulatedHost};
use crate::packet::system::Finished;
use warmcore_costs::execution::PrivateTimes;
use warmcore_costs::residency::{PacketPlacement, Residency};
use warmcore_costs::{ExecutionModel, Situation};
use warmcore_units::{CpuId, Nanos, StackId, StreamId, ThreadId};
use warmcore_workload::arrivals::Direction;

/// When a processor became free that has run nothing.
pub(super) const UNUSED: Nanos = Nanos(f64::NEG_INFINITY);

/// When a packet that `arrived` starts, in this situation, on a processor that is free from `free` on, and when it ends.
#[inline(always)]
pub(super) fn ends(times: PrivateTimes, situation: Situation, arrived: Nanos, free: Nanos) -> (Nanos, Nanos) {
    let started = later(arrived, free);
    // Of a processor that was not idle, nothing is flushed.
    let idle = later(arrived - free, Nanos::ZERO);
    (started, on_clock(started + times.receive_after(situation, idle)))
}

/// The later of two times. Unlike `max`, it need not care for numbers that are none: one instruction.
#[inline(always)]
const fn later(a: Nanos, b: Nanos) -> Nanos {
    if a.0 > b.0 { a } else { b }
}

/// How many packets that find everything in cache make as much work as processors have left at `now` that are
/// free from `free` on.
pub(super) fn packets_left(model: &ExecutionModel, free: impl Iterator<Item = Nanos>, now: Nanos) -> u64 {
    let left: f64 = free.map(|free| later(free - now, Nanos::ZERO).0).sum();
    (left / model.receive_hot(Situation::default()).0) as u64
}

/// The costs of a host whose processors share neither pools nor caches, without effects.
pub(super) struct Service<'a> {
    pub(super) model: &'a ExecutionModel,
    times: PrivateTimes<'a>,
    residency: Residency,
}

impl<'a> Service<'a> {
    pub(super) fn new(host: &SimulatedHost<'a>, times: PrivateTimes<'a>) -> Self {
        Self { model: host.model, times, residency: host.scheduling.residency(&host.layout(), host.model) }
    }

    /// The service of `packet` by `stack` on `cpu`, which is free from `free` on. Packets must be served in the order
    /// in which they start, as far as they have a stream, a stack or a processor in common.
    #[inline(always)]
    pub(super) fn serve(&mut self, packet: Packet, stack: StackId, cpu: CpuId, free: Nanos) -> Finished {
        let placement = PacketPlacement { stream: packet.stream, stack, thread: ThreadId(cpu.0), cpu };
        let situation = if packet.direction == Direction::Send {
            self.residency.start_sending(placement)
        } else {
            self.residency.start(placement)
        };
        let (started, ended) = ends(self.times, situation, packet.arrived, free);
        Finished { packet, cpu, situation, started, ended }
    }

    /// Brings what is kept of `stream` and `stack` into the cache.
    #[inline]
    pub(super) fn touch(&self, stream: StreamId, stack: StackId) -> u32 {
        self.residency.touch(stream, stack)
    }
}
