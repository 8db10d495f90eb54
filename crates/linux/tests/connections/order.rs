//! One listener for all workers: whose turn it is.

use crate::{LONG, Taken, client, open, v4, work};
use core::time::Duration;
use rustix::process::Pid;
use rustix::thread::gettid;
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Instant;
use warmcore_linux::net::connections::{Accepted, Accepting, Events, Interest, ListeningPort, Poller, Ready};

const WORKERS: usize = 3;

/// A worker's thread, as the kernel numbers it.
type Threads = Vec<(Pid, JoinHandle<()>)>;

/// Starts a thread for each worker, which sleeps before the next starts.
fn start(pollers: Vec<Poller>, work: impl Fn(usize, &Poller) + Clone + Send + 'static) -> Threads {
    let begin = |(number, poller): (usize, Poller)| {
        let (work, (told, started)) = (work.clone(), channel());
        let thread = thread::spawn(move || {
            told.send(gettid()).unwrap();
            work(number, &poller);
        });
        let threads = vec![(started.recv().unwrap(), thread)];
        until_asleep(&threads);
        threads
    };
    pollers.into_iter().enumerate().flat_map(begin).collect()
}

/// Waits until all workers sleep, which they do where they wait for events.
fn until_asleep(threads: &Threads) {
    let begun = Instant::now();
    for (number, _) in threads {
        let file = format!("/proc/self/task/{}/syscall", number.as_raw_nonzero());
        let waits = || {
            let text = std::fs::read_to_string(&file).unwrap();
            let call = text.split_whitespace().next().and_then(|call| call.parse().ok());
            call.is_some_and(|call: i64| [libc::SYS_epoll_pwait, libc::SYS_epoll_pwait2].contains(&call))
        };
        while !waits() {
            assert!(begun.elapsed() < LONG, "a worker does not sleep");
            thread::sleep(Duration::from_micros(100));
        }
    }
}

fn end(port: &ListeningPort, threads: Threads) {
    port.close();
    threads.into_iter().for_each(|(_, thread)| thread.join().unwrap());
}

/// How many of 60 connections each worker accepts, if all sleep before each.
fn accepted_by_each(
    work: impl Fn(usize, &Poller, &Sender<Taken>) + Clone + Send + 'static,
) -> [usize; WORKERS] {
    let (port, pollers) = open(v4(), &Accepting::Exclusive, WORKERS);
    assert_eq!(port.listeners(), 1);
    let (report, taken) = channel();
    let threads = start(pollers, move |number, poller| work(number, poller, &report));
    let mut counts = [0; WORKERS];
    let mut clients = Vec::new();
    for _ in 0..60 {
        clients.push(client(&port));
        counts[taken.recv_timeout(LONG).unwrap().0] += 1;
        until_asleep(&threads);
    }
    end(&port, threads);
    counts
}

#[test]
fn exclusive_workers_that_sleep_take_turns() {
    let counts = accepted_by_each(work);
    println!("connections of each worker, all idle: {counts:?}");
    assert!(counts.iter().all(|count| (15..=25).contains(count)), "{counts:?}");
}

/// The kernel's own order, that of registration, without the turns: nearly all connections are one worker's.
#[test]
fn without_turns_one_exclusive_worker_takes_nearly_all() {
    let counts = accepted_by_each(|number, poller, report| {
        let mut events = Events::new(1);
        while !poller.is_closed() {
            poller.wait(&mut events, None).unwrap();
            if let Accepted::Connection(connection) = poller.accept().unwrap() {
                let _ = report.send((number, connection));
            }
        }
    });
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
    let threads = start(pollers, move |number, poller| work(number, poller, &report));
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
    let threads = start(pollers, move |number, poller| {
        let mut events = Events::new(4);
        loop {
            poller.wait(&mut events, None).unwrap();
            if poller.is_closed() {
                return;
            }
            events.iter().for_each(|ready| report.send((number, ready)).unwrap());
        }
    });
    let write = |one: &mut std::net::TcpStream| std::io::Write::write_all(one, b"something").unwrap();
    write(&mut one);
    let ready = Ready::Connection { number: 5, receive: true };
    assert_eq!(told.recv_timeout(LONG), Ok((WORKERS - 1, ready)));
    // More is not told, until it is armed.
    write(&mut one);
    thread::sleep(Duration::from_millis(30));
    assert!(told.try_recv().is_err());
    for _ in 0..20 {
        until_asleep(&threads);
        registry.set(&connection, 5, Interest { receive: true, send: true });
        // The same worker slept last.
        assert_eq!(told.recv_timeout(LONG), Ok((WORKERS - 1, ready)));
    }
    end(&port, threads);
    assert_eq!(connection.peer(), one.local_addr().unwrap());
}
