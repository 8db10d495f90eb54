//! How a worker waits for events of a port and its connections.

use super::Connection;
use crate::net::Bell;
use core::fmt;
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use rustix::buffer::spare_capacity;
use rustix::event::{Timespec, epoll};
use rustix::io::Errno;
use rustix::net::{Shutdown, SocketFlags, acceptfrom_with, shutdown};
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

/// The numbers of what is no connection.
const LISTENER: u64 = u64::MAX;
const BELL: u64 = u64::MAX - 1;

/// There is something to receive, an error or an end included.
const RECEIVABLE: epoll::EventFlags =
    epoll::EventFlags::IN.union(epoll::EventFlags::ERR).union(epoll::EventFlags::HUP);

/// What the workers of a port share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) closed: AtomicBool,
    /// Readable once the port is closed.
    pub(super) bell: Bell,
}

/// How a listener is registered in an epoll instance.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Listener {
    /// It is this worker's alone.
    Own,
    /// It is in the instances of all workers, of which one is woken.
    Exclusive,
    /// It is in the instance of all, and tells one worker until armed again.
    Shared,
}

/// What a worker wants to hear of a connection. That it failed is told in any case.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Interest {
    /// Whether there is something to receive.
    pub receive: bool,
    /// Whether the kernel takes bytes to send. It does as a rule, so this is told at once: to go on with a connection after
    /// others had their turn.
    pub send: bool,
}

impl Interest {
    /// To receive, and not to send.
    pub const RECEIVE: Self = Self { receive: true, send: false };

    const fn flags(self) -> epoll::EventFlags {
        let receive = if self.receive { epoll::EventFlags::IN } else { epoll::EventFlags::empty() };
        let send = if self.send { epoll::EventFlags::OUT } else { epoll::EventFlags::empty() };
        receive.union(send)
    }
}

/// What a worker is told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ready {
    /// Connections may wait to be [accepted](Poller::accept).
    Listener,
    /// The port is closed. Told by every wait from then on.
    Closed,
    /// Something of a connection.
    Connection {
        /// The number under which it was registered. Another worker may have dropped the connection meanwhile.
        number: u64,
        /// Whether there is something to receive: bytes, the end, or an error.
        receive: bool,
    },
}

/// Space for events.
pub struct Events {
    events: Vec<epoll::Event>,
    most: usize,
}

impl Events {
    /// Space for as many events, at least one.
    #[must_use]
    pub fn new(most: usize) -> Self {
        let most = most.max(1);
        Self { events: Vec::with_capacity(most), most }
    }

    /// The events of the last wait.
    pub fn iter(&self) -> impl Iterator<Item = Ready> {
        self.events.iter().map(|event| match event.data.u64() {
            LISTENER => Ready::Listener,
            BELL => Ready::Closed,
            number => {
                let flags = event.flags;
                Ready::Connection { number, receive: flags.intersects(RECEIVABLE) }
            }
        })
    }
}

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// Where connections are registered: an epoll instance, of one worker or of all.
#[derive(Clone, Debug)]
pub struct Registry {
    epoll: Arc<OwnedFd>,
    /// Whether what is registered is told once.
    once: bool,
}

impl Registry {
    fn new(once: bool) -> Result<Self, Errno> {
        Ok(Self { epoll: Arc::new(epoll::create(epoll::CreateFlags::CLOEXEC)?), once })
    }

    /// Whether a connection is told once, and silent until its interest is [set](Self::set) again.
    #[must_use]
    pub const fn tells_once(&self) -> bool {
        self.once
    }

    /// Registers a connection under `number`, which must be less than 2^64 - 2.
    ///
    /// # Errors
    /// If the kernel lacks memory, or the user has too much registered.
    pub fn add(&self, connection: &Connection, number: u64, interest: Interest) -> Result<(), Errno> {
        epoll::add(&self.epoll, connection, epoll::EventData::new_u64(number), self.flags(interest))
    }

    /// Changes what is told of a registered connection.
    pub fn set(&self, connection: &Connection, number: u64, interest: Interest) {
        // Fails only if the connection is not registered any more.
        let _ =
            epoll::modify(&self.epoll, connection, epoll::EventData::new_u64(number), self.flags(interest));
    }

    /// Ends the registration of a connection.
    pub fn remove(&self, connection: &Connection) {
        // Fails only if it is not registered.
        let _ = epoll::delete(&self.epoll, connection);
    }

    const fn flags(&self, interest: Interest) -> epoll::EventFlags {
        let flags = interest.flags();
        if self.once { flags.union(epoll::EventFlags::ONESHOT) } else { flags }
    }
}

/// What came of an attempt to accept.
#[derive(Debug)]
pub enum Accepted {
    /// A connection.
    Connection(Connection),
    /// None waits.
    Nothing,
    /// This process, or the machine, has no more descriptors or memory for it. It waits on.
    NoDescriptors,
}

/// A worker's place to wait.
#[derive(Debug)]
pub struct Poller {
    registry: Registry,
    kind: Listener,
    listener: Arc<OwnedFd>,
    shared: Arc<Shared>,
}

impl Poller {
    pub(super) fn new(kind: Listener, listener: &Arc<OwnedFd>, shared: &Arc<Shared>) -> Result<Self, Errno> {
        let registry = Registry::new(kind == Listener::Shared)?;
        let poller = Self { registry, kind, listener: Arc::clone(listener), shared: Arc::clone(shared) };
        poller.add(&shared.bell.descriptor(), BELL, epoll::EventFlags::IN)?;
        poller.add_listener()?;
        Ok(poller)
    }

    /// A poller for another worker in the same instance.
    pub(super) fn sharing(&self) -> Self {
        Self {
            registry: self.registry.clone(),
            kind: self.kind,
            listener: Arc::clone(&self.listener),
            shared: Arc::clone(&self.shared),
        }
    }

    fn add(&self, source: &BorrowedFd<'_>, data: u64, flags: epoll::EventFlags) -> Result<(), Errno> {
        epoll::add(&self.registry.epoll, source, epoll::EventData::new_u64(data), flags)
    }

    fn add_listener(&self) -> Result<(), Errno> {
        self.add(&self.listener.as_fd(), LISTENER, self.listener_flags())
    }

    const fn listener_flags(&self) -> epoll::EventFlags {
        epoll::EventFlags::IN.union(match self.kind {
            Listener::Own => epoll::EventFlags::empty(),
            Listener::Exclusive => epoll::EventFlags::EXCLUSIVE,
            Listener::Shared => epoll::EventFlags::ONESHOT,
        })
    }

    /// Where this worker's connections are registered.
    #[must_use]
    pub const fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Whether the port is closed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.shared.closed.load(Ordering::SeqCst)
    }

    /// Waits for events until `timeout` has passed (`None`: no timeout) or a signal arrives.
    ///
    /// # Errors
    /// For a reason that does not go away.
    pub fn wait(&self, events: &mut Events, timeout: Option<Duration>) -> Result<(), Errno> {
        events.events.clear();
        // A timeout too long for the kernel's type is treated as none.
        let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
        debug_assert!(events.events.capacity() >= events.most);
        match epoll::wait(&self.registry.epoll, spare_capacity(&mut events.events), timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// How many connections to accept when the listener is [ready](Ready::Listener).
    #[must_use]
    pub const fn accepts_at_once(&self) -> usize {
        match self.kind {
            Listener::Exclusive => 1,
            Listener::Own | Listener::Shared => 64,
        }
    }

    /// Accepts a connection.
    ///
    /// # Errors
    /// For a reason that does not go away.
    pub fn accept(&self) -> Result<Accepted, Errno> {
        // Each error of a connection that failed before it was accepted takes it out of the queue.
        for _ in 0..1000 {
            match acceptfrom_with(&self.listener, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC) {
                Ok((socket, peer)) => {
                    let peer = peer.and_then(|peer| SocketAddr::try_from(peer).ok());
                    let Some(peer) = peer else { continue };
                    return Ok(Accepted::Connection(Connection::new(socket, peer)));
                }
                // The listener listens no more: another worker ended it.
                Err(Errno::AGAIN | Errno::INVAL) => return Ok(Accepted::Nothing),
                Err(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM) => {
                    return Ok(Accepted::NoDescriptors);
                }
                Err(error @ (Errno::BADF | Errno::FAULT | Errno::NOTSOCK | Errno::OPNOTSUPP)) => {
                    return Err(error);
                }
                Err(_) => {}
            }
        }
        Ok(Accepted::Nothing)
    }

    /// Waits for the listener again, after connections were accepted. Must follow each [`Ready::Listener`], unless this worker
    /// [pauses](Self::pause_accepting).
    ///
    /// # Errors
    /// If the kernel lacks memory.
    pub fn accepted(&self) -> Result<(), Errno> {
        match self.kind {
            Listener::Own => Ok(()),
            // To the end of the listener's queue, so that it is another worker's turn.
            Listener::Exclusive => {
                self.remove_listener();
                self.add_listener()
            }
            Listener::Shared => epoll::modify(
                &self.registry.epoll,
                &self.listener,
                epoll::EventData::new_u64(LISTENER),
                self.listener_flags(),
            ),
        }
    }

    /// Does not wait for the listener, instead of [`accepted`](Self::accepted). In a shared instance no worker does then.
    pub fn pause_accepting(&self) {
        match self.kind {
            Listener::Own | Listener::Exclusive => self.remove_listener(),
            // It has been told, and is silent until armed.
            Listener::Shared => {}
        }
    }

    /// Waits for the listener again after a pause.
    ///
    /// # Errors
    /// If the kernel lacks memory.
    pub fn resume_accepting(&self) -> Result<(), Errno> {
        match self.kind {
            Listener::Own | Listener::Exclusive => self.add_listener(),
            Listener::Shared => self.accepted(),
        }
    }

    fn remove_listener(&self) {
        // Fails only if it is not registered.
        let _ = epoll::delete(&self.registry.epoll, &self.listener);
    }

    /// Ends listening, once the port is closed and what waited is accepted: peers are refused from now on. Connections that
    /// still wait are reset.
    pub fn end_listening(&self) {
        let _ = shutdown(&self.listener, Shutdown::Read);
    }
}
