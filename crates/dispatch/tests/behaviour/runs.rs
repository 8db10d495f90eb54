//! Handlers of runs, and events that are dispatched in batches.

use crate::{BINDINGS, builder};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier, Condvar, Mutex};
use std::vec::Drain;
use warmcore_dispatch::{DispatchError, Dispatcher, OnPanic, Overload, Runs, Turn};

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
fn runs_hold_events_of_one_key_in_order() {
    for rule in BINDINGS {
        let ledger = Ledger::default();
        let handle = Runs(|turn: &Turn<'_, u64, u64>, events: Drain<'_, u64>| {
            assert!(!events.as_slice().is_empty());
            ledger.take(*turn.key().unwrap(), events);
        });
        let stats = builder().workers(2).binding(rule).capacity(256).scope(handle, |dispatcher| {
            (0..70_000).for_each(|event| dispatcher.dispatch(event % KEYS, event / KEYS).unwrap());
            dispatcher.wait_idle().unwrap();
            assert_eq!(dispatcher.panics(), []);
            dispatcher.stats()
        });
        assert_eq!((ledger.handled(), stats.unwrap().events), (70_000, 70_000), "{rule:?}");
    }
}

/// What waits when the only worker begins is handed over together, key by key; so are events that touch
/// nothing; and an event of several keys is a run of one.
#[test]
fn what_waits_comes_together() {
    let all_are_in = Arc::new(Barrier::new(2));
    let seen = Mutex::new(Vec::new());
    let handle = Runs(|turn: &Turn<'_, u64, u64>, events: Drain<'_, u64>| {
        seen.lock().unwrap().push((turn.keys().copied().collect::<Vec<_>>(), events.collect::<Vec<_>>()));
    });
    let dispatch = |dispatcher: &warmcore_dispatch::Handle<u64, u64>| {
        for (key, event) in [(1, 1), (2, 2), (1, 3), (2, 4), (1, 5)] {
            dispatcher.dispatch(key, event).unwrap();
        }
        dispatcher.dispatch_keys([1, 2], 6).unwrap();
        (7..9).for_each(|event| dispatcher.dispatch_unordered(event).unwrap());
        all_are_in.wait();
    };
    let begin = {
        let all_are_in = Arc::clone(&all_are_in);
        move |_| {
            all_are_in.wait();
        }
    };
    builder().workers(1).strands(1).on_start(begin).scope(handle, dispatch).unwrap();
    let seen = seen.into_inner().unwrap();
    let of = |keys: &[u64]| -> Vec<Vec<u64>> {
        seen.iter().filter(|(of, _)| of == keys).map(|(_, events)| events.clone()).collect()
    };
    assert_eq!(of(&[1, 2]), [[6]]);
    assert_eq!(of(&[1]).concat(), [1, 3, 5]);
    assert_eq!(of(&[2]).concat(), [2, 4]);
    assert_eq!(of(&[]).concat(), [7, 8]);
    assert_eq!((&of(&[1])[0], &of(&[2])[0]), (&vec![1, 3, 5], &vec![2, 4]), "{seen:?}");
}

#[test]
fn a_run_that_panics_is_lost_and_the_next_one_is_not() {
    for rule in BINDINGS {
        let handled = AtomicU64::new(0);
        let handle = Runs(|turn: &Turn<'_, u64, u64>, events: Drain<'_, u64>| {
            assert_ne!(turn.key(), Some(&3));
            handled.fetch_add(events.count() as u64, Ordering::Relaxed);
        });
        let reports =
            builder().workers(2).binding(rule).on_panic(OnPanic::Poison).scope(handle, |dispatcher| {
                (0..7_000).for_each(|event| dispatcher.dispatch(event % KEYS, event).unwrap());
                dispatcher.wait_idle().unwrap();
                let stats = dispatcher.stats();
                assert_eq!(stats.events, 7_000);
                assert!(stats.poisoned < 1_000);
                dispatcher.panics()
            });
        assert_eq!(reports.unwrap().len(), 1, "{rule:?}");
        assert_eq!(handled.into_inner(), 6_000, "{rule:?}");
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
