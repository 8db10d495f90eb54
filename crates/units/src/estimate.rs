//! A figure with its uncertainty, without which no figure is shown to a user.

use core::fmt;
use serde::{Deserialize, Serialize};

/// The mean of repeated observations and the half-width of its 95% confidence interval, both in
/// the unit of `Q`.
///
/// A half-width has the same meaning everywhere. A finite one is that of an interval. An infinite one means
/// that nothing is known about the error of the mean. `None` means that the figure is exact or taken as it is:
/// it was counted, or its publication states no interval.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Estimate<Q> {
    /// Mean of the observations.
    pub mean: Q,
    /// Half-width of the 95% confidence interval; infinite if nothing is known about it, `None` if none is
    /// stated.
    #[serde(default = "none", skip_serializing_if = "Option::is_none")]
    pub half_width: Option<Q>,
}

fn none<Q>() -> Option<Q> {
    None
}

impl<Q> Estimate<Q> {
    /// A mean with the half-width of its 95% confidence interval.
    pub const fn new(mean: Q, half_width: Q) -> Self {
        Self { mean, half_width: Some(half_width) }
    }

    /// A figure that was published without an interval.
    pub const fn published(mean: Q) -> Self {
        Self { mean, half_width: None }
    }

    /// The same in another unit or type: `of` scales, as it takes the mean and the half-width alike.
    #[must_use]
    pub fn map<T>(self, of: impl Fn(Q) -> T) -> Estimate<T> {
        Estimate { mean: of(self.mean), half_width: self.half_width.map(of) }
    }
}

impl<Q: Copy + Into<f64>> Estimate<Q> {
    /// Half-width as a fraction of the mean; `None` if there is no half-width.
    pub fn relative_half_width(&self) -> Option<f64> {
        self.half_width.map(|half| half.into() / self.mean.into().abs())
    }

    /// The half-width as a number: 0 for a figure without one.
    pub fn half(&self) -> f64 {
        self.half_width.map_or(0.0, Into::into)
    }

    /// Whether the two intervals overlap.
    pub fn agrees_with(&self, other: &Self) -> bool {
        (self.mean.into() - other.mean.into()).abs() <= self.half() + other.half()
    }
}

impl<Q: fmt::Display> fmt::Display for Estimate<Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.half_width {
            Some(half) => write!(f, "{} ± {half}", self.mean),
            None => self.mean.fmt(f),
        }
    }
}

impl From<super::Nanos> for f64 {
    fn from(nanos: super::Nanos) -> Self {
        nanos.0
    }
}

impl From<super::PerSecond> for f64 {
    fn from(rate: super::PerSecond) -> Self {
        rate.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_is_applied_to_mean_and_half_width() {
        assert_eq!(Estimate::new(2.0, 0.5).map(|value| value * 4.0), Estimate::new(8.0, 2.0));
        assert_eq!(Estimate::published(2.0).map(|value| value * 4.0), Estimate::published(8.0));
    }

    #[test]
    fn a_missing_half_width_counts_as_zero_and_an_infinite_one_agrees_with_all() {
        let [exact, unknown] = [Estimate::published(5.0), Estimate::new(7.0, f64::INFINITY)];
        assert_eq!([exact.half(), unknown.half()], [0.0, f64::INFINITY]);
        assert!(exact.agrees_with(&unknown) && !exact.agrees_with(&Estimate::published(7.0)));
    }
}
