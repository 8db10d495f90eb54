//! Events for several queues that come into the first and not into the last, while a worker looks at the first.

use super::{apart, check, settle, shared};
use crate::queue::Claim;
use crate::shared::Shared;
use crate::{Overload, Rule};
use loom::sync::Arc;
use loom::thread;

/// Handles what is in the first queue, as long as its bit is set; how many events that were.
fn attend(shared: &Shared<u32, u32>) -> usize {
    let (lane, mut claim) = (&shared.queues[0], Claim::default());
    let mut handled = 0;
    while shared.ready.queues().any(|queue| queue == 0) {
        loop {
            lane.queue.turn(&mut claim, 1, |found| settle(&shared.ready, &lane.queue, found));
            if claim.is_empty() {
                break;
            }
            lane.queue.run(&mut claim, |_, _, _| handled += 1);
        }
        // What is reserved only will be published.
        thread::yield_now();
    }
    handled
}

/// `dispatch` comes back, and whatever it leaves in the first queue is not left without its bit.
fn comes_back(dispatch: impl Fn(&Shared<u32, u32>, [u32; 2]) + Copy + Send + Sync + 'static) {
    check(3, move || {
        let shared = Arc::new(shared(Rule::Bound { queues: 2 }, 1, Overload::Reject));
        let keys = apart(&shared);
        shared.dispatch(keys[0], 1).unwrap();
        shared.queues[1].queue.ring().close();
        let producer = thread::spawn({
            let shared = Arc::clone(&shared);
            move || dispatch(&shared, keys)
        });
        let handled = attend(&shared);
        producer.join().unwrap();
        assert_eq!(handled + attend(&shared), 1);
        assert_eq!(shared.pending(), 0, "something is left, and no bit says so");
    });
}

#[test]
fn an_event_of_several_keys_that_comes_back_is_in_nobodys_way() {
    comes_back(|shared, keys| assert!(shared.dispatch_keys(keys, 2).is_err()));
}

#[test]
fn an_event_that_comes_back_and_was_to_run_alone_is_in_nobodys_way() {
    comes_back(|shared, _| assert!(shared.dispatch_sequential(2).is_err()));
}
