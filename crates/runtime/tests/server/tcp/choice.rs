//! Which worker serves a connection.

use super::{ask, client, server};
use std::collections::HashSet;
use std::net::TcpStream;
use std::sync::{Arc, Barrier};
use warmcore_runtime::server::{Frames, Policy, Running, Server};

const WORKERS: usize = 3;

/// Answers with the worker's number. A request of `meet` waits until all workers have one.
fn start(server: Server) -> Running {
    let all = Arc::new(Barrier::new(WORKERS));
    let handler = move |_: &mut (),
                        request: warmcore_runtime::server::Request<'_>,
                        reply: &mut warmcore_runtime::server::Reply<'_>| {
        if request.bytes == b"meet" {
            all.wait();
        }
        reply.send(&[reply.worker_number() as u8]);
    };
    server.workers(WORKERS).start(handler).unwrap()
}

fn worker(client: &mut TcpStream) -> u8 {
    ask(client, b"who")[0]
}

#[test]
fn connections_stay_with_their_worker_where_that_is_promised() {
    for policy in [Policy::ByFlow, Policy::KernelHash, Policy::ByCpu, Policy::Exclusive] {
        let running = start(server(Frames::Length).policy(policy));
        let mut clients: Vec<TcpStream> = (0..60).map(|_| client(&running)).collect();
        let first: Vec<u8> = clients.iter_mut().map(worker).collect();
        for _ in 0..5 {
            assert_eq!(clients.iter_mut().map(worker).collect::<Vec<_>>(), first, "{policy:?}");
        }
        let seen: HashSet<u8> = first.iter().copied().collect();
        // Of three workers one gets none of 60 connections once in ten billion runs, if a hash chooses.
        let spread = matches!(policy, Policy::ByFlow | Policy::KernelHash);
        assert!(!spread || seen.len() == WORKERS, "{policy:?}: {first:?}");
        running.stop().unwrap();
    }
}

/// All workers handle requests of connections at the same time, though one of them accepted all.
#[test]
fn connections_move_to_idle_workers_where_that_is_promised() {
    let running = start(server(Frames::Length).policy(Policy::SharedLifo));
    let mut clients: Vec<TcpStream> = (0..WORKERS).map(|_| client(&running)).collect();
    let mut moved = HashSet::new();
    for round in 0..10 {
        // Each waits for the others in its handler.
        let met: HashSet<u8> = std::thread::scope(|scope| {
            let asking: Vec<_> =
                clients.iter_mut().map(|client| scope.spawn(|| ask(client, b"meet")[0])).collect();
            asking.into_iter().map(|asking| asking.join().unwrap()).collect()
        });
        assert_eq!(met.len(), WORKERS, "round {round}");
        moved.insert(worker(&mut clients[0]));
    }
    // What comes alone is the last sleeper's: few are seen.
    println!("workers of lone requests: {moved:?}");
    running.stop().unwrap();
}
