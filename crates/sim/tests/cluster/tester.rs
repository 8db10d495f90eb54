//! A random tester with value checking over the whole machine: many processors load, store and lock few blocks, and every load
//! must find what coherence allows.
//!
//! - A *racing* word is written by one processor only, with growing values. Whoever loads it must never find an older value
//!   than it found before, and the writer itself exactly the last one.
//! - A *guarded* word is a counter that is read and written under a lock. Nothing may be lost.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use warmcore_sim::cluster::{Error, Machine, Options, Outcome, run};
use warmcore_units::Fault;
use warmcore_workload::programs::{
    Address, BarrierId, Home, Image, LockId, Prepared, Program, SharedMemory, WrongResult,
};

/// Bytes of a page: each group of words has one, so that groups have different homes.
const PAGE: u64 = 4096;

/// A random mix of references.
#[derive(Clone, Debug)]
pub(crate) struct Tester {
    pub(crate) seed: u64,
    /// What each processor does so many times.
    pub(crate) operations: u64,
    /// Groups of words, one for each processor, that everybody refers to.
    pub(crate) groups: u64,
}

pub(crate) struct PreparedTester {
    tester: Tester,
    /// Groups of a word for each processor.
    words: Address,
    counters: Address,
    errors: Address,
    processors: u32,
}

const LOCKS: u64 = 3;

impl Program for Tester {
    type Prepared = PreparedTester;

    fn name(&self) -> &'static str {
        "tester"
    }

    fn prepare(&self, image: &mut Image, processors: u32) -> Result<PreparedTester, Fault> {
        // Processors share blocks, each with a word of its own in each group.
        let words = image.allocate(self.groups * PAGE, Home::Interleaved);
        let counters = image.allocate(LOCKS * 8, Home::Processor(processors - 1));
        let errors = image.allocate(u64::from(processors) * PAGE, Home::Interleaved);
        Ok(PreparedTester { tester: self.clone(), words, counters, errors, processors })
    }
}

impl PreparedTester {
    /// Where a word is.
    fn at(&self, word: u64) -> Address {
        let processors = u64::from(self.processors);
        Address(self.words.0 + word / processors * PAGE).word(word % processors)
    }
}

impl Prepared for PreparedTester {
    fn run<M: SharedMemory>(&self, memory: &M) {
        let me = memory.processor();
        let mut random = Xoshiro256PlusPlus::seed_from_u64(self.tester.seed ^ u64::from(me) << 32);
        let all = self.tester.groups * u64::from(self.processors);
        let mut seen = vec![0; all as usize];
        let mut errors = 0;
        memory.barrier(BarrierId(7));
        for _ in 0..self.tester.operations {
            let word = random.random_range(0..all);
            let at = self.at(word);
            let mine = word % u64::from(self.processors) == u64::from(me);
            match random.random_range(0..10) {
                0..5 => {
                    let found = memory.load(at);
                    let right =
                        if mine { found == seen[word as usize] } else { found >= seen[word as usize] };
                    errors += u64::from(!right);
                    seen[word as usize] = found;
                }
                5..8 => {
                    // The word of this processor in the same group.
                    let word = word - word % u64::from(self.processors) + u64::from(me);
                    seen[word as usize] += 1;
                    memory.store(self.at(word), seen[word as usize]);
                }
                8 => {
                    let lock = random.random_range(0..LOCKS);
                    memory.acquire(LockId(lock as u32));
                    let count = memory.load(self.counters.word(lock));
                    memory.compute(random.random_range(0..50));
                    memory.store(self.counters.word(lock), count + 1);
                    memory.release(LockId(lock as u32));
                    errors += u64::from(memory.load(self.counters.word(lock)) <= count);
                }
                _ => memory.compute(random.random_range(0..300)),
            }
        }
        memory.barrier(BarrierId(7));
        // Everybody finds what each writer wrote last.
        for word in 0..all {
            let found = memory.load(self.at(word));
            errors += u64::from(found < seen[word as usize]);
        }
        memory.store(self.errors.word(u64::from(me) * 512), errors);
    }

    fn check(&self, image: &Image) -> Result<(), WrongResult> {
        let wrong: u64 =
            (0..self.processors).map(|of| image.load(self.errors.word(u64::from(of) * 512))).sum();
        let locked: u64 = (0..LOCKS).map(|lock| image.load(self.counters.word(lock))).sum();
        let mut expected = 0;
        for me in 0..self.processors {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(self.tester.seed ^ u64::from(me) << 32);
            let all = self.tester.groups * u64::from(self.processors);
            for _ in 0..self.tester.operations {
                random.random_range(0..all);
                match random.random_range(0..10) {
                    8 => {
                        random.random_range(0..LOCKS);
                        random.random_range(0..50);
                        expected += 1;
                    }
                    9 => {
                        random.random_range(0..300);
                    }
                    _ => {}
                }
            }
        }
        let what = |what: &str| format!("{what}, with seed {}", self.tester.seed);
        if wrong > 0 {
            return Err(WrongResult {
                what: what("loads"),
                expected: "the newest value, or one that was before".into(),
                found: format!("{wrong} older ones"),
            });
        }
        if locked != expected {
            return Err(WrongResult {
                what: what("updates under locks"),
                expected: expected.to_string(),
                found: locked.to_string(),
            });
        }
        Ok(())
    }

    fn digest(&self, image: &Image) -> u64 {
        image.words().iter().fold(0, |digest, word| digest.rotate_left(1) ^ word)
    }
}

pub(crate) fn test(machine: &Machine, seed: u64) -> Result<Outcome, Error> {
    let tester = Tester { seed, operations: 400, groups: 6 };
    run(machine, &tester, &Options { limit: 2_000_000_000, ..Options::default() })
}
