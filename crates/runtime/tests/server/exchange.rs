//! Requests and replies under every policy.

use crate::{ask, client, receive, server};
use std::collections::HashSet;
use std::net::UdpSocket;
use warmcore_runtime::server::Policy;

#[test]
fn every_policy_returns_every_byte() {
    for policy in Policy::UDP {
        let running =
            server().policy(policy).workers(3).start(|(), request, reply| reply.send(request.bytes)).unwrap();
        let clients: Vec<UdpSocket> = (0..20).map(|_| client(&running)).collect();
        for length in [0, 1, 1000, 1472, 30_000, 65_507] {
            for (number, client) in clients.iter().enumerate() {
                let request: Vec<u8> = (0..length).map(|at| (at + number * 7) as u8).collect();
                assert!(ask(client, &request) == request, "{length} bytes under {policy:?}");
            }
        }
        let total = running.stop().unwrap().total();
        assert_eq!((total.requests, total.replies, total.opened), (120, 120, 20), "{policy:?}");
        assert_eq!((total.unsent, total.panics, total.overflowed, total.abandoned), (0, 0, 0, 0));
    }
}

#[test]
fn every_one_of_ten_thousand_senders_is_answered() {
    const SENDERS: u32 = 10_000;
    for policy in Policy::UDP {
        let running = server()
            .policy(policy)
            .workers(2)
            .state(|_| 0_u32)
            .start(|count, request, reply| {
                *count += 1;
                reply.send(&[&count.to_le_bytes(), request.bytes].concat());
            })
            .unwrap();
        for number in 0..SENDERS {
            // An address for each, so that no port is used twice.
            let address = std::net::Ipv4Addr::from_bits(0x7f01_0001 + number);
            let sender = UdpSocket::bind((address, 0)).unwrap();
            sender.set_read_timeout(Some(crate::LONG)).unwrap();
            sender.connect(running.local_addr()).unwrap();
            let expected = [1_u32.to_le_bytes(), number.to_le_bytes()].concat();
            assert_eq!(ask(&sender, &number.to_le_bytes()), expected, "{policy:?}");
        }
        let report = running.stop().unwrap();
        assert_eq!((report.total().opened, report.total().evicted), (SENDERS.into(), 0));
    }
}

#[test]
fn a_flow_keeps_its_order_where_that_is_promised_and_its_state_everywhere() {
    const FLOWS: usize = 8;
    const REQUESTS: u32 = 3000;
    for policy in Policy::UDP {
        // The state counts requests: no two get the same number if no two threads have it at once.
        let running = server()
            .policy(policy)
            .workers(3)
            .state(|_| 0_u32)
            .start(|count, request, reply| {
                let seen = *count;
                std::hint::black_box((0..50).sum::<u32>());
                *count = seen + 1;
                reply.send(&[request.bytes, &seen.to_le_bytes()].concat());
            })
            .unwrap();
        std::thread::scope(|scope| {
            for _ in 0..FLOWS {
                let client = client(&running);
                scope.spawn(move || {
                    let mut answers: Vec<[u32; 2]> = Vec::new();
                    let mut sent = 0;
                    while answers.len() < REQUESTS as usize {
                        // A window, so that neither buffer overflows.
                        while sent < REQUESTS && sent < answers.len() as u32 + 20 {
                            client.send(&sent.to_le_bytes()).unwrap();
                            sent += 1;
                        }
                        let answer = receive(&client);
                        let number = |at: usize| u32::from_le_bytes(answer[at..at + 4].try_into().unwrap());
                        answers.push([number(0), number(4)]);
                    }
                    if policy.keeps_order() {
                        let in_order = answers.iter().enumerate().all(|(at, pair)| *pair == [at as u32; 2]);
                        assert!(in_order, "{policy:?}");
                    }
                    for which in 0..2 {
                        let distinct: HashSet<u32> = answers.iter().map(|pair| pair[which]).collect();
                        assert_eq!(distinct, (0..REQUESTS).collect(), "{policy:?}");
                    }
                });
            }
        });
        running.stop().unwrap();
    }
}

#[test]
fn a_handler_replies_as_often_as_it_likes_and_to_others() {
    for policy in Policy::UDP {
        let running = server()
            .policy(policy)
            .workers(2)
            .start(|(), request, reply| {
                let other = std::str::from_utf8(request.bytes).unwrap().parse().unwrap();
                (0..200_u8).for_each(|number| reply.send(&[number]));
                reply.send_to(other, b"from a handler");
            })
            .unwrap();
        let (one, other) = (client(&running), client(&running));
        one.send(other.local_addr().unwrap().to_string().as_bytes()).unwrap();
        for number in 0..200 {
            assert_eq!(receive(&one), [number]);
        }
        assert_eq!(receive(&other), b"from a handler");
        let sender = running.sender();
        assert!(sender.send(other.local_addr().unwrap(), b"from elsewhere"));
        assert_eq!(receive(&other), b"from elsewhere");
        running.stop().unwrap();
        assert!(!sender.send(other.local_addr().unwrap(), b"too late"));
    }
}

#[test]
fn a_worker_has_a_state_of_its_own() {
    for policy in Policy::UDP {
        let running = server()
            .policy(policy)
            .workers(3)
            .worker_state(|number| (number, std::rc::Rc::new(std::cell::Cell::new(0_u32))))
            .start(|(), _, reply| {
                let own = reply.worker_number();
                let (number, count) = reply.worker();
                count.set(count.get() + 1);
                let answer = [*number as u32, count.get()].map(u32::to_le_bytes).concat();
                assert_eq!(*number, own);
                reply.send(&answer);
            })
            .unwrap();
        let mut answers = HashSet::new();
        for _ in 0..30 {
            assert!(answers.insert(ask(&client(&running), b"who")), "one number twice under {policy:?}");
        }
        running.stop().unwrap();
    }
}
