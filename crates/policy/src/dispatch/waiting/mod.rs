//! Where jobs wait, and which one a processor takes next (§3).
//!
//! | form | for | who waits in a line |
//! |---|---|---|
//! | [`PacketQueues`] | Locking and Hybrid, first come first served | packets |
//! | [`StreamQueue`] | the same, with the stream just processed first | packets |
//! | [`StackQueues`] | IPS | stacks that have a packet but no processor |

mod packets;
mod stacks;
mod streams;

pub use packets::PacketQueues;
pub use stacks::StackQueues;
pub use streams::StreamQueue;

use super::Job;
use crate::assignment::{hashed, in_turn};
use crate::policy::Queues;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use warmcore_units::{CpuId, StackId};

/// How many of everything there is, and how it belongs together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    /// Processors.
    pub processors: u32,
    /// Streams.
    pub streams: u32,
    /// Independent stacks that streams belong to.
    pub stacks: u32,
    /// Whether each processor has a stack of its own that all streams are open in (Hybrid); if
    /// not, all share one, unless streams belong to one of several.
    pub stack_each: bool,
    /// Whether members are hashed to their places; if not, they are dealt out in turn.
    pub hashed: bool,
}

impl Layout {
    /// The stack that each stream belongs to, where it belongs to one of several.
    #[must_use]
    pub fn stacks_of_streams(&self) -> Vec<u32> {
        self.assign(self.streams, self.stacks)
    }

    /// The processor that each stream is assigned to, where no stack is.
    #[must_use]
    pub fn homes_of_streams(&self) -> Vec<u32> {
        self.assign(self.streams, self.processors)
    }

    /// The processor that each stack is assigned to.
    #[must_use]
    pub fn homes_of_stacks(&self) -> Vec<u32> {
        in_turn(self.stacks, self.processors)
    }

    /// The place of each of `members` among `places`.
    fn assign(&self, members: u32, places: u32) -> Vec<u32> {
        if self.hashed { hashed(members, places) } else { in_turn(members, places) }
    }
}

/// The jobs that are not in service.
pub trait Waiting: Send {
    /// What waits.
    type Job: Job;

    /// Whether a job holds its stack until its end is told, so that a processor that goes on to
    /// another stack has to tell it first.
    const HOLDS_STACK: bool = false;

    /// Nothing waits, with lines as the policy has them.
    fn none(layout: &Layout, line: Queues) -> Self;

    /// The stack that `job` visits if it is processed on `cpu`.
    fn stack(&self, job: &Self::Job, cpu: CpuId) -> StackId;

    /// The processor to which `job` is assigned.
    fn home(&self, job: &Self::Job) -> CpuId;

    /// `job` has arrived: it is handed back if it may go into service as soon as there is a
    /// processor for it. If not, it has been put where it waits.
    fn admit(&mut self, job: Self::Job) -> Option<Self::Job>;

    /// `job` was admitted, but has to wait in the line of `at`.
    fn enqueue(&mut self, job: Self::Job, at: CpuId);

    /// What the processor that has finished `finished` must go on with before it looks at lines.
    fn next_of_stack(&mut self, finished: &Self::Job) -> Option<Self::Job>;

    /// What the processor that has `running` in hand must go on with after it in any case.
    fn next_of_stack_ahead(&mut self, running: &Self::Job) -> Option<Self::Job> {
        let _ = running;
        None
    }

    /// Takes the next job from the line of `at`, after `finished` if one was.
    fn take(&mut self, at: CpuId, finished: Option<&Self::Job>) -> Option<Self::Job>;
}

/// First-come-first-served lines, one for all processors or one for each.
#[derive(Clone, Debug)]
struct FifoQueues<J> {
    lines: Vec<VecDeque<J>>,
}

impl<J> FifoQueues<J> {
    fn none(processors: u32, line: Queues) -> Self {
        let lines = match line {
            Queues::Common => 1,
            Queues::PerProcessor => processors,
        };
        Self { lines: (0..lines).map(|_| VecDeque::new()).collect() }
    }

    #[inline]
    fn get_mut(&mut self, line: CpuId) -> &mut VecDeque<J> {
        &mut self.lines[line.index()]
    }
}
