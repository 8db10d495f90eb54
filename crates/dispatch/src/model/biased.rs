//! The lock that is biased to its owner.

use super::check;
use crate::sync::Biased;
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

/// A count that loom watches: two threads at it at once are a failure.
#[derive(Default)]
struct Count(UnsafeCell<u32>);

// SAFETY: it is what the lock is to keep from being used by two threads at once.
unsafe impl Send for Count {}

impl Count {
    fn add_one(&self) {
        // SAFETY: loom checks that nobody else is here.
        self.0.with_mut(|count| unsafe { *count += 1 });
    }

    fn get(&self) -> u32 {
        // SAFETY: as above.
        self.0.with(|count| unsafe { *count })
    }
}

/// Owners one after the other, and another who comes meanwhile.
#[test]
fn one_thread_at_a_time_is_in() {
    check(4, || {
        let biased = Arc::new(Biased::new(Count::default()));
        let other = thread::spawn({
            let biased = biased.clone();
            move || {
                let access = biased.share();
                (0..2).for_each(|_| access.lock().add_one());
            }
        });
        let next_owner = thread::spawn({
            let biased = biased.clone();
            move || biased.own().lock().add_one()
        });
        let access = biased.own();
        (0..2).for_each(|_| access.lock().add_one());
        access.lock().end();
        other.join().unwrap();
        next_owner.join().unwrap();
        assert_eq!(biased.share().lock().get(), 5);
    });
}
