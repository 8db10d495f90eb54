//! What a recipe yields: values with their intervals, each with the place where it was found.

use core::fmt;
use warmcore_stats::paired::Change;
use warmcore_units::Estimate;

/// A value with its 95% confidence interval, in the unit of the claim.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Value {
    /// The value.
    pub mean: f64,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// A value at one place of a claim's range: a rate, a size, a number of processors.
#[derive(Clone, PartialEq, Debug)]
pub struct Found {
    /// Which of the cases that the claim speaks of, each with a range of its own: an approach, a batch
    /// size; empty where there is one only.
    pub case: String,
    /// The place, in words; empty where the claim has one value only.
    pub place: String,
    /// The value there.
    pub value: Value,
}

/// Everything found of a claim.
#[derive(Clone, PartialEq, Debug)]
pub struct Finding {
    /// The values, in the order of their places; empty if none could be had, as the note says.
    pub found: Vec<Found>,
    /// What a reader should know of them besides; may be empty.
    pub note: String,
}

impl Value {
    /// A value that is known exactly, or whose source gives no interval.
    #[must_use]
    pub const fn exact(mean: f64) -> Self {
        Self { mean, low: mean, high: mean }
    }

    /// A change in percent.
    #[must_use]
    pub fn from_change(change: &Change) -> Self {
        let [mean, low, high] = [change.mean, change.low, change.high].map(|part| 100.0 * part);
        Self { mean, low, high }
    }

    /// The same with an interval that reaches at least so far to either side: what a control has
    /// differed from itself.
    #[must_use]
    pub fn widened(self, half_width: f64) -> Self {
        Self {
            low: self.low.min(self.mean - half_width),
            high: self.high.max(self.mean + half_width),
            ..self
        }
    }

    /// The greatest of several: it is not below the greatest lower end, nor above the greatest upper
    /// one. `None` of nothing.
    #[must_use]
    pub fn greatest(values: impl IntoIterator<Item = Self>) -> Option<Self> {
        values.into_iter().reduce(|a, b| Self {
            mean: a.mean.max(b.mean),
            low: a.low.max(b.low),
            high: a.high.max(b.high),
        })
    }
}

impl From<Estimate<f64>> for Value {
    fn from(estimate: Estimate<f64>) -> Self {
        let half = estimate.half_width.unwrap_or(0.0);
        Self { mean: estimate.mean, low: estimate.mean - half, high: estimate.mean + half }
    }
}

impl fmt::Display for Value {
    /// To the second digit of its half-width: `124.8 ± 0.4`; `51.2 [-18.0, 178.3]` where the interval
    /// is lopsided; `43.7 (no interval)` where none is known to hold; `−∞` of what has no steady state.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.mean.is_infinite() {
            return f.write_str(if self.mean > 0.0 { "∞" } else { "−∞" });
        }
        let (below, above) = (self.mean - self.low, self.high - self.mean);
        let widest = below.max(above);
        if widest == 0.0 {
            return write!(f, "{:.1}", self.mean);
        }
        if widest.is_infinite() {
            return write!(f, "{:.1} (no interval)", self.mean);
        }
        let decimals = if widest < 0.1 { 2 } else { 1 };
        if (above - below).abs() < 0.05 * widest {
            write!(f, "{:.decimals$} ± {widest:.decimals$}", self.mean)
        } else {
            write!(f, "{:.decimals$} [{:.decimals$}, {:.decimals$}]", self.mean, self.low, self.high)
        }
    }
}

impl Found {
    /// `value` at `place`, of a claim of one case.
    #[must_use]
    pub fn new(place: impl Into<String>, value: impl Into<Value>) -> Self {
        Self { case: String::new(), place: place.into(), value: value.into() }
    }

    /// The same as one place of `case`.
    #[must_use]
    pub fn in_case(self, case: impl Into<String>) -> Self {
        Self { case: case.into(), ..self }
    }

    /// The place with its case, for a reader: `20 k packets/s (MRU)`.
    #[must_use]
    pub fn at(&self) -> String {
        match self.case.as_str() {
            "" => self.place.clone(),
            case => format!("{} ({case})", self.place),
        }
    }
}

impl Finding {
    /// What was `found`; `None` of nothing.
    #[must_use]
    pub fn new(found: Vec<Found>, note: impl Into<String>) -> Option<Self> {
        (!found.is_empty()).then(|| Self { found, note: note.into() })
    }

    /// One value.
    #[must_use]
    pub fn single(value: impl Into<Value>, note: impl Into<String>) -> Self {
        Self { found: vec![Found::new("", value)], note: note.into() }
    }

    /// Nothing, because of `reason`.
    #[must_use]
    pub fn nothing(reason: impl Into<String>) -> Self {
        Self { found: Vec::new(), note: reason.into() }
    }

    /// The least and the greatest value.
    #[must_use]
    pub fn extremes(&self) -> Option<(&Found, &Found)> {
        let by_mean = |a: &&Found, b: &&Found| a.value.mean.total_cmp(&b.value.mean);
        Some((self.found.iter().min_by(by_mean)?, self.found.iter().max_by(by_mean)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_shown_with_the_digits_they_have() {
        let shown = |value: Value| value.to_string();
        assert_eq!(shown(Estimate::new(124.83, 0.42).into()), "124.8 ± 0.4");
        assert_eq!(shown(Estimate::new(21.331, 0.028).into()), "21.33 ± 0.03");
        assert_eq!(shown(Value::exact(15.48)), "15.5");
        assert_eq!(shown(Value::exact(f64::NEG_INFINITY)), "−∞");
        assert_eq!(shown(Value { mean: 51.2, low: -18.0, high: 178.3 }), "51.2 [-18.0, 178.3]");
        assert_eq!(shown(Estimate::new(43.71, f64::INFINITY).into()), "43.7 (no interval)");
    }

    #[test]
    fn the_greatest_of_several_lies_between_the_greatest_ends() {
        let values =
            [Value { mean: 51.0, low: -18.0, high: 178.0 }, Value { mean: 20.0, low: 15.0, high: 25.0 }];
        assert_eq!(Value::greatest(values), Some(Value { mean: 51.0, low: 15.0, high: 178.0 }));
        assert_eq!(Value::greatest([]), None);
    }

    #[test]
    fn what_a_control_does_widens_a_value() {
        let value = Value { mean: 2.0, low: 1.0, high: 4.0 };
        assert_eq!(value.widened(3.0), Value { mean: 2.0, low: -1.0, high: 5.0 });
        assert_eq!(value.widened(0.5), value);
    }
}
