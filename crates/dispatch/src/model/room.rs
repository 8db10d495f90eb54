//! Waiting for room in a queue, and telling of it.

use super::{check, key, queue, try_put};
use crate::queue::{Claim, Queue};
use crate::room::Room;
use core::ops::Range;
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

fn wait_as_a_task(room: &Room, is_so: impl Fn() -> bool) {
    let waker = Waker::from(std::sync::Arc::new(Unpark(thread::current())));
    if !room.leave(&waker, is_so) {
        thread::park();
    }
}

/// Puts events with these numbers, all of one key, into `queue`; where it is full, waits in `room`.
fn put_all(queue: &Queue<u32, u32>, room: &Room, as_task: bool, events: Range<u32>) {
    for mut event in events {
        while let Err(again) = try_put(queue, key(1), event) {
            event = again;
            let has_room = || queue.ring().len() <= 1;
            if as_task { wait_as_a_task(room, has_room) } else { room.wait(has_room) }
        }
    }
}

/// Handles so many events of `queue`, and tells of room as `Shared::tell_of_room` does.
fn handle_and_tell(queue: &Queue<u32, u32>, room: &Room, events: usize) {
    let (mut claim, mut handled) = (Claim::default(), 0);
    while handled < events {
        queue.turn(&mut claim, 1, |_| {});
        queue.run(&mut claim, |_, _, _| handled += 1);
        if !claim.is_empty() {
            queue.release(&mut claim);
            if room.is_awaited() && queue.ring().len() <= 1 {
                room.tell();
            }
        } else if handled < events {
            thread::yield_now();
        }
    }
}

/// A full queue, some who put in two more events, each as many of them, and one who handles all four.
fn check_told(preemptions: usize, as_task: bool, producers: u32) {
    check(preemptions, move || {
        let (queue, room) = (queue::<u32, u32>(0, 2), Arc::new(Room::default()));
        put_all(&queue, &room, as_task, 0..2);
        let each = 2 / producers;
        let start = |producer| {
            let (queue, room) = (Arc::clone(&queue), Arc::clone(&room));
            let first = 2 + producer * each;
            thread::spawn(move || put_all(&queue, &room, as_task, first..first + each))
        };
        let producers: Vec<_> = (0..producers).map(start).collect();
        handle_and_tell(&queue, &room, 4);
        producers.into_iter().for_each(|producer| producer.join().unwrap());
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
