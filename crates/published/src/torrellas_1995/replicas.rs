//! A setting of the open parameters, calibrated several times, each time to runs of its own.
//!
//! Runs scatter, and so does what is fitted to them. Each run of a result is of another calibration, and of random numbers that
//! this calibration has not seen: so intervals over runs hold both.

use super::calibrate::{Calibration, FitPrecision};
use super::open::Open;
use super::parts::{PredictionError, Steps};
use super::predictions::Policy;
use super::tables::Workload;
use rayon::prelude::*;
use warmcore_sim::runqueue::Tally;
use warmcore_stats::Interval;

/// Calibrations of one setting, at least one.
#[derive(Clone, PartialEq, Debug)]
pub struct Replicas {
    /// The setting.
    pub open: Open,
    /// Names the random numbers of all of them.
    pub seed: u64,
    /// Each calibration.
    pub all: Vec<Calibration>,
}

impl Replicas {
    /// Calibrates `open` `count` times, beginning where those of `from` ended if they are given.
    pub(super) fn new(
        (open, seed): (Open, u64),
        count: u32,
        from: Option<&Self>,
        precision: FitPrecision,
        steps: &Steps<'_>,
    ) -> Result<Self, PredictionError> {
        let calibrate = |replica: u32| {
            let from = from.and_then(|from| from.all.get(replica as usize));
            // Even seeds are for fits, odd ones for what comes of them.
            let seed = seed.wrapping_mul(1 << 16).wrapping_add(2 * u64::from(replica));
            let calibration = Calibration::new(open, seed, from, precision, steps)?;
            steps.step();
            Ok(calibration)
        };
        let all: Result<_, PredictionError> = (0..count).into_par_iter().map(calibrate).collect();
        Ok(Self { open, seed, all: all? })
    }

    /// One run of each calibration.
    pub(super) fn simulate(
        &self,
        (workload, policy): (Workload, Policy),
        steps: &Steps<'_>,
    ) -> Result<Vec<Tally>, PredictionError> {
        let run = |calibration: &Calibration| {
            let scenario = calibration.scenario(workload, policy.scheduler(&self.open), 1);
            Ok(steps.simulate(&scenario)?.runs)
        };
        let runs: Result<Vec<Vec<Tally>>, PredictionError> = self.all.par_iter().map(run).collect();
        Ok(runs?.concat())
    }

    /// A quantity of the calibrations.
    #[must_use]
    pub fn estimate(&self, of: impl Fn(&Calibration) -> f64) -> Interval {
        let values: Vec<f64> = self.all.iter().map(of).collect();
        Interval::from_observations(&values)
    }
}
