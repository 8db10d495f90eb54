//! The mean of a *series*: ordered values, each of which may still be correlated with the one before.
//!
//! Means of batches that are too short for the process keep some correlation, and their plain interval is
//! too narrow. If they are fitted as a first-order autoregressive process with lag-1 correlation `r`, the
//! variance of their mean is greater by `(1 + r) / (1 - r)`: the autoregressive part of Skart (Tafazzoli,
//! Wilson, Lada & Steiger 2011).

use crate::interval::{Interval, t_quantile_95};

/// The largest correlation used. A higher one means that the values are a trend, not a series around a mean.
const MAX_CORRELATION: f64 = 0.95;

/// The interval for the mean of `values`, widened for the correlation of neighbours. A negative
/// correlation does not narrow it.
#[must_use]
pub fn of_correlated(values: &[f64]) -> Interval {
    let plain = Interval::from_observations(values);
    let n = values.len() as f64;
    let widening = (1.0 + correlation(values)) / (1.0 - correlation(values));
    // Correlated values count as fewer independent ones.
    let freedom = ((n - 1.0) / widening).max(3.0);
    let deviation = plain.half_width / t_quantile_95(n - 1.0) * widening.sqrt();
    Interval { half_width: t_quantile_95(freedom) * deviation, ..plain }
}

/// The lag-1 correlation, corrected for its bias in short series (`-(1 + 3r)/n`, Kendall 1954).
fn correlation(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let products: f64 = values.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
    if squares == 0.0 {
        return 0.0;
    }
    let raw = products / squares;
    (raw + (1.0 + 3.0 * raw) / n).clamp(0.0, MAX_CORRELATION)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trend_widens_the_interval_and_alternation_does_not_narrow_it() {
        let trend: Vec<f64> = (0..64).map(f64::from).collect();
        assert!(of_correlated(&trend).half_width > 3.0 * Interval::from_observations(&trend).half_width);
        let alternating: Vec<f64> = (0..64).map(|i| f64::from(i % 2)).collect();
        assert!(
            (of_correlated(&alternating).half_width - Interval::from_observations(&alternating).half_width)
                .abs()
                < 1e-12
        );
        assert_eq!(of_correlated(&[2.0; 64]).half_width, 0.0);
    }
}
