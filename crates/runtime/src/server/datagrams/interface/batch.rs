//! Datagrams copied out of frames, so that the device's buffers are free while handlers run.

use core::ops::Range;
use std::net::SocketAddrV4;
use warmcore_linux::net::sockets::Datagram;

/// The datagrams of one receive call.
#[derive(Debug)]
pub(in super::super) struct Batch {
    bytes: Vec<u8>,
    entries: Vec<Entry>,
    limit: usize,
    /// The longest datagram in bytes; longer ones are cut.
    longest: usize,
}

#[derive(Debug)]
struct Entry {
    bytes: Range<usize>,
    from: SocketAddrV4,
    truncated: bool,
}

impl Batch {
    pub(super) fn new(limit: usize, longest: usize) -> Self {
        Self { bytes: Vec::new(), entries: Vec::new(), limit, longest }
    }

    pub(super) fn set_limit(&mut self, datagrams: usize) {
        self.limit = datagrams;
    }

    /// How many frames may still be received.
    pub(super) fn room(&self) -> usize {
        self.limit.saturating_sub(self.entries.len())
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.entries.clear();
    }

    pub(super) fn push(&mut self, bytes: &[u8], from: SocketAddrV4) {
        let start = self.bytes.len();
        let kept = &bytes[..bytes.len().min(self.longest)];
        self.bytes.extend_from_slice(kept);
        let truncated = kept.len() < bytes.len();
        self.entries.push(Entry { bytes: start..self.bytes.len(), from, truncated });
    }

    pub(super) fn datagrams(&self) -> impl Iterator<Item = Datagram<'_>> {
        self.entries.iter().map(|entry| Datagram {
            bytes: &self.bytes[entry.bytes.clone()],
            from: entry.from.into(),
            to: None,
            at: None,
            truncated: entry.truncated,
        })
    }
}
