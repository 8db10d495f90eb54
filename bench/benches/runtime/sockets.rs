//! A server on the kernel's UDP: a socket for each worker on one port (`SO_REUSEPORT`), in batches
//! (`recvmmsg`), over loopback.
//!
//! It is no like-for-like peer: its packets pass the kernel's whole stack, and the system calls.
//! On loopback the kernel takes a packet up that stack on the processor time of whoever sends it:
//! that is not in the workers' time here, which is the server's best case.

use crate::material::{self, Message, PAYLOAD, Record, SATURATED, STREAMS, read, send_all, together};
use crate::trial::{Entrant, Load, Meter, Run, Trial, TrialResult};
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

/// Bytes of a socket's receive buffer, as far as the kernel allows.
const BUFFER: usize = 4 << 20;
/// How late a worker may notice that nobody sends any more.
const NAP: Duration = Duration::from_millis(2);
/// How long a first datagram may take.
const PATIENCE: Duration = Duration::from_millis(200);
/// Senders tried until the kernel has given each worker the same number.
const TRIES: usize = 1000;

/// A socket for each worker.
pub(crate) struct Sockets;

impl Entrant for Sockets {
    fn name(&self) -> String {
        "kernel UDP, SO_REUSEPORT socket a worker".to_owned()
    }

    fn takes_part(&self, _trial: &Trial) -> bool {
        true
    }

    fn run(&self, trial: &Trial) -> TrialResult {
        let mut servers = servers(trial.workers)?;
        let clients = clients(&mut servers)?;
        let clock = Clock::start();
        let (done, sent) = (AtomicBool::new(false), AtomicU64::new(0));
        let messages = material::messages(trial.load)?;
        let meter = Meter::start(trial);
        let (packets, delays) = thread::scope(|scope| {
            let hire = |(worker, server): (usize, Datagrams)| {
                let (done, record) = (&done, Record::new(&clock, trial.load));
                scope.spawn(move || {
                    trial.settle(worker).expect("the processor is there");
                    serve(server, done, record)
                })
            };
            let workers: Vec<_> = servers.into_iter().enumerate().map(hire).collect();
            match trial.load {
                Load::Saturation => flood(&clients, &clock, &sent),
                Load::Rate(_) => pace(&messages, &clients, &clock, &sent),
            }
            done.store(true, Ordering::Relaxed);
            together(workers.into_iter().map(|worker| worker.join().expect("a worker does not panic")))
        });
        let lost = sent.into_inner() - packets;
        Ok(Run { packets, lost, spent: meter.stop(), delays })
    }
}

/// Sockets on one port of the loopback address.
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

/// A sender for each stream. The kernel chooses a socket by the sender's port: those are kept that
/// it deals out evenly.
fn clients(servers: &mut [Datagrams]) -> Result<Vec<Datagrams>, Box<dyn Error>> {
    let (address, share) = (servers[0].socket().local_addr()?, STREAMS as usize / servers.len());
    let mut dealt: Vec<Vec<Datagrams>> = servers.iter().map(|_| Vec::new()).collect();
    for _ in 0..TRIES {
        let client = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        client.connect(address)?;
        client.send(&[0; PAYLOAD as usize])?;
        let descriptors: Vec<_> = servers.iter().map(|server| server.socket().as_fd()).collect();
        wait_readable(&descriptors, Some(PATIENCE))?;
        for (server, clients) in servers.iter_mut().zip(&mut dealt) {
            if server.receive(|_| ())? > 0 && clients.len() < share {
                clients.push(Datagrams::new(client.try_clone()?, 0));
            }
        }
        if dealt.iter().all(|clients| clients.len() == share) {
            return Ok(dealt.into_iter().flatten().collect());
        }
    }
    Err("the kernel gives one socket all the senders".into())
}

/// Receives until nobody sends any more.
fn serve(mut server: Datagrams, done: &AtomicBool, mut record: Record) -> (u64, Delays) {
    loop {
        let ending = done.load(Ordering::Relaxed);
        let received = server.receive(|payload| {
            read(payload);
            record.processed(time_in(payload));
        });
        match received.expect("the socket is open") {
            0 if ending => return record.finish(),
            0 => drop(wait_readable(&[server.socket().as_fd()], Some(NAP))),
            _ => {}
        }
    }
}

/// Sends as fast as the kernel takes it, a batch of each stream in turn.
fn flood(clients: &[Datagrams], clock: &Clock, sent: &AtomicU64) {
    let (payload, begun) = ([0_u8; PAYLOAD as usize], clock.now());
    for client in clients.iter().cycle() {
        if clock.now() - begun > SATURATED {
            return;
        }
        let batch = std::iter::repeat_n(&payload[..], Datagrams::BATCH);
        let taken = client.send(batch).expect("the socket is open");
        sent.fetch_add(taken as u64, Ordering::Relaxed);
    }
}

/// Sends each packet when it is due, with that time in it.
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

/// The time that a packet was due.
fn time_in(payload: &[u8]) -> Nanos {
    Nanos(payload.first_chunk().map_or(0.0, |bytes| f64::from_le_bytes(*bytes)))
}
