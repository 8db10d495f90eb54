//! Frames from a network interface: a packet socket's ring, an XDP socket, or a TUN interface.
//!
//! The driver answers ARP requests for the address that the scenario names, so that peers can find it.
//! It reports a sender without a stream to the thread that watches the run, which opens a stream
//! ([`NewSenders::admit`]). Until then the sender's first frames wait in the queue, so none is lost. A
//! sender of TCP gets a stream with its SYN; other segments of no stream are answered with a reset. When a
//! connection has ended, its stream is closed, and another sender can have it.
//!
//! A packet's delay counts from when it is received here, because the kernel does not say when it
//! arrived.

mod queue;

use super::{Driver, DriverError, Opened, Queue, QueueRequest};
use crate::run_handle::{OpenStreamError, RunHandle};
use hashbrown::{HashMap, HashSet};
use queue::DeviceQueue;
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};
use warmcore_linux::net::{
    AttachMode, DeviceError, Fanout, FanoutMode, Filter, Interface, PacketOptions, PacketSocket,
    PortProtocol, Ports, Tun, TunHeader, TunMode, TunOptions, XdpInterface, XdpOptions,
};
use warmcore_scenario::{DriverKind, Live};
use warmcore_stack::{Flow, FlowKey, LinkAddress};
use warmcore_units::{StreamId, Transport};

/// Default name of the TUN interface.
const TUN: &str = "warmcore0";

/// The driver of a network interface.
struct Device {
    kind: DriverKind,
    interface: String,
    local: LocalEndpoint,
    open_flows: Arc<OpenFlows>,
    announcements: Sender<Flow>,
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

/// The flows that have a stream, shared by all queues.
#[derive(Debug, Default)]
struct OpenFlows {
    /// Incremented with every change of `flows`.
    version: AtomicU64,
    flows: RwLock<FlowSet>,
}

#[derive(Clone, Debug, Default)]
struct FlowSet {
    open: HashSet<FlowKey>,
    /// No more streams can be opened.
    is_full: bool,
}

impl OpenFlows {
    fn change(&self, change: impl FnOnce(&mut FlowSet)) {
        change(&mut self.flows.write().unwrap_or_else(PoisonError::into_inner));
        self.version.fetch_add(1, Ordering::Release);
    }
}

/// Senders that have no stream yet.
#[derive(Debug)]
pub struct NewSenders {
    announced: Receiver<Flow>,
    open_flows: Arc<OpenFlows>,
    transport: Transport,
    /// The streams that were opened here.
    opened: Mutex<HashMap<StreamId, FlowKey>>,
    ran_out: AtomicBool,
}

/// How often connections that have ended are looked for.
const LOOK_FOR_ENDED: Duration = Duration::from_millis(20);

/// The 5-tuple of `flow`.
const fn key(transport: Transport, flow: &Flow) -> FlowKey {
    match transport {
        Transport::Tcp => flow.tcp_key(),
        Transport::Udp | Transport::Rpc => flow.key(),
    }
}

impl NewSenders {
    /// Waits for up to `longest`; opens a stream for each new sender, and closes those whose connections have
    /// ended. While no more streams can be opened, packets of other senders are refused and counted. Returns
    /// whether the run goes on: false soon after it has [ended](RunHandle::has_ended) early.
    #[must_use = "a run that has ended early admits nobody"]
    pub fn admit(&self, run: &RunHandle<'_>, longest: Duration) -> bool {
        let until = Instant::now() + longest;
        let left = || until.saturating_duration_since(Instant::now());
        while !left().is_zero() && !run.has_ended() {
            self.close_ended(run);
            if let Ok(flow) = self.announced.recv_timeout(left().min(LOOK_FOR_ENDED)) {
                self.open(run, &flow);
            }
        }
        !run.has_ended()
    }

    /// Whether a sender came when every stream was taken.
    pub fn ran_out(&self) -> bool {
        self.ran_out.load(Ordering::Relaxed)
    }

    fn open(&self, run: &RunHandle<'_>, flow: &Flow) {
        let opened = run.open(flow);
        let key = key(self.transport, flow);
        if let Ok(stream) = opened {
            self.opened.lock().unwrap_or_else(PoisonError::into_inner).insert(stream, key);
        }
        if matches!(opened, Err(OpenStreamError::TooMany { .. })) {
            self.ran_out.store(true, Ordering::Relaxed);
        }
        self.open_flows.change(|flows| match opened {
            Err(OpenStreamError::TooMany { .. }) => flows.is_full = true,
            // A stack that refuses to open a flow also refuses its frames.
            Ok(_) | Err(OpenStreamError::Refused(_)) => drop(flows.open.insert(key)),
            Err(OpenStreamError::Ended) => {}
        });
        // The first frames are waiting, but the workers that polled for them may sleep again.
        run.resume();
    }

    fn close_ended(&self, run: &RunHandle<'_>) {
        let ended = run.close_ended();
        if ended.is_empty() {
            return;
        }
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        self.open_flows.change(|flows| {
            flows.is_full = false;
            for key in ended.iter().filter_map(|stream| opened.remove(stream)) {
                flows.open.remove(&key);
            }
        });
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
    let new_senders = NewSenders {
        announced,
        open_flows: Arc::clone(&open_flows),
        transport,
        opened: Mutex::default(),
        ran_out: AtomicBool::new(false),
    };
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
        device: D,
        mac: [u8; 6],
    ) -> Box<dyn Queue> {
        let (open_flows, announcements) = (Arc::clone(&self.open_flows), self.announcements.clone());
        let driver = name(self.kind);
        Box::new(DeviceQueue::new(driver, device, self.local, LinkAddress(mac), open_flows, announcements))
    }

    /// Packet sockets that share the frames by flow hash.
    fn packet_sockets(&self, wanted: u32) -> Queues {
        // Fanout groups of one namespace must differ, so the group is the process id.
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
