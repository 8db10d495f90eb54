//! An experiment in blocks. In every block each alternative runs once, and a run that other programs
//! disturbed is repeated. Other load does not only add noise to a comparison, it can reverse it.

use std::sync::atomic::{AtomicBool, Ordering};
use warmcore_linux::CpuUsage;
use warmcore_stats::blocks::order;
use warmcore_units::Nanos;

/// How the runs of an experiment are arranged.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BlockDesign {
    /// Number of blocks, each with one run of every alternative.
    pub count: usize,
    /// The fraction of the cpus' time that other programs may take in a run.
    pub max_foreign: f64,
    /// How often a run may be repeated because other programs took more than that.
    pub repeats: usize,
}

impl Default for BlockDesign {
    /// Five blocks, at most 5% for other programs, and two repetitions.
    fn default() -> Self {
        Self { count: 5, max_foreign: 0.05, repeats: 2 }
    }
}

/// One run of one alternative.
#[derive(Clone, Debug)]
pub struct BlockRun<T> {
    /// The result of the run.
    pub outcome: T,
    /// The cpus' time it took.
    pub spent: CpuUsage,
    /// Disturbed runs that were discarded before it.
    pub discarded: usize,
    /// Whether other programs took more than allowed, in this run and in all discarded ones.
    pub disturbed: bool,
}

/// Why an experiment ended early.
#[derive(Debug, thiserror::Error)]
pub enum BlockError<E> {
    /// A run failed.
    #[error(transparent)]
    Run(E),
    /// The user has stopped it.
    #[error("interrupted")]
    Interrupted,
}

impl BlockDesign {
    /// Calls `run` with the number of each of `alternatives` in every block. Returns the runs by
    /// alternative, by block. If all repetitions of a run were disturbed, the least disturbed one
    /// counts.
    ///
    /// # Errors
    /// If a run fails, or `stop` is set.
    pub fn run<T, E>(
        &self,
        alternatives: usize,
        stop: &AtomicBool,
        mut run: impl FnMut(usize) -> Result<(T, CpuUsage), E>,
    ) -> Result<Vec<Vec<BlockRun<T>>>, BlockError<E>> {
        let mut tried: Vec<Vec<BlockRun<T>>> = (0..alternatives).map(|_| Vec::new()).collect();
        for block in 0..self.count {
            for alternative in order(alternatives, block) {
                let once = || {
                    let stopped = stop.load(Ordering::Relaxed);
                    if stopped {
                        Err(BlockError::Interrupted)
                    } else {
                        run(alternative).map_err(BlockError::Run)
                    }
                };
                tried[alternative].push(self.until_quiet(once)?);
            }
        }
        Ok(tried)
    }

    fn until_quiet<T, E>(
        &self,
        mut once: impl FnMut() -> Result<(T, CpuUsage), E>,
    ) -> Result<BlockRun<T>, E> {
        let mut least: Option<(T, CpuUsage)> = None;
        for discarded in 0..=self.repeats {
            let (outcome, spent) = once()?;
            if self.is_quiet(&spent) {
                return Ok(BlockRun { outcome, spent, discarded, disturbed: false });
            }
            if least.as_ref().is_none_or(|(_, least)| spent.others < least.others) {
                least = Some((outcome, spent));
            }
        }
        let (outcome, spent) = least.expect("at least one run is made");
        Ok(BlockRun { outcome, spent, discarded: self.repeats, disturbed: true })
    }

    /// Whether other programs took little enough, or so little that it may be the kernel's rounding.
    fn is_quiet(&self, spent: &CpuUsage) -> bool {
        const ROUNDING: Nanos = Nanos(15e6); // of each cpu; the kernel counts in ticks
        spent.others <= self.max_foreign || spent.time * spent.others <= ROUNDING
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spent(others: f64) -> CpuUsage {
        CpuUsage { time: Nanos::from_secs(10.0), others, ..CpuUsage::default() }
    }

    fn never() -> AtomicBool {
        AtomicBool::new(false)
    }

    #[test]
    fn every_alternative_is_tried_in_every_block() {
        let mut order = Vec::new();
        let run = |alternative| {
            order.push(alternative);
            Ok::<_, ()>((alternative * 10, spent(0.0)))
        };
        let tried = BlockDesign { count: 4, ..BlockDesign::default() }.run(3, &never(), run).unwrap();
        for (alternative, of_it) in tried.iter().enumerate() {
            assert_eq!(of_it.len(), 4);
            assert!(of_it.iter().all(|tried| tried.outcome == alternative * 10 && tried.discarded == 0));
        }
        for block in order.chunks_mut(3) {
            block.sort_unstable();
            assert_eq!(block, [0, 1, 2]);
        }
    }

    #[test]
    fn a_disturbed_run_is_repeated_and_the_least_disturbed_counts() {
        let mut others = [0.3, 0.01, 0.4, 0.2, 0.3].into_iter();
        let run = |_| {
            let others = others.next().unwrap();
            Ok::<_, ()>((others, spent(others)))
        };
        let tried = BlockDesign { count: 2, ..BlockDesign::default() }.run(1, &never(), run).unwrap();
        let told = |of: &BlockRun<f64>| (of.outcome, of.discarded, of.disturbed);
        assert_eq!(tried[0].iter().map(told).collect::<Vec<_>>(), [(0.01, 1, false), (0.2, 2, true)]);
    }

    #[test]
    fn it_ends_when_a_run_fails_or_the_user_stops() {
        let failed = BlockDesign::default().run(1, &never(), |_| Err::<((), CpuUsage), _>("broken"));
        assert!(matches!(failed, Err(BlockError::Run("broken"))));
        let stopped =
            BlockDesign::default().run(1, &AtomicBool::new(true), |_| Ok::<_, ()>(((), spent(0.0))));
        assert!(matches!(stopped, Err(BlockError::Interrupted)));
    }
}
