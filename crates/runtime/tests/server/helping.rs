//! Policies under which workers help each other: stealing and adaptive.

use crate::{LONG, ask, client, receive, server, until};
use core::time::Duration;
use std::net::UdpSocket;
use std::sync::mpsc::channel;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;
use warmcore_runtime::server::Policy;

const SLOW: &[u8] = b"slow";
const BLOCKED: &[u8] = b"blocked";

/// While a worker is blocked, everybody else is answered: idle workers take what arrives for it.
#[test]
fn idle_workers_steal_from_one_that_is_blocked() {
    let (release, released) = channel::<()>();
    let released = Mutex::new(released);
    let running = server()
        .policy(Policy::Stealing)
        .workers(3)
        .start(move |(), request, reply| {
            match request.bytes {
                SLOW => thread::sleep(Duration::from_millis(5)),
                BLOCKED => {
                    let released = released.lock().unwrap_or_else(PoisonError::into_inner);
                    released.recv_timeout(LONG).unwrap();
                }
                _ => {}
            }
            reply.send(&[reply.worker_number() as u8]);
        })
        .unwrap();
    let blocked = client(&running);
    // Its worker learns that requests take long.
    let home = ask(&blocked, SLOW);
    blocked.send(BLOCKED).unwrap();
    let others: Vec<UdpSocket> = (0..40).map(|_| client(&running)).collect();
    for other in &others {
        assert_ne!(ask(other, b"quick"), home, "that worker is blocked");
    }
    release.send(()).unwrap();
    assert_eq!(receive(&blocked), home);
    let total = running.stop().unwrap().total();
    assert_eq!((total.requests, total.replies, total.opened), (42, 42, 41));
}

/// The share of the requests that each of three workers had, with a handler that works for `work`. `clients` ask one after
/// another, each without a pause but the given one, until `done` says so of the workers seen in the last tenth of a second.
fn workers_used(clients: usize, work: Duration, pause: Duration, done: impl Fn(&[usize]) -> bool) {
    let running = server()
        .policy(Policy::Adaptive)
        .workers(3)
        .start(move |(), _, reply| {
            let begun = Instant::now();
            while begun.elapsed() < work {}
            reply.send(&[reply.worker_number() as u8]);
        })
        .unwrap();
    let clients: Vec<UdpSocket> = (0..clients).map(|_| client(&running)).collect();
    let mut seen = Vec::new();
    until("the workers are as many as expected", || {
        let (mut counts, begun) = (vec![0; 3], Instant::now());
        while begun.elapsed() < Duration::from_millis(100) {
            clients.iter().for_each(|client| _ = client.send(b"work").unwrap());
            clients.iter().for_each(|client| counts[usize::from(receive(client)[0])] += 1);
            thread::sleep(pause);
        }
        seen.push(counts.clone());
        done(&counts)
    });
    running.stop().unwrap();
}

#[test]
fn an_adaptive_server_gathers_a_low_load_and_spreads_a_high_one() {
    let (work, pause) = (Duration::from_micros(1), Duration::from_millis(5));
    workers_used(20, work, pause, |counts| counts[1..] == [0, 0]);
    let (work, pause) = (Duration::from_micros(500), Duration::ZERO);
    workers_used(40, work, pause, |counts| counts[1] > 0);
}
