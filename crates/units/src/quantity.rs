//! Quantities: durations, sizes and rates, with the unit in the type.

use core::cmp::Ordering;
use core::fmt;
use core::iter::Sum;
use core::ops::{Add, AddAssign, Div, Mul, Sub};
use serde::{Deserialize, Serialize};

/// A duration, or a point in time since a stated origin, in nanoseconds.
///
/// It is a float, since a mean of many packets has fractions. Its 53 bits represent ten days with a
/// resolution of about a tenth of a nanosecond.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Nanos(pub f64);

impl Nanos {
    /// Zero duration.
    pub const ZERO: Self = Self(0.0);
    /// Longer than any measured duration; used for "never".
    pub const INFINITY: Self = Self(f64::INFINITY);

    /// `micros` microseconds.
    #[must_use]
    pub const fn from_micros(micros: f64) -> Self {
        Self(micros * 1e3)
    }

    /// `seconds` seconds.
    #[must_use]
    pub const fn from_secs(seconds: f64) -> Self {
        Self(seconds * 1e9)
    }

    /// The duration in microseconds.
    #[must_use]
    pub const fn micros(self) -> f64 {
        self.0 * 1e-3
    }

    /// The duration in seconds.
    #[must_use]
    pub const fn secs(self) -> f64 {
        self.0 * 1e-9
    }

    /// Total order, for sorting.
    #[must_use]
    pub fn total_cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }

    /// The longer of the two.
    #[must_use]
    pub const fn max(self, other: Self) -> Self {
        Self(self.0.max(other.0))
    }
}

impl fmt::Display for Nanos {
    /// Three significant digits in the unit that suits the size: `57.4 µs`, `1.20 ms`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (value, unit) = match self.0.abs() {
            n if n < 1e3 => (self.0, "ns"),
            n if n < 1e6 => (self.0 * 1e-3, "µs"),
            n if n < 1e9 => (self.0 * 1e-6, "ms"),
            _ => (self.0 * 1e-9, "s"),
        };
        write!(f, "{} {unit}", SignificantDigits(value))
    }
}

impl Add for Nanos {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Nanos {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sub for Nanos {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl Mul<f64> for Nanos {
    type Output = Self;
    fn mul(self, factor: f64) -> Self {
        Self(self.0 * factor)
    }
}

impl Div<f64> for Nanos {
    type Output = Self;
    fn div(self, divisor: f64) -> Self {
        Self(self.0 / divisor)
    }
}

impl Div for Nanos {
    type Output = f64;
    fn div(self, other: Self) -> f64 {
        self.0 / other.0
    }
}

impl Sum for Nanos {
    fn sum<I: Iterator<Item = Self>>(durations: I) -> Self {
        durations.fold(Self::ZERO, Add::add)
    }
}

/// A number of a processor's clock cycles.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Cycles(pub u64);

impl fmt::Display for Cycles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} cycles", self.0)
    }
}

impl Add for Cycles {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Cycles {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sum for Cycles {
    fn sum<I: Iterator<Item = Self>>(cycles: I) -> Self {
        cycles.fold(Self::default(), Add::add)
    }
}

/// A rate of events, per second.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PerSecond(pub f64);

impl PerSecond {
    /// The mean time between two events at this rate; infinite at rate 0.
    #[must_use]
    pub fn interval(self) -> Nanos {
        Nanos(1e9 / self.0)
    }

    /// The rate of events that are `interval` apart.
    #[must_use]
    pub fn every(interval: Nanos) -> Self {
        Self(1e9 / interval.0)
    }
}

impl fmt::Display for PerSecond {
    /// Three significant digits with a decimal prefix: `64.0 k/s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (value, unit) = match self.0.abs() {
            n if n < 1e3 => (self.0, "/s"),
            n if n < 1e6 => (self.0 * 1e-3, "k/s"),
            n if n < 1e9 => (self.0 * 1e-6, "M/s"),
            _ => (self.0 * 1e-9, "G/s"),
        };
        write!(f, "{} {unit}", SignificantDigits(value))
    }
}

impl Mul<f64> for PerSecond {
    type Output = Self;
    fn mul(self, factor: f64) -> Self {
        Self(self.0 * factor)
    }
}

/// A size in bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Bytes(pub u64);

impl Bytes {
    /// `kib` binary kilobytes.
    #[must_use]
    pub const fn kib(kib: u64) -> Self {
        Self(kib * 1024)
    }

    /// The size as an index or allocation length.
    ///
    /// # Panics
    /// If it exceeds this machine's address space.
    #[must_use]
    pub fn len(self) -> usize {
        usize::try_from(self.0).expect("a size fits the address space")
    }

    /// Whether the size is zero.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl fmt::Display for Bytes {
    /// In the largest binary unit that divides it: `32 KiB`, `1 MiB`, `100 B`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            n if n != 0 && n % (1 << 20) == 0 => write!(f, "{} MiB", n >> 20),
            n if n != 0 && n % (1 << 10) == 0 => write!(f, "{} KiB", n >> 10),
            n => write!(f, "{n} B"),
        }
    }
}

/// Shows a number below about 1000 with three significant digits.
struct SignificantDigits(f64);

impl fmt::Display for SignificantDigits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimals = match self.0.abs() {
            n if n >= 100.0 => 0,
            n if n >= 10.0 => 1,
            _ => 2,
        };
        write!(f, "{:.decimals$}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn a_duration_is_shown_in_the_unit_that_suits_it() {
        assert_eq!(Nanos(57.4).to_string(), "57.4 ns");
        assert_eq!(Nanos::from_micros(284.3).to_string(), "284 µs");
        assert_eq!(Nanos::from_secs(1.0).to_string(), "1.00 s");
    }

    #[test]
    fn a_rate_and_its_interval_are_inverse() {
        let rate = PerSecond(20_000.0);
        assert_eq!(rate.interval(), Nanos::from_micros(50.0));
        assert_eq!(PerSecond::every(rate.interval()), rate);
        assert_eq!(rate.to_string(), "20.0 k/s");
        assert_eq!(PerSecond(1.246e9).to_string(), "1.25 G/s");
    }

    #[test]
    fn a_size_is_shown_in_the_largest_unit_that_divides_it() {
        assert_eq!(Bytes::kib(32).to_string(), "32 KiB");
        assert_eq!(Bytes::kib(1024).to_string(), "1 MiB");
        assert_eq!(Bytes(100).to_string(), "100 B");
    }
}
