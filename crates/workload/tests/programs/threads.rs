//! Plain memory shared by threads, one for each processor.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Barrier, Condvar, Mutex};
use warmcore_workload::programs::image::{half_of, with_half};
use warmcore_workload::programs::{Address, BarrierId, Image, LockId, Prepared, SharedMemory};

/// What all threads share.
struct Machine {
    words: Vec<AtomicU64>,
    processors: u32,
    held: Mutex<HashSet<LockId>>,
    released: Condvar,
    barriers: Mutex<HashMap<BarrierId, Arc<Barrier>>>,
}

/// The machine as one thread sees it.
struct Thread<'a> {
    machine: &'a Machine,
    processor: u32,
    /// Cycles of its references and computing.
    work: Cell<u64>,
}

/// Runs `program` on a thread for each processor, and leaves the results in `image`. Returns each processor's cycles, with one
/// for each reference, and none for waiting.
pub(crate) fn run<P: Prepared + Sync>(program: &P, image: &mut Image, processors: u32) -> Vec<u64> {
    let machine = Machine {
        words: image.words().iter().map(|&word| AtomicU64::new(word)).collect(),
        processors,
        held: Mutex::default(),
        released: Condvar::new(),
        barriers: Mutex::default(),
    };
    let work = std::thread::scope(|scope| {
        let start = |processor| {
            let machine = &machine;
            scope.spawn(move || {
                let thread = Thread { machine, processor, work: Cell::new(0) };
                program.run(&thread);
                thread.work.get()
            })
        };
        let threads: Vec<_> = (0..processors).map(start).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(*machine.held.lock().unwrap(), HashSet::new(), "every lock is released at the end");
    for (word, result) in image.words_mut().iter_mut().zip(machine.words) {
        *word = result.into_inner();
    }
    work
}

impl Thread<'_> {
    fn word(&self, at: Address) -> &AtomicU64 {
        assert!(at.0.is_multiple_of(8), "{at:?}");
        self.work.set(self.work.get() + 1);
        &self.machine.words[at.0 as usize / 8]
    }
}

impl SharedMemory for Thread<'_> {
    fn processor(&self) -> u32 {
        self.processor
    }

    fn processors(&self) -> u32 {
        self.machine.processors
    }

    fn load(&self, at: Address) -> u64 {
        self.word(at).load(SeqCst)
    }

    fn store(&self, at: Address, value: u64) {
        self.word(at).store(value, SeqCst);
    }

    fn load_half(&self, at: Address) -> u32 {
        assert!(at.0.is_multiple_of(4), "{at:?}");
        half_of(self.load(Address(at.0 & !7)), at)
    }

    fn store_half(&self, at: Address, value: u32) {
        assert!(at.0.is_multiple_of(4), "{at:?}");
        let word = self.word(Address(at.0 & !7));
        word.fetch_update(SeqCst, SeqCst, |old| Some(with_half(old, at, value))).unwrap();
    }

    fn compute(&self, cycles: u32) {
        self.work.set(self.work.get() + u64::from(cycles));
    }

    fn acquire(&self, lock: LockId) {
        let mut held = self.machine.held.lock().unwrap();
        while !held.insert(lock) {
            held = self.machine.released.wait(held).unwrap();
        }
    }

    fn release(&self, lock: LockId) {
        assert!(self.machine.held.lock().unwrap().remove(&lock), "{lock:?} is not held");
        self.machine.released.notify_all();
    }

    fn barrier(&self, barrier: BarrierId) {
        let new = || Arc::new(Barrier::new(self.machine.processors as usize));
        let barrier = Arc::clone(self.machine.barriers.lock().unwrap().entry(barrier).or_insert_with(new));
        barrier.wait();
    }

    fn wait_for_change(&self, at: Address, old: u64) -> u64 {
        loop {
            let word = self.load(at);
            if word != old {
                return word;
            }
            std::thread::yield_now();
        }
    }
}
