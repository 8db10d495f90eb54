//! The same path under random orders of its functions: how much of a layout's cost is chance.

use crate::simulate::Summary;
use serde::{Deserialize, Serialize};

/// What random orders cost.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RandomOrders {
    /// How many were tried, with seeds that follow each other.
    pub orders: u32,
    /// The seed of the first.
    pub seed: u64,
    /// Cycles that an instruction waits for memory.
    pub mcpi: CentralRange,
    /// Cycles in all.
    pub cycles: CentralRange,
    /// Misses of the nearest cache for instructions.
    pub misses: CentralRange,
    /// Of these, misses of lines that had been there before.
    pub replacements: CentralRange,
    /// How many take fewer cycles than the present layout.
    pub faster: u32,
}

/// A mean and the range around the middle in which at least 95 % of the values lie.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct CentralRange {
    /// Their mean.
    pub mean: f64,
    /// One fortieth of the values are below, rounded down.
    pub low: f64,
    /// One fortieth are above, rounded down: at least 95 % lie between the two.
    pub high: f64,
}

/// What one order costs: all that is kept of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cost {
    mcpi: f64,
    cycles: u64,
    misses: u64,
    replacements: u64,
}

impl From<&Summary> for Cost {
    fn from(summary: &Summary) -> Self {
        let column = &summary.columns[0];
        Self {
            mcpi: summary.mcpi(),
            cycles: summary.cycles().0,
            misses: column.misses,
            replacements: column.replacements,
        }
    }
}

impl RandomOrders {
    /// What `random` orders cost, beside the `present` layout; `None` if there are none. The first has `seed`.
    pub(super) fn new(seed: u64, random: &[Cost], present: &Summary) -> Option<Self> {
        let spread = |of: fn(&Cost) -> f64| CentralRange::new(random.iter().map(of).collect());
        Some(Self {
            orders: random.len() as u32,
            seed,
            mcpi: spread(|cost| cost.mcpi)?,
            cycles: spread(|cost| cost.cycles as f64)?,
            misses: spread(|cost| cost.misses as f64)?,
            replacements: spread(|cost| cost.replacements as f64)?,
            faster: random.iter().filter(|cost| cost.cycles < present.cycles().0).count() as u32,
        })
    }

    /// Whether every one takes fewer cycles than the present layout: packing gains, whatever the order.
    #[must_use]
    pub const fn all_faster(&self) -> bool {
        self.faster == self.orders
    }

    /// How many of the orders lie in the ranges, in words.
    #[must_use]
    pub fn range(&self) -> String {
        if self.orders < 40 {
            format!("all {}", self.orders)
        } else {
            format!("95\u{202f}% of {}", self.orders)
        }
    }
}

impl CentralRange {
    /// Of `values`; `None` if there are none. With fewer than 40 the range is from the lowest to the highest.
    #[must_use]
    pub fn new(mut values: Vec<f64>) -> Option<Self> {
        values.sort_by(f64::total_cmp);
        let (low, high) = central_range(&values)?;
        Some(Self { mean: values.iter().sum::<f64>() / values.len() as f64, low, high })
    }
}

/// The range around the middle of `sorted` values that leaves out one fortieth at each end, rounded down: at least 95 % lie in
/// it. `None` without values.
#[must_use]
pub fn central_range(sorted: &[f64]) -> Option<(f64, f64)> {
    let beyond = sorted.len() / 40;
    Some((*sorted.get(beyond)?, *sorted.get(sorted.len() - 1 - beyond)?))
}

#[cfg(test)]
mod tests {
    use super::CentralRange;

    #[test]
    fn nineteen_of_twenty_values_lie_in_the_range() {
        let spread = CentralRange::new((0..200).rev().map(f64::from).collect()).expect("there are values");
        assert_eq!(spread, CentralRange { mean: 99.5, low: 5.0, high: 194.0 });
        let few = CentralRange::new(vec![3.0, 1.0, 2.0]).expect("there are values");
        assert_eq!(few, CentralRange { mean: 2.0, low: 1.0, high: 3.0 });
        assert_eq!(CentralRange::new(Vec::new()), None);
    }
}
