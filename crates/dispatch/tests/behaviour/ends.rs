//! How a dispatcher ends: closed, drained, dropped, aborted.

use crate::{BINDINGS, abort, builder};
use core::time::Duration;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::channel;
use warmcore_dispatch::{DispatchError, Dispatcher, OnPanic, Turn};

#[test]
fn what_was_dispatched_before_it_is_dropped_is_handled() {
    for rule in BINDINGS {
        let handled = Arc::new(AtomicU64::new(0));
        let count = handled.clone();
        let handle = move |_: &Turn<'_, u64, u64>, _: u64| _ = count.fetch_add(1, Ordering::Relaxed);
        let dispatcher: Dispatcher<u64, u64> = builder().workers(2).binding(rule).build(handle).unwrap();
        (0..10_000).for_each(|event| dispatcher.dispatch(event % 5, event).unwrap());
        drop(dispatcher);
        assert_eq!(handled.load(Ordering::Relaxed), 10_000, "{rule:?}");
    }
}

#[test]
fn each_worker_starts_with_what_it_was_told() {
    let started = Arc::new(AtomicU64::new(0));
    let count = started.clone();
    let start = move |worker: usize| _ = count.fetch_add(1 << (8 * worker), Ordering::Relaxed);
    let handle = |_: &Turn<'_, u64, u64>, _: u64| {};
    drop(builder().workers(3).on_start(start).build(handle).unwrap());
    assert_eq!(started.load(Ordering::Relaxed), 0x0001_0101);

    let dispatcher: Dispatcher<u64, u64> = builder()
        .workers(2)
        .on_start(|worker| assert_eq!(worker, 0, "no such processor"))
        .build(handle)
        .unwrap();
    let reports = loop {
        let reports = dispatcher.panics();
        if !reports.is_empty() {
            break reports;
        }
        std::thread::yield_now();
    };
    assert!(reports[0].message.contains("no such processor"));
}

#[test]
fn nothing_is_taken_in_after_it_is_closed() {
    let handle = |_: &Turn<'_, u64, u64>, _: u64| {};
    let dispatcher: Dispatcher<u64, u64> = builder().workers(1).build(handle).unwrap();
    dispatcher.close();
    assert_eq!(dispatcher.dispatch(1, 7), Err(DispatchError::Closed(7)));
    assert_eq!(dispatcher.dispatch_unordered(7), Err(DispatchError::Closed(7)));
    assert_eq!(dispatcher.dispatch_keys([1, 2, 3], 7), Err(DispatchError::Closed(7)));
    assert_eq!(dispatcher.dispatch_sequential(7), Err(DispatchError::Closed(7)));
    assert_eq!(dispatcher.drain(Duration::from_secs(10)).unwrap().left, 0);
}

#[test]
fn a_drain_that_takes_too_long_says_what_is_left_and_an_abort_drops_it() {
    for rule in BINDINGS {
        let go_on = Arc::new(AtomicBool::new(false));
        let wait = go_on.clone();
        let handle = move |_: &Turn<'_, u64, u64>, _: u64| {
            while !wait.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
        };
        let dispatcher: Dispatcher<u64, u64> = builder().workers(1).binding(rule).build(handle).unwrap();
        (0..100).for_each(|event| dispatcher.dispatch(event % 5, event).unwrap());
        let drained = dispatcher.drain(Duration::from_millis(20)).unwrap();
        assert_eq!(drained.left, 100, "{rule:?}");
        go_on.store(true, Ordering::Relaxed);
        let handled = dispatcher.stats().events;
        let dropped = abort(&dispatcher);
        assert!(dropped <= 100 - handled, "{rule:?}");
    }
}

#[test]
fn every_event_is_handled_or_dropped_when_aborted_at_a_random_time() {
    for rule in BINDINGS {
        for round in 0..20 {
            let handled = Arc::new(AtomicU64::new(0));
            let count = handled.clone();
            let handle = move |_: &Turn<'_, u64, u64>, _: u64| _ = count.fetch_add(1, Ordering::Relaxed);
            let dispatcher: Dispatcher<u64, u64> = builder().workers(2).binding(rule).build(handle).unwrap();
            let mut taken = 0;
            for event in 0..2_000 + 100 * round {
                taken += u64::from(match event % 50 {
                    0 => dispatcher.dispatch_keys([event, event + 1, event + 2], event).is_ok(),
                    1 => dispatcher.dispatch_sequential(event).is_ok(),
                    _ => dispatcher.dispatch(event % 5, event).is_ok(),
                });
            }
            let dropped = abort(&dispatcher);
            assert_eq!(handled.load(Ordering::Relaxed) + dropped, taken, "{rule:?}");
        }
    }
}

/// What runs alone leaves its mark in every queue, which somebody must clear away before all is quiet.
#[test]
fn a_scope_ends_also_where_the_last_event_ran_alone_or_in_several_queues() {
    for rule in BINDINGS {
        for round in 0..200 {
            let handled = AtomicU64::new(0);
            let handle = |_: &Turn<'_, u64, u64>, _: u64| _ = handled.fetch_add(1, Ordering::Relaxed);
            let dispatched = builder().workers(2).binding(rule).capacity(2).scope(handle, |dispatcher| {
                (0..round % 7).for_each(|event| dispatcher.dispatch_sequential(event).unwrap());
                dispatcher.dispatch_keys([1, 2, 3, 4], round).unwrap();
                dispatcher.dispatch_sequential(round).unwrap();
            });
            dispatched.unwrap();
            assert_eq!(handled.into_inner(), round % 7 + 2, "{rule:?}");
        }
    }
}

#[test]
fn all_events_are_counted_when_nothing_is_left() {
    let handle = |_: &Turn<'_, u64, u64>, _: u64| {};
    for rule in BINDINGS {
        let dispatcher: Dispatcher<u64, u64> = builder().workers(2).binding(rule).build(handle).unwrap();
        for round in 1..=2_000 {
            (0..9).for_each(|event| dispatcher.dispatch(event % 7, event).unwrap());
            dispatcher.dispatch_sequential(9).unwrap();
            dispatcher.wait_idle().unwrap();
            assert_eq!(dispatcher.stats().events, 10 * round, "{rule:?}");
        }
    }
}

/// What a handler has dispatched and there was no room for is handled or counted, whenever it is closed.
#[test]
fn what_is_kept_aside_is_handled_or_counted() {
    for rule in BINDINGS {
        for round in 0..30 {
            let returned = Arc::new(AtomicU64::new(0));
            let count = returned.clone();
            let handle = move |turn: &Turn<'_, u64, u64>, event: u64| {
                if event == 1_000 {
                    let refused = (0..100).filter(|&event| turn.dispatch(event % 7, event).is_err()).count();
                    count.fetch_add(refused as u64, Ordering::Relaxed);
                }
            };
            let dispatcher: Dispatcher<u64, u64> =
                builder().workers(2).binding(rule).capacity(2).build(handle).unwrap();
            dispatcher.dispatch(0, 1_000).unwrap();
            std::thread::sleep(Duration::from_micros(20 * round));
            let drained = dispatcher.drain(Duration::from_secs(20)).unwrap();
            dispatcher.wait_idle().unwrap();
            let stats = dispatcher.stats();
            // Those that were dispatched after it was closed came back to the handler.
            let returned = returned.load(Ordering::Relaxed);
            assert_eq!(drained.left, 0, "{rule:?}");
            assert_eq!(stats.events + stats.shed + returned, 101, "{rule:?}: {stats:?}");
        }
    }
}

/// Nobody takes anything out any more: a queue that is full stays full.
#[test]
fn who_waits_for_room_in_several_queues_ends_when_all_is_stopped() {
    for rule in BINDINGS {
        let (began, go_on) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let (begin, wait) = (began.clone(), go_on.clone());
        let handle = move |_: &Turn<'_, u64, u64>, _: u64| {
            begin.store(true, Ordering::SeqCst);
            while !wait.load(Ordering::SeqCst) {
                std::thread::yield_now();
            }
            panic!("this stops everything");
        };
        let builder = builder().workers(1).binding(rule).capacity(4).on_panic(OnPanic::Stop);
        let dispatcher: Arc<Dispatcher<u64, u64>> = Arc::new(builder.build(handle).unwrap());
        dispatcher.dispatch_unordered(0).unwrap();
        while !began.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
        // The event that is handled has one of the four places.
        (1..4).for_each(|event| dispatcher.dispatch_unordered(event).unwrap());
        let (ended, ends) = channel();
        std::thread::spawn({
            let dispatcher = dispatcher.clone();
            move || ended.send(dispatcher.dispatch_sequential(9)).unwrap()
        });
        std::thread::sleep(Duration::from_millis(20));
        assert!(ends.try_recv().is_err(), "{rule:?}: there is no room");
        go_on.store(true, Ordering::SeqCst);
        let dispatched = ends.recv_timeout(Duration::from_secs(20));
        assert_eq!(dispatched, Ok(Err(DispatchError::Closed(9))), "{rule:?}");
    }
}

/// What came in while it was closed is handled, however soon workers see that it is closed.
#[test]
fn what_comes_while_it_is_closed_is_handled_or_comes_back() {
    for rule in BINDINGS {
        for round in 0..100 {
            let handled = Arc::new(AtomicU64::new(0));
            let count = handled.clone();
            let handle = move |_: &Turn<'_, u64, u64>, _: u64| _ = count.fetch_add(1, Ordering::Relaxed);
            let dispatcher: Dispatcher<u64, u64> =
                builder().workers(4).binding(rule).capacity(4).build(handle).unwrap();
            let taken = std::thread::scope(|scope| {
                let dispatch = || (0..).take_while(|&key| dispatcher.dispatch(key, key).is_ok()).count();
                let producer = scope.spawn(dispatch);
                std::thread::sleep(Duration::from_micros(round));
                dispatcher.close();
                producer.join().unwrap() as u64
            });
            assert_eq!(dispatcher.drain(Duration::from_secs(20)).unwrap().left, 0, "{rule:?}");
            drop(dispatcher);
            assert_eq!(handled.load(Ordering::Relaxed), taken, "{rule:?}");
        }
    }
}

/// What runs is waited for, and what is dropped is gone and counted.
#[test]
fn after_an_abort_a_wait_lasts_until_nothing_is_left() {
    let (began, go_on) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let (begin, wait) = (began.clone(), go_on.clone());
    let handle = move |_: &Turn<'_, u64, u64>, _: u64| {
        begin.store(true, Ordering::SeqCst);
        while !wait.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
    };
    let dispatcher: Dispatcher<u64, u64> =
        Dispatcher::<u64, u64>::builder().workers(1).build(handle).unwrap();
    (0..100).for_each(|key| dispatcher.dispatch(key, 1).unwrap());
    while !began.load(Ordering::SeqCst) {
        std::thread::yield_now();
    }
    dispatcher.abort();
    let soon = std::time::Duration::from_millis(50);
    assert!(dispatcher.wait_idle_timeout(soon).unwrap().left > 0, "one runs");
    go_on.store(true, Ordering::SeqCst);
    dispatcher.wait_idle().unwrap();
    let stats = dispatcher.stats();
    assert_eq!((stats.events + stats.discarded, stats.depth), (100, 0));
}
