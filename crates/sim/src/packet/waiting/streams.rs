use super::Waiting;
use super::packets::Places;
use crate::packet::host::{Host, Packet};
use warmcore_policy::Line;
use warmcore_units::{CpuId, StackId};

/// One line for all processors, from which a processor takes the stream it has just processed
/// before any other: its session lines are still there.
///
/// The line is a list through all waiting packets, and another through those of each stream, so
/// that either end of either is at hand.
#[derive(Clone, Debug)]
pub struct StreamLines {
    places: Places,
    nodes: Vec<Node>,
    /// A list of unused nodes, linked by `behind`.
    unused: u32,
    line: Ends,
    streams: Vec<Ends>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    packet: Packet,
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

impl StreamLines {
    fn node(&mut self, packet: Packet) -> u32 {
        let node = Node { packet, ahead: self.line.last, behind: NONE, behind_in_stream: NONE };
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
    fn remove(&mut self, first: u32) -> Packet {
        let Node { packet, ahead, behind, behind_in_stream } = self.nodes[first as usize];
        match ahead {
            NONE => self.line.first = behind,
            ahead => self.nodes[ahead as usize].behind = behind,
        }
        match behind {
            NONE => self.line.last = ahead,
            behind => self.nodes[behind as usize].ahead = ahead,
        }
        let stream = &mut self.streams[packet.stream.index()];
        stream.first = behind_in_stream;
        if behind_in_stream == NONE {
            *stream = EMPTY;
        }
        self.nodes[first as usize].behind = core::mem::replace(&mut self.unused, first);
        packet
    }
}

impl Waiting for StreamLines {
    fn none(host: &Host, line: Line) -> Self {
        assert_eq!(line, Line::Common, "the scenario's check allows no other");
        let streams = vec![EMPTY; host.shape.streams as usize];
        Self { places: Places::of(host), nodes: Vec::new(), unused: NONE, line: EMPTY, streams }
    }

    #[inline]
    fn stack(&self, _packet: &Packet, cpu: CpuId) -> StackId {
        self.places.stack(cpu)
    }

    #[inline]
    fn home(&self, packet: &Packet) -> CpuId {
        self.places.home(packet)
    }

    #[inline]
    fn admit(&mut self, _packet: Packet) -> bool {
        true
    }

    fn line_up(&mut self, packet: Packet, _at: CpuId) {
        let new = self.node(packet);
        match core::mem::replace(&mut self.line.last, new) {
            NONE => self.line.first = new,
            last => self.nodes[last as usize].behind = new,
        }
        let stream = &mut self.streams[packet.stream.index()];
        match core::mem::replace(&mut stream.last, new) {
            NONE => stream.first = new,
            last => self.nodes[last as usize].behind_in_stream = new,
        }
    }

    #[inline]
    fn stay(&mut self, _finished: &Packet) -> Option<Packet> {
        None
    }

    fn take(&mut self, _at: CpuId, finished: Option<&Packet>) -> Option<Packet> {
        let same = finished.map_or(NONE, |finished| self.streams[finished.stream.index()].first);
        match if same == NONE { self.line.first } else { same } {
            NONE => None,
            first => Some(self.remove(first)),
        }
    }
}
