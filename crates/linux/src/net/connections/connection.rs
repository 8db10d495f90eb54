//! An accepted connection.

use crate::net::kernel;
use rustix::buffer::spare_capacity;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, Shutdown, recv, send, shutdown};
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// An accepted connection. No call blocks. It is closed when dropped, and its registration with it.
#[derive(Debug)]
pub struct Connection {
    socket: OwnedFd,
    peer: SocketAddr,
}

/// Why a connection cannot be used any more: the peer reset it, or is unreachable.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the connection failed: {0}")]
pub struct ConnectionError(Errno);

/// What a receive call brought.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Received {
    /// So many bytes, at least one.
    Bytes(usize),
    /// Nothing is there yet.
    Nothing,
    /// The peer sends no more.
    End,
}

impl Connection {
    pub(super) const fn new(socket: OwnedFd, peer: SocketAddr) -> Self {
        Self { socket, peer }
    }

    /// The address and the port of the other end.
    #[must_use]
    pub const fn peer(&self) -> SocketAddr {
        self.peer
    }

    /// Appends what has arrived to `bytes`, as far as its capacity goes: at least `room`, which must not be 0.
    ///
    /// # Errors
    /// If the connection has failed: the peer reset it, or is unreachable.
    pub fn receive(&self, bytes: &mut Vec<u8>, room: usize) -> Result<Received, ConnectionError> {
        bytes.reserve(room.max(1));
        loop {
            match recv(&self.socket, spare_capacity(bytes), RecvFlags::DONTWAIT) {
                Ok((_, 0)) => return Ok(Received::End),
                Ok((_, count)) => return Ok(Received::Bytes(count)),
                Err(Errno::AGAIN) => return Ok(Received::Nothing),
                Err(Errno::INTR) => {}
                Err(error) => return Err(ConnectionError(error)),
            }
        }
    }

    /// Hands bytes to the kernel. Returns how many it took, 0 if its buffer is full.
    ///
    /// # Errors
    /// If the connection has failed, or the peer has closed it.
    pub fn send(&self, bytes: &[u8]) -> Result<usize, ConnectionError> {
        loop {
            match send(&self.socket, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
                Err(Errno::AGAIN) => return Ok(0),
                Err(Errno::INTR) => {}
                result => return result.map_err(ConnectionError),
            }
        }
    }

    /// Says the end to the peer, behind what was sent.
    pub fn end_sending(&self) {
        // Fails only if the connection has.
        let _ = shutdown(&self.socket, Shutdown::Write);
    }

    /// Whether the peer's kernel has not acknowledged all that was sent. While that is so, closing a connection whose peer
    /// goes on sending may lose the rest: the kernel resets it.
    #[must_use]
    pub fn is_unacknowledged(&self) -> bool {
        kernel::unacknowledged(&self.socket).is_ok_and(|bytes| bytes > 0)
    }
}

impl AsFd for Connection {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
