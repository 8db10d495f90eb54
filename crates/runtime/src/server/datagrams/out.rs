//! The datagrams that a thread sends.

use crate::server::transport::Outgoing;
use std::net::{IpAddr, SocketAddr};
use warmcore_linux::net::sockets::{Outbox, Sent, WorkerSocket};

/// What a thread of the server sends.
pub(in crate::server) struct Out {
    socket: WorkerSocket,
    outbox: Outbox,
    sent: Sent,
    /// How much of the outbox is from before the handler's call.
    mark: usize,
}

impl Out {
    pub(super) fn new(socket: WorkerSocket) -> Self {
        Self { socket, outbox: Outbox::default(), sent: Sent::default(), mark: 0 }
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
            let Sent { sent, refused } = self.socket.send(&mut self.outbox);
            self.sent.sent += sent;
            self.sent.refused += refused;
        }
    }

    fn sent(&self) -> Sent {
        self.sent
    }
}
