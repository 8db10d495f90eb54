//! `socat` generates load. However fast datagrams come, each is processed or counted by what happened
//! to it.

use crate::socat::{start, us};
use crate::{PORT, Peers, TIMEOUT, run_with_peers};
use std::net::{Ipv4Addr, UdpSocket};
use std::process::Child;
use std::sync::atomic::{AtomicU64, Ordering};
use warmcore_linux::net::lab::LinkOptions;
use warmcore_scenario::{DriverKind, Parallelism};

/// Rounds of load, the ports it comes from, and datagrams from each: fewer at once than the kernel's
/// own queues hold.
const ROUNDS: u64 = 5;
const SENDERS: [u16; 4] = [7001, 7002, 7003, 7004];
const DATAGRAMS: u64 = 200;
/// Bytes of data in each.
const LENGTH: u64 = 64;
/// How often a question is repeated until it is answered.
const ATTEMPTS: u32 = 20;

/// Starts a `socat` that sends from `port` as fast as it can, and then ends.
fn sender(peers: Peers<'_>, port: u16) -> Child {
    let zeros = format!("OPEN:/dev/zero,readbytes={}", DATAGRAMS * LENGTH);
    start(peers, &["-u", "-b", &LENGTH.to_string(), &zeros, &format!("{},bind=:{port}", us(peers))])
}

/// A client that repeats its questions and counts them.
struct RetryingClient {
    socket: UdpSocket,
    asked: u64,
}

impl RetryingClient {
    fn new(peers: Peers<'_>, port: u16) -> Self {
        let socket = peers.namespace.run(|| UdpSocket::bind((Ipv4Addr::UNSPECIFIED, port))).unwrap().unwrap();
        socket.connect((peers.address, PORT)).unwrap();
        socket.set_read_timeout(Some(TIMEOUT / ATTEMPTS)).unwrap();
        Self { socket, asked: 0 }
    }

    /// Repeats a question until it is answered: one may be lost under load.
    fn ask(&mut self, question: u64) {
        let question = question.to_be_bytes();
        for _ in 0..ATTEMPTS {
            self.socket.send(&question).unwrap();
            self.asked += 1;
            let mut answer = [0; 8];
            while self.socket.recv(&mut answer).is_ok() {
                // Other answers are late ones to earlier questions.
                if answer == question {
                    return;
                }
            }
        }
        panic!("no answer in time");
    }
}

fn accounts_for_load(driver: DriverKind) {
    let asked = AtomicU64::new(0);
    let visit = |peers: Peers<'_>| {
        // Packets of known senders need not wait for a stream.
        for port in SENDERS {
            let mut known = RetryingClient::new(peers, port);
            known.ask(0);
            asked.fetch_add(known.asked, Ordering::Relaxed);
        }
        let mut last = RetryingClient::new(peers, 0);
        last.ask(0);
        for round in 1..=ROUNDS {
            for mut sender in SENDERS.map(|port| sender(peers, port)) {
                assert!(sender.wait().unwrap().success());
            }
            // This question is received after all of the load.
            last.ask(round);
        }
        asked.fetch_add(last.asked, Ordering::Relaxed);
    };
    if let Some(ran) = run_with_peers(driver, Parallelism::Locking, &LinkOptions::default(), visit) {
        let sent = ROUNDS * SENDERS.len() as u64 * DATAGRAMS;
        assert_eq!(ran.accounted(), sent + asked.into_inner(), "{:?}", ran.report.total());
    }
}

#[test]
fn a_packet_socket_accounts_for_its_load() {
    accounts_for_load(DriverKind::PacketSocket);
}

#[test]
fn an_xdp_socket_accounts_for_its_load() {
    accounts_for_load(DriverKind::Xdp);
}

#[test]
fn a_tun_interface_accounts_for_its_load() {
    accounts_for_load(DriverKind::Tun);
}
