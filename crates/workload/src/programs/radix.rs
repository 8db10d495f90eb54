//! Parallel sorting of integers by digits (Blelloch et al. 1991; SPLASH-2, Woo et al. 1995, §3; Falsafi 1998, Table 5.2: 4M
//! integers, radix 1024).
//!
//! A pass sorts by one digit, from the lowest. Each processor counts the digits of its own keys; the counts become places by a
//! prefix sum over digits and processors; then each processor writes its keys to their places, which lie all over the other
//! array. The prefix sum goes by shares of the digits instead of SPLASH-2's binary tree of processors. Keys and counts lie on
//! their processor's own node.

use super::cost::{INTEGER, LOOP, PRIVATE, Pace};
use super::input::{check_common, digest, random, require, share};
use super::{Address, BarrierId, Home, Image, Prepared, Program, SharedMemory, WrongResult};
use rand::RngExt;
use serde::{Deserialize, Serialize};
use warmcore_units::Fault;

/// Computing to count a key: shift, mask, and a private count.
const COUNT: u32 = 2 * INTEGER + 2 * PRIVATE + LOOP;

/// Computing to move a key: shift, mask, and a private place that is incremented.
const MOVE: u32 = 3 * INTEGER + 2 * PRIVATE + LOOP;

/// Computing to add one count to a prefix sum.
const ADD: u32 = 2 * INTEGER + LOOP;

/// The pace at which a uniprocessor takes the 903 million cycles of Table 5.3.
const UNIPROCESSOR: Pace = Pace::new(5.771);

/// The input.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Radix {
    /// Keys to sort.
    pub keys: u64,
    /// Values of a digit, a power of 2.
    pub radix: u32,
    /// Keys are drawn from 0 up to this, exclusive. The thesis does not say; SPLASH-2's default gives two passes.
    pub key_range: u32,
    /// Names the random keys.
    pub seed: u64,
    /// Cycles for each counted one.
    pub pace: Pace,
}

impl Default for Radix {
    fn default() -> Self {
        Self { keys: 4 << 20, radix: 1024, key_range: 524_288, seed: 1, pace: UNIPROCESSOR }
    }
}

impl Radix {
    /// A small input for quick runs.
    #[must_use]
    pub fn quick() -> Self {
        Self { keys: 1 << 18, ..Self::default() }
    }

    /// Passes over the keys: digits of the largest key.
    fn passes(&self) -> u32 {
        let bits = u32::BITS - (self.key_range - 1).leading_zeros();
        bits.div_ceil(self.radix.ilog2()).max(1)
    }

    fn input(&self) -> impl Iterator<Item = u32> {
        let mut random = random(self.seed);
        let range = self.key_range;
        (0..self.keys).map(move |_| random.random_range(0..range))
    }
}

/// The sort laid out.
#[derive(Debug)]
pub struct PreparedRadix {
    input: Radix,
    /// The keys before and after a pass, by turns; four bytes each.
    arrays: [Address; 2],
    /// For each processor, its counts by digit: a word each.
    counts: Vec<Address>,
    /// For each processor, how many keys have a digit in its share: a word each.
    totals: Address,
}

impl Program for Radix {
    type Prepared = PreparedRadix;

    fn name(&self) -> &'static str {
        "radix"
    }

    fn prepare(&self, image: &mut Image, processors: u32) -> Result<PreparedRadix, Fault> {
        check_common(self.pace, processors)?;
        require((1..=1 << 28).contains(&self.keys), "keys", self.keys, "1 to 2^28")?;
        let allowed = self.radix.is_power_of_two() && (2..=1 << 16).contains(&self.radix);
        require(allowed, "radix", self.radix, "a power of 2, from 2 to 2^16")?;
        require(self.key_range > 0, "key_range", self.key_range, "1 or more")?;
        let arrays = [(); 2].map(|()| image.allocate_shared_out(4 * self.keys, processors));
        for (index, key) in self.input().enumerate() {
            image.store_half(arrays[0].half(index as u64), key);
        }
        let mut counts = |processor| image.allocate(8 * u64::from(self.radix), Home::Processor(processor));
        let counts = (0..processors).map(&mut counts).collect();
        let totals = image.allocate(8 * u64::from(processors), Home::Interleaved);
        Ok(PreparedRadix { input: self.clone(), arrays, counts, totals })
    }
}

impl PreparedRadix {
    fn digit(&self, key: u32, pass: u32) -> usize {
        (key >> (pass * self.input.radix.ilog2()) & (self.input.radix - 1)) as usize
    }

    /// Counts this processor's keys by digit, in private, and publishes the counts.
    fn count<M: SharedMemory>(&self, memory: &M, from: Address, pass: u32, places: &mut [u64]) {
        let [counting, adding] = [COUNT, ADD].map(|counted| self.input.pace.cycles(counted));
        places.fill(0);
        for index in share(self.input.keys, memory.processor(), memory.processors()) {
            places[self.digit(memory.load_half(from.half(index)), pass)] += 1;
            memory.compute(counting);
        }
        let counts = self.counts[memory.processor() as usize];
        for (digit, &count) in (0..).zip(&*places) {
            memory.store(counts.word(digit), count);
            memory.compute(adding);
        }
    }

    /// Makes prefix sums of this processor's share of the digits, over digits and then processors, in place.
    fn sum<M: SharedMemory>(&self, memory: &M) {
        let adding = self.input.pace.cycles(ADD);
        let mut sum = 0;
        for digit in self.digits(memory, memory.processor()) {
            for counts in &self.counts {
                let count = memory.load(counts.word(digit));
                memory.store(counts.word(digit), sum);
                sum += count;
                memory.compute(adding);
            }
        }
        memory.store(self.totals.word(u64::from(memory.processor())), sum);
    }

    fn digits<M: SharedMemory>(&self, memory: &M, processor: u32) -> core::ops::Range<u64> {
        share(u64::from(self.input.radix), processor, memory.processors())
    }

    /// Gets the place where this processor's first key with each digit goes.
    fn find_places<M: SharedMemory>(&self, memory: &M, places: &mut [u64]) {
        let adding = self.input.pace.cycles(ADD);
        let counts = self.counts[memory.processor() as usize];
        let mut before = 0;
        for processor in 0..memory.processors() {
            for digit in self.digits(memory, processor) {
                places[digit as usize] = before + memory.load(counts.word(digit));
                memory.compute(adding);
            }
            before += memory.load(self.totals.word(u64::from(processor)));
        }
    }

    fn permute<M: SharedMemory>(
        &self,
        memory: &M,
        (from, to): (Address, Address),
        pass: u32,
        places: &mut [u64],
    ) {
        let moving = self.input.pace.cycles(MOVE);
        for index in share(self.input.keys, memory.processor(), memory.processors()) {
            let key = memory.load_half(from.half(index));
            let place = &mut places[self.digit(key, pass)];
            memory.store_half(to.half(*place), key);
            *place += 1;
            memory.compute(moving);
        }
    }

    fn result(&self, image: &Image) -> Vec<u32> {
        let array = self.arrays[self.input.passes() as usize % 2];
        (0..self.input.keys).map(|index| image.load_half(array.half(index))).collect()
    }
}

impl Prepared for PreparedRadix {
    fn run<M: SharedMemory>(&self, memory: &M) {
        let mut places = vec![0; self.input.radix as usize];
        let barrier = || memory.barrier(BarrierId(0));
        for pass in 0..self.input.passes() {
            let (from, to) = (self.arrays[pass as usize % 2], self.arrays[(pass as usize + 1) % 2]);
            barrier();
            self.count(memory, from, pass, &mut places);
            barrier();
            self.sum(memory);
            barrier();
            self.find_places(memory, &mut places);
            self.permute(memory, (from, to), pass, &mut places);
        }
        barrier();
    }

    fn check(&self, image: &Image) -> Result<(), WrongResult> {
        let mut expected: Vec<u32> = self.input.input().collect();
        expected.sort_unstable();
        let found = self.result(image);
        match expected.iter().zip(&found).position(|(expected, found)| expected != found) {
            None => Ok(()),
            Some(index) => Err(WrongResult {
                what: format!("key {index} in order"),
                expected: expected[index].to_string(),
                found: found[index].to_string(),
            }),
        }
    }

    fn digest(&self, image: &Image) -> u64 {
        digest(self.result(image).into_iter().map(u64::from))
    }
}
