//! The same handler over the kernel's socket, a packet socket, XDP and TUN: on interfaces in namespaces that each test makes
//! and that end with it. Clients use the kernel's own UDP.

use crate::{LONG, ask, receive, until};
use std::collections::HashSet;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier, Mutex};
use std::time::Duration;
use warmcore_linux::net::lab::{Lab, LinkOptions};
use warmcore_linux::net::{FrameDevice, Namespace, PacketOptions, PacketSocket, privilege_missing};
use warmcore_runtime::server::{
    Closed, Device, Handler, Policy, Reply, Request, Running, Server, ServerError,
};
use warmcore_stack::wire::{FrameBuilder, LinkKind};
use warmcore_stack::{Flow, LinkAddress};

const PORT: u16 = 9000;
/// Not an address of the kernel: clients find it only if the server answers ARP.
const OURS: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 9);
const OURS_BEHIND_TUN: Ipv4Addr = Ipv4Addr::new(10, 78, 0, 9);
const KERNEL_BEFORE_TUN: Ipv4Addr = Ipv4Addr::new(10, 78, 0, 1);
const TUN: &str = "served0";

/// Where a server runs, and its clients.
struct Place {
    device: Device,
    lab: Lab,
}

impl Place {
    /// `None`, with a note, if the privilege is missing.
    fn new(device: Device, link: &LinkOptions) -> Option<Self> {
        if let Some(missing) = privilege_missing() {
            println!("skipped: needs {missing}");
            return None;
        }
        let lab = Lab::new(link).unwrap_or_else(|error| panic!("{error}"));
        Some(Self { device, lab })
    }

    fn here(&self) -> &Namespace {
        &self.lab.near
    }

    fn server(&self) -> Server {
        let (interface, address) = match self.device {
            Device::Tun => (TUN, OURS_BEHIND_TUN),
            _ => (self.lab.link.near.name.as_str(), OURS),
        };
        Server::on_interface(self.device, interface, (address, PORT)).unwrap()
    }

    /// Starts a server where its clients can reach it.
    fn start<S: Send + 'static>(
        &self,
        server: Server<S>,
        handler: impl Handler<S> + 'static,
    ) -> Result<Running, ServerError> {
        let running = self.here().run(|| server.start_handler(handler)).unwrap()?;
        if self.device == Device::Tun {
            // The kernel would tell the server by ICMP that a client has closed its port.
            let silent = || fs::write("/proc/sys/net/ipv4/icmp_ratelimit", "3600000");
            self.here().run(silent).unwrap().unwrap();
            self.here().ip(&["link", "set", TUN, "addrgenmode", "none"]).unwrap();
            self.here().configure(TUN, KERNEL_BEFORE_TUN, 24).unwrap();
        }
        Ok(running)
    }

    fn client(&self, running: &Running) -> UdpSocket {
        self.client_of(running.local_addr())
    }

    fn client_of(&self, server: SocketAddr) -> UdpSocket {
        let namespace = if self.device == Device::Tun { self.here() } else { &self.lab.far };
        let socket = namespace.run(|| UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))).unwrap().unwrap();
        socket.connect(server).unwrap();
        socket.set_read_timeout(Some(LONG)).unwrap();
        socket
    }
}

/// Counts a flow's requests, and does what they say.
#[derive(Clone, Default)]
struct Talking {
    closed: Arc<Mutex<Vec<Closed>>>,
}

impl Handler<u32> for Talking {
    fn request(&self, count: &mut u32, request: Request<'_>, reply: &mut Reply<'_>) {
        *count += 1;
        match request.bytes {
            b"later" => reply.after(Duration::from_millis(5)),
            b"close" => reply.close(),
            b"panic" => std::panic::resume_unwind(Box::new("told to")),
            [b't', b'e', b'l', b'l', b' ', peer @ ..] => {
                let peer = std::str::from_utf8(peer).unwrap().parse().unwrap();
                reply.send_to(peer, b"from another flow");
            }
            _ => {}
        }
        reply.send(format!("{count}").as_bytes());
        reply.send(request.bytes);
    }

    fn timer(&self, count: &mut u32, reply: &mut Reply<'_>) {
        reply.send(format!("timer after {count}").as_bytes());
    }

    fn closed(&self, _: SocketAddr, _: u32, reason: Closed) {
        self.closed.lock().unwrap().push(reason);
    }
}

/// Everything that two clients are told.
fn conversation(running: &Running, client: impl Fn() -> UdpSocket) -> Vec<Vec<u8>> {
    let clients = [client(), client()];
    let mut told = Vec::new();
    let long: Vec<u8> = (0..1472).map(|at| (at % 251) as u8).collect();
    for request in [&b"hello"[..], b"", &long, b"later", b"close", b"anew"] {
        for client in &clients {
            told.push(ask(client, request));
            told.push(receive(client));
            if request == b"later" {
                told.push(receive(client));
            }
        }
    }
    clients[0].send(b"panic").unwrap();
    until("the panic is counted", || running.report().total().panics == 1);
    told.push(ask(&clients[0], b"begun anew"));
    told.push(receive(&clients[0]));
    let other = clients[1].local_addr().unwrap();
    clients[0].send(format!("tell {other}").as_bytes()).unwrap();
    told.push(receive(&clients[1]));
    // The server says something without being asked.
    assert!(running.sender().send(other, b"unasked"));
    told.push(receive(&clients[1]));
    told
}

/// What each device has a mechanism for, and the receive queues that this needs.
const POLICIES: [(Device, u32, &[Policy]); 4] = [
    (
        Device::PacketSocket,
        1,
        &[Policy::ByFlow, Policy::KernelHash, Policy::ByCpu, Policy::SharedLifo, Policy::SharedFifo],
    ),
    (Device::Xdp, 2, &[Policy::ByFlow, Policy::KernelHash]),
    (Device::Xdp, 1, &[Policy::SharedLifo, Policy::SharedFifo]),
    (Device::Tun, 1, &[Policy::ByFlow, Policy::KernelHash, Policy::SharedLifo, Policy::SharedFifo]),
];

fn with_queues(queues: u32) -> LinkOptions {
    LinkOptions { queues, ..LinkOptions::default() }
}

#[test]
fn clients_are_told_the_same_over_every_device_and_the_kernels_socket() {
    let talking = Talking::default();
    let server = Server::bind("127.0.0.1:0").unwrap().state(|_| 0).workers(2);
    let running = server.start_handler(talking.clone()).unwrap();
    let over_kernel = conversation(&running, || crate::client(&running));
    let by_kernel = running.stop().unwrap().total();
    for (device, queues, policies) in POLICIES {
        let Some(place) = Place::new(device, &with_queues(queues)) else { return };
        for policy in policies {
            let talking = Talking::default();
            let server = place.server().policy(*policy).workers(2).state(|_| 0);
            let running = place.start(server, talking.clone()).unwrap();
            let told = conversation(&running, || place.client(&running));
            assert_eq!(told, over_kernel, "{device:?}, {policy:?}");
            let report = running.stop().unwrap();
            assert_eq!((report.total(), report.dropped, report.refused), (by_kernel, 0, 0), "{device:?}");
            // Two were closed by the handler, one by its panic; and the others live to the end.
            let closed = talking.closed.lock().unwrap().clone();
            assert_eq!(closed.iter().filter(|reason| **reason == Closed::ByHandler).count(), 2);
            assert_eq!(closed.iter().filter(|reason| **reason == Closed::Stopped).count(), 2);
        }
    }
}

/// What waits in the queue of a slow handler is answered after the server was asked to stop.
#[test]
fn what_is_queued_is_answered_at_the_end() {
    const REQUESTS: u64 = 20;
    for (device, queues, policies) in POLICIES {
        let Some(place) = Place::new(device, &with_queues(queues)) else { return };
        for policy in policies {
            let (entered, goes_on) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)));
            let barriers = (Arc::clone(&entered), Arc::clone(&goes_on));
            let handler = move |count: &mut u32, request: Request<'_>, reply: &mut Reply<'_>| {
                if *count == 0 {
                    barriers.0.wait();
                    barriers.1.wait();
                }
                *count += 1;
                reply.send(request.bytes);
            };
            let server = place.server().policy(*policy).workers(1).state(|_| 0);
            let running = place.start(server, handler).unwrap();
            let client = place.client(&running);
            client.send(b"0").unwrap();
            entered.wait();
            for number in 1..REQUESTS {
                client.send(number.to_string().as_bytes()).unwrap();
            }
            std::thread::scope(|scope| {
                let stopping = scope.spawn(|| running.stop().unwrap());
                goes_on.wait();
                for number in 0..REQUESTS {
                    assert_eq!(receive(&client), number.to_string().as_bytes(), "{device:?}, {policy:?}");
                }
                assert_eq!(stopping.join().unwrap().total().replies, REQUESTS);
            });
        }
    }
}

/// The far end of a wire, where frames can be made that the kernel would not send.
struct Wire {
    socket: PacketSocket,
    flow: Flow,
}

impl Wire {
    fn new(place: &Place) -> Self {
        let end = &place.lab.link.far;
        let open = || PacketSocket::open(&end.name, &PacketOptions::default());
        let flow = Flow {
            source_link: LinkAddress(end.mac),
            destination_link: LinkAddress(place.lab.link.near.mac),
            source: end.address,
            destination: OURS,
            source_port: 1,
            destination_port: PORT,
        };
        Self { socket: place.lab.far.run(open).unwrap().unwrap(), flow }
    }

    /// A frame from `flow`, changed by `spoil`.
    fn send(&mut self, flow: Flow, spoil: impl FnOnce(&mut [u8])) {
        let mut buffer = [0; 100];
        let frame = FrameBuilder::new(LinkKind::Ethernet, flow).write(b"hello", &mut buffer).unwrap();
        spoil(frame);
        self.socket.send(frame).unwrap();
        self.socket.flush().unwrap();
    }

    /// The ports that the next `number` answers go to.
    fn answered(&mut self, number: usize) -> HashSet<u16> {
        let mut ports = HashSet::new();
        until("all are answered", || {
            self.socket.receive(usize::MAX, |frame| {
                if let Ok(flow) = Flow::parse(LinkKind::Ethernet, frame.bytes)
                    && flow.source == OURS
                {
                    ports.insert(flow.destination_port);
                }
            });
            ports.len() >= number
        });
        ports
    }
}

fn echo(count: &mut u32, request: Request<'_>, reply: &mut Reply<'_>) {
    *count += 1;
    reply.send(request.bytes);
}

#[test]
fn frames_that_are_no_whole_datagram_are_refused_and_counted() {
    for device in [Device::PacketSocket, Device::Xdp] {
        let Some(place) = Place::new(device, &LinkOptions::default()) else { return };
        let running = place.start(place.server().state(|_| 0), echo).unwrap();
        let mut wire = Wire::new(&place);
        let flow = wire.flow;
        wire.send(flow, |frame| frame[45] ^= 1); // the payload, and so the checksum
        wire.send(flow, |frame| frame[16] ^= 1); // the length of the IP datagram
        wire.send(Flow { source: Ipv4Addr::BROADCAST, ..flow }, |_| ());
        wire.send(Flow { source_link: LinkAddress([0xff; 6]), ..flow }, |_| ());
        // For somebody else.
        wire.send(Flow { destination: Ipv4Addr::new(10, 77, 0, 8), ..flow }, |_| ());
        wire.send(Flow { source_port: 7, ..flow }, |_| ());
        assert_eq!(wire.answered(1), HashSet::from([7]));
        let report = running.stop().unwrap();
        assert_eq!((report.refused, report.total().requests, report.dropped), (4, 1, 0), "{device:?}");
    }
}

#[test]
fn thousands_of_flows_are_open_at_once_and_those_beyond_the_limit_make_room() {
    const FLOWS: u16 = 3000;
    for device in [Device::PacketSocket, Device::Xdp] {
        let Some(place) = Place::new(device, &LinkOptions::default()) else { return };
        let server = place.server().workers(1).flows(2000).state(|_| 0);
        let running = place.start(server, echo).unwrap();
        let mut wire = Wire::new(&place);
        for first in (1..=FLOWS).step_by(500) {
            let ports: HashSet<u16> = (first..first + 500).collect();
            for source_port in first..first + 500 {
                let flow = Flow { source_port, ..wire.flow };
                wire.send(flow, |_| ());
            }
            assert_eq!(wire.answered(500), ports);
        }
        let report = running.stop().unwrap();
        let total = report.total();
        assert_eq!((total.requests, total.replies, total.opened), (3000, 3000, 3000), "{device:?}");
        assert_eq!(total.evicted, 1000);
    }
}

/// Says which worker it is, at once and by a timer.
struct Naming;

impl Handler<()> for Naming {
    fn request(&self, (): &mut (), _: Request<'_>, reply: &mut Reply<'_>) {
        reply.after(Duration::from_millis(1));
        self.timer(&mut (), reply);
    }

    fn timer(&self, (): &mut (), reply: &mut Reply<'_>) {
        let worker = reply.worker_number();
        reply.send(&[worker as u8]);
    }
}

#[test]
fn a_flow_has_its_worker_and_flows_have_all() {
    const FLOWS: usize = 24;
    let Some(place) = Place::new(Device::PacketSocket, &LinkOptions::default()) else { return };
    for policy in [Policy::ByFlow, Policy::KernelHash] {
        let running = place.start(place.server().policy(policy).workers(2), Naming).unwrap();
        let clients: Vec<UdpSocket> = (0..FLOWS).map(|_| place.client(&running)).collect();
        let mut workers = HashSet::new();
        for client in &clients {
            let first = ask(client, b"who?");
            assert_eq!(receive(client), first, "the timer's worker, {policy:?}");
            for _ in 0..3 {
                assert_eq!((ask(client, b"who?"), receive(client)), (first.clone(), first.clone()));
            }
            workers.insert(first);
        }
        assert_eq!(workers.len(), 2, "{policy:?}");
        running.stop().unwrap();
    }
}

/// Of workers that share a queue the last to wait is woken first, or the first.
#[test]
fn shared_queues_have_the_order_of_their_policy() {
    const ASKED: usize = 40;
    for (device, _, policies) in POLICIES {
        let Some(place) = Place::new(device, &LinkOptions::default()) else { return };
        for policy in
            policies.iter().filter(|policy| matches!(policy, Policy::SharedLifo | Policy::SharedFifo))
        {
            let server = place.server().policy(*policy).workers(2);
            let running = place
                .start(server, |(): &mut (), _: Request<'_>, reply: &mut Reply<'_>| {
                    let worker = reply.worker_number();
                    reply.send(&[worker as u8]);
                })
                .unwrap();
            let client = place.client(&running);
            let mut by_worker = [0; 2];
            for _ in 0..ASKED {
                by_worker[usize::from(ask(&client, b"who?")[0])] += 1;
                // Until the worker waits again.
                std::thread::sleep(Duration::from_millis(3));
            }
            running.stop().unwrap();
            let most = by_worker.into_iter().max().unwrap();
            match policy {
                Policy::SharedLifo => assert!(most >= 3 * ASKED / 4, "{device:?}: {by_worker:?}"),
                _ => assert!(most <= 5 * ASKED / 8, "{device:?}: {by_worker:?}"),
            }
        }
    }
}

/// Whoever waits learns that the interface is gone.
#[test]
fn a_server_ends_with_its_interface() {
    for (device, _, policies) in POLICIES {
        let Some(place) = Place::new(device, &LinkOptions::default()).map(Arc::new) else { return };
        let policy = policies[policies.len() - 1];
        let interface = if device == Device::Tun { TUN } else { &place.lab.link.near.name };
        let server = place.server().policy(policy).workers(1).state(|_| 0);
        let (ended, end) = channel();
        let serving = Arc::clone(&place);
        std::thread::spawn(move || {
            let served = serving.here().run(|| server.serve(echo)).unwrap();
            ended.send(served.map(|report| report.total()))
        });
        if device != Device::Tun {
            let client = place.client_of((OURS, PORT).into());
            client.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
            until("it serves", || client.send(b"?").is_ok() && client.recv(&mut [0; 9]).is_ok());
        }
        until("the interface is there", || place.here().ip(&["link", "delete", interface]).is_ok());
        let error = end.recv_timeout(LONG).unwrap_or_else(|_| panic!("{device:?} goes on")).unwrap_err();
        assert!(error.to_string().contains(interface), "{device:?}: {error}");
    }
}

#[test]
fn what_a_device_cannot_do_is_refused() {
    let refused = |server: Result<Running, ServerError>, words: &[&str]| {
        let error = server.unwrap_err().to_string();
        assert!(words.iter().all(|word| error.contains(word)), "{error}");
    };
    for address in ["[::1]:7", "10.0.0.9:0", "0.0.0.0:7", "224.0.0.1:7"] {
        let error = Server::on_interface(Device::Xdp, "eth0", address).unwrap_err().to_string();
        assert!(error.contains("IPv4") && error.contains(address), "{error}");
    }
    let Some(place) = Place::new(Device::Xdp, &with_queues(2)) else { return };
    let start = |server: Server| place.here().run(|| server.start(|(), _, _| ())).unwrap();
    refused(start(place.server().workers(3)), &["workers", "3", "ethtool -L"]);
    refused(start(place.server().policy(Policy::ByCpu)), &["policy", "ByCpu", "packet socket"]);
    refused(start(place.server().policy(Policy::SharedLifo)), &["policy", "SharedLifo", "one receive queue"]);
    let nowhere = |device| Server::on_interface(device, "nowhere0", "10.77.0.9:7").unwrap();
    for device in [Device::PacketSocket, Device::Xdp] {
        refused(start(nowhere(device)), &["nowhere0", "wire0"]);
    }
    refused(start(nowhere(Device::Tun).policy(Policy::ByCpu)), &["policy", "ByCpu"]);
    // Only one can have an interface by XDP.
    let first = start(place.server()).unwrap();
    refused(start(place.server()), &["XDP program", "wire0"]);
    first.stop().unwrap();
}
