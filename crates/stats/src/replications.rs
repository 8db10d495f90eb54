//! Independent runs of the same point: each one's steady mean counts once, whatever its length.
//!
//! Equal weights, because a run's length under sequential stopping depends on what it saw: a run
//! that met a long backlog runs longer, and weighing it by its length would bias the mean.

use crate::interval::Interval;
use crate::{paired, ratio};

/// The steady means of one quantity, one for each independent run, in the order of the runs.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Replications(Vec<f64>);

/// How one alternative compares with another that saw the same arrivals.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Comparison {
    /// The mean of the differences, in the unit of the means.
    pub difference: Interval,
    /// The difference as a fraction of the other one's mean.
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

    /// The mean over the runs; an infinite half-width with fewer than two.
    #[must_use]
    pub fn interval(&self) -> Interval {
        Interval::from_observations(&self.0)
    }

    /// Compares with `other`, run by run: run `i` of both must have had the same arrivals. `None`
    /// unless both have the same number of runs.
    #[must_use]
    pub fn against(&self, other: &Self) -> Option<Comparison> {
        let difference = paired::difference(&self.0, &other.0)?;
        let ratio = ratio::of_means(self.0.iter().copied().zip(other.0.iter().copied()));
        Some(Comparison { difference, relative: Interval { mean: ratio.mean - 1.0, ..ratio } })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_arrivals_did_to_both_cancels() {
        let base: Replications = [10.0, 20.0, 30.0, 40.0].into_iter().collect();
        let slower: Replications = [11.0, 22.0, 33.0, 44.0].into_iter().collect();
        let others: Replications = [9.0, 10.0, 11.0, 10.0].into_iter().collect();
        let comparison = slower.against(&base).unwrap();
        assert_eq!(comparison.difference.mean, 2.5);
        // The mean below the line is far too uncertain to divide by.
        assert_eq!(comparison.relative.half_width, f64::INFINITY);
        let firm = others.against(&others).unwrap();
        assert!(firm.relative.mean.abs() < 1e-12 && firm.relative.half_width < 1e-12);
        assert!(base.against(&Replications::default()).is_none());
    }
}
