//! A server of datagrams: the kernel's UDP.

mod out;
mod requests;
mod worker;

pub(super) use out::Out;

use super::builder::Options;
use super::error::ServerError;
use super::flows::Flows;
use super::handler::{Closed, Handler};
use super::launch::Opened;
use super::service::{Call, Kept, Local, Place, Service};
use super::transport::{ServedPort, Target, Transport};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use warmcore_linux::net::sockets::{Batch, Port, PortOptions, WorkerSocket};
use warmcore_units::CpuId;

/// How datagrams are received.
pub(super) struct Datagrams {
    /// The longest, in bytes.
    longest: usize,
    /// How many a worker receives at once.
    at_once: usize,
}

impl Transport for Datagrams {
    /// The address of ours that the peer knows.
    type Link = Option<IpAddr>;
    type Beside = ();
    type Out = Out;
    type Share = WorkerSocket;

    fn target<'a>(out: &'a mut Out, _: SocketAddr, link: &Option<IpAddr>) -> Target<'a> {
        Target::Datagrams(out, *link)
    }

    fn timer<S, W, H: Handler<S, W>>(
        service: &Service<S, H, Self>,
        local: &mut Local<W, Self>,
        place: Place<Self>,
        kept: Box<Kept<S, Self>>,
    ) {
        service.call(local, place, kept, Call::Timer);
    }

    fn ended<W>(_: &mut Local<W, Self>, _: Option<IpAddr>, (): (), _: Closed, _: u64) {}

    fn work<S, W, H: Handler<S, W>>(
        service: &Service<S, H, Self>,
        local: Local<W, Self>,
        share: WorkerSocket,
    ) -> Result<(), String> {
        let batch = Batch::new(service.transport.at_once, service.transport.longest);
        worker::work(service, local, share, batch)
    }
}

/// The size of a socket's receive buffer if nothing else is wanted, in bytes.
const RECEIVE_BUFFER: usize = 4 << 20;

/// Opens a port for workers on `cpus`.
pub(super) fn open<S>(options: &Options, cpus: &[CpuId]) -> Result<Opened<S, Datagrams>, ServerError> {
    let sharing = options.policy.sharing(cpus)?;
    let receive_buffer = Some(options.receive_buffer.unwrap_or(RECEIVE_BUFFER));
    let port_options = PortOptions { receive_buffer, ..PortOptions::default() };
    let (port, sockets) = Port::open(options.address, &sharing, cpus.len(), port_options)?;
    // A flow has a worker where the port keeps it there.
    let by_worker = options.policy.keeps_order();
    Ok(Opened {
        workers: sockets.into_iter().map(|socket| (Out::new(socket.clone()), socket)).collect(),
        keeper: (!by_worker).then(|| Out::new(port.sender())),
        port: ServedPort::Datagrams(port),
        flows: Arc::new(Flows::new(cpus.len(), by_worker, options.idle)),
        transport: Datagrams {
            longest: options.longest.unwrap_or(Batch::LONGEST),
            at_once: if sharing.is_one_socket() { 1 } else { Batch::MOST },
        },
    })
}
