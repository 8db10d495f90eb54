//! One socket: which of the waiting workers the kernel wakes.

use crate::{LONG, client, end, open, start, v4};
use core::time::Duration;
use std::thread;
use warmcore_linux::net::sockets::{Received, Sharing};

const WORKERS: usize = 3;
const DATAGRAMS: usize = 60;

/// Sends datagrams one at a time, each when all workers wait again. Returns who received them.
fn woken(sharing: &Sharing) -> Vec<usize> {
    let (port, workers) = open(v4(), sharing, WORKERS);
    let (taken, threads) = start(workers, 1);
    let client = client(&port);
    let one = |_| {
        thread::sleep(Duration::from_millis(4));
        client.send(b"wake").unwrap();
        taken.recv_timeout(LONG).unwrap().0
    };
    let woken = (0..DATAGRAMS).map(one).collect();
    end(&port, threads);
    woken
}

/// How often a datagram went to the same worker as the one before it.
fn repeats(woken: &[usize]) -> usize {
    woken.windows(2).filter(|pair| pair[0] == pair[1]).count()
}

#[test]
fn fifo_wakes_the_worker_that_has_waited_longest() {
    let woken = woken(&Sharing::Fifo);
    let in_turn = woken.windows(WORKERS + 1).filter(|turn| turn[0] == turn[WORKERS]).count();
    // A worker that was late to wait again loses its turn, so not all.
    assert!(in_turn > DATAGRAMS * 3 / 4, "{woken:?}");
    assert!(repeats(&woken) < DATAGRAMS / 4, "{woken:?}");
}

#[test]
fn lifo_wakes_the_worker_that_has_waited_shortest() {
    let woken = woken(&Sharing::Lifo);
    assert!(repeats(&woken) > DATAGRAMS * 3 / 4, "{woken:?}");
}

#[test]
fn a_slow_worker_leaves_the_rest_of_a_burst_to_others() {
    for sharing in [Sharing::Fifo, Sharing::Lifo] {
        let (port, mut workers) = open(v4(), &sharing, WORKERS);
        let mut slow = workers.pop().unwrap();
        let (client, mut batch) = (client(&port), warmcore_linux::net::sockets::Batch::new(1, 64));
        for round in 0..50_u8 {
            client.send(&[round]).unwrap();
        }
        // It takes one of those that are queued, and no more until the end of the test.
        slow.receive(&mut batch).unwrap();
        assert_eq!(batch.datagrams().count(), 1);
        let (taken, threads) = start(workers, 1);
        let mut rest: Vec<u8> = (1..50).map(|_| taken.recv_timeout(LONG).unwrap().2[0]).collect();
        rest.sort_unstable();
        assert_eq!(rest, (1..50).collect::<Vec<_>>(), "{sharing:?}");
        end(&port, threads);
    }
}

#[test]
fn bursts_to_waiting_workers_are_not_left_lying() {
    let (port, workers) = open(v4(), &Sharing::Lifo, WORKERS);
    let (received, go_on) = (std::sync::mpsc::channel(), std::sync::Barrier::new(WORKERS + 1));
    thread::scope(|scope| {
        for mut worker in workers {
            let (received, go_on) = (received.0.clone(), &go_on);
            scope.spawn(move || {
                let mut batch = warmcore_linux::net::sockets::Batch::new(1, 64);
                // Each takes one datagram of a burst, and holds it until all have one.
                for _ in 0..20 {
                    // Who is woken for a datagram that another worker has taken receives nothing.
                    while worker.receive(&mut batch).unwrap() == Received::Nothing {}
                    received.send(batch.datagrams().count()).unwrap();
                    go_on.wait();
                }
            });
        }
        let client = client(&port);
        for _ in 0..20 {
            (0..WORKERS).for_each(|_| _ = client.send(b"burst").unwrap());
            let taken: usize = (0..WORKERS).map(|_| received.1.recv_timeout(LONG).unwrap()).sum();
            assert_eq!(taken, WORKERS);
            go_on.wait();
        }
    });
}
