//! Events that futures handle.

use crate::abort;
use core::future::{Future, pending};
use core::task::{Context, Waker};
use core::time::Duration;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;
use tokio::runtime::{self, Runtime};
use tokio::sync::Notify;
use tokio::task::yield_now;
use warmcore_dispatch::{AsyncTurn, Builder, Dispatcher, OnPanic, Task, WaitsForItself};

const LONG: Duration = Duration::from_secs(60);

type Turn = AsyncTurn<u64, u64>;

fn threads(count: usize) -> Runtime {
    runtime::Builder::new_multi_thread().worker_threads(count).build().unwrap()
}

fn on(runtime: &Runtime) -> impl Fn(Task) + Send + Sync + 'static {
    let executor = runtime.handle().clone();
    move |task| drop(executor.spawn(task))
}

fn build<F: Future<Output = ()> + Send + 'static>(
    builder: Builder<u64, u64>,
    spawn: impl Fn(Task) + Send + Sync + 'static,
    handler: impl Fn(Turn, u64) -> F + Send + Sync + 'static,
) -> Dispatcher<u64, u64> {
    builder.build_async(spawn, handler).unwrap()
}

fn builder() -> Builder<u64, u64> {
    crate::builder().workers(2)
}

/// What handlers of each key see: the last event, and how many run.
#[derive(Default)]
struct Key {
    last: AtomicU64,
    runs: AtomicU64,
}

const KEYS: usize = 20;

/// Checks every event: `code % 64` keys of it from the first, and its number.
#[derive(Default)]
struct Checks {
    keys: [Key; KEYS],
    runs: AtomicU64,
    alone: AtomicBool,
    handled: AtomicU64,
}

impl Checks {
    async fn handle(self: Arc<Self>, turn: Turn, number: u64) {
        let keys: Vec<usize> = turn.keys().map(|&key| key as usize).collect();
        let is_alone = keys.is_empty() && number % 2 == 1;
        let others = self.runs.fetch_add(1, Ordering::SeqCst);
        if is_alone {
            assert_eq!(others, 0, "a sequential event beside others");
            self.alone.store(true, Ordering::SeqCst);
        } else {
            assert!(!self.alone.load(Ordering::SeqCst), "an event beside a sequential one");
        }
        for &key in &keys {
            let key = &self.keys[key];
            assert_eq!(key.runs.fetch_add(1, Ordering::SeqCst), 0, "at once");
            assert!(key.last.swap(number, Ordering::SeqCst) < number, "out of order");
        }
        for _ in 0..number % 3 {
            yield_now().await;
        }
        keys.iter().for_each(|&key| _ = self.keys[key].runs.fetch_sub(1, Ordering::SeqCst));
        if is_alone {
            self.alone.store(false, Ordering::SeqCst);
        }
        self.runs.fetch_sub(1, Ordering::SeqCst);
        self.handled.fetch_add(1, Ordering::SeqCst);
    }
}

fn check(runtime: &Runtime, builder: Builder<u64, u64>, events: u64) {
    let checks = Arc::new(Checks::default());
    let handler = {
        let checks = checks.clone();
        move |turn, number| checks.clone().handle(turn, number)
    };
    let dispatcher = build(builder, on(runtime), handler);
    for number in 1..=events {
        let key = number * 7 % KEYS as u64;
        match number % 1_000 {
            0 => dispatcher.dispatch_sequential(number | 1),
            1..50 => dispatcher.dispatch_keys([key, (key + 3) % 20, (key + 4) % 20], number),
            50..60 => dispatcher.dispatch_unordered(number & !1),
            _ => dispatcher.dispatch(key, number),
        }
        .unwrap();
    }
    dispatcher.wait_idle().unwrap();
    assert_eq!(dispatcher.panics(), []);
    assert_eq!(checks.handled.load(Ordering::SeqCst), events);
    let stats = dispatcher.stats();
    assert_eq!((stats.events, stats.depth, stats.cancelled), (events, 0, 0));
    assert!(stats.services.count() > 0);
}

#[test]
fn futures_run_in_order_and_never_two_of_a_key_at_once() {
    check(&threads(4), builder().workers(4), 100_000);
    check(&threads(4), builder().capacity(3), 10_000);
    check(&threads(2), builder().key_limit(2), 10_000);
}

#[test]
fn one_thread_may_run_all_futures() {
    let runtime = Arc::new(runtime::Builder::new_current_thread().build().unwrap());
    let stop = Arc::new(Notify::new());
    thread::scope(|scope| {
        scope.spawn(|| runtime.block_on(stop.notified()));
        check(&runtime, builder().workers(1), 10_000);
        stop.notify_one();
    });
}

/// The key is held while its future waits, and others are not.
#[test]
fn a_key_is_held_until_its_future_has_ended() {
    let runtime = threads(1);
    let (said, says) = channel();
    let go_on = Arc::new(Notify::new());
    let wait = go_on.clone();
    let handler = move |turn: Turn, event: u64| {
        let (said, wait) = (said.clone(), wait.clone());
        async move {
            if event == 1 {
                wait.notified().await;
            }
            said.send((turn.key().copied(), event)).unwrap();
        }
    };
    let dispatcher = build(builder().workers(1), on(&runtime), handler);
    dispatcher.dispatch(7, 1).unwrap();
    dispatcher.dispatch(7, 2).unwrap();
    dispatcher.dispatch_keys([8, 7], 3).unwrap();
    (0..10).for_each(|key| dispatcher.dispatch(10 + key, 4).unwrap());
    dispatcher.dispatch_unordered(5).unwrap();
    let others = (0..11).map(|_| says.recv_timeout(LONG).map(|(_, event)| event));
    let others: Vec<_> = others.collect();
    let early = says.recv_timeout(Duration::from_millis(20));
    let left = dispatcher.drain(Duration::from_millis(20)).unwrap().left;
    go_on.notify_one();
    let rest: Vec<_> = (0..3).map(|_| says.recv_timeout(LONG).unwrap()).collect();
    assert_eq!(rest, [(Some(7), 1), (Some(7), 2), (None, 3)]);
    assert!(others.iter().all(|event| matches!(event, Ok(4 | 5))), "{others:?}");
    assert!(early.is_err(), "the key is held");
    assert_eq!(left, 3);
    assert_eq!(dispatcher.drain(LONG).unwrap().left, 0);
}

/// Beyond the capacity, and in order; and nothing waits for itself.
#[test]
fn what_futures_dispatch_comes_in_without_a_wait() {
    let runtime = threads(2);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sees = seen.clone();
    let handler = move |turn: Turn, event: u64| {
        let sees = sees.clone();
        async move {
            if event == 0 {
                assert_eq!(turn.wait_idle(), Err(WaitsForItself));
                assert_eq!(turn.drain(LONG).map(|_| ()), Err(WaitsForItself));
            } else if event < 100 {
                for follow in 0..5 {
                    turn.dispatch(1_000, 100 * event + 2 * follow).unwrap();
                    yield_now().await;
                    turn.dispatch_async(1_000, 100 * event + 2 * follow + 1).await.unwrap();
                }
            } else {
                sees.lock().unwrap().push(event);
            }
        }
    };
    let dispatcher = build(builder().capacity(1), on(&runtime), handler);
    (1..100).for_each(|event| dispatcher.dispatch(1, event).unwrap());
    dispatcher.wait_idle().unwrap();
    let expected: Vec<u64> =
        (1..100).flat_map(|event| (0..10).map(move |follow| 100 * event + follow)).collect();
    assert_eq!(*seen.lock().unwrap(), expected);
    // It closes the dispatcher, too.
    dispatcher.dispatch(1, 0).unwrap();
    drop(dispatcher);
}

#[test]
fn follow_ups_of_futures_beyond_the_limit_come_back() {
    let runtime = threads(1);
    let (said, says) = channel();
    let handler = move |turn: Turn, event: u64| {
        let said = said.clone();
        async move {
            if event == 0 {
                let mut refused = 0;
                for event in 1..=20 {
                    refused += u64::from(turn.dispatch_async(event, event).await.is_err());
                    refused += u64::from(turn.dispatch(event, event).is_err());
                }
                said.send(refused).unwrap();
            }
        }
    };
    // One thread polls all, so none of the others ends meanwhile.
    let dispatcher = build(builder().capacity(1).follow_ups(10), on(&runtime), handler);
    dispatcher.dispatch(0, 0).unwrap();
    assert_eq!(says.recv_timeout(LONG), Ok(30));
}

#[test]
fn a_panic_of_a_future_is_that_of_a_handler() {
    struct Fragile;
    impl Drop for Fragile {
        fn drop(&mut self) {
            panic!("it broke");
        }
    }
    let handler = |_: Turn, event: u64| {
        assert_ne!(event, 1, "at once");
        async move {
            yield_now().await;
            assert_ne!(event, 2, "later");
            let _fragile = (event == 3).then(|| Fragile);
        }
    };
    let runtime = threads(2);
    let dispatcher = build(builder(), on(&runtime), handler);
    (0..5).for_each(|event| dispatcher.dispatch(9, event).unwrap());
    dispatcher.wait_idle().unwrap();
    let reports = dispatcher.panics();
    let messages: Vec<&str> = reports.iter().map(|report| report.message.lines().last().unwrap()).collect();
    assert_eq!(reports.len(), 3, "{messages:?}");
    assert!(reports.iter().all(|report| report.keys == [9]));
    assert!(reports[0].message.contains("at once") && reports[1].message.contains("later"), "{messages:?}");
    assert_eq!(dispatcher.stats().panics, 3);

    let poisoned = build(builder().on_panic(OnPanic::Poison), on(&runtime), handler);
    (1..5).for_each(|event| poisoned.dispatch(9, event).unwrap());
    poisoned.wait_idle().unwrap();
    assert_eq!(poisoned.stats().poisoned, 3);

    let stopped = build(builder().on_panic(OnPanic::Stop), on(&runtime), handler);
    stopped.dispatch(9, 2).unwrap();
    stopped.wait_idle().unwrap();
    assert!(stopped.dispatch(9, 0).is_err());
}

/// Each is finished, counted and reported, whatever becomes of its future.
#[test]
fn futures_that_are_dropped_or_not_spawned_are_counted() {
    fn refuse(_: Task) {
        panic!("no executor");
    }
    for (spawn, reports) in [(drop as fn(Task), 40), (refuse, 80)] {
        let dispatcher = build(builder(), spawn, |_, _| async {});
        (0..10).for_each(|event| dispatcher.dispatch(event % 3, event).unwrap());
        (0..10).for_each(|event| dispatcher.dispatch_keys([1, 2], event).unwrap());
        (0..10).for_each(|event| dispatcher.dispatch_unordered(event).unwrap());
        (0..10).for_each(|event| dispatcher.dispatch_sequential(event).unwrap());
        assert_eq!(dispatcher.drain(LONG).unwrap().left, 0);
        let stats = dispatcher.stats();
        assert_eq!((stats.cancelled, stats.panics), (40, 0));
        // What is told of the last panic may be told late.
        let handle = dispatcher.handle();
        drop(dispatcher);
        let told = handle.panics();
        assert_eq!(told.len(), reports.min(64));
        assert_eq!(
            told.iter().filter(|report| report.message.contains("dropped before")).count(),
            told.len() * 40 / reports
        );
    }
}

#[test]
fn an_executor_that_is_shut_down_ends_what_it_ran_and_what_comes() {
    let runtime = threads(2);
    let began = Arc::new(AtomicU64::new(0));
    let begins = began.clone();
    let handler = move |_: Turn, _: u64| {
        begins.fetch_add(1, Ordering::SeqCst);
        pending()
    };
    let dispatcher = build(builder(), on(&runtime), handler);
    (0..100).for_each(|event| dispatcher.dispatch(event % 10, event).unwrap());
    while began.load(Ordering::SeqCst) < 10 {
        thread::yield_now();
    }
    drop(runtime);
    dispatcher.wait_idle().unwrap();
    dispatcher.dispatch_sequential(1).unwrap();
    dispatcher.dispatch(1, 1).unwrap();
    drop(dispatcher.handle());
    let handle = dispatcher.handle();
    drop(dispatcher);
    let stats = handle.stats();
    assert_eq!((stats.cancelled, stats.depth), (102, 0));
    assert!(began.load(Ordering::SeqCst) >= 10);
}

#[test]
fn an_abort_waits_for_futures_that_run_and_drops_the_rest() {
    for round in 0..30 {
        let runtime = threads(2);
        let (ended, runs) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let (ends, run) = (ended.clone(), runs.clone());
        let handler = move |_: Turn, event: u64| {
            let (ends, run) = (ends.clone(), run.clone());
            async move {
                run.fetch_add(1, Ordering::SeqCst);
                for _ in 0..event % 20 {
                    yield_now().await;
                }
                ends.fetch_add(1, Ordering::SeqCst);
                run.fetch_sub(1, Ordering::SeqCst);
            }
        };
        let dispatcher = build(builder(), on(&runtime), handler);
        for event in 0..50 * round {
            match event % 50 {
                0 => dispatcher.dispatch_sequential(event),
                1 => dispatcher.dispatch_keys([event % 9, event % 7], event),
                _ => dispatcher.dispatch(event % 10, event),
            }
            .unwrap();
        }
        let dropped = abort(&dispatcher);
        assert_eq!(runs.load(Ordering::SeqCst), 0);
        assert_eq!(ended.load(Ordering::SeqCst) + dropped, 50 * round);
    }
}

/// A dispatcher whose future drops it waits for nobody.
#[test]
fn a_future_may_drop_its_dispatcher() {
    let runtime = threads(1);
    let (said, says) = channel();
    let own: Arc<Mutex<Option<Dispatcher<u64, u64>>>> = Arc::default();
    let mine = own.clone();
    let handler = move |_: Turn, _: u64| {
        let (mine, said) = (mine.clone(), said.clone());
        async move {
            let dispatcher = loop {
                match mine.lock().unwrap().take() {
                    Some(dispatcher) => break dispatcher,
                    None => thread::yield_now(),
                }
            };
            drop(dispatcher);
            said.send(()).unwrap();
        }
    };
    let dispatcher = build(builder(), on(&runtime), handler);
    dispatcher.dispatch(1, 1).unwrap();
    *own.lock().unwrap() = Some(dispatcher);
    says.recv_timeout(LONG).expect("it does not wait for itself");
}

/// A handler may poll the futures of another dispatcher; its own waits for it all the same.
#[test]
fn a_future_that_a_handler_polls_cannot_wait_for_that_handler() {
    let (spawn, spawned) = channel::<Task>();
    let spawned = Mutex::new(spawned);
    let poll = move |_: &warmcore_dispatch::Turn<'_, u64, u64>, _: u64| {
        let mut task = spawned.lock().unwrap().recv_timeout(LONG).unwrap();
        let mut context = Context::from_waker(Waker::noop());
        assert!(task.as_mut().poll(&mut context).is_ready());
    };
    let polling = Dispatcher::builder().workers(1).build(poll).unwrap();
    let (handle, (said, says)) = (polling.handle(), channel());
    let wait = move |_: Turn, _: u64| {
        said.send(handle.wait_idle()).unwrap();
        async {}
    };
    let polled = build(builder(), move |task| spawn.send(task).unwrap(), wait);
    polled.dispatch(1, 1).unwrap();
    polling.dispatch(1, 1).unwrap();
    assert_eq!(says.recv_timeout(LONG), Ok(Err(WaitsForItself)));
    polling.wait_idle().unwrap();
    assert_eq!(polling.panics(), []);
}
