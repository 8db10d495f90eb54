//! The end of a server.

use crate::{client, receive, server};
use std::net::UdpSocket;
use std::sync::{Arc, Barrier};
use std::time::Duration;
use warmcore_runtime::server::{Policy, ServerError};

#[test]
fn what_is_queued_is_answered_before_the_end() {
    const QUEUED: u8 = 100;
    for policy in Policy::UDP {
        let (both, begun) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)));
        let (held, told) = (Arc::clone(&both), Arc::clone(&begun));
        let running = server()
            .policy(policy)
            .workers(1)
            .start(move |(), request, reply| {
                if request.bytes == [0] {
                    told.wait();
                    held.wait();
                }
                reply.send(request.bytes);
            })
            .unwrap();
        let (address, client) = (running.local_addr(), client(&running));
        client.send(&[0]).unwrap();
        begun.wait();
        // The only worker is held: these are queued.
        (1..QUEUED).for_each(|number| _ = client.send(&[number]).unwrap());
        let stop = std::thread::spawn(|| running.stop());
        both.wait();
        for number in 0..QUEUED {
            assert_eq!(receive(&client), [number], "{policy:?}");
        }
        let report = stop.join().unwrap().unwrap();
        assert_eq!((report.total().requests, report.dropped), (QUEUED.into(), 0));
        UdpSocket::bind(address).expect("the port is free again");
    }
}

#[test]
fn what_is_not_done_in_time_is_said() {
    let server = server().workers(1).drain(Duration::from_millis(50));
    let running = server.start(|(), _, _| std::thread::sleep(Duration::from_millis(20))).unwrap();
    let client = client(&running);
    (0..50).for_each(|_| _ = client.send(b"slow").unwrap());
    let error = running.stop().unwrap_err();
    assert!(matches!(error, ServerError::Undrained { .. }), "{error}");
}

#[test]
fn a_server_that_is_dropped_lets_go_of_its_port() {
    for policy in Policy::UDP {
        let running = server().policy(policy).workers(2).start(|(), _, _| ()).unwrap();
        let address = running.local_addr();
        drop(running);
        crate::until("the port is free again", || UdpSocket::bind(address).is_ok());
    }
}
