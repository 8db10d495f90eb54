//! Handlers that are shown what they will handle.

use crate::{RULES, builder};
use std::collections::HashMap;
use std::sync::{Arc, Barrier, Mutex};
use std::thread::{self, ThreadId};
use warmcore_dispatch::{LookAhead, Rule, Turn};

/// Each event that stands in its place itself is shown with its key by the thread that handles it, before it
/// does.
#[test]
fn every_event_of_one_key_or_none_is_shown_by_its_worker() {
    for rule in RULES {
        let shown: Mutex<HashMap<u64, (Option<u64>, ThreadId)>> = Mutex::default();
        let look = |key: Option<&u64>, event: &u64| {
            let before = shown.lock().unwrap().insert(*event, (key.copied(), thread::current().id()));
            assert_eq!(before, None, "shown again, though nothing has panicked");
        };
        let handle = |turn: &Turn<'_, u64, u64>, event: u64| {
            let looked = shown.lock().unwrap().remove(&event);
            assert_eq!(looked, Some((turn.key().copied(), thread::current().id())));
        };
        let panics = builder().workers(2).rule(rule).scope(LookAhead(look, handle), |dispatcher| {
            for event in 0..10_000 {
                if event % 10 == 0 {
                    dispatcher.dispatch_unordered(event).unwrap();
                } else {
                    dispatcher.dispatch(event % 7, event).unwrap();
                }
            }
            dispatcher.wait_idle();
            dispatcher.panics()
        });
        assert_eq!(panics.unwrap(), [], "{rule:?}");
        assert!(shown.into_inner().unwrap().is_empty(), "shown, and never handled");
    }
}

/// What waits when the only worker begins is shown before the first of it is handled.
#[test]
fn what_waits_is_shown_ahead() {
    let all_are_in = Arc::new(Barrier::new(2));
    let seen = Mutex::new(Vec::new());
    let look = |_: Option<&u64>, event: &u64| seen.lock().unwrap().push(("shown", *event));
    let handle = |_: &Turn<'_, u64, u64>, event: u64| seen.lock().unwrap().push(("handled", event));
    let begin = {
        let all_are_in = Arc::clone(&all_are_in);
        move |_| {
            all_are_in.wait();
        }
    };
    let one = builder().workers(1).rule(Rule::Sharded).on_start(begin);
    let done = one.scope(LookAhead(look, handle), |dispatcher| {
        (1..=3).for_each(|event| dispatcher.dispatch(event, event).unwrap());
        all_are_in.wait();
    });
    done.unwrap();
    let expected: Vec<_> =
        ["shown", "handled"].into_iter().flat_map(|what| (1..=3).map(move |event| (what, event))).collect();
    assert_eq!(seen.into_inner().unwrap(), expected);
}

/// It is asked for memory: nothing depends on whether it works.
#[test]
fn a_look_that_panics_changes_nothing() {
    let handled = Mutex::new(Vec::new());
    let look = |_: Option<&u64>, event: &u64| assert_eq!(event % 2, 0, "odd");
    let handle = |_: &Turn<'_, u64, u64>, event: u64| handled.lock().unwrap().push(event);
    let metrics = builder().workers(1).scope(LookAhead(look, handle), |dispatcher| {
        (0..100).for_each(|event| dispatcher.dispatch(7, event).unwrap());
        dispatcher.wait_idle();
        dispatcher.metrics()
    });
    assert_eq!(handled.into_inner().unwrap(), Vec::from_iter(0..100));
    assert_eq!(metrics.unwrap().panics, 0);
}

/// Only the freshest of them will be handled, and which one that is turns out then; events of several keys stand
/// in several queues.
#[test]
fn what_may_be_replaced_or_stands_elsewhere_is_not_shown() {
    let shown = Mutex::new(Vec::new());
    let look = |_: Option<&u64>, event: &u64| shown.lock().unwrap().push(*event);
    let handled = Mutex::new(Vec::new());
    let handle = |_: &Turn<'_, u64, u64>, event: u64| handled.lock().unwrap().push(event);
    let done = builder().workers(1).scope(LookAhead(look, handle), |dispatcher| {
        dispatcher.dispatch_freshest(1, 1).unwrap();
        dispatcher.dispatch_keys([1, 2], 2).unwrap();
        dispatcher.dispatch_sequential(3).unwrap();
    });
    done.unwrap();
    assert_eq!(handled.into_inner().unwrap(), [1, 2, 3]);
    assert_eq!(shown.into_inner().unwrap(), []);
}
