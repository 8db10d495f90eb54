//! Time inside a connection: nanoseconds in one word. A driver's [`Duration`] has two, whose arithmetic takes several
//! branches, on the path of every segment.

use core::ops::Add;
use core::time::Duration;

const NANOS: u64 = 1_000_000_000;

/// A time since the driver's origin, or between two such. Longer ones than 584 years are as long.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) struct Time(u64);

impl Time {
    pub(super) const ZERO: Self = Self(0);

    pub(super) const fn from_secs(seconds: u64) -> Self {
        Self(seconds.saturating_mul(NANOS))
    }

    /// The time from `earlier` to this; zero if that is later.
    pub(super) const fn since(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }

    pub(super) const fn abs_diff(self, other: Self) -> Self {
        Self(self.0.abs_diff(other.0))
    }

    pub(super) const fn times(self, factor: u32) -> Self {
        Self(self.0.saturating_mul(factor as u64))
    }

    /// The time divided by two, `shift` times.
    pub(super) const fn halved(self, shift: u32) -> Self {
        Self(self.0 >> shift)
    }

    /// This part taken off; no less than zero.
    pub(super) const fn less(self, part: Self) -> Self {
        self.since(part)
    }
}

impl Add for Time {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl From<Duration> for Time {
    #[inline]
    fn from(time: Duration) -> Self {
        Self(time.as_secs().saturating_mul(NANOS).saturating_add(u64::from(time.subsec_nanos())))
    }
}

impl From<Time> for Duration {
    #[inline]
    fn from(time: Time) -> Self {
        Self::from_nanos(time.0)
    }
}
