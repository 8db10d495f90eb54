//! A server of connections: the kernel's TCP.
//!
//! A connection is a flow. Its events name it by its [`Id`](super::flows::Id), so the table of flows is the table of
//! connections; its [`Stream`] is the link to the peer, and its [`Input`] lies beside the user's state. Who takes the state out
//! of the table has the connection: one thread at a time receives on it and handles its requests (a [turn](turn)).
//!
//! | module | holds |
//! |---|---|
//! | `frames`, `input` | where requests end, and bytes that are no whole request yet |
//! | `stream`, `out` | a connection, what waits to be sent on it, and what a thread sends |
//! | `accepting` | connections that come, and what happens without descriptors |
//! | `turn` | what a worker does for a connection |
//! | `worker`, `closing` | the loop of a worker, and its end |
//! | `leaving` | connections that end in order |

mod accepting;
mod closing;
mod frames;
mod input;
mod leaving;
mod out;
mod stream;
mod turn;
mod worker;

pub use frames::{FindFrame, Frame, Frames};
pub(super) use out::Out;
pub(super) use stream::Stream;

use super::builder::Options;
use super::error::ServerError;
use super::flows::Flows;
use super::handler::{Closed, Handler};
use super::launch::Opened;
use super::service::{FlowsOf, Kept, Local, Place, Service};
use super::transport::{ServedPort, Target, Transport};
use core::sync::atomic::AtomicBool;
use input::Input;
use std::net::SocketAddr;
use std::sync::Arc;
use warmcore_linux::net::connections::{ListeningPort, Poller};
use warmcore_units::CpuId;

/// The longest request if nothing else is wanted, in bytes.
const LONGEST: usize = 1 << 20;

/// How requests are found on connections.
pub(super) struct Connections {
    frames: Frames,
    /// The longest request, in bytes.
    longest: usize,
    address: SocketAddr,
    /// Whether it was said that descriptors are short.
    warned: AtomicBool,
}

/// Knows the connections of a server.
pub(super) trait Directory: Send + Sync {
    /// The connection of a peer; of several, the last.
    fn find(&self, peer: &SocketAddr) -> Option<Arc<Stream>>;
}

impl<K: Send> Directory for Flows<K, Arc<Stream>> {
    fn find(&self, peer: &SocketAddr) -> Option<Arc<Stream>> {
        Self::find(self, peer)
    }
}

/// What lies beside the state of a connection's flow.
#[derive(Default, Debug)]
pub(super) struct Beside {
    input: Input,
    /// Whether replies wait for the peer to read.
    waiting: bool,
    /// The flow ends once all is sent: told so with a reason, or untold after a panic.
    ending: Option<Option<Closed>>,
}

impl Transport for Connections {
    type Link = Arc<Stream>;
    type Beside = Beside;
    type Out = Out;
    type Share = Poller;

    fn target<'a>(out: &'a mut Out, _: SocketAddr, _: &Arc<Stream>) -> Target<'a> {
        Target::Connection(out)
    }

    fn timer<S, W, H: Handler<S, W>>(
        service: &Service<S, H, Self>,
        local: &mut Local<W, Self>,
        place: Place<Self>,
        kept: Box<Kept<S, Self>>,
    ) {
        service.timer_turn(local, place, kept);
    }

    fn ended<W>(local: &mut Local<W, Self>, stream: Arc<Stream>, beside: Beside, reason: Closed, now: u64) {
        if reason == Closed::Stopped && !beside.input.is_empty() {
            local.counts.abandoned += 1;
        }
        local.out.give_up(stream, true, now);
    }

    fn work<S, W, H: Handler<S, W>>(
        service: &Service<S, H, Self>,
        local: Local<W, Self>,
        share: Poller,
    ) -> Result<(), String> {
        worker::work(service, local, share)
    }
}

/// Opens a port for workers on `cpus`.
pub(super) fn open<S: Send + 'static>(
    options: &Options,
    frames: Frames,
    cpus: &[CpuId],
) -> Result<Opened<S, Connections>, ServerError> {
    let accepting = options.policy.accepting(cpus)?;
    let (port, pollers) =
        ListeningPort::open(options.address, &accepting, cpus.len(), options.receive_buffer)?;
    let by_worker = accepting.keeps_connections();
    let flows = Arc::new(Flows::new(cpus.len(), by_worker, options.idle));
    let directory: Arc<dyn Directory> = Arc::<FlowsOf<S, Connections>>::clone(&flows);
    let out = || Out::new(frames.clone(), Arc::clone(&directory));
    let transport = Connections {
        frames: frames.clone(),
        longest: options.longest.unwrap_or(LONGEST),
        address: port.address(),
        warned: AtomicBool::new(false),
    };
    Ok(Opened {
        workers: pollers.into_iter().map(|poller| (out(), poller)).collect(),
        keeper: (!by_worker).then(out),
        port: ServedPort::Connections { port, frames: frames.clone(), directory: Arc::clone(&directory) },
        flows,
        transport,
    })
}
