//! Timers of flows.

use crate::{ask, client, receive, server};
use std::time::{Duration, Instant};
use warmcore_runtime::server::{Handler, Policy, Reply, Request};

const TIME: Duration = Duration::from_millis(30);

/// Answers, and then sends `ticks` more, each after this time.
struct Ticking(Duration);

impl Handler<u8> for Ticking {
    fn request(&self, ticks: &mut u8, request: Request<'_>, reply: &mut Reply<'_>) {
        *ticks = request.bytes[0];
        reply.send(b"set");
        reply.after(self.0);
        if *ticks == 0 {
            reply.no_timer();
        }
    }

    fn timer(&self, ticks: &mut u8, reply: &mut Reply<'_>) {
        reply.send(&[*ticks]);
        *ticks -= 1;
        if *ticks > 0 {
            reply.after(self.0);
        }
    }
}

#[test]
fn timers_come_as_often_as_asked_for_and_not_early() {
    for policy in Policy::UDP {
        let running = server().policy(policy).workers(2).state(|_| 0).start_handler(Ticking(TIME)).unwrap();
        let clients: Vec<_> = (0..10).map(|_| client(&running)).collect();
        let begun = Instant::now();
        clients.iter().for_each(|client| assert_eq!(ask(client, &[3]), b"set"));
        for round in 1..=3_u8 {
            for client in &clients {
                assert_eq!(receive(client), [4 - round], "{policy:?}");
                assert!(begun.elapsed() >= TIME * u32::from(round), "{policy:?}");
            }
        }
        assert_eq!(running.stop().unwrap().total().timers, 30);
    }
}

#[test]
fn a_timer_can_be_postponed_and_given_up() {
    // Far longer than the pauses between requests, however busy the machine is.
    const LATER: Duration = Duration::from_millis(400);
    for policy in Policy::UDP {
        let running = server().policy(policy).workers(2).state(|_| 0).start_handler(Ticking(LATER)).unwrap();
        let (postponed, given_up) = (client(&running), client(&running));
        ask(&given_up, &[1]);
        ask(&given_up, &[0]);
        let mut last = Instant::now();
        for _ in 0..10 {
            last = Instant::now();
            ask(&postponed, &[1]);
            std::thread::sleep(Duration::from_millis(2));
        }
        assert_eq!(receive(&postponed), [1]);
        assert!(last.elapsed() >= LATER, "{policy:?}");
        assert_eq!(running.stop().unwrap().total().timers, 1, "{policy:?}");
    }
}
