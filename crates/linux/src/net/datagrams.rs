//! Batched datagrams over the kernel's own UDP, to compare the devices with and to generate load.

use super::kernel::{self, BATCH};
use core::fmt;
use rustix::io::Errno;
use std::io;
use std::net::UdpSocket;

/// A UDP socket that sends and receives up to [`Datagrams::BATCH`] datagrams per system call
/// (`sendmmsg`, `recvmmsg`). No call blocks.
pub struct Datagrams {
    socket: UdpSocket,
    buffers: Vec<Vec<u8>>,
    lengths: [usize; BATCH],
}

impl Datagrams {
    /// The most datagrams per call.
    pub const BATCH: usize = BATCH;

    /// Wraps a socket, with a batch of buffers for datagrams of up to `longest` bytes. Longer datagrams
    /// are truncated, as by `recv`.
    #[must_use]
    pub fn new(socket: UdpSocket, longest: usize) -> Self {
        Self { socket, buffers: vec![vec![0; longest]; BATCH], lengths: [0; BATCH] }
    }

    /// The socket.
    #[must_use]
    pub fn socket(&self) -> &UdpSocket {
        &self.socket
    }

    /// Sends as many of `datagrams` as one call takes to the socket's peer. Returns how many were sent; 0
    /// if the socket's buffer is full.
    ///
    /// # Errors
    /// If the socket is not connected, or the first datagram cannot be sent.
    pub fn send<'a>(&self, datagrams: impl IntoIterator<Item = &'a [u8]>) -> io::Result<usize> {
        zero_if_busy(kernel::send_batch(&self.socket, datagrams.into_iter()))
    }

    /// Hands one batch of received datagrams to `take`. Returns how many.
    ///
    /// # Errors
    /// The pending error of the socket, such as an unreachable peer.
    pub fn receive(&mut self, take: impl FnMut(&[u8])) -> io::Result<usize> {
        self.receive_up_to(BATCH, take)
    }

    /// Hands one batch of at most `limit` received datagrams to `take`. Returns how many.
    ///
    /// # Errors
    /// The pending error of the socket, such as an unreachable peer.
    pub fn receive_up_to(&mut self, limit: usize, mut take: impl FnMut(&[u8])) -> io::Result<usize> {
        let buffers = &mut self.buffers[..limit.min(BATCH)];
        let received = zero_if_busy(kernel::receive_batch(&self.socket, buffers, &mut self.lengths))?;
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

fn zero_if_busy(moved: Result<usize, Errno>) -> io::Result<usize> {
    match moved {
        Err(Errno::AGAIN | Errno::INTR | Errno::NOBUFS) => Ok(0),
        moved => Ok(moved?),
    }
}
