//! Frames from a network interface: a packet socket's ring, an XDP socket, or a TUN interface.
//!
//! The driver answers ARP requests for the address that the scenario names, so that peers can find it.
//! It reports a sender without a stream to the thread that watches the run, which opens a stream
//! ([`NewSenders::admit`]). Until then the sender's first frames wait in the queue, so none is lost. A
//! sender of TCP gets a stream with its SYN; other segments of no stream are answered with a reset. When a
//! connection has ended, its stream is closed, and another sender can have it. Other senders do not say that they
//! have ended: when all streams are in use, the one that has been idle for longest is closed
//! ([`NewSenders::close_after`]).
//!
//! Frames cannot be steered to the home of their stream, so a sender gets a stream whose home polls the queue on
//! which its first frame arrived. The packet socket's fanout by flow hash, and the hash of a card, keep a sender
//! on one queue, so nothing is forwarded from worker to worker. If no such stream is left, the sender gets any.
//!
//! A packet's delay counts from when it is received here, because the kernel does not say when it
//! arrived.

mod queue;
mod senders;

pub use senders::{NewSenders, SenderCounts};

use super::{Driver, DriverError, Opened, Queue, QueueRequest};
use crate::run_handle::NewFlow;
use queue::{Announcements, DeviceQueue};
use senders::OpenFlows;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::mpsc::{self, Sender};
use warmcore_linux::net::{
    AttachMode, DeviceError, Fanout, FanoutMode, Filter, Interface, PacketOptions, PacketSocket,
    PortProtocol, Ports, Tun, TunHeader, TunMode, TunOptions, XdpInterface, XdpOptions,
};
use warmcore_scenario::{DriverKind, Live};
use warmcore_stack::{Flow, FlowKey, LinkAddress};
use warmcore_units::Transport;

/// Default name of the TUN interface.
const TUN: &str = "warmcore0";

/// The driver of a network interface.
struct Device {
    kind: DriverKind,
    interface: String,
    local: LocalEndpoint,
    open_flows: Arc<OpenFlows>,
    announcements: Sender<NewFlow>,
}

/// The address and port that this driver answers for.
#[derive(Clone, Copy, Debug)]
struct LocalEndpoint {
    address: Ipv4Addr,
    port: u16,
    transport: Transport,
    /// Whether checksums are verified. If so, one that the sender left out must be made good.
    verify_checksum: bool,
}

/// The 5-tuple of `flow`.
const fn key(transport: Transport, flow: &Flow) -> FlowKey {
    match transport {
        Transport::Tcp => flow.tcp_key(),
        Transport::Udp | Transport::Rpc => flow.key(),
    }
}

/// Opens a driver for the interface that `live` names. The second value admits its new senders.
///
/// # Errors
/// If the address or the interface is missing.
pub fn open(live: &Live) -> Result<(Box<dyn Driver>, NewSenders), DriverError> {
    let refuse = |reason: &str| DriverError { driver: name(live.driver), reason: reason.to_owned() };
    let address =
        live.address.ok_or_else(|| refuse("`live.address` is missing: the address to answer for"))?;
    let interface = match (&live.interface, live.driver) {
        (Some(interface), _) => interface.clone(),
        (None, DriverKind::Tun) => TUN.to_owned(),
        (None, _) => return Err(refuse("`live.interface` is missing: the interface to receive from")),
    };
    let open_flows = Arc::new(OpenFlows::default());
    let (announcements, announced) = mpsc::channel();
    let (port, transport) = (live.port, live.transport);
    let local = LocalEndpoint { address, port, transport, verify_checksum: live.verifies_checksum() };
    let new_senders = NewSenders::new(announced, Arc::clone(&open_flows), transport);
    Ok((Box::new(Device { kind: live.driver, interface, local, open_flows, announcements }), new_senders))
}

fn name(kind: DriverKind) -> &'static str {
    match kind {
        DriverKind::Memory => "memory",
        DriverKind::PacketSocket => "packet-socket",
        DriverKind::Xdp => "xdp",
        DriverKind::Tun => "tun",
        DriverKind::UdpSocket => "udp-socket",
    }
}

impl Driver for Device {
    fn open(&mut self, request: &QueueRequest<'_>) -> Result<Opened, DriverError> {
        let wanted = request.queues.max(1);
        let queues = match self.kind {
            DriverKind::Xdp => self.xdp_sockets(wanted),
            DriverKind::Tun => self.tun(wanted),
            _ => self.packet_sockets(wanted),
        };
        let refuse = |error: DeviceError| DriverError { driver: name(self.kind), reason: error.to_string() };
        Ok(Opened { queues: queues.map_err(refuse)?, prepared: Vec::new() })
    }
}

type Queues = Result<Vec<Box<dyn Queue>>, DeviceError>;

impl Device {
    /// Accepts our transport to our port, and ARP.
    fn filter(&self) -> Filter {
        let protocol =
            if self.local.transport == Transport::Tcp { PortProtocol::Tcp } else { PortProtocol::Udp };
        Filter::Ports(Ports { protocol, ports: vec![self.local.port], arp: true, fragments: false })
    }

    fn queue<D: warmcore_linux::net::FrameDevice + 'static>(
        &self,
        queue: usize,
        device: D,
        mac: [u8; 6],
    ) -> Box<dyn Queue> {
        let open_flows = Arc::clone(&self.open_flows);
        let announcements = Announcements { queue, sender: self.announcements.clone() };
        let driver = name(self.kind);
        Box::new(DeviceQueue::new(driver, device, self.local, LinkAddress(mac), open_flows, announcements))
    }

    /// Packet sockets that share the frames by flow hash: those of one sender all go to the same socket.
    fn packet_sockets(&self, wanted: u32) -> Queues {
        // Fanout groups of one namespace must differ, so the group is the process id.
        let group = Fanout { group: std::process::id() as u16, mode: FanoutMode::FlowHash };
        let options = PacketOptions {
            filter: self.filter(),
            fanout: (wanted > 1).then_some(group),
            ..PacketOptions::default()
        };
        let sockets = PacketSocket::open_group(&self.interface, &options, wanted as usize)?;
        let queue = |(queue, socket): (usize, PacketSocket)| {
            let mac = socket.interface().mac;
            self.queue(queue, socket, mac)
        };
        Ok(sockets.into_iter().enumerate().map(queue).collect())
    }

    /// An XDP socket for each receive queue of the interface.
    fn xdp_sockets(&self, wanted: u32) -> Queues {
        let there = Interface::find(&self.interface)?.queues;
        if there > wanted {
            return Err(DeviceError::BadOption {
                option: "the number of the interface's receive queues",
                value: there.into(),
                expected: "at most one for each worker, or one in all if the policy needs to see all packets: \
                           set it with `ethtool -L`, or use a packet socket",
            });
        }
        let attached = XdpInterface::attach(&self.interface, &self.filter(), AttachMode::Best)?;
        let open = |queue| {
            let socket = attached.socket(queue, XdpOptions::default())?;
            Ok(self.queue(queue as usize, socket, attached.interface().mac))
        };
        (0..there).map(open).collect()
    }

    fn tun(&self, wanted: u32) -> Queues {
        let header = TunHeader::default();
        let options = TunOptions { mode: TunMode::Ip(header), several_queues: wanted > 1 };
        let open = |queue| Ok(self.queue(queue, Tun::open(&self.interface, options)?, header.destination));
        (0..wanted as usize).map(open).collect()
    }
}
