//! One figure, taken in every round.

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
    least: f64,
    greatest: f64,
    rounds: Vec<f64>,
}

impl Spread {
    /// Round by round, `join` of this and `other`.
    pub(crate) fn with(&self, other: &Self, join: impl Fn(f64, f64) -> f64) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(&own, &other)| join(own, other)).collect())
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
}

impl From<Spread> for Summary {
    fn from(spread: Spread) -> Self {
        let sorted = spread.sorted();
        let (least, greatest) = (sorted[0], sorted[sorted.len() - 1]);
        Self { median: spread.median(), least, greatest, rounds: spread.0 }
    }
}

impl fmt::Display for Spread {
    /// `1.85 [1.80, 1.91]`: median, least and greatest, with the precision asked for.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sorted, digits) = (self.sorted(), f.precision().unwrap_or(2));
        let (least, greatest) = (sorted[0], sorted[sorted.len() - 1]);
        write!(f, "{:.digits$} [{least:.digits$}, {greatest:.digits$}]", self.median())
    }
}
