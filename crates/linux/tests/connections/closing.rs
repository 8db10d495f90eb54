//! The end of a port.

use crate::{LONG, client, end, every_accepting, open, start, v4};
use core::time::Duration;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::thread;
use warmcore_linux::net::connections::{Accepted, Events, Ready, Received};

#[test]
fn closing_ends_every_wait_now_and_later() {
    for accepting in every_accepting(2) {
        let (port, pollers) = open(v4(), &accepting, 2);
        let (_taken, threads) = start(pollers);
        thread::sleep(Duration::from_millis(10));
        end(&port, threads);
        let (port, pollers) = open(v4(), &accepting, 2);
        port.close();
        for poller in &pollers {
            let mut events = Events::new(4);
            for _ in 0..2 {
                poller.wait(&mut events, None).unwrap();
                assert!(events.iter().any(|ready| ready == Ready::Closed), "{accepting:?}");
            }
        }
    }
}

#[test]
fn what_waits_is_accepted_and_later_peers_are_refused() {
    for accepting in every_accepting(1) {
        let (port, pollers) = open(v4(), &accepting, 1);
        let mut waiting: Vec<TcpStream> = (0..5).map(|_| client(&port)).collect();
        port.close();
        let late = TcpStream::connect_timeout(&port.address(), Duration::from_millis(20));
        assert_eq!(late.unwrap_err().kind(), ErrorKind::TimedOut, "{accepting:?}");
        assert!(port.dropped().iter().sum::<u32>() > 0);
        for client in &mut waiting {
            client.write_all(b"hello").unwrap();
        }
        let mut bytes = Vec::new();
        for _ in 0..5 {
            let Accepted::Connection(connection) = pollers[0].accept().unwrap() else {
                panic!("{accepting:?}")
            };
            bytes.clear();
            assert_eq!(connection.receive(&mut bytes, 100), Ok(Received::Bytes(5)));
            assert_eq!(connection.send(&bytes), Ok(5));
        }
        assert!(matches!(pollers[0].accept().unwrap(), Accepted::Nothing));
        pollers[0].end_listening();
        assert!(matches!(pollers[0].accept().unwrap(), Accepted::Nothing));
        let refused = TcpStream::connect_timeout(&port.address(), LONG).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::ConnectionRefused, "{accepting:?}");
        for client in &mut waiting {
            let mut answer = [0; 5];
            client.read_exact(&mut answer).unwrap();
            assert_eq!(&answer, b"hello");
        }
    }
}

#[test]
fn a_connection_says_what_is_acknowledged_and_when_it_fails() {
    let (port, pollers) = open(v4(), &warmcore_linux::net::connections::Accepting::Exclusive, 1);
    let client = client(&port);
    let Accepted::Connection(connection) = pollers[0].accept().unwrap() else { panic!("none waits") };
    let mut bytes = Vec::new();
    assert_eq!(connection.receive(&mut bytes, 10), Ok(Received::Nothing));
    // More than the kernel takes, since the peer reads nothing.
    while connection.send(&[0; 100_000]).unwrap() > 0 {}
    assert!(connection.is_unacknowledged());
    // With that unread the peer's kernel resets the connection.
    drop(client);
    let begun = std::time::Instant::now();
    while connection.send(b"more").is_ok() {
        assert!(begun.elapsed() < LONG, "no reset");
        thread::sleep(Duration::from_millis(1));
    }
    assert_ne!(connection.receive(&mut bytes, 10), Ok(Received::Nothing));
}
