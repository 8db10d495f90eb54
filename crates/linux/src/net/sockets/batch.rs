//! Datagrams received by one system call.

use super::kernel::Arrays;
use core::fmt;
use core::time::Duration;
use std::net::{IpAddr, SocketAddr};

/// Buffers for the datagrams of one receive call, and where each came from.
///
/// Memory of a buffer is used only as far as datagrams fill it.
pub struct Batch {
    pub(super) arrays: Arrays,
    received: usize,
    /// How many datagrams the next call asks for.
    limit: usize,
    /// Whether the last call got fewer than it asked for: the queue was empty then.
    has_emptied: bool,
}

/// A received datagram, borrowed from its [`Batch`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Datagram<'a> {
    /// Its data.
    pub bytes: &'a [u8],
    /// Who sent it.
    pub from: SocketAddr,
    /// The address of this machine that it was sent to; known on sockets of all addresses.
    pub to: Option<IpAddr>,
    /// When the kernel received it, since 1970; only if the port was opened with [`stamped`](super::PortOptions::stamped).
    pub at: Option<Duration>,
    /// Whether it was longer than the buffer: the rest is lost.
    pub truncated: bool,
}

impl Batch {
    /// The most datagrams of a batch. More save nothing: a system call's cost is small beside that of 64 datagrams.
    pub const MOST: usize = 64;
    /// The longest datagram that UDP carries, in bytes.
    pub const LONGEST: usize = 65_535;

    /// Buffers for up to `datagrams` (1 to [`MOST`](Self::MOST)) of up to `longest` bytes.
    #[must_use]
    pub fn new(datagrams: usize, longest: usize) -> Self {
        let datagrams = datagrams.clamp(1, Self::MOST);
        Self {
            arrays: Arrays::new(datagrams, longest.clamp(1, Self::LONGEST)),
            received: 0,
            limit: datagrams,
            has_emptied: false,
        }
    }

    /// The most datagrams that a call may receive.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.arrays.capacity()
    }

    /// Lets the next calls receive at most `datagrams`, at least one.
    pub fn set_limit(&mut self, datagrams: usize) {
        self.limit = datagrams.clamp(1, self.arrays.capacity());
    }

    pub(super) const fn limit(&self) -> usize {
        self.limit
    }

    pub(super) fn set_received(&mut self, received: usize) {
        self.has_emptied = received < self.limit;
        self.received = received;
    }

    pub(super) const fn has_emptied(&self) -> bool {
        self.has_emptied
    }

    /// The datagrams of the last call, in the order of the socket's queue.
    pub fn datagrams(&self) -> impl Iterator<Item = Datagram<'_>> {
        (0..self.received).filter_map(|at| self.arrays.datagram(at))
    }
}

impl fmt::Debug for Batch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Batch({} of at most {})", self.received, self.limit)
    }
}
