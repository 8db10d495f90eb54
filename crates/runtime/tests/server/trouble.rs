//! Handlers that panic, are slow, or never return.

use crate::{LONG, ask, client, receive, server, until};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier, Mutex};
use std::time::{Duration, Instant};
use warmcore_runtime::server::{AfterPanic, Frames, Handler, Policy, Reply, Request, Server, ServerError};

/// Counts requests; panics on some. Keeps the state of those whose request says so.
struct Panicking;

impl Handler<u32> for Panicking {
    fn request(&self, count: &mut u32, request: Request<'_>, reply: &mut Reply<'_>) {
        *count += 1;
        reply.send(&count.to_le_bytes());
        if request.bytes.starts_with(b"panic") {
            // Without the message that `panic!` prints.
            std::panic::resume_unwind(Box::new(String::from_utf8_lossy(request.bytes).into_owned()));
        }
    }

    fn panicked(&self, _: SocketAddr, message: &str) -> AfterPanic {
        match message {
            "panic and keep" => AfterPanic::Keep,
            "panic and die" => panic!("told to"),
            _ => AfterPanic::Drop,
        }
    }
}

#[test]
fn a_panic_loses_its_request_and_its_state_if_so_decided() {
    for policy in Policy::UDP {
        let running = server().policy(policy).workers(2).state(|_| 0).start_handler(Panicking).unwrap();
        let (one, other) = (client(&running), client(&running));
        let count = |answer: Vec<u8>| u32::from_le_bytes(answer.try_into().unwrap());
        assert_eq!((count(ask(&one, b"")), count(ask(&other, b""))), (1, 1));
        // The state of the first is dropped, and that of the second goes on.
        for (panics, request, next) in [(1, &b"panic"[..], 1), (2, b"panic and keep", 3)] {
            one.send(request).unwrap();
            until("the panic is counted", || running.report().total().panics == panics);
            assert_eq!(count(ask(&one, b"")), next, "{policy:?}");
        }
        assert_eq!(count(ask(&other, b"")), 2);
        let total = running.stop().unwrap().total();
        // What was replied before a panic is not sent.
        assert_eq!((total.panics, total.requests, total.replies), (2, 7, 5), "{policy:?}");
    }
}

#[test]
fn a_worker_that_dies_ends_the_server_with_an_error() {
    for policy in Policy::UDP {
        let mut running = server().policy(policy).workers(2).state(|_| 0).start_handler(Panicking).unwrap();
        assert!(running.failure().is_none());
        let address = running.local_addr();
        let client = client(&running);
        client.send(b"panic and die").unwrap();
        // All stop receiving.
        until("the port is closed", || {
            client.send(b"").unwrap();
            running.report().dropped > 0
        });
        until("who asks learns of it", || running.failure().is_some());
        let error = running.stop().unwrap_err();
        assert!(matches!(&error, ServerError::Died { message, .. } if message == "told to"), "{error}");
        std::net::UdpSocket::bind(address).expect("the port is free again");
    }
}

/// A state that cannot even be dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        std::panic::resume_unwind(Box::new("a state that panics"));
    }
}

fn panics_once(_: &mut Bomb, request: Request<'_>, reply: &mut Reply<'_>) {
    if request.bytes == b"panic" {
        std::panic::resume_unwind(Box::new("the handler"));
    }
    reply.send(request.bytes);
}

#[test]
fn a_state_that_panics_when_it_is_dropped_ends_no_server() {
    for policy in Policy::UDP {
        let running = server().policy(policy).workers(2).state(|_| Bomb).start(panics_once).unwrap();
        let client = client(&running);
        client.send(b"panic").unwrap();
        until("both panics are counted", || running.report().total().panics == 2);
        assert_eq!(ask(&client, b"goes on"), b"goes on", "{policy:?}");
        assert_eq!(running.stop().unwrap().total().requests, 2);
    }
    for policy in Policy::TCP {
        let server = Server::bind_tcp("127.0.0.1:0", Frames::Lines).unwrap();
        let running = server.policy(policy).workers(2).state(|_| Bomb).start(panics_once).unwrap();
        let connect = || TcpStream::connect(running.local_addr()).unwrap();
        connect().write_all(b"panic\n").unwrap();
        until("both panics are counted", || running.report().total().panics == 2);
        let (mut other, mut answer) = (connect(), [0; 8]);
        other.write_all(b"goes on\n").unwrap();
        other.set_read_timeout(Some(LONG)).unwrap();
        other.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"goes on\n", "{policy:?}");
        drop(other);
        running.stop().unwrap();
    }
}

#[test]
fn times_without_end_are_no_trouble() {
    let asks = |(): &mut (), request: Request<'_>, reply: &mut Reply<'_>| {
        reply.after(Duration::MAX);
        reply.send(request.bytes);
    };
    for policy in Policy::UDP {
        let running = server().policy(policy).workers(2).drain(Duration::MAX).start(asks).unwrap();
        assert_eq!(ask(&client(&running), b"later"), b"later", "{policy:?}");
        assert_eq!(running.stop().unwrap().total().timers, 0);
    }
    for policy in Policy::TCP {
        let server = Server::bind_tcp("127.0.0.1:0", Frames::Lines).unwrap();
        let running = server.policy(policy).workers(2).drain(Duration::MAX).start(asks).unwrap();
        let (mut client, mut answer) = (TcpStream::connect(running.local_addr()).unwrap(), [0; 6]);
        client.write_all(b"later\n").unwrap();
        client.set_read_timeout(Some(LONG)).unwrap();
        client.read_exact(&mut answer).unwrap();
        drop(client);
        assert_eq!(running.stop().unwrap().total().timers, 0, "{policy:?}");
    }
}

#[test]
fn a_worker_whose_state_cannot_be_made_is_an_error_of_the_start() {
    let made = |number| assert_ne!(number, 1, "no state for this worker");
    let error = server().workers(3).worker_state(made).start(|(), _, _| ()).unwrap_err();
    assert!(
        matches!(&error, ServerError::Died { worker: 1, message } if message.contains("no state")),
        "{error}"
    );
}

#[test]
fn a_slow_handler_does_not_hold_up_other_flows_of_a_shared_port() {
    for policy in [Policy::SharedLifo, Policy::SharedFifo] {
        let (go_on, wait) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)));
        let (begun, held) = (Arc::clone(&wait), Arc::clone(&go_on));
        let running = server()
            .policy(policy)
            .workers(2)
            .state(|_| 0_u8)
            .start(move |count, request, reply| {
                if request.bytes == b"slow" {
                    begun.wait();
                    held.wait();
                }
                *count += 1;
                reply.send(&[*count]);
            })
            .unwrap();
        let (slow, fast) = (client(&running), client(&running));
        slow.send(b"slow").unwrap();
        wait.wait();
        // More of the slow flow take no worker, and those of others are answered.
        for _ in 0..20 {
            slow.send(b"more").unwrap();
        }
        for number in 1..=100 {
            assert_eq!(ask(&fast, b"fast"), [number], "{policy:?}");
        }
        go_on.wait();
        for number in 1..=21 {
            assert_eq!(receive(&slow), [number], "{policy:?}");
        }
        running.stop().unwrap();
    }
}

#[test]
fn a_handler_that_never_returns_does_not_hang_the_end() {
    for policy in Policy::UDP {
        let (entered, stuck) = channel();
        let (entered, (release, held)) = (Mutex::new(entered), channel::<()>());
        let held = Mutex::new(held);
        let limit = Duration::from_millis(100);
        let running = server()
            .policy(policy)
            .workers(2)
            .drain(limit)
            .start(move |(), request, reply| {
                if request.bytes == b"hang" {
                    let _ = entered.lock().unwrap().send(reply.worker_number());
                    let _ = held.lock().unwrap().recv();
                }
            })
            .unwrap();
        let client = client(&running);
        client.send(b"hang").unwrap();
        let worker = stuck.recv_timeout(LONG).unwrap();
        let begun = Instant::now();
        let error = running.stop().unwrap_err();
        assert!(begun.elapsed() >= limit && begun.elapsed() < LONG);
        let ServerError::Stuck { worker: named, peer, least } = error else { panic!("{error}") };
        assert_eq!((named, peer), (worker, client.local_addr().unwrap()), "{policy:?}");
        assert!(least >= limit, "{least:?}");
        drop(release);
    }
}
