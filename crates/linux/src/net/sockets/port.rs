//! A UDP port shared by workers.

use super::worker::{Shared, WorkerSocket};
use super::{Outbox, PortError, Sent, open};
use crate::net::{PortProtocol, kernel, opening};
use core::sync::atomic::Ordering;
use core::time::Duration;
use rustix::net::Shutdown;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::Arc;
use warmcore_units::CpuId;

/// How workers share a port: which of them gets a datagram.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Sharing {
    /// One socket; of the workers that wait, the one that has waited longest.
    Fifo,
    /// One socket; of the workers that wait, the one that has waited shortest.
    Lifo,
    /// A socket for each worker; the kernel's hash of addresses and ports chooses. A flow stays with a worker.
    Hash,
    /// A socket for each worker; a program chooses by the sender's address and port. A flow stays with a worker.
    Flow {
        /// Makes the choice unpredictable to senders.
        seed: u32,
    },
    /// As [`Flow`](Self::Flow), but a worker that has nothing to do takes what arrives while another is at something
    /// [long](WorkerSocket::begin).
    Stealing {
        /// Makes the choice unpredictable to senders.
        seed: u32,
    },
    /// A socket for each worker: worker `n` gets what the kernel receives on cpu `cpus[n]`. What it
    /// receives on a cpu without a worker goes to worker `cpu % workers`.
    Cpu {
        /// The cpu of each worker.
        cpus: Vec<CpuId>,
    },
}

impl Sharing {
    /// Whether all workers receive from the same socket.
    #[must_use]
    pub const fn is_one_socket(&self) -> bool {
        matches!(self, Self::Fifo | Self::Lifo)
    }
}

/// Options of a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PortOptions {
    /// Size of each socket's receive buffer, in bytes; `None` for the system's default. The kernel may grant less
    /// (see [`Port::receive_buffer`]), and counts its own structures in it: some 800 bytes for a small datagram.
    pub receive_buffer: Option<usize>,
    /// Whether the kernel notes when it received each datagram (`SO_TIMESTAMPNS`).
    pub stamped: bool,
    /// How long sending may block when the queue of the device is full, before datagrams are refused.
    pub send_timeout: Duration,
}

impl Default for PortOptions {
    fn default() -> Self {
        Self { receive_buffer: None, stamped: false, send_timeout: Duration::from_millis(100) }
    }
}

/// An open port. It is closed when the last of its [`WorkerSocket`]s is dropped too.
#[derive(Debug)]
pub struct Port {
    address: SocketAddr,
    sockets: Vec<Arc<UdpSocket>>,
    shared: Arc<Shared>,
    /// By which flows are spread, if that is our choice.
    seed: Option<u32>,
}

impl Port {
    /// The most workers.
    pub const MAX_WORKERS: usize = opening::MAX_WORKERS;

    /// Opens `address` for as many `workers`, and gives a socket to each. Port 0 means any free port.
    ///
    /// # Errors
    /// If another socket has the port, or the kernel refuses it or an option.
    pub fn open(
        address: SocketAddr,
        sharing: &Sharing,
        workers: usize,
        options: PortOptions,
    ) -> Result<(Self, Vec<WorkerSocket>), PortError> {
        let (address, sockets) = open::sockets(address, sharing, workers, options)?;
        let kernel =
            |doing| move |source| PortError::Kernel { doing, protocol: PortProtocol::Udp, address, source };
        let shared = Arc::new(Shared::new(sharing, &sockets).map_err(kernel("waiting on"))?);
        let worker = |number: usize| {
            WorkerSocket::new(number, Arc::clone(&sockets[number % sockets.len()]), Arc::clone(&shared))
        };
        let workers = (0..workers).map(worker).collect();
        let seed = match sharing {
            Sharing::Flow { seed } => Some(*seed),
            _ => None,
        };
        Ok((Self { address, sockets, shared, seed }, workers))
    }

    /// The address and the port.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The number of sockets: one, or one for each worker.
    #[must_use]
    pub fn sockets(&self) -> usize {
        self.sockets.len()
    }

    /// Spreads the flows over the first `workers` only, of a port opened with [`Sharing::Flow`]. Flows of the others get a worker
    /// among them, and those keep what they have. What is queued stays where it is.
    ///
    /// # Errors
    /// If the kernel refuses the program.
    ///
    /// # Panics
    /// If `workers` is 0 or more than the port has, or the port was opened otherwise.
    pub fn gather(&self, workers: usize) -> Result<(), rustix::io::Errno> {
        let seed = self.seed.expect("a port of flows");
        assert!((1..=self.sockets.len()).contains(&workers), "{workers} of {} workers", self.sockets.len());
        let program = opening::program::by_flow_among(workers as u32, self.sockets.len() as u32, seed);
        kernel::attach(&*self.sockets[0], libc::SO_ATTACH_REUSEPORT_CBPF, &program)
    }

    /// The size of the receive buffer that the kernel granted to each socket, in bytes as it counts them: twice what
    /// was asked for.
    ///
    /// # Errors
    /// If the kernel does not say.
    pub fn receive_buffer(&self) -> Result<usize, rustix::io::Errno> {
        rustix::net::sockopt::socket_recv_buffer_size(&*self.sockets[0])
    }

    /// The number of datagrams that the kernel dropped since the port was opened, for each socket: its buffer was
    /// full, or the port was closed. The kernel counts up to 2^32 and then from 0 again.
    #[must_use]
    pub fn dropped(&self) -> Vec<u32> {
        self.values().map(|(dropped, _)| dropped).collect()
    }

    /// How many bytes of the buffers of all sockets are in use.
    #[must_use]
    pub fn queued(&self) -> u64 {
        self.values().map(|(_, queued)| u64::from(queued)).sum()
    }

    fn values(&self) -> impl Iterator<Item = (u32, u32)> {
        self.sockets.iter().map(|socket| kernel::drops_and_queued(&**socket).unwrap_or_default())
    }

    /// A socket of the port for a thread that only sends.
    #[must_use]
    pub fn sender(&self) -> WorkerSocket {
        WorkerSocket::new(0, Arc::clone(&self.sockets[0]), Arc::clone(&self.shared))
    }

    /// Sends one datagram from this port, from any thread. `from` is the address to send it from, if it matters.
    pub fn send(&self, bytes: &[u8], to: SocketAddr, from: Option<IpAddr>) -> Sent {
        let mut outbox = Outbox::default();
        outbox.push(bytes, to, from);
        outbox.flush(&self.sockets[0])
    }

    /// Drops what arrives from now on, and ends every wait, now and later.
    pub fn close(&self) {
        for socket in &self.sockets {
            // Fails only if memory is short. Then datagrams still arrive until the sockets are closed.
            let _ = opening::shut(&**socket);
        }
        self.shared.closed.store(true, Ordering::SeqCst);
        for socket in &self.sockets {
            // Says "not connected", and wakes all the same.
            let _ = rustix::net::shutdown(&**socket, Shutdown::Read);
        }
        self.shared.ring();
    }
}
