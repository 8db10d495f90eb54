//! Idle workers and what arrives at the sockets of others.

use crate::{LONG, client, end, open, start, v4};
use core::time::Duration;
use std::net::UdpSocket;
use warmcore_linux::net::sockets::{Batch, Port, Received, Sharing, WorkerSocket};

const WORKERS: usize = 3;
const DATAGRAMS: usize = 30;
/// Expected of a batch, it is worth waking another worker.
const WORK: Duration = Duration::from_millis(1);

/// A port, its first worker, the others, and a client whose flow is that of the first.
fn stage() -> (Port, WorkerSocket, Vec<WorkerSocket>, UdpSocket) {
    let (port, mut workers) = open(v4(), &Sharing::Stealing { seed: 5 }, WORKERS);
    let (mut first, mut batch) = (workers.remove(0), Batch::new(1, 64));
    first.set_timeout(Some(Duration::from_millis(20))).unwrap();
    // One of many clients has the first worker: that none of 200 has happens once in 10^35 runs.
    let belongs = |client: &UdpSocket| {
        client.send(b"whose").unwrap();
        first.receive(&mut batch) == Ok(Received::Datagrams(1))
    };
    let client = (0..200).map(|_| client(&port)).find(belongs).expect("a flow of the first worker");
    // What clients sent to the others is theirs.
    for worker in &mut workers {
        worker.set_timeout(Some(Duration::from_millis(1))).unwrap();
        while worker.receive(&mut batch) != Ok(Received::Nothing) {}
        worker.set_timeout(None).unwrap();
    }
    (port, first, workers, client)
}

#[test]
fn what_arrives_during_long_work_is_taken_by_others() {
    for idle_first in [true, false] {
        let (port, first, workers, client) = stage();
        if !idle_first {
            first.begin(WORK);
            client.send(b"before the others idle").unwrap();
        }
        let (taken, threads) = start(workers, 1);
        if idle_first {
            first.begin(WORK);
            client.send(b"while the others idle").unwrap();
        }
        let mut takers = vec![taken.recv_timeout(LONG).unwrap().0];
        for _ in 1..DATAGRAMS {
            client.send(b"next").unwrap();
            takers.push(taken.recv_timeout(LONG).unwrap().0);
        }
        assert_eq!(takers.len(), DATAGRAMS);
        end(&port, threads);
    }
}

#[test]
fn what_arrives_during_short_work_stays() {
    let (port, mut first, workers, client) = stage();
    let (taken, threads) = start(workers, 1);
    first.begin(Duration::from_micros(1));
    (0..DATAGRAMS).for_each(|_| _ = client.send(b"mine").unwrap());
    assert!(taken.recv_timeout(Duration::from_millis(50)).is_err());
    let mut batch = Batch::new(DATAGRAMS, 64);
    assert_eq!(first.receive(&mut batch), Ok(Received::Datagrams(DATAGRAMS)));
    end(&port, threads);
}

#[test]
fn a_worker_that_receives_again_has_its_socket_to_itself() {
    let (port, mut first, workers, client) = stage();
    let (taken, threads) = start(workers, 1);
    let mut batch = Batch::new(1, 64);
    first.begin(WORK);
    client.send(b"stolen").unwrap();
    taken.recv_timeout(LONG).unwrap();
    // It finds nothing, and is not at long work from then on.
    assert_eq!(first.receive(&mut batch), Ok(Received::Nothing));
    (0..DATAGRAMS).for_each(|_| _ = client.send(b"mine").unwrap());
    for _ in 0..DATAGRAMS {
        assert_eq!(first.receive(&mut batch), Ok(Received::Datagrams(1)));
    }
    assert!(taken.try_recv().is_err());
    end(&port, threads);
}
