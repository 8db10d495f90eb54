//! The values of one figure over several rounds.

use serde::Serialize;
use std::fmt;

/// The values of a figure in all rounds, in order; at least one.
#[derive(Clone, Debug, Serialize)]
#[serde(into = "Summary")]
pub struct Spread(pub Vec<f64>);

/// The serialised form of a [`Spread`].
#[derive(Serialize)]
struct Summary {
    median: f64,
    least: f64,
    greatest: f64,
    rounds: Vec<f64>,
}

impl Spread {
    /// Combines this and `other` round by round.
    #[must_use]
    pub fn with(&self, other: &Self, join: impl Fn(f64, f64) -> f64) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(&own, &other)| join(own, other)).collect())
    }

    /// Divides this by `base` round by round.
    #[must_use]
    pub fn over(&self, base: &Self) -> Self {
        self.with(base, |own, base| own / base)
    }

    /// Applies `turn` to the value of every round.
    #[must_use]
    pub fn map(&self, turn: impl Fn(f64) -> f64) -> Self {
        Self(self.0.iter().copied().map(turn).collect())
    }

    /// The median: the middle value, or the midpoint of the two middle ones.
    #[must_use]
    pub fn median(&self) -> f64 {
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
        let [least, greatest] = spread.extremes();
        Self { median: spread.median(), least, greatest, rounds: spread.0 }
    }
}

impl fmt::Display for Spread {
    /// `1.85 [1.80, 1.91]`: median, least and greatest, with the precision asked for.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ([least, greatest], digits) = (self.extremes(), f.precision().unwrap_or(2));
        write!(f, "{:.digits$} [{least:.digits$}, {greatest:.digits$}]", self.median())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle_whatever_the_order() {
        assert_eq!(Spread(vec![3.0, 1.0, 2.0]).median(), 2.0);
        assert_eq!(Spread(vec![4.0, 1.0, 2.0, 3.0]).median(), 2.5);
    }

    #[test]
    fn ratios_are_taken_round_by_round() {
        let ratio = Spread(vec![4.0, 9.0]).over(&Spread(vec![2.0, 3.0]));
        assert_eq!(ratio.0, [2.0, 3.0]);
    }

    #[test]
    fn it_is_serialised_with_its_rounds() {
        let spread = Spread(vec![3.0, 1.0, 2.0]);
        assert_eq!(format!("{spread:.1}"), "2.0 [1.0, 3.0]");
        let text = serde_json::to_string(&spread).unwrap();
        assert_eq!(text, r#"{"median":2.0,"least":1.0,"greatest":3.0,"rounds":[3.0,1.0,2.0]}"#);
    }
}
