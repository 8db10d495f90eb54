//! Programs that broke an earlier design: each promise under the load that is worst for it.

use std::cell::Cell;
use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier, Mutex};
use std::time::{Duration, Instant};
use warmcore_dispatch::{Binding, Dispatcher, Handle, OnPanic, Turn};

/// Sixteen sources, each in order, whose handlers dispatch to keys of a second stage: those come in the order of
/// their source, at whatever capacity.
#[test]
fn what_handlers_dispatch_is_in_order() {
    const SOURCES: u64 = 16;
    const STAGES: u64 = 3;
    const EVENTS: u64 = 2_000;
    for capacity in [1, 2, 256, 8_192] {
        for workers in [2, 4] {
            let last: Vec<AtomicU64> = (0..SOURCES * STAGES).map(|_| AtomicU64::new(0)).collect();
            let wrong = AtomicU64::new(0);
            let handle = |turn: &Turn<'_, u64, u64>, number: u64| {
                let key = *turn.key().unwrap();
                let before = last[key as usize].swap(number, Ordering::Relaxed);
                wrong.fetch_add(u64::from(before + 1 != number), Ordering::Relaxed);
                if key < SOURCES * (STAGES - 1) {
                    turn.dispatch(key + SOURCES, number).unwrap();
                }
            };
            let builder = Dispatcher::<u64, u64>::builder().workers(workers).capacity(capacity);
            let done = builder.scope(handle, |dispatcher| {
                for number in 1..=EVENTS {
                    (0..SOURCES).for_each(|source| dispatcher.dispatch(source, number).unwrap());
                }
            });
            done.unwrap();
            assert_eq!(wrong.into_inner(), 0, "capacity {capacity}, {workers} workers");
            assert!(last.iter().all(|last| last.load(Ordering::Relaxed) == EVENTS));
        }
    }
}

/// A key whose hash is that of all others.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Colliding(u64);

impl Hash for Colliding {
    fn hash<H: Hasher>(&self, state: &mut H) {
        0_u64.hash(state);
    }
}

#[test]
fn keys_whose_hashes_agree_are_never_taken_for_one_another() {
    for binding in [Binding::Dynamic, Binding::Static] {
        let busy: Vec<AtomicBool> = (0..8).map(|_| AtomicBool::new(false)).collect();
        let next: Vec<AtomicU64> = (0..8).map(|_| AtomicU64::new(0)).collect();
        let wrong = AtomicU64::new(0);
        let handle = |turn: &Turn<'_, Colliding, u64>, number: u64| {
            for key in turn.keys() {
                let key = key.0 as usize;
                let is_wrong = busy[key].swap(true, Ordering::Relaxed)
                    || next[key].swap(number + 1, Ordering::Relaxed) > number;
                wrong.fetch_add(u64::from(is_wrong), Ordering::Relaxed);
            }
            turn.keys().for_each(|key| busy[key.0 as usize].store(false, Ordering::Relaxed));
        };
        let builder = Dispatcher::<Colliding, u64>::builder().workers(4).binding(binding).capacity(64);
        let done = builder.scope(handle, |dispatcher| {
            for number in 0..20_000 {
                match number % 5 {
                    0 => dispatcher
                        .dispatch_keys([Colliding(number % 8), Colliding(number % 7)], number)
                        .unwrap(),
                    _ => dispatcher.dispatch(Colliding(number % 8), number).unwrap(),
                }
            }
        });
        done.unwrap();
        assert_eq!(wrong.into_inner(), 0, "{binding:?}");
    }
}

/// Lets a key sleep, with events waiting behind it, and dispatches to a thousand others; how many of those had nothing
/// handled when the sleeper woke.
#[test]
fn a_key_that_sleeps_delays_no_more_than_its_own_strand() {
    const OTHERS: u64 = 1_000;
    const WAITING: u64 = 2_000;
    let handled: Vec<AtomicU64> = (0..=OTHERS).map(|_| AtomicU64::new(0)).collect();
    let wake = AtomicBool::new(false);
    let handle = |turn: &Turn<'_, u64, ()>, ()| {
        let key = *turn.key().unwrap();
        while key == 0 && !wake.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(1));
        }
        handled[key as usize].fetch_add(1, Ordering::Relaxed);
    };
    let finished = Dispatcher::<u64, ()>::builder().workers(2).scope(handle, |dispatcher| {
        (0..WAITING).for_each(|_| dispatcher.dispatch(0, ()).unwrap());
        for _ in 0..20 {
            (1..=OTHERS).for_each(|key| dispatcher.dispatch(key, ()).unwrap());
        }
        let finished = || handled[1..].iter().filter(|handled| handled.load(Ordering::Relaxed) == 20).count();
        let since = Instant::now();
        while finished() < OTHERS as usize && since.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(1));
        }
        let finished = finished();
        wake.store(true, Ordering::Relaxed);
        finished
    });
    // Another worker takes even those of the same strand past the sleeper.
    assert_eq!(finished.unwrap(), OTHERS as usize);
    assert_eq!(handled[0].load(Ordering::Relaxed), WAITING);
}

/// Handlers of different keys wait for each other, wherever the keys hash to, and whatever came before.
#[test]
fn handlers_of_two_keys_may_meet() {
    for strands in [1, 1_024] {
        for before in [0, 10_000] {
            let meeting = Barrier::new(2);
            let handle = |_: &Turn<'_, u64, bool>, meets: bool| {
                if meets {
                    meeting.wait();
                }
            };
            let builder = Dispatcher::<u64, bool>::builder().workers(2).strands(strands);
            let done = builder.scope(handle, |dispatcher| {
                (0..before).for_each(|key| dispatcher.dispatch(key, false).unwrap());
                for pair in 0..20 {
                    dispatcher.dispatch(2 * pair, true).unwrap();
                    dispatcher.dispatch(2 * pair + 1, true).unwrap();
                    // Each takes both workers.
                    dispatcher.wait_idle().unwrap();
                }
            });
            done.unwrap();
        }
    }
}

/// What panics at its drop, once, and counts drops.
#[derive(Debug)]
struct Fragile {
    dropped: Arc<AtomicU64>,
    panics: bool,
}

impl Drop for Fragile {
    fn drop(&mut self) {
        self.dropped.fetch_add(1, Ordering::SeqCst);
        assert!(!self.panics || std::thread::panicking(), "at its drop");
    }
}

/// A key that panics when it is cloned, compared, hashed or dropped, as it is told.
#[derive(Debug)]
struct Moody {
    name: u64,
    panics: Option<Act>,
    dropped: Arc<AtomicU64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Act {
    Clone,
    Compare,
    Hash,
    Drop,
}

impl Moody {
    fn act(&self, act: Act) {
        if self.panics == Some(act) && !std::thread::panicking() {
            panic!("at {act:?}");
        }
    }
}

impl Clone for Moody {
    fn clone(&self) -> Self {
        self.act(Act::Clone);
        Self { name: self.name, panics: None, dropped: Arc::default() }
    }
}

impl PartialEq for Moody {
    fn eq(&self, other: &Self) -> bool {
        self.act(Act::Compare);
        self.name == other.name
    }
}

impl Eq for Moody {}

impl Hash for Moody {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.act(Act::Hash);
        self.name.hash(state);
    }
}

impl Drop for Moody {
    fn drop(&mut self) {
        self.dropped.fetch_add(1, Ordering::SeqCst);
        self.act(Act::Drop);
    }
}

/// Calls `work` and says whether it has panicked.
fn panics(work: impl FnOnce()) -> bool {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).is_err()
}

#[test]
fn whatever_users_types_do_each_value_is_dropped_once_and_the_rest_goes_on() {
    for on_panic in [OnPanic::Skip, OnPanic::Poison] {
        for act in [Act::Clone, Act::Compare, Act::Hash, Act::Drop] {
            for limit in [None, Some(8)] {
                let (keys, events) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
                let handled = AtomicU64::new(0);
                let handle = |_: &Turn<'_, Moody, Fragile>, event: Fragile| {
                    handled.fetch_add(1, Ordering::SeqCst);
                    drop(event);
                };
                let builder = Dispatcher::<Moody, Fragile>::builder().workers(2).on_panic(on_panic);
                let builder = match limit {
                    Some(limit) => builder.key_limit(limit),
                    None => builder,
                };
                let done = builder.scope(handle, |dispatcher| {
                    for number in 0..400_u64 {
                        let panics_now = number % 40 == 7;
                        let moody = |name, panics| Moody { name, panics, dropped: keys.clone() };
                        let key = moody(number, panics_now.then_some(act));
                        let event = Fragile { dropped: events.clone(), panics: number % 40 == 9 };
                        let dispatched = || match number % 4 {
                            0 => drop(dispatcher.dispatch_freshest(key, event)),
                            1 => drop(dispatcher.dispatch_keys([key, moody(1_000, None)], event)),
                            _ => drop(dispatcher.dispatch(key, event)),
                        };
                        panics(dispatched);
                    }
                    dispatcher.wait_idle().unwrap();
                    assert_eq!(dispatcher.stats().depth, 0, "{act:?}");
                });
                done.unwrap();
                assert_eq!(events.load(Ordering::SeqCst), 400, "{act:?}, {on_panic:?}, {limit:?}");
                assert_eq!(keys.load(Ordering::SeqCst), 500, "{act:?}, {on_panic:?}, {limit:?}");
                // A key that all events of several keys touch may be poisoned.
                let least = if on_panic == OnPanic::Poison { 250 } else { 350 };
                assert!(handled.into_inner() >= least, "{act:?}, {on_panic:?}, {limit:?}");
            }
        }
    }
}

/// What a handler panics with, and which panics in turn when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            std::panic::resume_unwind(Box::new("at the drop of what a handler panicked with"));
        }
    }
}

#[test]
fn what_a_handler_panics_with_may_panic_too() {
    let handled = AtomicU64::new(0);
    let handle = |_: &Turn<'_, u64, u64>, event: u64| {
        if event.is_multiple_of(10) {
            std::panic::resume_unwind(Box::new(Bomb));
        }
        handled.fetch_add(1, Ordering::Relaxed);
    };
    let stats = Dispatcher::<u64, u64>::builder().workers(2).scope(handle, |dispatcher| {
        (0..1_000).for_each(|event| dispatcher.dispatch(event % 7, event).unwrap());
        dispatcher.wait_idle().unwrap();
        dispatcher.stats()
    });
    let stats = stats.unwrap();
    assert_eq!((handled.into_inner(), stats.panics, stats.events), (900, 100, 1_000));
}

#[test]
fn a_handler_may_drop_the_last_handle() {
    let (ended, ends) = channel();
    let slot: Arc<Mutex<Option<Dispatcher<u64, u64>>>> = Arc::default();
    let inside = slot.clone();
    let handle = move |_: &Turn<'_, u64, u64>, event: u64| {
        if event == 0 {
            drop(inside.lock().unwrap().take());
        }
        let _ = ended.send(event);
    };
    let dispatcher: Dispatcher<u64, u64> =
        Dispatcher::<u64, u64>::builder().workers(2).build(handle).unwrap();
    let outside = dispatcher.handle();
    // The first event waits until the dispatcher is where its handler finds it.
    let mut guard = slot.lock().unwrap();
    outside.dispatch(1, 0).unwrap();
    (1..10).for_each(|event| outside.dispatch(event, event).unwrap());
    *guard = Some(dispatcher);
    drop(guard);
    let mut seen: Vec<u64> = (0..10).map(|_| ends.recv_timeout(Duration::from_secs(20)).unwrap()).collect();
    seen.sort_unstable();
    assert_eq!(seen, (0..10).collect::<Vec<_>>());
    assert!(outside.dispatch(1, 1).is_err(), "it is closed");
}

/// Each of two dispatchers feeds the other, in which there is hardly any room.
#[test]
fn dispatchers_may_feed_each_other() {
    thread_local! {
        static DEPTH: Cell<u64> = const { Cell::new(0) };
    }
    type Other = Arc<Mutex<Option<Handle<u64, u64>>>>;
    let (left, right): (Other, Other) = Default::default();
    let handled = Arc::new(AtomicU64::new(0));
    let build = |to: &Other| {
        let (to, handled) = (to.clone(), handled.clone());
        let handle = move |_: &Turn<'_, u64, u64>, left: u64| {
            handled.fetch_add(1, Ordering::SeqCst);
            if left > 0 {
                let to = to.lock().unwrap().clone().unwrap();
                (0..2).for_each(|key| to.dispatch(key, left - 1).unwrap());
            }
        };
        Dispatcher::<u64, u64>::builder().workers(1).capacity(2).build(handle).unwrap()
    };
    let (first, second) = (build(&left), build(&right));
    *left.lock().unwrap() = Some(second.handle());
    *right.lock().unwrap() = Some(first.handle());
    (0..4).for_each(|key| first.dispatch(key, 8).unwrap());
    let since = Instant::now();
    while handled.load(Ordering::SeqCst) < 4 * 511 && since.elapsed() < Duration::from_secs(20) {
        std::thread::yield_now();
    }
    assert_eq!(handled.load(Ordering::SeqCst), 4 * 511);
    (*left.lock().unwrap(), *right.lock().unwrap()) = (None, None);
}

/// Each poll of a future that waits replaces its waker.
#[test]
fn a_future_that_is_polled_often_keeps_one_waker() {
    use std::task::{Context, Poll, Wake, Waker};
    struct Counted;
    impl Wake for Counted {
        fn wake(self: Arc<Self>) {}
    }
    let go_on = Arc::new(AtomicBool::new(false));
    let wait = go_on.clone();
    let handle = move |_: &Turn<'_, u64, u64>, _: u64| {
        while !wait.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
    };
    let dispatcher: Dispatcher<u64, u64> =
        Dispatcher::<u64, u64>::builder().workers(1).capacity(1).build(handle).unwrap();
    dispatcher.dispatch(0, 0).unwrap();
    let counted = Arc::new(Counted);
    let waker = Waker::from(counted.clone());
    let mut future = std::pin::pin!(dispatcher.dispatch_async(1, 1));
    for _ in 0..10_000 {
        assert!(future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        assert!(Arc::strong_count(&counted) <= 3, "one here, one of ours, one that waits");
    }
    go_on.store(true, Ordering::SeqCst);
    dispatcher.wait_idle().unwrap();
    assert!(matches!(future.as_mut().poll(&mut Context::from_waker(&waker)), Poll::Ready(Ok(()))));
}

#[test]
fn a_handler_that_would_wait_for_itself_is_told() {
    let errors = AtomicU64::new(0);
    let handle = |turn: &Turn<'_, u64, u64>, _: u64| {
        errors.fetch_add(u64::from(turn.wait_idle().is_err()), Ordering::Relaxed);
        errors.fetch_add(u64::from(turn.drain(Duration::MAX).is_err()), Ordering::Relaxed);
    };
    Dispatcher::<u64, u64>::builder()
        .workers(1)
        .scope(handle, |dispatcher| dispatcher.dispatch(1, 1))
        .unwrap()
        .unwrap();
    assert_eq!(errors.into_inner(), 2);
}

/// Events of many keys in a table of their own: nothing is lost or counted twice at any capacity.
#[test]
fn sums_by_key_are_exact_at_every_capacity() {
    for capacity in [1, 2, 3, 17, 8_192] {
        let sums: Mutex<HashMap<u64, u64>> = Mutex::default();
        let handle = |turn: &Turn<'_, u64, u64>, amount: u64| {
            *sums.lock().unwrap().entry(*turn.key().unwrap()).or_default() += amount;
        };
        let builder = Dispatcher::<u64, u64>::builder().workers(3).capacity(capacity);
        builder
            .scope(handle, |dispatcher| {
                std::thread::scope(|scope| {
                    for _ in 0..3 {
                        scope.spawn(|| (0..3_000).for_each(|n| dispatcher.dispatch(n % 50, n).unwrap()));
                    }
                });
            })
            .unwrap();
        let sums = sums.into_inner().unwrap();
        assert!(
            (0..50).all(|key| sums[&key] == 3 * (0..60).map(|n| 50 * n + key).sum::<u64>()),
            "{capacity}"
        );
    }
}

/// Also more than two, of one strand or of few, while other workers are free.
#[test]
fn handlers_of_many_keys_may_meet() {
    for (strands, keys, workers) in [(1, 3, 4), (1, 4, 8), (2, 4, 8)] {
        for _ in 0..5 {
            let met = AtomicU64::new(0);
            let handle = |_: &Turn<'_, u64, u64>, _: u64| {
                met.fetch_add(1, Ordering::SeqCst);
                let since = Instant::now();
                while met.load(Ordering::SeqCst) < keys {
                    assert!(since.elapsed() < Duration::from_secs(20), "the others do not come");
                    std::thread::sleep(Duration::from_micros(100));
                }
            };
            let builder = Dispatcher::<u64, u64>::builder().workers(workers).strands(strands);
            let panics = builder.scope(handle, |dispatcher| {
                // All workers sleep.
                std::thread::sleep(Duration::from_millis(20));
                (0..keys).for_each(|key| dispatcher.dispatch(key, 1).unwrap());
                dispatcher.wait_idle().unwrap();
                dispatcher.panics()
            });
            assert_eq!(panics.unwrap(), [], "{strands} strands, {keys} keys, {workers} workers");
        }
    }
}
