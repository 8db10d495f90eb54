use super::packets::Places;
use super::{Layout, Waiting};
use crate::dispatch::Job;
use crate::policy::Queues;
use alloc::vec;
use alloc::vec::Vec;
use warmcore_units::{CpuId, StackId};

/// One line for all processors, from which a processor takes the stream it has just processed
/// before any other: its session lines are still there.
///
/// The line is a list through all waiting packets, and another through those of each stream, so
/// that either end of either is at hand.
#[derive(Clone, Debug)]
pub struct StreamQueue<J> {
    places: Places,
    nodes: Vec<Node<J>>,
    /// A list of unused nodes, linked by `behind`.
    unused: u32,
    line: Ends,
    streams: Vec<Ends>,
}

#[derive(Clone, Copy, Debug)]
struct Node<J> {
    /// `None` where nobody waits.
    job: Option<J>,
    ahead: u32,
    behind: u32,
    /// The next packet of the same stream.
    behind_in_stream: u32,
}

#[derive(Clone, Copy, Debug)]
struct Ends {
    first: u32,
    last: u32,
}

/// In place of a node.
const NONE: u32 = u32::MAX;
const EMPTY: Ends = Ends { first: NONE, last: NONE };

impl<J: Job> StreamQueue<J> {
    fn node(&mut self, job: J) -> u32 {
        let node = Node { job: Some(job), ahead: self.line.last, behind: NONE, behind_in_stream: NONE };
        if self.unused == NONE {
            self.nodes.push(node);
            return u32::try_from(self.nodes.len() - 1).expect("fewer than 2^32 packets wait");
        }
        let free = self.unused;
        self.unused = self.nodes[free as usize].behind;
        self.nodes[free as usize] = node;
        free
    }

    /// Takes out the first packet of its stream.
    fn remove(&mut self, first: u32) -> Option<J> {
        let Node { job, ahead, behind, behind_in_stream } = &mut self.nodes[first as usize];
        let (job, ahead, behind, behind_in_stream) = (job.take()?, *ahead, *behind, *behind_in_stream);
        match ahead {
            NONE => self.line.first = behind,
            ahead => self.nodes[ahead as usize].behind = behind,
        }
        match behind {
            NONE => self.line.last = ahead,
            behind => self.nodes[behind as usize].ahead = ahead,
        }
        let stream = &mut self.streams[job.stream().index()];
        stream.first = behind_in_stream;
        if behind_in_stream == NONE {
            *stream = EMPTY;
        }
        self.nodes[first as usize].behind = core::mem::replace(&mut self.unused, first);
        Some(job)
    }
}

impl<J: Job> Waiting for StreamQueue<J> {
    type Job = J;

    /// # Panics
    /// If each processor has a line of its own: what waits there is of few streams anyway.
    fn none(layout: &Layout, line: Queues) -> Self {
        assert_eq!(line, Queues::Common, "one line for all processors");
        let streams = vec![EMPTY; layout.streams as usize];
        Self { places: Places::new(layout), nodes: Vec::new(), unused: NONE, line: EMPTY, streams }
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
    fn admit(&mut self, job: J) -> Option<J> {
        Some(job)
    }

    fn enqueue(&mut self, job: J, _at: CpuId) {
        let stream = job.stream();
        let new = self.node(job);
        match core::mem::replace(&mut self.line.last, new) {
            NONE => self.line.first = new,
            last => self.nodes[last as usize].behind = new,
        }
        let stream = &mut self.streams[stream.index()];
        match core::mem::replace(&mut stream.last, new) {
            NONE => stream.first = new,
            last => self.nodes[last as usize].behind_in_stream = new,
        }
    }

    #[inline]
    fn next_of_stack(&mut self, _finished: &J) -> Option<J> {
        None
    }

    fn take(&mut self, _at: CpuId, finished: Option<&J>) -> Option<J> {
        let same = finished.map_or(NONE, |finished| self.streams[finished.stream().index()].first);
        match if same == NONE { self.line.first } else { same } {
            NONE => None,
            first => self.remove(first),
        }
    }
}
