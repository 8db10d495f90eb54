//! Programs by which a reviewer broke this design's first form.

use std::collections::HashSet;
use std::hash::{Hash, Hasher};
use std::panic::resume_unwind;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};
use warmcore_dispatch::{DispatchError, Dispatcher, OnPanic, Overload, Request, Turn};

/// Waits until `is_so`, for some seconds; whether it was.
fn soon(is_so: impl Fn() -> bool) -> bool {
    let since = Instant::now();
    while !is_so() && since.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(1));
    }
    is_so()
}

/// The room of a strand is what is in it now, not what was when its worker filled the front.
#[test]
fn a_strand_beside_a_stuck_key_has_room_again() {
    let go_on = Arc::new(AtomicBool::new(false));
    let (wait, handled) = (go_on.clone(), Arc::new(AtomicU64::new(0)));
    let count = handled.clone();
    let handle = move |turn: &Turn<'_, u64, u64>, _: u64| {
        while turn.key() == Some(&0) && !wait.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
        count.fetch_add(1, Ordering::SeqCst);
    };
    let builder = Dispatcher::<u64, u64>::builder().workers(2).strands(1).capacity(64);
    let dispatcher = builder.overload(Overload::Reject).build(handle).unwrap();
    dispatcher.dispatch(0, 0).unwrap();
    for round in 1..=20 {
        (1..16).for_each(|key| dispatcher.dispatch(key, 0).unwrap());
        assert!(soon(|| handled.load(Ordering::SeqCst) == 15 * round), "another worker handles them");
    }
    go_on.store(true, Ordering::SeqCst);
    dispatcher.wait_idle().unwrap();
}

/// Events that wait for one that is still to be dispatched: whoever dispatches it is not held up while there is room.
#[test]
fn whoever_waits_goes_on_as_soon_as_there_is_any_room() {
    const ALL: u64 = 8;
    let arrived = Arc::new(AtomicU64::new(0));
    let count = arrived.clone();
    let handle = move |_: &Turn<'_, u64, u64>, meets: u64| {
        if meets == 1 {
            count.fetch_add(1, Ordering::SeqCst);
            while count.load(Ordering::SeqCst) < ALL {
                std::thread::yield_now();
            }
        }
    };
    let builder = Dispatcher::<u64, u64>::builder().workers(ALL as usize).capacity(ALL as usize);
    let dispatcher: Dispatcher<u64, u64> = builder.build(handle).unwrap();
    (1..ALL).for_each(|key| dispatcher.dispatch(key, 1).unwrap());
    // These fill what is left again and again.
    (0..100).for_each(|key| dispatcher.dispatch(100 + key, 0).unwrap());
    dispatcher.dispatch(0, 1).unwrap();
    dispatcher.wait_idle().unwrap();
    assert_eq!(arrived.load(Ordering::SeqCst), ALL);
}

/// A key whose drop always panics, when it is not a panic that drops it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Bitter(u64);

impl Drop for Bitter {
    fn drop(&mut self) {
        if self.0 == 1 && !std::thread::panicking() {
            resume_unwind(Box::new("at the drop of a key"));
        }
    }
}

#[test]
fn reports_of_panics_may_hold_keys_that_panic() {
    let handled = Arc::new(AtomicU64::new(0));
    let count = handled.clone();
    let handle = move |_: &Turn<'_, Bitter, u64>, _: u64| {
        count.fetch_add(1, Ordering::SeqCst);
        resume_unwind(Box::new("in the handler"));
    };
    let dispatcher: Dispatcher<Bitter, u64> =
        Dispatcher::<Bitter, u64>::builder().workers(2).build(handle).unwrap();
    (0..1_000).for_each(|event| dispatcher.dispatch(Bitter(1), event).unwrap());
    dispatcher.wait_idle().unwrap();
    assert_eq!(handled.load(Ordering::SeqCst), 1_000);
    dispatcher.panics().into_iter().for_each(std::mem::forget);
}

/// A key that panics when it is compared or hashed by a worker, as it is told.
#[derive(Clone, Debug)]
struct Shy(u64, Arc<AtomicBool>);

impl Shy {
    fn act(&self) {
        let is_worker = std::thread::current().name().is_some_and(|name| name.starts_with("dispatch-"));
        assert!(!is_worker || !self.1.load(Ordering::SeqCst), "not here");
    }
}

impl PartialEq for Shy {
    fn eq(&self, other: &Self) -> bool {
        self.act();
        self.0 == other.0
    }
}

impl Eq for Shy {}

impl Hash for Shy {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.act();
        self.0.hash(state);
    }
}

#[test]
fn a_key_is_counted_right_though_workers_cannot_compare_it() {
    let shy = Arc::new(AtomicBool::new(true));
    let handled = Arc::new(AtomicU64::new(0));
    let count = handled.clone();
    let handle = move |_: &Turn<'_, Shy, u64>, _: u64| _ = count.fetch_add(1, Ordering::SeqCst);
    let builder = Dispatcher::<Shy, u64>::builder().workers(1).key_limit(1);
    let dispatcher: Dispatcher<Shy, u64> = builder.build(handle).unwrap();
    for event in 0..50 {
        dispatcher.dispatch(Shy(7, shy.clone()), event).unwrap();
        dispatcher.wait_idle().unwrap();
        dispatcher.dispatch_freshest(Shy(7, shy.clone()), event).unwrap();
        dispatcher.wait_idle().unwrap();
    }
    assert_eq!(handled.load(Ordering::SeqCst), 100);
}

#[test]
fn a_waker_may_panic() {
    struct Angry;
    impl Wake for Angry {
        fn wake(self: Arc<Self>) {
            std::panic::resume_unwind(Box::new("not me"));
        }
    }
    let go_on = Arc::new(AtomicBool::new(false));
    let wait = go_on.clone();
    let handle = move |_: &Turn<'_, u64, u64>, _: u64| {
        while !wait.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
    };
    let dispatcher: Dispatcher<u64, u64> =
        Dispatcher::<u64, u64>::builder().workers(1).strands(1).capacity(16).build(handle).unwrap();
    (0..16).for_each(|event| dispatcher.dispatch(0, event).unwrap());
    let waker = Waker::from(Arc::new(Angry));
    let mut future = pin!(dispatcher.dispatch_async(0, 16));
    assert!(future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    go_on.store(true, Ordering::SeqCst);
    dispatcher.wait_idle().unwrap();
    assert!(matches!(future.as_mut().poll(&mut Context::from_waker(Waker::noop())), Poll::Ready(Ok(()))));
    dispatcher.wait_idle().unwrap();
    assert_eq!(dispatcher.stats().events, 17);
}

/// Whoever waits for an event that an abort has dropped is told, whether a panic has stopped all or somebody has.
#[test]
fn who_waits_for_an_event_that_was_dropped_is_told() {
    let answer = |_: &Turn<'_, u64, Request<u64, u64>>, number: u64| {
        std::thread::sleep(Duration::from_millis(20));
        if number == 0 {
            std::panic::resume_unwind(Box::new("stop"));
        }
        number
    };
    for by_panic in [true, false] {
        let builder = Dispatcher::<u64, Request<u64, u64>>::builder().workers(2).on_panic(OnPanic::Stop);
        let dispatcher = builder.build(Request::answered_by(answer)).unwrap();
        let handle = dispatcher.handle();
        let completions: Vec<_> = (0..50)
            .map(|number| {
                let (request, completion) = Request::new(number + u64::from(!by_panic));
                // It may be stopped already.
                drop(dispatcher.dispatch(1, request));
                completion
            })
            .collect();
        if !by_panic {
            handle.abort();
        }
        let answered = completions.into_iter().map(|completion| completion.wait().is_ok());
        assert!(answered.filter(|&is_ok| is_ok).count() <= 3);
        assert!(soon(|| handle.stats().depth == 0));
    }
}

#[test]
fn a_fresher_event_needs_no_room() {
    let go_on = Arc::new(AtomicBool::new(false));
    let (wait, seen) = (go_on.clone(), Arc::new(Mutex::new(HashSet::new())));
    let note = seen.clone();
    let handle = move |_: &Turn<'_, u64, u64>, event: u64| {
        while !wait.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
        note.lock().unwrap().insert(event);
    };
    let builder = Dispatcher::<u64, u64>::builder().workers(1).capacity(2).overload(Overload::Reject);
    let dispatcher: Dispatcher<u64, u64> = builder.build(handle).unwrap();
    dispatcher.dispatch(0, 0).unwrap();
    dispatcher.dispatch_freshest(1, 1).unwrap();
    assert_eq!(dispatcher.dispatch(2, 2), Err(DispatchError::Full(2)));
    dispatcher.dispatch_freshest(1, 3).unwrap();
    go_on.store(true, Ordering::SeqCst);
    dispatcher.wait_idle().unwrap();
    assert_eq!(*seen.lock().unwrap(), HashSet::from([0, 3]));
}

/// Even where it came in without room, in the place of the other.
#[test]
fn nothing_is_idle_while_an_event_is_dropped_that_a_fresher_one_has_replaced() {
    /// An event; the first one's drop lasts until the dispatcher is idle, or a while.
    struct Slow(Arc<AtomicBool>, bool);
    impl Drop for Slow {
        fn drop(&mut self) {
            if self.1 {
                std::thread::sleep(Duration::from_millis(100));
                assert!(!self.0.load(Ordering::SeqCst), "it was said to be idle");
            }
        }
    }
    let (idle, go_on) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let (wait, began) = (go_on.clone(), Arc::new(AtomicBool::new(false)));
    let begins = began.clone();
    let handle = move |turn: &Turn<'_, u64, Slow>, _: Slow| {
        begins.store(true, Ordering::SeqCst);
        while turn.key() == Some(&0) && !wait.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
    };
    let builder = Dispatcher::<u64, Slow>::builder().workers(1).capacity(2).overload(Overload::Reject);
    let dispatcher: Dispatcher<u64, Slow> = builder.build(handle).unwrap();
    let event = |is_slow| Slow(idle.clone(), is_slow);
    assert!(dispatcher.dispatch(0, event(false)).is_ok());
    // Or the worker may begin with the other key.
    assert!(soon(|| began.load(Ordering::SeqCst)));
    assert!(dispatcher.dispatch_freshest(1, event(true)).is_ok());
    std::thread::scope(|scope| {
        let replaces = scope.spawn(|| dispatcher.dispatch_freshest(1, event(false)).is_ok());
        assert!(soon(|| dispatcher.stats().superseded == 1));
        go_on.store(true, Ordering::SeqCst);
        dispatcher.wait_idle().unwrap();
        idle.store(true, Ordering::SeqCst);
        assert!(replaces.join().unwrap());
    });
}

/// Both the key and the event panic as they are dropped, also while something else panics: two panics at once would end the
/// process.
#[test]
fn all_that_waits_may_panic_when_an_abort_drops_it() {
    struct Bomb(Arc<AtomicBool>);
    impl Drop for Bomb {
        fn drop(&mut self) {
            if self.0.load(Ordering::SeqCst) {
                resume_unwind(Box::new("as planned"));
            }
        }
    }
    #[derive(Clone)]
    struct Key {
        id: u64,
        _bomb: Arc<Bomb>,
    }
    impl PartialEq for Key {
        fn eq(&self, other: &Self) -> bool {
            self.id == other.id
        }
    }
    impl Eq for Key {}
    impl Hash for Key {
        fn hash<H: Hasher>(&self, state: &mut H) {
            self.id.hash(state);
        }
    }
    let armed = Arc::new(AtomicBool::new(false));
    let bomb = || Bomb(armed.clone());
    let key = |id| Key { id, _bomb: Arc::new(bomb()) };
    let (go_on, wait) = channel::<()>();
    let wait = Mutex::new(wait);
    let handle = move |_: &Turn<'_, Key, Bomb>, _: Bomb| _ = wait.lock().unwrap().recv();
    let dispatcher = Dispatcher::builder().workers(1).strands(4).build(handle).unwrap();
    dispatcher.dispatch_unordered(bomb()).unwrap();
    for id in 0..10 {
        dispatcher.dispatch(key(id), bomb()).unwrap();
        dispatcher.dispatch_freshest(key(20 + id), bomb()).unwrap();
        dispatcher.dispatch_keys([key(id), key(40), key(50 + id)], bomb()).unwrap();
        dispatcher.dispatch_unordered(bomb()).unwrap();
    }
    dispatcher.dispatch_sequential(bomb()).unwrap();
    dispatcher.dispatch(key(1), bomb()).unwrap();
    dispatcher.dispatch_keys([key(1), key(2)], bomb()).unwrap();
    armed.store(true, Ordering::SeqCst);
    dispatcher.abort();
    let refused = dispatcher.dispatch_keys([key(1), key(2)], bomb()).unwrap_err();
    drop(go_on);
    dispatcher.wait_idle().unwrap();
    let stats = dispatcher.stats();
    assert_eq!((stats.events + stats.discarded, stats.depth), (44, 0));
    armed.store(false, Ordering::SeqCst);
    drop(refused);
}
