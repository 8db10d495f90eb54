//! Judges predictions: good if the error, including its interval, is within a limit.

use core::fmt;
use warmcore_units::{Estimate, Nanos};

/// Whether an error is within a limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Judgement {
    /// The whole interval is.
    Good,
    /// None of the interval is.
    Off,
    /// Part of the interval is, or the error has no interval.
    Undecided,
}

impl Judgement {
    /// Judges an error that may be at most `limit`, in either direction.
    #[must_use]
    pub fn new(error: Estimate<f64>, limit: f64) -> Self {
        let half = error.half_width.unwrap_or(f64::INFINITY);
        match error.mean.abs() {
            off if off + half <= limit => Self::Good,
            off if off - half > limit => Self::Off,
            _ => Self::Undecided,
        }
    }

    /// Judges two things that must both be good.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Off, _) | (_, Self::Off) => Self::Off,
            (Self::Good, Self::Good) => Self::Good,
            _ => Self::Undecided,
        }
    }
}

impl fmt::Display for Judgement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Good => "good",
            Self::Off => "off",
            Self::Undecided => "undecided",
        })
    }
}

/// The predicted time divided by the measured one, minus one. Its interval is that of independent values.
#[must_use]
pub fn relative(predicted: Estimate<Nanos>, measured: Estimate<Nanos>) -> Estimate<f64> {
    let ratio = predicted.mean / measured.mean;
    let half = |estimate: Estimate<Nanos>| estimate.relative_half_width().unwrap_or(f64::INFINITY);
    Estimate::new(ratio - 1.0, ratio * half(predicted).hypot(half(measured)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_across_the_limit_decides_nothing() {
        let judged = |mean: f64, half: f64| Judgement::new(Estimate::new(mean, half), 0.1);
        assert_eq!(judged(-0.06, 0.03), Judgement::Good);
        assert_eq!(judged(0.16, 0.03), Judgement::Off);
        assert_eq!([judged(0.09, 0.03), judged(-0.11, 0.03)], [Judgement::Undecided; 2]);
        assert_eq!(Judgement::new(Estimate::published(0.0), 0.1), Judgement::Undecided);
        assert_eq!(judged(f64::NAN, 0.0), Judgement::Undecided);
    }

    #[test]
    fn one_that_is_off_decides() {
        use Judgement::{Good, Off, Undecided};
        assert_eq!([Good.and(Good), Good.and(Undecided), Off.and(Undecided)], [Good, Undecided, Off]);
    }
}
