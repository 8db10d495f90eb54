//! The greatest of several means, each known with an interval.
//!
//! The greatest *estimate* is too great on average, the more so the more means are nearly equal: chance makes one of them
//! the greatest. So all intervals are widened until they hold together (Bonferroni). The greatest mean then is neither
//! below the greatest lower end, nor above the greatest upper end. Means whose upper end is below the greatest lower end
//! cannot be the greatest one; only as many as are left need hold together.

use crate::interval::{Interval, t_quantile, t_quantile_95};

/// The greatest of several means.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Greatest {
    /// The interval of the greatest mean. If several may be the greatest one, its middle is above the estimate of each.
    pub interval: Interval,
    /// Which one has the greatest estimate.
    pub index: usize,
}

/// The greatest of `of` means, of which `means` are those with the greatest estimates; `None` without any.
#[must_use]
pub fn greatest(means: &[Interval], of: usize) -> Option<Greatest> {
    let all = of.max(means.len());
    let (index, greatest) =
        means.iter().enumerate().max_by(|one, other| one.1.mean.total_cmp(&other.1.mean))?;
    let floor = lowest(means.iter().map(|&mean| together(mean, all)));
    let is_left = |mean: &&Interval| upper(together(**mean, all)) >= floor;
    let left: Vec<Interval> = means.iter().filter(is_left).copied().collect();
    // If all that are given are left, those that are not given may be left too.
    let as_many = if left.len() < means.len() { left.len() } else { all };
    let held = || left.iter().map(|&mean| together(mean, as_many));
    let (low, high) = (lowest(held()), held().map(upper).fold(f64::NEG_INFINITY, f64::max));
    let half_width = (high - low) / 2.0;
    if !half_width.is_finite() {
        let interval = Interval { half_width: f64::INFINITY, ..*greatest };
        return Some(Greatest { interval, index });
    }
    Some(Greatest { interval: Interval { mean: f64::midpoint(low, high), half_width, ..*greatest }, index })
}

/// The interval that holds together with those of as many means in all.
fn together(interval: Interval, means: usize) -> Interval {
    let freedom = (interval.count as f64 - 1.0).max(1.0);
    let wider = t_quantile(freedom, 0.05 / means as f64) / t_quantile_95(freedom);
    Interval { half_width: interval.half_width * wider, ..interval }
}

fn upper(interval: Interval) -> f64 {
    interval.mean + interval.half_width
}

/// The greatest lower end.
fn lowest(intervals: impl Iterator<Item = Interval>) -> f64 {
    intervals.map(|interval| interval.mean - interval.half_width).fold(f64::NEG_INFINITY, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::SmallRng;
    use rand::{RngExt, SeedableRng};

    fn interval(mean: f64, half_width: f64) -> Interval {
        Interval { mean, half_width, count: 20 }
    }

    #[test]
    fn a_mean_that_is_far_the_greatest_keeps_its_own_interval() {
        let found = greatest(&[interval(1.0, 0.1), interval(5.0, 0.2), interval(2.0, 0.1)], 3).unwrap();
        assert_eq!(found.index, 1);
        assert!((found.interval.mean - 5.0).abs() < 1e-12 && (found.interval.half_width - 0.2).abs() < 1e-12);
        assert_eq!(greatest(&[], 3), None);
        let unknown = greatest(&[interval(1.0, f64::INFINITY), interval(2.0, 0.1)], 2).unwrap();
        assert_eq!((unknown.interval.mean, unknown.interval.half_width), (2.0, f64::INFINITY));
    }

    /// Of eight equal means of 20 normal values each, in at least 95% of 2,000 trials.
    #[test]
    fn the_greatest_of_equal_means_lies_in_its_interval() {
        let mut random = SmallRng::seed_from_u64(26);
        // The sum of twelve uniform numbers is nearly normal.
        let mut normal = || (0..12).map(|_| random.random::<f64>()).sum::<f64>();
        let trials = 2_000;
        let held = (0..trials).filter(|_| {
            let means: Vec<Interval> = (0..8)
                .map(|_| Interval::from_observations(&core::array::from_fn::<f64, 20, _>(|_| normal())))
                .collect();
            greatest(&means, 8).is_some_and(|found| found.interval.contains(6.0))
        });
        // 95% less four standard deviations of that count.
        assert!(held.count() >= 1_861);
    }
}
