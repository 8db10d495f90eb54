//! The queues of a server's interface, and how its threads wait for frames.

use super::batch::Batch;
use super::link::{SharedLink, lock};
use super::turns::Turns;
use crate::server::datagrams::source::Source;
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::io;
use std::net::{SocketAddr, SocketAddrV4};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use warmcore_linux::net::sockets::{self, Datagram, Outbox, Received, Sent, Sharing};
use warmcore_linux::net::{Bell, LifoQueue, wait_readable};

/// The most frames that are received at once.
const MOST_RECEIVED: usize = sockets::Batch::MOST;
/// The most frames that a worker receives once the port is closed: about as many as a ring holds. What is behind
/// them came later.
const MOST_QUEUED: usize = 4096;

/// How often an idle worker looks whether its interface is still there: not every device wakes it when it is deleted.
const LOOK: Duration = Duration::from_millis(200);

/// An address that is served on an interface.
#[derive(Debug)]
pub(in crate::server) struct InterfacePort {
    address: SocketAddrV4,
    queues: Vec<Queue>,
    closing: Arc<Closing>,
    order: Order,
}

/// A queue of the interface, with a descriptor to wait on without its lock.
#[derive(Clone)]
pub(super) struct Queue {
    link: SharedLink,
    readable: Arc<OwnedFd>,
}

/// Ends every wait when it is over.
#[derive(Debug)]
struct Closing {
    closed: AtomicBool,
    /// Rings once the port is closed, and for ever.
    bell: Bell,
}

impl Closing {
    fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
    }
}

/// Who waits for the frames of a queue.
#[derive(Clone, Debug)]
enum Order {
    /// One worker.
    One,
    /// All workers; the last to wait is woken first.
    Lifo(Arc<LifoQueue>),
    /// All workers, who take turns.
    Fifo(Arc<Turns>),
}

impl Queue {
    pub(super) fn new(link: SharedLink) -> io::Result<Self> {
        let readable = Arc::new(lock(&*link).descriptor().try_clone_to_owned()?);
        Ok(Self { link, readable })
    }
}

impl core::fmt::Debug for Queue {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.readable.fmt(f)
    }
}

impl InterfacePort {
    /// A port of `queues`, at least one; of one where `sharing` lets all workers share it.
    ///
    /// # Errors
    /// If this process has too many descriptors open.
    pub(super) fn new(address: SocketAddrV4, queues: Vec<Queue>, sharing: &Sharing) -> io::Result<Self> {
        let bell = Bell::new().map_err(io::Error::other)?;
        let order = match sharing {
            Sharing::Lifo => Order::Lifo(Arc::new(LifoQueue::new(&*queues[0].readable)?)),
            Sharing::Fifo => Order::Fifo(Arc::default()),
            _ => Order::One,
        };
        let closing = Closing { closed: AtomicBool::new(false), bell };
        Ok(Self { address, queues, closing: Arc::new(closing), order })
    }

    pub(in super::super) fn address(&self) -> SocketAddr {
        self.address.into()
    }

    /// What worker `number` of `workers` receives from. Requests longer than `longest` are cut.
    pub(in super::super) fn receiver(&self, number: usize, workers: usize, longest: usize) -> Receiver {
        let (queues, limit) = match self.order {
            Order::One => {
                (self.queues.iter().skip(number).step_by(workers).cloned().collect(), MOST_RECEIVED)
            }
            Order::Lifo(_) | Order::Fifo(_) => (self.queues.clone(), 1),
        };
        Receiver {
            queues,
            order: self.order.clone(),
            closing: Arc::clone(&self.closing),
            batch: Batch::new(limit, longest),
            timeout: None,
            next: 0,
            after_close: 0,
            // Who looks waits anew, and would be the first to be woken.
            looks: number == 0 || !matches!(self.order, Order::Lifo(_)),
        }
    }

    /// A queue to send to, for a thread that does not receive.
    pub(in super::super) fn sender(&self) -> SharedLink {
        Arc::clone(&self.queues[0].link)
    }

    pub(in super::super) fn send(&self, bytes: &[u8], to: SocketAddr) -> Sent {
        let mut outbox = Outbox::default();
        outbox.push(bytes, to, None);
        lock(&*self.queues[0].link).send(&mut outbox)
    }

    /// Frames that the kernel dropped because a queue was full.
    pub(in super::super) fn dropped(&self) -> u64 {
        self.queues.iter().map(|queue| lock(&*queue.link).dropped()).sum()
    }

    /// Frames for the server that were no valid datagram.
    pub(in super::super) fn refused(&self) -> u64 {
        self.queues.iter().map(|queue| lock(&*queue.link).refused()).sum()
    }

    /// Ends every wait, now and later.
    pub(in super::super) fn close(&self) {
        self.closing.closed.store(true, Ordering::SeqCst);
        self.closing.bell.ring();
        if let Order::Lifo(queue) = &self.order {
            queue.close();
        }
    }
}

/// A worker's queues and the datagrams that it received last.
#[derive(Debug)]
pub(in crate::server) struct Receiver {
    queues: Vec<Queue>,
    order: Order,
    closing: Arc<Closing>,
    batch: Batch,
    timeout: Option<Duration>,
    /// The queue to begin with, so that none is preferred.
    next: usize,
    /// Frames received since the port was closed.
    after_close: usize,
    /// Whether this worker looks now and then whether the interface is still there.
    looks: bool,
}

impl Receiver {
    /// A queue to send to.
    pub(in super::super) fn sender(&self) -> SharedLink {
        Arc::clone(&self.queues[0].link)
    }

    /// Receives what has arrived. Returns the number of frames.
    fn receive_arrived(&mut self) -> usize {
        self.batch.clear();
        let queues = self.queues.len();
        self.next = (self.next + 1) % queues;
        let mut frames = 0;
        for at in 0..queues {
            if self.batch.room() > 0 {
                let queue = &self.queues[(self.next + at) % queues];
                frames += lock(&*queue.link).receive(&mut self.batch);
            }
        }
        frames
    }

    /// Receives what has arrived; if nothing has, waits and looks once more. Returns the number of frames.
    fn receive_or_wait(&mut self) -> Result<usize, String> {
        let mut frames = self.receive_arrived();
        if frames == 0 && !self.closing.is_closed() {
            let bell = self.closing.bell.descriptor();
            let descriptors: Vec<_> =
                self.queues.iter().map(|queue| queue.readable.as_fd()).chain([bell]).collect();
            wait_readable(&descriptors, self.wait_limit()).map_err(|error| error.to_string())?;
            frames = self.receive_arrived();
        }
        Ok(frames)
    }

    /// # Errors
    /// If a queue receives nothing any more.
    fn check(&self) -> Result<(), String> {
        let checked = self.queues.iter().try_for_each(|queue| lock(&*queue.link).check());
        checked.map_err(|error| error.to_string())
    }

    /// How long to wait for a frame.
    fn wait_limit(&self) -> Option<Duration> {
        self.timeout.into_iter().chain(self.looks.then_some(LOOK)).min()
    }
}

impl Source for Receiver {
    fn set_timeout(&mut self, timeout: Option<Duration>) -> Result<(), String> {
        self.timeout = timeout;
        Ok(())
    }

    fn receive(&mut self) -> Result<Received, String> {
        let is_closed = self.closing.is_closed();
        let frames = match self.order.clone() {
            Order::One => self.receive_or_wait(),
            Order::Lifo(queue) => {
                let (closing, readable) = (Arc::clone(&self.closing), Arc::clone(&self.queues[0].readable));
                let limit = self.wait_limit();
                let receive = || Some(self.receive_arrived()).filter(|frames| *frames > 0);
                let received = queue.receive(&*readable, limit, || closing.is_closed(), receive);
                received
                    .map(Option::unwrap_or_default)
                    .map_err(|error| format!("cannot wait for frames: {error}"))
            }
            Order::Fifo(turns) => {
                let _turn = turns.wait();
                self.receive_or_wait()
            }
        }?;
        if is_closed {
            self.after_close += frames;
            if frames == 0 || self.after_close > MOST_QUEUED {
                return Ok(Received::Closed);
            }
        } else if frames == 0 {
            self.check()?;
        }
        Ok(match self.batch.len() {
            0 => Received::Nothing,
            datagrams => Received::Datagrams(datagrams),
        })
    }

    fn datagrams(&self) -> impl Iterator<Item = Datagram<'_>> {
        self.batch.datagrams()
    }

    fn set_limit(&mut self, datagrams: usize) {
        self.batch.set_limit(datagrams);
    }

    fn capacity(&self) -> usize {
        if matches!(self.order, Order::One) { MOST_RECEIVED } else { 1 }
    }
}
