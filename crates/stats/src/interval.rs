//! Confidence intervals for the mean of independent observations (Student's t).

use statrs::distribution::{ContinuousCDF, StudentsT};

/// A mean and the half-width of its 95% confidence interval, in the unit of the observations.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Interval {
    /// Mean of the observations; NaN if there was none.
    pub mean: f64,
    /// Half-width of the 95% interval; infinite with fewer than two observations.
    pub half_width: f64,
    /// How many observations.
    pub count: usize,
}

impl Interval {
    /// The interval for the mean of `observations`, which must be independent and identically distributed.
    /// Student's t assumes a normal distribution; means of runs or of long batches are nearly normal.
    #[must_use]
    pub fn from_observations(observations: &[f64]) -> Self {
        let count = observations.len();
        #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
        let n = count as f64;
        let mean = observations.iter().sum::<f64>() / n;
        if count < 2 {
            return Self { mean, half_width: f64::INFINITY, count };
        }
        let squares: f64 = observations.iter().map(|value| (value - mean).powi(2)).sum();
        let deviation = (squares / (n - 1.0) / n).sqrt();
        Self { mean, half_width: t_quantile_95(n - 1.0) * deviation, count }
    }

    /// Half-width as a fraction of the mean.
    #[must_use]
    pub fn relative(&self) -> f64 {
        self.half_width / self.mean.abs()
    }

    /// Whether the interval contains `value`.
    #[must_use]
    pub fn contains(&self, value: f64) -> bool {
        (self.mean - value).abs() <= self.half_width
    }
}

/// The two-sided 95% quantile of Student's t with `freedom` degrees of freedom.
#[must_use]
pub fn t_quantile_95(freedom: f64) -> f64 {
    t_quantile(freedom, 0.05)
}

/// The two-sided quantile of Student's t with `freedom` degrees of freedom that is exceeded with probability `beyond`.
#[must_use]
pub fn t_quantile(freedom: f64, beyond: f64) -> f64 {
    StudentsT::new(0.0, 1.0, freedom).map_or(f64::INFINITY, |t| t.inverse_cdf(1.0 - beyond / 2.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_match_the_printed_tables() {
        for (freedom, quantile) in [(1.0, 12.706), (4.0, 2.776), (9.0, 2.262), (99.0, 1.984)] {
            assert!((t_quantile_95(freedom) - quantile).abs() < 5e-4, "{freedom}");
        }
    }

    #[test]
    fn four_observations_by_hand() {
        let interval = Interval::from_observations(&[1.0, 2.0, 3.0, 4.0]);
        assert_eq!(interval.mean, 2.5);
        assert!((interval.half_width - 3.1824 * (5.0_f64 / 3.0 / 4.0).sqrt()).abs() < 1e-3);
        assert!(interval.contains(3.0) && !interval.contains(5.0));
    }

    #[test]
    fn one_observation_has_an_infinite_half_width() {
        assert_eq!(Interval::from_observations(&[5.0]).half_width, f64::INFINITY);
        assert!(Interval::from_observations(&[]).mean.is_nan());
    }
}
