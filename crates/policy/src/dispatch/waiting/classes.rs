//! Packets that wait in order of their class, in queues that may be limited.

use super::packets::Places;
use super::{Layout, Waiting};
use crate::dispatch::Job;
use crate::policy::Queues;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use warmcore_units::{CpuId, StackId};

/// How many packets may wait. Those in service do not count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum QueueLimit {
    /// This many in each queue.
    Each(u32),
    /// This many in all queues together.
    Together(u32),
}

/// What the queues do beyond first come first served.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct QueueRules<'a> {
    /// A packet that would wait is lost once so many do; `None` if all may wait.
    pub limit: Option<QueueLimit>,
    /// How many streams belong to each class, the most urgent class first. All further streams belong to one more class, the
    /// least urgent.
    pub classes: &'a [u32],
}

/// Queues of packets, for stacks in which any processor can work on any packet. A processor takes the packet that has waited
/// longest of the most urgent class in its queue (head of the line: no service is interrupted). A packet that finds its queue
/// full is refused, whatever its class.
#[derive(Clone, Debug)]
pub struct ClassQueues<J> {
    places: Places,
    /// How many streams belong to a class or to a more urgent one, for each class but the last.
    bounds: Vec<u32>,
    limit: Option<QueueLimit>,
    queues: Vec<ClassQueue<J>>,
    /// Packets in all queues.
    waiting: u32,
}

/// A queue, with a line for each class.
#[derive(Clone, Debug)]
struct ClassQueue<J> {
    lines: Vec<VecDeque<J>>,
    waiting: u32,
}

impl QueueRules<'_> {
    /// How many streams belong to each class or to a more urgent one, except for the last class.
    #[must_use]
    pub fn bounds(&self) -> Vec<u32> {
        let mut streams = 0_u32;
        let until = |count: &u32| {
            streams = streams.saturating_add(*count);
            streams
        };
        self.classes.iter().map(until).collect()
    }
}

impl<J> ClassQueues<J> {
    /// Empty, with the queues that the policy asks for, and these rules.
    #[must_use]
    pub fn with_rules(layout: &Layout, queues: Queues, rules: &QueueRules) -> Self {
        let bounds = rules.bounds();
        let lines = bounds.len() + 1;
        let queue = |_| ClassQueue { lines: (0..lines).map(|_| VecDeque::new()).collect(), waiting: 0 };
        Self {
            places: Places::new(layout),
            limit: rules.limit,
            queues: (0..queues.count(layout.processors)).map(queue).collect(),
            bounds,
            waiting: 0,
        }
    }
}

impl<J: Job> Waiting for ClassQueues<J> {
    type Job = J;
    const LIMITED: bool = true;

    fn new(layout: &Layout, queues: Queues) -> Self {
        Self::with_rules(layout, queues, &QueueRules::default())
    }

    #[inline]
    fn stack(&self, _job: &J, cpu: CpuId) -> StackId {
        self.places.stack(cpu)
    }

    #[inline]
    fn home(&self, job: &J) -> CpuId {
        self.places.home(job.stream())
    }

    fn is_full(&self, queue: CpuId) -> bool {
        match self.limit {
            None => false,
            Some(QueueLimit::Each(limit)) => self.queues[queue.index()].waiting >= limit,
            Some(QueueLimit::Together(limit)) => self.waiting >= limit,
        }
    }

    fn enqueue(&mut self, job: J, at: CpuId) {
        let class = self.bounds.partition_point(|&bound| bound <= job.stream().0);
        let queue = &mut self.queues[at.index()];
        queue.lines[class].push_back(job);
        queue.waiting += 1;
        self.waiting += 1;
    }

    fn take(&mut self, at: CpuId, _finished: Option<&J>) -> Option<J> {
        let queue = &mut self.queues[at.index()];
        let next = queue.lines.iter_mut().find_map(VecDeque::pop_front)?;
        queue.waiting -= 1;
        self.waiting -= 1;
        Some(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warmcore_units::{Nanos, StreamId};

    struct Packet(f64, u32);

    impl Job for Packet {
        fn arrived(&self) -> Nanos {
            Nanos(self.0)
        }

        fn stream(&self) -> StreamId {
            StreamId(self.1)
        }
    }

    const LAYOUT: Layout =
        Layout { processors: 2, streams: 6, stacks: 1, stack_per_processor: false, hashed: false };

    #[test]
    fn the_most_urgent_class_comes_first_and_the_longest_wait_within_it() {
        let rules = QueueRules { limit: None, classes: &[1, 2] };
        let mut queues = ClassQueues::with_rules(&LAYOUT, Queues::Common, &rules);
        for (at, stream) in [(0.0, 5), (1.0, 2), (2.0, 3), (3.0, 0), (4.0, 1), (5.0, 0)] {
            queues.enqueue(Packet(at, stream), CpuId(0));
        }
        let order = core::iter::from_fn(|| queues.take(CpuId(0), None)).map(|packet| packet.0);
        assert_eq!(order.collect::<Vec<_>>(), [3.0, 5.0, 1.0, 4.0, 0.0, 2.0]);
    }

    #[test]
    fn a_limit_counts_each_queue_or_all() {
        let full = |limit| {
            let rules = QueueRules { limit: Some(limit), classes: &[] };
            let mut queues = ClassQueues::with_rules(&LAYOUT, Queues::PerProcessor, &rules);
            queues.enqueue(Packet(0.0, 0), CpuId(0));
            let one = [0, 1].map(|cpu| queues.is_full(CpuId(cpu)));
            assert!(queues.take(CpuId(0), None).is_some());
            (one, [0, 1].map(|cpu| queues.is_full(CpuId(cpu))))
        };
        assert_eq!(full(QueueLimit::Each(1)), ([true, false], [false; 2]));
        assert_eq!(full(QueueLimit::Together(1)), ([true; 2], [false; 2]));
        assert_eq!(full(QueueLimit::Each(0)), ([true; 2], [true; 2]));
    }
}
