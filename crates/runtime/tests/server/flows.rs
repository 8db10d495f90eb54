//! Flows expire, are evicted, and are closed.

use crate::{LONG, ask, client, server, until};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;
use warmcore_runtime::server::{Closed, Handler, Policy, Reply, Request};

/// Counts requests, and tells of flows that end. A request of `close` closes its flow.
struct Counting(Sender<(SocketAddr, u32, Closed)>);

impl Handler<u32> for Counting {
    fn request(&self, count: &mut u32, request: Request<'_>, reply: &mut Reply<'_>) {
        *count += 1;
        reply.send(&count.to_le_bytes());
        if request.bytes == b"close" {
            reply.close();
        }
    }

    fn closed(&self, peer: SocketAddr, count: u32, reason: Closed) {
        let _ = self.0.send((peer, count, reason));
    }
}

fn count(answer: &[u8]) -> u32 {
    u32::from_le_bytes(answer.try_into().unwrap())
}

#[test]
fn idle_flows_expire_and_begin_anew() {
    for policy in Policy::UDP {
        let (told, ended) = channel();
        let server = server().policy(policy).workers(2).state(|_| 0).idle_after(Duration::from_millis(80));
        let running = server.start_handler(Counting(told)).unwrap();
        let one = client(&running);
        let peer = one.local_addr().unwrap();
        assert_eq!((count(&ask(&one, b"")), count(&ask(&one, b""))), (1, 2));
        assert_eq!(ended.recv_timeout(LONG), Ok((peer, 2, Closed::Expired)), "{policy:?}");
        assert_eq!(count(&ask(&one, b"")), 1);
        assert_eq!(running.stop().unwrap().total().expired, 1);
        assert_eq!(ended.recv_timeout(LONG), Ok((peer, 1, Closed::Stopped)), "{policy:?}");
    }
}

#[test]
fn the_flow_idle_longest_makes_way() {
    let (told, ended) = channel();
    let server = server().workers(1).state(|_| 0).flows(3);
    let running = server.start_handler(Counting(told)).unwrap();
    let clients: Vec<_> = (0..4).map(|_| client(&running)).collect();
    for at in [0, 1, 2, 0] {
        ask(&clients[at], b"");
    }
    // The second of them is now the oldest.
    assert_eq!(count(&ask(&clients[3], b"")), 1);
    assert_eq!(ended.recv_timeout(LONG), Ok((clients[1].local_addr().unwrap(), 1, Closed::Evicted)));
    assert_eq!(count(&ask(&clients[0], b"")), 3);
    until("the worker publishes its counts", || running.report().total().requests == 6);
    assert_eq!((running.report().flows, running.report().total().evicted), (3, 1));
    running.stop().unwrap();
}

#[test]
fn many_more_senders_than_flows_are_all_answered() {
    for policy in Policy::UDP {
        let (told, ended) = channel();
        let server = server().policy(policy).workers(2).state(|_| 0).flows(50);
        let running = server.start_handler(Counting(told)).unwrap();
        for number in 0..1000 {
            // An address for each, so that none has a port again.
            let one = UdpSocket::bind((Ipv4Addr::from_bits(0x7f01_0001 + number), 0)).unwrap();
            one.set_read_timeout(Some(LONG)).unwrap();
            one.connect(running.local_addr()).unwrap();
            assert_eq!(count(&ask(&one, b"")), 1);
        }
        // A part of the table without an idle flow adds one.
        assert!(running.report().flows <= 50 + 8, "{policy:?}: {}", running.report().flows);
        let report = running.stop().unwrap();
        assert_eq!((report.total().opened, report.flows), (1000, 0));
        assert_eq!(ended.iter().count(), 1000);
    }
}

#[test]
fn a_handler_closes_its_flow() {
    for policy in Policy::UDP {
        let (told, ended) = channel();
        let running = server().policy(policy).state(|_| 0).start_handler(Counting(told)).unwrap();
        let one = client(&running);
        assert_eq!((count(&ask(&one, b"")), count(&ask(&one, b"close"))), (1, 2));
        assert_eq!(ended.recv_timeout(LONG), Ok((one.local_addr().unwrap(), 2, Closed::ByHandler)));
        assert_eq!(count(&ask(&one, b"")), 1);
        running.stop().unwrap();
    }
}
