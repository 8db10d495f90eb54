//! What has arrived on a connection and is not handled yet.

use core::mem;
use core::ops::Range;
use warmcore_linux::net::connections::{Connection, ConnectionError, Received};

/// Bytes that a worker receives at once. The buffer of the worker: connections have none while they have no partial request.
const ROOM: usize = 64 << 10;
/// Least and most bytes that a partial request makes room for at once.
const PARTIAL_ROOM: Range<usize> = 4 << 10..256 << 10;
/// The largest buffer that a connection keeps while it is empty.
const MOST_KEPT: usize = 4 << 10;

/// What has arrived on a connection and is not handled yet.
#[derive(Default, Debug)]
pub(in crate::server) struct Input {
    bytes: Vec<u8>,
    /// How many of them are handled.
    handled: usize,
    /// How many after those cannot end a request.
    pub(super) seen: usize,
    /// Whether the buffer is the worker's.
    lent: bool,
    /// Whether the peer sends no more.
    pub(super) ended: bool,
}

impl Input {
    /// What is not handled yet.
    pub(super) fn rest(&self) -> &[u8] {
        &self.bytes[self.handled..]
    }

    pub(super) fn is_empty(&self) -> bool {
        self.handled == self.bytes.len()
    }

    /// Takes a request of `length` bytes out of the rest, with so many before and behind it. Returns where it is.
    pub(super) fn take(&mut self, before: usize, length: usize, behind: usize) -> Range<usize> {
        let start = self.handled + before;
        self.handled = start + length + behind;
        self.seen = 0;
        start..start + length
    }

    pub(super) fn at(&self, range: Range<usize>) -> &[u8] {
        &self.bytes[range]
    }

    /// Uses a worker's buffer for the turn of the connection, if nothing is left from the one before.
    pub(super) fn borrow(&mut self, buffer: &mut Vec<u8>) {
        if self.bytes.is_empty() {
            mem::swap(&mut self.bytes, buffer);
            self.lent = true;
        }
    }

    /// Gives the worker's buffer back, and keeps what is not handled.
    pub(super) fn give_back(&mut self, buffer: &mut Vec<u8>) {
        if self.lent {
            let rest = self.rest().to_vec();
            mem::swap(&mut self.bytes, buffer);
            self.bytes = rest;
            buffer.clear();
            self.lent = false;
        } else if self.is_empty() {
            self.bytes.clear();
            self.bytes.shrink_to(MOST_KEPT);
        } else {
            self.bytes.drain(..self.handled);
        }
        self.handled = 0;
    }

    /// Receives more, of a request that misses at least so many bytes. Returns how many arrived, and whether more may be there.
    ///
    /// # Errors
    /// If the connection has failed.
    pub(super) fn receive(
        &mut self,
        connection: &Connection,
        missing: usize,
    ) -> Result<(usize, bool), ConnectionError> {
        if self.is_empty() {
            self.bytes.clear();
        } else {
            self.bytes.drain(..self.handled);
        }
        self.handled = 0;
        let room = if self.lent { ROOM } else { missing.clamp(PARTIAL_ROOM.start, PARTIAL_ROOM.end) };
        self.bytes.reserve(room);
        let space = self.bytes.capacity() - self.bytes.len();
        match connection.receive(&mut self.bytes, room)? {
            Received::Bytes(count) => Ok((count, count == space)),
            Received::Nothing => Ok((0, false)),
            Received::End => {
                self.ended = true;
                Ok((0, false))
            }
        }
    }
}
