//! Order, exactly once, and never two with the same key at a time.

use crate::{BINDINGS, builder};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use warmcore_dispatch::{Binding, Dispatcher, Idle, Turn};

/// What is checked of each key.
#[derive(Default)]
struct Partition {
    busy: AtomicBool,
    next: AtomicU64,
}

impl Partition {
    /// An event with this `number` is handled: nobody else is here, and it is the next.
    fn handle(&self, number: u64) {
        assert!(!self.busy.swap(true, Ordering::Acquire), "two at once");
        assert_eq!(self.next.load(Ordering::Relaxed), number, "out of order");
        self.next.store(number + 1, Ordering::Relaxed);
        self.busy.store(false, Ordering::Release);
    }
}

fn keyed(rule: Binding, workers: usize, keys: u64, events: u64, capacity: usize) {
    let partitions: Vec<Partition> = (0..keys).map(|_| Partition::default()).collect();
    let handle =
        |turn: &Turn<'_, u64, u64>, number: u64| partitions[*turn.key().unwrap() as usize].handle(number);
    let builder = builder().workers(workers).binding(rule).capacity(capacity);
    let panics = builder
        .scope(handle, |dispatcher| {
            for event in 0..events {
                dispatcher.dispatch(event % keys, event / keys).unwrap();
            }
            dispatcher.wait_idle().unwrap();
            dispatcher.panics()
        })
        .unwrap();
    assert_eq!(panics, [], "{rule:?}");
    let handled: u64 = partitions.iter().map(|partition| partition.next.load(Ordering::Relaxed)).sum();
    assert_eq!(handled, events, "{rule:?}");
}

#[test]
fn events_of_a_key_are_handled_in_order_and_one_at_a_time() {
    for rule in BINDINGS {
        for keys in [1, 3, 64] {
            keyed(rule, 2, keys, 200_000, 64);
        }
    }
}

#[test]
fn with_more_workers_than_processors_and_tiny_queues_as_well() {
    for rule in BINDINGS {
        keyed(rule, 8, 16, 50_000, 2);
    }
}

#[test]
fn several_threads_may_dispatch() {
    for rule in BINDINGS {
        const PRODUCERS: u64 = 3;
        const EVENTS: u64 = 50_000;
        // A key belongs to one producer, so that there is an order to be kept.
        let partitions: Vec<Partition> = (0..4 * PRODUCERS).map(|_| Partition::default()).collect();
        let handle =
            |turn: &Turn<'_, u64, u64>, number: u64| partitions[*turn.key().unwrap() as usize].handle(number);
        let panics = builder().workers(2).binding(rule).capacity(32).scope(handle, |dispatcher| {
            std::thread::scope(|scope| {
                for producer in 0..PRODUCERS {
                    scope.spawn(move || {
                        for event in 0..EVENTS {
                            dispatcher.dispatch(4 * producer + event % 4, event / 4).unwrap();
                        }
                    });
                }
            });
            dispatcher.wait_idle().unwrap();
            dispatcher.panics()
        });
        assert_eq!(panics.unwrap(), [], "{rule:?}");
        let handled: u64 = partitions.iter().map(|partition| partition.next.load(Ordering::Relaxed)).sum();
        assert_eq!(handled, PRODUCERS * EVENTS, "{rule:?}");
    }
}

#[test]
fn a_sequential_event_runs_alone_between_what_was_before_and_what_comes_after() {
    const EVERY: u64 = 100;
    for rule in BINDINGS {
        let handled = AtomicU64::new(0);
        let running = AtomicU64::new(0);
        let handle = |turn: &Turn<'_, u64, u64>, number: u64| {
            let others = running.fetch_add(1, Ordering::SeqCst);
            if turn.key().is_none() {
                assert_eq!(others, 0, "not alone");
                assert_eq!(handled.load(Ordering::SeqCst), number, "not between the right ones");
            }
            handled.fetch_add(1, Ordering::SeqCst);
            running.fetch_sub(1, Ordering::SeqCst);
        };
        let panics = builder().workers(4).binding(rule).capacity(64).scope(handle, |dispatcher| {
            for event in 0..30_000 {
                if event % EVERY == 0 {
                    dispatcher.dispatch_sequential(event).unwrap();
                } else {
                    dispatcher.dispatch(event % 17, event).unwrap();
                }
            }
            dispatcher.wait_idle().unwrap();
            dispatcher.panics()
        });
        assert_eq!(panics.unwrap(), [], "{rule:?}");
        assert_eq!(handled.into_inner(), 30_000, "{rule:?}");
    }
}

/// Of any two events that share a key, the first is handled first, and not at the same time.
#[test]
fn mixes_of_events_obey_their_partial_order() {
    let seed = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos() as u64;
    println!("seed {seed}");
    let mut state = seed | 1;
    let mut random = move |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    const KEYS: u64 = 12;
    const EVENTS: u64 = 20_000;
    for rule in BINDINGS {
        let partitions: Vec<Partition> = (0..KEYS).map(|_| Partition::default()).collect();
        // What each event touches, and its number at each of those.
        let mut numbers = vec![0; KEYS as usize];
        let handled = AtomicU64::new(0);
        let handle = |_turn: &Turn<'_, u64, Vec<(u64, u64)>>, touched: Vec<(u64, u64)>| {
            touched.iter().for_each(|&(key, number)| partitions[key as usize].handle(number));
            handled.fetch_add(1, Ordering::Relaxed);
        };
        let panics = builder().workers(3).binding(rule).capacity(32).scope(handle, |dispatcher| {
            for _ in 0..EVENTS {
                let mut keys: Vec<u64> = match random(100) {
                    0..60 => vec![random(KEYS)],
                    60..90 => (0..2 + random(3)).map(|_| random(KEYS)).collect(),
                    90..98 => vec![],
                    _ => (0..KEYS).collect(),
                };
                keys.sort_unstable();
                keys.dedup();
                let mut number = |key: u64| {
                    numbers[key as usize] += 1;
                    (key, numbers[key as usize] - 1)
                };
                let touched: Vec<(u64, u64)> = keys.iter().map(|&key| number(key)).collect();
                match keys.len() as u64 {
                    0 => dispatcher.dispatch_unordered(touched).unwrap(),
                    KEYS => dispatcher.dispatch_sequential(touched).unwrap(),
                    1 => dispatcher.dispatch(keys[0], touched).unwrap(),
                    _ => dispatcher.dispatch_keys(keys, touched).unwrap(),
                }
            }
            dispatcher.wait_idle().unwrap();
            dispatcher.panics()
        });
        assert_eq!(panics.unwrap(), [], "{rule:?}, seed {seed}");
        assert_eq!(handled.into_inner(), EVENTS, "{rule:?}, seed {seed}");
    }
}

#[test]
fn no_key_waits_for_another_because_they_share_a_queue() {
    let (began, go_on) = (AtomicBool::new(false), AtomicBool::new(false));
    let handle = |turn: &Turn<'_, u64, u64>, _: u64| {
        if turn.key() == Some(&0) {
            began.store(true, Ordering::SeqCst);
            while !go_on.load(Ordering::SeqCst) {
                std::thread::yield_now();
            }
        } else if turn.key() == Some(&99) {
            go_on.store(true, Ordering::SeqCst);
        }
    };
    for (quick, first) in [(0, 1), (20_000, 99)] {
        began.store(false, Ordering::SeqCst);
        go_on.store(false, Ordering::SeqCst);
        builder()
            .workers(2)
            .strands(1)
            .scope(handle, |dispatcher| {
                // After these, one event more does not look as if it were to wait for long.
                (0..quick).for_each(|key| dispatcher.dispatch(1_000 + key, 0).unwrap());
                dispatcher.wait_idle().unwrap();
                // Both sleep by then, as long as nobody wakes them.
                std::thread::sleep(Duration::from_millis(20));
                dispatcher.dispatch(0, 0).unwrap();
                while !began.load(Ordering::SeqCst) {
                    std::thread::yield_now();
                }
                // The first of these keys waits for the last of them.
                (first..100).for_each(|key| dispatcher.dispatch(key, 0).unwrap());
            })
            .unwrap();
    }
}

#[test]
fn dedicated_workers_keep_order_too() {
    let partitions: Vec<Partition> = (0..8).map(|_| Partition::default()).collect();
    let handle =
        |turn: &Turn<'_, u64, u64>, number: u64| partitions[*turn.key().unwrap() as usize].handle(number);
    builder()
        .workers(2)
        .idle(Idle::Spin)
        .scope(handle, |dispatcher| {
            (0..100_000).for_each(|event| dispatcher.dispatch(event % 8, event / 8).unwrap());
        })
        .unwrap();
    assert!(partitions.iter().all(|partition| partition.next.load(Ordering::Relaxed) == 12_500));
}

/// A worker goes on to the next strand after a millisecond or an event, however slow the events have become.
#[test]
fn slow_events_of_one_key_do_not_hold_up_others_for_long() {
    let (slow, late) = (AtomicU64::new(0), AtomicU64::new(0));
    let handle = |turn: &Turn<'_, u64, u64>, _: u64| {
        if turn.key() == Some(&0) {
            std::thread::sleep(std::time::Duration::from_millis(2));
            slow.fetch_add(1, Ordering::Relaxed);
        } else {
            late.fetch_add(u64::from(slow.load(Ordering::Relaxed) > 200), Ordering::Relaxed);
        }
    };
    let builder = Dispatcher::<u64, u64>::builder().workers(1);
    let dispatched = builder.scope(handle, |dispatcher| {
        (0..400).for_each(|event| dispatcher.dispatch(0, event).unwrap());
        (1..100).for_each(|key| dispatcher.dispatch(key, 0).unwrap());
    });
    dispatched.unwrap();
    // Those that share its strand wait for all of it: one in 256 does.
    assert!(late.into_inner() < 10, "of 99");
}
