//! Datagrams that are sent together.

use super::Batch;
use core::ops::Range;
use std::net::{IpAddr, SocketAddr};

/// Datagrams to be sent by as few system calls as possible. Nothing is allocated once it has grown.
#[derive(Default, Debug)]
pub struct Outbox {
    bytes: Vec<u8>,
    entries: Vec<Entry>,
}

/// A datagram in the outbox.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) bytes: Range<usize>,
    pub(super) to: SocketAddr,
    pub(super) from: Option<IpAddr>,
}

/// What became of an outbox that was sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Sent {
    /// Datagrams that the kernel accepted.
    pub sent: u64,
    /// Datagrams that it refused: too long, no route, a full device queue, or forbidden by a firewall.
    pub refused: u64,
}

impl Outbox {
    /// Most bytes that may wait; what is more is sent first.
    const MOST_BYTES: usize = 256 << 10;

    /// Adds a datagram to `to`, to leave from the address `from` if given.
    pub fn push(&mut self, bytes: &[u8], to: SocketAddr, from: Option<IpAddr>) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        self.entries.push(Entry { bytes: start..self.bytes.len(), to, from });
    }

    /// The number of datagrams in it.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether it is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether it should be sent before more is added.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.entries.len() >= Batch::MOST || self.bytes.len() >= Self::MOST_BYTES
    }

    /// Takes out all but the first `len` datagrams.
    pub fn truncate(&mut self, len: usize) {
        self.entries.truncate(len);
        self.bytes.truncate(self.entries.last().map_or(0, |entry| entry.bytes.end));
    }

    /// The datagrams in it, in the order in which they were added: bytes and receiver.
    pub fn datagrams(&self) -> impl Iterator<Item = (&[u8], SocketAddr)> {
        self.entries.iter().map(|entry| (&self.bytes[entry.bytes.clone()], entry.to))
    }

    /// Its datagrams and their bytes.
    pub(super) fn parts(&self) -> (&[Entry], &[u8]) {
        (&self.entries, &self.bytes)
    }
}
