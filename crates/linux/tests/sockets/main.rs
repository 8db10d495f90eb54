//! Each way to share a UDP port does what it says, over loopback: which worker the kernel wakes, and which
//! socket it chooses. What is counted is who received, never how fast.

mod batches;
mod choice;
mod closing;
mod opening;
mod stealing;
mod wake_up;

use core::time::Duration;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use warmcore_linux::net::sockets::{Batch, Port, PortOptions, Received, Sharing, WorkerSocket};

/// How long a test waits for what must come.
const LONG: Duration = Duration::from_secs(10);

fn v4() -> SocketAddr {
    (Ipv4Addr::LOCALHOST, 0).into()
}

fn v6() -> SocketAddr {
    (Ipv6Addr::LOCALHOST, 0).into()
}

fn open(address: SocketAddr, sharing: &Sharing, workers: usize) -> (Port, Vec<WorkerSocket>) {
    Port::open(address, sharing, workers, PortOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

/// A socket that sends to the port.
fn client(port: &Port) -> UdpSocket {
    let any = if port.address().is_ipv4() { v4() } else { v6() };
    let socket = UdpSocket::bind(any).unwrap();
    socket.connect(port.address()).unwrap();
    socket.set_read_timeout(Some(LONG)).unwrap();
    socket
}

/// A datagram that a worker received: the worker's number, its sender, its bytes.
type Taken = (usize, SocketAddr, Vec<u8>);

/// Starts a thread for each worker, which reports every datagram until the port is closed.
fn start(workers: Vec<WorkerSocket>, datagrams: usize) -> (Receiver<Taken>, Vec<thread::JoinHandle<()>>) {
    let (report, taken) = channel();
    let begin = |(number, mut worker): (usize, WorkerSocket)| {
        let report = report.clone();
        thread::spawn(move || {
            let mut batch = Batch::new(datagrams, 2048);
            loop {
                match worker.receive(&mut batch).unwrap() {
                    Received::Datagrams(_) => batch.datagrams().for_each(|datagram| {
                        report.send((number, datagram.from, datagram.bytes.to_vec())).unwrap();
                    }),
                    Received::Nothing => {}
                    Received::Closed => return,
                }
            }
        })
    };
    (taken, workers.into_iter().enumerate().map(begin).collect())
}

/// Closes the port and waits for the workers.
fn end(port: &Port, threads: Vec<thread::JoinHandle<()>>) {
    port.close();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

fn every_sharing(workers: usize) -> Vec<Sharing> {
    let cpus = (0..workers as u32).map(warmcore_units::CpuId).collect();
    let seed = 7;
    vec![
        Sharing::Fifo,
        Sharing::Lifo,
        Sharing::Hash,
        Sharing::Flow { seed },
        Sharing::Stealing { seed },
        Sharing::Cpu { cpus },
    ]
}
