//! A TCP port whose connections workers share.

use super::poller::{Listener, Poller, Shared};
use crate::net::kernel::drops_and_queued;
use crate::net::opening::{self, Choice, MAX_WORKERS, Opening, PortError, program};
use crate::net::{Bell, PortProtocol};
use core::sync::atomic::{AtomicBool, Ordering};
use rustix::io::Errno;
use rustix::net::sockopt;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use warmcore_units::CpuId;

/// Which worker accepts a connection, and whether it keeps it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Accepting {
    /// A listener for each worker; the kernel's hash of addresses and ports chooses.
    Hash,
    /// A listener for each worker; a program chooses by the peer's address and port.
    Flow {
        /// Makes the choice unpredictable to peers.
        seed: u32,
    },
    /// A listener for each worker: worker `n` accepts what the kernel receives on cpu `cpus[n]`. What it receives on a
    /// cpu without a worker is accepted by worker `cpu % workers`.
    Cpu {
        /// The cpu of each worker.
        cpus: Vec<CpuId>,
    },
    /// One listener; of the workers that wait, the one that accepted longest ago.
    Exclusive,
    /// One listener; all that happens on it and on any connection is told to one of the workers that wait, the one
    /// that has waited shortest.
    Shared,
}

impl Accepting {
    /// Whether a connection stays with the worker that accepted it.
    #[must_use]
    pub const fn keeps_connections(&self) -> bool {
        !matches!(self, Self::Shared)
    }

    /// How the kernel chooses among the listeners of workers; `None` if there is one.
    fn choice(&self, workers: usize) -> Option<Choice> {
        match self {
            Self::Hash => Some(Choice::Hash),
            Self::Flow { seed } => Some(Choice::Program(program::by_flow(workers as u32, *seed))),
            Self::Cpu { cpus } => Some(Choice::Program(program::by_cpu(cpus))),
            Self::Exclusive | Self::Shared => None,
        }
    }
}

/// An open port that connections come to. It is closed when the last of its [`Poller`]s is dropped too.
#[derive(Debug)]
pub struct ListeningPort {
    address: SocketAddr,
    listeners: Vec<Arc<OwnedFd>>,
    shared: Arc<Shared>,
}

impl ListeningPort {
    /// The most workers.
    pub const MAX_WORKERS: usize = MAX_WORKERS;

    /// Opens `address` for as many `workers`, and gives a poller to each. Port 0 means any free port. `receive_buffer` is the
    /// size of each connection's receive buffer in bytes; `None` lets the kernel adapt it.
    ///
    /// # Errors
    /// If another socket has the port, or the kernel refuses it or an option.
    pub fn open(
        address: SocketAddr,
        accepting: &Accepting,
        workers: usize,
        receive_buffer: Option<usize>,
    ) -> Result<(Self, Vec<Poller>), PortError> {
        if let Accepting::Cpu { cpus } = accepting
            && cpus.len() != workers
        {
            return Err(PortError::Cpus { workers, cpus: cpus.len() });
        }
        let choice = accepting.choice(workers);
        let listeners = if choice.is_some() { workers } else { 1 };
        let epolls = if accepting.keeps_connections() { workers } else { 1 };
        let opening = Opening {
            protocol: PortProtocol::Tcp,
            address,
            workers,
            choice,
            // Those, and the bell.
            descriptors: listeners + epolls + 1,
            set_options: &|socket| set_options(socket, receive_buffer),
        };
        let listeners: Vec<Arc<OwnedFd>> = opening.sockets()?.into_iter().map(Arc::new).collect();
        let address = opening.local_address(&listeners[0])?;
        let failed = opening.failed("waiting on");
        let bell = Bell::new().map_err(|_| failed(Errno::MFILE))?;
        let shared = Arc::new(Shared { closed: AtomicBool::new(false), bell });
        let kind = match accepting {
            Accepting::Hash | Accepting::Flow { .. } | Accepting::Cpu { .. } => Listener::Own,
            Accepting::Exclusive => Listener::Exclusive,
            Accepting::Shared => Listener::Shared,
        };
        let first = Poller::new(kind, &listeners[0], &shared).map_err(&failed)?;
        let others = (1..workers).map(|number| match kind {
            Listener::Shared => Ok(first.sharing()),
            _ => Poller::new(kind, &listeners[number % listeners.len()], &shared).map_err(&failed),
        });
        let others = others.collect::<Result<Vec<_>, _>>()?;
        let pollers = core::iter::once(first).chain(others).collect();
        Ok((Self { address, listeners, shared }, pollers))
    }

    /// The address and the port.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The number of listeners: one, or one for each worker.
    #[must_use]
    pub fn listeners(&self) -> usize {
        self.listeners.len()
    }

    /// The number of requests for a connection that the kernel dropped since the port was opened, for each listener: too many
    /// waited to be accepted, or the port was closed. The kernel counts up to 2^32 and then from 0 again.
    #[must_use]
    pub fn dropped(&self) -> Vec<u32> {
        self.listeners.iter().map(|listener| drops_and_queued(listener).unwrap_or_default().0).collect()
    }

    /// Lets no peer in from now on, and ends every wait, now and later.
    pub fn close(&self) {
        for listener in &self.listeners {
            // Fails without privilege, or if memory is short, or it listens no more. Then peers come in until listening ends.
            let _ = opening::shut(listener);
        }
        self.shared.closed.store(true, Ordering::SeqCst);
        self.shared.bell.ring();
    }
}

fn set_options(socket: &OwnedFd, receive_buffer: Option<usize>) -> Result<(), Errno> {
    // Connections that this port had may be remembered for a minute. They are in nobody's way.
    sockopt::set_socket_reuseaddr(socket, true)?;
    rustix::io::ioctl_fionbio(socket, true)?;
    // Connections have the options of their listener.
    sockopt::set_tcp_nodelay(socket, true)?;
    receive_buffer.map_or(Ok(()), |bytes| sockopt::set_socket_recv_buffer_size(socket, bytes))
}
