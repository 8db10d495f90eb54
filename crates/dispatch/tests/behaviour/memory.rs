//! What a key stands for needs no lock, and is plain memory here: nothing but the dispatcher orders those who
//! touch it. Miri and the thread sanitizer see whether it does; without them, what one of two has added
//! at the same time is lost.

use crate::{BINDINGS, builder};
use std::cell::UnsafeCell;
use warmcore_dispatch::{Handle, Turn};

const KEYS: u64 = 5;
const PRODUCERS: u64 = 2;
const EVENTS: u64 = if cfg!(miri) { 60 } else { 20_000 };

/// What keys stand for.
struct Plain(Vec<UnsafeCell<u64>>);

// SAFETY: who touches what a key stands for does so in an event of the key, or when all is quiet: never two
// at once. That is what is tested.
unsafe impl Sync for Plain {}

impl Plain {
    fn new() -> Self {
        Self((0..KEYS).map(|_| UnsafeCell::new(0)).collect())
    }

    fn add(&self, key: u64, amount: u64) {
        // SAFETY: as above.
        unsafe { *self.0[key as usize].get() += amount };
    }

    fn sums(&self) -> Vec<u64> {
        // SAFETY: as above.
        self.0.iter().map(|sum| unsafe { *sum.get() }).collect()
    }
}

/// Dispatches the event with this `number`; what it adds to each key, one after the other.
fn dispatch(handle: &Handle<u64, Box<u64>>, number: u64) -> [u64; KEYS as usize] {
    let (key, other) = (number % KEYS, number / KEYS % KEYS);
    let mut added = [0; KEYS as usize];
    let amount = Box::new(number);
    match number % 16 {
        0 => {
            added = [number; KEYS as usize];
            handle.dispatch_sequential(amount).unwrap();
        }
        1..4 => {
            (added[key as usize], added[other as usize]) = (number, number);
            handle.dispatch_keys([key, other], amount).unwrap();
        }
        4..8 => {
            added[key as usize] = number;
            let mut batch = handle.batch(1);
            batch.dispatch(key, amount).unwrap();
        }
        _ => {
            added[key as usize] = number;
            handle.dispatch(key, amount).unwrap();
        }
    }
    added
}

#[test]
fn what_a_key_stands_for_needs_no_lock() {
    for rule in BINDINGS {
        let plain = Plain::new();
        let handle = |turn: &Turn<'_, u64, Box<u64>>, amount: Box<u64>| {
            let is_sequential = turn.keys().next().is_none();
            let all: &[u64] = if is_sequential { &[0, 1, 2, 3, 4] } else { &[] };
            turn.keys().chain(all).for_each(|&key| plain.add(key, *amount));
        };
        let plain = &plain;
        let dispatched = builder().workers(3).binding(rule).capacity(8).scope(handle, |handle| {
            let produce = |producer| {
                let numbers = (0..EVENTS).filter(move |number| number % PRODUCERS == producer);
                numbers
                    .map(|number| dispatch(handle, number))
                    .fold([0; KEYS as usize], |sums, added| std::array::from_fn(|key| sums[key] + added[key]))
            };
            let sums = std::thread::scope(|scope| {
                let producers = [0, 1].map(|producer| scope.spawn(move || produce(producer)));
                producers.map(|producer| producer.join().unwrap())
            });
            handle.wait_idle().unwrap();
            let expected: Vec<u64> = (0..KEYS as usize).map(|key| sums[0][key] + sums[1][key]).collect();
            // Whoever has waited until all is quiet sees what was done.
            assert_eq!(plain.sums(), expected, "{rule:?}");
        });
        dispatched.unwrap();
    }
}
