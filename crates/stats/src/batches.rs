//! Batch means: the interval of a mean of the *correlated* observations of one long run.
//!
//! Neighbouring delays resemble each other, so their plain interval would be far too narrow.
//! The means of long batches hardly do. The run is cut into batches of equal length that grow as
//! the run does: whenever [`CAPACITY`] batches are full, neighbours are merged (dynamic batch
//! means, Yeh & Schmeiser 2000). The start of the run is cut by [MSER](crate::warmup::mser)
//! on the batches, the rest is merged into [`GROUPS`] groups whose means are treated as
//! independent.

use crate::interval::Interval;
use crate::warmup::mser;

/// How many batches are kept before neighbours merge.
pub const CAPACITY: usize = 512;
/// How many groups an interval is made of.
pub const GROUPS: usize = 20;
/// Observations in a batch at first: MSER-5.
const FIRST_BATCH: u64 = 5;

/// Collects observations into batches.
#[derive(Clone, Debug)]
pub struct BatchMeans {
    sums: Vec<f64>,
    batch: u64,
    filling: f64,
    filled: u64,
}

/// What a run amounts to.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Steady {
    /// Mean and half-width of the steady part.
    pub interval: Interval,
    /// Observations left out at the start.
    pub warmup: u64,
    /// Observations used.
    pub observations: u64,
}

impl Default for BatchMeans {
    fn default() -> Self {
        Self { sums: Vec::with_capacity(CAPACITY), batch: FIRST_BATCH, filling: 0.0, filled: 0 }
    }
}

impl BatchMeans {
    /// Adds the next observation of the run.
    #[inline]
    pub fn push(&mut self, observation: f64) {
        self.filling += observation;
        self.filled += 1;
        if self.filled == self.batch {
            self.close_batch();
        }
    }

    #[cold]
    fn close_batch(&mut self) {
        self.sums.push(core::mem::take(&mut self.filling));
        self.filled = 0;
        if self.sums.len() == CAPACITY {
            self.sums = self.sums.as_chunks::<2>().0.iter().map(|pair| pair.iter().sum()).collect();
            self.batch *= 2;
        }
    }

    /// Observations added so far.
    #[must_use]
    pub fn observations(&self) -> u64 {
        self.sums.len() as u64 * self.batch + self.filled
    }

    /// Where the run's steady part begins by its own account, in observations.
    #[must_use]
    pub fn warmup(&self) -> u64 {
        mser(&self.means()) as u64 * self.batch
    }

    /// The steady part of the run; an infinite half-width while there are too few batches.
    #[must_use]
    pub fn steady(&self) -> Steady {
        self.steady_after(self.warmup())
    }

    /// The run without its first `warmup` observations, rounded up to whole batches: for a second
    /// quantity of a run whose warm-up another one decides.
    #[must_use]
    pub fn steady_after(&self, warmup: u64) -> Steady {
        let means = self.means();
        let cut = usize::try_from(warmup.div_ceil(self.batch)).unwrap_or(usize::MAX).min(means.len());
        let kept = &means[cut..];
        let interval = match kept.len() / GROUPS {
            0 => Interval { half_width: f64::INFINITY, ..Interval::of(kept) },
            length => {
                // Leave what does not fill a group out at the start, next to the warm-up.
                let whole = &kept[kept.len() - length * GROUPS..];
                let groups: Vec<f64> = whole
                    .chunks_exact(length)
                    .map(|group| group.iter().sum::<f64>() / length as f64)
                    .collect();
                Interval::of(&groups)
            }
        };
        let observations = (means.len() - cut) as u64 * self.batch;
        Steady { interval, warmup: cut as u64 * self.batch, observations }
    }

    fn means(&self) -> Vec<f64> {
        self.sums.iter().map(|sum| sum / self.batch as f64).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_distr::{Distribution, StandardNormal};
    use rand_xoshiro::Xoshiro256PlusPlus;

    #[test]
    fn nothing_is_lost_as_batches_merge() {
        let mut batches = BatchMeans::default();
        for value in 0..100_003_u32 {
            batches.push(f64::from(value % 2));
        }
        assert_eq!(batches.observations(), 100_003);
        assert_eq!(batches.steady().interval.mean, 0.5);
    }

    #[test]
    fn too_short_a_run_says_nothing() {
        let mut batches = BatchMeans::default();
        (0..50).for_each(|value| batches.push(f64::from(value)));
        assert_eq!(batches.steady().interval.half_width, f64::INFINITY);
    }

    /// Coverage on a first-order autoregressive process of mean 0, whose correlation a plain
    /// interval ignores: of 400 intervals, the number that contain 0 must be plausible for 95%
    /// (a binomial at 95% falls below 360 with probability below 1e-4).
    #[test]
    fn intervals_of_a_correlated_run_cover_its_mean() {
        let covered = (0..400_u64).filter(|&seed| {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
            let (mut state, mut batches) = (0.0, BatchMeans::default());
            for _ in 0..50_000 {
                let shock: f64 = StandardNormal.sample(&mut random);
                state = 0.9 * state + shock;
                batches.push(state);
            }
            batches.steady().interval.contains(0.0)
        });
        let covered = covered.count();
        assert!((360..=398).contains(&covered), "{covered} of 400");
    }
}
