//! Requests and replies on connections, under every policy.

use super::{ask, client, framed, receive, server};
use crate::LONG;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::HashSet;
use std::io::Write;
use std::net::TcpStream;
use std::thread;
use warmcore_runtime::server::{Frames, Policy, Server};

#[test]
fn every_policy_returns_every_byte() {
    for policy in Policy::TCP {
        let server = server(Frames::Length).policy(policy).workers(3);
        let running = server.start(|(), request, reply| reply.send(request.bytes)).unwrap();
        let mut clients: Vec<TcpStream> = (0..20).map(|_| client(&running)).collect();
        for length in [0, 1, 1000, 70_000, 1 << 20] {
            for (number, client) in clients.iter_mut().enumerate() {
                let request: Vec<u8> = (0..length).map(|at| (at + number * 7) as u8).collect();
                assert!(ask(client, &request) == request, "{length} bytes under {policy:?}");
            }
        }
        let total = running.stop().unwrap().total();
        assert_eq!((total.requests, total.replies, total.opened), (100, 100, 20), "{policy:?}");
        assert_eq!((total.unsent, total.panics, total.abandoned, total.invalid), (0, 0, 0, 0));
    }
}

/// Requests follow each other without waiting for replies, and are torn apart anywhere.
#[test]
fn pipelined_requests_in_fragments_are_answered_in_order() {
    const CONNECTIONS: usize = 24;
    const REQUESTS: u32 = 300;
    let seed: u64 = rand::random();
    println!("seed {seed}");
    for policy in Policy::TCP {
        let server = server(Frames::Length).policy(policy).workers(3).state(|_| 0_u32);
        let running = server
            .start(|count, request, reply| {
                reply.send(
                    &[&count.to_le_bytes()[..], &reply.worker_number().to_le_bytes(), request.bytes].concat(),
                );
                *count += 1;
            })
            .unwrap();
        thread::scope(|scope| {
            for number in 0..CONNECTIONS {
                let mut client = client(&running);
                let mut random = Xoshiro256PlusPlus::seed_from_u64(seed ^ number as u64);
                scope.spawn(move || {
                    let lengths: Vec<usize> = (0..REQUESTS)
                        .map(|_| {
                            if random.random_ratio(1, 50) {
                                random.random_range(0..50_000)
                            } else {
                                random.random_range(0..40)
                            }
                        })
                        .collect();
                    let request = move |at: u32, length: usize| vec![(at as usize + number) as u8; length];
                    let mut receiving = client.try_clone().unwrap();
                    let sent = lengths.clone();
                    let sender = thread::spawn(move || {
                        let bytes: Vec<u8> = sent
                            .iter()
                            .zip(0..)
                            .flat_map(|(&length, at)| framed(&request(at, length)))
                            .collect();
                        let mut rest = &bytes[..];
                        while !rest.is_empty() {
                            let most = if random.random_bool(0.5) { 10 } else { 30_000 };
                            let (part, others) = rest.split_at(random.random_range(1..=most).min(rest.len()));
                            client.write_all(part).unwrap();
                            rest = others;
                        }
                    });
                    let mut workers = HashSet::new();
                    for (&length, at) in lengths.iter().zip(0_u32..) {
                        let answer = receive(&mut receiving);
                        let (count, rest) = answer.split_at(4);
                        let (worker, rest) = rest.split_at(8);
                        assert_eq!(count, at.to_le_bytes(), "{policy:?}");
                        assert!(rest == request(at, length), "{policy:?}");
                        workers.insert(worker.to_vec());
                    }
                    sender.join().unwrap();
                    assert!(policy == Policy::SharedLifo || workers.len() == 1, "{policy:?}: {workers:?}");
                });
            }
        });
        let total = running.stop().unwrap().total();
        let expected = CONNECTIONS as u64 * u64::from(REQUESTS);
        assert_eq!((total.requests, total.replies, total.unsent), (expected, expected, 0), "{policy:?}");
    }
}

#[test]
fn a_server_of_all_addresses_answers_both_families() {
    for policy in Policy::TCP {
        let server = Server::bind_tcp("[::]:0", Frames::Length).unwrap().policy(policy).workers(2);
        let running = server.start(|(), request, reply| reply.send(request.bytes)).unwrap();
        let port = running.local_addr().port();
        for address in ["127.0.0.1", "::1"] {
            for number in 0..20 {
                let mut client = TcpStream::connect((address, port)).unwrap();
                client.set_read_timeout(Some(LONG)).unwrap();
                assert_eq!(ask(&mut client, &[number]), [number], "{policy:?}");
            }
        }
        running.stop().unwrap();
    }
}
