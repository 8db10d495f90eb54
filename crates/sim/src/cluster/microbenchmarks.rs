//! The microbenchmarks of chapter 5 as programs of the machine (Falsafi 1998, §5.3.3): remote read, reply bandwidth and request
//! bandwidth are all processors that read blocks of other nodes.
//!
//! In each round the blocks' owners, whose nodes are their homes, write them; then the readers read each, a miss every time. The
//! first round finds the protocol's data in no cache, so that figures are those of later rounds.

use super::error::Error;
use super::machine::Machine;
use super::outcome::Outcome;
use super::run::{Options, run};
use warmcore_units::Fault;
use warmcore_workload::programs::{
    Address, BarrierId, Home, Image, Prepared, Program, SharedMemory, WrongResult,
};

/// The barrier before blocks are read.
const READING: BarrierId = BarrierId(0);
/// The barrier after that.
const READ: BarrierId = BarrierId(1);

/// Cycles of computing before blocks are read, so that what the barrier has sent does not meet the first requests.
const SETTLING: u32 = 20_000;

/// Blocks of the remote read: fewer than a block buffer holds, so that none is written back meanwhile.
const FEW_BLOCKS: u64 = 8;

/// A reader, and the owner of the blocks that it reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pair {
    /// The number of the processor that reads.
    pub reader: u32,
    /// The number of the processor that writes them, on their home.
    pub owner: u32,
}

/// Readers that read blocks of other nodes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RemoteReads {
    /// Who reads whose blocks.
    pub pairs: Vec<Pair>,
    /// Blocks that each reads in a round.
    pub blocks: u64,
    /// Bytes of a block, those of the machine.
    pub block_bytes: u64,
    /// Rounds; the last is the one that counts.
    pub rounds: u64,
}

impl RemoteReads {
    /// One processor that reads blocks of another node, on nodes of `processors`.
    #[must_use]
    pub fn remote_read(processors: u32, blocks: u64, block_bytes: u64) -> Self {
        Self { pairs: vec![Pair { reader: 0, owner: processors }], blocks, block_bytes, rounds: 2 }
    }

    /// Mean cycles of a remote read on `machine` with nothing in its way, and the run in which it was measured: reads of the second
    /// round, which find the protocol's data in the caches of who needs them. They are what two rounds have more than one.
    ///
    /// # Errors
    /// If the machine is impossible, or takes longer than `options` allow.
    pub fn round_trip(machine: &Machine, options: &Options<'_>) -> Result<(f64, Outcome), Error> {
        let twice = Self::remote_read(machine.processors, FEW_BLOCKS, machine.block_bytes);
        let once = Self { rounds: 1, ..twice.clone() };
        let [first, both] = [run(machine, &once, options)?, run(machine, &twice, options)?];
        let [fewer, all] = [&first, &both].map(|outcome| outcome.processors[0].remote_misses);
        let reads = all.times.saturating_sub(fewer.times).max(1);
        Ok((all.cycles.saturating_sub(fewer.cycles) as f64 / reads as f64, both))
    }

    /// `requesters` nodes of `processors`, on each of which a processor reads blocks of the first node. It takes a node more.
    #[must_use]
    pub fn reply_bandwidth(requesters: u32, processors: u32, blocks: u64, block_bytes: u64) -> Self {
        let pair = |node: u32| Pair { reader: node * processors, owner: 0 };
        Self { pairs: (1..=requesters).map(pair).collect(), blocks, block_bytes, rounds: 2 }
    }

    /// `requesters` processors of the first node, each of which reads blocks of another node. It takes a node for each more.
    #[must_use]
    pub fn request_bandwidth(requesters: u32, processors: u32, blocks: u64, block_bytes: u64) -> Self {
        let pair = |reader: u32| Pair { reader, owner: (reader + 1) * processors };
        Self { pairs: (0..requesters).map(pair).collect(), blocks, block_bytes, rounds: 2 }
    }

    /// Bytes that were read in each cycle of the last round.
    ///
    /// `None`, if `outcome` is of another program.
    #[must_use]
    pub fn bytes_per_cycle(&self, outcome: &Outcome) -> Option<f64> {
        let last = |barrier| outcome.episodes.iter().rfind(|episode| episode.barrier == barrier);
        let cycles = last(READ)?.cycles - last(READING)?.cycles - u64::from(SETTLING);
        let bytes = self.pairs.len() as u64 * self.blocks * self.block_bytes;
        Some(bytes as f64 / cycles as f64)
    }
}

/// Remote reads with their blocks laid out.
#[derive(Clone, Debug)]
pub struct PreparedReads {
    reads: RemoteReads,
    /// The blocks of each pair.
    blocks: Vec<Address>,
    /// Where each reader says how many blocks were not as they should be.
    wrong: Vec<Address>,
}

impl Program for RemoteReads {
    type Prepared = PreparedReads;

    fn name(&self) -> &'static str {
        "remote reads"
    }

    fn prepare(&self, image: &mut Image, processors: u32) -> Result<PreparedReads, Fault> {
        for pair in &self.pairs {
            if pair.reader.max(pair.owner) >= processors {
                let found = format!("{} and {}", pair.reader, pair.owner);
                return Err(Fault::new("pairs", found, format!("processors below {processors}")));
            }
        }
        let bytes = self.blocks * self.block_bytes;
        let blocks =
            self.pairs.iter().map(|pair| image.allocate(bytes, Home::Processor(pair.owner))).collect();
        let wrong = self.pairs.iter().map(|pair| image.allocate(8, Home::Processor(pair.reader))).collect();
        Ok(PreparedReads { reads: self.clone(), blocks, wrong })
    }
}

impl Prepared for PreparedReads {
    fn run<M: SharedMemory>(&self, memory: &M) {
        let words = self.reads.block_bytes / 8;
        let value = |round: u64, block: u64| round << 32 | block;
        for round in 1..=self.reads.rounds {
            for (pair, &at) in self.reads.pairs.iter().zip(&self.blocks) {
                if pair.owner == memory.processor() {
                    (0..self.reads.blocks)
                        .for_each(|block| memory.store(at.word(block * words), value(round, block)));
                }
            }
            memory.barrier(READING);
            memory.compute(SETTLING);
            for ((pair, &at), &wrong) in self.reads.pairs.iter().zip(&self.blocks).zip(&self.wrong) {
                if pair.reader == memory.processor() {
                    let is_wrong = |&block: &u64| memory.load(at.word(block * words)) != value(round, block);
                    let found = (0..self.reads.blocks).filter(is_wrong).count();
                    memory.store(wrong, memory.load(wrong) + found as u64);
                }
            }
            memory.barrier(READ);
        }
    }

    fn check(&self, image: &Image) -> Result<(), WrongResult> {
        for (pair, &at) in self.reads.pairs.iter().zip(&self.wrong) {
            let found = image.load(at);
            if found > 0 {
                return Err(WrongResult {
                    what: format!("blocks that processor {} read", pair.reader),
                    expected: "what their owner wrote".to_owned(),
                    found: format!("{found} others"),
                });
            }
        }
        Ok(())
    }

    fn digest(&self, image: &Image) -> u64 {
        image.words().iter().fold(0, |digest, word| digest ^ word)
    }
}
