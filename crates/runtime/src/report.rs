//! The results of a run, and their statistics.

use crate::tally::{BLOCK, Block, Blocks, Served};
use core::ops::Range;
use std::collections::BTreeMap;
use warmcore_costs::Situation;
use warmcore_stats::Interval;
use warmcore_stats::ratio;
use warmcore_units::{Estimate, Nanos, PerSecond};

/// Warm-up time that is left out at least: caches fill, and queues reach their usual length.
pub const WARM_UP: Nanos = Nanos(50e6);
/// Fewest packets for a mean.
const MIN_PACKETS: u64 = 1_000;
/// Number of batches that blocks are grouped into, because neighbouring blocks are correlated.
const BATCHES: usize = 20;
/// Packets beyond a quantile that each batch needs: with fewer, the estimate would be little more than
/// the longest delay.
pub const MIN_TAIL_PACKETS: f64 = 10.0;

/// The results of a run.
#[derive(Clone, Debug)]
pub struct Report {
    /// From the start of the workers to the end of the last one.
    pub duration: Nanos,
    /// What each worker did.
    pub workers: Vec<Blocks>,
    /// By worker, by stream: packets processed, of the first 1,024 streams.
    pub streams: Vec<Vec<u64>>,
    /// Packets that were still held when the run ended, and were given up.
    pub given_up: u64,
    /// Packets that the driver lost before they could be received.
    pub lost: u64,
}

/// The steady part of a run, without the warm-up. Its delays and times in service leave out packets
/// that met a stall, a time in which the machine did not let a worker run.
#[derive(Clone, Debug)]
pub struct Steady {
    /// The blocks, merged over all workers, in order of time.
    blocks: Vec<Block>,
}

impl Report {
    /// All counts of the run, merged over workers.
    #[must_use]
    pub fn total(&self) -> Block {
        let mut total = Block::default();
        self.workers.iter().for_each(|worker| total.merge(&worker.total));
        total
    }

    /// The steady part of the blocks that were kept.
    #[must_use]
    pub fn steady(&self) -> Steady {
        self.steady_after(WARM_UP)
    }

    /// The blocks after `warm_up`. Use this if the warm-up lasts longer than usual: as long as first
    /// packets of streams keep coming.
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

    /// Like [`steady_after`](Self::steady_after), but if hardly any packet is undisturbed, disturbed
    /// packets count too.
    #[must_use]
    pub fn steady_or_all(&self, warm_up: Nanos) -> Steady {
        let mut steady = self.steady_after(warm_up);
        if steady.total().clean.packets() < MIN_PACKETS {
            steady.blocks.iter_mut().for_each(|block| block.clean = block.all_packets());
        }
        steady
    }

    /// Numbers of the steady blocks: without the warm-up, and without the last block, which is
    /// incomplete.
    fn span(&self, warm_up: Nanos) -> Range<u64> {
        let last = self.workers.iter().filter_map(|worker| Some(worker.last.back()?.number)).min();
        (warm_up / BLOCK).ceil() as u64..last.unwrap_or(0)
    }
}

impl Steady {
    /// Number of blocks.
    #[must_use]
    pub fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// Fraction of packets that met a stall. They are left out of delays and times in service.
    #[must_use]
    pub fn disturbed(&self) -> f64 {
        let total = self.total();
        total.disturbed.packets() as f64 / total.packets().max(1) as f64
    }

    /// Whether there is no undisturbed packet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.blocks.iter().all(|block| block.clean.packets() == 0)
    }

    /// Its length.
    #[must_use]
    pub fn duration(&self) -> Nanos {
        BLOCK * self.blocks.len() as f64
    }

    /// All blocks merged.
    #[must_use]
    pub fn total(&self) -> Block {
        let mut total = Block::default();
        self.blocks.iter().for_each(|block| total.merge(block));
        total
    }

    /// The blocks merged into batches that are nearly independent.
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

    /// The mean delay of all packets, including those that met a stall.
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

    /// The mean time in stack and handler, of the packets that were timed.
    #[must_use]
    pub fn stack(&self) -> Estimate<Nanos> {
        let timed = |batch: &Block| {
            let all = batch.timed.iter();
            (all.clone().map(|served| served.time.0).sum(), all.map(|served| served.packets as f64).sum())
        };
        nanos(ratio::of_means(self.batches().iter().map(timed)))
    }

    /// The mean time per packet outside stack and handler: receiving, dispatching and bookkeeping.
    /// Measured on timed packets that follow another without a pause.
    #[must_use]
    pub fn packet_overhead(&self) -> Estimate<Nanos> {
        nanos(ratio::of_means(
            self.batches()
                .iter()
                .map(|batch| (batch.packet_overhead.time.0, batch.packet_overhead.packets as f64)),
        ))
    }

    /// The delay that a fraction `p` of the packets does not exceed. Its half-width is infinite if
    /// fewer than [`MIN_TAIL_PACKETS`] packets per batch lie beyond it.
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

    /// Packets and time in service of each cache situation that occurred. The time of one comes from packets that
    /// [shared no reading](crate::tally::Interpolated) of the clock, where there were any.
    #[must_use]
    pub fn situations(&self) -> Vec<(Situation, Served)> {
        let clean = self.total().clean;
        let of = |((situation, all), alone): ((Situation, Served), Served)| {
            let each = if alone.packets > 0 { alone } else { all };
            let time = each.time * (all.packets as f64 / each.packets as f64);
            (all.packets > 0).then_some((situation, Served { time, ..all }))
        };
        Situation::all().zip(clean.situations).zip(clean.alone).filter_map(of).collect()
    }
}

fn nanos(interval: Interval) -> Estimate<Nanos> {
    Estimate::new(Nanos(interval.mean), Nanos(interval.half_width))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The report of a worker with this many blocks.
    fn report(blocks: u64) -> Report {
        let mut worker = Blocks::default();
        (0..blocks).for_each(|number| worker.push(Block { number, ..Block::default() }));
        Report { duration: Nanos::ZERO, workers: vec![worker], streams: Vec::new(), given_up: 0, lost: 0 }
    }

    #[test]
    fn a_longer_warm_up_leaves_more_out() {
        let report = report(20);
        let first = |steady: Steady| steady.blocks.first().map(|block| block.number);
        assert_eq!(first(report.steady()), Some(5));
        assert_eq!(first(report.steady_after(BLOCK * 7.5)), Some(8));
        assert_eq!(report.steady_after(BLOCK * 7.5).blocks(), 11);
        assert_eq!(first(report.steady_after(BLOCK * 30.0)), None);
    }
}
