//! The lock that is biased to its owner.

use super::check;
use crate::sync::{AtomicU32, Biased, Ordering};
use loom::sync::Arc;
use loom::thread;

/// Counts one more, in two steps: where two threads do so at once, or one does not see what another did, one is lost.
fn add_one(count: &AtomicU32) {
    count.store(count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}

/// Owners one after the other, and another who comes meanwhile.
#[test]
fn one_thread_at_a_time_is_in() {
    check(4, || {
        let biased = Arc::new(Biased::new(AtomicU32::new(0)));
        let other = thread::spawn({
            let biased = biased.clone();
            move || {
                let access = biased.share();
                (0..2).for_each(|_| add_one(&access.lock()));
            }
        });
        let next_owner = thread::spawn({
            let biased = biased.clone();
            move || add_one(&biased.own().lock())
        });
        let access = biased.own();
        (0..2).for_each(|_| add_one(&access.lock()));
        access.lock().end();
        other.join().unwrap();
        next_owner.join().unwrap();
        assert_eq!(biased.share().lock().load(Ordering::Relaxed), 5);
    });
}
