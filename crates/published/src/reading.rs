//! Which values count as a published value.

use core::fmt;

/// Relative distance at which a value counts as a printed figure: the measurements behind it have half-widths
/// of about 1% each.
pub const PRINTED: f64 = 0.02;
/// Relative distance at which a value counts as "about" a figure.
pub const ABOUT: f64 = 0.2;
/// Relative distance below a figure at which a value counts as "nearly" that figure.
pub const NEARLY: f64 = 0.1;
/// Relative distance at which a value counts as a figure printed about a program that had to be written again, since the source
/// neither has its code nor all of its input.
pub const REWRITTEN: f64 = 0.15;

/// Which values count as the published one, in the unit of the claim.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Reading {
    /// A figure as printed: within [`PRINTED`] of it.
    Printed(f64),
    /// "About" a figure: within [`ABOUT`] of it.
    About(f64),
    /// A figure about a program that was written again: within [`REWRITTEN`] of it.
    Rewritten(f64),
    /// "Nearly" a figure: from [`NEARLY`] below it up to the figure as printed.
    Nearly(f64),
    /// Between two figures, each widened like a printed figure. An end of 0, of which a part is 0 too, is widened by the same part of
    /// the range.
    Between(f64, f64),
    /// "Around" two figures, each widened by [`ABOUT`], and an end of 0 likewise.
    AboutBetween(f64, f64),
    /// More than this.
    MoreThan(f64),
    /// At most this.
    AtMost(f64),
    /// "Similar", "the same", "no change": at most this far from zero, in either direction.
    Within(f64),
    /// A figure, and at most this far from it in either direction.
    Near(f64, f64),
}

/// A range of values, both ends included.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Band {
    /// The least value.
    pub from: f64,
    /// The greatest value.
    pub to: f64,
}

impl Reading {
    /// The values that count as the published one.
    #[must_use]
    pub fn band(self) -> Band {
        let widened = |from: f64, to: f64, by: f64| {
            let room = |end: f64| by * if end == 0.0 { to - from } else { end.abs() };
            Band { from: from - room(from), to: to + room(to) }
        };
        match self {
            Self::Printed(value) => widened(value, value, PRINTED),
            Self::About(value) => widened(value, value, ABOUT),
            Self::Rewritten(value) => widened(value, value, REWRITTEN),
            Self::Nearly(value) => {
                Band { from: value - NEARLY * value.abs(), to: value + PRINTED * value.abs() }
            }
            Self::Between(from, to) => widened(from, to, PRINTED),
            Self::AboutBetween(from, to) => widened(from, to, ABOUT),
            Self::MoreThan(limit) => Band { from: limit.next_up(), to: f64::INFINITY },
            Self::AtMost(to) => Band { from: f64::NEG_INFINITY, to },
            Self::Within(distance) => Band { from: -distance, to: distance },
            Self::Near(value, distance) => Band { from: value - distance, to: value + distance },
        }
    }

    /// The values that count, in `unit`, and which rule gives them: `122.5 to 127.5 µs (within 2 % of 125)`.
    #[must_use]
    pub fn accepted(self, unit: &str) -> String {
        let band = match self {
            Self::Within(_) => self.to_string(),
            _ => self.band().to_string(),
        };
        let range = format!("{band} {unit}").trim_end().to_owned();
        match self {
            Self::MoreThan(_) | Self::AtMost(_) | Self::Within(_) => range,
            _ => format!("{range} ({self})"),
        }
    }
}

/// The part of a range, or of its only end, that counts as little.
const LITTLE: f64 = 0.02;

impl Band {
    /// How far inside `value` lies; negative outside.
    pub(crate) fn room(self, value: f64) -> f64 {
        (value - self.from).min(self.to - value)
    }

    /// What is little room in it: a part of the range, or of its end if it has one only.
    pub(crate) fn little(self) -> f64 {
        let size = match (self.from.is_finite(), self.to.is_finite()) {
            (true, true) => self.to - self.from,
            (true, false) => self.from.abs(),
            (false, _) => self.to.abs(),
        };
        LITTLE * size
    }

    /// How far outside `value` lies, and on which side: below or above.
    pub(crate) fn excess(self, value: f64) -> (f64, &'static str) {
        if value < self.from { (self.from - value, "below") } else { ((value - self.to).max(0.0), "above") }
    }
}

/// `value` with at most three digits after the point, and no more than it has.
fn short(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// By how much the ends of a range are widened, in words.
fn widening(from: f64, to: f64, part: &str) -> String {
    let zero = if from == 0.0 || to == 0.0 { format!(", 0 by {part} of the range") } else { String::new() };
    format!("each end widened by {part}{zero}")
}

impl fmt::Display for Band {
    /// `31.3 to 41.3`; `at most 10`; `above 0`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.from, self.to) {
            (f64::NEG_INFINITY, to) => write!(f, "at most {}", short(to)),
            (from, f64::INFINITY) => write!(f, "above {}", short(from)),
            (from, to) => write!(f, "{} to {}", short(from), short(to)),
        }
    }
}

impl fmt::Display for Reading {
    /// In words, without the unit: `within a fifth of 25`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Printed(value) => write!(f, "within 2 % of {value}"),
            Self::About(value) => write!(f, "within a fifth of {value}"),
            Self::Rewritten(value) => write!(f, "within 15 % of {value}"),
            Self::Nearly(value) => write!(f, "{value}, or up to a tenth less"),
            Self::Between(from, to) => write!(f, "{from} to {to}, {}", widening(from, to, "2 %")),
            Self::AboutBetween(from, to) => write!(f, "{from} to {to}, {}", widening(from, to, "a fifth")),
            Self::MoreThan(value) => write!(f, "more than {value}"),
            Self::AtMost(value) => write!(f, "at most {value}"),
            Self::Within(value) => write!(f, "within ±{value}"),
            Self::Near(value, distance) => write!(f, "{value} ± {distance}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_text_become_bands() {
        for (reading, inside, outside) in [
            (Reading::Printed(125.0), 127.0, 128.0),
            (Reading::About(25.0), 21.0, 31.0),
            (Reading::About(-25.0), -29.0, -31.0),
            (Reading::Between(-15.0, -10.0), -9.9, -9.7),
            (Reading::Nearly(3.0), 2.8, 3.12),
            (Reading::Between(10.0, 15.0), 15.2, 15.4),
            (Reading::Between(-20.0, 0.0), 0.3, 0.5),
            (Reading::Between(0.0, 5.0), -0.09, -0.11),
            (Reading::AboutBetween(40.0, 50.0), 33.0, 61.0),
            (Reading::MoreThan(0.0), 0.1, -0.1),
            (Reading::AtMost(1.0), -5.0, 1.1),
            (Reading::Within(20.0), -19.0, -70.0),
            (Reading::Near(36.3, 5.0), 31.4, 31.2),
        ] {
            let band = reading.band();
            let counts = |value: f64| (band.from..=band.to).contains(&value);
            assert!(counts(inside) && !counts(outside), "{reading}");
        }
    }

    #[test]
    fn what_is_accepted_is_said_in_figures() {
        for (reading, unit, words) in [
            (Reading::Printed(125.0), "µs", "122.5 to 127.5 µs (within 2 % of 125)"),
            (Reading::Near(36.3, 5.0), "%", "31.3 to 41.3 % (36.3 ± 5)"),
            (Reading::Within(1.5), "points", "within ±1.5 points"),
            (Reading::MoreThan(0.0), "%", "above 0 %"),
            (Reading::AtMost(10.0), "", "at most 10"),
            (Reading::Between(4.0, 17.0), "%", "3.92 to 17.34 % (4 to 17, each end widened by 2 %)"),
            (
                Reading::Between(0.0, 5.0),
                "%",
                "-0.1 to 5.1 % (0 to 5, each end widened by 2 %, 0 by 2 % of the range)",
            ),
        ] {
            assert_eq!(reading.accepted(unit), words);
        }
    }
}
