//! Static demultiplexing (Falsafi 1998, §2.3.2): an event's id alone says which dispatch queue it joins.
//!
//! A partition's events are all in one queue, and only the thread bound to a queue takes events from it. That keeps
//! them in order and one at a time.

use super::rules::queue_of;
use super::{Counts, Label};
use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

/// Dispatch queues, bound to threads statically or dynamically.
#[derive(Clone, Debug)]
pub(super) struct StaticQueues<E> {
    queues: Vec<Queue<E>>,
    /// Events that any thread may take.
    unrestricted: VecDeque<E>,
    /// The queue that each thread is bound to.
    binding: Vec<Option<usize>>,
    binds_dynamically: bool,
    /// The queues that hold an event and are bound to no thread, in the order in which they became so.
    ready: VecDeque<usize>,
}

#[derive(Clone, Debug)]
struct Queue<E> {
    events: VecDeque<(Label, E)>,
    bound: bool,
}

impl<E> StaticQueues<E> {
    /// A queue for each thread, bound to it for good.
    pub(super) fn bound_for_good(threads: u32) -> Self {
        let mut queues = Self::unbound(threads, threads);
        queues.binds_dynamically = false;
        queues.queues.iter_mut().for_each(|queue| queue.bound = true);
        queues.binding = (0..threads as usize).map(Some).collect();
        queues
    }

    /// Queues to which threads bind as they poll.
    pub(super) fn unbound(threads: u32, queues: u32) -> Self {
        let queue = |_| Queue { events: VecDeque::new(), bound: false };
        Self {
            queues: (0..queues).map(queue).collect(),
            unrestricted: VecDeque::new(),
            binding: vec![None; threads as usize],
            binds_dynamically: true,
            ready: VecDeque::new(),
        }
    }

    pub(super) fn push(&mut self, label: Label, event: E) {
        let Label::Partition(id) = label else {
            debug_assert_eq!(label, Label::Unrestricted);
            self.unrestricted.push_back(event);
            return;
        };
        let at = queue_of(id, self.queues.len());
        let queue = &mut self.queues[at];
        queue.events.push_back((label, event));
        if queue.events.len() == 1 && !queue.bound {
            self.ready.push_back(at);
        }
    }

    /// An event for the idle `thread`.
    pub(super) fn take(&mut self, thread: usize, counts: &mut Counts) -> Option<(Label, E)> {
        // Also before the thread takes an unrestricted event: others may run what arrives meanwhile.
        if self.binding[thread].is_some_and(|queue| self.queues[queue].events.is_empty()) {
            self.release(thread);
        }
        if let Some(event) = self.unrestricted.pop_front() {
            return Some((Label::Unrestricted, event));
        }
        let queue = self.binding[thread].or_else(|| self.bind(thread, counts))?;
        self.queues[queue].events.pop_front()
    }

    /// Binds `thread` to the queue that has been ready for longest.
    fn bind(&mut self, thread: usize, counts: &mut Counts) -> Option<usize> {
        let queue = self.ready.pop_front()?;
        counts.bindings += 1;
        self.queues[queue].bound = true;
        self.binding[thread] = Some(queue);
        Some(queue)
    }

    /// Takes the queue that `thread` is dynamically bound to from it.
    fn release(&mut self, thread: usize) {
        if !self.binds_dynamically {
            return;
        }
        let Some(at) = self.binding[thread].take() else { return };
        let queue = &mut self.queues[at];
        queue.bound = false;
        if !queue.events.is_empty() {
            self.ready.push_back(at);
        }
    }
}
