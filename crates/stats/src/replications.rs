//! Independent runs of the same point. The steady mean of each run has the same weight, whatever its length.
//!
//! The length of a run under sequential stopping depends on what it saw: a run that met a long backlog runs
//! longer, and weighting it by its length would bias the mean.

use crate::interval::Interval;
use crate::{paired, ratio};

/// The steady means of one quantity, one for each independent run, in order.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Replications(Vec<f64>);

/// A comparison of two alternatives that saw the same arrivals.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PairedComparison {
    /// The mean of the differences, in the unit of the means.
    pub difference: Interval,
    /// The difference as a fraction of the other alternative's mean.
    pub relative: Interval,
}

impl FromIterator<f64> for Replications {
    fn from_iter<I: IntoIterator<Item = f64>>(means: I) -> Self {
        Self(means.into_iter().collect())
    }
}

impl Replications {
    /// Adds the steady mean of one more run.
    pub fn push(&mut self, mean: f64) {
        self.0.push(mean);
    }

    /// The mean over the runs; the half-width is infinite with fewer than two.
    #[must_use]
    pub fn interval(&self) -> Interval {
        Interval::from_observations(&self.0)
    }

    /// Compares with `other`, run by run: run `i` of both must have had the same arrivals. `None`
    /// unless both have the same number of runs.
    #[must_use]
    pub fn against(&self, other: &Self) -> Option<PairedComparison> {
        let difference = paired::difference(&self.0, &other.0)?;
        let ratio = ratio::of_means(self.0.iter().copied().zip(other.0.iter().copied()));
        Some(PairedComparison { difference, relative: Interval { mean: ratio.mean - 1.0, ..ratio } })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn effects_of_common_arrivals_cancel() {
        let base: Replications = [10.0, 20.0, 30.0, 40.0].into_iter().collect();
        let slower: Replications = [11.0, 22.0, 33.0, 44.0].into_iter().collect();
        let others: Replications = [9.0, 10.0, 11.0, 10.0].into_iter().collect();
        let comparison = slower.against(&base).unwrap();
        assert_eq!(comparison.difference.mean, 2.5);
        // The denominator's mean is far too uncertain to divide by.
        assert_eq!(comparison.relative.half_width, f64::INFINITY);
        let firm = others.against(&others).unwrap();
        assert!(firm.relative.mean.abs() < 1e-12 && firm.relative.half_width < 1e-12);
        assert!(base.against(&Replications::default()).is_none());
    }
}
