//! `socat` generates load: however fast datagrams come, all are processed, or counted as what has become
//! of them.

use crate::socat::{start, us};
use crate::{PATIENCE, PORT, There, visited};
use std::net::{Ipv4Addr, UdpSocket};
use std::process::Child;
use std::sync::atomic::{AtomicU64, Ordering};
use warmcore_linux::net::lab::LinkOptions;
use warmcore_scenario::{DriverKind, Parallelism};

/// Times at which load comes, the ports it comes from, and datagrams from each: less at once than the
/// kernel's own queues hold.
const ROUNDS: u64 = 5;
const SENDERS: [u16; 4] = [7001, 7002, 7003, 7004];
const DATAGRAMS: u64 = 200;
/// Bytes of data in each.
const LENGTH: u64 = 64;
/// How often is asked until it is answered.
const ATTEMPTS: u32 = 20;

/// A `socat` that sends from `port` as fast as it can, and ends.
fn sender(there: There<'_>, port: u16) -> Child {
    let zeros = format!("OPEN:/dev/zero,readbytes={}", DATAGRAMS * LENGTH);
    start(there, &["-u", "-b", &LENGTH.to_string(), &zeros, &format!("{},bind=:{port}", us(there))])
}

/// Who asks, and counts how often.
struct Asker {
    socket: UdpSocket,
    asked: u64,
}

impl Asker {
    fn new(there: There<'_>, port: u16) -> Self {
        let socket = there.namespace.run(|| UdpSocket::bind((Ipv4Addr::UNSPECIFIED, port))).unwrap().unwrap();
        socket.connect((there.address, PORT)).unwrap();
        socket.set_read_timeout(Some(PATIENCE / ATTEMPTS)).unwrap();
        Self { socket, asked: 0 }
    }

    /// Asks again where nothing is heard: a question may be lost under load.
    fn ask(&mut self, question: u64) {
        let question = question.to_be_bytes();
        for _ in 0..ATTEMPTS {
            self.socket.send(&question).unwrap();
            self.asked += 1;
            let mut answer = [0; 8];
            while self.socket.recv(&mut answer).is_ok() {
                // Others are late answers to earlier questions.
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
    let visit = |there: There<'_>| {
        // Who is known need not wait to be let in.
        for port in SENDERS {
            let mut known = Asker::new(there, port);
            known.ask(0);
            asked.fetch_add(known.asked, Ordering::Relaxed);
        }
        let mut last = Asker::new(there, 0);
        last.ask(0);
        for round in 1..=ROUNDS {
            for mut sender in SENDERS.map(|port| sender(there, port)) {
                assert!(sender.wait().unwrap().success());
            }
            // What is answered now was taken in after all of these.
            last.ask(round);
        }
        asked.fetch_add(last.asked, Ordering::Relaxed);
    };
    if let Some(ran) = visited(driver, Parallelism::Locking, &LinkOptions::default(), visit) {
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
