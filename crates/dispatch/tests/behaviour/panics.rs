//! Handlers that panic.

use crate::{BINDINGS, builder};
use std::sync::atomic::{AtomicU64, Ordering};
use warmcore_dispatch::{OnPanic, Turn};

/// Handles 100 events for each of 5 keys, of which those of key 3 panic at the tenth; how many were
/// handled to the end, and what was reported.
fn run(on_panic: OnPanic, rule: warmcore_dispatch::Binding) -> (u64, Vec<Vec<u64>>, u64) {
    let handled = AtomicU64::new(0);
    let handle = |turn: &Turn<'_, u64, u64>, event: u64| {
        assert!(!(turn.key() == Some(&3) && event / 5 == 10), "the tenth of key 3");
        handled.fetch_add(1, Ordering::Relaxed);
    };
    let (reports, poisoned) = builder()
        .workers(2)
        .binding(rule)
        .on_panic(on_panic)
        .scope(handle, |dispatcher| {
            (0..500).for_each(|event| _ = dispatcher.dispatch(event % 5, event));
            dispatcher.wait_idle().unwrap();
            (dispatcher.panics(), dispatcher.stats().poisoned)
        })
        .unwrap();
    assert!(reports.iter().all(|report| report.message.contains("the tenth")));
    (handled.into_inner(), reports.into_iter().map(|report| report.keys).collect(), poisoned)
}

#[test]
fn a_panic_costs_its_event_and_is_reported_with_its_key() {
    for rule in BINDINGS {
        assert_eq!(run(OnPanic::Skip, rule), (499, vec![vec![3]], 0), "{rule:?}");
    }
}

#[test]
fn later_events_of_a_poisoned_key_are_not_handled() {
    for rule in BINDINGS {
        assert_eq!(run(OnPanic::Poison, rule), (499 - 89, vec![vec![3]], 89), "{rule:?}");
    }
}

#[test]
fn a_panic_can_stop_everything() {
    for rule in BINDINGS {
        let (handled, reports, _) = run(OnPanic::Stop, rule);
        assert!(handled < 500 && reports.len() == 1, "{rule:?}: {handled}");
    }
}
