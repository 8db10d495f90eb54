//! The end of waits.

use crate::{LONG, client, every_sharing, open, start, v4};
use core::time::Duration;
use std::thread;
use std::time::Instant;
use warmcore_linux::net::sockets::{Batch, Received};

#[test]
fn closing_ends_every_wait_now_and_later() {
    for sharing in every_sharing(3) {
        let (port, mut workers) = open(v4(), &sharing, 3);
        let mut late = workers.pop().unwrap();
        let (_taken, threads) = start(workers, 4);
        thread::sleep(Duration::from_millis(20));
        port.close();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        for _ in 0..2 {
            assert_eq!(late.receive(&mut Batch::new(4, 100)), Ok(Received::Closed), "{sharing:?}");
        }
    }
}

#[test]
fn what_is_queued_is_received_and_what_comes_later_is_not() {
    for sharing in every_sharing(2) {
        let (port, workers) = open(v4(), &sharing, 2);
        let client = client(&port);
        (0..40_u8).for_each(|number| _ = client.send(&[number]).unwrap());
        port.close();
        let dropped: u32 = port.dropped().iter().sum();
        (0..10).for_each(|_| _ = client.send(b"late").unwrap());
        let (taken, threads) = start(workers, 4);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        let mut seen: Vec<Vec<u8>> = taken.iter().map(|(.., bytes)| bytes).collect();
        seen.sort_unstable();
        assert_eq!(seen, (0..40).map(|number| vec![number]).collect::<Vec<_>>(), "{sharing:?}");
        assert_eq!(port.dropped().iter().sum::<u32>(), dropped + 10);
    }
}

#[test]
fn a_wait_ends_after_its_timeout() {
    for sharing in every_sharing(1) {
        let (port, mut workers) = open(v4(), &sharing, 1);
        let (worker, mut batch) = (&mut workers[0], Batch::new(4, 100));
        for milliseconds in [0, 30] {
            let timeout = Duration::from_millis(milliseconds);
            worker.set_timeout(Some(timeout)).unwrap();
            let begun = Instant::now();
            assert_eq!(worker.receive(&mut batch), Ok(Received::Nothing), "{sharing:?}");
            assert!(begun.elapsed() >= timeout && begun.elapsed() < LONG);
        }
        worker.set_timeout(None).unwrap();
        client(&port).send(b"still open").unwrap();
        assert_eq!(worker.receive(&mut batch), Ok(Received::Datagrams(1)));
    }
}

#[test]
fn an_empty_datagram_is_not_the_end() {
    for sharing in every_sharing(1) {
        let (port, mut workers) = open(v4(), &sharing, 1);
        let mut batch = Batch::new(4, 100);
        client(&port).send(b"").unwrap();
        assert_eq!(workers[0].receive(&mut batch), Ok(Received::Datagrams(1)), "{sharing:?}");
    }
}
