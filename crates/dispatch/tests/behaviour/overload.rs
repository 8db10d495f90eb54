//! What happens where there is no room.

use crate::{BINDINGS, builder};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use warmcore_dispatch::{DispatchError, Dispatcher, Overload, Turn};

/// A dispatcher of one worker that is at work on an event until it may go on.
fn stuck(overload: Overload) -> (Dispatcher<u64, u64>, Arc<AtomicBool>, Arc<AtomicU64>) {
    let (began, go_on) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let handled = Arc::new(AtomicU64::new(0));
    let (begin, wait, count) = (began.clone(), go_on.clone(), handled.clone());
    let handle = move |_: &Turn<'_, u64, u64>, _: u64| {
        begin.store(true, Ordering::SeqCst);
        while !wait.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
        count.fetch_add(1, Ordering::SeqCst);
    };
    let dispatcher = builder().workers(1).capacity(4).overload(overload).build(handle).unwrap();
    dispatcher.dispatch(1, 0).unwrap();
    while !began.load(Ordering::SeqCst) {
        std::thread::yield_now();
    }
    (dispatcher, go_on, handled)
}

#[test]
fn what_is_rejected_comes_back() {
    let (dispatcher, go_on, handled) = stuck(Overload::Reject);
    let taken = (1..=10).filter(|&event| dispatcher.dispatch(1, event).is_ok()).count();
    assert_eq!(taken, 3, "the one that runs has its place too");
    assert_eq!(dispatcher.dispatch(1, 99), Err(DispatchError::Full(99)));
    assert_eq!(dispatcher.dispatch_sequential(99), Err(DispatchError::Full(99)));
    go_on.store(true, Ordering::SeqCst);
    drop(dispatcher);
    assert_eq!(handled.load(Ordering::SeqCst), 4);
}

#[test]
fn what_is_shed_is_counted() {
    let (dispatcher, go_on, handled) = stuck(Overload::Shed);
    (1..=10).for_each(|event| dispatcher.dispatch(1, event).unwrap());
    assert_eq!(dispatcher.stats().shed, 7);
    go_on.store(true, Ordering::SeqCst);
    drop(dispatcher);
    assert_eq!(handled.load(Ordering::SeqCst), 4);
}

#[test]
fn who_is_blocked_goes_on_when_there_is_room_and_ends_when_it_is_closed() {
    let (dispatcher, go_on, handled) = stuck(Overload::Block);
    std::thread::scope(|scope| {
        let blocked = scope.spawn(|| (1..=10).filter(|&event| dispatcher.dispatch(1, event).is_ok()).count());
        std::thread::sleep(Duration::from_millis(20));
        assert!(!blocked.is_finished());
        go_on.store(true, Ordering::SeqCst);
        assert_eq!(blocked.join().unwrap(), 10);
    });
    dispatcher.wait_idle().unwrap();
    assert_eq!(handled.load(Ordering::SeqCst), 11);

    let (dispatcher, go_on, _) = stuck(Overload::Block);
    std::thread::scope(|scope| {
        let blocked = scope.spawn(|| (1..=10).filter(|&event| dispatcher.dispatch(1, event).is_ok()).count());
        std::thread::sleep(Duration::from_millis(20));
        dispatcher.close();
        assert_eq!(blocked.join().unwrap(), 3);
        go_on.store(true, Ordering::SeqCst);
    });
}

/// A sequential event takes room, and so does what waits behind it.
#[test]
fn what_waits_behind_a_sequential_event_counts() {
    let (dispatcher, go_on, handled) = stuck(Overload::Reject);
    dispatcher.dispatch_sequential(1).unwrap();
    let taken = (0..10).filter(|&event| dispatcher.dispatch(event, event).is_ok()).count();
    go_on.store(true, Ordering::SeqCst);
    drop(dispatcher);
    assert_eq!(taken, 2, "beside the one that runs and the sequential one");
    assert_eq!(handled.load(Ordering::SeqCst), 2 + taken as u64);
}

/// Parts of an event with many keys wait in two strands for one key. When the event has run, both strands have room again,
/// also the one that its worker was not at.
#[test]
fn an_event_of_many_keys_leaves_no_room_taken() {
    const KEYS: u64 = 100;
    let (began, go_on) = (AtomicBool::new(false), AtomicBool::new(false));
    let handle = |_: &Turn<'_, u64, u64>, event: u64| {
        began.store(true, Ordering::SeqCst);
        while event == 0 && !go_on.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
    };
    let builder = builder().workers(2).capacity(64).overload(Overload::Reject);
    let run = builder.scope(handle, |dispatcher| {
        dispatcher.dispatch(0, 0).unwrap();
        while !began.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
        dispatcher.dispatch_keys(0..KEYS, 1).unwrap();
        // The other worker comes to all parts but the one of the key that is in use.
        std::thread::sleep(Duration::from_millis(50));
        go_on.store(true, Ordering::SeqCst);
        dispatcher.wait_idle().unwrap();
        for key in 0..KEYS {
            assert_eq!(dispatcher.dispatch(key, 2), Ok(()), "key {key}");
            dispatcher.wait_idle().unwrap();
        }
    });
    run.unwrap();
}

/// A producer that waits at one strand goes on when half of that strand's room is free, not when all is.
#[test]
fn who_waits_for_room_is_told_early() {
    const SHARE: u64 = 32;
    let handled = AtomicU64::new(0);
    let handle = |_: &Turn<'_, u64, u64>, _: u64| {
        std::thread::sleep(Duration::from_millis(2));
        handled.fetch_add(1, Ordering::SeqCst);
    };
    let waited = builder().workers(2).capacity(4 * SHARE as usize).scope(handle, |dispatcher| {
        (0..=SHARE).for_each(|event| dispatcher.dispatch(1, event).unwrap());
        handled.load(Ordering::SeqCst)
    });
    assert!(waited.unwrap() < SHARE * 3 / 4);
}

#[test]
fn a_task_waits_for_room_without_blocking_its_thread() {
    let (dispatcher, go_on, handled) = stuck(Overload::Block);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let dispatch = async {
            for event in 1..=10 {
                dispatcher.dispatch_async(1, event).await.unwrap();
            }
        };
        // The one thread that there is comes to this only if the other task lets it.
        let let_go = async { go_on.store(true, Ordering::SeqCst) };
        tokio::join!(dispatch, let_go);
    });
    dispatcher.wait_idle().unwrap();
    assert_eq!(handled.load(Ordering::SeqCst), 11);

    let (dispatcher, go_on, _) = stuck(Overload::Reject);
    let refused = runtime.block_on(async {
        for event in 1..=3 {
            dispatcher.dispatch_async(1, event).await.unwrap();
        }
        dispatcher.dispatch_async(1, 4).await
    });
    assert_eq!(refused, Err(DispatchError::Full(4)));
    dispatcher.close();
    let closed = runtime.block_on(dispatcher.dispatch_async(1, 5));
    assert_eq!(closed, Err(DispatchError::Closed(5)));
    go_on.store(true, Ordering::SeqCst);
}

/// Each event dispatches two, down to some depth: far more than there is room for, from handlers
/// only. Nobody waits for anybody, and nothing is lost.
#[test]
fn handlers_that_dispatch_never_wait() {
    for rule in BINDINGS {
        for workers in [1, 3] {
            let handled = AtomicU64::new(0);
            let handle = |turn: &Turn<'_, u64, u64>, depth: u64| {
                handled.fetch_add(1, Ordering::Relaxed);
                if depth > 0 {
                    let key = *turn.key().unwrap_or(&7);
                    turn.dispatch(key + 1, depth - 1).unwrap();
                    match depth % 3 {
                        0 => turn.dispatch_keys([key, key + 5], depth - 1).unwrap(),
                        1 => turn.dispatch_unordered(depth - 1).unwrap(),
                        _ => turn.dispatch(key + 2, depth - 1).unwrap(),
                    }
                }
            };
            builder()
                .workers(workers)
                .binding(rule)
                .capacity(4)
                .scope(handle, |dispatcher| dispatcher.dispatch(0, 10).unwrap())
                .unwrap();
            assert_eq!(handled.load(Ordering::Relaxed), (1 << 11) - 1, "{rule:?}");
        }
    }
}

/// What handlers dispatch takes room that producers had in view.
#[test]
fn the_room_that_follow_ups_take_is_noticed_at_once() {
    let go_on = AtomicBool::new(false);
    let handle = |turn: &Turn<'_, u64, u64>, event: u64| {
        if event == 0 {
            (0..60).for_each(|number| turn.dispatch(10_000 + number, 1).unwrap());
            while !go_on.load(Ordering::SeqCst) {
                std::thread::yield_now();
            }
        }
    };
    let builder = Dispatcher::<u64, u64>::builder().workers(1).capacity(64).overload(Overload::Reject);
    let taken = builder.scope(handle, |dispatcher| {
        dispatcher.dispatch(0, 0).unwrap();
        while dispatcher.stats().depth < 61 {
            std::thread::yield_now();
        }
        let taken = (2..1_000).filter(|&key| dispatcher.dispatch(key, 1).is_ok()).count();
        go_on.store(true, Ordering::SeqCst);
        taken
    });
    assert_eq!(taken.unwrap(), 3);
}

#[test]
fn nothing_is_refused_where_there_is_room() {
    const THREADS: usize = 4;
    // All of them together fill no strand.
    const LEFT: u64 = 3;
    let waiting: [AtomicU64; THREADS] = core::array::from_fn(|_| AtomicU64::new(0));
    let handle = |_: &Turn<'_, u64, usize>, thread: usize| _ = waiting[thread].fetch_sub(1, Ordering::SeqCst);
    let builder = Dispatcher::<u64, usize>::builder().workers(2).strands(64).capacity(64);
    let refused = builder.overload(Overload::Reject).scope(handle, |dispatcher| {
        let produce = |thread: usize| {
            let mut refused = 0;
            for event in 0..50_000 {
                while waiting[thread].load(Ordering::SeqCst) >= LEFT {
                    std::thread::yield_now();
                }
                waiting[thread].fetch_add(1, Ordering::SeqCst);
                refused += u64::from(dispatcher.dispatch(event * 7 % 1_000, thread).is_err());
            }
            refused
        };
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS).map(|thread| scope.spawn(move || produce(thread))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum::<u64>()
        })
    });
    assert_eq!(refused.unwrap(), 0);
}

/// What is lent to strands comes and goes meanwhile.
#[test]
fn an_event_that_runs_is_always_counted() {
    let (go_on, wait) = channel::<()>();
    let wait = Mutex::new(wait);
    let handle = |_: &Turn<'_, u64, u64>, event: u64| {
        if event == 0 {
            let _ = wait.lock().unwrap().recv();
        }
    };
    builder()
        .workers(2)
        .strands(64)
        .scope(handle, |dispatcher| {
            dispatcher.dispatch(0, 0).unwrap();
            std::thread::scope(|scope| {
                scope.spawn(|| (1..100_000).for_each(|event| dispatcher.dispatch(event, event).unwrap()));
                for _ in 0..2_000 {
                    assert!(dispatcher.wait_idle_timeout(Duration::ZERO).unwrap().left > 0);
                    assert!(dispatcher.stats().depth > 0);
                }
            });
            drop(go_on);
        })
        .unwrap();
}

/// It may wait for the very event.
#[test]
fn a_task_comes_in_as_soon_as_its_key_has_room() {
    let (tell, told) = channel();
    let told = Mutex::new(told);
    let handle = move |_: &Turn<'_, u64, u64>, event: u64| {
        if event == 1 {
            told.lock().unwrap().recv_timeout(Duration::from_secs(20)).expect("the task comes in");
        }
    };
    let dispatcher: Dispatcher<u64, u64> = builder().workers(1).key_limit(1).build(handle).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        dispatcher.dispatch_async(7, 0).await.unwrap();
        dispatcher.dispatch_async(7, 1).await.unwrap();
        dispatcher.dispatch_async(7, 2).await.unwrap();
        tell.send(()).unwrap();
    });
    dispatcher.wait_idle().unwrap();
    assert_eq!(dispatcher.panics(), []);
}
