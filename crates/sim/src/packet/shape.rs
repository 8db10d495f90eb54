//! What a simulated host consists of, and the packets that come to it.

use warmcore_units::{Nanos, StreamId};

/// How many of everything there is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// Processors; as many protocol threads.
    pub processors: u32,
    /// Streams.
    pub streams: u32,
    /// Independent stacks; stream `s` belongs to stack `s` modulo their number. Under Locking
    /// there is one.
    pub stacks: u32,
}

/// A packet that has arrived.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Packet {
    /// When.
    pub arrived: Nanos,
    /// Whose.
    pub stream: StreamId,
}
