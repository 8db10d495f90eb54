//! A value over the orders in which a linker may place functions, since what one user gets is one of them, and over the
//! assumptions that the text leaves to its readers.

use crate::Value;
use warmcore_layout::compare::central_range;

/// How many values are kept of each operand when two spreads are combined; more of them stand for their neighbours.
const KEPT: usize = 200;

/// A value of a build, once for each order of its functions, under each assumption.
#[derive(Clone, PartialEq, Debug)]
pub struct Spread {
    /// The values under each assumption: that which is taken first. Neither it nor any of them is empty.
    assumed: Vec<Vec<f64>>,
    /// Whether all orders are there, or enough to tell of the others.
    is_known: bool,
}

impl Spread {
    /// A value that is the same in every order, or of a build that has one order only, and depends on no assumption.
    #[must_use]
    pub fn exact(value: f64) -> Self {
        Self { assumed: vec![vec![value]], is_known: true }
    }

    /// The values of some orders of many. One order alone says nothing of the others. `None` without values.
    #[must_use]
    pub fn over_orders(values: Vec<f64>) -> Option<Self> {
        let is_known = values.len() > 1;
        Self::new(vec![values], is_known)
    }

    /// Values under each assumption, and whether they are all there are or enough to tell of the others. `None` if some
    /// assumption has none.
    #[must_use]
    pub fn new(assumed: Vec<Vec<f64>>, is_known: bool) -> Option<Self> {
        (!assumed.is_empty() && !assumed.iter().any(Vec::is_empty)).then_some(Self { assumed, is_known })
    }

    /// Whether its values are all there are, or enough to tell of the others.
    #[must_use]
    pub const fn is_known(&self) -> bool {
        self.is_known
    }

    /// The mean over the orders, under the assumption that is taken.
    #[must_use]
    pub fn mean(&self) -> f64 {
        mean(&self.assumed[0])
    }

    /// The mean under the assumption that is taken, and a range: the least one around the middle that holds 95 % of the
    /// orders, from the least of all assumptions to the greatest.
    #[must_use]
    pub fn value(&self) -> Value {
        let mean = self.mean();
        if !self.is_known {
            return Value { mean, low: f64::NEG_INFINITY, high: f64::INFINITY };
        }
        let widened = |all: Value, values: &Vec<f64>| {
            let Value { low, high, .. } = of_orders(values);
            Value { low: all.low.min(low), high: all.high.max(high), ..all }
        };
        self.assumed[1..].iter().fold(of_orders(&self.assumed[0]), widened)
    }

    /// `f` of each value.
    #[must_use]
    pub fn map(&self, f: impl Fn(f64) -> f64) -> Self {
        let all = |values: &Vec<f64>| values.iter().copied().map(&f).collect();
        Self { assumed: self.assumed.iter().map(all).collect(), ..*self }
    }

    /// `f` of each value of one with each of the other: the orders of two builds are independent. Assumptions are the same for
    /// both.
    #[must_use]
    pub fn with(&self, other: &Self, f: impl Fn(f64, f64) -> f64) -> Self {
        let pairs = |assumption| {
            let (one, other) = (self.under(assumption), other.under(assumption));
            one.iter().flat_map(|&a| other.iter().map(move |&b| (a, b))).map(|(a, b)| f(a, b)).collect()
        };
        let assumptions = self.assumed.len().max(other.assumed.len());
        let assumed = (0..assumptions).map(pairs).collect();
        Self { assumed, is_known: self.is_known && other.is_known }
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

    /// At most [`KEPT`] quantiles of the values under an assumption. What depends on none is the same under all.
    fn under(&self, assumption: usize) -> Vec<f64> {
        let values = self.assumed.get(assumption).unwrap_or(&self.assumed[0]);
        if values.len() <= KEPT {
            return values.clone();
        }
        let sorted = sorted(values);
        (0..KEPT).map(|index| sorted[(2 * index + 1) * sorted.len() / (2 * KEPT)]).collect()
    }
}

/// The mean of `values`, and the least range around the middle that holds 95 % of them.
fn of_orders(values: &[f64]) -> Value {
    let (mean, sorted) = (mean(values), sorted(values));
    if sorted.first() == sorted.last() {
        return Value::exact(sorted[0]);
    }
    let (low, high) = central_range(&sorted).unwrap_or((mean, mean));
    Value { mean, low: low.min(mean), high: high.max(mean) }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
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

    #[test]
    fn assumptions_widen_the_range_and_leave_the_mean() {
        let bad = Spread::new(vec![vec![6.0], vec![4.0], vec![9.0]], true).expect("values");
        assert_eq!(bad.value(), Value { mean: 6.0, low: 4.0, high: 9.0 });
        let factor = bad.with(&orders(2).map(|order| 1.0 + order), |bad, best| bad / best);
        assert_eq!(factor.value(), Value { mean: 4.5, low: 2.0, high: 9.0 });
    }

    /// What is assumed is assumed of both, so it does not make equal things differ.
    #[test]
    fn two_values_have_the_same_assumption() {
        let bad = Spread::new(vec![vec![6.0], vec![4.0]], true).expect("values");
        assert_eq!(bad.minus(&bad).value(), Value::exact(0.0));
        assert_eq!(Spread::new(vec![vec![1.0], Vec::new()], true), None);
    }
}
