//! The datagrams that a thread sends.

use super::interface::{SharedLink, lock};
use crate::server::transport::Outgoing;
use std::net::{IpAddr, SocketAddr};
use warmcore_linux::net::sockets::{Outbox, Sent, WorkerSocket};

/// What a thread of the server sends.
pub(in crate::server) struct Out {
    destination: Destination,
    outbox: Outbox,
    sent: Sent,
    /// How much of the outbox is from before the handler's call.
    mark: usize,
}

impl Out {
    pub(super) fn new(destination: Destination) -> Self {
        Self { destination, outbox: Outbox::default(), sent: Sent::default(), mark: 0 }
    }

    pub(in crate::server) fn push(&mut self, bytes: &[u8], to: SocketAddr, from: Option<IpAddr>) {
        if self.outbox.is_full() {
            self.flush();
        }
        self.outbox.push(bytes, to, from);
    }
}

impl Outgoing for Out {
    fn mark(&mut self) {
        self.mark = self.outbox.len();
    }

    fn back_to_mark(&mut self) {
        self.outbox.truncate(self.mark);
    }

    fn flush(&mut self) {
        self.mark = 0;
        if !self.outbox.is_empty() {
            let Sent { sent, refused } = self.destination.send(&mut self.outbox);
            self.sent.sent += sent;
            self.sent.refused += refused;
        }
    }

    fn sent(&self) -> Sent {
        self.sent
    }
}

/// What a thread sends to.
pub(super) enum Destination {
    Socket(WorkerSocket),
    Link(SharedLink),
}

impl Destination {
    /// Sends everything in `outbox` and empties it.
    pub(super) fn send(&self, outbox: &mut Outbox) -> Sent {
        match self {
            Self::Socket(socket) => socket.send(outbox),
            Self::Link(link) => lock(&**link).send(outbox),
        }
    }
}
