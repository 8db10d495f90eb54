//! Limits for each key, and events of which only the freshest counts.

use crate::{BINDINGS, abort, builder};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use warmcore_dispatch::{BuildError, Builder, DispatchError, Dispatcher, Overload, Turn};

/// What was handled, in order.
type Seen = Arc<Mutex<Vec<(u64, u64)>>>;

/// A dispatcher of one worker that is at work on an event of key 0 until it may go on.
fn stuck(builder: Builder<u64, u64>) -> (Dispatcher<u64, u64>, Arc<AtomicBool>, Seen) {
    let (began, go_on) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let seen = Seen::default();
    let (begin, wait, note) = (began.clone(), go_on.clone(), seen.clone());
    let handle = move |turn: &Turn<'_, u64, u64>, event: u64| {
        begin.store(true, Ordering::SeqCst);
        while !wait.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
        note.lock().unwrap().push((*turn.key().unwrap(), event));
    };
    let dispatcher = builder.workers(1).build(handle).unwrap();
    dispatcher.dispatch(0, 0).unwrap();
    while !began.load(Ordering::SeqCst) {
        std::thread::yield_now();
    }
    (dispatcher, go_on, seen)
}

/// Those of `key` among what was handled.
fn of(seen: &Seen, key: u64) -> Vec<u64> {
    seen.lock().unwrap().iter().filter(|(of, _)| *of == key).map(|&(_, event)| event).collect()
}

#[test]
fn a_hot_key_does_not_take_the_room_of_others() {
    let limited = || builder().strands(1_024).capacity(64).key_limit(3);
    let (dispatcher, go_on, seen) = stuck(limited().overload(Overload::Reject));
    assert_eq!((1..=10).filter(|&event| dispatcher.dispatch(1, event).is_ok()).count(), 3);
    assert_eq!(dispatcher.dispatch(1, 99), Err(DispatchError::KeyFull(99)));
    (2..30).for_each(|key| dispatcher.dispatch(key, 7).unwrap());
    go_on.store(true, Ordering::SeqCst);
    dispatcher.wait_idle().unwrap();
    assert_eq!(of(&seen, 1), [1, 2, 3]);
    // What was handled does not count any more.
    (4..7).for_each(|event| dispatcher.dispatch(1, event).unwrap());
    drop(dispatcher);
    assert_eq!(of(&seen, 1), [1, 2, 3, 4, 5, 6]);

    let (dispatcher, go_on, seen) = stuck(limited().overload(Overload::Shed));
    (1..=10).for_each(|event| dispatcher.dispatch(1, event).unwrap());
    assert_eq!(dispatcher.stats().shed, 7);
    go_on.store(true, Ordering::SeqCst);
    drop(dispatcher);
    assert_eq!(of(&seen, 1), [1, 2, 3]);
}

#[test]
fn who_is_blocked_by_a_key_goes_on_when_it_has_fewer() {
    for rule in BINDINGS {
        let (dispatcher, go_on, seen) = stuck(builder().binding(rule).key_limit(2));
        std::thread::scope(|scope| {
            let blocked = scope.spawn(|| (1..=100).try_for_each(|event| dispatcher.dispatch(1, event)));
            // Others are not.
            (2..30).for_each(|key| dispatcher.dispatch(key, 7).unwrap());
            assert!(!blocked.is_finished());
            go_on.store(true, Ordering::SeqCst);
            blocked.join().unwrap().unwrap();
        });
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            for event in 101..=200 {
                dispatcher.dispatch_async(1, event).await.unwrap();
            }
        });
        dispatcher.wait_idle().unwrap();
        assert!(of(&seen, 1).into_iter().eq(1..=200), "{rule:?}");
    }
}

#[test]
fn a_limit_holds_for_handlers_as_well_and_they_do_not_wait() {
    for rule in BINDINGS {
        let handled = AtomicU64::new(0);
        let handle = |turn: &Turn<'_, u64, u64>, depth: u64| {
            handled.fetch_add(1, Ordering::Relaxed);
            if depth > 0 {
                turn.dispatch(1, depth - 1).unwrap();
                turn.dispatch(2, depth - 1).unwrap();
            }
        };
        let builder = builder().workers(2).binding(rule).key_limit(3);
        builder.scope(handle, |dispatcher| dispatcher.dispatch(0, 9).unwrap()).unwrap();
        assert_eq!(handled.into_inner(), (1 << 10) - 1, "{rule:?}");
    }
}

#[test]
fn what_handlers_dispatch_beyond_all_bounds_comes_back() {
    let refused = AtomicU64::new(0);
    let handle = |turn: &Turn<'_, u64, u64>, event: u64| {
        if event == 0 {
            let refuse = |error| assert_eq!(error, DispatchError::Full(1));
            for _ in 0..100 {
                let dispatched = turn.dispatch(1, 1).map_err(refuse);
                refused.fetch_add(u64::from(dispatched.is_err()), Ordering::Relaxed);
            }
        }
    };
    let builder = builder().workers(1).capacity(8).follow_ups(10);
    let handled = builder.scope(handle, |dispatcher| {
        dispatcher.dispatch(0, 0).unwrap();
        dispatcher.wait_idle().unwrap();
        dispatcher.stats().events
    });
    // One of the places is that of the event which is handled.
    let refused = refused.into_inner();
    assert_eq!(refused, 100 - 7 - 10);
    assert_eq!(handled.unwrap(), 1 + 100 - refused);
    let none = Dispatcher::<u64, u64>::builder().key_limit(0).build(|_: &Turn<'_, u64, u64>, _| {});
    assert_eq!(none.err(), Some(BuildError::KeyLimit));
}

#[test]
fn a_fresher_event_replaces_one_that_waits() {
    for rule in BINDINGS {
        let (dispatcher, go_on, seen) = stuck(builder().binding(rule).capacity(8));
        // Far more than there is room for: they need one place for each key.
        for event in 1..=1_000 {
            (1..=3).for_each(|key| dispatcher.dispatch_freshest(key, event).unwrap());
        }
        assert_eq!(dispatcher.stats().superseded, 3 * 999);
        go_on.store(true, Ordering::SeqCst);
        dispatcher.wait_idle().unwrap();
        (1..=3).for_each(|key| assert_eq!(of(&seen, key), [1_000], "{rule:?}"));
        dispatcher.dispatch_freshest(1, 1_001).unwrap();
        dispatcher.close();
        assert_eq!(dispatcher.dispatch_freshest(2, 7), Err(DispatchError::Closed(7)));
        drop(dispatcher);
        assert_eq!(of(&seen, 1), [1_000, 1_001], "{rule:?}");
    }
}

/// While workers take them as fast as they can: events come in order, none comes twice, and each was
/// handled or replaced. The last one is always handled.
#[test]
fn the_freshest_are_in_order_and_the_last_one_is_never_lost() {
    for rule in BINDINGS {
        const KEYS: u64 = 4;
        let last: Vec<AtomicU64> = (0..KEYS).map(|_| AtomicU64::new(0)).collect();
        let handle = |turn: &Turn<'_, u64, u64>, event: u64| {
            let before = last[*turn.key().unwrap() as usize].swap(event, Ordering::Relaxed);
            assert!(before < event, "{before} before {event}");
        };
        let builder = builder().workers(2).binding(rule).capacity(4);
        let stats = builder.scope(handle, |dispatcher| {
            for event in 1..=20_000 {
                (0..KEYS).for_each(|key| dispatcher.dispatch_freshest(key, event).unwrap());
            }
            dispatcher.wait_idle().unwrap();
            assert_eq!(dispatcher.panics(), []);
            dispatcher.stats()
        });
        let stats = stats.unwrap();
        assert_eq!(stats.events + stats.superseded, KEYS * 20_000, "{rule:?}");
        assert!(last.iter().all(|last| last.load(Ordering::Relaxed) == 20_000), "{rule:?}");
    }
}

#[test]
fn an_abort_counts_each_event_once_whether_it_is_kept_with_its_key_or_not() {
    let (dispatcher, go_on, seen) = stuck(builder().key_limit(10));
    (1..=5).for_each(|key| dispatcher.dispatch_freshest(key, 1).unwrap());
    (1..=5).for_each(|key| dispatcher.dispatch(key, 1).unwrap());
    let dropped = std::thread::scope(|scope| {
        // It stops when it has handled the first, as it is closed and aborted by then.
        let go_on = &go_on;
        scope.spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(50));
            go_on.store(true, Ordering::SeqCst);
        });
        abort(&dispatcher)
    });
    let handled = seen.lock().unwrap().len() as u64;
    assert_eq!(dropped + handled, 11);
    assert!(dropped > 0, "all was handled before it was aborted");
}
