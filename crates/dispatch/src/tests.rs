//! Queues with real threads, small enough for Miri: `cargo +nightly miri test -p warmcore-dispatch
//! --lib`. Events are boxed and labels own memory, so that Miri finds what is lost, read after it
//! was freed, or freed twice.

use crate::joint::{Barrier, KeySet};
use crate::label::{Label, Seen, Tagged};
use crate::queue::{Claim, Joint, Queue, QueueRule};
use crate::ring::Refused;
use crate::sync::Arc;
use crate::{Dispatcher, OnPanic, Rule, Turn};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

/// What stands in a queue: the key owns memory, and the event tells who sent it and the number.
type Boxed = Queue<String, Box<(u32, u64)>>;

const KEYS: u32 = 3;

fn queue<K: Eq, E>(index: usize, capacity: usize, window: u64) -> Queue<K, E> {
    Queue::new(capacity, QueueRule { index, window, shared: true, exact: true })
}

fn tagged(key: u32) -> Tagged<String> {
    Tagged { tag: key << 2 | 2, freshest: false, key: key.to_string() }
}

fn put<K: Eq, E>(queue: &Queue<K, E>, label: Label<K, E>, event: Option<E>) {
    loop {
        match queue.ring().reserve() {
            Ok(place) => return place.fill(label, event),
            Err(refused) => {
                assert_eq!(refused, Refused::Full);
                thread::yield_now();
            }
        }
    }
}

/// Claims until as many events have run as there are, and checks the order of each producer.
fn work(queue: &Boxed, next: &[Mutex<u64>], left: &AtomicU64, mut turn: impl FnMut(&Boxed, &mut Claim)) {
    let mut claim = Claim::default();
    while left.load(Ordering::Relaxed) > 0 || !claim.is_empty() {
        turn(queue, &mut claim);
        if claim.is_empty() {
            thread::yield_now();
        }
        queue.run(&mut claim, |_, label, event| {
            let (Seen::Key(key), Some(event)) = (label, event) else { unreachable!() };
            assert_eq!(*key.key, event.0.to_string());
            let mut next = next[event.0 as usize].try_lock().expect("nobody else is at this key");
            assert_eq!(*next, event.1, "in the order of the producer");
            *next += 1;
            left.fetch_sub(1, Ordering::Relaxed);
        });
    }
}

#[test]
fn producers_and_thieves_at_a_ring_that_wraps_around() {
    const EACH: u64 = 20;
    let queue: Boxed = queue(0, 4, 4);
    let next: Vec<Mutex<u64>> = (0..KEYS).map(|_| Mutex::new(0)).collect();
    let left = AtomicU64::new(u64::from(KEYS) * EACH);
    thread::scope(|scope| {
        for producer in 0..KEYS {
            let queue = &queue;
            scope.spawn(move || {
                for number in 0..EACH {
                    put(queue, Label::Key(tagged(producer)), Some(Box::new((producer, number))));
                }
            });
        }
        scope.spawn(|| work(&queue, &next, &left, |queue, claim| drop(queue.turn(claim, 2, |_| {}))));
        scope.spawn(|| {
            work(&queue, &next, &left, |queue, claim| {
                if !claim.is_empty() {
                    queue.release(claim);
                }
                queue.try_claim(claim, 1, |_| {});
            });
        });
    });
    assert_eq!(queue.ring().len(), 0);
    assert_eq!(queue.ring().head(), u64::from(KEYS) * EACH);
}

#[test]
fn what_is_in_every_state_is_dropped_with_the_queue() {
    let queue: Boxed = queue(0, 8, 8);
    for number in 0..2 {
        put(&queue, Label::Key(tagged(0)), Some(Box::new((0, number))));
    }
    let mut first = Claim::default();
    queue.turn(&mut first, 1, |_| {});
    // Key 0 must wait, but 1 can run: passed over, and done behind what is claimed.
    put(&queue, Label::Key(tagged(1)), Some(Box::new((1, 0))));
    let mut second = Claim::default();
    let found = queue.try_claim(&mut second, 8, |_| {}).unwrap();
    assert_eq!((second.len(), found.conflicts), (1, 1));
    queue.run(&mut second, |_, _, _| {});
    queue.release(&mut second);
    // Joint events that never run.
    let set = Arc::new(KeySet::new([tagged(0), tagged(2)].into_iter().collect(), 0..2, Box::new((2, 0))));
    put(&queue, Label::Keys(set), None);
    put(&queue, Label::Sequential(Arc::new(Barrier::new(2, Box::new((3, 0))))), None);
    put(&queue, Label::Unordered, Some(Box::new((4, 0))));
    queue.run(&mut first, |_, _, _| {});
    queue.release(&mut first);
    assert_eq!((queue.ring().head(), queue.ring().tail()), (1, 6));
    drop(queue);
}

#[test]
fn what_waits_for_the_key_in_hand_is_looked_at_once() {
    let queue: Boxed = queue(0, 16, 16);
    let put_key = |key, number| put(&queue, Label::Key(tagged(key)), Some(Box::new((key, number))));
    let mut order = Vec::new();
    let mut run = |claim: &mut Claim| queue.run(claim, |_, _, event| order.extend(event));
    (0..6).for_each(|number| put_key(0, number));
    let (mut first, mut second) = (Claim::default(), Claim::default());
    queue.turn(&mut first, 2, |_| {});
    assert_eq!(queue.try_claim(&mut second, 8, |_| {}).unwrap().conflicts, 4);
    assert_eq!(queue.try_claim(&mut second, 8, |_| {}).unwrap().conflicts, 0);
    put_key(0, 6);
    put_key(1, 7);
    // What has come since is, and the other key does not wait.
    assert_eq!(queue.try_claim(&mut second, 8, |_| {}).unwrap().conflicts, 1);
    run(&mut second);
    queue.release(&mut second);
    // The key in hand stays the same, and some of what it has is claimed.
    run(&mut first);
    queue.turn(&mut first, 2, |_| {});
    assert_eq!(queue.try_claim(&mut second, 8, |_| {}).unwrap().conflicts, 3);
    run(&mut first);
    // Another key is in hand, and all of the first can run.
    queue.release(&mut first);
    (8..10).for_each(|number| put_key(2, number));
    assert_eq!(queue.turn(&mut second, 8, |_| {}).conflicts, 0);
    run(&mut second);
    queue.release(&mut second);
    let numbers: Vec<u64> = order.iter().map(|event| event.1).collect();
    assert_eq!(numbers, [7, 0, 1, 2, 3, 4, 5, 6, 8, 9]);
    assert_eq!(queue.ring().len(), 0);
}

#[test]
fn what_is_cleared_is_handed_over_once() {
    let queue: Boxed = queue(0, 8, 8);
    for number in 0..3 {
        put(&queue, Label::Key(tagged(0)), Some(Box::new((0, number))));
    }
    put(&queue, Label::Sequential(Arc::new(Barrier::new(1, Box::new((3, 0))))), None);
    put(&queue, Label::Unordered, Some(Box::new((4, 0))));
    let mut claim = Claim::default();
    queue.turn(&mut claim, 1, |_| {});
    queue.ring().close();
    assert_eq!(queue.ring().reserve().err(), Some(Refused::Closed));
    let mut discarded = Vec::new();
    queue.clear(|label, event| match label {
        Seen::Sequential(barrier) => discarded.extend(barrier.withdraw()),
        _ => discarded.extend(event),
    });
    let sorted: Vec<_> = discarded.iter().map(|event| **event).collect();
    assert_eq!(sorted, [(0, 1), (0, 2), (3, 0), (4, 0)]);
    assert_eq!(queue.ring().head(), 0, "one is still claimed");
    queue.run(&mut claim, |_, _, event| assert_eq!(event, Some(Box::new((0, 0)))));
    assert!(!queue.release(&mut claim));
}

#[test]
fn a_panic_loses_one_event() {
    let queue: Boxed = queue(0, 4, 4);
    for number in 0..3 {
        put(&queue, Label::Key(tagged(0)), Some(Box::new((0, number))));
    }
    let (mut claim, mut seen) = (Claim::default(), Vec::new());
    queue.turn(&mut claim, 4, |_| {});
    let first = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        queue.run(&mut claim, |_, _, event| {
            let (_, number) = *event.unwrap();
            assert_ne!(number, 1, "this one panics");
            seen.push(number);
        });
    }));
    assert!(first.is_err());
    assert!(matches!(queue.last_label(&claim), Some(Seen::Key(key)) if key.key == "0"));
    queue.run(&mut claim, |_, _, event| seen.push(event.unwrap().1));
    assert!(!queue.release(&mut claim));
    assert_eq!(seen, [0, 2]);
}

#[test]
fn events_with_keys_run_round_the_end_of_the_ring_and_after_a_panic() {
    let queue: Boxed = queue(0, 4, 4);
    let (mut claim, mut seen) = (Claim::default(), Vec::new());
    for start in [0, 3, 6, 9] {
        for number in start..start + 3 {
            put(&queue, Label::Key(tagged(number)), Some(Box::new((number, 0))));
        }
        assert!(queue.ring().has_more_than(2) && !queue.ring().has_more_than(3));
        queue.turn(&mut claim, 3, |_| {});
        assert!(claim.is_keyed());
        let run = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            queue.run_keyed(&mut claim, |position, key, event| {
                assert_eq!((position, &key[..]), (event.0.into(), &event.0.to_string()[..]));
                assert_ne!(event.0, 7, "this one panics");
                seen.push(event.0);
            });
        }));
        assert_eq!(run.is_err(), start == 6);
        queue.run_keyed(&mut claim, |_, _, event| seen.push(event.0));
        assert!(!queue.release(&mut claim));
    }
    assert_eq!(seen, [0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11]);
    assert!(
        !queue.ring().has_more_than(0) && !queue.ring().has_more_than(4),
        "no more than there is room for"
    );
}

#[test]
fn a_claim_is_keyed_if_nothing_else_is_in_it() {
    let queue: Boxed = queue(0, 8, 8);
    let freshest = || Label::Key(Tagged { freshest: true, ..tagged(1) });
    put(&queue, Label::Key(tagged(0)), Some(Box::new((0, 0))));
    put(&queue, freshest(), None);
    put(&queue, Label::Key(tagged(0)), Some(Box::new((0, 1))));
    put(&queue, Label::Unordered, Some(Box::new((2, 0))));
    let mut claim = Claim::default();
    for (limit, is_keyed) in [(1, true), (1, false), (1, true), (1, false)] {
        queue.turn(&mut claim, limit, |_| {});
        assert_eq!((claim.len(), claim.is_keyed()), (1, is_keyed));
        queue.run(&mut claim, |_, _, _| {});
    }
    assert!(!queue.release(&mut claim));
}

#[test]
fn joint_events_and_their_neighbours_in_two_queues() {
    const ROUNDS: u64 = 6;
    let queues: [Boxed; 2] = [queue(0, 4, 4), queue(1, 4, 4)];
    let (ran, joint) = (AtomicU64::new(0), AtomicU64::new(0));
    let all = 3 * ROUNDS;
    thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0..ROUNDS {
                let set =
                    KeySet::new([tagged(0), tagged(1)].into_iter().collect(), 0..2, Box::new((9, round)));
                let set = Arc::new(set);
                for (key, queue) in queues.iter().enumerate() {
                    put(queue, Label::Keys(set.clone()), None);
                    put(queue, Label::Key(tagged(key as u32)), Some(Box::new((key as u32, round))));
                }
            }
        });
        for queue in &queues {
            scope.spawn(|| {
                let mut claim = Claim::default();
                while ran.load(Ordering::Relaxed) < all {
                    let found = queue.turn(&mut claim, 2, |_| {});
                    if let Some(Joint::Keys(set)) = &found.joint {
                        let event = set.take().expect("it runs once");
                        assert_eq!(joint.fetch_add(1, Ordering::Relaxed), event.1, "in order");
                        ran.fetch_add(1, Ordering::Relaxed);
                        for part in &set.parts {
                            queues[part.queue].finish_joint(part.position());
                        }
                    }
                    if claim.is_empty() {
                        thread::yield_now();
                    }
                    queue.run(&mut claim, |_, _, event| {
                        assert_eq!(
                            joint.load(Ordering::Relaxed),
                            event.unwrap().1 + 1,
                            "between its neighbours"
                        );
                        ran.fetch_add(1, Ordering::Relaxed);
                    });
                }
                queue.release(&mut claim);
            });
        }
    });
    queues.iter().for_each(|queue| assert_eq!(queue.ring().len(), 0));
}

/// The whole dispatcher: threads, sleep, and all kinds of events, some of which panic.
#[test]
fn a_small_dispatcher_under_each_rule() {
    let rules = [Rule::Window { window: 4 }, Rule::default()];
    for rule in rules {
        let sum = AtomicU64::new(0);
        let handler = |_: &Turn<'_, String, Box<u64>>, event: Box<u64>| {
            sum.fetch_add(*event, Ordering::Relaxed);
            assert_ne!(*event, 1_000, "this one panics");
        };
        let builder = Dispatcher::<String, Box<u64>>::builder().workers(2).capacity(4).rule(rule);
        let dispatched = builder.on_panic(OnPanic::Skip).scope(handler, |dispatcher| {
            for number in 0..12 {
                dispatcher.dispatch((number % 3).to_string(), Box::new(number)).unwrap();
            }
            dispatcher.dispatch_keys(["0".to_owned(), "1".to_owned()], Box::new(100)).unwrap();
            dispatcher.dispatch_sequential(Box::new(200)).unwrap();
            dispatcher.dispatch_unordered(Box::new(300)).unwrap();
            dispatcher.dispatch("2".to_owned(), Box::new(1_000)).unwrap();
            dispatcher.wait_idle();
        });
        dispatched.unwrap();
        assert_eq!(sum.load(Ordering::Relaxed), 66 + 100 + 200 + 300 + 1_000);
    }
}

/// It stands in all queues, and the last of them to pass it has nothing else to do.
#[test]
fn who_waits_is_told_though_the_last_event_runs_alone() {
    let handler = |_: &Turn<'_, u64, u64>, _: u64| {};
    let builder = Dispatcher::<u64, u64>::builder().workers(2).capacity(4);
    let dispatched = builder.scope(handler, |dispatcher| {
        for number in 0..if cfg!(miri) { 5 } else { 1_000 } {
            dispatcher.dispatch_sequential(number).unwrap();
            dispatcher.wait_idle();
        }
    });
    dispatched.unwrap();
}
