//! Waiting for room, and telling of it.

use super::check;
use crate::bound::Bound;
use crate::waiters::Waiters;
use core::task::Waker;
use loom::sync::Arc;
use loom::thread;
use std::task::Wake;

/// Wakes a thread that waits as a task does.
struct Unpark(thread::Thread);

impl Wake for Unpark {
    fn wake(self: std::sync::Arc<Self>) {
        self.0.unpark();
    }
}

fn wait_as_a_task(room: &Waiters, is_so: impl Fn() -> bool) {
    let waker = Waker::from(std::sync::Arc::new(Unpark(thread::current())));
    let mut place = None;
    if !room.leave(&mut place, &waker, is_so) {
        thread::park();
    }
    place.into_iter().for_each(|place| room.forget(place));
}

fn admit(bound: &Bound, room: &Waiters, as_task: bool, events: u32) {
    for _ in 0..events {
        while bound.admit().is_none() {
            let has_room = || bound.has_room();
            if as_task { wait_as_a_task(room, has_room) } else { room.wait(has_room) }
        }
    }
}

/// Room for one event, which is there; producers that admit two more, and a worker that finishes all.
fn check_told(preemptions: usize, as_task: bool, producers: u32) {
    check(preemptions, move || {
        let (bound, room) = (Arc::new(Bound::new(1, 1, 1, 0)), Arc::new(Waiters::default()));
        assert!(bound.admit().is_some());
        let start = |_| {
            let (bound, room) = (Arc::clone(&bound), Arc::clone(&room));
            thread::spawn(move || admit(&bound, &room, as_task, 2 / producers))
        };
        let producers: Vec<_> = (0..producers).map(start).collect();
        for finished in 0..3 {
            while bound.in_strands() == 0 {
                thread::yield_now();
            }
            bound.finish(bound.of_worker(0), 1);
            if finished < 2 && room.is_awaited() && bound.has_room() {
                room.tell();
            }
        }
        producers.into_iter().for_each(|producer| producer.join().unwrap());
        assert_eq!(bound.events(), 0);
    });
}

#[test]
fn who_waits_for_room_is_told_of_it_each_time() {
    check_told(3, false, 1);
}

#[test]
fn all_who_wait_for_room_are_told_of_it() {
    check_told(1, false, 2);
}

#[test]
fn a_task_that_waits_for_room_is_told_of_it_each_time() {
    check_told(3, true, 1);
}

#[test]
fn all_tasks_that_wait_for_room_are_told_of_it() {
    check_told(1, true, 2);
}
