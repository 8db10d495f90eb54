//! Handlers of connections that panic, are slow, or never return.

use super::{ask, assert_over, client, framed, receive, server};
use crate::{LONG, until};
use std::io::Write;
use std::net::SocketAddr;
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier, Mutex};
use std::time::{Duration, Instant};
use warmcore_runtime::server::{AfterPanic, Frames, Handler, Policy, Reply, Request, ServerError};

/// Counts requests; panics on some. Goes on after those whose request says so.
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

fn count(answer: &[u8]) -> u32 {
    u32::from_le_bytes(answer.try_into().unwrap())
}

#[test]
fn a_panic_ends_its_connection_unless_it_is_kept() {
    for policy in Policy::TCP {
        let server = server(Frames::Length).policy(policy).workers(2).state(|_| 0);
        let running = server.start_handler(Panicking).unwrap();
        let (mut one, mut other, mut third) = (client(&running), client(&running), client(&running));
        let requests = [&b""[..], b"panic", b""];
        one.write_all(&requests.map(framed).concat()).unwrap();
        // The reply before the panic arrives, and nothing after it.
        assert_eq!(count(&receive(&mut one)), 1);
        assert_over(&mut one);
        other.write_all(&[&b""[..], b"panic and keep", b""].map(framed).concat()).unwrap();
        assert_eq!((count(&receive(&mut other)), count(&receive(&mut other))), (1, 3), "{policy:?}");
        assert_eq!(count(&ask(&mut third, b"")), 1);
        let total = running.stop().unwrap().total();
        assert_eq!((total.panics, total.requests, total.replies), (2, 6, 4), "{policy:?}");
    }
}

#[test]
fn a_worker_that_dies_ends_the_server_with_an_error() {
    for policy in Policy::TCP {
        let server = server(Frames::Length).policy(policy).workers(2).state(|_| 0);
        let running = server.start_handler(Panicking).unwrap();
        let address = running.local_addr();
        let (mut one, mut other) = (client(&running), client(&running));
        ask(&mut other, b"");
        one.write_all(&framed(b"panic and die")).unwrap();
        until("peers are refused", || {
            std::net::TcpStream::connect_timeout(&address, Duration::from_millis(50)).is_err()
        });
        let error = running.stop().unwrap_err();
        assert!(matches!(&error, ServerError::Died { message, .. } if message == "told to"), "{error}");
        assert_over(&mut other);
        std::net::TcpListener::bind(address).expect("the port is free again");
    }
}

#[test]
fn a_slow_handler_holds_up_nobody_else_where_connections_move() {
    let (go_on, wait) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)));
    let (begun, held) = (Arc::clone(&wait), Arc::clone(&go_on));
    let server = server(Frames::Length).policy(Policy::SharedLifo).workers(2).state(|_| 0_u8);
    let running = server
        .start(move |count, request, reply| {
            if request.bytes == b"slow" {
                begun.wait();
                held.wait();
            }
            *count += 1;
            reply.send(&[*count]);
        })
        .unwrap();
    let mut clients: Vec<_> = (0..5).map(|_| client(&running)).collect();
    let mut slow = client(&running);
    slow.write_all(&framed(b"slow")).unwrap();
    wait.wait();
    // More of the slow one take no worker, and those of others are answered, new ones too.
    slow.write_all(&framed(b"more").repeat(20)).unwrap();
    clients.extend((0..5).map(|_| client(&running)));
    for number in 1..=100 {
        clients.iter_mut().for_each(|client| assert_eq!(ask(client, b"fast"), [number]));
    }
    go_on.wait();
    for number in 1..=21 {
        assert_eq!(receive(&mut slow), [number]);
    }
    running.stop().unwrap();
}

#[test]
fn a_handler_that_never_returns_does_not_hang_the_end() {
    for policy in Policy::TCP {
        let (entered, stuck) = channel();
        let (entered, (release, held)) = (Mutex::new(entered), channel::<()>());
        let held = Mutex::new(held);
        let limit = Duration::from_millis(100);
        let server = server(Frames::Length).policy(policy).workers(2).drain(limit);
        let running = server
            .start(move |(), request, reply| {
                if request.bytes == b"hang" {
                    let _ = entered.lock().unwrap().send(reply.worker_number());
                    let _ = held.lock().unwrap().recv();
                }
            })
            .unwrap();
        let mut client = client(&running);
        client.write_all(&framed(b"hang")).unwrap();
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
