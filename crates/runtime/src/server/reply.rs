//! What a handler can do besides changing its flow's state.

use super::transport::Target;
use core::fmt;
use core::time::Duration;
use std::net::SocketAddr;

/// Answers a request, sends to others, and sets the flow's timer.
///
/// What is sent leaves when the batch of requests is done, or earlier if much is sent. On connections the batch is what has
/// arrived of one connection; replies are framed as requests are (see [`Frames`](super::Frames)).
pub struct Reply<'a, W = ()> {
    pub(super) target: Target<'a>,
    pub(super) worker: &'a mut W,
    pub(super) number: usize,
    pub(super) peer: SocketAddr,
    /// A change of the timer: to none, or to a time from now.
    pub(super) timer: Option<Option<Duration>>,
    pub(super) close: bool,
}

impl<W> Reply<'_, W> {
    /// Sends a datagram, or a reply on the connection, to the peer of this flow. May be called any number of times.
    pub fn send(&mut self, bytes: &[u8]) {
        match &mut self.target {
            Target::Datagrams(out, from) => out.push(bytes, self.peer, *from),
            Target::Connection(out) => out.push(bytes),
        }
    }

    /// Sends a datagram to anybody; on a server of connections, to a peer that has one. Otherwise it counts as unsent, as when
    /// the peer does not read what it has been sent.
    pub fn send_to(&mut self, peer: SocketAddr, bytes: &[u8]) {
        match &mut self.target {
            Target::Datagrams(out, _) => out.push(bytes, peer, None),
            Target::Connection(out) if peer == self.peer => out.push(bytes),
            Target::Connection(out) => out.push_to(peer, bytes),
        }
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

    /// Ends the flow after this request. The sender's next one begins a new flow. A connection is closed once its replies
    /// are sent; requests that it sent already are not handled.
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
