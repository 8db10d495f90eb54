//! States that are dropped, under schedules that shuttle draws.

use crate::{Builder, Several, Then, Turn};
use core::time::Duration;
use std::collections::HashMap;
use std::sync::Mutex;

const SCHEDULES: usize = 5_000;
const KEYS: u64 = 3;

/// A state that is made finds what the one before has left, and as many are kept as there may be.
#[test]
fn a_state_is_written_before_it_is_read() {
    shuttle::check_random(|| run(None), SCHEDULES);
}

/// The same where a handler drops a state.
#[test]
fn a_state_is_written_before_it_is_read_when_a_handler_drops_it() {
    shuttle::check_random(|| run(Some(3)), SCHEDULES);
}

/// Handles a few events, the one with this number so that it drops its state. What is shared here is no concern of shuttle's.
fn run(dropping: Option<u64>) {
    let stored: Mutex<HashMap<u64, u64>> = Mutex::default();
    let load = |key: &u64| stored.lock().unwrap().remove(key).unwrap_or(0);
    let store = |&key: &u64, sum| {
        // Others may come meanwhile.
        shuttle::thread::yield_now();
        assert_eq!(stored.lock().unwrap().insert(key, sum), None, "twice at once");
    };
    let handle = Several(|_: &Turn<'_, u64, u64>, sums: &mut [&mut u64], event: u64| {
        sums.iter_mut().for_each(|sum| **sum += 1);
        if dropping == Some(event) { Then::Drop } else { Then::Keep }
    });
    // Idle states are another matter, and would be dropped beside those that are too many.
    let idle = dropping.map_or(Duration::MAX, |_| Duration::ZERO);
    let states = Builder::default().workers(2).strands(16).state(load).on_drop(store);
    let dispatched = states.at_most(1).drop_idle(idle).scope(handle, |dispatcher| {
        for event in 0..6 {
            match event {
                4 => dispatcher.dispatch_keys([0, 1], event).unwrap(),
                _ => dispatcher.dispatch(event % KEYS, event).unwrap(),
            }
        }
        dispatcher.wait_idle().unwrap();
        assert_eq!(dispatcher.panics(), []);
    });
    let ((), left) = dispatched.unwrap();
    assert!(left.len() == 1 || (left.is_empty() && dropping.is_some()), "{} states", left.len());
    let mut found = stored.into_inner().unwrap();
    found.extend(left);
    assert_eq!(found, HashMap::from([(0, 3), (1, 2), (2, 2)]));
}
