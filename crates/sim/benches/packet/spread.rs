//! One figure taken in every round.

use serde::Serialize;
use std::fmt;

/// The values of all rounds, in the order of the rounds; there is at least one.
#[derive(Clone, Debug, Serialize)]
#[serde(into = "Summary")]
pub(crate) struct Spread(pub(crate) Vec<f64>);

/// How a [`Spread`] is written to a file.
#[derive(Serialize)]
struct Summary {
    median: f64,
    min: f64,
    max: f64,
    rounds: Vec<f64>,
}

impl Spread {
    /// Round by round, how many times `base` this is.
    pub(crate) fn over(&self, base: &Self) -> Self {
        Self(self.0.iter().zip(&base.0).map(|(own, base)| own / base).collect())
    }

    /// Every round's value turned into another.
    pub(crate) fn map(&self, turn: impl Fn(f64) -> f64) -> Self {
        Self(self.0.iter().copied().map(turn).collect())
    }

    pub(crate) fn median(&self) -> f64 {
        let sorted = self.sorted();
        let middle = sorted.len() / 2;
        if sorted.len() % 2 == 1 { sorted[middle] } else { f64::midpoint(sorted[middle - 1], sorted[middle]) }
    }

    fn sorted(&self) -> Vec<f64> {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        sorted
    }

    fn extremes(&self) -> [f64; 2] {
        let sorted = self.sorted();
        [sorted[0], sorted[sorted.len() - 1]]
    }
}

impl From<Spread> for Summary {
    fn from(spread: Spread) -> Self {
        let [min, max] = spread.extremes();
        Self { median: spread.median(), min, max, rounds: spread.0 }
    }
}

impl fmt::Display for Spread {
    /// `1.85 [1.80, 1.91]`: median, smallest and greatest, with the precision asked for.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ([min, max], digits) = (self.extremes(), f.precision().unwrap_or(2));
        write!(f, "{:.digits$} [{min:.digits$}, {max:.digits$}]", self.median())
    }
}
