//! The share of packets whose delay is longer than a limit, with its interval.
//!
//! It says more exactly than a quantile whether a limit is kept: nothing is counted in buckets, and its half-width is
//! that of a mean (batch means of ones and zeros).

use crate::packet::replications::estimate;
use crate::packet::steady::RunExtent;
use serde::{Deserialize, Serialize};
use warmcore_stats::batches::BatchMeans;
use warmcore_units::{Estimate, Nanos};

/// The share of packets that take longer than a limit.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct SlowerShare {
    /// The limit, in nanoseconds.
    pub limit_ns: f64,
    /// The share, a fraction of 1.
    pub share: f64,
    /// Half-width of its 95% interval; `None` if that is not known.
    pub half_width: Option<f64>,
}

/// Counts the slower packets of one run.
pub(super) struct Slower {
    limit: f64,
    counts: BatchMeans,
}

impl Slower {
    pub(super) fn new(limit: Nanos, extent: RunExtent) -> Self {
        Self { limit: limit.0, counts: BatchMeans::default().with_warmup(Some(extent.warmup)) }
    }

    pub(super) fn finishes(&mut self, delay: Nanos) {
        self.counts.push([if delay.0 > self.limit { 1.0 } else { 0.0 }]);
    }

    pub(super) fn share(&self) -> Estimate<f64> {
        let [interval] = self.counts.steady().intervals;
        // Where all are alike, their spread says nothing: at 95%, fewer than 3 in as many are otherwise (the rule of three).
        let are_alike = interval.mean == 0.0 || interval.mean == 1.0;
        let rare = 3.0 / self.counts.observations().max(1) as f64;
        Estimate::new(interval.mean, if are_alike { rare } else { interval.half_width })
    }
}

impl SlowerShare {
    /// Over runs with these shares.
    pub(super) fn new(limit: Nanos, runs: &[Estimate<f64>]) -> Self {
        let Estimate { mean, half_width } = estimate(runs);
        Self { limit_ns: limit.0, share: mean, half_width: half_width.filter(|half| half.is_finite()) }
    }
}
