//! Packets that wait for processors, where any processor can work on any packet.

use super::{FifoQueues, Layout, Waiting};
use crate::dispatch::Job;
use crate::policy::Queues;
use alloc::vec::Vec;
use warmcore_units::{CpuId, StackId, StreamId};

/// Queues of packets, for stacks in which any processor can work on any packet.
#[derive(Clone, Debug)]
pub struct PacketQueues<J> {
    places: Places,
    queues: FifoQueues<J>,
}

/// The home and stack of packets that are not bound to a stack.
#[derive(Clone, Debug)]
pub(super) struct Places {
    homes: Vec<u32>,
    /// Whether each processor has a stack of its own, or all share one.
    stack_per_processor: bool,
}

impl Places {
    pub(super) fn new(layout: &Layout) -> Self {
        let homes = layout.homes_of_streams();
        Self { homes, stack_per_processor: layout.stack_per_processor }
    }

    #[inline]
    pub(super) fn stack(&self, cpu: CpuId) -> StackId {
        StackId(if self.stack_per_processor { cpu.0 } else { 0 })
    }

    #[inline]
    pub(super) fn home(&self, stream: StreamId) -> CpuId {
        // `homes` may be empty: it is left out for policies that do not use homes.
        CpuId(self.homes.get(stream.index()).copied().unwrap_or_default())
    }
}

impl<J: Job> Waiting for PacketQueues<J> {
    type Job = J;

    fn new(layout: &Layout, queues: Queues) -> Self {
        Self { places: Places::new(layout), queues: FifoQueues::new(layout.processors, queues) }
    }

    #[inline]
    fn stack(&self, _job: &J, cpu: CpuId) -> StackId {
        self.places.stack(cpu)
    }

    #[inline]
    fn home(&self, job: &J) -> CpuId {
        self.places.home(job.stream())
    }

    #[inline]
    fn touch(&self, stream: StreamId) -> u32 {
        self.places.home(stream).0
    }

    fn touch_next(&self, at: CpuId, touch: impl Fn(&J) -> u32) -> u32 {
        self.queues.touch_next(at, touch)
    }

    #[inline]
    fn enqueue(&mut self, job: J, at: CpuId) {
        self.queues.get_mut(at).push_back(job);
    }

    #[inline]
    fn passes(&self, cpu: CpuId, job: &J, _stack: StackId) -> bool {
        self.home(job) == cpu && self.queues.is_empty(cpu)
    }

    #[inline]
    fn take(&mut self, at: CpuId, _finished: Option<&J>) -> Option<J> {
        self.queues.get_mut(at).pop_front()
    }
}
