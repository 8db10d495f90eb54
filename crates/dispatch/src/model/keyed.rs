//! Events of which only the freshest counts, which are replaced while a worker comes to them; and keys that may
//! have so many events and no more.

use super::{check, shared, shared_with_a_limit};
use crate::queue::Claim;
use crate::shared::Shared;
use crate::{Metrics, Overload, Rule};
use loom::sync::Arc;
use loom::thread::{self, JoinHandle};

/// Handles what is in the only queue, as a worker does, so many times; what that was.
fn take(shared: &Shared<u32, u32>, turns: u32) -> Vec<u32> {
    let lane = &*shared.queues[0];
    let (mut claim, mut seen) = (Claim::default(), Vec::new());
    for _ in 0..turns {
        lane.queue.turn(&mut claim, 2, |_| {});
        lane.queue.run(&mut claim, |_, label, event| {
            seen.push(shared.begin(lane, label, event).expect("a label stands for an event"));
        });
    }
    lane.queue.release(&mut claim);
    seen
}

fn superseded(shared: &Shared<u32, u32>) -> u64 {
    let mut metrics = Metrics::default();
    shared.counters[0].add_to(&mut metrics);
    metrics.superseded
}

fn assert_empty(shared: &Shared<u32, u32>) {
    assert_eq!(shared.pending(), 0);
    assert_eq!(crate::lock(&shared.queues[0].keyed).events(&7), 0, "the key is forgotten");
}

/// A queue with two places, and a worker that takes from it `turns` times.
fn with_worker(turns: u32) -> (Arc<Shared<u32, u32>>, JoinHandle<Vec<u32>>) {
    attend(shared(Rule::Sharded, 1, Overload::Reject), turns)
}

/// A worker that takes from the only queue of `shared` so many times.
fn attend(shared: Shared<u32, u32>, turns: u32) -> (Arc<Shared<u32, u32>>, JoinHandle<Vec<u32>>) {
    let shared = Arc::new(shared);
    let worker = thread::spawn({
        let shared = Arc::clone(&shared);
        move || take(&shared, turns)
    });
    (shared, worker)
}

#[test]
fn the_freshest_is_handled_last_and_once() {
    check(3, || {
        let (shared, worker) = with_worker(2);
        // One that finds no other waiting finds room.
        (1..=3).for_each(|event| shared.dispatch_freshest(7, event).unwrap());
        let mut seen = worker.join().unwrap();
        seen.extend(take(&shared, 2));
        assert!(seen.is_sorted() && seen.last() == Some(&3), "{seen:?}");
        assert_eq!(seen.len() as u64 + superseded(&shared), 3);
        assert_empty(&shared);
    });
}

#[test]
fn of_two_producers_the_freshest_is_handled_last_and_once() {
    check(2, || {
        let (shared, worker) = with_worker(2);
        let other = thread::spawn({
            let shared = Arc::clone(&shared);
            move || shared.dispatch_freshest(7, 11).unwrap()
        });
        (1..=2).for_each(|event| shared.dispatch_freshest(7, event).unwrap());
        other.join().unwrap();
        let mut seen = worker.join().unwrap();
        seen.extend(take(&shared, 2));
        assert!(matches!(seen.last(), Some(2 | 11)), "{seen:?}");
        assert!(seen.iter().filter(|&&event| event < 11).is_sorted(), "{seen:?}");
        assert_eq!(seen.len() as u64 + superseded(&shared), 3);
        assert_empty(&shared);
    });
}

/// Another event of the key stands behind the first of them.
#[test]
fn the_freshest_takes_the_place_of_the_first_that_waits() {
    check(3, || {
        let (shared, worker) = with_worker(1);
        shared.dispatch_freshest(7, 1).unwrap();
        shared.dispatch(7, 10).unwrap();
        let is_in = shared.dispatch_freshest(7, 2).is_ok();
        let mut seen = worker.join().unwrap();
        seen.extend(take(&shared, 3));
        // It has taken a place, or found one if the worker was done with the first, or none.
        let expected: &[u32] = match (superseded(&shared), is_in) {
            (0, true) => &[1, 10, 2],
            (0, false) => &[1, 10],
            _ => &[2, 10],
        };
        assert_eq!(seen, expected);
        assert_empty(&shared);
    });
}

#[test]
fn what_is_discarded_is_counted_once_whether_it_was_replaced_or_not() {
    check(2, || {
        let (shared, worker) = with_worker(1);
        let producer = thread::spawn({
            let shared = Arc::clone(&shared);
            move || (1..=2).filter(|&event| shared.dispatch_freshest(7, event).is_ok()).count() as u64
        });
        shared.abort();
        let seen = worker.join().unwrap().len() as u64;
        let discarded = shared.discard();
        let taken = producer.join().unwrap();
        assert_eq!(seen + superseded(&shared) + discarded, taken);
        assert_empty(&shared);
    });
}

#[test]
fn a_key_has_no_more_events_than_it_may_and_loses_none() {
    check(3, || {
        let (shared, worker) = attend(shared_with_a_limit(Overload::Reject), 1);
        let other = thread::spawn({
            let shared = Arc::clone(&shared);
            move || shared.dispatch(7, 11).is_ok()
        });
        let mut taken: Vec<u32> = (1..=2).filter(|&event| shared.dispatch(7, event).is_ok()).collect();
        taken.extend(other.join().unwrap().then_some(11));
        let mut seen = worker.join().unwrap();
        assert!(taken.len() <= 1 + seen.len(), "{taken:?} were taken, and only {seen:?} handled meanwhile");
        seen.extend(take(&shared, 1));
        assert!(seen.iter().filter(|&&event| event < 11).is_sorted(), "{seen:?}");
        seen.sort_unstable();
        assert_eq!(seen, taken, "what was taken is handled");
        assert_empty(&shared);
    });
}
