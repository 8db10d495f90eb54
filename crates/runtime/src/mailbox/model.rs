//! Every interleaving of a worker that sleeps and others that put work before it, by loom. A lost
//! wake-up is a deadlock here, since nobody wakes by himself.

use super::Seat;
use crate::board::Assignment;
use crate::packet::{Frame, Packet};
use crate::sync::{AtomicBool, Mutex, Ordering};
use loom::sync::Arc;
use loom::thread;
use std::collections::VecDeque;
use std::time::Duration;
use warmcore_costs::Situation;
use warmcore_units::{Nanos, StackId, StreamId, ThreadId};

const NAP: Duration = Duration::from_millis(20);

fn packet(number: u32) -> Packet {
    Packet { arrived: Nanos::ZERO, stream: StreamId(0), frame: Frame::Prepared(number) }
}

fn assignment(number: u32) -> Assignment {
    let situation = Situation::default();
    Assignment { packet: packet(number), stack: StackId(0), thread: ThreadId(0), situation }
}

fn number(packet: &Packet) -> u32 {
    match packet.frame {
        Frame::Prepared(number) => number,
        Frame::Held(_) => u32::MAX,
    }
}

/// The worker's side: looks, and sleeps where there is nothing.
fn await_assignment(seat: &Seat) -> Assignment {
    loop {
        if let Some(assignment) = seat.collect() {
            return assignment;
        }
        seat.sleep(NAP, || false);
    }
}

#[test]
fn what_is_posted_wakes_the_worker() {
    loom::model(|| {
        let seat = Arc::new(Seat::new(1));
        let worker = thread::spawn({
            let seat = Arc::clone(&seat);
            move || {
                seat.sit();
                number(&await_assignment(&seat).packet)
            }
        });
        seat.post(assignment(7));
        seat.wake();
        assert_eq!(worker.join().unwrap(), 7);
    });
}

#[test]
fn what_is_passed_on_wakes_the_worker() {
    loom::model(|| {
        let seat = Arc::new(Seat::new(2));
        let worker = thread::spawn({
            let seat = Arc::clone(&seat);
            move || {
                seat.sit();
                let mut seen = Vec::new();
                while seen.len() < 2 {
                    match seat.inbox.pop() {
                        Some(packet) => seen.push(number(&packet)),
                        None => seat.sleep(NAP, || false),
                    }
                }
                seen
            }
        });
        for number in [1, 2] {
            seat.inbox.push(packet(number)).unwrap();
            seat.wake();
        }
        assert_eq!(worker.join().unwrap(), [1, 2], "in the order in which they were passed on");
    });
}

#[test]
fn an_order_wakes_the_worker() {
    loom::model(|| {
        let seat = Arc::new(Seat::new(1));
        let leave = Arc::new(AtomicBool::new(false));
        let worker = thread::spawn({
            let (seat, leave) = (Arc::clone(&seat), Arc::clone(&leave));
            move || {
                seat.sit();
                while !leave.load(Ordering::Relaxed) {
                    seat.sleep(NAP, || leave.load(Ordering::Relaxed));
                }
            }
        });
        leave.store(true, Ordering::Relaxed);
        seat.wake();
        worker.join().unwrap();
    });
}

/// A dispatcher in the small: whether the worker is idle, and who waits for it.
struct Line {
    idle: bool,
    waiting: VecDeque<Assignment>,
}

/// Two that find work for one worker, who is given it only while idle: nothing is lost, nothing
/// comes twice, and there is always room in the mailbox.
#[test]
fn work_from_two_sides_is_done_once() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(|| {
        let seat = Arc::new(Seat::new(1));
        let line = Arc::new(Mutex::new(Line { idle: true, waiting: VecDeque::new() }));
        let find = |number| {
            let (seat, line) = (Arc::clone(&seat), Arc::clone(&line));
            thread::spawn(move || {
                let mut line = line.lock();
                if line.idle {
                    line.idle = false;
                    seat.post(assignment(number));
                } else {
                    line.waiting.push_back(assignment(number));
                }
                drop(line);
                seat.wake();
            })
        };
        let finders = [find(1), find(2)];
        let worker = thread::spawn(move || {
            seat.sit();
            let (mut done, mut hand) = (Vec::new(), None);
            while done.len() < 2 {
                let assignment = hand.take().unwrap_or_else(|| await_assignment(&seat));
                done.push(number(&assignment.packet));
                let mut line = line.lock();
                hand = line.waiting.pop_front();
                line.idle = hand.is_none();
            }
            assert!(seat.is_empty());
            done
        });
        finders.into_iter().for_each(|finder| finder.join().unwrap());
        let mut done = worker.join().unwrap();
        done.sort_unstable();
        assert_eq!(done, [1, 2]);
    });
}
