//! A figure with its uncertainty: no figure is shown to a user without one.

use core::fmt;
use serde::{Deserialize, Serialize};

/// The mean of repeated observations and the half-width of its 95% confidence interval, both in
/// the unit of `Q`.
///
/// A published figure whose source gives no interval has a half-width of `None`.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Estimate<Q> {
    /// Mean of the observations.
    pub mean: Q,
    /// Half-width of the 95% confidence interval, `None` where the source states none.
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

    /// Whether the intervals of the two overlap; a missing half-width counts as zero.
    pub fn agrees_with(&self, other: &Self) -> bool {
        let half = |e: &Self| e.half_width.map_or(0.0, Into::into);
        (self.mean.into() - other.mean.into()).abs() <= half(self) + half(other)
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
