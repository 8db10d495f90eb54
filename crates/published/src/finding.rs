//! Values found for a claim, with their intervals and places.

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

/// A value at one place of a claim's range, such as a rate, a size, or a number of processors.
#[derive(Clone, PartialEq, Debug)]
pub struct ValueAt {
    /// The case that the place belongs to, such as an approach or a batch size; empty if the claim has a
    /// single case. Each case has a range of its own.
    pub case: String,
    /// The place, in words; empty if the claim has a single value.
    pub place: String,
    /// The value there.
    pub value: Value,
}

/// Everything found for a claim.
#[derive(Clone, PartialEq, Debug)]
pub struct Finding {
    /// The values, in the order of their places; empty if there are none, for the reason in `note`.
    pub found: Vec<ValueAt>,
    /// What a reader should know about them; may be empty.
    pub note: String,
}

impl Value {
    /// A value that is known exactly, or whose source gives no interval.
    #[must_use]
    pub const fn exact(mean: f64) -> Self {
        Self { mean, low: mean, high: mean }
    }

    /// A change, in percent.
    #[must_use]
    pub fn from_change(change: &Change) -> Self {
        let [mean, low, high] = [change.mean, change.low, change.high].map(|part| 100.0 * part);
        Self { mean, low, high }
    }

    /// The same value with an interval that reaches at least `half_width` to either side, such as the
    /// difference that a control run shows against itself.
    #[must_use]
    pub fn widened(self, half_width: f64) -> Self {
        Self {
            low: self.low.min(self.mean - half_width),
            high: self.high.max(self.mean + half_width),
            ..self
        }
    }

    /// The greatest of several values. Its interval reaches from the greatest lower end to the greatest upper
    /// end. `None` without values.
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
    /// Rounded to the second digit of the half-width: `124.8 ± 0.4`; `51.2 [-18.0, 178.3]` if the interval is
    /// lopsided; `43.7 (no interval)` if none holds; `−∞` without a steady state.
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

impl ValueAt {
    /// `value` at `place`, for a claim with a single case.
    #[must_use]
    pub fn new(place: impl Into<String>, value: impl Into<Value>) -> Self {
        Self { case: String::new(), place: place.into(), value: value.into() }
    }

    /// The same value, as part of `case`.
    #[must_use]
    pub fn in_case(self, case: impl Into<String>) -> Self {
        Self { case: case.into(), ..self }
    }

    /// The place with its case, for a reader: `20 k packets/s (MRU)`.
    #[must_use]
    pub fn at(&self) -> String {
        match (self.place.as_str(), self.case.as_str()) {
            (place, "") => place.to_owned(),
            ("", case) => case.to_owned(),
            (place, case) => format!("{place} ({case})"),
        }
    }
}

impl Finding {
    /// The values `found`; `None` if there are none.
    #[must_use]
    pub fn new(found: Vec<ValueAt>, note: impl Into<String>) -> Option<Self> {
        (!found.is_empty()).then(|| Self { found, note: note.into() })
    }

    /// One value.
    #[must_use]
    pub fn single(value: impl Into<Value>, note: impl Into<String>) -> Self {
        Self { found: vec![ValueAt::new("", value)], note: note.into() }
    }

    /// No values, for this `reason`.
    #[must_use]
    pub fn nothing(reason: impl Into<String>) -> Self {
        Self { found: Vec::new(), note: reason.into() }
    }

    /// The least and the greatest value.
    #[must_use]
    pub fn extremes(&self) -> Option<(&ValueAt, &ValueAt)> {
        let by_mean = |a: &&ValueAt, b: &&ValueAt| a.value.mean.total_cmp(&b.value.mean);
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
    fn the_control_widens_a_value() {
        let value = Value { mean: 2.0, low: 1.0, high: 4.0 };
        assert_eq!(value.widened(3.0), Value { mean: 2.0, low: -1.0, high: 5.0 });
        assert_eq!(value.widened(0.5), value);
    }
}
