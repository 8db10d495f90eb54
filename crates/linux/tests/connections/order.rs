//! One listener for all workers: whose turn it is.

use crate::{LONG, client, end, open, start, v4, work};
use core::time::Duration;
use std::sync::mpsc::channel;
use std::thread;
use warmcore_linux::net::connections::{Accepted, Accepting, Connection, Events, Interest, Poller, Ready};

const WORKERS: usize = 3;

/// Lets workers that accept go back to sleep.
fn settle() {
    thread::sleep(Duration::from_millis(3));
}

#[test]
fn exclusive_workers_that_sleep_take_turns() {
    let (port, pollers) = open(v4(), &Accepting::Exclusive, WORKERS);
    assert_eq!(port.listeners(), 1);
    let (taken, threads) = start(pollers);
    settle();
    let mut counts = [0; WORKERS];
    let mut clients = Vec::new();
    for _ in 0..60 {
        clients.push(client(&port));
        counts[taken.recv_timeout(LONG).unwrap().0] += 1;
        settle();
    }
    end(&port, threads);
    println!("connections of each worker, all idle: {counts:?}");
    // 20 each, where a busy machine lets every worker sleep again in time.
    assert!(counts.iter().all(|count| (10..=30).contains(count)), "{counts:?}");
}

/// The kernel's own order, that of registration, without the turns: nearly all connections are one worker's.
#[test]
fn without_turns_one_exclusive_worker_takes_nearly_all() {
    let (port, pollers) = open(v4(), &Accepting::Exclusive, WORKERS);
    let (report, taken) = channel();
    let begin = |(number, poller): (usize, Poller)| {
        let report = report.clone();
        thread::spawn(move || {
            let mut events = Events::new(1);
            while !poller.is_closed() {
                poller.wait(&mut events, None).unwrap();
                if let Accepted::Connection(connection) = poller.accept().unwrap() {
                    let _ = report.send((number, connection));
                }
            }
        })
    };
    let threads: Vec<_> = pollers.into_iter().enumerate().map(begin).collect();
    settle();
    let mut counts = [0; WORKERS];
    let mut clients = Vec::new();
    for _ in 0..60 {
        clients.push(client(&port));
        counts[taken.recv_timeout(LONG).unwrap().0] += 1;
        settle();
    }
    end(&port, threads);
    println!("connections of each worker in the order of registration: {counts:?}");
    assert!(counts.iter().any(|&count| count >= 40), "{counts:?}: the turns are needless on this kernel");
}

/// A worker that does something else is passed over.
#[test]
fn exclusive_workers_that_are_busy_get_none() {
    let (port, mut pollers) = open(v4(), &Accepting::Exclusive, WORKERS);
    // The first never waits.
    let busy = pollers.remove(0);
    let (report, taken) = channel();
    let begin = |(number, poller): (usize, Poller)| {
        let report = report.clone();
        thread::spawn(move || work(number, &poller, &report))
    };
    let threads: Vec<_> = pollers.into_iter().enumerate().map(begin).collect();
    settle();
    let mut clients = Vec::new();
    for _ in 0..30 {
        clients.push(client(&port));
        taken.recv_timeout(LONG).unwrap();
    }
    end(&port, threads);
    assert!(matches!(busy.accept().unwrap(), Accepted::Nothing));
}

/// Something on a connection is told once, to the last of those that wait, until it is armed again.
#[test]
fn a_shared_connection_is_told_once_to_the_last_to_sleep() {
    let (port, pollers) = open(v4(), &Accepting::Shared, WORKERS);
    let mut one = client(&port);
    let (connection, registry) = {
        let mut events = Events::new(4);
        pollers[0].wait(&mut events, Some(LONG)).unwrap();
        assert_eq!(events.iter().collect::<Vec<_>>(), [Ready::Listener]);
        let Accepted::Connection(connection) = pollers[0].accept().unwrap() else { panic!("none waits") };
        pollers[0].accepted().unwrap();
        (connection, pollers[0].registry().clone())
    };
    assert!(registry.tells_once());
    registry.add(&connection, 5, Interest::RECEIVE).unwrap();
    let (report, told) = channel();
    // They go to sleep one after the other.
    let begin = |(number, poller): (usize, Poller)| {
        let report = report.clone();
        let thread = thread::spawn(move || {
            let mut events = Events::new(4);
            loop {
                poller.wait(&mut events, None).unwrap();
                if poller.is_closed() {
                    return;
                }
                events.iter().for_each(|ready| report.send((number, ready)).unwrap());
            }
        });
        thread::sleep(Duration::from_millis(30));
        thread
    };
    let threads: Vec<_> = pollers.into_iter().enumerate().map(begin).collect();
    let write = |one: &mut std::net::TcpStream| std::io::Write::write_all(one, b"something").unwrap();
    write(&mut one);
    let ready = Ready::Connection { number: 5, receive: true };
    assert_eq!(told.recv_timeout(LONG), Ok((WORKERS - 1, ready)));
    // More is not told, until it is armed.
    write(&mut one);
    thread::sleep(Duration::from_millis(30));
    assert!(told.try_recv().is_err());
    for _ in 0..20 {
        registry.set(&connection, 5, Interest { receive: true, send: true });
        let (worker, again) = told.recv_timeout(LONG).unwrap();
        // The same worker, which slept last, where a busy machine lets it sleep again in time.
        assert!(worker < WORKERS && again == ready);
        thread::sleep(Duration::from_millis(1));
    }
    let held: &Connection = &connection;
    assert!(held.peer() == one.local_addr().unwrap());
    port.close();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}
