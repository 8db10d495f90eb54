//! Comparing two alternatives that saw the same arrivals (common random numbers): the interval
//! of the *difference* is far narrower than the two intervals apart suggest, since what the
//! arrivals did to both cancels.

use crate::interval::Interval;

/// The interval of the mean of `a - b`, replication by replication; `None` unless both have the
/// same number of replications.
#[must_use]
pub fn difference(a: &[f64], b: &[f64]) -> Option<Interval> {
    (a.len() == b.len()).then(|| {
        let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
        Interval::of(&differences)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_both_share_cancels() {
        let a = [10.0, 20.0, 30.0, 40.0];
        let b = [9.0, 19.1, 28.9, 39.0];
        let interval = difference(&a, &b).unwrap();
        assert!((interval.mean - 1.0).abs() < 1e-9 && interval.half_width < 0.2);
        assert!(difference(&a, &b[1..]).is_none());
    }
}
