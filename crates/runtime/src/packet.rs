//! A packet that was received: its time of arrival, its stream and its frame.

use warmcore_policy::dispatch::Job;
use warmcore_units::{Nanos, StreamId};

/// A packet on its way from a driver to a handler.
#[derive(Debug)]
pub(crate) struct Packet {
    pub(crate) arrived: Nanos,
    pub(crate) stream: StreamId,
    pub(crate) frame: Frame,
}

/// Where a packet's bytes are.
#[derive(Debug)]
pub(crate) enum Frame {
    /// Index of a frame that the driver built before the run.
    Prepared(u32),
    /// A copy in a buffer that belongs to the packet.
    Held(Box<Buffer>),
}

/// A buffer for one frame.
#[derive(Debug, Default)]
pub(crate) struct Buffer {
    bytes: Vec<u8>,
}

impl Buffer {
    /// Copies `frame` into the buffer.
    pub(crate) fn fill(&mut self, frame: &[u8]) {
        self.bytes.clear();
        self.bytes.extend_from_slice(frame);
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl Job for Packet {
    #[inline]
    fn arrived(&self) -> Nanos {
        self.arrived
    }

    #[inline]
    fn stream(&self) -> StreamId {
        self.stream
    }
}
