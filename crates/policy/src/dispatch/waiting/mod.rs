//! Where jobs wait, and which one a processor takes next (Salehi, Kurose & Towsley 1994, §3).
//!
//! | type | for | what waits in a queue |
//! |---|---|---|
//! | [`PacketQueues`] | Locking and Hybrid, first come first served | packets |
//! | [`StreamQueue`] | the same, with the stream just processed first | packets |
//! | [`ClassQueues`] | the same, with classes of streams and with limits | packets |
//! | [`StackQueues`] | IPS | stacks that have a packet but no processor |

mod chains;
mod classes;
mod packets;
mod stacks;
mod streams;

pub use chains::Chains;
pub use classes::{ClassQueues, QueueLimit, QueueRules};
pub use packets::PacketQueues;
pub use stacks::StackQueues;
pub use streams::StreamQueue;

use super::Job;
use crate::assignment::{hashed, in_turn};
use crate::policy::Queues;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use warmcore_units::{CpuId, StackId, StreamId};

/// Numbers of processors, streams and stacks, and how they are assigned to each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    /// Processors.
    pub processors: u32,
    /// Streams.
    pub streams: u32,
    /// Independent stacks that streams belong to.
    pub stacks: u32,
    /// Whether each processor has a stack of its own in which all streams are open (Hybrid). If not, all
    /// processors share one stack, or each stream belongs to one of several.
    pub stack_per_processor: bool,
    /// Whether streams are assigned by hash; if not, they are assigned in turn.
    pub hashed: bool,
}

impl Layout {
    /// The stack of each stream, if there are several independent stacks.
    #[must_use]
    pub fn stacks_of_streams(&self) -> Vec<u32> {
        self.assign(self.streams, self.stacks)
    }

    /// The processor of each stream, if streams rather than stacks are assigned.
    #[must_use]
    pub fn homes_of_streams(&self) -> Vec<u32> {
        self.assign(self.streams, self.processors)
    }

    /// The processor that each stack is assigned to.
    #[must_use]
    pub fn homes_of_stacks(&self) -> Vec<u32> {
        in_turn(self.stacks, self.processors)
    }

    /// Assigns each of `members` to one of `places`.
    fn assign(&self, members: u32, places: u32) -> Vec<u32> {
        if self.hashed { hashed(members, places) } else { in_turn(members, places) }
    }
}

/// Jobs of a queue that [`Waiting::touch_next`] touches.
pub const AHEAD: usize = 16;

/// The jobs that wait for service.
pub trait Waiting: Send + 'static {
    /// What waits.
    type Job: Job;

    /// Whether a job holds its stack until its end is reported. If so, a processor must report the end
    /// before it continues with another stack.
    const HOLDS_STACK: bool = false;

    /// Whether a queue may be [full](Self::is_full). A job is then admitted at once.
    const LIMITED: bool = false;

    /// Empty, with the queues that the policy asks for.
    fn new(layout: &Layout, queues: Queues) -> Self;

    /// The stack that `job` visits if it is processed on `cpu`.
    fn stack(&self, job: &Self::Job, cpu: CpuId) -> StackId;

    /// The processor to which `job` is assigned.
    fn home(&self, job: &Self::Job) -> CpuId;

    /// Reads what is kept of `stream`, so that it is in the processor's cache when its next job arrives. Returns
    /// something that depends on it.
    fn touch(&self, stream: StreamId) -> u32 {
        let _ = stream;
        0
    }

    /// Calls `touch` with the next [`AHEAD`] jobs in the queue of `at`. Returns something that depends on what it returned.
    fn touch_next(&self, at: CpuId, touch: impl Fn(&Self::Job) -> u32) -> u32 {
        let _ = (at, touch);
        0
    }

    /// Handles the arrival of `job`: returns it if it may start as soon as a processor is free, and
    /// otherwise stores it where it waits. It may start, unless a job waits for its stack.
    #[inline]
    fn admit(&mut self, job: Self::Job) -> Option<Self::Job> {
        Some(job)
    }

    /// Whether no further job may wait in the queue of `at`.
    fn is_full(&self, at: CpuId) -> bool {
        let _ = at;
        false
    }

    /// Appends an admitted job to the queue of `at`.
    fn enqueue(&mut self, job: Self::Job, at: CpuId);

    /// The job that must follow `finished` on its processor before any queue is served: the next one of
    /// its stack. None, unless jobs wait for their stack.
    #[inline]
    fn next_of_stack(&mut self, finished: &Self::Job) -> Option<Self::Job> {
        let _ = finished;
        None
    }

    /// The job that must follow `running` on its processor in any case.
    fn prefetch_of_stack(&mut self, running: &Self::Job) -> Option<Self::Job> {
        let _ = running;
        None
    }

    /// Whether `job`, if it arrived now at a policy by which packets are processed at home only, would be the next one
    /// that `cpu` takes after those it holds, the last of which is in `stack`.
    fn passes(&self, cpu: CpuId, job: &Self::Job, stack: StackId) -> bool {
        let _ = (cpu, job, stack);
        false
    }

    /// Takes the next job from the queue of `at`; `finished` is the job that the processor ran last.
    fn take(&mut self, at: CpuId, finished: Option<&Self::Job>) -> Option<Self::Job>;
}

/// First-come-first-served queues: one for all processors, or one for each.
#[derive(Clone, Debug)]
struct FifoQueues<J> {
    queues: Vec<VecDeque<J>>,
}

impl<J> FifoQueues<J> {
    fn new(processors: u32, queues: Queues) -> Self {
        Self { queues: (0..queues.count(processors)).map(|_| VecDeque::new()).collect() }
    }

    #[inline]
    fn is_empty(&self, queue: CpuId) -> bool {
        self.queues[queue.index()].is_empty()
    }

    fn touch_next(&self, queue: CpuId, touch: impl Fn(&J) -> u32) -> u32 {
        let queue = &self.queues[queue.index()];
        queue.range(..AHEAD.min(queue.len())).fold(0, |sum, job| sum ^ touch(job))
    }

    #[inline]
    fn get_mut(&mut self, queue: CpuId) -> &mut VecDeque<J> {
        &mut self.queues[queue.index()]
    }
}
