//! Workers that sleep, and those who wake them.

use super::check;
use crate::ready::Ready;
use crate::sleepers::Sleepers;
use crate::sync::{AtomicU32, AtomicU64, Ordering};
use loom::sync::Arc;
use loom::thread;

/// A worker's life in the small: it takes the bit, and sleeps where there is none.
fn take_one(me: usize, sleepers: &Sleepers, ready: &Ready) {
    sleepers.register(me);
    loop {
        if ready.take(0, 0).is_some() {
            sleepers.begin(me);
            return sleepers.end(me);
        }
        sleepers.sleep(me, None, || ready.any(0));
    }
}

#[test]
fn what_is_ready_wakes_a_sleeper() {
    check(3, || {
        let (sleepers, ready) = (Arc::new(Sleepers::new(1)), Arc::new(Ready::new(1, 1)));
        let worker = thread::spawn({
            let (sleepers, ready) = (Arc::clone(&sleepers), Arc::clone(&ready));
            move || (0..2).for_each(|_| take_one(0, &sleepers, &ready))
        });
        for round in 0..2 {
            ready.set(0);
            if sleepers.could_wake() {
                sleepers.wake(0);
            }
            while round == 0 && ready.any(0) {
                thread::yield_now();
            }
        }
        worker.join().unwrap();
    });
}

/// Two workers, and two strands that get something: both are attended, by one of them or by both.
#[test]
fn of_two_sleepers_enough_are_woken() {
    check(2, || {
        let (sleepers, ready) = (Arc::new(Sleepers::new(2)), Arc::new(Ready::new(1, 2)));
        let left = Arc::new(AtomicU32::new(2));
        let events = Arc::new([AtomicU64::new(1), AtomicU64::new(1)]);
        let work = |me| {
            let (sleepers, ready) = (Arc::clone(&sleepers), Arc::clone(&ready));
            let (left, events) = (Arc::clone(&left), Arc::clone(&events));
            move || {
                sleepers.register(me);
                let over = || left.load(Ordering::SeqCst) == 0;
                while !over() {
                    if let Some(strand) = ready.take(0, 1) {
                        if sleepers.begin(me) && sleepers.could_wake() && ready.any(0) {
                            sleepers.wake(1 - me);
                        }
                        if events[strand].fetch_and(0, Ordering::AcqRel) == 1 {
                            left.fetch_sub(1, Ordering::SeqCst);
                        }
                        sleepers.end(me);
                    } else {
                        sleepers.sleep(me, None, || over() || ready.any(0));
                    }
                }
                sleepers.wake_all();
            }
        };
        let workers = [thread::spawn(work(0)), thread::spawn(work(1))];
        for strand in 0..2 {
            ready.set(strand);
            if sleepers.could_wake() {
                sleepers.wake(strand);
            }
        }
        workers.into_iter().for_each(|worker| worker.join().unwrap());
    });
}
