//! What a server is made of.

use super::connections::Frames;
use super::datagrams::interface::{Below, Device};
use super::error::ServerError;
use super::handler::{Handler, Request};
use super::policy::Policy;
use super::reply::Reply;
use super::report::Report;
use super::running::Running;
use super::service::MakeState;
use super::{launch, signals};
use core::fmt;
use core::time::Duration;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::{Arc, mpsc};
use warmcore_linux::net::sockets::Port;

/// A year.
const LONGEST_DRAIN: Duration = Duration::from_secs(365 * 24 * 3600);

/// Makes the state of a worker.
pub(super) type MakeWorker<W> = Arc<dyn Fn(usize) -> W + Send + Sync>;

/// A server that does not run yet: its address and options. See the [module](super).
///
/// `S` is the state of a flow, `W` that of a worker.
pub struct Server<S = (), W = ()> {
    pub(super) options: Options,
    pub(super) make_state: MakeState<S>,
    pub(super) make_worker: MakeWorker<W>,
}

/// What does not depend on the states.
#[derive(Clone, Debug)]
pub(super) struct Options {
    pub(super) address: SocketAddr,
    /// Where it is on an interface; otherwise on the kernel's sockets.
    pub(super) below: Option<Below>,
    pub(super) workers: Option<usize>,
    pub(super) policy: Policy,
    pub(super) idle: Duration,
    pub(super) flows: usize,
    pub(super) metrics: Option<SocketAddr>,
    pub(super) stack_size: usize,
    pub(super) drain: Duration,
    pub(super) longest: Option<usize>,
    pub(super) receive_buffer: Option<usize>,
    /// How requests follow each other on connections; `None` for datagrams.
    pub(super) frames: Option<Frames>,
}

impl Server {
    /// A server of datagrams (UDP) at `address`, such as `0.0.0.0:7`, or `[::]:7` for IPv4 and IPv6; port 0 means any
    /// free port. The port is opened by [`serve`](Self::serve) or [`start`](Self::start).
    ///
    /// # Errors
    /// If it is no address, or a name without one.
    pub fn bind(address: impl ToSocketAddrs + fmt::Debug) -> Result<Self, ServerError> {
        Ok(Self::at(resolve(address)?, None))
    }

    /// A server below the kernel's sockets: on an interface such as `eth0`, by way of `device`. It answers for `address`,
    /// ARP included, which must not be the kernel's own: that would answer too. A TUN interface is made, and has to be
    /// brought up, with a route to `address`, by `ip`. See [the table](super#on-an-interface) of what differs.
    ///
    /// Needs the capabilities `CAP_NET_RAW` (packet socket), `CAP_NET_ADMIN` (TUN), or both and `CAP_BPF` (XDP), and the
    /// network namespace of the thread that calls [`serve`](Self::serve) or [`start`](Self::start).
    ///
    /// # Errors
    /// If `address` is no IPv4 address of one host with a port.
    pub fn on_interface(
        device: Device,
        interface: impl Into<String>,
        address: impl ToSocketAddrs + fmt::Debug,
    ) -> Result<Self, ServerError> {
        let expected = "an IPv4 address of one host and a port, such as 10.0.0.9:7";
        let resolved = resolve(address)?;
        let refused = || ServerError::Option { option: "address", found: resolved.to_string(), expected };
        let SocketAddr::V4(address) = resolved else { return Err(refused()) };
        let ip = address.ip();
        if address.port() == 0 || ip.is_unspecified() || ip.is_multicast() || ip.is_broadcast() {
            return Err(refused());
        }
        let below = Below { device, interface: interface.into(), address };
        Ok(Self::at(resolved, Some(below)))
    }

    fn at(address: SocketAddr, below: Option<Below>) -> Self {
        let options = Options {
            address,
            below,
            workers: None,
            policy: Policy::default(),
            idle: Duration::from_secs(60),
            flows: 100_000,
            metrics: None,
            stack_size: 2 << 20,
            drain: Duration::from_secs(10),
            longest: None,
            receive_buffer: None,
            frames: None,
        };
        Self { options, make_state: Box::new(|_| ()), make_worker: Arc::new(|_| ()) }
    }

    /// A server of connections (TCP) at `address`, as of [`bind`](Self::bind). `frames` says where requests end.
    ///
    /// # Errors
    /// If it is no address, or a name without one.
    pub fn bind_tcp(address: impl ToSocketAddrs + fmt::Debug, frames: Frames) -> Result<Self, ServerError> {
        let mut server = Self::bind(address)?;
        server.options.frames = Some(frames);
        Ok(server)
    }
}

/// The first address that `address` means.
fn resolve(address: impl ToSocketAddrs + fmt::Debug) -> Result<SocketAddr, ServerError> {
    let found = address.to_socket_addrs().and_then(|mut addresses| {
        addresses.next().ok_or_else(|| std::io::Error::other("the name has no address"))
    });
    found.map_err(|source| ServerError::Address { text: format!("{address:?}"), source })
}

impl<S, W> Server<S, W> {
    /// The number of workers; otherwise one for each core that this process may use, and with XDP at most one for each
    /// receive queue of the interface. Each is pinned to a core; with more
    /// workers than cores, several to one.
    #[must_use]
    pub fn workers(mut self, workers: usize) -> Self {
        self.options.workers = Some(workers);
        self
    }

    /// Which worker processes a datagram, or the requests of a connection; otherwise [`Policy::ByFlow`].
    #[must_use]
    pub fn policy(mut self, policy: Policy) -> Self {
        self.options.policy = policy;
        self
    }

    /// Makes the state of each flow by `make`, called with its peer on its first request, or when its
    /// connection is accepted. Such as `|_| MyState::default()`.
    #[must_use]
    pub fn state<T>(self, make: impl Fn(SocketAddr) -> T + Send + Sync + 'static) -> Server<T, W> {
        Server { options: self.options, make_state: Box::new(make), make_worker: self.make_worker }
    }

    /// Makes the state of each worker by `make`, called on the worker with its number. Under policies by which flows have
    /// no worker, the thread that calls timers has one too: its number is that of workers.
    #[must_use]
    pub fn worker_state<T>(self, make: impl Fn(usize) -> T + Send + Sync + 'static) -> Server<S, T> {
        Server { options: self.options, make_state: self.make_state, make_worker: Arc::new(make) }
    }

    /// How long after its last request a flow ends; otherwise 60 s. On a connection anything that arrives counts, and anything
    /// that its peer reads.
    #[must_use]
    pub fn idle_after(mut self, time: Duration) -> Self {
        self.options.idle = time;
        self
    }

    /// How many flows may be open; otherwise 100,000. For one more, the flow ends that has been idle longest, among those of
    /// the same worker (or, where flows have no worker, of the same part of the table). If all of those are in a handler's
    /// hands, there is one more.
    #[must_use]
    pub fn flows(mut self, most: usize) -> Self {
        self.options.flows = most;
        self
    }

    /// Serves [metrics](Report::metrics) over HTTP at `address`, page `/metrics`.
    #[must_use]
    pub fn metrics(mut self, address: SocketAddr) -> Self {
        self.options.metrics = Some(address);
        self
    }

    /// The size of a worker's stack, on which the handler runs, in bytes; otherwise 2 MiB. Memory is used as far as the stack
    /// has grown. A handler that overruns it ends the process with a message: there is a guard page.
    #[must_use]
    pub fn stack_size(mut self, bytes: usize) -> Self {
        self.options.stack_size = bytes;
        self
    }

    /// How long the server may take to process what is queued when it stops; otherwise 10 s.
    #[must_use]
    pub fn drain(mut self, limit: Duration) -> Self {
        // Beyond that, times of the clock cannot be told.
        self.options.drain = limit.min(LONGEST_DRAIN);
        self
    }

    /// The longest request in bytes. Longer datagrams are truncated; otherwise it is 65,535, which none exceeds. Connections with
    /// a longer one are closed; otherwise it is 1 MiB.
    #[must_use]
    pub fn longest_request(mut self, bytes: usize) -> Self {
        self.options.longest = Some(bytes);
        self
    }

    /// The size of each socket's receive buffer in bytes; otherwise 4 MiB, and that of connections adapts itself. Without the
    /// capability `CAP_NET_ADMIN` the kernel grants at most `net.core.rmem_max`. [On an interface](Self::on_interface) it is the
    /// memory of each queue's ring, some 2 KiB for a frame (XDP: 4 KiB); with TUN the interface's `txqueuelen` counts instead.
    #[must_use]
    pub fn receive_buffer(mut self, bytes: usize) -> Self {
        self.options.receive_buffer = Some(bytes);
        self
    }
}

impl Options {
    /// Checks the options, for so many `workers`.
    pub(super) fn check(&self, workers: usize) -> Result<(), ServerError> {
        self.below.as_ref().map_or(Ok(()), |below| below.check(self.policy, workers))?;
        let fault = |option, found: String, expected| Err(ServerError::Option { option, found, expected });
        if workers == 0 || workers > Port::MAX_WORKERS {
            return fault("workers", workers.to_string(), "1 to 1000");
        }
        if self.flows == 0 || self.flows > 1 << 30 {
            return fault("flows", self.flows.to_string(), "1 to 2^30");
        }
        if self.longest == Some(0) {
            return fault("longest_request", "0".to_owned(), "at least one byte");
        }
        if self.stack_size < 64 << 10 {
            return fault("stack_size", self.stack_size.to_string(), "at least 65536 bytes");
        }
        Ok(())
    }
}

impl<S: Send + 'static, W: 'static> Server<S, W> {
    /// Serves with the function `handler` until SIGTERM, SIGINT or SIGHUP; then processes what is queued. A second signal
    /// ends the process at once.
    ///
    /// # Errors
    /// If the server cannot start, a worker died, or it did not stop in time: see [`Running::stop`].
    pub fn serve(
        self,
        handler: impl Fn(&mut S, Request<'_>, &mut Reply<'_, W>) + Send + Sync + 'static,
    ) -> Result<Report, ServerError> {
        self.serve_handler(handler)
    }

    /// Starts to serve with the function `handler`, and returns when all workers are ready.
    ///
    /// # Errors
    /// If the server cannot start.
    pub fn start(
        self,
        handler: impl Fn(&mut S, Request<'_>, &mut Reply<'_, W>) + Send + Sync + 'static,
    ) -> Result<Running, ServerError> {
        self.start_handler(handler)
    }

    /// [`serve`](Self::serve) with a [`Handler`] that does more.
    ///
    /// # Errors
    /// As `serve`.
    pub fn serve_handler(self, handler: impl Handler<S, W> + 'static) -> Result<Report, ServerError> {
        let (told, events) = mpsc::channel();
        // Before the port is open: who sees it open may send the signal.
        signals::tell(told.clone())?;
        let mut running = launch::launch(self, handler, told, events)?;
        running.wait();
        running.stop()
    }

    /// [`start`](Self::start) with a [`Handler`] that does more.
    ///
    /// # Errors
    /// As `start`.
    pub fn start_handler(self, handler: impl Handler<S, W> + 'static) -> Result<Running, ServerError> {
        let (told, events) = mpsc::channel();
        launch::launch(self, handler, told, events)
    }
}

impl<S, W> fmt::Debug for Server<S, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.options.fmt(f)
    }
}
