//! A queue of packets in order of arrival, from which the next packet of a stream can be taken.

use super::packets::Places;
use super::{Layout, Waiting};
use crate::dispatch::Job;
use crate::policy::Queues;
use alloc::vec;
use alloc::vec::Vec;
use warmcore_units::{CpuId, StackId, StreamId};

/// One queue for all processors. A processor first takes a packet of the stream it has just processed,
/// whose session lines it still holds.
///
/// All waiting packets form one linked list, and the packets of each stream another, so both ends of
/// every list are found in constant time.
#[derive(Clone, Debug)]
pub struct StreamQueue<J> {
    places: Places,
    nodes: Vec<Node<J>>,
    /// First of the unused nodes, which are linked by `behind`.
    unused: u32,
    queue: Ends,
    streams: Vec<Ends>,
}

#[derive(Clone, Copy, Debug)]
struct Node<J> {
    /// `None` in an unused node.
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

/// Marks the end of a list.
const NONE: u32 = u32::MAX;
const EMPTY: Ends = Ends { first: NONE, last: NONE };

impl<J: Job> StreamQueue<J> {
    fn node(&mut self, job: J) -> u32 {
        let node = Node { job: Some(job), ahead: self.queue.last, behind: NONE, behind_in_stream: NONE };
        if self.unused == NONE {
            self.nodes.push(node);
            return u32::try_from(self.nodes.len() - 1).expect("fewer than 2^32 packets wait");
        }
        let free = self.unused;
        self.unused = self.nodes[free as usize].behind;
        self.nodes[free as usize] = node;
        free
    }

    /// Removes the packet at node `first`, which is the first of its stream.
    fn remove(&mut self, first: u32) -> Option<J> {
        let Node { job, ahead, behind, behind_in_stream } = &mut self.nodes[first as usize];
        let (job, ahead, behind, behind_in_stream) = (job.take()?, *ahead, *behind, *behind_in_stream);
        match ahead {
            NONE => self.queue.first = behind,
            ahead => self.nodes[ahead as usize].behind = behind,
        }
        match behind {
            NONE => self.queue.last = ahead,
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
    /// If the policy asks for a queue for each processor: few streams would wait there anyway.
    fn new(layout: &Layout, queues: Queues) -> Self {
        assert_eq!(queues, Queues::Common, "one queue for all processors");
        let streams = vec![EMPTY; layout.streams as usize];
        Self { places: Places::new(layout), nodes: Vec::new(), unused: NONE, queue: EMPTY, streams }
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
        self.places.home(stream).0 ^ self.streams[stream.index()].first
    }

    fn enqueue(&mut self, job: J, _at: CpuId) {
        let stream = job.stream();
        let new = self.node(job);
        match core::mem::replace(&mut self.queue.last, new) {
            NONE => self.queue.first = new,
            last => self.nodes[last as usize].behind = new,
        }
        let stream = &mut self.streams[stream.index()];
        match core::mem::replace(&mut stream.last, new) {
            NONE => stream.first = new,
            last => self.nodes[last as usize].behind_in_stream = new,
        }
    }

    fn take(&mut self, _at: CpuId, finished: Option<&J>) -> Option<J> {
        let same = finished.map_or(NONE, |finished| self.streams[finished.stream().index()].first);
        match if same == NONE { self.queue.first } else { same } {
            NONE => None,
            first => self.remove(first),
        }
    }
}
