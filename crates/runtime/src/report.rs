//! What came of a run.

use crate::tally::{BLOCK, Block, Blocks, Served};
use core::ops::Range;
use std::collections::{BTreeMap, BTreeSet};
use warmcore_costs::Situation;
use warmcore_stats::Interval;
use warmcore_stats::ratio;
use warmcore_units::{Estimate, Nanos, PerSecond};

/// Blocks at the beginning that are left out: caches fill, and queues find their level.
const WARM_UP: u64 = 5;
/// Blocks after one in which a worker stalled that are left out with it: what had piled up is
/// worked off.
const RECOVERY: u64 = 1;
/// Blocks that are enough to tell a mean and its interval.
const ENOUGH: usize = 10;
/// Blocks that make one observation: neighbouring blocks are alike.
const BATCHES: usize = 20;

/// What came of a run.
#[derive(Clone, Debug)]
pub struct Report {
    /// From when the workers were made ready to when the last one left.
    pub duration: Nanos,
    /// What each worker did.
    pub workers: Vec<Blocks>,
    /// By worker, by stream: packets processed, of the first 1,024 streams.
    pub streams: Vec<Vec<u64>>,
    /// Packets that were held when the run ended, and given up.
    pub given_up: u64,
    /// Packets that the driver lost before they could be received.
    pub lost: u64,
}

/// The steady part of a run: without its beginning, and without the times in which the machine did
/// not let a worker run.
#[derive(Clone, Debug)]
pub struct Steady {
    /// Its blocks, all workers together, in order of time.
    blocks: Vec<Block>,
    /// Blocks in which somebody stalled.
    pub disturbed: usize,
    /// Whether these are left out.
    pub undisturbed: bool,
}

impl Report {
    /// Everything that happened, all workers together.
    #[must_use]
    pub fn total(&self) -> Block {
        let mut total = Block::default();
        self.workers.iter().for_each(|worker| total.merge(&worker.total));
        total
    }

    /// The steady part of what is kept.
    #[must_use]
    pub fn steady(&self) -> Steady {
        let disturbed = self.disturbed();
        let blocks = self.blocks_where(|number| !disturbed.contains(&number));
        let left_out = disturbed.iter().filter(|number| self.span().contains(number)).count();
        Steady { blocks, disturbed: left_out, undisturbed: true }
    }

    /// The steady part, if there is enough of it to tell anything; if not, all but the beginning, with
    /// whatever disturbed it.
    #[must_use]
    pub fn steady_or_all(&self) -> Steady {
        let steady = self.steady();
        if steady.blocks.len() >= ENOUGH && !steady.is_empty() {
            return steady;
        }
        Steady { blocks: self.blocks_where(|_| true), undisturbed: false, ..steady }
    }

    /// The blocks in which, or right before which, somebody stalled.
    fn disturbed(&self) -> BTreeSet<u64> {
        let all = self.workers.iter().flat_map(|worker| &worker.last);
        let stalled = all.filter(|block| block.stalls.count > 0);
        stalled.flat_map(|block| block.number.saturating_sub(RECOVERY)..=block.number + RECOVERY).collect()
    }

    /// The blocks of the run without its beginning and without its last, which is not a whole one.
    fn span(&self) -> Range<u64> {
        let last = self.workers.iter().filter_map(|worker| Some(worker.last.back()?.number)).min();
        WARM_UP..last.unwrap_or(0)
    }

    /// Blocks with these numbers, those of all workers together.
    fn blocks_where(&self, wanted: impl Fn(u64) -> bool) -> Vec<Block> {
        let span = self.span();
        let mut together = BTreeMap::<u64, Block>::new();
        let all = self.workers.iter().flat_map(|worker| &worker.last);
        for block in all.filter(|block| span.contains(&block.number) && wanted(block.number)) {
            let number = block.number;
            together.entry(number).or_insert_with(|| Block { number, ..Block::default() }).merge(block);
        }
        together.into_values().collect()
    }
}

impl Steady {
    /// How many blocks it has.
    #[must_use]
    pub fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// How many blocks there were, those left out included.
    #[must_use]
    pub fn of(&self) -> usize {
        if self.undisturbed { self.blocks.len() + self.disturbed } else { self.blocks.len() }
    }

    /// Whether nothing is left of the run, as workers were kept from running all the time, or
    /// nothing was finished.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.blocks.iter().all(|block| block.packets() == 0)
    }

    /// How long it is.
    #[must_use]
    pub fn duration(&self) -> Nanos {
        BLOCK * self.blocks.len() as f64
    }

    /// All of it together.
    #[must_use]
    pub fn total(&self) -> Block {
        let mut total = Block::default();
        self.blocks.iter().for_each(|block| total.merge(block));
        total
    }

    /// Neighbouring blocks taken together, so that they are nearly independent.
    fn batches(&self) -> Vec<Block> {
        let size = self.blocks.len().div_ceil(BATCHES).max(1);
        let together = |blocks: &[Block]| {
            let mut batch = Block::default();
            blocks.iter().for_each(|block| batch.merge(block));
            batch
        };
        self.blocks.chunks(size).map(together).collect()
    }

    /// The mean delay: from arrival to the end of service.
    #[must_use]
    pub fn delay(&self) -> Estimate<Nanos> {
        nanos(ratio::of_means(self.batches().iter().map(|batch| (batch.delay.0, batch.packets() as f64))))
    }

    /// The mean time in service.
    #[must_use]
    pub fn service(&self) -> Estimate<Nanos> {
        nanos(ratio::of_means(self.batches().iter().map(|batch| (batch.busy().0, batch.packets() as f64))))
    }

    /// The delay that a fraction `p` of the packets does not exceed.
    #[must_use]
    pub fn quantile(&self, p: f64) -> Estimate<Nanos> {
        let of_batches: Vec<f64> = self.batches().iter().map(|batch| batch.delays.quantile(p)).collect();
        let spread = Interval::of(&of_batches);
        Estimate::new(Nanos(self.total().delays.quantile(p)), Nanos(spread.half_width))
    }

    /// Packets finished per second.
    #[must_use]
    pub fn throughput(&self) -> Estimate<PerSecond> {
        let rates: Vec<f64> = self.blocks.iter().map(|block| block.packets() as f64 / BLOCK.secs()).collect();
        let rate = Interval::of(&rates);
        Estimate::new(PerSecond(rate.mean), PerSecond(rate.half_width))
    }

    /// The share of packets in each situation and their mean time in service there, with what was
    /// seen in it.
    #[must_use]
    pub fn situations(&self) -> Vec<(Situation, Served)> {
        Situation::all().zip(self.total().situations).filter(|(_, served)| served.packets > 0).collect()
    }
}

fn nanos(interval: Interval) -> Estimate<Nanos> {
    Estimate::new(Nanos(interval.mean), Nanos(interval.half_width))
}
