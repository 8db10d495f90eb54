//! Each way to share a TCP port does what it says, over loopback: which worker accepts, whose turn it is, and how the port
//! ends. What is counted is who was told, never how fast.

mod choice;
mod closing;
mod opening;
mod order;

use core::time::Duration;
use rustix::net::{AddressFamily, SocketType, bind, connect, socket, sockopt};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use warmcore_linux::net::connections::{
    Accepted, Accepting, Connection, Events, ListeningPort, Poller, Ready,
};
use warmcore_units::CpuId;

/// How long a test waits for what must come.
const LONG: Duration = Duration::from_secs(10);

fn v4() -> SocketAddr {
    (Ipv4Addr::LOCALHOST, 0).into()
}

fn v6() -> SocketAddr {
    (std::net::Ipv6Addr::LOCALHOST, 0).into()
}

fn open(address: SocketAddr, accepting: &Accepting, workers: usize) -> (ListeningPort, Vec<Poller>) {
    ListeningPort::open(address, accepting, workers, None).unwrap_or_else(|error| panic!("{error}"))
}

fn every_accepting(workers: usize) -> Vec<Accepting> {
    let cpus = (0..workers as u32).map(CpuId).collect();
    vec![
        Accepting::Hash,
        Accepting::Flow { seed: 7 },
        Accepting::Cpu { cpus },
        Accepting::Exclusive,
        Accepting::Shared,
    ]
}

/// A worker's number and a connection that it accepted.
type Taken = (usize, Connection);

/// Starts a thread for each worker, which reports what it accepts until the port is closed.
fn start(pollers: Vec<Poller>) -> (Receiver<Taken>, Vec<JoinHandle<()>>) {
    let (report, taken) = channel();
    let begin = |(number, poller): (usize, Poller)| {
        let report = report.clone();
        thread::spawn(move || work(number, &poller, &report))
    };
    (taken, pollers.into_iter().enumerate().map(begin).collect())
}

fn work(number: usize, poller: &Poller, report: &Sender<Taken>) {
    let mut events = Events::new(1);
    while !poller.is_closed() {
        poller.wait(&mut events, None).unwrap();
        if !events.iter().any(|ready| ready == Ready::Listener) {
            continue;
        }
        if let Accepted::Connection(connection) = poller.accept().unwrap() {
            let _ = report.send((number, connection));
        }
        poller.accepted().unwrap();
    }
}

/// Closes the port and waits for the workers.
fn end(port: &ListeningPort, threads: Vec<JoinHandle<()>>) {
    port.close();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

fn client(port: &ListeningPort) -> TcpStream {
    TcpStream::connect(port.address()).unwrap()
}

/// A connection from a given port of this machine, 0 for any. It ends with a reset, so that its port is free at once.
fn client_from(own: u16, port: &ListeningPort) -> TcpStream {
    let socket = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    sockopt::set_socket_reuseaddr(&socket, true).unwrap();
    sockopt::set_socket_linger(&socket, Some(Duration::ZERO)).unwrap();
    bind(&socket, &SocketAddr::from((Ipv4Addr::LOCALHOST, own))).unwrap();
    connect(&socket, &port.address()).unwrap();
    socket.into()
}
