//! What a handler can do besides changing its flow's state.

use super::transport::Destination;
use core::fmt;
use core::time::Duration;
use std::net::{IpAddr, SocketAddr};
use warmcore_linux::net::sockets::{Outbox, Sent};

/// Answers a request, sends to others, and sets the flow's timer.
///
/// What is sent leaves when the batch of requests is done, or earlier if much is sent.
pub struct Reply<'a, W = ()> {
    pub(super) out: &'a mut Out,
    pub(super) worker: &'a mut W,
    pub(super) number: usize,
    pub(super) peer: SocketAddr,
    /// The address of ours that the peer knows.
    pub(super) from: Option<IpAddr>,
    /// A change of the timer: to none, or to a time from now.
    pub(super) timer: Option<Option<Duration>>,
    pub(super) close: bool,
}

impl<W> Reply<'_, W> {
    /// Sends a datagram to the peer of this flow. May be called any number of times.
    pub fn send(&mut self, bytes: &[u8]) {
        self.out.push(bytes, self.peer, self.from);
    }

    /// Sends a datagram to anybody.
    pub fn send_to(&mut self, peer: SocketAddr, bytes: &[u8]) {
        self.out.push(bytes, peer, None);
    }

    /// Calls [`timer`](super::Handler::timer) for this flow once, not before this time has passed; replaces the flow's
    /// former time. It may be later by the kernel's ticks (1 to 10 ms), and by requests that are in work.
    pub fn after(&mut self, time: Duration) {
        self.timer = Some(Some(time));
    }

    /// Gives up the flow's timer.
    pub fn no_timer(&mut self) {
        self.timer = Some(None);
    }

    /// Ends the flow after this request. The sender's next one begins a new flow.
    pub fn close(&mut self) {
        self.close = true;
    }

    /// Who gets what is [sent](Self::send).
    #[must_use]
    pub const fn peer(&self) -> SocketAddr {
        self.peer
    }

    /// The state of this worker, made by [`worker_state`](super::Server::worker_state).
    pub fn worker(&mut self) -> &mut W {
        self.worker
    }

    /// The number of this worker, from 0.
    #[must_use]
    pub const fn worker_number(&self) -> usize {
        self.number
    }
}

impl<W> fmt::Debug for Reply<'_, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Reply(to {} by worker {})", self.peer, self.number)
    }
}

/// What a thread of the server sends.
pub(super) struct Out {
    destination: Destination,
    pub(super) outbox: Outbox,
    pub(super) sent: Sent,
    /// How much of the outbox is from before the handler's call.
    mark: usize,
}

impl Out {
    pub(super) fn new(destination: Destination) -> Self {
        Self { destination, outbox: Outbox::default(), sent: Sent::default(), mark: 0 }
    }

    fn push(&mut self, bytes: &[u8], to: SocketAddr, from: Option<IpAddr>) {
        if self.outbox.is_full() {
            self.flush();
        }
        self.outbox.push(bytes, to, from);
    }

    /// A handler is about to be called.
    pub(super) fn mark(&mut self) {
        self.mark = self.outbox.len();
    }

    /// Takes back what was pushed since, as far as it was not sent.
    pub(super) fn back_to_mark(&mut self) {
        self.outbox.truncate(self.mark);
    }

    /// Sends everything.
    pub(super) fn flush(&mut self) {
        self.mark = 0;
        if !self.outbox.is_empty() {
            let Sent { sent, refused } = self.destination.send(&mut self.outbox);
            self.sent.sent += sent;
            self.sent.refused += refused;
        }
    }
}
