//! A server of datagrams: on the kernel's UDP sockets, or below them on an interface.

pub(super) mod interface;
mod out;
mod port;
mod requests;
mod source;
mod worker;

pub(super) use out::Out;
pub(super) use port::DatagramPort;

use super::builder::Options;
use super::error::ServerError;
use super::flows::Flows;
use super::handler::{Closed, Handler};
use super::launch::Opened;
use super::service::{Call, Kept, Local, Place, Service};
use super::transport::{ServedPort, Target, Transport};
use interface::{Below, Receiver};
use out::Destination;
use source::SocketSource;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use warmcore_linux::net::sockets::{Batch, Port, PortOptions, Sharing, WorkerSocket};
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
    type Share = Share;

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
        share: Share,
    ) -> Result<(), String> {
        match share {
            Share::Socket(socket) => {
                let batch = Batch::new(service.transport.at_once, service.transport.longest);
                worker::work(service, local, SocketSource { socket, batch })
            }
            Share::Queues(receiver) => worker::work(service, local, receiver),
        }
    }
}

/// A worker's share of the port.
pub(super) enum Share {
    /// A socket.
    Socket(WorkerSocket),
    /// Queues of an interface.
    Queues(Receiver),
}

/// The size of a socket's receive buffer if nothing else is wanted, in bytes.
const RECEIVE_BUFFER: usize = 4 << 20;

/// Opens a port for workers on `cpus`.
pub(super) fn open<S>(options: &Options, cpus: &[CpuId]) -> Result<Opened<S, Datagrams>, ServerError> {
    let sharing = options.policy.sharing(cpus)?;
    match &options.below {
        None => open_sockets(options, &sharing, cpus.len()),
        Some(below) => open_interface(below, options, &sharing, cpus.len()),
    }
}

fn open_sockets<S>(
    options: &Options,
    sharing: &Sharing,
    workers: usize,
) -> Result<Opened<S, Datagrams>, ServerError> {
    let receive_buffer = Some(options.receive_buffer.unwrap_or(RECEIVE_BUFFER));
    let port_options = PortOptions { receive_buffer, ..PortOptions::default() };
    let (port, sockets) = Port::open(options.address, sharing, workers, port_options)?;
    let share = |socket: WorkerSocket| (Out::new(Destination::Socket(socket.clone())), Share::Socket(socket));
    // A flow has a worker where the port keeps it there.
    let by_worker = options.policy.keeps_order();
    Ok(Opened {
        workers: sockets.into_iter().map(share).collect(),
        keeper: (!by_worker).then(|| Out::new(Destination::Socket(port.sender()))),
        port: ServedPort::Datagrams(DatagramPort::Sockets(port)),
        flows: Arc::new(Flows::new(workers, by_worker, options.idle)),
        transport: Datagrams::new(options, sharing),
    })
}

fn open_interface<S>(
    below: &Below,
    options: &Options,
    sharing: &Sharing,
    workers: usize,
) -> Result<Opened<S, Datagrams>, ServerError> {
    let receive_buffer = options.receive_buffer.unwrap_or(RECEIVE_BUFFER);
    let port = below.open(sharing, workers, receive_buffer, options.flows)?;
    let transport = Datagrams::new(options, sharing);
    let share = |number| {
        let receiver = port.receiver(number, workers, transport.longest);
        (Out::new(Destination::Link(receiver.sender())), Share::Queues(receiver))
    };
    let by_worker = options.policy.keeps_order() && (workers == 1 || below.device.keeps_flows());
    Ok(Opened {
        workers: (0..workers).map(share).collect(),
        keeper: (!by_worker).then(|| Out::new(Destination::Link(port.sender()))),
        port: ServedPort::Datagrams(DatagramPort::Interface(port)),
        flows: Arc::new(Flows::new(workers, by_worker, options.idle)),
        transport,
    })
}

impl Datagrams {
    fn new(options: &Options, sharing: &Sharing) -> Self {
        Self {
            longest: options.longest.unwrap_or(Batch::LONGEST),
            at_once: if sharing.is_one_socket() { 1 } else { Batch::MOST },
        }
    }
}
