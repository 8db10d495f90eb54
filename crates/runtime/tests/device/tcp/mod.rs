//! Our TCP and the kernel's, over a real TUN interface.
//!
//! Each test has a network namespace of its own, with a TUN interface. On the near side of it are the
//! kernel's sockets, on a thread of their own; on the far side is a [`Host`](host::Host), whose TCP is
//! ours, on the test's thread. Nothing is asserted about time, apart from generous limits.

mod bulk;
mod closing;
mod faults;
mod faulty;
mod figure;

mod host;
mod opening;
mod programs;
mod stream;
mod windows;

use crate::{KERNEL_BEFORE_TUN, OURS_BEHIND_TUN, PORT, TUN};
use faults::Faults;
use host::{Host, Id, LIMIT};
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};
use warmcore_linux::net::{Namespace, Tun, TunHeader, TunOptions, privilege_missing};
use warmcore_stack::tcp::{Config, State};
use warmcore_stack::{Flow, LinkAddress};

/// The port that we connect from.
const OUR_PORT: u16 = 41_000;
/// Headers of IPv4 and TCP, without options.
const HEADERS: usize = 40;
const MTU: usize = 1500;

/// The namespace with the kernel's sockets.
struct Net {
    namespace: Namespace,
}

/// Makes a namespace and a host behind a TUN interface of it. Returns `None`, with a note, if the
/// privilege is missing.
fn net(mtu: usize, faults: Option<Faults>) -> Option<(Net, Host)> {
    if let Some(missing) = privilege_missing() {
        println!("skipped: needs {missing}");
        return None;
    }
    let namespace = Namespace::new().unwrap();
    let tun = namespace.run(|| Tun::open(TUN, TunOptions::default())).unwrap().unwrap();
    namespace.ip(&["link", "set", TUN, "mtu", &mtu.to_string(), "addrgenmode", "none"]).unwrap();
    namespace.configure(TUN, KERNEL_BEFORE_TUN, 24).unwrap();
    Some((Net { namespace }, Host::new(tun, faults)))
}

/// The configuration of our connections: timeouts as today's systems have them, a short TIME-WAIT.
fn config() -> Config {
    Config {
        max_segment_size: (MTU - HEADERS) as u16,
        delayed_ack: Duration::from_millis(40),
        min_timeout: Duration::from_millis(200),
        max_segment_lifetime: Duration::from_millis(50),
        ..Config::default()
    }
}

/// The flow of what we send from our port to the kernel's.
fn flow() -> Flow {
    let header = TunHeader::default();
    Flow {
        source_link: LinkAddress(header.destination),
        destination_link: LinkAddress(header.source),
        source: OURS_BEHIND_TUN,
        destination: KERNEL_BEFORE_TUN,
        source_port: OUR_PORT,
        destination_port: PORT,
    }
}

impl Net {
    /// Does `theirs` on a thread in the namespace, and `ours` with the host, which serves its connections
    /// until both are done.
    fn run<T: Send>(
        &self,
        host: &mut Host,
        theirs: impl FnOnce() -> T + Send,
        ours: impl FnOnce(&mut Host),
    ) -> T {
        thread::scope(|scope| {
            let theirs = scope.spawn(|| self.namespace.run(theirs).unwrap());
            ours(host);
            host.until("over for the kernel's side", |_| theirs.is_finished());
            theirs.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    /// A socket of the kernel's that listens.
    fn listener(&self) -> TcpListener {
        let listen = || TcpListener::bind((KERNEL_BEFORE_TUN, PORT));
        self.namespace.run(listen).unwrap().unwrap()
    }

    /// Sets a parameter of the kernel's TCP in this namespace.
    fn tune(&self, name: &str, value: &str) {
        let path = format!("/proc/sys/net/ipv4/{name}");
        self.namespace.run(|| std::fs::write(path, value)).unwrap().unwrap();
    }
}

/// Connects a socket of the kernel's to us, from within its namespace.
fn connect() -> io::Result<TcpStream> {
    TcpStream::connect_timeout(&SocketAddr::from((OURS_BEHIND_TUN, PORT)), LIMIT).map(limited)
}

/// Accepts one connection of ours.
fn accept(listener: &TcpListener) -> TcpStream {
    listener.set_nonblocking(true).unwrap();
    let began = Instant::now();
    loop {
        match listener.accept() {
            Ok((socket, _)) => {
                socket.set_nonblocking(false).unwrap();
                return limited(socket);
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock && began.elapsed() < LIMIT => {
                thread::sleep(Duration::from_millis(1));
            }
            Err(error) => panic!("nobody connects: {error}"),
        }
    }
}

/// A socket that waits for its peer, but not for ever.
fn limited(socket: TcpStream) -> TcpStream {
    socket.set_read_timeout(Some(LIMIT)).unwrap();
    socket.set_write_timeout(Some(LIMIT)).unwrap();
    socket
}

/// Which side begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Opener {
    Us,
    Kernel,
}

/// Runs a connection that `opener` opens: `theirs` with the kernel's socket, `ours` once established.
fn connected<T: Send>(
    (net, host): &mut (Net, Host),
    opener: Opener,
    config: Config,
    theirs: impl FnOnce(TcpStream) -> T + Send,
    ours: impl FnOnce(&mut Host, Id),
) -> T {
    let listener = (opener == Opener::Us).then(|| net.listener());
    let theirs = || {
        theirs(match &listener {
            Some(listener) => accept(listener),
            None => connect().expect("we accept"),
        })
    };
    net.run(host, theirs, |host| {
        let id = match opener {
            Opener::Us => host.connect(flow(), config),
            Opener::Kernel => host.listen(PORT, config),
        };
        host.until("connected", |host| host.state(id) >= State::Established);
        ours(host, id);
    })
}
