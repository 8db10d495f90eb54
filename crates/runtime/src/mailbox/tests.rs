//! Wake-ups between two threads that pass one assignment back and forth.

use super::Mailbox;
use crate::packet::{Frame, Packet};
use crate::scheduler::Assignment;
use std::time::Duration;
use warmcore_costs::Situation;
use warmcore_units::{Nanos, StackId, StreamId, ThreadId};

const ROUNDS: u32 = if cfg!(miri) { 50 } else { 5_000 };
/// Longer than the test may take, so a wake-up that relies on it fails the test.
const FOREVER: Duration = Duration::from_secs(600);

/// Two threads pass one assignment back and forth. Each sleeps until the other has posted.
#[test]
fn an_assignment_goes_back_and_forth() {
    let mailboxes = [Mailbox::new(1), Mailbox::new(1)];
    let play = |own: &Mailbox, other: &Mailbox, begins: bool| {
        own.register();
        let mut hand = begins.then(|| Assignment {
            packet: Packet { arrived: Nanos::ZERO, stream: StreamId(0), frame: Frame::Prepared(0) },
            stack: StackId(0),
            thread: ThreadId(0),
            situation: Situation::default(),
        });
        let mut rounds = 0;
        while rounds < ROUNDS {
            if let Some(mut assignment) = hand.take() {
                assignment.thread.0 += 1;
                other.post(assignment);
                other.wake();
                rounds += 1;
            } else {
                own.sleep(FOREVER, || false);
                hand = own.collect();
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| play(&mailboxes[1], &mailboxes[0], false));
        play(&mailboxes[0], &mailboxes[1], true);
    });
    let [first, second] = &mailboxes;
    let left = first.collect().expect("the last turn was the second player's");
    assert_eq!(left.thread, ThreadId(2 * ROUNDS));
    assert!(second.collect().is_none() && first.is_empty());
}
