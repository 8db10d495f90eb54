//! Producers and workers at one strand.

use super::check;
use crate::entry::{Entry, Work};
use crate::strand::{Front, Pushed, Strand};
use crate::sync::{Access, AtomicBool, Ordering};
use loom::sync::Arc;
use loom::thread;
use std::sync::Mutex;

/// What loom need not see: which events have run, by key, in order.
type Seen = std::sync::Arc<Mutex<Vec<(u64, u32)>>>;

fn event(key: u64, number: u32) -> Entry<u64, u32> {
    Entry { hash: key, came: 0, work: Work::Keyed(key, number) }
}

/// Pushes as producers do: whoever schedules the strand sets its bit.
fn push(strand: &Strand<u64, u32>, ready: &AtomicBool, entry: Entry<u64, u32>) {
    if strand.push(entry) == Pushed::Scheduled {
        ready.store(true, Ordering::SeqCst);
    }
}

/// Attends the strand as the worker does that has taken its bit, if that is set.
fn attend(strand: &Strand<u64, u32>, ready: &AtomicBool, seen: &Seen) {
    if ready.load(Ordering::SeqCst) {
        ready.store(false, Ordering::SeqCst);
        run_events(strand, &strand.own(), |key, number| seen.lock().unwrap().push((key, number)));
    }
}

/// Claims and handles what there is, and leaves.
fn run_events(
    strand: &Strand<u64, u32>,
    access: &Access<'_, Front<u64, u32>>,
    mut handle: impl FnMut(u64, u32),
) {
    let mut front = access.lock();
    loop {
        let Some(entry) = front.claim().or_else(|| front.claim_past_held()) else {
            match strand.refill_or_leave(front, drop) {
                Ok(refilled) => front = refilled,
                Err(_) => return,
            }
            continue;
        };
        drop(front);
        let Work::Keyed(key, number) = entry.work else { unreachable!("all are such") };
        handle(key, number);
        front = access.lock();
        strand.release(&mut front, entry.hash);
    }
}

/// What is left has its bit set: somebody comes.
#[test]
fn what_nobody_attends_has_its_bit_set() {
    check(3, || {
        let (strand, ready) = (Arc::new(Strand::default()), Arc::new(AtomicBool::new(false)));
        let seen = Seen::default();
        let producers = [1, 2].map(|key| {
            let (strand, ready) = (Arc::clone(&strand), Arc::clone(&ready));
            thread::spawn(move || (0..2).for_each(|number| push(&strand, &ready, event(key, number))))
        });
        attend(&strand, &ready, &seen);
        producers.into_iter().for_each(|producer| producer.join().unwrap());
        attend(&strand, &ready, &seen);
        let seen = seen.lock().unwrap();
        assert_eq!(seen.len(), 4, "{seen:?}");
        for key in [1, 2] {
            assert!(seen.iter().filter(|(of, _)| *of == key).map(|&(_, number)| number).eq(0..2), "{seen:?}");
        }
    });
}

/// A worker and a helper: each key's events run in order and one at a time, and nothing is left without a bit.
#[test]
fn two_workers_are_never_at_one_key() {
    check(3, || {
        let strand = Arc::new(Strand::default());
        let ready = Arc::new(AtomicBool::new(false));
        let busy = Arc::new([AtomicBool::new(false), AtomicBool::new(false)]);
        let seen = Seen::default();
        for (key, number) in [(0, 0), (1, 0), (0, 1)] {
            push(&strand, &ready, event(key, number));
        }
        let work = |helps: bool| {
            let (strand, busy, seen) = (Arc::clone(&strand), Arc::clone(&busy), seen.clone());
            move || {
                let access = if helps { strand.help() } else { Some(strand.own()) };
                let Some(access) = access else { return };
                run_events(&strand, &access, |key, number| {
                    assert!(!busy[key as usize].load(Ordering::Relaxed), "two at a key");
                    busy[key as usize].store(true, Ordering::Relaxed);
                    seen.lock().unwrap().push((key, number));
                    busy[key as usize].store(false, Ordering::Relaxed);
                });
            }
        };
        let helper = thread::spawn(work(true));
        work(false)();
        helper.join().unwrap();
        let seen = seen.lock().unwrap();
        assert!(seen.iter().filter(|(key, _)| *key == 0).map(|&(_, number)| number).eq(0..2), "{seen:?}");
        assert_eq!(seen.len(), 3, "whoever left last found nothing more");
    });
}

/// A key is held on by an event of several keys, while its strand is left; what waits behind it is announced when it
/// is released.
#[test]
fn what_waits_behind_a_held_key_is_announced() {
    check(3, || {
        let (strand, ready) = (Arc::new(Strand::default()), Arc::new(AtomicBool::new(false)));
        let seen = Seen::default();
        push(&strand, &ready, event(1, 0));
        ready.store(false, Ordering::SeqCst);
        let access = strand.own();
        let front = strand.refill_or_leave(access.lock(), drop).ok();
        let held = front.expect("it was pushed").claim().expect("it is at the front").hash;
        assert!(strand.refill_or_leave(access.lock(), drop).is_err(), "there is nothing else");
        drop(access);
        let producer = thread::spawn({
            let (strand, ready) = (Arc::clone(&strand), Arc::clone(&ready));
            move || push(&strand, &ready, event(1, 1))
        });
        let releaser = thread::spawn({
            let (strand, ready) = (Arc::clone(&strand), Arc::clone(&ready));
            move || {
                if strand.release_from_outside(held) == Pushed::Scheduled {
                    ready.store(true, Ordering::SeqCst);
                }
            }
        });
        attend(&strand, &ready, &seen);
        producer.join().unwrap();
        releaser.join().unwrap();
        attend(&strand, &ready, &seen);
        assert_eq!(*seen.lock().unwrap(), [(1, 1)]);
    });
}
