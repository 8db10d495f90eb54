//! Batches: bytes, addresses, times, and what is lost.

use crate::{LONG, client, every_sharing, open, v4, v6};
use core::time::Duration;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::time::{SystemTime, UNIX_EPOCH};
use warmcore_linux::net::sockets::{Batch, Outbox, Port, PortOptions, Received, Sent, Sharing, WorkerSocket};

/// Receives until there are `count` datagrams, and answers each with its own bytes.
fn echo(worker: &mut WorkerSocket, batch: &mut Batch, count: usize) {
    let (mut outbox, mut done) = (Outbox::default(), 0);
    worker.set_timeout(Some(LONG)).unwrap();
    while done < count {
        let Received::Datagrams(received) = worker.receive(batch).unwrap() else {
            panic!("{done} of {count}")
        };
        done += received;
        for datagram in batch.datagrams() {
            assert!(!datagram.truncated);
            outbox.push(datagram.bytes, datagram.from, datagram.to);
        }
        let sent = worker.send(&mut outbox);
        assert_eq!(sent, Sent { sent: received as u64, refused: 0 });
        assert!(outbox.is_empty());
    }
}

#[test]
fn datagrams_come_back_whole_in_order_and_from_the_same_address() {
    for address in [v4(), v6()] {
        for sharing in every_sharing(1) {
            let (port, mut workers) = open(address, &sharing, 1);
            let client = client(&port);
            let payloads: Vec<Vec<u8>> =
                (0..40_usize).map(|at| vec![at as u8; [0, 1, 100, 1472, 4000][at % 5]]).collect();
            payloads.iter().for_each(|payload| _ = client.send(payload).unwrap());
            echo(&mut workers[0], &mut Batch::new(15, 4000), payloads.len());
            let mut answer = [0; 4001];
            for payload in &payloads {
                let length = client.recv(&mut answer).unwrap();
                assert!(answer[..length] == payload[..], "under {sharing:?}");
            }
        }
    }
}

#[test]
fn the_longest_datagram_fits() {
    let (port, mut workers) = open(v4(), &Sharing::Fifo, 1);
    let client = client(&port);
    let payload = vec![0x5a; 65_507];
    client.send(&payload).unwrap();
    echo(&mut workers[0], &mut Batch::new(1, Batch::LONGEST), 1);
    let mut answer = vec![0; 65_535];
    assert_eq!(client.recv(&mut answer).unwrap(), payload.len());
    assert!(answer[..payload.len()] == payload);
}

#[test]
fn a_socket_of_all_addresses_answers_from_the_one_that_was_asked() {
    let all: [(SocketAddr, IpAddr); 3] = [
        ((Ipv4Addr::UNSPECIFIED, 0).into(), Ipv4Addr::new(127, 8, 9, 10).into()),
        ((Ipv6Addr::UNSPECIFIED, 0).into(), Ipv4Addr::new(127, 8, 9, 10).into()),
        ((Ipv6Addr::UNSPECIFIED, 0).into(), Ipv6Addr::LOCALHOST.into()),
    ];
    for (address, asked) in all {
        let (port, mut workers) = open(address, &Sharing::Hash, 1);
        let local = if asked.is_ipv4() { v4() } else { v6() };
        let client = UdpSocket::bind(local).unwrap();
        client.set_read_timeout(Some(LONG)).unwrap();
        // A connected socket takes answers from the address alone that it asked.
        client.connect((asked, port.address().port())).unwrap();
        client.send(b"where").unwrap();
        echo(&mut workers[0], &mut Batch::new(4, 100), 1);
        let mut answer = [0; 10];
        assert_eq!(client.recv(&mut answer).unwrap(), 5, "{asked} of {address}");
    }
}

#[test]
fn a_datagram_longer_than_the_buffer_is_marked() {
    let (port, mut workers) = open(v4(), &Sharing::Fifo, 1);
    let (client, mut batch) = (client(&port), Batch::new(4, 10));
    client.send(b"0123456789").unwrap();
    client.send(b"0123456789a").unwrap();
    assert_eq!(workers[0].receive(&mut batch), Ok(Received::Datagrams(2)));
    let seen: Vec<_> = batch.datagrams().map(|datagram| (datagram.bytes.len(), datagram.truncated)).collect();
    assert_eq!(seen, [(10, false), (10, true)]);
}

#[test]
fn the_kernel_says_when_it_received() {
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    for stamped in [true, false] {
        let options = PortOptions { stamped, ..PortOptions::default() };
        let (port, mut workers) = Port::open(v4(), &Sharing::Lifo, 1, options).unwrap();
        let (before, mut batch) = (now(), Batch::new(1, 100));
        client(&port).send(b"when").unwrap();
        assert_eq!(workers[0].receive(&mut batch), Ok(Received::Datagrams(1)));
        let at = batch.datagrams().next().unwrap().at;
        assert_eq!(at.is_some(), stamped);
        // The clock may be set meanwhile, but hardly by a minute.
        let slack = Duration::from_secs(60);
        assert!(at.is_none_or(|at| at + slack > before && at < now() + slack), "{at:?} {before:?}");
    }
}

#[test]
fn drops_are_counted_and_queues_seen() {
    let options = PortOptions { receive_buffer: Some(4096), ..PortOptions::default() };
    let (port, mut workers) = Port::open(v4(), &Sharing::Fifo, 1, options).unwrap();
    let (client, mut batch) = (client(&port), Batch::new(64, 1000));
    assert!(port.receive_buffer().unwrap() < 20_000);
    (0..1000).for_each(|_| _ = client.send(&[0; 500]).unwrap());
    assert!(port.queued() > 0);
    let mut received = 0;
    workers[0].set_timeout(Some(Duration::from_millis(20))).unwrap();
    while let Received::Datagrams(count) = workers[0].receive(&mut batch).unwrap() {
        received += count;
    }
    assert!(received > 0 && received < 1000);
    assert_eq!((received + port.dropped()[0] as usize, port.queued()), (1000, 0));
}

#[test]
fn a_datagram_that_cannot_be_sent_does_not_hold_up_others() {
    let (port, workers) = open(v4(), &Sharing::Fifo, 1);
    let client = client(&port);
    let to = client.local_addr().unwrap();
    let mut outbox = Outbox::default();
    for number in 0..150_u8 {
        // Too long for UDP, in the middle and at both ends.
        let length = if matches!(number, 0 | 70 | 149) { 65_530 } else { 10 };
        outbox.push(&vec![number; length], to, None);
    }
    assert_eq!(workers[0].send(&mut outbox), Sent { sent: 147, refused: 3 });
    let mut answer = [0; 100];
    for number in (1..149).filter(|&number| number != 70) {
        assert_eq!((client.recv(&mut answer).unwrap(), answer[0]), (10, number));
    }
}
