//! Replications of one point, and how often their intervals contain the exact value.

use super::sizes::{OfSizes, Size};
use crate::machines::model;
use rayon::prelude::*;
use statrs::distribution::{Binomial, DiscreteCDF};
use std::ops::RangeInclusive;
use warmcore_costs::Profile;
use warmcore_scenario::{Effects, Extensions, Parallelism, ProcessorPolicy, Scheduling};
use warmcore_sim::packet::{Outcome, Precision, Shape, SimulatedHost, run};
use warmcore_units::{Estimate, PerSecond};
use warmcore_workload::{Batch, Key, Marks, Poisson, Popularity};

/// The probability with which a correct simulator fails, on either side.
const REFUSED: f64 = 1e-5;

/// A queueing system of theory, as a host.
pub(crate) struct Queue {
    /// Different for each queue, so that the random numbers differ.
    pub(crate) point: u64,
    pub(crate) profile: Profile,
    pub(crate) approach: Parallelism,
    pub(crate) policy: ProcessorPolicy,
    pub(crate) servers: u32,
    /// Packets per nanosecond.
    pub(crate) rate: PerSecond,
    pub(crate) batch: Batch,
    pub(crate) size: Size,
    /// Whether the exact arrival rate narrows the interval of the mean delay (a control variate).
    pub(crate) controlled: bool,
    pub(crate) replications: u64,
    /// Packets in each replication.
    pub(crate) packets: u64,
}

impl Queue {
    /// The outcome of each replication.
    pub(crate) fn outcomes(&self) -> Vec<Outcome> {
        (0..self.replications).into_par_iter().map(|replication| self.outcome(replication)).collect()
    }

    fn outcome(&self, replication: u64) -> Outcome {
        let key = Key { seed: 94, point: self.point, replication };
        let model = model(&self.profile, self.approach, self.servers);
        let host = SimulatedHost {
            shape: Shape::square(self.servers),
            scheduling: Scheduling { approach: self.approach, policy: self.policy, ..Scheduling::default() },
            model: &model,
            effects: Effects { checksum_ns_per_byte: 1.0, ..Effects::NONE },
            extensions: Extensions::NONE,
            key,
        };
        let marks = Marks::new(self.servers, Popularity::Uniform, self.batch, key).expect("streams");
        let arrivals = Poisson::marked(self.rate, marks, key).expect("a rate");
        let precision = Precision {
            // Never reached: all runs have the same length.
            relative: f64::MIN_POSITIVE,
            max_packets: self.packets,
            mean_gap: self.controlled.then(|| self.rate.interval()),
        };
        run(&host, &mut OfSizes::new(arrivals, self.size, key), precision)
    }
}

/// Asserts that the number of 95% intervals of `estimate` that contain `exact` is plausible for a binomial
/// count.
pub(crate) fn assert_covered<Q: Copy + Into<f64>>(
    what: &str,
    outcomes: &[Outcome],
    estimate: impl Fn(&Outcome) -> Estimate<Q>,
    exact: f64,
) {
    let covered = outcomes.iter().filter(|outcome| {
        let Estimate { mean, half_width } = estimate(outcome);
        half_width.is_some_and(|half_width| (mean.into() - exact).abs() <= half_width.into())
    });
    let (covered, of) = (covered.count() as u64, outcomes.len() as u64);
    println!("{what}: {covered} of {of} contain {exact}");
    assert!(plausible(of, 0.95).contains(&covered), "{what}: {covered} of {of} contain {exact}");
}

/// Asserts that the mean of `value` over the replications is within 4.5 standard deviations (of that mean) of
/// `exact`.
pub(crate) fn assert_unbiased(what: &str, outcomes: &[Outcome], value: impl Fn(&Outcome) -> f64, exact: f64) {
    let values: Vec<f64> = outcomes.iter().map(value).collect();
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let deviations = (mean - exact) / (variance / n).sqrt();
    println!("{what}: {mean} is {deviations:.1} deviations from {exact}");
    assert!(deviations.abs() < 4.5, "{what}: {mean} is {deviations} deviations from {exact}");
}

/// The plausible counts of successes in `of` trials with probability `success`.
fn plausible(of: u64, success: f64) -> RangeInclusive<u64> {
    let counts = Binomial::new(success, of).expect("a probability");
    let least = (0..=of).find(|&count| counts.cdf(count) > REFUSED);
    let most = (0..=of).rev().find(|&count| count == 0 || counts.sf(count - 1) > REFUSED);
    least.unwrap_or(0)..=most.unwrap_or(of)
}

/// The least plausible count of successes in `of` trials with probability `success`.
pub(crate) fn least_plausible(of: u64, success: f64) -> u64 {
    *plausible(of, success).start()
}

#[test]
fn plausible_counts_are_those_of_a_binomial() {
    assert_eq!(plausible(300, 0.95), 267..=298);
    assert_eq!(plausible(3, 0.5), 0..=3);
}
