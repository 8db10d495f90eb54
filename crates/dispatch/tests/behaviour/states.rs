//! State that belongs to keys.

use crate::{BINDINGS, builder};
use core::time::Duration;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use warmcore_dispatch::{InUse, Request, Several, StatefulDispatcher, Turn};

#[test]
fn each_key_has_a_state_of_its_own() {
    for binding in BINDINGS {
        let count = |log: &mut Vec<u64>, event: u64| log.push(event);
        let done = builder().workers(3).binding(binding).state(|_| Vec::new()).scope(count, |dispatcher| {
            (0..10_000).for_each(|event| dispatcher.dispatch(event % 100, event).unwrap());
        });
        let ((), logs) = done.unwrap();
        assert_eq!(logs.len(), 100);
        for (key, log) in logs {
            assert!(log.into_iter().eq((0..100).map(|round| 100 * round + key)), "{binding:?}");
        }
    }
}

/// Transfers between accounts keep the sum, whichever accounts, and audits find it at every time.
#[test]
fn an_event_of_several_keys_has_the_states_of_all() {
    const ACCOUNTS: u64 = 8;
    let wrong = AtomicU64::new(0);
    let handle = |turn: &Turn<'_, u64, i64>, accounts: &mut [&mut i64], amount: i64| match accounts {
        [from, to] => {
            assert!(turn.keys().count() == 2);
            **from -= amount;
            **to += amount;
        }
        all if all.len() == ACCOUNTS as usize => {
            let sum: i64 = all.iter().map(|balance| **balance).sum();
            wrong.fetch_add(u64::from(sum != 100 * ACCOUNTS as i64), Ordering::Relaxed);
        }
        _ => {}
    };
    for binding in BINDINGS {
        let builder = builder().workers(4).binding(binding).capacity(64).state(|_| 100);
        let done = builder.scope(Several(handle), |dispatcher| {
            for number in 0..20_000_u64 {
                let (from, to) = (number % ACCOUNTS, number / ACCOUNTS % ACCOUNTS);
                dispatcher.dispatch_keys([from, to], (number % 13) as i64).unwrap();
                if number.is_multiple_of(100) {
                    dispatcher.dispatch_keys(0..ACCOUNTS, 0).unwrap();
                }
            }
        });
        let ((), accounts) = done.unwrap();
        assert_eq!(accounts.values().sum::<i64>(), 100 * ACCOUNTS as i64, "{binding:?}");
    }
    assert_eq!(wrong.into_inner(), 0);
}

#[test]
fn a_constructor_or_a_handler_that_panics_costs_its_event() {
    let tries = Arc::new(AtomicU64::new(0));
    let count = tries.clone();
    let new = move |key: &u64| {
        // The first two tries for key 3 fail.
        assert!(*key != 3 || count.fetch_add(1, Ordering::SeqCst) >= 2, "no state yet");
        0
    };
    let add = |sum: &mut u64, amount: u64| {
        *sum += amount;
        assert!(amount != 7, "after it was added");
    };
    let dispatcher = builder().workers(2).state(new).build(add).unwrap();
    for key in 0..5 {
        (1..=10).for_each(|amount| dispatcher.dispatch(key, amount).unwrap());
    }
    dispatcher.wait_idle().unwrap();
    assert_eq!(dispatcher.stats().panics, 2 + 5);
    let sums = dispatcher.into_states();
    let expected = |key| if key == 3 { 55 - 1 - 2 } else { 55 };
    assert!((0..5).all(|key| sums[&key] == expected(key)), "{sums:?}");
}

#[test]
fn an_event_of_several_keys_needs_a_handler_that_takes_them() {
    let dispatcher = builder().workers(1).state(|_| 0).build(|sum: &mut u64, n: u64| *sum += n).unwrap();
    dispatcher.dispatch_keys([1, 2], 1).unwrap();
    dispatcher.wait_idle().unwrap();
    let reports = dispatcher.panics();
    assert!(reports[0].message.contains("expected one key, or a handler in `Several`"), "{reports:?}");
}

#[test]
fn a_handler_with_state_answers_requests() {
    let add = |sum: &mut u64, request: Request<u64, u64>| {
        request.answer_with(|amount| {
            *sum += amount;
            *sum
        });
    };
    let dispatcher = builder().workers(2).state(|_| 100).build(add).unwrap();
    let answers = [1, 2, 3].map(|amount| {
        let (request, answer) = Request::new(amount);
        dispatcher.dispatch(7, request).unwrap();
        answer.wait()
    });
    assert_eq!(answers, [Ok(101), Ok(103), Ok(106)]);
}

#[test]
fn a_state_is_forgotten_unless_a_handler_has_it() {
    let (told, wait) = channel();
    let (tell, has_begun) = channel();
    let wait = Mutex::new(wait);
    let handle = move |sum: &mut u64, amount: u64| {
        *sum += amount;
        if amount == 7 {
            tell.send(()).unwrap();
            wait.lock().unwrap().recv().unwrap();
        }
    };
    let dispatcher = builder().workers(2).state(|_| 0).build(handle).unwrap();
    assert_eq!(dispatcher.forget(&1), Ok(None));
    dispatcher.dispatch(1, 7).unwrap();
    has_begun.recv().unwrap();
    assert_eq!(dispatcher.forget(&1), Err(InUse));
    told.send(()).unwrap();
    dispatcher.wait_idle().unwrap();
    assert_eq!(
        (dispatcher.state_count(), dispatcher.forget(&1), dispatcher.state_count()),
        (1, Ok(Some(7)), 0)
    );
    dispatcher.dispatch(1, 1).unwrap();
    assert_eq!(dispatcher.into_states(), HashMap::from([(1, 1)]));
}

#[test]
fn a_handler_that_takes_the_dispatcher_apart_does_not_wait_for_itself() {
    type States = StatefulDispatcher<u64, u64, u64>;
    let dispatcher: Arc<Mutex<Option<States>>> = Arc::default();
    let (own, (tell, told)) = (dispatcher.clone(), channel());
    let handle = move |sum: &mut u64, amount: u64| {
        *sum += amount;
        if let Some(own) = own.lock().unwrap().take_if(|_| amount == 7) {
            tell.send(own.into_states()).unwrap();
        }
    };
    let states = builder().workers(1).state(|_| 0).at_most(8);
    let states = dispatcher.lock().unwrap().insert(states.build(handle).unwrap()).handle();
    states.dispatch(1, 1).unwrap();
    states.wait_idle().unwrap();
    states.dispatch(2, 7).unwrap();
    assert_eq!(told.recv().unwrap(), HashMap::from([(1, 1)]));
    assert_eq!(states.drain(Duration::from_secs(60)).unwrap().left, 0);
    assert_eq!(states.panics(), []);
}
