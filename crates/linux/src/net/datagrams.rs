//! The kernel's own UDP, in batches: what the devices are compared with, and what loads them.

use super::kernel::{self, BATCH};
use core::fmt;
use rustix::io::Errno;
use std::io;
use std::net::UdpSocket;

/// A UDP socket that sends and receives up to [`Datagrams::BATCH`] datagrams per system call
/// (`sendmmsg`, `recvmmsg`). No call waits.
pub struct Datagrams {
    socket: UdpSocket,
    buffers: Vec<Vec<u8>>,
    lengths: [usize; BATCH],
}

impl Datagrams {
    /// The most that one call moves.
    pub const BATCH: usize = BATCH;

    /// Takes over a socket, with a buffer for datagrams of up to `longest` bytes in each place of
    /// the batch; longer ones are cut off, as `recv` does.
    #[must_use]
    pub fn new(socket: UdpSocket, longest: usize) -> Self {
        Self { socket, buffers: vec![vec![0; longest]; BATCH], lengths: [0; BATCH] }
    }

    /// The socket.
    #[must_use]
    pub fn socket(&self) -> &UdpSocket {
        &self.socket
    }

    /// Sends as many of `datagrams` as one call takes to the socket's peer; how many, 0 if there is
    /// no room.
    ///
    /// # Errors
    /// If the socket is not connected, or the first datagram cannot be sent.
    pub fn send<'a>(&self, datagrams: impl IntoIterator<Item = &'a [u8]>) -> io::Result<usize> {
        none_if_busy(kernel::send_batch(&self.socket, datagrams.into_iter()))
    }

    /// Hands one batch of received datagrams to `take`; how many.
    ///
    /// # Errors
    /// What the kernel holds against the socket, such as an unreachable peer.
    pub fn receive(&mut self, mut take: impl FnMut(&[u8])) -> io::Result<usize> {
        let received =
            none_if_busy(kernel::receive_batch(&self.socket, &mut self.buffers, &mut self.lengths))?;
        for (buffer, &length) in self.buffers.iter().zip(&self.lengths).take(received) {
            take(&buffer[..length]);
        }
        Ok(received)
    }
}

impl fmt::Debug for Datagrams {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Datagrams").field(&self.socket).finish()
    }
}

fn none_if_busy(moved: Result<usize, Errno>) -> io::Result<usize> {
    match moved {
        Err(Errno::AGAIN | Errno::INTR | Errno::NOBUFS) => Ok(0),
        moved => Ok(moved?),
    }
}
