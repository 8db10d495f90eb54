//! A worker's share of a port: how it waits, receives and sends.

use super::stealing::Stealing;
use super::{Batch, Outbox, Sent, Sharing, kernel};
use crate::net::LifoQueue;
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use rustix::io::Errno;
use std::net::UdpSocket;
use std::sync::Arc;

/// What the workers of a port share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) closed: AtomicBool,
    waiting: Waiting,
}

/// How the workers wait.
#[derive(Debug)]
enum Waiting {
    /// In the call that receives.
    Receiving,
    /// For the socket of all, the last to come first.
    Lifo(LifoQueue),
    /// For their own socket, and for those of others.
    Stealing(Stealing),
}

impl Shared {
    pub(super) fn new(sharing: &Sharing, sockets: &[Arc<UdpSocket>]) -> Result<Self, Errno> {
        let waiting = match sharing {
            Sharing::Lifo => Waiting::Lifo(LifoQueue::new(&*sockets[0])?),
            Sharing::Stealing { .. } => Waiting::Stealing(Stealing::new(sockets)?),
            Sharing::Fifo | Sharing::Hash | Sharing::Flow { .. } | Sharing::Cpu { .. } => Waiting::Receiving,
        };
        Ok(Self { closed: AtomicBool::new(false), waiting })
    }

    /// Wakes all who wait in the epoll instance.
    pub(super) fn ring(&self) {
        if let Waiting::Lifo(queue) = &self.waiting {
            queue.close();
        }
    }

    fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
    }
}

/// What a receive call brought.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Received {
    /// So many datagrams, at least one, are in the batch.
    Datagrams(usize),
    /// Nothing came before the timeout, or a signal did.
    Nothing,
    /// The port is closed, and nothing is queued.
    Closed,
}

/// A worker's socket, or its share of the socket of all. A clone is the same socket, to send from.
#[derive(Clone, Debug)]
pub struct WorkerSocket {
    number: usize,
    socket: Arc<UdpSocket>,
    shared: Arc<Shared>,
    timeout: Option<Duration>,
}

impl WorkerSocket {
    pub(super) const fn new(number: usize, socket: Arc<UdpSocket>, shared: Arc<Shared>) -> Self {
        Self { number, socket, shared, timeout: None }
    }

    /// Sets how long [`receive`](Self::receive) waits; `None` for ever. The kernel rounds it up to its ticks, 1 to
    /// 10 ms. Workers that block on one socket ([`Sharing::Fifo`]) share the timeout.
    ///
    /// # Errors
    /// If the kernel refuses it.
    pub fn set_timeout(&mut self, timeout: Option<Duration>) -> Result<(), Errno> {
        if timeout == self.timeout {
            return Ok(());
        }
        if matches!(self.shared.waiting, Waiting::Receiving) {
            // Zero would mean none.
            let timeout = timeout.map(|timeout| timeout.max(Duration::from_micros(1)));
            rustix::net::sockopt::set_socket_timeout(
                &*self.socket,
                rustix::net::sockopt::Timeout::Recv,
                timeout,
            )?;
        }
        self.timeout = timeout;
        Ok(())
    }

    /// Receives what is queued, as much as the batch takes; if nothing is, waits for the next datagram.
    ///
    /// # Errors
    /// If the kernel has no memory for it, or for another reason that does not go away.
    pub fn receive(&mut self, batch: &mut Batch) -> Result<Received, Errno> {
        let queue = match &self.shared.waiting {
            Waiting::Receiving => return self.received(kernel::receive(&*self.socket, batch, true), batch),
            Waiting::Stealing(stealing) => {
                let closed = || self.shared.is_closed();
                return self.received(stealing.receive(self.number, batch, self.timeout, closed), batch);
            }
            Waiting::Lifo(queue) => queue,
        };
        let is_closed = || self.shared.is_closed();
        let receive = || match kernel::receive(&*self.socket, batch, false) {
            Err(Errno::AGAIN) => None,
            received => Some(received),
        };
        let received = queue.receive(&*self.socket, self.timeout, is_closed, receive);
        let received = received.and_then(|received| received.unwrap_or(Err(Errno::AGAIN)));
        self.received(received, batch)
    }

    fn received(&self, result: Result<usize, Errno>, batch: &mut Batch) -> Result<Received, Errno> {
        batch.set_received(0);
        match result {
            Ok(1) if batch.arrays.is_end() => Ok(Received::Closed),
            Ok(count) => {
                batch.set_received(count);
                Ok(Received::Datagrams(count))
            }
            Err(Errno::AGAIN) if self.shared.is_closed() => Ok(Received::Closed),
            Err(Errno::AGAIN | Errno::INTR) => Ok(Received::Nothing),
            Err(error) => Err(error),
        }
    }

    /// Says that what was received will take `time`. Under [`Sharing::Stealing`] idle workers take what arrives meanwhile, if
    /// it is long.
    pub fn begin(&self, time: Duration) {
        if let Waiting::Stealing(stealing) = &self.shared.waiting {
            stealing.begin(self.number, time);
        }
    }

    /// Sends everything in `outbox` and empties it.
    pub fn send(&self, outbox: &mut Outbox) -> Sent {
        outbox.flush(&self.socket)
    }
}

impl Outbox {
    /// Sends everything through `socket` and empties the outbox. A datagram that is refused does not hold up
    /// the others.
    pub(super) fn flush(&mut self, socket: &UdpSocket) -> Sent {
        let mut done = Sent::default();
        let (entries, bytes) = self.parts();
        let mut rest = entries;
        while !rest.is_empty() {
            match kernel::send(socket, rest, bytes) {
                Err(Errno::INTR) => {}
                // The timeout has passed: others would wait as long.
                Err(Errno::AGAIN) => {
                    done.refused += rest.len() as u64;
                    break;
                }
                // At least one is taken from the list each time, so this ends.
                Ok(0) | Err(_) => {
                    done.refused += 1;
                    rest = &rest[1..];
                }
                Ok(sent) => {
                    done.sent += sent as u64;
                    rest = &rest[sent..];
                }
            }
        }
        self.truncate(0);
        done
    }
}
