//! Connections that the server has ended, until their peers have what was sent.
//!
//! The kernel resets a connection that is closed while its peer goes on sending, and what it had not delivered yet is lost. So the
//! end is said first, what still arrives is thrown away, and the connection is closed once all is acknowledged.

use super::stream::Stream;
use crate::server::flows::NEVER;
use std::sync::Arc;
use warmcore_linux::net::connections::Received;

/// How long a peer may take to acknowledge what was sent, in nanoseconds.
const LIMIT: u64 = 2_000_000_000;
/// The time between looks, and what is added for each connection, in nanoseconds: so that many peers that are gone take a
/// tenth of a worker at most.
const LOOK: u64 = 2_000_000;
const LOOK_EACH: u64 = 20_000;
/// Bytes that are thrown away at once, at least.
const ROOM: usize = 16 << 10;

/// Connections that end.
#[derive(Default)]
pub(super) struct Leaving {
    /// Each with the time until which it is waited for.
    streams: Vec<(Arc<Stream>, u64)>,
    /// When to look.
    next: u64,
}

impl Leaving {
    /// Closes a connection; later, if something could be lost now.
    pub(super) fn add(&mut self, stream: Arc<Stream>, now: u64, buffer: &mut Vec<u8>) {
        if !is_done(&stream, buffer) {
            stream.connection().end_sending();
            self.streams.push((stream, now + LIMIT));
        }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.streams.is_empty()
    }

    /// Closes those that are done, or take too long. Returns when to look again.
    pub(super) fn tend(&mut self, now: u64, buffer: &mut Vec<u8>) -> u64 {
        if self.streams.is_empty() {
            return NEVER;
        }
        if now >= self.next {
            self.streams.retain(|(stream, until)| now < *until && !is_done(stream, buffer));
            self.next = now + LOOK + LOOK_EACH * self.streams.len() as u64;
        }
        self.next
    }
}

/// Throws away what has arrived. Returns whether nothing can be lost any more.
fn is_done(stream: &Stream, buffer: &mut Vec<u8>) -> bool {
    let connection = stream.connection();
    buffer.clear();
    // As much as the buffer takes each time: a peer that never stops is looked at again.
    match connection.receive(buffer, ROOM) {
        Ok(Received::End) | Err(_) => return true,
        Ok(Received::Bytes(_) | Received::Nothing) => {}
    }
    buffer.clear();
    !connection.is_unacknowledged()
}
