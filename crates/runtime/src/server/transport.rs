//! What is beneath a server: the kernel's sockets, or queues of an interface.

use super::interface::{InterfacePort, SharedLink, lock};
use core::time::Duration;
use std::net::SocketAddr;
use warmcore_linux::net::sockets::{Batch, Datagram, Outbox, Port, Received, Sent, WorkerSocket};

/// The open port of a server.
#[derive(Debug)]
pub(super) enum OpenPort {
    Sockets(Port),
    Interface(InterfacePort),
}

impl OpenPort {
    pub(super) fn address(&self) -> SocketAddr {
        match self {
            Self::Sockets(port) => port.address(),
            Self::Interface(port) => port.address(),
        }
    }

    /// Sends one datagram, from any thread. Returns whether it was accepted.
    pub(super) fn send(&self, bytes: &[u8], to: SocketAddr) -> bool {
        let sent = match self {
            Self::Sockets(port) => port.send(bytes, to, None),
            Self::Interface(port) => port.send(bytes, to),
        };
        sent.sent == 1
    }

    /// Datagrams that the kernel dropped before a worker received them.
    pub(super) fn dropped(&self) -> u64 {
        match self {
            Self::Sockets(port) => port.dropped().into_iter().map(u64::from).sum(),
            Self::Interface(port) => port.dropped(),
        }
    }

    /// Frames that were no valid datagram. Of sockets the kernel refuses them.
    pub(super) fn refused(&self) -> u64 {
        match self {
            Self::Sockets(_) => 0,
            Self::Interface(port) => port.refused(),
        }
    }

    /// Receives nothing that arrives from now on, and ends every wait, now and later.
    pub(super) fn close(&self) {
        match self {
            Self::Sockets(port) => port.close(),
            Self::Interface(port) => port.close(),
        }
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

/// What a worker receives from.
pub(super) trait Source {
    /// Lets [`receive`](Self::receive) wait no longer than `timeout`; `None` for ever.
    ///
    /// # Errors
    /// What the kernel says if it refuses.
    fn set_timeout(&mut self, timeout: Option<Duration>) -> Result<(), String>;

    /// Receives what is queued, up to the limit; if nothing is, waits for the next datagram.
    ///
    /// # Errors
    /// Why nothing can be received any more.
    fn receive(&mut self) -> Result<Received, String>;

    /// What the last call received.
    fn datagrams(&self) -> impl Iterator<Item = Datagram<'_>>;

    /// Lets the next calls receive at most `datagrams`.
    fn set_limit(&mut self, datagrams: usize);
}

/// A socket and what was received from it last.
#[derive(Debug)]
pub(super) struct SocketSource {
    pub(super) socket: WorkerSocket,
    pub(super) batch: Batch,
}

impl Source for SocketSource {
    /// Sets a power of two of milliseconds, so that the timeout, which costs a system call to set, seldom changes.
    fn set_timeout(&mut self, timeout: Option<Duration>) -> Result<(), String> {
        let rounded = timeout.map(|timeout| {
            let milliseconds = timeout.as_millis().max(1);
            Duration::from_millis(1 << milliseconds.ilog2().min(20))
        });
        self.socket.set_timeout(rounded).map_err(|error| format!("cannot set a timeout: {error}"))
    }

    fn receive(&mut self) -> Result<Received, String> {
        self.socket.receive(&mut self.batch).map_err(|error| format!("cannot receive: {error}"))
    }

    fn datagrams(&self) -> impl Iterator<Item = Datagram<'_>> {
        self.batch.datagrams()
    }

    fn set_limit(&mut self, datagrams: usize) {
        self.batch.set_limit(datagrams);
    }
}
