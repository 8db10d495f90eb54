//! Packets that wait for a stack, which one processor at a time works on.

use super::{FifoQueues, Layout, Waiting};
use crate::dispatch::Job;
use crate::policy::Queues;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use warmcore_units::{CpuId, StackId};

/// Queues of stacks that each work on one packet at a time. Packets wait at their stack, and a stack that
/// has a packet but no processor waits in a queue. A processor stays with its stack while packets wait
/// there.
#[derive(Clone, Debug)]
pub struct StackQueues<J> {
    /// The stack of each stream.
    stack_of: Vec<u32>,
    /// The home of each stack.
    homes: Vec<u32>,
    stacks: Vec<Stack<J>>,
    /// The first packet of each stack that waits for a processor.
    queues: FifoQueues<J>,
}

#[derive(Clone, Debug)]
struct Stack<J> {
    /// Whether one of its packets is in service or waits for a processor.
    busy: bool,
    backlog: VecDeque<J>,
}

impl<J> Default for Stack<J> {
    fn default() -> Self {
        Self { busy: false, backlog: VecDeque::new() }
    }
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
            stacks: (0..layout.stacks).map(|_| Stack::default()).collect(),
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
    fn admit(&mut self, job: J) -> Option<J> {
        let stack = self.stack_of(&job);
        let stack = &mut self.stacks[stack];
        if stack.busy {
            stack.backlog.push_back(job);
            return None;
        }
        stack.busy = true;
        Some(job)
    }

    #[inline]
    fn enqueue(&mut self, job: J, at: CpuId) {
        self.queues.get_mut(at).push_back(job);
    }

    #[inline]
    fn next_of_stack(&mut self, finished: &J) -> Option<J> {
        let stack = self.stack_of(finished);
        let stack = &mut self.stacks[stack];
        let next = stack.backlog.pop_front();
        stack.busy = next.is_some();
        next
    }

    #[inline]
    fn prefetch_of_stack(&mut self, running: &J) -> Option<J> {
        let stack = self.stack_of(running);
        self.stacks[stack].backlog.pop_front()
    }

    #[inline]
    fn passes(&self, _cpu: CpuId, job: &J, stack: StackId) -> bool {
        self.stack_of(job) == stack.index() && self.stacks[stack.index()].backlog.is_empty()
    }

    #[inline]
    fn take(&mut self, at: CpuId, _finished: Option<&J>) -> Option<J> {
        self.queues.get_mut(at).pop_front()
    }
}
