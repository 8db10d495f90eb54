//! What is sent unasked on connections: by timers, other flows, and other threads.

use super::{client, framed, receive, rest, server};
use std::io::Write;
use std::time::Duration;
use warmcore_runtime::server::{Frames, Handler, Policy, Reply, Request};

/// Numbers what it sends. A timer comes twice after the last request, and then ends the connection.
struct Numbering;

impl Handler<u32> for Numbering {
    fn request(&self, count: &mut u32, _: Request<'_>, reply: &mut Reply<'_>) {
        reply.send(format!("request {count}").as_bytes());
        reply.after(Duration::from_millis(20));
    }

    fn timer(&self, count: &mut u32, reply: &mut Reply<'_>) {
        *count += 1;
        reply.send(format!("timer {count}").as_bytes());
        reply.after(Duration::from_millis(5));
        if *count == 2 {
            reply.close();
        }
    }
}

#[test]
fn timers_send_and_close() {
    for policy in Policy::TCP {
        let server = server(Frames::Length).policy(policy).workers(2).state(|_| 0);
        let running = server.start_handler(Numbering).unwrap();
        let mut clients: Vec<_> = (0..10).map(|_| client(&running)).collect();
        clients.iter_mut().for_each(|client| client.write_all(&framed(b"")).unwrap());
        for client in &mut clients {
            for expected in ["request 0", "timer 1", "timer 2"] {
                assert_eq!(receive(client), expected.as_bytes(), "{policy:?}");
            }
            assert_eq!(rest(client), b"");
        }
        let total = running.stop().unwrap().total();
        assert_eq!((total.timers, total.closed, total.replies), (20, 10, 30), "{policy:?}");
    }
}

/// Timers and requests of one connection meet all the time; each sees the state that the other left.
#[test]
fn timers_and_requests_have_the_state_one_at_a_time() {
    struct Meeting;
    impl Handler<u32> for Meeting {
        fn request(&self, count: &mut u32, _: Request<'_>, reply: &mut Reply<'_>) {
            let seen = *count;
            reply.after(Duration::ZERO);
            std::hint::black_box((0..200).sum::<u32>());
            *count = seen + 1;
            reply.send(&seen.to_le_bytes());
        }
        fn timer(&self, count: &mut u32, reply: &mut Reply<'_>) {
            let seen = *count;
            std::hint::black_box((0..200).sum::<u32>());
            *count = seen + 1;
            reply.send(&seen.to_le_bytes());
        }
    }
    for policy in Policy::TCP {
        let server = server(Frames::Length).policy(policy).workers(2).state(|_| 0);
        let running = server.start_handler(Meeting).unwrap();
        let mut one = client(&running);
        let mut expected = 0_u32;
        for requests in 1..200 {
            one.write_all(&framed(b"").repeat(requests % 7 + 1)).unwrap();
            for _ in 0..requests % 7 + 1 {
                // Replies of timers come in between. In their order all are numbered.
                assert_eq!(receive(&mut one), expected.to_le_bytes(), "{policy:?}");
                expected += 1;
            }
        }
        let total = running.stop().unwrap().total();
        assert!(total.timers > 0, "{policy:?}: {total:?}");
    }
}

#[test]
fn a_handler_and_other_threads_send_to_any_peer() {
    for policy in Policy::TCP {
        let server = server(Frames::Length).policy(policy).workers(2);
        let running = server
            .start(|(), request, reply| {
                let other = std::str::from_utf8(request.bytes).unwrap().parse().unwrap();
                (0..200_u8).for_each(|number| reply.send(&[number]));
                reply.send_to(other, b"from a handler");
                reply.send_to("127.0.0.1:1".parse().unwrap(), b"to nobody");
            })
            .unwrap();
        let (mut one, mut other) = (client(&running), client(&running));
        crate::until("both are accepted", || running.report().flows == 2);
        let (peer, address) = (other.local_addr().unwrap(), other.local_addr().unwrap().to_string());
        one.write_all(&framed(address.as_bytes())).unwrap();
        for number in 0..200 {
            assert_eq!(receive(&mut one), [number]);
        }
        assert_eq!(receive(&mut other), b"from a handler");
        let sender = running.sender();
        assert!(sender.send(peer, b"from elsewhere"));
        assert_eq!(receive(&mut other), b"from elsewhere");
        let total = running.stop().unwrap().total();
        assert_eq!((total.replies, total.unsent), (201, 1), "{policy:?}");
        assert!(!sender.send(peer, b"too late"));
    }
}
