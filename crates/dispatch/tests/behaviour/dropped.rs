//! States that are dropped: too many, idle, or because a handler says so.

use crate::{BINDINGS, builder};
use core::hash::{Hash, Hasher};
use core::time::Duration;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread::{panicking, sleep};
use std::time::Instant;
use warmcore_dispatch::{Dispatcher, InUse, OnPanic, Several, Then, Turn};

const EVENTS: u64 = if cfg!(miri) { 300 } else { 20_000 };

/// What has been dropped.
type Dropped = Mutex<Vec<(u64, u64)>>;

fn add(sum: &mut u64, amount: u64) {
    *sum += amount;
}

#[test]
fn the_state_unused_longest_is_dropped_when_there_are_too_many() {
    let dropped = Dropped::default();
    let note = |&key: &u64, sum| dropped.lock().unwrap().push((key, sum));
    let states = builder().workers(1).state(|_| 0).at_most(3).on_drop(note);
    let ((), left) = states
        .scope(add, |dispatcher| {
            for (key, amount) in [(0, 1), (1, 2), (2, 3), (0, 4), (3, 5), (2, 6), (1, 7)] {
                dispatcher.dispatch(key, amount).unwrap();
                dispatcher.wait_idle().unwrap();
            }
        })
        .unwrap();
    assert_eq!(dropped.into_inner().unwrap(), [(1, 2), (0, 5)]);
    assert_eq!(left, HashMap::from([(1, 7), (2, 9), (3, 5)]));
}

/// A timer sweeps, where no event comes.
#[test]
fn a_dispatcher_at_rest_drops_idle_states_when_it_is_swept() {
    const IDLE: Duration = Duration::from_millis(40);
    const STATES: u64 = 1_000;
    let dropped = Arc::new(Dropped::default());
    let noted = dropped.clone();
    let note = move |&key: &u64, sum| {
        noted.lock().unwrap().push((key, sum));
        assert_ne!(key, 7, "a full disk");
    };
    let states = builder().workers(1).state(|_| 0).drop_idle(IDLE).on_drop(note);
    let dispatcher = states.build(add).unwrap();
    (0..STATES).for_each(|key| dispatcher.dispatch(key, key).unwrap());
    dispatcher.wait_idle().unwrap();
    let since = Instant::now();
    let mut swept = dispatcher.sweep();
    assert!(swept == 0 || since.elapsed() >= IDLE, "too early");
    while swept < STATES {
        sleep(IDLE / 4);
        swept += dispatcher.sweep();
        assert!(since.elapsed() < Duration::from_secs(60), "{swept} were swept");
    }
    assert!(since.elapsed() >= IDLE - IDLE / 4, "too early");
    let mut dropped = std::mem::take(&mut *dropped.lock().unwrap());
    dropped.sort_unstable();
    assert!(dropped.into_iter().eq((0..STATES).map(|key| (key, key))));
    assert_eq!((dispatcher.state_count(), dispatcher.panics().len(), dispatcher.stats().panics), (0, 1, 1));
}

#[test]
fn idle_states_are_dropped_also_by_events_that_drop_their_own() {
    let handle = |_: &mut u64, event: u64| if event == 0 { Then::Keep } else { Then::Drop };
    let states = builder().workers(1).state(|_| 0).drop_idle(Duration::from_millis(20));
    let dispatcher = states.build(handle).unwrap();
    (0..100).for_each(|key| dispatcher.dispatch(key, 0).unwrap());
    let since = Instant::now();
    for event in 1.. {
        dispatcher.dispatch(1_000 + event % 100, event).unwrap();
        if event % 1_000 == 0 && dispatcher.state_count() <= 2 {
            break;
        }
        assert!(since.elapsed() < Duration::from_secs(60), "{} are left", dispatcher.state_count());
    }
}

/// What `on_drop` is at is in use.
#[test]
fn a_state_that_its_handler_drops_is_not_forgotten_meanwhile() {
    let (tell, told) = channel();
    let (go_on, wait) = channel::<()>();
    let (tell, wait) = (Mutex::new(tell), Mutex::new(wait));
    let note = move |_: &u64, _: u64| {
        tell.lock().unwrap().send(()).unwrap();
        let _ = wait.lock().unwrap().recv();
    };
    let states = builder().workers(1).state(|_| 0).on_drop(note);
    let dispatcher = states.build(|_: &mut u64, _: u64| Then::Drop).unwrap();
    dispatcher.dispatch(7, 0).unwrap();
    told.recv().unwrap();
    assert_eq!(dispatcher.forget(&7), Err(InUse));
    drop(go_on);
    dispatcher.wait_idle().unwrap();
    assert_eq!(dispatcher.forget(&7), Ok(None));
}

#[test]
fn no_key_that_is_used_all_the_time_is_dropped_for_others() {
    let note = |&key: &u64, _| assert_ne!(key, 0);
    // So little room that fewer than 200 events of other keys are handled between two of this one.
    let builder = builder().workers(2).capacity(64);
    let dispatcher = builder.state(|_| 0).at_most(200).on_drop(note).build(add).unwrap();
    for key in 1..EVENTS {
        dispatcher.dispatch(key, 1).unwrap();
        dispatcher.dispatch(0, 1).unwrap();
    }
    dispatcher.wait_idle().unwrap();
    assert_eq!(dispatcher.panics(), []);
    assert_eq!(dispatcher.state_count(), EVENTS.min(200));
    assert_eq!(dispatcher.into_states()[&0], EVENTS - 1);
}

#[test]
fn handlers_that_panic_keep_to_the_limit() {
    let fail = |_: &mut u64, event: u64| assert_ne!(event, 0, "after its state was made");
    let dispatcher = builder().workers(2).state(|_| 0).at_most(3).build(fail).unwrap();
    (0..100).for_each(|key| dispatcher.dispatch(key, 0).unwrap());
    dispatcher.wait_idle().unwrap();
    assert_eq!((dispatcher.stats().panics, dispatcher.state_count()), (100, 3));
}

/// A state that is made again finds what the one before has left, however long that takes to write.
#[test]
fn no_state_is_made_before_the_last_one_is_gone() {
    const KEYS: u64 = 24;
    for binding in BINDINGS {
        let stored: Mutex<HashMap<u64, u64>> = Mutex::default();
        let load = |key: &u64| stored.lock().unwrap().remove(key).unwrap_or(0);
        let drops = AtomicU64::new(0);
        let store = |&key: &u64, sum| {
            if drops.fetch_add(1, Ordering::Relaxed).is_multiple_of(64) {
                sleep(Duration::from_micros(200));
            }
            assert_eq!(stored.lock().unwrap().insert(key, sum), None, "twice at once");
        };
        let handle = Several(|_: &Turn<'_, u64, u64>, sums: &mut [&mut u64], number: u64| {
            sums.iter_mut().for_each(|sum| **sum += 1);
            assert!(!number.is_multiple_of(5), "after it was counted");
            if number.is_multiple_of(7) { Then::Drop } else { Then::Keep }
        });
        let builder = builder().workers(4).binding(binding).capacity(64);
        let states = builder.state(load).at_most(4).on_drop(store);
        let dispatched = states.scope(handle, |dispatcher| {
            for number in 0..EVENTS {
                match number % 3 {
                    0 => dispatcher.dispatch_keys([number % KEYS, number / 3 % KEYS], number).unwrap(),
                    _ => dispatcher.dispatch(number * number % KEYS, number).unwrap(),
                }
            }
            dispatcher.wait_idle().unwrap();
            assert!(dispatcher.panics().iter().all(|report| report.message == "after it was counted"));
        });
        let ((), left) = dispatched.unwrap();
        assert!(left.len() <= 4, "{} states, {binding:?}", left.len());
        let mut expected = HashMap::new();
        for number in 0..EVENTS {
            let keys = match number % 3 {
                0 => vec![number % KEYS, number / 3 % KEYS],
                _ => vec![number * number % KEYS],
            };
            let is_new = |place: usize| !keys[..place].contains(&keys[place]);
            let keys = (0..keys.len()).filter(|&place| is_new(place)).map(|place| keys[place]);
            keys.for_each(|key| *expected.entry(key).or_insert(0) += 1);
        }
        let mut found = stored.into_inner().unwrap();
        found.extend(left);
        assert_eq!(found, expected, "{binding:?}");
    }
}

#[test]
#[cfg_attr(miri, ignore = "its clock stands still")]
fn an_idle_state_is_dropped_and_not_too_soon() {
    const IDLE: Duration = Duration::from_millis(60);
    let began = Instant::now();
    let dropped = Mutex::new(Vec::new());
    let note = |&key: &u64, used: Instant| dropped.lock().unwrap().push((key, used.elapsed()));
    let use_it = |used: &mut Instant, _: u64| *used = Instant::now();
    let states = builder().workers(2).state(|_| Instant::now()).drop_idle(IDLE).on_drop(note);
    let ((), left) = states
        .scope(use_it, |dispatcher| {
            (0..100).for_each(|key| dispatcher.dispatch(key, 0).unwrap());
            let some_are_left =
                || (0..100).any(|key| !dropped.lock().unwrap().iter().any(|drop| drop.0 == key));
            while some_are_left() && began.elapsed() < Duration::from_secs(30) {
                (1_000..1_100).for_each(|key| dispatcher.dispatch(key, 0).unwrap());
            }
        })
        .unwrap();
    let dropped = dropped.into_inner().unwrap();
    assert!((0..100).all(|key| !left.contains_key(&key)), "{left:?}");
    assert!(dropped.iter().all(|(_, idle)| *idle >= IDLE), "{dropped:?}");
}

#[test]
fn a_handler_drops_the_states_of_its_keys() {
    let dropped = Dropped::default();
    let note = |&key: &u64, sum| dropped.lock().unwrap().push((key, sum));
    let handle = Several(|_: &Turn<'_, u64, u64>, sums: &mut [&mut u64], amount: u64| {
        sums.iter_mut().for_each(|sum| **sum += amount);
        if amount == 9 { Then::Drop } else { Then::Keep }
    });
    let states = builder().workers(2).state(|_| 0).on_drop(note);
    let ((), left) = states
        .scope(handle, |dispatcher| {
            dispatcher.dispatch(1, 2).unwrap();
            dispatcher.dispatch_keys([1, 2, 3], 9).unwrap();
            dispatcher.dispatch(1, 4).unwrap();
            dispatcher.dispatch_unordered(9).unwrap();
        })
        .unwrap();
    assert_eq!(dropped.into_inner().unwrap(), [(1, 11), (2, 9), (3, 9)]);
    assert_eq!(left, HashMap::from([(1, 4)]));
}

#[test]
fn a_panic_of_what_drops_states_is_told_of_the_key_whose_state_it_was() {
    let fail = |&key: &u64, _: u64| assert_ne!(key, 1, "cannot be written");
    let states = builder().workers(1).on_panic(OnPanic::Poison).state(|_| 0).at_most(1).on_drop(fail);
    let dispatcher = states.build(add).unwrap();
    for key in [1, 2, 1, 3] {
        dispatcher.dispatch(key, 5).unwrap();
        dispatcher.wait_idle().unwrap();
    }
    let reports = dispatcher.panics();
    assert_eq!(reports.len(), 1);
    assert_eq!(reports[0].keys, [1]);
    assert!(reports[0].message.contains("cannot be written"));
    let stats = dispatcher.stats();
    assert_eq!((stats.panics, stats.poisoned), (1, 1));
    assert_eq!(dispatcher.into_states(), HashMap::from([(3, 5)]));
}

/// What users' types do: one in so many of their acts panics.
#[derive(Default)]
struct Acts {
    done: AtomicU64,
    /// 0 for never.
    panics_at: AtomicU64,
    /// States that there are.
    states: AtomicI64,
}

impl Acts {
    fn act(&self) {
        let (done, at) = (self.done.fetch_add(1, Ordering::Relaxed), self.panics_at.load(Ordering::Relaxed));
        assert!(at == 0 || panicking() || !done.is_multiple_of(at), "an act of the user's types");
    }
}

struct Moody(u64, Arc<Acts>);

impl Clone for Moody {
    fn clone(&self) -> Self {
        self.1.act();
        Self(self.0, self.1.clone())
    }
}

impl PartialEq for Moody {
    fn eq(&self, other: &Self) -> bool {
        self.1.act();
        self.0 == other.0
    }
}

impl Eq for Moody {}

impl Hash for Moody {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.1.act();
        // Some keys have the same hash.
        (self.0 / 2).hash(state);
    }
}

impl Drop for Moody {
    fn drop(&mut self) {
        self.1.act();
    }
}

struct Live(u64, Arc<Acts>);

impl Drop for Live {
    fn drop(&mut self) {
        self.1.states.fetch_sub(1, Ordering::Relaxed);
        self.1.act();
    }
}

#[test]
fn whatever_users_types_do_each_state_is_dropped_once_and_the_rest_goes_on() {
    for panics_at in [3, 10, 101] {
        let acts = Arc::new(Acts::default());
        let new = |key: &Moody| {
            key.1.act();
            key.1.states.fetch_add(1, Ordering::Relaxed);
            Live(key.0, key.1.clone())
        };
        let foreign = AtomicU64::new(0);
        let handle = Several(|turn: &Turn<'_, Moody, u64>, states: &mut [&mut Live], event: u64| {
            let is_own = turn.keys().map(|key| key.0).eq(states.iter().map(|state| state.0));
            foreign.fetch_add(u64::from(!is_own), Ordering::Relaxed);
            if event.is_multiple_of(11) { Then::Drop } else { Then::Keep }
        });
        let builder = Dispatcher::<Moody, u64>::builder().workers(3).strands(2);
        let states = builder.state(new).at_most(5).drop_idle(Duration::ZERO);
        let dispatched = states.scope(handle, |dispatcher| {
            acts.panics_at.store(panics_at, Ordering::Relaxed);
            for event in 0..EVENTS {
                let key = |number| Moody(number % 20, acts.clone());
                // A key that panics here is not dispatched.
                let _ = catch_unwind(AssertUnwindSafe(|| match event % 4 {
                    0 => dispatcher.dispatch_keys([key(event), key(event / 4)], event),
                    _ => dispatcher.dispatch(key(event / 3), event),
                }));
            }
            dispatcher.wait_idle().unwrap();
            acts.panics_at.store(0, Ordering::Relaxed);
        });
        let ((), left) = dispatched.unwrap();
        assert!(left.len() <= 5, "{} states, {panics_at}", left.len());
        assert_eq!(acts.states.load(Ordering::Relaxed), left.len() as i64, "{panics_at}");
        assert_eq!(foreign.into_inner(), 0, "{panics_at}");
    }
}
