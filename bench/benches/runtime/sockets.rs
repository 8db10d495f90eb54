//! A UDP server over loopback: one socket per worker on the same port (`SO_REUSEPORT`), read in batches
//! (`recvmmsg`).
//!
//! This is not a like-for-like peer: its packets pass through the kernel's whole stack and through system
//! calls. On loopback the kernel processes a packet on the sender's processor time. The workers' time
//! excludes that, which is the server's best case.

use crate::contender::{Contender, Load, Meter, Run, RunResult, Trial};
use crate::fixture::{self, Message, PAYLOAD, Record, SATURATED_TIME, STREAMS, merge, read, send_all};
use socket2::{Domain, Protocol, Socket, Type};
use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;
use warmcore_linux::net::{Datagrams, wait_readable};
use warmcore_runtime::clock::Clock;
use warmcore_runtime::tally::Delays;
use warmcore_units::Nanos;

/// Requested size of a socket's receive buffer, in bytes; the kernel may grant less.
const BUFFER: usize = 4 << 20;
/// The longest time that an idle worker waits before it checks whether the sender is done.
const PARK: Duration = Duration::from_millis(2);
/// How long to wait for the first datagram of a client.
const TIMEOUT: Duration = Duration::from_millis(200);
/// Clients to try until each worker has the same number of them.
const MAX_CLIENTS: usize = 1000;

/// One socket per worker.
pub(crate) struct Sockets;

impl Contender for Sockets {
    fn name(&self) -> String {
        "kernel UDP, one SO_REUSEPORT socket per worker".to_owned()
    }

    fn supports(&self, _trial: &Trial) -> bool {
        true
    }

    fn run(&self, trial: &Trial) -> RunResult {
        let mut servers = servers(trial.workers)?;
        let clients = clients(&mut servers)?;
        let clock = Clock::start();
        let (done, sent) = (AtomicBool::new(false), AtomicU64::new(0));
        let messages = fixture::messages(trial.load)?;
        let meter = Meter::start(trial);
        let (packets, delays) = thread::scope(|scope| {
            let spawn = |(worker, server): (usize, Datagrams)| {
                let (done, record) = (&done, Record::new(&clock, trial.load));
                scope.spawn(move || {
                    trial.pin_worker(worker).expect("the processor is usable");
                    serve(server, done, record)
                })
            };
            let workers: Vec<_> = servers.into_iter().enumerate().map(spawn).collect();
            match trial.load {
                Load::Saturation => flood(&clients, &clock, &sent),
                Load::Rate(_) => pace(&messages, &clients, &clock, &sent),
            }
            done.store(true, Ordering::Relaxed);
            merge(workers.into_iter().map(|worker| worker.join().expect("a worker does not panic")))
        });
        let lost = sent.into_inner() - packets;
        Ok(Run { packets, lost, used: meter.stop(), delays })
    }
}

/// One socket per worker, all on the same loopback port.
fn servers(workers: usize) -> Result<Vec<Datagrams>, Box<dyn Error>> {
    let mut address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let server = |_| {
        let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
        socket.set_reuse_port(true)?;
        socket.set_recv_buffer_size(BUFFER)?;
        socket.bind(&address.into())?;
        let socket = UdpSocket::from(socket);
        address = socket.local_addr()?;
        Ok(Datagrams::new(socket, PAYLOAD.into()))
    };
    (0..workers).map(server).collect()
}

/// One client per stream. The kernel chooses a server socket by the client's port, so this keeps clients until
/// every server has the same number.
fn clients(servers: &mut [Datagrams]) -> Result<Vec<Datagrams>, Box<dyn Error>> {
    let (address, share) = (servers[0].socket().local_addr()?, STREAMS as usize / servers.len());
    let mut kept: Vec<Vec<Datagrams>> = servers.iter().map(|_| Vec::new()).collect();
    for _ in 0..MAX_CLIENTS {
        let client = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        client.connect(address)?;
        client.send(&[0; PAYLOAD as usize])?;
        let descriptors: Vec<_> = servers.iter().map(|server| server.socket().as_fd()).collect();
        wait_readable(&descriptors, Some(TIMEOUT))?;
        for (server, clients) in servers.iter_mut().zip(&mut kept) {
            if server.receive(|_| ())? > 0 && clients.len() < share {
                clients.push(Datagrams::new(client.try_clone()?, 0));
            }
        }
        if kept.iter().all(|clients| clients.len() == share) {
            return Ok(kept.into_iter().flatten().collect());
        }
    }
    Err(format!("{MAX_CLIENTS} clients gave no even distribution over the server's sockets").into())
}

/// Receives until the sender is done and the socket is empty.
fn serve(mut server: Datagrams, done: &AtomicBool, mut record: Record) -> (u64, Delays) {
    loop {
        let ending = done.load(Ordering::Relaxed);
        let received = server.receive(|payload| {
            read(payload);
            record.processed(due_time(payload));
        });
        match received.expect("the socket is open") {
            0 if ending => return record.finish(),
            0 => drop(wait_readable(&[server.socket().as_fd()], Some(PARK))),
            _ => {}
        }
    }
}

/// Sends as fast as the kernel accepts packets, one batch per stream in turn.
fn flood(clients: &[Datagrams], clock: &Clock, sent: &AtomicU64) {
    let (payload, begun) = ([0_u8; PAYLOAD as usize], clock.now());
    for client in clients.iter().cycle() {
        if clock.now() - begun > SATURATED_TIME {
            return;
        }
        let batch = std::iter::repeat_n(&payload[..], Datagrams::BATCH);
        let accepted = client.send(batch).expect("the socket is open");
        sent.fetch_add(accepted as u64, Ordering::Relaxed);
    }
}

/// Sends each packet when it is due and writes that time into it.
fn pace(messages: &[Message], clients: &[Datagrams], clock: &Clock, sent: &AtomicU64) {
    let mut payload = [0_u8; PAYLOAD as usize];
    send_all(messages, clock, |message| {
        payload[..8].copy_from_slice(&message.at.0.to_le_bytes());
        let client = &clients[message.stream.index()];
        if client.socket().send(&payload).is_ok() {
            sent.fetch_add(1, Ordering::Relaxed);
        }
    });
}

/// The time at which a packet was due; zero at saturation.
fn due_time(payload: &[u8]) -> Nanos {
    Nanos(payload.first_chunk().map_or(0.0, |bytes| f64::from_le_bytes(*bytes)))
}
