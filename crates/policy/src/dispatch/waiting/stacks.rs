//! Packets that wait for a stack, which one processor at a time works on.

use super::{Chains, FifoQueues, Layout, Waiting};
use crate::dispatch::Job;
use crate::policy::Queues;
use alloc::vec;
use alloc::vec::Vec;
use warmcore_units::{CpuId, StackId, StreamId};

/// Queues of stacks that each work on one packet at a time. Packets wait at their stack, and a stack that
/// has a packet but no processor waits in a queue. A processor stays with its stack while packets wait
/// there.
#[derive(Clone, Debug)]
pub struct StackQueues<J> {
    /// The stack of each stream.
    stack_of: Vec<u32>,
    /// The home of each stack.
    homes: Vec<u32>,
    /// Whether a packet of each stack is in service or waits for a processor.
    busy: Vec<bool>,
    /// The packets that wait for each stack.
    backlogs: Chains<J>,
    /// The first packet of each stack that waits for a processor.
    queues: FifoQueues<J>,
}

impl<J: Job> StackQueues<J> {
    #[inline]
    fn stack_of(&self, job: &J) -> usize {
        self.stack_of[job.stream().index()] as usize
    }
}

impl<J: Job> Waiting for StackQueues<J> {
    type Job = J;
    const HOLDS_STACK: bool = true;

    fn new(layout: &Layout, queues: Queues) -> Self {
        Self {
            stack_of: layout.stacks_of_streams(),
            homes: layout.homes_of_stacks(),
            busy: vec![false; layout.stacks as usize],
            backlogs: Chains::new(layout.stacks),
            queues: FifoQueues::new(layout.processors, queues),
        }
    }

    #[inline]
    fn stack(&self, job: &J, _cpu: CpuId) -> StackId {
        StackId::from(self.stack_of(job))
    }

    #[inline]
    fn home(&self, job: &J) -> CpuId {
        CpuId(self.homes[self.stack_of(job)])
    }

    #[inline]
    fn touch(&self, stream: StreamId) -> u32 {
        let stack = self.stack_of[stream.index()];
        let index = stack as usize;
        self.homes[index] ^ u32::from(self.busy[index]) ^ u32::from(self.backlogs.is_empty(index))
    }

    fn touch_next(&self, at: CpuId, touch: impl Fn(&J) -> u32) -> u32 {
        self.queues.touch_next(at, |job| {
            let stack = self.stack_of(job);
            touch(job) ^ u32::from(self.busy[stack]) ^ u32::from(self.backlogs.is_empty(stack))
        })
    }

    #[inline]
    fn admit(&mut self, job: J) -> Option<J> {
        let stack = self.stack_of(&job);
        if core::mem::replace(&mut self.busy[stack], true) {
            self.backlogs.push(stack, job);
            return None;
        }
        Some(job)
    }

    #[inline]
    fn enqueue(&mut self, job: J, at: CpuId) {
        self.queues.get_mut(at).push_back(job);
    }

    #[inline]
    fn next_of_stack(&mut self, finished: &J) -> Option<J> {
        let stack = self.stack_of(finished);
        let next = self.backlogs.pop(stack);
        self.busy[stack] = next.is_some();
        next
    }

    #[inline]
    fn prefetch_of_stack(&mut self, running: &J) -> Option<J> {
        let stack = self.stack_of(running);
        self.backlogs.pop(stack)
    }

    #[inline]
    fn passes(&self, _cpu: CpuId, job: &J, stack: StackId) -> bool {
        self.stack_of(job) == stack.index() && self.backlogs.is_empty(stack.index())
    }

    #[inline]
    fn take(&mut self, at: CpuId, _finished: Option<&J>) -> Option<J> {
        self.queues.get_mut(at).pop_front()
    }
}
