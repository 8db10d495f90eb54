//! The same handler over the kernel's socket, a packet socket, XDP and TUN: on interfaces in namespaces that each test makes
//! and that end with it. Clients use the kernel's own UDP.

use crate::{LONG, ask, receive, until};
use std::fs;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use warmcore_linux::net::lab::{Lab, LinkOptions};
use warmcore_linux::net::{Namespace, privilege_missing};
use warmcore_runtime::server::{
    Closed, Device, Handler, Policy, Reply, Request, Running, Server, ServerError,
};

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
        let namespace = if self.device == Device::Tun { self.here() } else { &self.lab.far };
        let socket = namespace.run(|| UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))).unwrap().unwrap();
        socket.connect(running.local_addr()).unwrap();
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
    // The server says something without being asked.
    let port = clients[1].local_addr().unwrap().port();
    let address = clients[1].local_addr().unwrap().ip();
    assert!(running.sender().send((address, port).into(), b"unasked"));
    told.push(receive(&clients[1]));
    told
}

#[test]
fn clients_are_told_the_same_over_every_device_and_the_kernels_socket() {
    let talking = Talking::default();
    let server = Server::bind("127.0.0.1:0").unwrap().state(|_| 0).workers(2);
    let running = server.start_handler(talking.clone()).unwrap();
    let over_kernel = conversation(&running, || crate::client(&running));
    let by_kernel = running.stop().unwrap().total();
    for device in Device::ALL {
        for policy in [Policy::ByFlow, Policy::KernelHash] {
            let Some(place) = Place::new(device, &LinkOptions { queues: 2, ..LinkOptions::default() }) else {
                return;
            };
            let talking = Talking::default();
            let server = place.server().policy(policy).workers(2).state(|_| 0);
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
