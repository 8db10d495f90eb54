//! Loom tries every interleaving of a worker that sleeps and others that give it work. Parking has no
//! timeout here, so a lost wake-up shows as a deadlock.

use super::Mailbox;
use crate::packet::{Frame, Packet};
use crate::scheduler::Assignment;
use crate::sync::{AtomicBool, Mutex, Ordering};
use loom::sync::Arc;
use loom::thread;
use std::collections::VecDeque;
use std::time::Duration;
use warmcore_costs::Situation;
use warmcore_units::{Nanos, StackId, StreamId, ThreadId};

const LONGEST_PARK: Duration = Duration::from_millis(20);

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

/// The worker's side: takes an assignment, or sleeps until there is one.
fn await_assignment(mailbox: &Mailbox) -> Assignment {
    loop {
        if let Some(assignment) = mailbox.collect() {
            return assignment;
        }
        mailbox.sleep(LONGEST_PARK, || false);
    }
}

#[test]
fn an_assignment_wakes_the_worker() {
    loom::model(|| {
        let mailbox = Arc::new(Mailbox::new(1));
        let worker = thread::spawn({
            let mailbox = Arc::clone(&mailbox);
            move || {
                mailbox.register();
                number(&await_assignment(&mailbox).packet)
            }
        });
        mailbox.post(assignment(7));
        mailbox.wake();
        assert_eq!(worker.join().unwrap(), 7);
    });
}

#[test]
fn a_forwarded_packet_wakes_the_worker() {
    loom::model(|| {
        let mailbox = Arc::new(Mailbox::new(2));
        let worker = thread::spawn({
            let mailbox = Arc::clone(&mailbox);
            move || {
                mailbox.register();
                let mut seen = Vec::new();
                while seen.len() < 2 {
                    match mailbox.forwarded.pop() {
                        Some(packet) => seen.push(number(&packet)),
                        None => mailbox.sleep(LONGEST_PARK, || false),
                    }
                }
                seen
            }
        });
        for number in [1, 2] {
            mailbox.forwarded.push(packet(number)).unwrap();
            mailbox.wake();
        }
        assert_eq!(worker.join().unwrap(), [1, 2], "in the order in which they were forwarded");
    });
}

#[test]
fn an_order_wakes_the_worker() {
    loom::model(|| {
        let mailbox = Arc::new(Mailbox::new(1));
        let leave = Arc::new(AtomicBool::new(false));
        let worker = thread::spawn({
            let (mailbox, leave) = (Arc::clone(&mailbox), Arc::clone(&leave));
            move || {
                mailbox.register();
                while !leave.load(Ordering::Relaxed) {
                    mailbox.sleep(LONGEST_PARK, || leave.load(Ordering::Relaxed));
                }
            }
        });
        leave.store(true, Ordering::Relaxed);
        mailbox.wake();
        worker.join().unwrap();
    });
}

/// A minimal dispatcher: whether the worker is idle, and the assignments that wait for it.
struct WaitList {
    idle: bool,
    waiting: VecDeque<Assignment>,
}

/// Two threads find work for one worker, which is given work only while idle. Nothing is lost or done
/// twice, and the mailbox always has room.
#[test]
fn work_from_two_sides_is_done_once() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(|| {
        let mailbox = Arc::new(Mailbox::new(1));
        let list = Arc::new(Mutex::new(WaitList { idle: true, waiting: VecDeque::new() }));
        let find = |number| {
            let (mailbox, list) = (Arc::clone(&mailbox), Arc::clone(&list));
            thread::spawn(move || {
                let mut list = list.lock();
                if list.idle {
                    list.idle = false;
                    mailbox.post(assignment(number));
                } else {
                    list.waiting.push_back(assignment(number));
                }
                drop(list);
                mailbox.wake();
            })
        };
        let finders = [find(1), find(2)];
        let worker = thread::spawn(move || {
            mailbox.register();
            let (mut done, mut hand) = (Vec::new(), None);
            while done.len() < 2 {
                let assignment = hand.take().unwrap_or_else(|| await_assignment(&mailbox));
                done.push(number(&assignment.packet));
                let mut list = list.lock();
                hand = list.waiting.pop_front();
                list.idle = hand.is_none();
            }
            assert!(mailbox.is_empty());
            done
        });
        finders.into_iter().for_each(|finder| finder.join().unwrap());
        let mut done = worker.join().unwrap();
        done.sort_unstable();
        assert_eq!(done, [1, 2]);
    });
}
