//! Frames from a network interface: a packet socket's ring, an XDP socket, or a TUN interface.
//!
//! Whoever asks for the address that the scenario names is answered (ARP), so that peers find us.
//! A sender that has no stream yet is announced to whoever watches the run, who opens one
//! ([`NewSenders::admit`]); its first frames wait in the queue until then, so that none is lost.
//!
//! A packet's delay counts from when it is received here: the kernel does not say when it came.

mod queue;

use super::{Driver, DriverError, Opened, Queue, QueueRequest};
use crate::watch::{OpenStreamError, Watch};
use hashbrown::HashSet;
use queue::DeviceQueue;
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};
use warmcore_linux::net::{
    AttachMode, DeviceError, Fanout, FanoutMode, Filter, Interface, PacketOptions, PacketSocket, Ports, Tun,
    TunHeader, TunMode, TunOptions, XdpInterface, XdpOptions,
};
use warmcore_scenario::{DriverKind, Live};
use warmcore_stack::{Flow, FlowKey, LinkAddress};

/// The name of a TUN interface where none is given.
const TUN: &str = "warmcore0";

/// Frames of an interface.
struct Device {
    kind: DriverKind,
    interface: String,
    here: Here,
    register: Arc<Register>,
    announcements: Sender<Flow>,
}

/// Who we are.
#[derive(Clone, Copy, Debug)]
struct Here {
    address: Ipv4Addr,
    port: u16,
    /// Whether checksums are verified: where the sender has left one out, its place must say so.
    verifies: bool,
}

/// Who has a stream.
#[derive(Debug, Default)]
struct Register {
    /// Changes with everything below.
    version: AtomicU64,
    entries: RwLock<Entries>,
}

#[derive(Clone, Debug, Default)]
struct Entries {
    open: HashSet<FlowKey>,
    /// Nobody else will get one.
    is_closed: bool,
}

impl Register {
    fn change(&self, change: impl FnOnce(&mut Entries)) {
        change(&mut self.entries.write().unwrap_or_else(PoisonError::into_inner));
        self.version.fetch_add(1, Ordering::Release);
    }
}

/// Senders that have no stream yet.
#[derive(Debug)]
pub struct NewSenders {
    announced: Receiver<Flow>,
    register: Arc<Register>,
}

impl NewSenders {
    /// Waits for up to `longest`, and opens a stream for each sender that has come meanwhile. When
    /// no more can be opened, packets of others are refused and counted.
    pub fn admit(&self, watch: &Watch<'_>, longest: Duration) {
        let until = Instant::now() + longest;
        let left = || until.saturating_duration_since(Instant::now());
        while !left().is_zero()
            && let Ok(flow) = self.announced.recv_timeout(left())
        {
            let opened = watch.open(&flow);
            self.register.change(|entries| match opened {
                Err(OpenStreamError::TooMany { .. }) => entries.is_closed = true,
                // What a stack refuses to open, it refuses frames of.
                Ok(_) | Err(OpenStreamError::Refused(_)) => drop(entries.open.insert(flow.key())),
            });
            // The first frames are there, and whoever may have looked for them asleep again.
            watch.resume();
        }
    }
}

/// A driver for the interface that `live` names, and the senders that it will find.
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
    let register = Arc::new(Register::default());
    let (announcements, announced) = mpsc::channel();
    let here = Here { address, port: live.port, verifies: live.verify_udp_checksum };
    let new_senders = NewSenders { announced, register: Arc::clone(&register) };
    Ok((Box::new(Device { kind: live.driver, interface, here, register, announcements }), new_senders))
}

fn name(kind: DriverKind) -> &'static str {
    match kind {
        DriverKind::Memory => "memory",
        DriverKind::PacketSocket => "packet-socket",
        DriverKind::Xdp => "xdp",
        DriverKind::Tun => "tun",
    }
}

impl Driver for Device {
    fn open(&mut self, request: &QueueRequest<'_>) -> Result<Opened, DriverError> {
        let wanted = request.queues.max(1);
        let queues = match self.kind {
            DriverKind::Memory | DriverKind::PacketSocket => self.packet_sockets(wanted),
            DriverKind::Xdp => self.xdp_sockets(wanted),
            DriverKind::Tun => self.tun(wanted),
        };
        let refuse = |error: DeviceError| DriverError { driver: name(self.kind), reason: error.to_string() };
        Ok(Opened { queues: queues.map_err(refuse)?, prepared: Vec::new() })
    }
}

type Queues = Result<Vec<Box<dyn Queue>>, DeviceError>;

impl Device {
    /// UDP to our port, and ARP.
    fn filter(&self) -> Filter {
        Filter::Ports(Ports { udp: vec![self.here.port], arp: true, fragments: false })
    }

    fn queue<D: warmcore_linux::net::FrameDevice + 'static>(
        &self,
        device: D,
        mac: [u8; 6],
    ) -> Box<dyn Queue> {
        let (register, announcements) = (Arc::clone(&self.register), self.announcements.clone());
        Box::new(DeviceQueue::new(device, self.here, LinkAddress(mac), register, announcements))
    }

    /// Sockets that share the frames by the hash of their flow.
    fn packet_sockets(&self, wanted: u32) -> Queues {
        // Groups of one namespace must differ: those of two processes do, as their numbers.
        let group = Fanout { group: std::process::id() as u16, mode: FanoutMode::FlowHash };
        let options = PacketOptions {
            filter: self.filter(),
            fanout: (wanted > 1).then_some(group),
            ..PacketOptions::default()
        };
        let open = |_| {
            let socket = PacketSocket::open(&self.interface, &options)?;
            let mac = socket.interface().mac;
            Ok(self.queue(socket, mac))
        };
        (0..wanted).map(open).collect()
    }

    /// A socket for each receive queue of the interface.
    fn xdp_sockets(&self, wanted: u32) -> Queues {
        let there = Interface::find(&self.interface)?.queues;
        if there > wanted {
            return Err(DeviceError::BadOption {
                option: "the number of the interface's receive queues",
                value: there.into(),
                expected: "at most one for each worker, and one in all where a policy needs a common view: \
                           set it with `ethtool -L`, or use a packet socket",
            });
        }
        let attached = XdpInterface::attach(&self.interface, &self.filter(), AttachMode::Best)?;
        let open = |queue| {
            let socket = attached.socket(queue, XdpOptions::default())?;
            Ok(self.queue(socket, attached.interface().mac))
        };
        (0..there).map(open).collect()
    }

    fn tun(&self, wanted: u32) -> Queues {
        let header = TunHeader::default();
        let options = TunOptions { mode: TunMode::Ip(header), several_queues: wanted > 1 };
        let open = |_| Ok(self.queue(Tun::open(&self.interface, options)?, header.destination));
        (0..wanted).map(open).collect()
    }
}
