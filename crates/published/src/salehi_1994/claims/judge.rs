//! The one rule by which verdicts are computed.
//!
//! A reading of the published value is a range. One figure of ours holds if its mean lies in the
//! range, holds partly if only its 95% interval reaches it, and differs otherwise. A span of ours
//! holds if both its ends do, differs if it lies beside the range, interval included, and holds
//! partly otherwise. A tally holds if no comparison speaks against the claim and at least half
//! are decided for it, differs if none is, and holds partly otherwise.

use super::{Ours, Reading, Tally, Verdict};
use core::fmt;
use warmcore_units::Estimate;

/// How far from a printed figure still counts as that figure.
const PRINTED: f64 = 0.02;
/// The same of "about" a figure.
const ABOUT: f64 = 0.2;

/// The verdict on `ours` where the source's value is read so.
#[must_use]
pub fn judge(reading: Reading, ours: Ours) -> Verdict {
    let range = range(reading);
    match ours {
        Ours::Value(value) if range.contains(value.mean) => Verdict::Holds,
        Ours::Value(value) if range.overlaps(value, value) => Verdict::HoldsPartly,
        Ours::Value(_) => Verdict::Differs,
        Ours::Span(least, greatest) if range.contains(least.mean) && range.contains(greatest.mean) => {
            Verdict::Holds
        }
        Ours::Span(least, greatest) if range.overlaps(least, greatest) => Verdict::HoldsPartly,
        Ours::Span(..) => Verdict::Differs,
        Ours::Tally(tally) => count(tally),
    }
}

/// The values that count as the published one.
#[derive(Clone, Copy)]
struct Range {
    from: f64,
    to: f64,
}

impl Range {
    fn contains(self, value: f64) -> bool {
        (self.from..=self.to).contains(&value)
    }

    /// Whether what lies from `least` to `greatest`, intervals included, has a part in it.
    fn overlaps(self, least: Estimate<f64>, greatest: Estimate<f64>) -> bool {
        let half = |of: Estimate<f64>| of.half_width.unwrap_or(0.0);
        least.mean - half(least) <= self.to && greatest.mean + half(greatest) >= self.from
    }
}

fn range(reading: Reading) -> Range {
    let widened = |from: f64, to: f64, by: f64| Range { from: from * (1.0 - by), to: to * (1.0 + by) };
    match reading {
        Reading::Printed(value) => widened(value, value, PRINTED),
        Reading::About(value) => widened(value, value, ABOUT),
        Reading::Between(from, to) => widened(from, to, PRINTED),
        Reading::AboutBetween(from, to) => widened(from, to, ABOUT),
        Reading::MoreThan(from) => Range { from, to: f64::INFINITY },
        Reading::AtMost(to) => Range { from: f64::NEG_INFINITY, to },
        Reading::Everywhere => Range { from: f64::NEG_INFINITY, to: f64::INFINITY },
    }
}

impl fmt::Display for Reading {
    /// What counts as the published value.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Printed(value) => write!(f, "within 2 % of {value}"),
            Self::About(value) => write!(f, "within a fifth of {value}"),
            Self::Between(from, to) => write!(f, "from {from} to {to}, widened by 2 %"),
            Self::AboutBetween(from, to) => write!(f, "from {from} to {to}, widened by a fifth"),
            Self::MoreThan(value) => write!(f, "more than {value}"),
            Self::AtMost(value) => write!(f, "at most {value}"),
            Self::Everywhere => f.write_str("in every comparison that is decided"),
        }
    }
}

fn count(tally: Tally) -> Verdict {
    match tally {
        Tally { held: 0, .. } => Verdict::Differs,
        Tally { held, undecided, against: 0 } if held >= undecided => Verdict::Holds,
        _ => Verdict::HoldsPartly,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(mean: f64, half_width: f64) -> Ours {
        Ours::Value(Estimate::new(mean, half_width))
    }

    #[test]
    fn a_value_is_judged_by_its_mean_and_then_by_its_interval() {
        let about = Reading::About(25.0);
        assert_eq!(judge(about, value(29.0, 3.0)), Verdict::Holds);
        assert_eq!(judge(about, value(31.0, 3.0)), Verdict::HoldsPartly);
        assert_eq!(judge(about, value(34.0, 3.0)), Verdict::Differs);
        assert_eq!(judge(Reading::Printed(125.0), value(125.9, 0.1)), Verdict::Holds);
        assert_eq!(judge(Reading::Printed(125.0), value(128.0, 0.1)), Verdict::Differs);
        assert_eq!(judge(Reading::AtMost(1.0), value(0.2, 0.5)), Verdict::Holds);
        assert_eq!(judge(Reading::MoreThan(50.0), value(49.0, 0.5)), Verdict::Differs);
    }

    #[test]
    fn a_span_holds_with_both_ends_and_differs_with_neither() {
        let span = |from: f64, to: f64| Ours::Span(Estimate::published(from), Estimate::published(to));
        let between = Reading::Between(10.0, 15.0);
        assert_eq!(judge(between, span(11.0, 15.2)), Verdict::Holds);
        assert_eq!(judge(between, span(4.0, 12.0)), Verdict::HoldsPartly);
        assert_eq!(judge(between, span(4.0, 20.0)), Verdict::HoldsPartly);
        assert_eq!(judge(between, span(1.0, 4.0)), Verdict::Differs);
    }

    #[test]
    fn a_tally_holds_if_nothing_speaks_against_it() {
        let tally = |held, undecided, against| Ours::Tally(Tally { held, undecided, against });
        assert_eq!(judge(Reading::Everywhere, tally(9, 3, 0)), Verdict::Holds);
        assert_eq!(judge(Reading::Everywhere, tally(3, 9, 0)), Verdict::HoldsPartly);
        assert_eq!(judge(Reading::Everywhere, tally(9, 0, 1)), Verdict::HoldsPartly);
        assert_eq!(judge(Reading::Everywhere, tally(0, 0, 10)), Verdict::Differs);
    }
}
