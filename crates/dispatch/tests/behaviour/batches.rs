//! Events that are dispatched in batches.

use crate::{BINDINGS, builder};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex};
use warmcore_dispatch::{DispatchError, Dispatcher, Overload, Turn};

const KEYS: u64 = 7;

/// Checks that the events of each key come in order, and counts them.
#[derive(Default)]
struct Ledger {
    next: [AtomicU64; KEYS as usize],
}

impl Ledger {
    fn take(&self, key: u64, numbers: impl Iterator<Item = u64>) {
        for number in numbers {
            assert_eq!(self.next[key as usize].swap(number + 1, Ordering::Relaxed), number, "out of order");
        }
    }

    fn handled(&self) -> u64 {
        self.next.iter().map(|next| next.load(Ordering::Relaxed)).sum()
    }
}

#[test]
fn batches_keep_the_order_of_each_key() {
    for rule in BINDINGS {
        for (capacity, size) in [(4, 3), (64, 32), (16, 200)] {
            let ledger = Ledger::default();
            let handle = |turn: &Turn<'_, u64, u64>, number: u64| {
                ledger.take(*turn.key().unwrap(), [number].into_iter());
            };
            let scope = builder().workers(2).binding(rule).capacity(capacity).scope(handle, |dispatcher| {
                let mut batch = dispatcher.batch(size);
                for event in 0..35_000 {
                    batch.dispatch(event % KEYS, event / KEYS).unwrap();
                    // Now and then, what is in it is to come before something else.
                    if event % 1_000 == 999 {
                        batch.flush().unwrap();
                    }
                }
                drop(batch);
                dispatcher.wait_idle().unwrap();
                dispatcher.panics()
            });
            assert_eq!(scope.unwrap(), [], "{rule:?}");
            assert_eq!(ledger.handled(), 35_000, "{rule:?}");
        }
    }
}

#[test]
fn a_batch_gives_back_what_cannot_come_in() {
    let (gate, opened) = (Mutex::new(false), Condvar::new());
    let handled = AtomicU64::new(0);
    let handle = |_: &Turn<'_, u64, u64>, _: u64| {
        drop(opened.wait_while(gate.lock().unwrap(), |open| !*open).unwrap());
        handled.fetch_add(1, Ordering::Relaxed);
    };
    let builder = Dispatcher::<u64, u64>::builder().workers(1).capacity(4).overload(Overload::Reject);
    let taken = builder.scope(handle, |dispatcher| {
        let mut batch = dispatcher.batch(100);
        (0..20).for_each(|event| batch.dispatch(1, event).unwrap());
        let Err(DispatchError::Full(refused)) = batch.flush() else { panic!("there is no room for 20") };
        // In order, and none of them twice.
        assert!(refused.is_sorted() && refused.last() == Some(&19), "{refused:?}");
        assert_eq!(batch.flush(), Ok(()));
        *gate.lock().unwrap() = true;
        opened.notify_all();
        dispatcher.wait_idle().unwrap();
        dispatcher.close();
        batch.dispatch(1, 99).unwrap();
        assert_eq!(batch.flush(), Err(DispatchError::Closed(vec![99])));
        20 - refused.len() as u64
    });
    assert_eq!(taken.unwrap(), handled.into_inner());
}
