//! What a source takes from the thread that its processor runs: a thread that does nothing but read the clock notes when it
//! could not.

use crate::error::RunError;
use crate::requests::connection::Connection;
use crate::requests::schedule::bursts;
use crate::requests::service::Service;
use crate::requests::source::Source;
use crate::sockets::error::SocketError;
use crate::sockets::site::Site;
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::thread;
use warmcore_linux::{pin_to, realtime};
use warmcore_units::{CpuId, Transport};

/// Between requests, or bursts.
const GAP: Duration = Duration::from_micros(400);
/// A pause longer than this is one, in nanoseconds.
const PAUSE: f64 = 700.0;
/// Sockets that requests go to in turn.
const SINKS: usize = 4;
/// Requests of a run: the sockets' buffers take them all, since nobody reads them.
const REQUESTS: usize = SINKS * 96;

/// What requests took, `together` due at the same time.
pub(crate) struct Stolen {
    /// How late the first of each burst began, in nanoseconds.
    pub(crate) late: Vec<f64>,
    /// What each burst took, in nanoseconds.
    pub(crate) pauses: Vec<f64>,
}

/// Sends bursts of so many requests `together` on `cpu`, on which a thread reads the clock.
pub(crate) fn measure(
    site: &Site,
    cpu: CpuId,
    together: usize,
    service: &Service,
    stop: &AtomicBool,
) -> Result<Stolen, RunError> {
    let sinks = (0..SINKS).map(|_| Sink::open(site, service.transport)).collect::<Result<Vec<_>, _>>()?;
    let connections = sinks.iter().map(|sink| Connection::open(site, sink.address()?, service.transport));
    let mut source = Source::unanswered(connections.collect::<Result<_, _>>()?, service);
    let due = bursts(REQUESTS / together, together, GAP, SINKS);
    let start = realtime::now() + Duration::from_millis(2);
    let done = AtomicBool::new(false);
    let (requests, pauses) = thread::scope(|scope| {
        let reader = scope.spawn(|| -> Result<_, RunError> {
            let _pinned = pin_to(cpu)?;
            Ok(pauses(start, &done))
        });
        let sender = scope.spawn(|| -> Result<_, RunError> {
            let _ends = End(&done);
            let _pinned = pin_to(cpu)?;
            // Without it, the kernel decides when to take the processor.
            let _priority = realtime::RealTime::begin();
            Ok(source.send_only(&due, start, stop)?)
        });
        let requests = sender.join().unwrap_or(Err(RunError::Panicked))?;
        Ok::<_, RunError>((requests, reader.join().unwrap_or(Err(RunError::Panicked))?))
    })?;
    let mut stolen = Stolen { late: Vec::new(), pauses: Vec::new() };
    for burst in requests.chunks_exact(together) {
        let (first, last) = (burst[0], burst[together - 1]);
        // A source that found the thread away itself says nothing.
        if let Some(pause) = pauses.iter().find(|pause| pause.0 <= first.began && last.ended <= pause.1) {
            stolen.late.push(first.began - first.due);
            stolen.pauses.push(pause.1 - pause.0);
        }
    }
    Ok(stolen)
}

/// Receives what nobody reads.
enum Sink {
    Datagrams(UdpSocket),
    /// The kernel completes a connection that nobody has accepted yet, and receives what comes.
    Connections(TcpListener),
}

impl Sink {
    fn open(site: &Site, transport: Transport) -> Result<Self, SocketError> {
        let sink = site.at_server(|address| match transport {
            Transport::Tcp => TcpListener::bind((address, 0)).map(Self::Connections),
            Transport::Udp | Transport::Rpc => UdpSocket::bind((address, 0)).map(Self::Datagrams),
        })?;
        sink.map_err(SocketError::doing("opening"))
    }

    fn address(&self) -> Result<SocketAddr, SocketError> {
        let address = match self {
            Self::Datagrams(socket) => socket.local_addr(),
            Self::Connections(listener) => listener.local_addr(),
        };
        address.map_err(SocketError::doing("asking"))
    }
}

/// Ends the reader of the clock, however the sender ends.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Reads the clock until `done`; the beginnings and ends of pauses, in nanoseconds since `start`.
fn pauses(start: Duration, done: &AtomicBool) -> Vec<(f64, f64)> {
    let now = || realtime::nanos_since(start);
    let (mut pauses, mut last) = (Vec::with_capacity(4 * REQUESTS), now());
    while !done.load(Ordering::Relaxed) {
        let moment = now();
        if moment - last > PAUSE {
            pauses.push((last, moment));
        }
        last = moment;
    }
    pauses
}
