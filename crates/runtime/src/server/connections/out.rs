//! What a thread sends on connections, and those that it has closed.

use super::Directory;
use super::frames::Frames;
use super::leaving::Leaving;
use super::stream::{Given, Replies, Stream};
use crate::server::transport::Outgoing;
use std::net::SocketAddr;
use std::sync::Arc;
use warmcore_linux::net::sockets::Sent;

/// Bytes of replies that wait for the end of a connection's turn.
const MOST_HELD: usize = 64 << 10;

/// What a thread of the server sends.
pub(in crate::server) struct Out {
    frames: Frames,
    directory: Arc<dyn Directory>,
    /// The connection that has its turn.
    stream: Option<Arc<Stream>>,
    /// Replies on it.
    replies: Replies,
    /// How many of their bytes, and of them, are from before the handler's call.
    mark: (usize, usize),
    sent: Sent,
    /// What came of the last sending.
    given: Given,
    pub(super) leaving: Leaving,
    /// A buffer to receive into.
    pub(super) buffer: Vec<u8>,
    /// Whether connections end when nothing is left to do on them: the port is closed.
    pub(super) closing: bool,
}

impl Out {
    pub(super) fn new(frames: Frames, directory: Arc<dyn Directory>) -> Self {
        Self {
            frames,
            directory,
            stream: None,
            replies: Replies::default(),
            mark: (0, 0),
            sent: Sent::default(),
            given: Given::default(),
            leaving: Leaving::default(),
            buffer: Vec::new(),
            closing: false,
        }
    }

    /// Begins the turn of a connection.
    pub(super) fn begin(&mut self, stream: &Arc<Stream>) {
        self.stream = Some(Arc::clone(stream));
        self.given = Given::default();
    }

    /// Sends what is left of the turn. Returns how many bytes wait, or `None` if the connection is over.
    pub(super) fn end(&mut self) -> Option<usize> {
        let waiting = self.give();
        self.stream = None;
        waiting
    }

    /// Sends what waits on the connection, and all replies so far. Returns how many bytes wait, or `None` if the connection is
    /// over.
    pub(super) fn give(&mut self) -> Option<usize> {
        self.mark = (0, 0);
        if let Some(stream) = &self.stream {
            self.given = stream.give(&mut self.replies);
            self.sent.sent += self.given.sent;
            self.sent.refused += self.given.lost;
        }
        (!self.given.over).then_some(self.given.waiting)
    }

    /// Whether so much is held that it should be sent.
    pub(super) fn is_full(&self) -> bool {
        self.replies.bytes.len() >= MOST_HELD
    }

    /// Replies on the connection that has its turn.
    pub(in crate::server) fn push(&mut self, bytes: &[u8]) {
        if self.is_full() {
            self.give();
        }
        if self.frames.append(&mut self.replies.bytes, bytes) {
            self.replies.ends.push(self.replies.bytes.len());
        } else {
            self.sent.refused += 1;
        }
    }

    /// Sends on another connection.
    pub(in crate::server) fn push_to(&mut self, peer: SocketAddr, bytes: &[u8]) {
        let stream = self.directory.find(&peer);
        let taken = stream.is_some_and(|stream| stream.offer(&self.frames, bytes));
        self.sent.sent += u64::from(taken);
        self.sent.refused += u64::from(!taken);
    }

    /// Gives a connection up. With `leave` it ends in order: what was sent arrives, even if the peer goes on sending.
    pub(super) fn give_up(&mut self, stream: Arc<Stream>, leave: bool, now: u64) {
        self.sent.refused += stream.give_up();
        if leave {
            self.leaving.add(stream, now, &mut self.buffer);
        }
    }
}

impl Outgoing for Out {
    fn mark(&mut self) {
        self.mark = (self.replies.bytes.len(), self.replies.ends.len());
    }

    fn back_to_mark(&mut self) {
        self.replies.bytes.truncate(self.mark.0);
        self.replies.ends.truncate(self.mark.1);
    }

    fn flush(&mut self) {}

    fn sent(&self) -> Sent {
        self.sent
    }

    fn tend(&mut self, now: u64) -> u64 {
        self.leaving.tend(now, &mut self.buffer)
    }
}
