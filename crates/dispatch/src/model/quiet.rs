//! Whether all is quiet, while a handler dispatches further events.

use super::{apart, check, shared};
use crate::queue::Claim;
use crate::{Overload, Rule};
use loom::sync::Arc;
use loom::thread;

/// The handler of an event in one queue dispatches another into the other queue, where nobody handles it.
fn what_follows_is_seen(from: usize, to: usize) {
    check(3, move || {
        let shared = Arc::new(shared(Rule::Bound { queues: 2 }, 1, Overload::Reject));
        let keys = apart(&shared);
        shared.dispatch(keys[from], 1).unwrap();
        let worker = thread::spawn({
            let shared = Arc::clone(&shared);
            move || {
                let (queue, mut claim) = (&shared.queues[from].queue, Claim::default());
                queue.turn(&mut claim, 1, |_| {});
                queue.run(&mut claim, |_, _, _| shared.dispatch(keys[to], 2).unwrap());
                queue.release(&mut claim);
            }
        });
        assert!(!shared.is_quiet(), "there is always one of the two");
        worker.join().unwrap();
        assert!(!shared.is_quiet());
    });
}

#[test]
fn what_follows_into_a_queue_that_was_looked_at_is_seen() {
    what_follows_is_seen(1, 0);
}

#[test]
fn what_follows_into_a_queue_that_is_looked_at_next_is_seen() {
    what_follows_is_seen(0, 1);
}
