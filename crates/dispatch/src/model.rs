//! Every interleaving, up to some preemptions, of the few steps by which producers and workers meet,
//! by loom. A wake-up that is lost is a deadlock here, since nobody wakes by himself.

mod dispatcher;
mod keyed;
mod quiet;
mod room;
mod withdrawn;

use crate::joint::KeySet;
use crate::label::{Label, Seen, Tagged};
use crate::queue::{Claim, Found, Joint, Queue, QueueRule};
use crate::ready::Ready;
use crate::seats::Seats;
use crate::shared::{Settings, Shared};
use crate::sync::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use crate::{Idle, OnPanic, Overload, Rule};
use loom::sync::Arc;
use loom::thread;
use std::sync::atomic::{AtomicU32 as Count, Ordering::Relaxed};

/// A key that counts how often it is dropped. Loom need not see the count.
#[derive(Clone, Debug)]
struct Counted(u32, std::sync::Arc<Count>);

impl PartialEq for Counted {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl Eq for Counted {}

impl Drop for Counted {
    fn drop(&mut self) {
        self.1.fetch_add(1, Relaxed);
    }
}

fn check(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}

/// What those who dispatch and workers share, with two places in each queue.
fn shared(rule: Rule, workers: usize, overload: Overload) -> Shared<u32, u32> {
    Shared::new(workers, settings(rule, overload))
}

/// The same, where each key may have one event.
fn shared_with_a_limit(overload: Overload) -> Shared<u32, u32> {
    Shared::new(1, Settings { key_limit: Some(1), ..settings(Rule::Sharded, overload) })
}

fn settings(rule: Rule, overload: Overload) -> Settings {
    Settings {
        rule,
        capacity: 2,
        overload,
        on_panic: OnPanic::Skip,
        idle: Idle::default(),
        partition_bits: None,
        key_limit: None,
        aside: 2,
    }
}

/// A key of each of two queues.
fn apart(shared: &Shared<u32, u32>) -> [u32; 2] {
    [0, 1].map(|queue| (0..).find(|&key| shared.tagged(key).1 == queue).expect("keys are spread"))
}

fn tagged<K>(key: K, tag: u32) -> Tagged<K> {
    Tagged { tag: tag << 2 | 2, freshest: false, key }
}

fn queue<K: Eq, E>(index: usize, capacity: usize) -> Arc<Queue<K, E>> {
    Arc::new(Queue::new(capacity, QueueRule { index, window: capacity as u64, shared: true, exact: true }))
}

fn key<E>(key: u32) -> Label<u32, E> {
    Label::Key(tagged(key, key))
}

fn try_put<K: Eq, E>(queue: &Queue<K, E>, label: Label<K, E>, event: E) -> Result<(), E> {
    match queue.ring().reserve() {
        Ok(place) => {
            place.fill(label, Some(event));
            Ok(())
        }
        Err(_) => Err(event),
    }
}

/// What `settle` of [`worker`](crate::worker) does, under the lock.
fn settle<K: Eq, E>(ready: &Ready, queue: &Queue<K, E>, found: &Found<K, E>) {
    if found.more {
        ready.set(0);
    } else {
        ready.clear(0);
        if queue.ring().tail() != found.tail {
            ready.set(0);
        }
    }
}

/// An event of a producer, and its number.
type Numbered = Box<(u32, u32)>;

/// Puts in those of `events` that there is room for, one by one; which these are.
fn put_each<K: Eq>(
    queue: &Queue<K, Numbered>,
    label: &dyn Fn(u32) -> Label<K, Numbered>,
    mut events: Vec<(u32, u32)>,
) -> Vec<(u32, u32)> {
    events.retain(|&event| try_put(queue, label(event.0), Box::new(event)).is_ok());
    events
}

/// The same, of all that there is room for together.
fn put_together<K: Eq>(
    queue: &Queue<K, Numbered>,
    label: &dyn Fn(u32) -> Label<K, Numbered>,
    events: Vec<(u32, u32)>,
) -> Vec<(u32, u32)> {
    let Ok(places) = queue.ring().reserve_run(events.len()) else { return Vec::new() };
    let put = events[..places.positions().count()].to_vec();
    places.fill(&mut events.into_iter().map(|event| (label(event.0), Box::new(event))));
    put
}

type Put<K> = fn(&Queue<K, Numbered>, &dyn Fn(u32) -> Label<K, Numbered>, Vec<(u32, u32)>) -> Vec<(u32, u32)>;

/// Two producers, the first with two events, and a consumer, through a ring of two slots in which
/// one stands already. Who finds no room gives up, so that nobody spins.
fn two_producers<K, L>(put: Put<K>, label: L)
where
    K: Eq + Send + Sync + 'static,
    L: Fn(u32) -> Label<K, Numbered> + Clone + Send + 'static,
{
    let queue = queue(0, 2);
    try_put(&queue, label(2), Box::new((2, 0))).unwrap();
    let producers = [2, 1].into_iter().enumerate().map(|(producer, events)| {
        let (queue, label, producer) = (Arc::clone(&queue), label.clone(), producer as u32);
        let events = (0..events).map(|number| (producer, number)).collect();
        thread::spawn(move || put(&queue, &label, events))
    });
    let producers: Vec<thread::JoinHandle<Vec<_>>> = producers.collect();
    let (mut claim, mut seen) = (Claim::default(), Vec::new());
    let mut consume = |turns| {
        for _ in 0..turns {
            queue.turn(&mut claim, 2, |_| {});
            queue.run(&mut claim, |_, _, event| seen.push(*event.unwrap()));
        }
        queue.release(&mut claim);
    };
    consume(2);
    let mut put = vec![(2, 0)];
    producers.into_iter().for_each(|producer| put.extend(producer.join().unwrap()));
    consume(2);
    assert_eq!((queue.ring().head(), queue.ring().len()), (put.len() as u64, 0));
    let first: Vec<_> = seen.iter().filter(|&&(producer, _)| producer == 0).collect();
    assert!(first.is_sorted(), "in the order of each producer: {seen:?}");
    seen.sort_unstable();
    put.sort_unstable();
    assert_eq!(seen, put, "each that was put in once");
}

/// Two producers whose labels count how often they are made and dropped.
fn two_producers_of_counted(put: Put<Counted>) {
    let (made, dropped) = (std::sync::Arc::new(Count::new(0)), std::sync::Arc::new(Count::new(0)));
    let label = {
        let (made, dropped) = (std::sync::Arc::clone(&made), std::sync::Arc::clone(&dropped));
        move |producer| {
            made.fetch_add(1, Relaxed);
            Label::Key(tagged(Counted(producer, std::sync::Arc::clone(&dropped)), producer))
        }
    };
    two_producers(put, label);
    assert_eq!(made.load(Relaxed), dropped.load(Relaxed), "labels are dropped once");
}

#[test]
fn two_producers_and_a_consumer_with_labels_that_need_no_drop() {
    check(2, || two_producers(put_each, key));
}

#[test]
fn two_producers_and_a_consumer_with_labels_that_are_dropped_once() {
    check(2, || two_producers_of_counted(put_each));
}

#[test]
fn a_batch_beside_another_and_a_consumer_with_labels_that_need_no_drop() {
    check(2, || two_producers(put_together, key));
}

#[test]
fn a_batch_beside_another_and_a_consumer_with_labels_that_are_dropped_once() {
    check(2, || two_producers_of_counted(put_together));
}

/// Two workers at one queue with three events of two keys, while a fourth comes.
#[test]
fn two_workers_at_a_queue_are_never_at_one_key() {
    check(2, || {
        let queue = queue::<u32, u32>(0, 4);
        for (label, event) in [(1, 0), (2, 0), (1, 1)] {
            try_put(&queue, key(label), event).unwrap();
        }
        // What is next for each key, and whether somebody is there.
        let next = Arc::new([AtomicU32::new(0), AtomicU32::new(0)]);
        let busy = Arc::new([AtomicBool::new(false), AtomicBool::new(false)]);
        let work = |queue: Arc<Queue<u32, u32>>| {
            let (next, busy) = (Arc::clone(&next), Arc::clone(&busy));
            move || {
                let mut claim = Claim::default();
                let Some(_) = queue.try_claim(&mut claim, 1, |_| {}) else { return };
                while !claim.is_empty() {
                    queue.run(&mut claim, |_, label, event| {
                        let (Seen::Key(key), Some(event)) = (label, event) else { unreachable!() };
                        let key = *key.key as usize - 1;
                        assert!(!busy[key].load(Ordering::Relaxed), "two are at a key");
                        busy[key].store(true, Ordering::Relaxed);
                        assert_eq!(next[key].load(Ordering::Relaxed), event, "out of order");
                        next[key].store(event + 1, Ordering::Relaxed);
                        busy[key].store(false, Ordering::Relaxed);
                    });
                    queue.turn(&mut claim, 1, |_| {});
                }
            }
        };
        let other = thread::spawn(work(Arc::clone(&queue)));
        let producer = thread::spawn({
            let queue = Arc::clone(&queue);
            move || try_put(&queue, key(2), 1).unwrap()
        });
        work(Arc::clone(&queue))();
        other.join().unwrap();
        producer.join().unwrap();
        work(Arc::clone(&queue))();
        assert_eq!(next.each_ref().map(|next| next.load(Ordering::Relaxed)), [2, 2], "each has run");
        assert_eq!(queue.ring().len(), 0);
    });
}

/// A worker goes through the queue's bit until it finds nothing; whatever it leaves has its bit set.
#[test]
fn what_nobody_attends_has_its_bit_set() {
    check(3, || {
        let (queue, ready) = (queue::<u32, u32>(0, 4), Arc::new(Ready::new(1)));
        let produce = |event| {
            let (queue, ready) = (Arc::clone(&queue), Arc::clone(&ready));
            thread::spawn(move || {
                try_put(&queue, key(event), event).unwrap();
                ready.set(0);
            })
        };
        let producers = [produce(1), produce(2)];
        let mut claim = Claim::default();
        let mut work = |seen: &mut Vec<u32>| {
            while ready.queues().next().is_some() {
                loop {
                    queue.turn(&mut claim, 1, |found| settle(&ready, &queue, found));
                    if claim.is_empty() {
                        break;
                    }
                    queue.run(&mut claim, |_, _, event| seen.push(event.unwrap()));
                }
                // What is reserved only will be published.
                thread::yield_now();
            }
        };
        let mut seen = Vec::new();
        work(&mut seen);
        producers.into_iter().for_each(|producer| producer.join().unwrap());
        work(&mut seen);
        seen.sort_unstable();
        assert_eq!(seen, [1, 2], "something is left, and no bit says so");
    });
}

/// Two that leave their claims at the same time, and a producer.
#[test]
fn what_two_workers_leave_has_its_bit_set() {
    check(2, || {
        let (queue, ready) = (queue::<u32, u32>(0, 4), Arc::new(Ready::new(1)));
        let ran = Arc::new(AtomicU32::new(0));
        // The same key: one of the workers can do nothing while the other has it.
        try_put(&queue, key(1), 0).unwrap();
        try_put(&queue, key(1), 1).unwrap();
        ready.set(0);
        let work = |queue: Arc<Queue<u32, u32>>| {
            let (ready, ran) = (Arc::clone(&ready), Arc::clone(&ran));
            move || {
                let mut claim = Claim::default();
                let note = |found: &Found<_, _>| settle(&ready, &queue, found);
                let Some(_) = queue.try_claim(&mut claim, 1, note) else { return };
                while !claim.is_empty() {
                    queue.run(&mut claim, |_, _, _| {
                        ran.fetch_add(1, Ordering::Relaxed);
                    });
                    queue.turn(&mut claim, 1, |found| settle(&ready, &queue, found));
                }
            }
        };
        let other = thread::spawn(work(Arc::clone(&queue)));
        let producer = thread::spawn({
            let (queue, ready) = (Arc::clone(&queue), Arc::clone(&ready));
            move || {
                try_put(&queue, key(1), 2).unwrap();
                ready.set(0);
            }
        });
        work(Arc::clone(&queue))();
        other.join().unwrap();
        producer.join().unwrap();
        let left = queue.ring().len();
        assert!(left == 0 || ready.queues().next().is_some(), "{left} left, and no bit says so");
        assert_eq!(left + u64::from(ran.load(Ordering::Relaxed)), 3);
    });
}

/// A worker's life in the small: it searches the bit, and sleeps where there is nothing.
fn take_one(me: usize, seats: &Seats, ready: &Ready) {
    seats.sit(me);
    loop {
        if ready.queues().next().is_some() {
            ready.clear(0);
            seats.begin(me);
            return seats.end(me);
        }
        seats.sleep(me, None, || ready.queues().next().is_some());
    }
}

#[test]
fn what_is_ready_wakes_a_sleeper() {
    check(3, || {
        let (seats, ready) = (Arc::new(Seats::new(1)), Arc::new(Ready::new(1)));
        let worker = thread::spawn({
            let (seats, ready) = (Arc::clone(&seats), Arc::clone(&ready));
            move || (0..2).for_each(|_| take_one(0, &seats, &ready))
        });
        for round in 0..2 {
            if ready.set(0) && seats.could_wake() {
                seats.wake(0);
            }
            while round == 0 && ready.queues().next().is_some() {
                thread::yield_now();
            }
        }
        worker.join().unwrap();
    });
}

/// Two workers, and two queues that get something: both are attended to, by one of them or by both.
#[test]
fn of_two_sleepers_enough_are_woken() {
    check(2, || {
        let (seats, ready) = (Arc::new(Seats::new(2)), Arc::new(Ready::new(2)));
        let left = Arc::new(AtomicU32::new(2));
        let events = Arc::new([AtomicU64::new(1), AtomicU64::new(1)]);
        let work = |me| {
            let (seats, ready) = (Arc::clone(&seats), Arc::clone(&ready));
            let (left, events) = (Arc::clone(&left), Arc::clone(&events));
            move || {
                seats.sit(me);
                let over = || left.load(Ordering::SeqCst) == 0;
                while !over() {
                    if let Some(queue) = ready.queues().next() {
                        if seats.begin(me) && seats.could_wake() && ready.queues().any(|other| other != queue)
                        {
                            seats.wake(1 - me);
                        }
                        ready.clear(queue);
                        if events[queue].fetch_and(0, Ordering::AcqRel) == 1 {
                            left.fetch_sub(1, Ordering::SeqCst);
                        }
                        seats.end(me);
                    } else {
                        seats.sleep(me, None, || over() || ready.queues().next().is_some());
                    }
                }
                seats.wake_all();
            }
        };
        let workers = [thread::spawn(work(0)), thread::spawn(work(1))];
        for queue in 0..2 {
            if ready.set(queue) && seats.could_wake() {
                seats.wake(queue);
            }
        }
        workers.into_iter().for_each(|worker| worker.join().unwrap());
    });
}

/// In each of two queues stand an event with a key, one with both keys, and one with the key again.
#[test]
fn what_stands_in_two_queues_runs_once_between_its_neighbours() {
    check(2, || {
        let queues = [queue::<u32, u32>(0, 4), queue::<u32, u32>(1, 4)];
        let touched = [1, 2].map(|key| tagged(key, key)).into_iter().collect();
        let set = crate::sync::Arc::new(KeySet::new(touched, 0..2, 7));
        for (queue, label) in queues.iter().zip([1, 2]) {
            try_put(queue, key(label), 0).unwrap();
            queue.ring().reserve().ok().unwrap().fill(Label::Keys(set.clone()), None);
            try_put(queue, key(label), 1).unwrap();
        }
        drop(set);
        // How far each key has come; relaxed, so that the queue alone must order them.
        let steps = Arc::new([AtomicU32::new(0), AtomicU32::new(0)]);
        let work = |first: usize| {
            let (queues, steps) = (queues.each_ref().map(Arc::clone), Arc::clone(&steps));
            move || attend_both(&queues, &steps, first)
        };
        let other = thread::spawn(work(1));
        work(0)();
        other.join().unwrap();
        assert_eq!(steps.each_ref().map(|steps| steps.load(Ordering::Relaxed)), [3, 3], "each has run");
        queues.iter().for_each(|queue| assert_eq!(queue.ring().len(), 0));
    });
}

/// Attends one queue, and, if it runs what is in both, the other then.
fn attend_both(queues: &[Arc<Queue<u32, u32>>; 2], steps: &[AtomicU32; 2], first: usize) {
    let step = |key: usize, before: u32| {
        assert_eq!(steps[key].load(Ordering::Relaxed), before, "out of order");
        steps[key].store(before + 1, Ordering::Relaxed);
    };
    let (mut to_attend, mut claim) = (vec![first], Claim::default());
    while let Some(queue) = to_attend.pop() {
        loop {
            let found = queues[queue].turn(&mut claim, 2, |_| {});
            if claim.is_empty() && found.joint.is_none() {
                break;
            }
            if let Some(Joint::Keys(set)) = found.joint {
                assert_eq!(set.take(), Some(7), "it runs once");
                (0..2).for_each(|key| step(key, 1));
                for part in &set.parts {
                    queues[part.queue].finish_joint(part.position());
                    to_attend.push(part.queue);
                }
            }
            queues[queue].run(&mut claim, |_, label, event| {
                let Seen::Key(key) = label else { unreachable!() };
                step(*key.key as usize - 1, event.unwrap() * 2);
            });
        }
    }
}
