//! The limits that all scenarios share.

use std::ops::RangeInclusive;

/// The most processors that a scenario may have.
pub const MAX_PROCESSORS: u32 = 4_096;

/// The rates that a scenario may have, in packets per second.
pub const RATES: RangeInclusive<f64> = 1e-6..=1e12;

/// [`RATES`] in words.
pub(crate) const RATES_IN_WORDS: &str = "packets per second, from a millionth to a million million";
