//! A random tester with value checking over the whole machine: many processors load, store and lock few blocks, and every load
//! must find what coherence allows.
//!
//! - A *racing* word is written by one processor only, with growing values. Whoever loads it must never find an older value
//!   than it found before, and the writer itself exactly the last one. After a barrier everybody must find the last one.
//! - A *guarded* word is a counter that is read and written under a lock. Nothing may be lost.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use warmcore_units::Fault;
use warmcore_workload::programs::{
    Address, BarrierId, Home, Image, LockId, Prepared, Program, SharedMemory, WrongResult,
};

/// Bytes of a page: each group of words has one, so that groups have different homes.
const PAGE: u64 = 4096;
const LOCKS: u64 = 3;

/// A random mix of references.
#[derive(Clone, Debug)]
pub(crate) struct Tester {
    pub(crate) seed: u64,
    /// What each processor does so many times.
    pub(crate) operations: u64,
    /// Groups of words, one for each processor, that everybody refers to.
    pub(crate) groups: u64,
}

/// What a processor does.
enum Operation {
    /// It loads the word of a processor in a group.
    Load {
        group: u64,
        of: u64,
    },
    /// It stores its own word of a group.
    Store {
        group: u64,
    },
    /// It counts under a lock, with some computing.
    Count {
        lock: u64,
        cycles: u32,
    },
    Compute {
        cycles: u32,
    },
}

pub(crate) struct PreparedTester {
    tester: Tester,
    /// A page for each group, with a word for each processor.
    words: Address,
    counters: Address,
    errors: Address,
    processors: u64,
}

impl Program for Tester {
    type Prepared = PreparedTester;

    fn name(&self) -> &'static str {
        "tester"
    }

    fn prepare(&self, image: &mut Image, processors: u32) -> Result<PreparedTester, Fault> {
        let words = image.allocate(self.groups * PAGE, Home::Interleaved);
        let counters = image.allocate(LOCKS * 8, Home::Processor(processors - 1));
        let errors = image.allocate(u64::from(processors) * PAGE, Home::Interleaved);
        Ok(PreparedTester { tester: self.clone(), words, counters, errors, processors: processors.into() })
    }
}

impl PreparedTester {
    /// What `processor` does, in order.
    fn operations(&self, processor: u64) -> impl Iterator<Item = Operation> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(self.tester.seed ^ processor << 32);
        let (groups, processors) = (self.tester.groups, self.processors);
        (0..self.tester.operations).map(move |_| {
            let group = random.random_range(0..groups);
            match random.random_range(0..10) {
                0..5 => Operation::Load { group, of: random.random_range(0..processors) },
                5..8 => Operation::Store { group },
                8 => Operation::Count {
                    lock: random.random_range(0..LOCKS),
                    cycles: random.random_range(0..50),
                },
                _ => Operation::Compute { cycles: random.random_range(0..300) },
            }
        })
    }

    /// What `processor` has written last in each group.
    fn last(&self, processor: u64) -> Vec<u64> {
        let mut last = vec![0; self.tester.groups as usize];
        for operation in self.operations(processor) {
            if let Operation::Store { group } = operation {
                last[group as usize] += 1;
            }
        }
        last
    }

    /// Where the word of processor `of` in `group` is.
    fn word(&self, group: u64, of: u64) -> Address {
        Address(self.words.0 + group * PAGE).word(of)
    }

    /// Where processor `of` says how many of its loads were wrong.
    fn errors(&self, of: u64) -> Address {
        Address(self.errors.0 + of * PAGE)
    }
}

impl Prepared for PreparedTester {
    fn run<M: SharedMemory>(&self, memory: &M) {
        let me = u64::from(memory.processor());
        let mut seen = vec![vec![0; self.processors as usize]; self.tester.groups as usize];
        let mut errors = 0;
        memory.barrier(BarrierId(7));
        for operation in self.operations(me) {
            match operation {
                Operation::Load { group, of } => {
                    let found = memory.load(self.word(group, of));
                    let before = &mut seen[group as usize][of as usize];
                    let right = if of == me { found == *before } else { found >= *before };
                    errors += u64::from(!right);
                    *before = found;
                }
                Operation::Store { group } => {
                    let mine = &mut seen[group as usize][me as usize];
                    *mine += 1;
                    memory.store(self.word(group, me), *mine);
                }
                Operation::Count { lock, cycles } => {
                    let counter = self.counters.word(lock);
                    memory.acquire(LockId(lock as u32));
                    let count = memory.load(counter);
                    memory.compute(cycles);
                    memory.store(counter, count + 1);
                    memory.release(LockId(lock as u32));
                    errors += u64::from(memory.load(counter) <= count);
                }
                Operation::Compute { cycles } => memory.compute(cycles),
            }
        }
        memory.barrier(BarrierId(7));
        for of in 0..self.processors {
            for (group, last) in (0..).zip(self.last(of)) {
                errors += u64::from(memory.load(self.word(group, of)) != last);
            }
        }
        memory.store(self.errors(me), errors);
    }

    fn check(&self, image: &Image) -> Result<(), WrongResult> {
        let what = |what: &str| format!("{what}, with seed {}", self.tester.seed);
        let wrong: u64 = (0..self.processors).map(|of| image.load(self.errors(of))).sum();
        if wrong > 0 {
            return Err(WrongResult {
                what: what("loads"),
                expected: "the newest value, or one that was before".into(),
                found: format!("{wrong} others"),
            });
        }
        let counted: u64 = (0..LOCKS).map(|lock| image.load(self.counters.word(lock))).sum();
        let counts = |operation: &Operation| matches!(operation, Operation::Count { .. });
        let expected =
            (0..self.processors).map(|of| self.operations(of).filter(counts).count() as u64).sum::<u64>();
        if counted != expected {
            return Err(WrongResult {
                what: what("updates under locks"),
                expected: expected.to_string(),
                found: counted.to_string(),
            });
        }
        Ok(())
    }

    fn digest(&self, image: &Image) -> u64 {
        image.words().iter().fold(0, |digest, word| digest.rotate_left(1) ^ word)
    }
}
