//! Comparing two alternatives under the same conditions: with the same arrivals (common random numbers),
//! or one after the other in the same block of an experiment. The interval of the *difference* is far
//! narrower than the two separate intervals suggest, since effects common to both cancel.

use crate::interval::Interval;
use core::fmt;

/// The interval of the mean of `a - b`, paired by replication; `None` unless both have the same number of
/// replications.
#[must_use]
pub fn difference(a: &[f64], b: &[f64]) -> Option<Interval> {
    (a.len() == b.len()).then(|| {
        let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
        Interval::from_observations(&differences)
    })
}

/// The relative change from one alternative to another: 0.3 is 30% more.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Change {
    /// The geometric mean over the replications.
    pub mean: f64,
    /// The lower end of its 95% interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Change {
    /// Whether the interval contains no change.
    #[must_use]
    pub fn may_be_none(&self) -> bool {
        self.low <= 0.0 && self.high >= 0.0
    }

    /// The largest change in either direction that the interval contains.
    #[must_use]
    pub fn at_most(&self) -> f64 {
        self.low.abs().max(self.high.abs())
    }
}

/// `+29.1% [+25.0, +33.4]`.
impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [mean, low, high] = [self.mean, self.low, self.high].map(|part| part * 100.0);
        write!(f, "{mean:+.1}% [{low:+.1}, {high:+.1}]")
    }
}

/// The relative change from `b` to `a`, paired by replication: Student's t on the logarithms of the ratios,
/// so that doubling and halving are equally far from no change. `None` unless both have the same number of
/// replications, at least two, and all values are above zero.
#[must_use]
pub fn change(a: &[f64], b: &[f64]) -> Option<Change> {
    let logarithms = |values: &[f64]| -> Vec<f64> { values.iter().map(|value| value.ln()).collect() };
    let interval = difference(&logarithms(a), &logarithms(b))?;
    let known = interval.mean.is_finite() && interval.half_width.is_finite();
    let at = |logarithm: f64| logarithm.exp_m1();
    known.then(|| Change {
        mean: at(interval.mean),
        low: at(interval.mean - interval.half_width),
        high: at(interval.mean + interval.half_width),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_effects_cancel() {
        let a = [10.0, 20.0, 30.0, 40.0];
        let b = [9.0, 19.1, 28.9, 39.0];
        let interval = difference(&a, &b).unwrap();
        assert!((interval.mean - 1.0).abs() < 1e-9 && interval.half_width < 0.2);
        assert!(difference(&a, &b[1..]).is_none());
    }

    #[test]
    fn a_change_is_relative_to_the_other() {
        let other = [10.0, 20.0, 40.0, 30.0];
        let more: Vec<f64> = other.iter().zip([1.31, 1.29, 1.3, 1.3]).map(|(one, by)| one * by).collect();
        let change = super::change(&more, &other).unwrap();
        assert!((change.mean - 0.3).abs() < 1e-3 && !change.may_be_none(), "{change:?}");
        assert!(change.low < 0.3 && change.high > 0.3 && change.at_most() == change.high);
        assert_eq!(
            change.to_string(),
            format!("+30.0% [{:+.1}, {:+.1}]", change.low * 100.0, change.high * 100.0)
        );
        let back = super::change(&other, &more).unwrap();
        assert!(((1.0 + back.mean) * (1.0 + change.mean) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn single_or_zero_or_unpaired_values_give_no_change() {
        for (a, b) in [(&[1.0][..], &[2.0][..]), (&[1.0, 0.0], &[1.0, 1.0]), (&[1.0, 2.0], &[1.0])] {
            assert_eq!(change(a, b), None, "{a:?} {b:?}");
        }
    }
}
