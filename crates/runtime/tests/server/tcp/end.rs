//! The end of a server of connections.

use super::{ask, client, framed, receive, rest, server};
use std::io::Write;
use std::net::TcpListener;
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};
use warmcore_runtime::server::{Frames, Policy, ServerError};

#[test]
fn what_has_arrived_is_answered_before_the_end() {
    const QUEUED: u8 = 100;
    for policy in Policy::TCP {
        let (both, begun) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)));
        let (held, told) = (Arc::clone(&both), Arc::clone(&begun));
        let server = server(Frames::Length).policy(policy).workers(1);
        let running = server
            .start(move |(), request, reply| {
                if request.bytes == b"hold" {
                    told.wait();
                    held.wait();
                }
                reply.send(request.bytes);
            })
            .unwrap();
        let address = running.local_addr();
        let (mut holding, mut idle) = (client(&running), client(&running));
        ask(&mut idle, b"before");
        holding.write_all(&framed(b"hold")).unwrap();
        begun.wait();
        // The only worker is held: these are queued, on connections that are not accepted yet, and in the middle of a request.
        let mut clients: Vec<_> = (0..20).map(|_| client(&running)).collect();
        let (first, second) = {
            let all: Vec<u8> = (0..QUEUED).flat_map(|number| framed(&[number])).collect();
            let (first, second) = all.split_at(all.len() - 2);
            (first.to_vec(), second.to_vec())
        };
        clients.iter_mut().chain([&mut holding]).for_each(|client| client.write_all(&first).unwrap());
        let stop = std::thread::spawn(|| running.stop());
        both.wait();
        assert_eq!(receive(&mut holding), b"hold");
        for client in clients.iter_mut().chain([&mut holding]) {
            for number in 0..QUEUED - 1 {
                assert_eq!(receive(client), [number], "{policy:?}");
            }
            client.write_all(&second).unwrap();
            assert_eq!(receive(client), [QUEUED - 1], "{policy:?}");
            assert_eq!(rest(client), b"", "{policy:?}");
        }
        assert_eq!(rest(&mut idle), b"");
        let report = stop.join().unwrap().unwrap();
        assert_eq!(report.total().requests, 2 + 21 * u64::from(QUEUED), "{policy:?}");
        assert_eq!((report.total().abandoned, report.total().unsent), (0, 0));
        TcpListener::bind(address).expect("the port is free again");
    }
}

#[test]
fn half_a_request_does_not_hold_up_the_end() {
    let stop = |policy| {
        let running = server(Frames::Length).policy(policy).workers(2).start(|(), _, _| ()).unwrap();
        let mut client = client(&running);
        client.write_all(&[0, 0, 0, 9, 1]).unwrap();
        crate::until("it is accepted", || running.report().total().opened == 1);
        let begun = Instant::now();
        let report = running.stop().unwrap();
        assert!(begun.elapsed() < Duration::from_secs(8), "as long as the server may take");
        assert_eq!(report.total().abandoned, 1, "{policy:?}");
    };
    std::thread::scope(|scope| {
        Policy::TCP.into_iter().for_each(|policy| drop(scope.spawn(move || stop(policy))));
    });
}

#[test]
fn what_is_not_done_in_time_is_said() {
    for policy in [Policy::ByFlow, Policy::SharedLifo] {
        let server = server(Frames::Length).policy(policy).workers(1).drain(Duration::from_millis(50));
        let running = server.start(|(), _, _| std::thread::sleep(Duration::from_millis(20))).unwrap();
        let mut client = client(&running);
        client.write_all(&(0..50).flat_map(|_| framed(b"slow")).collect::<Vec<_>>()).unwrap();
        crate::until("it is accepted", || running.report().flows == 1);
        let error = running.stop().unwrap_err();
        assert!(matches!(error, ServerError::Undrained { .. }), "{error}");
    }
}

#[test]
fn a_server_that_is_dropped_lets_go_of_its_port() {
    for policy in Policy::TCP {
        let running = server(Frames::Lines).policy(policy).workers(2).start(|(), _, _| ()).unwrap();
        let address = running.local_addr();
        drop(running);
        crate::until("the port is free again", || TcpListener::bind(address).is_ok());
    }
}

#[test]
fn a_port_in_use_is_named_with_its_user() {
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = other.local_addr().unwrap();
    for policy in Policy::TCP {
        let server = warmcore_runtime::server::Server::bind_tcp(address, Frames::Lines).unwrap();
        let error = server.policy(policy).workers(2).start(|(), _, _| ()).unwrap_err().to_string();
        let expected = format!("TCP port {address} is in use by ");
        assert!(
            error.starts_with(&expected) && error.contains(&format!("(process {})", std::process::id())),
            "{error}"
        );
    }
}

#[test]
fn policies_that_a_transport_has_not_are_refused() {
    let refused = |server: warmcore_runtime::server::Server, policy| {
        server.policy(policy).workers(1).start(|(), _, _| ()).unwrap_err().to_string()
    };
    let error = refused(server(Frames::Lines), Policy::SharedFifo);
    assert!(error.contains("not for TCP") && error.contains("take SharedLifo"), "{error}");
    let error = refused(crate::server(), Policy::Exclusive);
    assert!(error.contains("not for UDP") && error.contains("take ByFlow"), "{error}");
}
