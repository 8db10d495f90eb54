//! An open port of datagrams: the kernel's sockets, or queues of an interface.

use super::interface::InterfacePort;
use std::net::SocketAddr;
use warmcore_linux::net::sockets::Port;

/// The open port of a server of datagrams.
#[derive(Debug)]
pub(in crate::server) enum DatagramPort {
    Sockets(Port),
    Interface(InterfacePort),
}

impl DatagramPort {
    pub(in crate::server) fn address(&self) -> SocketAddr {
        match self {
            Self::Sockets(port) => port.address(),
            Self::Interface(port) => port.address(),
        }
    }

    /// Sends one datagram, from any thread. Returns whether it was accepted.
    pub(in crate::server) fn send(&self, bytes: &[u8], to: SocketAddr) -> bool {
        let sent = match self {
            Self::Sockets(port) => port.send(bytes, to, None),
            Self::Interface(port) => port.send(bytes, to),
        };
        sent.sent == 1
    }

    /// Datagrams that the kernel dropped before a worker received them.
    pub(in crate::server) fn dropped(&self) -> u64 {
        match self {
            Self::Sockets(port) => port.dropped().into_iter().map(u64::from).sum(),
            Self::Interface(port) => port.dropped(),
        }
    }

    /// Frames that were no valid datagram. Of sockets the kernel refuses them.
    pub(in crate::server) fn refused(&self) -> u64 {
        match self {
            Self::Sockets(_) => 0,
            Self::Interface(port) => port.refused(),
        }
    }

    /// Gives all flows to the first `workers`.
    pub(in crate::server) fn gather(&self, workers: usize) {
        if let Self::Sockets(port) = self {
            // Fails only if memory is short. Then flows stay where they are.
            let _ = port.gather(workers);
        }
    }

    /// Receives nothing that arrives from now on, and ends every wait, now and later.
    pub(in crate::server) fn close(&self) {
        match self {
            Self::Sockets(port) => port.close(),
            Self::Interface(port) => port.close(),
        }
    }
}
