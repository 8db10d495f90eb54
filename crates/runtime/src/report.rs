//! What came of a run.

use crate::tally::{BLOCK, Block, Blocks, Served};
use core::ops::Range;
use std::collections::BTreeMap;
use warmcore_costs::Situation;
use warmcore_stats::Interval;
use warmcore_stats::ratio;
use warmcore_units::{Estimate, Nanos, PerSecond};

/// What is left out at the beginning, at least: caches fill, and queues find their level.
pub const WARM_UP: Nanos = Nanos(50e6);
/// Packets that are enough to tell a mean of.
const ENOUGH: u64 = 1_000;
/// Blocks that make one observation: neighbouring blocks are alike.
const BATCHES: usize = 20;
/// Packets beyond a quantile that one observation of it needs: of fewer, the longest delay is taken for it.
pub const MIN_TAIL_PACKETS: f64 = 10.0;

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

/// The steady part of a run: without its beginning. What it says of delays and times in service is of
/// packets that met no time in which the machine did not let a worker run.
#[derive(Clone, Debug)]
pub struct Steady {
    /// Its blocks, all workers together, in order of time.
    blocks: Vec<Block>,
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
        self.steady_after(WARM_UP)
    }

    /// What is kept of the time after `warm_up`, where the beginning lasts longer than usual: as long as
    /// packets come that are the first of their streams.
    #[must_use]
    pub fn steady_after(&self, warm_up: Nanos) -> Steady {
        let span = self.span(warm_up);
        let mut together = BTreeMap::<u64, Block>::new();
        let all = self.workers.iter().flat_map(|worker| &worker.last);
        for block in all.filter(|block| span.contains(&block.number)) {
            let number = block.number;
            together.entry(number).or_insert_with(|| Block { number, ..Block::default() }).merge(block);
        }
        Steady { blocks: together.into_values().collect() }
    }

    /// The same; but where hardly any packet met no stall, all packets count, whatever they met.
    #[must_use]
    pub fn steady_or_all(&self, warm_up: Nanos) -> Steady {
        let mut steady = self.steady_after(warm_up);
        if steady.total().clean.packets() < ENOUGH {
            steady.blocks.iter_mut().for_each(|block| block.clean = block.all_packets());
        }
        steady
    }

    /// The numbers of the blocks without those of the beginning and the last, which is not whole.
    fn span(&self, warm_up: Nanos) -> Range<u64> {
        let last = self.workers.iter().filter_map(|worker| Some(worker.last.back()?.number)).min();
        (warm_up / BLOCK).ceil() as u64..last.unwrap_or(0)
    }
}

impl Steady {
    /// How many blocks it has.
    #[must_use]
    pub fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// The share of packets that met a time in which a worker was kept from running: they are left
    /// out of delays and times in service.
    #[must_use]
    pub fn disturbed(&self) -> f64 {
        let total = self.total();
        total.disturbed.packets() as f64 / total.packets().max(1) as f64
    }

    /// Whether there is nothing to tell of.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.blocks.iter().all(|block| block.clean.packets() == 0)
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
        nanos(ratio::of_means(
            self.batches().iter().map(|batch| (batch.clean.delay.0, batch.clean.packets() as f64)),
        ))
    }

    /// The mean delay of all packets, of those as well that met a time in which a worker was kept from
    /// running.
    #[must_use]
    pub fn overall_delay(&self) -> Estimate<Nanos> {
        let of_batch = |batch: &Block| {
            let delay = batch.clean.delay + batch.disturbed.delay;
            (delay.0, batch.packets() as f64)
        };
        nanos(ratio::of_means(self.batches().iter().map(of_batch)))
    }

    /// The mean time in service.
    #[must_use]
    pub fn service(&self) -> Estimate<Nanos> {
        nanos(ratio::of_means(
            self.batches().iter().map(|batch| (batch.clean.busy().0, batch.clean.packets() as f64)),
        ))
    }

    /// The mean time in stack and handler of the packets that were timed.
    #[must_use]
    pub fn stack(&self) -> Estimate<Nanos> {
        let timed = |batch: &Block| {
            let all = batch.timed.iter();
            (all.clone().map(|served| served.time.0).sum(), all.map(|served| served.packets as f64).sum())
        };
        nanos(ratio::of_means(self.batches().iter().map(timed)))
    }

    /// What a packet that follows another without a pause takes its worker besides its time in stack and
    /// handler: taking packets in, deciding who processes them, and the books. Of packets that were timed.
    #[must_use]
    pub fn packet_overhead(&self) -> Estimate<Nanos> {
        nanos(ratio::of_means(
            self.batches()
                .iter()
                .map(|batch| (batch.packet_overhead.time.0, batch.packet_overhead.packets as f64)),
        ))
    }

    /// The delay that a fraction `p` of the packets does not exceed; with an infinite half-width where
    /// fewer than [`MIN_TAIL_PACKETS`] packets are beyond it in each of the observations that the interval is of.
    #[must_use]
    pub fn quantile(&self, p: f64) -> Estimate<Nanos> {
        let (batches, total) = (self.batches(), self.total().clean);
        let beyond = p.min(1.0 - p) * total.packets() as f64 / batches.len() as f64;
        let of_batches: Vec<f64> = batches.iter().map(|batch| batch.clean.delays.quantile(p)).collect();
        let half = if beyond < MIN_TAIL_PACKETS {
            f64::INFINITY
        } else {
            Interval::from_observations(&of_batches).half_width
        };
        Estimate::new(Nanos(total.delays.quantile(p)), Nanos(half))
    }

    /// Packets finished per second.
    #[must_use]
    pub fn throughput(&self) -> Estimate<PerSecond> {
        let rates: Vec<f64> = self.blocks.iter().map(|block| block.packets() as f64 / BLOCK.secs()).collect();
        let rate = Interval::from_observations(&rates);
        Estimate::new(PerSecond(rate.mean), PerSecond(rate.half_width))
    }

    /// The share of packets in each situation and their mean time in service there, with what was
    /// seen in it.
    #[must_use]
    pub fn situations(&self) -> Vec<(Situation, Served)> {
        Situation::all().zip(self.total().clean.situations).filter(|(_, served)| served.packets > 0).collect()
    }
}

fn nanos(interval: Interval) -> Estimate<Nanos> {
    Estimate::new(Nanos(interval.mean), Nanos(interval.half_width))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A worker that has filled so many blocks.
    fn report(blocks: u64) -> Report {
        let mut worker = Blocks::default();
        (0..blocks).for_each(|number| worker.push(Block { number, ..Block::default() }));
        Report { duration: Nanos::ZERO, workers: vec![worker], streams: Vec::new(), given_up: 0, lost: 0 }
    }

    #[test]
    fn a_longer_beginning_leaves_more_out() {
        let report = report(20);
        let first = |steady: Steady| steady.blocks.first().map(|block| block.number);
        assert_eq!(first(report.steady()), Some(5));
        assert_eq!(first(report.steady_after(BLOCK * 7.5)), Some(8));
        assert_eq!(report.steady_after(BLOCK * 7.5).blocks(), 11);
        assert_eq!(first(report.steady_after(BLOCK * 30.0)), None);
    }
}
