//! A value over the orders in which a linker may place functions: what one user gets is one of them.

use crate::Value;
use warmcore_layout::compare::central_range;

/// How many values are kept of each operand when two spreads are combined; more of them stand for their neighbours.
const KEPT: usize = 200;

/// A value of a build, once for each order of its functions.
#[derive(Clone, PartialEq, Debug)]
pub struct Spread {
    /// The values; never empty.
    values: Vec<f64>,
    /// Whether all orders are there, or enough to tell of the others.
    is_known: bool,
}

impl Spread {
    /// A value that is the same in every order, or of a build that has one order only.
    #[must_use]
    pub fn exact(value: f64) -> Self {
        Self { values: vec![value], is_known: true }
    }

    /// The values of some orders of many. One order alone says nothing of the others. `None` without values.
    #[must_use]
    pub fn over_orders(values: Vec<f64>) -> Option<Self> {
        let is_known = values.len() > 1;
        Self::new(values, is_known)
    }

    /// Values, and whether they are all there are or enough to tell of the others. `None` without values.
    #[must_use]
    pub fn new(values: Vec<f64>, is_known: bool) -> Option<Self> {
        (!values.is_empty()).then_some(Self { values, is_known })
    }

    /// Whether its values are all there are, or enough to tell of the others.
    #[must_use]
    pub const fn is_known(&self) -> bool {
        self.is_known
    }

    /// The mean over the orders.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.values.iter().sum::<f64>() / self.values.len() as f64
    }

    /// The mean, and the range around the middle that holds 95 % of the orders: the one that a page has too.
    #[must_use]
    pub fn value(&self) -> Value {
        let mean = self.mean();
        if !self.is_known {
            return Value { mean, low: f64::NEG_INFINITY, high: f64::INFINITY };
        }
        let sorted = self.sorted();
        if sorted.first() == sorted.last() {
            return Value::exact(sorted[0]);
        }
        let (low, high) = central_range(&sorted).unwrap_or((mean, mean));
        Value { mean, low: low.min(mean), high: high.max(mean) }
    }

    /// `f` of each value.
    #[must_use]
    pub fn map(&self, f: impl Fn(f64) -> f64) -> Self {
        Self { values: self.values.iter().copied().map(f).collect(), ..*self }
    }

    /// `f` of each value of one with each of the other: the orders of two builds are independent.
    #[must_use]
    pub fn with(&self, other: &Self, f: impl Fn(f64, f64) -> f64) -> Self {
        let (one, other) = (self.thinned(), other.thinned());
        let pairs = one.values.iter().flat_map(|&a| other.values.iter().map(move |&b| (a, b)));
        Self { values: pairs.map(|(a, b)| f(a, b)).collect(), is_known: one.is_known && other.is_known }
    }

    /// How much more it is than another.
    #[must_use]
    pub fn minus(&self, other: &Self) -> Self {
        self.with(other, |a, b| a - b)
    }

    /// By how many percent it is more than another.
    #[must_use]
    pub fn above(&self, other: &Self) -> Self {
        self.with(other, |a, b| 100.0 * (a / b - 1.0))
    }

    /// By how many percent it is less than another. Equal values differ by nothing, also if they are zero.
    #[must_use]
    pub fn below(&self, other: &Self) -> Self {
        self.with(other, |a, b| if a == b { 0.0 } else { 100.0 * (1.0 - a / b) })
    }

    /// In percent of a figure.
    #[must_use]
    pub fn in_percent_of(&self, figure: f64) -> Self {
        self.map(|value| 100.0 * value / figure)
    }

    /// At most [`KEPT`] of its quantiles.
    fn thinned(&self) -> Self {
        if self.values.len() <= KEPT {
            return self.clone();
        }
        let sorted = self.sorted();
        let at = |index: usize| sorted[(2 * index + 1) * sorted.len() / (2 * KEPT)];
        Self { values: (0..KEPT).map(at).collect(), ..*self }
    }

    fn sorted(&self) -> Vec<f64> {
        let mut sorted = self.values.clone();
        sorted.sort_by(f64::total_cmp);
        sorted
    }
}

impl From<Spread> for Value {
    fn from(spread: Spread) -> Self {
        spread.value()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn orders(count: usize) -> Spread {
        Spread::over_orders((0..count).map(|order| order as f64).collect()).expect("values")
    }

    #[test]
    fn the_range_holds_95_percent_of_the_orders() {
        assert_eq!(orders(1001).value(), Value { mean: 500.0, low: 25.0, high: 975.0 });
        assert_eq!(orders(40).value(), Value { mean: 19.5, low: 1.0, high: 38.0 }, "38 of 40 are 95 %");
        assert_eq!(orders(3).value(), Value { mean: 1.0, low: 0.0, high: 2.0 });
        assert_eq!(Spread::exact(7.0).value(), Value::exact(7.0));
        assert_eq!(Spread::over_orders(vec![0.1; 3]).map(|same| same.value()), Some(Value::exact(0.1)));
        assert_eq!(Spread::over_orders(Vec::new()), None);
    }

    #[test]
    fn one_order_says_nothing_of_the_others() {
        let one = Spread::over_orders(vec![3.0]).expect("a value");
        let difference = one.minus(&Spread::exact(1.0)).value();
        assert_eq!(difference, Value { mean: 2.0, low: f64::NEG_INFINITY, high: f64::INFINITY });
    }

    #[test]
    fn a_difference_is_over_all_pairs_of_orders() {
        let difference = orders(2).minus(&orders(2));
        assert_eq!(difference.value(), Value { mean: 0.0, low: -1.0, high: 1.0 });
        let same_order = Spread::exact(10.0).above(&Spread::exact(8.0));
        assert_eq!(same_order.value(), Value::exact(25.0));
        assert_eq!(Spread::exact(6.0).below(&Spread::exact(8.0)).value(), Value::exact(25.0));
    }

    #[test]
    fn many_orders_are_thinned_without_moving_mean_or_ends_much() {
        let value = orders(5000).minus(&Spread::exact(0.0)).value();
        assert!((value.mean - 2499.5).abs() < 2.0, "{value:?}");
        assert!((value.low - 125.0).abs() < 25.0 && (value.high - 4875.0).abs() < 25.0, "{value:?}");
    }
}
