//! A figure with its uncertainty: no figure is shown to a user without one.

use core::fmt;
use serde::{Deserialize, Serialize};

/// The mean of repeated observations and the half-width of its 95% confidence interval, both in
/// the unit of `Q`.
///
/// In every room a half-width means the same: a finite one is that of an interval; an infinite one says that nothing
/// tells how far the mean may be off; and `None` that the figure is taken as it is, because it was counted, or its source
/// states no interval.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Estimate<Q> {
    /// Mean of the observations.
    pub mean: Q,
    /// Half-width of the 95% confidence interval; infinite where none holds, `None` where none is stated.
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

    /// A figure that its source published without an interval.
    pub const fn published(mean: Q) -> Self {
        Self { mean, half_width: None }
    }
}

impl<Q: Copy + Into<f64>> Estimate<Q> {
    /// Half-width as a fraction of the mean; `None` where there is no half-width.
    pub fn relative_half_width(&self) -> Option<f64> {
        self.half_width.map(|half| half.into() / self.mean.into().abs())
    }

    /// How far the mean may be off: not at all where it is taken as it is, and any far where nothing tells.
    pub fn half(&self) -> f64 {
        self.half_width.map_or(0.0, Into::into)
    }

    /// Whether the intervals of the two overlap.
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
    fn a_half_width_that_is_missing_is_none_and_one_that_is_infinite_is_any() {
        let [exact, unknown] = [Estimate::published(5.0), Estimate::new(7.0, f64::INFINITY)];
        assert_eq!([exact.half(), unknown.half()], [0.0, f64::INFINITY]);
        assert!(exact.agrees_with(&unknown) && !exact.agrees_with(&Estimate::published(7.0)));
    }
}
